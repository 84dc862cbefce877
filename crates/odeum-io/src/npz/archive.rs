//! An archive of arrays, as `numpy.savez` writes it: an uncompressed ZIP of NPY files.
//!
//! Shapes are known before the data, so every byte has its place: threads make pieces of the
//! arrays, sum them up and write them, in whatever order they come to be ready.

use super::desk::{Desk, Fill, Idle, Out, Place, Pour, Sink, lock};
use super::zip::Members;
use crate::file::{Mapped, Room, Staged, stage_into};
use crate::finding::Finding;
use crate::npy;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Arrays to be written.
#[derive(Default)]
pub struct Archive<'a>(Vec<Entry<'a>>);

/// How the bytes of an array are made.
enum Make<'a> {
    /// By any thread, some rows of all arrays at a time.
    Rows { count: usize, fill: Fill<'a> },
    /// By the thread that writes the archive; others sum up and write what there is.
    InOrder(Pour<'a>),
}

/// Arrays whose bytes are made together; most are alone.
struct Entry<'a> {
    arrays: Vec<Array>,
    make: Make<'a>,
}

struct Array {
    name: String,
    header: Vec<u8>,
    /// Bytes after the header.
    bytes: usize,
}

impl Array {
    fn new(name: &str, descr: &str, shape: &[usize]) -> Array {
        let item = descr.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8);
        // A character of text has four bytes.
        let item: usize = if descr.contains('U') { 4 * item } else { item };
        Array {
            name: format!("{name}.npy"),
            header: npy::header(descr, shape),
            bytes: shape.iter().product::<usize>() * item,
        }
    }
}

impl<'a> Archive<'a> {
    /// An array of some shape, made by rows: `fill` appends the bytes of some of them. Rows are
    /// what the array divides into, not its first axis.
    pub fn rows(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        rows: usize,
        fill: impl Fn(Range<usize>, &mut Vec<u8>) + Sync + 'a,
    ) {
        self.rows_together(&[(name, descr, shape)], rows, move |rows, parts| {
            parts.iter_mut().for_each(|bytes| fill(rows.clone(), bytes));
        });
    }

    /// Arrays of a name, number format and shape each, with so many rows, which come from one computation:
    /// `fill` appends the bytes of some of them to a part for each array.
    pub fn rows_together(
        &mut self,
        arrays: &[(&str, &str, &[usize])],
        rows: usize,
        fill: impl Fn(Range<usize>, &mut [Vec<u8>]) + Sync + 'a,
    ) {
        let arrays = arrays.iter().map(|(name, descr, shape)| Array::new(name, descr, shape));
        let make = Make::Rows { count: rows, fill: Box::new(fill) };
        self.0.push(Entry { arrays: arrays.collect(), make });
    }

    /// An array whose bytes the thread that writes the archive appends, one after the other.
    pub fn in_order(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        pour: impl FnOnce(&mut Sink<'_, '_>) -> io::Result<()> + 'a,
    ) {
        let make = Make::InOrder(Box::new(pour));
        self.0.push(Entry { arrays: vec![Array::new(name, descr, shape)], make });
    }

    /// An array of double precision.
    pub fn numbers(&mut self, name: &str, shape: &[usize], data: impl Into<Cow<'a, [f64]>>) {
        let data = data.into();
        self.rows(name, "<f8", shape, data.len(), move |rows, bytes| {
            data[rows].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        });
    }

    /// An array whose bytes are there.
    pub fn whole(&mut self, name: &str, descr: &str, shape: &[usize], data: Vec<u8>) {
        self.rows(name, descr, shape, 1, move |_, bytes| bytes.extend_from_slice(&data));
    }

    /// Texts, as an array of one axis.
    pub fn texts(&mut self, name: &str, texts: &[String]) {
        let (descr, data) = unicode(texts);
        self.whole(name, &descr, &[texts.len()], data);
    }

    /// One text, as an array without axes.
    pub fn text(&mut self, name: &str, text: &str) {
        let (descr, data) = unicode(&[text.to_owned()]);
        self.whole(name, &descr, &[], data);
    }

    /// Writes all of it into a file, which has nothing but room, perhaps as memory.
    fn write(self, file: &mut File, mapped: Option<Mapped>, threads: usize) -> io::Result<()> {
        let mut members = Members::default();
        let out = Mutex::new(Out { file, failed: None });
        let desk = Desk { out: &out, mapped, idle: Idle::default() };
        let mut sums = Vec::new();
        for Entry { arrays, make } in self.0 {
            let mut places = Vec::new();
            for Array { name, header, bytes } in &arrays {
                let at = members.add(name.clone(), (header.len() + bytes) as u64);
                lock(&out).put(at, header);
                places.push(Place { name, at: at + header.len() as u64, bytes: *bytes });
            }
            let pieces = match make {
                Make::Rows { count, fill } => desk.rows(threads, &places, count, &fill),
                Make::InOrder(pour) => vec![desk.in_order(threads, &places[0], pour)],
            };
            for (Array { header, .. }, pieces) in arrays.iter().zip(pieces) {
                let mut sum = crc32fast::Hasher::new();
                sum.update(header);
                pieces.iter().for_each(|piece| sum.combine(piece));
                sums.push(sum.finalize());
            }
        }
        let mut out = out.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (at, head) in members.heads(&sums) {
            out.put(at, &head);
        }
        let directory = members.directory(&sums);
        out.put(members.end(), &directory);
        out.failed.map_or(Ok(()), Err)?;
        // Room that was not needed.
        file.set_len(members.end() + directory.len() as u64)
    }
}

/// Texts as NumPy keeps them: UTF-32, all of one length.
fn unicode(texts: &[String]) -> (String, Vec<u8>) {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut data = Vec::with_capacity(texts.len() * longest * 4);
    for text in texts {
        let padded = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
        data.extend(padded.flat_map(u32::to_le_bytes));
    }
    (format!("<U{longest}"), data)
}

/// Threads from which on a file that is memory is written as memory: two lose by the faults of its pages, sixteen gain.
const MANY: usize = 8;

/// Writes an archive file by so many threads, where room was made for it, whole or not at all.
pub fn write_archive(
    path: &Path,
    room: Option<Room>,
    threads: usize,
    archive: Archive<'_>,
) -> Result<(), Finding> {
    stage_archive(path, room, threads, archive)?.put()
}

/// The same, without its name yet.
pub fn stage_archive(
    path: &Path,
    room: Option<Room>,
    threads: usize,
    archive: Archive<'_>,
) -> Result<Staged, Finding> {
    let (file, mapped) = room.and_then(Room::made).unzip();
    let mapped = mapped.flatten().filter(|_| threads >= MANY);
    stage_into(file, path, |file| archive.write(file, mapped, threads))
}

#[cfg(test)]
mod tests {
    use super::super::desk::PIECE;
    use super::*;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("odeum-archive-{name}-{}", std::process::id()))
    }

    /// Numbers that fill several pieces.
    const COUNT: usize = 9 * PIECE / 8 + 5;

    fn bytes_of(rows: Range<usize>, bytes: &mut Vec<u8>) {
        rows.for_each(|r| bytes.extend((r as f64).sqrt().to_le_bytes()));
    }

    /// Appends all of them, so many at a time.
    fn append(sink: &mut Sink<'_, '_>, step: usize) -> io::Result<()> {
        for first in (0..COUNT).step_by(step) {
            let mut bytes = Vec::new();
            bytes_of(first..(first + step).min(COUNT), &mut bytes);
            sink.append(&bytes);
        }
        Ok(())
    }

    fn written<'a>(name: &str, threads: usize, add: impl FnOnce(&mut Archive<'a>)) -> Vec<u8> {
        let mut archive = Archive::default();
        archive.numbers("first", &[0], Vec::new());
        add(&mut archive);
        archive.text("last", "über");
        write_archive(&file(name), None, threads, archive).unwrap();
        let bytes = std::fs::read(file(name)).unwrap();
        std::fs::remove_file(file(name)).unwrap();
        bytes
    }

    #[test]
    fn threads_and_the_way_bytes_are_made_change_nothing() {
        let rows = |threads| {
            written("rows", threads, |archive| {
                archive.rows("x", "<f8", &[COUNT], COUNT, bytes_of);
            })
        };
        let in_order = |threads, step| {
            written("order", threads, |archive| {
                archive.in_order("x", "<f8", &[COUNT], move |sink| append(sink, step));
            })
        };
        let one = rows(1);
        assert!(one == rows(4));
        for (threads, step) in [(1, 1), (4, 1), (4, 1000), (1, PIECE / 4), (3, COUNT - 1)] {
            assert!(one == in_order(threads, step), "{threads} threads, {step} at a time");
        }
        // Another program's reader compares the checksums.
        let mut archive = zip::ZipArchive::new(io::Cursor::new(one)).unwrap();
        for name in ["first.npy", "x.npy", "last.npy"] {
            let mut data = Vec::new();
            io::copy(&mut archive.by_name(name).unwrap(), &mut data).unwrap();
            assert!(data.starts_with(b"\x93NUMPY"));
        }
    }

    #[test]
    fn arrays_that_are_made_together_are_those_made_alone() {
        let count = COUNT / 2;
        let half = |rows: Range<usize>, bytes: &mut Vec<u8>| {
            rows.for_each(|r| bytes.extend((r as f32).to_le_bytes()));
        };
        let alone = written("alone", 2, |archive| {
            archive.rows("x", "<f8", &[count], count, bytes_of);
            archive.rows("h", "<f4", &[count, 1], count, half);
            archive.rows("none", "<f8", &[count, 0], count, |_, _| {});
        });
        let made = AtomicUsize::new(0);
        let together = written("together", 3, |archive| {
            let arrays: [(&str, &str, &[usize]); 3] =
                [("x", "<f8", &[count]), ("h", "<f4", &[count, 1]), ("none", "<f8", &[count, 0])];
            archive.rows_together(&arrays, count, |rows, parts| {
                made.fetch_add(rows.len(), Ordering::Relaxed);
                bytes_of(rows.clone(), &mut parts[0]);
                half(rows, &mut parts[1]);
            });
        });
        assert!(alone == together);
        assert_eq!(made.into_inner(), count, "each row is made once for all arrays");
    }

    #[test]
    fn room_made_ahead_changes_nothing_and_leaves_nothing() {
        let on_disk = file("room");
        // A memory disk, where files are written as memory.
        let in_memory = PathBuf::from("/dev/shm").join(on_disk.file_name().unwrap());
        let folders = [on_disk, in_memory];
        for folder in folders.iter().filter(|folder| folder.parent().is_some_and(Path::is_dir)) {
            std::fs::create_dir(folder).unwrap();
            let write = |name: &str, threads, room| {
                let mut archive = Archive::default();
                archive.rows("x", "<f8", &[COUNT], COUNT, bytes_of);
                archive.in_order("y", "<f8", &[COUNT], |sink| append(sink, PIECE / 2));
                write_archive(&folder.join(name), room, threads, archive).unwrap();
                std::fs::read(folder.join(name)).unwrap()
            };
            let plain = write("plain", 2, None);
            // More than is needed; some file systems give none.
            let room = Room::begin(folder, 1 << 27);
            let names = || std::fs::read_dir(folder).unwrap().count();
            assert_eq!(names(), 1, "it has no name");
            assert!(write("x", MANY, room) == plain);
            // What stands there is replaced, and room that nobody takes is given back.
            assert!(write("x", 2, Room::begin(folder, 1 << 27)) == plain);
            drop(Room::begin(folder, 1 << 27));
            assert_eq!(names(), 2);
            std::fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn arrays_that_are_too_short_and_sources_that_fail_leave_no_file() {
        let refused = |name: &str, add: fn(&mut Archive<'_>)| {
            let mut archive = Archive::default();
            add(&mut archive);
            let finding = write_archive(&file(name), None, 3, archive).unwrap_err();
            assert!(!file(name).exists());
            finding.message.clone()
        };
        let message = refused("short", |archive| {
            archive.rows("x", "<f8", &[COUNT], COUNT, |rows, bytes| {
                bytes_of(0..rows.len() - 1, bytes);
            });
        });
        assert!(message.contains("x.npy has"), "{message}");
        let message = refused("poured", |archive| {
            archive.in_order("x", "<f8", &[2], |sink| {
                sink.append(&[0; 8]);
                Ok(())
            });
        });
        assert!(message.contains("has 8 bytes where 16 belong"), "{message}");
        let message = refused("failed", |archive| {
            archive.in_order("x", "<f8", &[2], |_| Err(io::Error::other("no device")));
        });
        assert!(message.contains("no device"), "{message}");
    }
}
