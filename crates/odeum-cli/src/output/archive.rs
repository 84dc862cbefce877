//! An archive of arrays, as `numpy.savez` writes it: an uncompressed ZIP of NPY files.
//!
//! Shapes are known before the data, so every byte has its place: threads make pieces of the
//! arrays, sum them up and write them, in whatever order they come to be ready.

use super::atomic::write_into;
use super::desk::{Desk, Fill, Idle, Out, Place, Pour, Sink, lock};
use super::reserve::Room;
use super::zip::Members;
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
pub(crate) struct Archive<'a>(Vec<Entry<'a>>);

/// How the bytes of an array are made.
enum Make<'a> {
    /// By any thread, so many rows at a time.
    Rows { count: usize, fill: Fill<'a> },
    /// By the thread that writes the archive; others sum up and write what there is.
    InOrder(Pour<'a>),
}

struct Entry<'a> {
    name: String,
    header: Vec<u8>,
    /// Bytes after the header.
    bytes: usize,
    make: Make<'a>,
}

impl<'a> Archive<'a> {
    /// An array of some shape, made by rows: `fill` appends the bytes of some of them. Rows are
    /// what the array divides into, not its first axis.
    pub(crate) fn rows(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        rows: usize,
        fill: impl Fn(Range<usize>, &mut Vec<u8>) + Sync + 'a,
    ) {
        self.add(name, descr, shape, Make::Rows { count: rows, fill: Box::new(fill) });
    }

    /// An array whose bytes the thread that writes the archive appends, one after the other.
    pub(crate) fn in_order(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        pour: impl FnOnce(&mut Sink<'_>) -> io::Result<()> + 'a,
    ) {
        self.add(name, descr, shape, Make::InOrder(Box::new(pour)));
    }

    fn add(&mut self, name: &str, descr: &str, shape: &[usize], make: Make<'a>) {
        let item = descr.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8);
        // A character of text has four bytes.
        let item: usize = if descr.contains('U') { 4 * item } else { item };
        self.0.push(Entry {
            name: format!("{name}.npy"),
            header: npy::header(descr, shape),
            bytes: shape.iter().product::<usize>() * item,
            make,
        });
    }

    /// An array of double precision.
    pub(crate) fn numbers(&mut self, name: &str, shape: &[usize], data: impl Into<Cow<'a, [f64]>>) {
        let data = data.into();
        self.rows(name, "<f8", shape, data.len(), move |rows, bytes| {
            data[rows].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        });
    }

    /// An array whose bytes are there.
    pub(crate) fn whole(&mut self, name: &str, descr: &str, shape: &[usize], data: Vec<u8>) {
        self.rows(name, descr, shape, 1, move |_, bytes| bytes.extend_from_slice(&data));
    }

    pub(crate) fn texts(&mut self, name: &str, texts: &[String]) {
        let (descr, data) = unicode(texts);
        self.whole(name, &descr, &[texts.len()], data);
    }

    /// One text, as an array without axes.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        let (descr, data) = unicode(&[text.to_owned()]);
        self.whole(name, &descr, &[], data);
    }

    /// Writes all of it into a file, which has nothing but room.
    fn write(self, file: &mut File, threads: usize) -> io::Result<()> {
        let mut members = Members::default();
        let out = Mutex::new(Out { file, failed: None });
        let desk = Desk { out: &out, idle: Idle::default() };
        let mut sums = Vec::new();
        for Entry { name, header, bytes, make } in self.0 {
            let at = members.add(name.clone(), (header.len() + bytes) as u64);
            let mut sum = crc32fast::Hasher::new();
            sum.update(&header);
            lock(&out).put(at, &header);
            let place = Place { name: &name, at: at + header.len() as u64, bytes };
            let pieces = match make {
                Make::Rows { count, fill } => desk.rows(threads, &place, count, &*fill),
                Make::InOrder(pour) => desk.in_order(threads, &place, pour),
            };
            pieces.iter().for_each(|piece| sum.combine(piece));
            sums.push(sum.finalize());
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

/// Writes an archive file by so many threads, where room was made for it, whole or not at all.
pub(crate) fn write_archive(
    path: &Path,
    room: Option<Room>,
    threads: usize,
    archive: Archive<'_>,
) -> Result<(), Finding> {
    write_into(room.and_then(Room::file), path, |file| archive.write(file, threads))
}

#[cfg(test)]
mod tests {
    use super::super::desk::PIECE;
    use super::*;
    use std::path::PathBuf;

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("odeum-archive-{name}-{}", std::process::id()))
    }

    /// Numbers that fill several pieces.
    const COUNT: usize = 3 * PIECE / 8 + 5;

    fn bytes_of(rows: Range<usize>, bytes: &mut Vec<u8>) {
        rows.for_each(|r| bytes.extend((r as f64).sqrt().to_le_bytes()));
    }

    fn written(name: &str, threads: usize, add: impl FnOnce(&mut Archive<'_>)) -> Vec<u8> {
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
        let in_order = |threads| {
            written("order", threads, |archive| {
                archive.in_order("x", "<f8", &[COUNT], |sink| {
                    (0..COUNT).for_each(|r| sink.append(|bytes| bytes_of(r..r + 1, bytes)));
                    Ok(())
                });
            })
        };
        let one = rows(1);
        assert!(one == rows(4) && one == in_order(1) && one == in_order(4));
        // Another program's reader compares the checksums.
        let mut archive = zip::ZipArchive::new(io::Cursor::new(one)).unwrap();
        for name in ["first.npy", "x.npy", "last.npy"] {
            let mut data = Vec::new();
            io::copy(&mut archive.by_name(name).unwrap(), &mut data).unwrap();
            assert!(data.starts_with(b"\x93NUMPY"));
        }
    }

    #[test]
    fn room_made_ahead_changes_nothing_and_leaves_nothing() {
        let folder = file("room");
        std::fs::create_dir(&folder).unwrap();
        let write = |name: &str, room| {
            let mut archive = Archive::default();
            archive.rows("x", "<f8", &[COUNT], COUNT, bytes_of);
            write_archive(&folder.join(name), room, 2, archive).unwrap();
            std::fs::read(folder.join(name)).unwrap()
        };
        let plain = write("plain", None);
        // More than is needed; some file systems give none.
        let room = Room::begin(&folder, 1 << 27);
        let names = || std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(names(), 1, "it has no name");
        assert!(write("x", room) == plain);
        // What stands there is replaced, and room that nobody takes is given back.
        assert!(write("x", Room::begin(&folder, 1 << 27)) == plain);
        drop(Room::begin(&folder, 1 << 27));
        assert_eq!(names(), 2);
        std::fs::remove_dir_all(&folder).unwrap();
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
                sink.append(|bytes| bytes_of(0..1, bytes));
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
