//! Checkpoints of fields: all that a stopped run needs to go on with the same bits.
//!
//! ```text
//! "ODEUMFK1", length of the text (u64), text (JSON), the march, SHA-256 of all before
//! ```
//!
//! A file is written beside its place and renamed, so that there is always a whole one. Numbers
//! with a fraction are kept as their bits.

use super::Trouble;
use crate::files::reason;
use crate::finding::Finding;
use crate::output::write_whole;
use odeum::Scalar;
use odeum_fields::{Checkpoint, Grid};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"ODEUMFK1";
const HASH: usize = 32;
/// No text is longer: it holds a number for each state written.
const LONGEST: u64 = 64 << 20;

/// What a checkpoint says beside the march.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    /// What the results depend on, as (name, value).
    pub(super) identity: Vec<(String, String)>,
    /// Bits of the size of steps; zero where it is adaptive.
    pub(super) step: u64,
    /// Bits of the masses at the start.
    pub(super) masses: Vec<u64>,
    /// Bits of the times of the states written.
    pub(super) frames: Vec<u64>,
    /// The kind of device that computed last.
    #[serde(default)]
    pub(super) device: String,
    /// Bytes of the tables written: series, lines.
    pub(super) tables: [u64; 2],
    /// The same of the table of structure factors.
    #[serde(default)]
    pub(super) structure: u64,
}

/// A writer that hashes what goes through it.
struct Hashing<W> {
    inner: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.hash.update(&bytes[..read]);
        Ok(read)
    }
}

/// Writes a checkpoint, whole or not at all.
pub(super) fn write<T: Scalar>(
    path: &Path,
    header: &Header,
    march: &Checkpoint<T>,
) -> Result<(), Trouble> {
    let written = write_whole(path, |file| {
        let mut to = Hashing { inner: file, hash: Sha256::new() };
        let text = serde_json::to_vec(header)?;
        to.write_all(MAGIC)?;
        to.write_all(&(text.len() as u64).to_le_bytes())?;
        to.write_all(&text)?;
        march.write(&mut to)?;
        let Hashing { inner, hash } = to;
        inner.write_all(&hash.finalize())
    });
    written.map_err(Trouble::from)
}

/// Reads a checkpoint of the run that `identity` says.
pub(super) fn read<T: Scalar>(
    path: &Path,
    grid: &Grid,
    identity: &[(String, String)],
) -> Result<(Header, Checkpoint<T>), Finding> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        Finding::error(format!("cannot open the checkpoint: {}", reason(&error))).in_file(&name)
    })?;
    let mut from = Hashing { inner: BufReader::new(file), hash: Sha256::new() };
    let mut head = [0; 16];
    let whole = from.read_exact(&mut head).is_ok();
    if !whole || !head.starts_with(MAGIC) {
        return Err(Finding::error("this is no checkpoint of a field")
            .in_file(name)
            .help("name the right output, or start anew with --overwrite"));
    }
    let length = u64::from_le_bytes([8, 9, 10, 11, 12, 13, 14, 15].map(|i: usize| head[i]));
    if length > LONGEST {
        return Err(damaged(path, "its text is not readable"));
    }
    let mut text = vec![0; length as usize];
    from.read_exact(&mut text).map_err(|_| damaged(path, "it is cut off"))?;
    let header: Header = serde_json::from_slice(&text)
        .map_err(|error| damaged(path, &format!("its text is not readable: {error}")))?;
    let differs = |(name, value): &&(String, String)| {
        header.identity.iter().all(|(n, v)| n != name || v != value)
    };
    let differences: Vec<&str> =
        identity.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
    if !differences.is_empty() {
        return Err(Finding::error("the checkpoint is of another run")
            .in_file(name)
            .found(format!("it differs in: {}", differences.join(", ")))
            .help(
                "restore the case as it was, name another --output, or start anew with \
                 --overwrite",
            ));
    }
    let march =
        Checkpoint::read(grid, &mut from).map_err(|error| damaged(path, &reason(&error)))?;
    let Hashing { mut inner, hash } = from;
    let mut sum = [0; HASH];
    let read = inner.read_exact(&mut sum);
    read.map_err(|_| damaged(path, "it is cut off"))?;
    if hash.finalize().as_slice() != sum {
        return Err(damaged(path, "its checksum does not fit"));
    }
    Ok((header, march))
}

fn damaged(path: &Path, reason: &str) -> Finding {
    Finding::error(format!("the checkpoint is damaged: {reason}"))
        .in_file(path.display().to_string())
        .help("start anew with --overwrite")
}
