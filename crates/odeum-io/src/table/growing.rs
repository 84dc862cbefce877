//! Tables that grow while a run goes on.
//!
//! Rows are appended; a run that is taken up again cuts a table to what it held at the checkpoint.

use crate::file::{cannot_write, is_at};
use crate::finding::Finding;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What else can be done where files of a run that goes on are missing.
pub const LOST: &str = "--allow-missing goes on without them, --overwrite starts anew";

/// A table that grows.
pub struct Growing {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Growing {
    /// Begins a table, in place of one that is there.
    pub fn begin(path: PathBuf, heading: &str) -> Result<Growing, Finding> {
        let file = File::create(&path).map_err(|error| cannot_write(&path, &error))?;
        let mut table = Growing { path, file, bytes: 0 };
        table.append(heading)?;
        Ok(table)
    }

    /// An error where the table that is there has not the bytes it had at a checkpoint.
    pub fn lost(path: &Path, heading: &str, kept: u64) -> Result<Option<Finding>, Finding> {
        let lack = match Found::of_run(path, heading, kept)? {
            Found::Rows { bytes, .. } if bytes == kept => return Ok(None),
            Found::Rows { bytes, rows } => format!("{rows} rows, {bytes} of {kept} bytes"),
            Found::Missing | Found::Other => format!("no table, none of {kept} bytes"),
        };
        let finding = Finding::error("rows that were written before the checkpoint are missing")
            .in_file(path.display().to_string())
            .found(lack);
        Ok(Some(finding.help(format!(
            "put the table back; {LOST}. Rows begin with their step: from a copy the missing ones \
             can be put before the others later, too"
        ))))
    }

    /// Cuts the table that is there to the bytes it had at a checkpoint. Where there are fewer,
    /// the whole rows stay.
    pub fn go_on(path: PathBuf, heading: &str, kept: u64) -> Result<Growing, Finding> {
        let Found::Rows { bytes, .. } = Found::of_run(&path, heading, kept)? else {
            return Growing::begin(path, heading);
        };
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().write(true).open(&path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().map_err(|error| cannot_write(&path, &error))?;
        Ok(Growing { path, file, bytes })
    }

    /// Writes rows, all of them or none.
    pub fn append(&mut self, text: &str) -> Result<(), Finding> {
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // A disk that is full takes a part of a row; the error that is told is that one.
            let _ = self.file.set_len(self.bytes);
            return Err(cannot_write(&self.path, &error));
        }
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Whether the rows that were written are in the table that is there: programs that save a file put another into its
    /// place.
    pub fn check(&self) -> Result<(), Finding> {
        let there = std::fs::metadata(&self.path).map(|meta| meta.len());
        if is_at(&self.file, &self.path) && there.as_ref().is_ok_and(|len| *len == self.bytes) {
            return Ok(());
        }
        let found = match there {
            Ok(bytes) => format!("{bytes} bytes; {} were written", self.bytes),
            Err(_) => format!("no file; {} bytes were written", self.bytes),
        };
        let message = "the table was removed, replaced or changed while the run went on";
        Err(Finding::error(message)
            .in_file(self.path.display().to_string())
            .found(found)
            .help("work on a copy of it: rows that came after are in no file"))
    }

    /// What has been written is on the disk, and how much it is.
    pub fn sync(&mut self) -> Result<u64, Finding> {
        let synced = self.file.sync_data();
        synced.map_err(|error| cannot_write(&self.path, &error))?;
        Ok(self.bytes)
    }

    /// Bytes that were written, those of an earlier run with them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What is found where a table should be.
enum Found {
    /// No file, or not even the heading.
    Missing,
    /// A file with another heading.
    Other,
    /// Whole rows beneath the heading, and the bytes of all of it.
    Rows { bytes: u64, rows: u64 },
}

impl Found {
    /// What is found of the table of a run; an error where there is a file of another kind.
    fn of_run(path: &Path, heading: &str, kept: u64) -> Result<Found, Finding> {
        match Found::in_file(path, heading, kept) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Missing),
            Ok(Found::Other) => {
                Err(Finding::error("this is not the table of the run that goes on")
                    .in_file(path.display().to_string())
                    .help("put the table back, or move this file away"))
            }
            found => found.map_err(|error| cannot_write(path, &error)),
        }
    }

    /// Looks at the first `kept` bytes of a file.
    fn in_file(path: &Path, heading: &str, kept: u64) -> io::Result<Found> {
        let mut file = BufReader::new(File::open(path)?);
        let mut first = Vec::new();
        file.by_ref().take(heading.len() as u64).read_to_end(&mut first)?;
        if !heading.as_bytes().starts_with(&first) {
            return Ok(Found::Other);
        }
        if first.len() < heading.len() {
            return Ok(Found::Missing);
        }
        let mut file = file.take(kept.saturating_sub(first.len() as u64));
        let (mut at, mut bytes, mut rows) = (first.len() as u64, first.len() as u64, 0);
        loop {
            let block = file.fill_buf()?;
            if block.is_empty() {
                return Ok(Found::Rows { bytes, rows });
            }
            for (i, _) in block.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
                (bytes, rows) = (at + i as u64 + 1, rows + 1);
            }
            let read = block.len();
            at += read as u64;
            file.consume(read);
        }
    }
}
