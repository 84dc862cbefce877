//! How threads share the writing of one file: pieces of arrays, made in any order or in one.

use crate::file::Mapped;
use crate::parallel;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that a thread makes at once, about.
pub(super) const PIECE: usize = 1 << 20;
/// Bytes that wait to be written by several threads, about.
const BUFFER: usize = 8 << 20;

/// Appends the bytes of some rows of each of several arrays.
pub(super) type Fill<'a> = Box<dyn Fn(Range<usize>, &mut [Vec<u8>]) + Sync + 'a>;

/// Appends all bytes, one after the other.
pub(super) type Pour<'a> = Box<dyn FnOnce(&mut Sink<'_, '_>) -> io::Result<()> + 'a>;

/// Where the bytes of an array belong in the file, and how many they are.
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    pub(super) at: u64,
    pub(super) bytes: usize,
}

impl Place<'_> {
    /// What is said of a piece that has not as many bytes as it should.
    fn misfit(&self, found: usize, wanted: usize) -> io::Error {
        io::Error::other(format!("{} has {found} bytes where {wanted} belong", self.name))
    }
}

/// Buffers that nobody uses: new memory for each piece would cost more than to fill it.
#[derive(Default)]
pub(super) struct Idle(Mutex<Vec<Vec<u8>>>);

impl Idle {
    fn take(&self) -> Vec<u8> {
        lock(&self.0).pop().unwrap_or_default()
    }

    fn give_back(&self, mut buffer: Vec<u8>) {
        buffer.clear();
        lock(&self.0).push(buffer);
    }
}

/// What threads that write share.
pub(super) struct Desk<'a, 'f> {
    pub(super) out: &'a Mutex<Out<'f>>,
    /// The bytes of the file, where they are memory.
    pub(super) mapped: Option<Mapped>,
    pub(super) idle: Idle,
}

impl Desk<'_, '_> {
    fn has_failed(&self) -> bool {
        lock(self.out).failed.is_some()
    }

    /// Writes a piece of an array.
    fn put(&self, at: u64, bytes: &[u8]) {
        // SAFETY: pieces of arrays do not overlap, each is written once, and what is written by the file itself lies between
        // arrays; the file is shortened after the last piece.
        let is_copied = self.mapped.as_ref().is_some_and(|mapped| unsafe { mapped.put(at, bytes) });
        if !is_copied {
            lock(self.out).put(at, bytes);
        }
    }

    /// Writes arrays of so many rows each, whose rows are made together; of each the checksums of its
    /// pieces.
    pub(super) fn rows(
        &self,
        threads: usize,
        places: &[Place<'_>],
        count: usize,
        fill: &Fill<'_>,
    ) -> Vec<Vec<crc32fast::Hasher>> {
        let widths: Vec<usize> = places.iter().map(|place| place.bytes / count.max(1)).collect();
        let step = (PIECE / widths.iter().sum::<usize>().max(1)).max(1);
        let pieces = count.div_ceil(step);
        let sums: Vec<Mutex<Vec<crc32fast::Hasher>>> =
            (0..pieces).map(|_| Mutex::default()).collect();
        parallel::each(threads, pieces, |n| {
            if self.has_failed() {
                return;
            }
            let rows = n * step..((n + 1) * step).min(count);
            let buffer = |width: &usize| {
                let mut bytes = self.idle.take();
                bytes.reserve(rows.len() * width);
                bytes
            };
            let mut parts: Vec<Vec<u8>> = widths.iter().map(buffer).collect();
            fill(rows.clone(), &mut parts);
            for ((place, width), bytes) in places.iter().zip(&widths).zip(parts) {
                let wanted = rows.len() * width;
                if bytes.len() == wanted {
                    let mut sum = crc32fast::Hasher::new();
                    sum.update(&bytes);
                    lock(&sums[n]).push(sum);
                    self.put(place.at + (rows.start * width) as u64, &bytes);
                } else {
                    lock(self.out).fail(place.misfit(bytes.len(), wanted));
                }
                self.idle.give_back(bytes);
            }
        });
        let mut all = vec![Vec::with_capacity(pieces); places.len()];
        for piece in sums {
            let piece = piece.into_inner().unwrap_or_else(PoisonError::into_inner);
            all.iter_mut().zip(piece).for_each(|(sums, sum)| sums.push(sum));
        }
        all
    }

    /// Writes an array as this thread gives its bytes; the checksums of its pieces.
    pub(super) fn in_order(
        &self,
        threads: usize,
        place: &Place<'_>,
        pour: Pour<'_>,
    ) -> Vec<crc32fast::Hasher> {
        let (bytes, sums) = (Vec::new(), Vec::new());
        let mut sink = Sink { desk: self, threads, at: place.at, bytes, sums };
        let poured = pour(&mut sink).and_then(|()| sink.finish(place));
        if let Err(error) = poured {
            lock(self.out).fail(error);
        }
        sink.sums
    }
}

/// Takes the bytes of an array from one thread; several write them.
pub struct Sink<'d, 'f> {
    desk: &'d Desk<'d, 'f>,
    threads: usize,
    /// Where the next piece belongs in the file.
    at: u64,
    /// What is too short to be written by itself.
    bytes: Vec<u8>,
    /// Of the pieces that are written.
    sums: Vec<crc32fast::Hasher>,
}

impl Sink<'_, '_> {
    /// Appends some bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        if self.bytes.is_empty() && bytes.len() >= PIECE {
            return self.write(bytes);
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= BUFFER {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.write(&bytes);
        bytes.clear();
        self.bytes = bytes;
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.desk.has_failed() {
            return;
        }
        let at = (0..).map(|n| self.at + n * PIECE as u64);
        let pieces: Vec<(u64, &[u8])> = at.zip(bytes.chunks(PIECE)).collect();
        let sums = parallel::map(self.threads, 1, &pieces, |(at, piece)| {
            let mut sum = crc32fast::Hasher::new();
            sum.update(piece);
            self.desk.put(*at, piece);
            sum
        });
        self.sums.extend(sums);
        self.at += bytes.len() as u64;
    }

    fn finish(&mut self, place: &Place<'_>) -> io::Result<()> {
        self.flush();
        let found = (self.at - place.at) as usize;
        if found == place.bytes { Ok(()) } else { Err(place.misfit(found, place.bytes)) }
    }
}

/// The file that all threads write to, and the first error. One writes at a time: file systems
/// let no two write to one file at once.
pub(super) struct Out<'a> {
    pub(super) file: &'a mut File,
    pub(super) failed: Option<io::Error>,
}

impl Out<'_> {
    /// Writes bytes at a place, unless something has failed.
    pub(super) fn put(&mut self, at: u64, bytes: &[u8]) {
        if self.failed.is_none() {
            let sought = self.file.seek(SeekFrom::Start(at));
            self.failed = sought.and_then(|_| self.file.write_all(bytes)).err();
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.failed.get_or_insert(error);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
