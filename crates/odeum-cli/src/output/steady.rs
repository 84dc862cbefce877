//! A file that keeps its first error to itself until it is asked.
//!
//! The ZIP writer speaks to the terminal when it is dropped after a failed write. Through this
//! it never sees one: what comes after the error goes nowhere, and the error is given at the end.

use std::io::{self, Seek, SeekFrom, Write};

/// See the head of this file.
pub(crate) struct Steady<W> {
    file: W,
    error: Option<io::Error>,
    /// Where the next byte would go, and where the file ends: as if nothing had failed.
    position: u64,
    end: u64,
}

impl<W: Write + Seek> Steady<W> {
    /// Around a file that is at its start.
    pub(super) fn new(file: W) -> Steady<W> {
        Steady { file, error: None, position: 0, end: 0 }
    }

    /// The first error, if there was one.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn attempt(&mut self, work: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = work(&mut self.file).err();
        }
    }
}

impl<W: Write + Seek> Write for Steady<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|file| file.write_all(bytes));
        self.position += bytes.len() as u64;
        self.end = self.end.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(W::flush);
        Ok(())
    }
}

impl<W: Write + Seek> Seek for Steady<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.end.checked_add_signed(offset),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        let position = self.position;
        self.attempt(|file| file.seek(SeekFrom::Start(position)).map(drop));
        Ok(position)
    }
}
