//! The parts of a ZIP file around data that is stored as it is.
//!
//! Where every part lies follows from the names and sizes of the files alone, so data can be
//! written in any order. APPNOTE.TXT 6.3.10 (PKWARE), sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16
//! and 4.5.3.

/// A file within the archive.
pub(super) struct Member {
    pub(super) name: String,
    /// Bytes of it.
    pub(super) size: u64,
    /// Where its header begins, counted from the start of the archive.
    start: u64,
}

/// Versions of the format that a reader must know: stored files, and sizes of 64 bits.
const PLAIN: u16 = 20;
const LARGE: u16 = 45;
/// Made on Unix, by the newer of these versions.
const MADE_BY: u16 = 3 << 8 | LARGE;
/// A regular file that its owner may write and all may read, as Unix has it.
const MODE: u32 = 0o100_644 << 16;
/// 1 January 1980, the first there is.
const DATE: u16 = 1 << 5 | 1;
/// Names are UTF-8.
const UTF8: u16 = 1 << 11;
/// Stands where a number has 64 bits and lies elsewhere.
const ELSEWHERE: u32 = u32::MAX;
/// The extra field of such numbers.
const EXTRA: u16 = 1;

/// Files in the order in which they lie in an archive.
#[derive(Default)]
pub(super) struct Members {
    all: Vec<Member>,
    end: u64,
}

impl Members {
    /// Adds a file of so many bytes; where its data begins.
    pub(super) fn add(&mut self, name: String, size: u64) -> u64 {
        let member = Member { name, size, start: self.end };
        let data = self.end + member.head(0).len() as u64;
        self.end = data + size;
        self.all.push(member);
        data
    }

    /// Where the directory begins: after the data of the last file.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The header before each file and where it lies; `sums` are the checksums of the files.
    pub(super) fn heads(&self, sums: &[u32]) -> impl Iterator<Item = (u64, Vec<u8>)> {
        self.all.iter().zip(sums).map(|(member, sum)| (member.start, member.head(*sum)))
    }

    /// What stands after the data: the directory of all files and its end.
    pub(super) fn directory(&self, sums: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (member, sum) in self.all.iter().zip(sums) {
            member.entry(*sum, &mut bytes);
        }
        let (count, size) = (self.all.len() as u64, bytes.len() as u64);
        let small = |x: u64, most: u32| if x >= u64::from(most) { most } else { x as u32 };
        let is_large = self.end >= u64::from(ELSEWHERE) || count >= u64::from(u16::MAX);
        if is_large {
            let record = self.end + size;
            bytes.extend(0x0606_4b50_u32.to_le_bytes());
            bytes.extend(44_u64.to_le_bytes());
            bytes.extend([MADE_BY, LARGE].iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0_u8; 8]);
            bytes.extend([count, count, size, self.end].iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend(0x0706_4b50_u32.to_le_bytes());
            bytes.extend(0_u32.to_le_bytes());
            bytes.extend(record.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
        }
        let count = small(count, u32::from(u16::MAX)) as u16;
        bytes.extend(0x0605_4b50_u32.to_le_bytes());
        bytes.extend([0, 0, count, count].iter().flat_map(|x| x.to_le_bytes()));
        let place = [small(size, ELSEWHERE), small(self.end, ELSEWHERE)];
        bytes.extend(place.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
        bytes
    }
}

impl Member {
    fn is_large(&self) -> bool {
        self.size >= u64::from(ELSEWHERE)
    }

    /// What the header and the directory say alike.
    fn common(&self, version: u16, sum: u32, extra: usize, bytes: &mut Vec<u8>) {
        let flags = if self.name.is_ascii() { 0 } else { UTF8 };
        let size = if self.is_large() { ELSEWHERE } else { self.size as u32 };
        // Version, flags, stored, time of day, date.
        bytes.extend([version, flags, 0, 0, DATE].iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([sum, size, size].iter().flat_map(|x| x.to_le_bytes()));
        let lengths = [self.name.len() as u16, extra as u16];
        bytes.extend(lengths.iter().flat_map(|x| x.to_le_bytes()));
    }

    /// The header before the data.
    fn head(&self, sum: u32) -> Vec<u8> {
        let mut extra = Vec::new();
        if self.is_large() {
            extra.extend([EXTRA, 16].iter().flat_map(|x| x.to_le_bytes()));
            extra.extend([self.size, self.size].iter().flat_map(|x| x.to_le_bytes()));
        }
        let mut bytes = 0x0403_4b50_u32.to_le_bytes().to_vec();
        self.common(if self.is_large() { LARGE } else { PLAIN }, sum, extra.len(), &mut bytes);
        bytes.extend(self.name.as_bytes());
        bytes.extend(extra);
        bytes
    }

    /// The entry of the directory.
    fn entry(&self, sum: u32, bytes: &mut Vec<u8>) {
        let far = self.start >= u64::from(ELSEWHERE);
        let sizes = self.is_large().then_some([self.size, self.size]);
        let numbers: Vec<u64> =
            sizes.into_iter().flatten().chain(far.then_some(self.start)).collect();
        let mut extra = Vec::new();
        if !numbers.is_empty() {
            extra.extend([EXTRA, 8 * numbers.len() as u16].iter().flat_map(|x| x.to_le_bytes()));
            extra.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        }
        bytes.extend(0x0201_4b50_u32.to_le_bytes());
        bytes.extend(MADE_BY.to_le_bytes());
        self.common(if extra.is_empty() { PLAIN } else { LARGE }, sum, extra.len(), bytes);
        // No comment, on the first disk, of no known kind.
        bytes.extend([0; 6]);
        bytes.extend(MODE.to_le_bytes());
        bytes.extend((if far { ELSEWHERE } else { self.start as u32 }).to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes.extend(extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Seek, SeekFrom, Write};

    /// An archive of files full of zeros, which take no room on the disk.
    fn archive(name: &str, sizes: &[u64]) -> zip::ZipArchive<File> {
        let path = std::env::temp_dir().join(format!("odeum-{name}-{}", std::process::id()));
        let options = File::options().read(true).write(true).create(true).truncate(true).clone();
        let mut file = options.open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut members = Members::default();
        let mut sums = Vec::new();
        for (k, &size) in sizes.iter().enumerate() {
            members.add(format!("größe{k}"), size);
            let short = vec![0; size.min(1 << 20) as usize];
            sums.push(crc32fast::hash(&short));
        }
        for (at, head) in members.heads(&sums) {
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(&head).unwrap();
        }
        file.seek(SeekFrom::Start(members.end())).unwrap();
        file.write_all(&members.directory(&sums)).unwrap();
        zip::ZipArchive::new(file).unwrap()
    }

    #[test]
    fn another_reader_finds_every_file_and_its_checksum() {
        let sizes = [0, 1, 1000, 1 << 20];
        let mut archive = archive("small", &sizes);
        for (k, &size) in sizes.iter().enumerate() {
            let mut file = archive.by_name(&format!("größe{k}")).unwrap();
            let mut data = Vec::new();
            file.read_to_end(&mut data).unwrap();
            assert_eq!(data.len() as u64, size);
        }
    }

    #[test]
    fn sizes_and_places_beyond_32_bits_are_found() {
        // The second begins beyond 4 GiB, the third is larger, the last comes after it.
        let sizes = [u64::from(u32::MAX) - 1, 7, 5 << 30, 1 << 16, 9];
        let mut archive = archive("large", &sizes);
        assert_eq!(archive.len(), sizes.len());
        for (k, &size) in sizes.iter().enumerate() {
            let mut file = archive.by_name(&format!("größe{k}")).unwrap();
            assert_eq!(file.size(), size);
            if size <= 1 << 20 {
                let mut data = Vec::new();
                file.read_to_end(&mut data).unwrap();
            }
        }
    }
}
