//! An archive of arrays, as `numpy.savez` writes it: an uncompressed ZIP of NPY files.
//!
//! Shapes are known before the data, so every byte has its place: threads make pieces of the
//! arrays, sum them up and write them, in whatever order they come to be ready.

use super::atomic::write_whole;
use super::zip::Members;
use crate::finding::Finding;
use crate::{npy, parallel};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Bytes that a thread makes at once, about.
const PIECE: usize = 1 << 20;

/// Appends the bytes of some rows.
type Fill<'a> = Box<dyn Fn(Range<usize>, &mut Vec<u8>) + Sync + 'a>;

/// Arrays to be written.
#[derive(Default)]
pub(crate) struct Archive<'a>(Vec<Entry<'a>>);

struct Entry<'a> {
    name: String,
    header: Vec<u8>,
    rows: usize,
    /// Bytes of a row.
    row: usize,
    fill: Fill<'a>,
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
        let item = descr.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8);
        // A character of text has four bytes.
        let item: usize = if descr.contains('U') { 4 * item } else { item };
        let bytes = shape.iter().product::<usize>() * item;
        self.0.push(Entry {
            name: format!("{name}.npy"),
            header: npy::header(descr, shape),
            rows,
            row: bytes / rows.max(1),
            fill: Box::new(fill),
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

    /// Writes all of it into an empty file.
    fn write(&self, file: &mut File, threads: usize) -> io::Result<()> {
        let mut members = Members::default();
        let mut pieces = Vec::new();
        for (e, entry) in self.0.iter().enumerate() {
            let data = (entry.rows * entry.row) as u64;
            let at = members.add(entry.name.clone(), entry.header.len() as u64 + data);
            pieces.extend(entry.pieces().map(|rows| Piece { entry: e, at, rows }));
        }
        let out = Mutex::new(Out { file, failed: None });
        let sums: Vec<Mutex<crc32fast::Hasher>> = pieces.iter().map(|_| Mutex::default()).collect();
        parallel::each(threads, pieces.len(), |n| {
            let Piece { entry, at, rows } = &pieces[n];
            let entry = &self.0[*entry];
            if lock(&out).failed.is_some() {
                return;
            }
            match entry.make(rows) {
                Ok((before, bytes)) => {
                    lock(&sums[n]).update(&bytes);
                    lock(&out).put(at + before as u64, &bytes);
                }
                Err(error) => lock(&out).fail(error),
            }
        });
        let mut whole = vec![crc32fast::Hasher::new(); self.0.len()];
        for (piece, sum) in pieces.iter().zip(sums) {
            whole[piece.entry].combine(&sum.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        let whole: Vec<u32> = whole.into_iter().map(crc32fast::Hasher::finalize).collect();
        let mut out = out.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (at, head) in members.heads(&whole) {
            out.put(at, &head);
        }
        out.put(members.end(), &members.directory(&whole));
        out.failed.map_or(Ok(()), Err)
    }
}

/// Rows of an entry, whose bytes begin at `at` in the file.
struct Piece {
    entry: usize,
    at: u64,
    rows: Range<usize>,
}

impl Entry<'_> {
    /// The rows, so many at a time as make a piece; at least one time, for the header.
    fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (rows, step) = (self.rows, (PIECE / self.row.max(1)).max(1));
        (0..rows.div_ceil(step).max(1)).map(move |k| k * step..((k + 1) * step).min(rows))
    }

    /// How many bytes stand before some rows, and the bytes of these; those of the first begin with
    /// the header. An error where they are not as many as the shape says.
    fn make(&self, rows: &Range<usize>) -> io::Result<(usize, Vec<u8>)> {
        let (before, header) = match rows.start {
            0 => (0, &self.header[..]),
            first => (self.header.len() + first * self.row, &[][..]),
        };
        let wanted = header.len() + rows.len() * self.row;
        let mut bytes = Vec::with_capacity(wanted);
        bytes.extend_from_slice(header);
        (self.fill)(rows.clone(), &mut bytes);
        if bytes.len() != wanted {
            let reason = format!("{} has {} bytes where {wanted} belong", self.name, bytes.len());
            return Err(io::Error::other(reason));
        }
        Ok((before, bytes))
    }
}

/// The file that all threads write to, and the first error. One writes at a time: file systems
/// let no two write to one file at once.
struct Out<'a> {
    file: &'a mut File,
    failed: Option<io::Error>,
}

impl Out<'_> {
    /// Writes bytes at a place, unless something has failed.
    fn put(&mut self, at: u64, bytes: &[u8]) {
        if self.failed.is_none() {
            let sought = self.file.seek(SeekFrom::Start(at));
            self.failed = sought.and_then(|_| self.file.write_all(bytes)).err();
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.failed.get_or_insert(error);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Writes an archive file by so many threads, whole or not at all.
pub(crate) fn write_archive(
    path: &Path,
    threads: usize,
    archive: &Archive<'_>,
) -> Result<(), Finding> {
    write_whole(path, |file| archive.write(file.get_mut(), threads))
}
