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
use odeum_fields::{Checkpoint, Problem};
use odeum_ode::Scalar;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"ODEUMFK1";
/// Bytes of the mark and of the text's length.
const HEAD: usize = 16;
/// Bytes of the checksum.
const HASH: usize = 32;
/// No text is longer: it holds a number for each state written.
const LONGEST: u64 = 64 << 20;

/// What a checkpoint says beside the march.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    /// What the results depend on, as (name, value).
    pub(super) identity: Vec<(String, String)>,
    /// Bits of the end of the run.
    pub(super) until: u64,
    /// Bits of the size of steps; zero where it is adaptive.
    pub(super) step: u64,
    /// Bits of the masses at the start.
    pub(super) masses: Vec<u64>,
    /// Bits of the times of the states written.
    pub(super) frames: Vec<u64>,
    /// The kind of device that computed last.
    #[serde(default)]
    pub(super) device: String,
    /// Bytes of the tables written: series, lines, structure factors.
    pub(super) tables: [u64; 3],
}

impl Header {
    /// Refuses what another run left behind, and says in what it differs.
    pub(super) fn belongs_to(
        &self,
        identity: &[(String, String)],
        path: &Path,
    ) -> Result<(), Finding> {
        let differs = |(name, value): &&(String, String)| {
            self.identity.iter().all(|(n, v)| n != name || v != value)
        };
        let differences: Vec<&str> =
            identity.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
        if differences.is_empty() {
            return Ok(());
        }
        Err(Finding::error("the checkpoint is of another run")
            .in_file(path.display().to_string())
            .found(format!("it differs in: {}", differences.join(", ")))
            .help(
                "restore the case as it was, name another --output, or start anew with \
                 --overwrite",
            ))
    }
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

/// Reads a checkpoint of the run of a problem that `identity` says.
///
/// No more memory is taken than the file has bytes, and the field of the problem needs, whatever
/// stands in the file.
pub(super) fn read<T: Scalar>(
    path: &Path,
    problem: &Problem,
    identity: &[(String, String)],
) -> Result<(Header, Checkpoint<T>), Finding> {
    let name = path.display().to_string();
    let opened = File::open(path).and_then(|file| {
        let size = file.metadata()?.len();
        Ok((file, size))
    });
    let (file, size) = opened.map_err(|error| {
        Finding::error(format!("cannot open the checkpoint: {}", reason(&error))).in_file(&name)
    })?;
    let mut from = Hashing { inner: BufReader::new(file), hash: Sha256::new() };
    let mut head = [0; HEAD];
    let whole = from.read_exact(&mut head).is_ok();
    if !whole || !head.starts_with(MAGIC) {
        return Err(Finding::error("this is no checkpoint of a field")
            .in_file(name)
            .help("name the right output, or start anew with --overwrite"));
    }
    let length = u64::from_le_bytes([8, 9, 10, 11, 12, 13, 14, 15].map(|i: usize| head[i]));
    let rest = size.saturating_sub((HEAD + HASH) as u64);
    let Some(rest) = rest.checked_sub(length).filter(|_| length <= LONGEST) else {
        let reason = format!("its text cannot have {length} bytes where all have {size}");
        return Err(damaged(path, &reason));
    };
    let mut text = vec![0; length as usize];
    from.read_exact(&mut text).map_err(|_| damaged(path, "it is cut off"))?;
    let header: Header = serde_json::from_slice(&text)
        .map_err(|error| damaged(path, &format!("its text is not readable: {error}")))?;
    header.belongs_to(identity, path)?;
    let (grid, species) = (&problem.grid, problem.model.species().len());
    let wanted = Checkpoint::<T>::bytes(grid, species);
    if wanted != Some(rest) {
        let wanted = wanted.map_or_else(|| "more".to_owned(), |wanted| wanted.to_string());
        return Err(damaged(path, &format!("its field has {rest} bytes, not {wanted}")));
    }
    let march = Checkpoint::read(grid, species, &mut from)
        .map_err(|error| damaged(path, &reason(&error)))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_fields::{Clock, Field, problems::Paper};

    /// A checkpoint of a small run, with the bytes before the values of the field.
    fn small() -> (Problem, Vec<(String, String)>, Vec<u8>, usize) {
        let problem = Paper::Turing.problem([3, 2, 2]).unwrap();
        let field: Field<f64> = Paper::Turing.initial(&problem.grid, 1).unwrap();
        let identity = vec![("time".to_owned(), "0 to 1".to_owned())];
        let header = Header {
            identity: identity.clone(),
            until: 1.0_f64.to_bits(),
            step: 0.25_f64.to_bits(),
            masses: vec![1.0_f64.to_bits(); 2],
            frames: vec![0, 0.5_f64.to_bits()],
            device: "cpu, 8 lanes".to_owned(),
            tables: [812, 0, 431],
        };
        let folder = std::env::temp_dir();
        let path = folder.join(format!("odeum-unit-{}.checkpoint", std::process::id()));
        write(&path, &header, &Checkpoint { field, clock: Clock::at(0.5) }).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let read = read::<f64>(&path, &problem, &identity).unwrap();
        assert_eq!(read.0, header);
        std::fs::remove_file(path).unwrap();
        let values = bytes.len() - HASH - 3 * 2 * 2 * 2 * 8;
        (problem, identity, bytes, values)
    }

    #[test]
    fn damage_before_the_values_is_refused_clearly() {
        let (problem, identity, whole, values) = small();
        let folder = std::env::temp_dir();
        let path = folder.join(format!("odeum-flip-{}.checkpoint", std::process::id()));
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let finding = read::<f64>(&path, &problem, &identity).unwrap_err();
            assert!(finding.help.as_ref().is_some_and(|help| help.contains("--overwrite")));
            finding.message.clone()
        };
        let clear = ["the checkpoint is damaged: ", "the checkpoint is of another run"];
        for at in 0..values {
            for mask in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= mask;
                let message = refused(&bytes);
                let known = match at {
                    0..8 => message == "this is no checkpoint of a field",
                    // A text that is cut or has a strange end is no JSON.
                    8..16 => message.contains("its text "),
                    _ => clear.iter().any(|part| message.starts_with(part)),
                };
                assert!(known, "byte {at} ^ {mask}: {message}");
            }
        }
        assert!(refused(&whole[..whole.len() - 1]).contains("its field has"));
        assert!(refused(&[&whole[..], b"\n"].concat()).contains("its field has"));
        std::fs::remove_file(path).unwrap();
    }
}
