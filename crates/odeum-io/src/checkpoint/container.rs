//! The container of all checkpoints: a head that says what results depend on, then sections.
//!
//! ```text
//! head:    "ODEUMCK5", length of the text (u64), text (JSON), SHA-256 of all before
//! section: "ODEUMSEC", its number (u64), what it holds, SHA-256 of all before
//! ```
//!
//! Each section is judged alone, so that damage costs no more than it must. Numbers are little-endian.

use crate::file::{reason, write_whole};
use crate::finding::Finding;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// The first bytes of every checkpoint but for the version, which follows.
const MAGIC: &[u8; 7] = b"ODEUMCK";
const VERSION: u8 = b'5';
/// What checkpoints of fields began with while they had a form of their own.
const OLD_FIELD: &[u8; 7] = b"ODEUMFK";
const SECTION: &[u8; 8] = b"ODEUMSEC";
/// Bytes of a checksum.
const HASH: usize = 32;
/// Bytes of a mark and a number.
const MARK: usize = 16;
/// No text is longer: it holds a case's equations, or a number for each state written.
const LONGEST: u64 = 64 << 20;
/// Bytes of a section beside what it holds.
pub(super) const FRAME: u64 = (MARK + HASH) as u64;

/// What the head of a kind of checkpoint says.
pub(super) trait Head: Serialize + DeserializeOwned {
    /// The kind, as the head has it.
    const KIND: &'static str;
    /// What a checkpoint of this kind is said to be of.
    const OF: &'static str;

    /// What the results depend on, as (name, value).
    fn identity(&self) -> &[(String, String)];
}

#[derive(Serialize)]
struct Written<'a, H> {
    kind: &'static str,
    head: &'a H,
}

#[derive(Deserialize)]
struct Found {
    kind: String,
    head: serde_json::Value,
}

/// The bytes of a head.
pub(super) fn head_bytes<H: Head>(head: &H) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(&Written { kind: H::KIND, head })?;
    let mut bytes = MAGIC.to_vec();
    bytes.push(VERSION);
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text);
    bytes.extend(hash(&bytes));
    Ok(bytes)
}

/// Reads the head of a file of so many bytes; and how many it has itself.
pub(super) fn read_head<H: Head>(
    path: &Path,
    file: &mut impl Read,
    size: u64,
) -> Result<(H, u64), Finding> {
    let (Found { kind, head }, bytes) = read_found(path, file, size, H::OF)?;
    if kind != H::KIND {
        return Err(Finding::error(format!("this is no checkpoint of {}", H::OF))
            .in_file(path.display().to_string())
            .found(format!("it is of another kind: {kind}"))
            .help("name the right output, or start anew with --overwrite"));
    }
    let head = serde_json::from_value(head).map_err(|error| unreadable(path, &error))?;
    Ok((head, bytes))
}

/// The same of a checkpoint of any kind; `of` says what it is looked for of.
fn read_found(
    path: &Path,
    file: &mut impl Read,
    size: u64,
    of: &str,
) -> Result<(Found, u64), Finding> {
    let mut mark = [0; MARK];
    let whole = file.read_exact(&mut mark).is_ok();
    let of_ours = mark.starts_with(MAGIC) || mark.starts_with(OLD_FIELD);
    if !whole || !of_ours {
        return Err(Finding::error(format!("this is no checkpoint of {of}"))
            .in_file(path.display().to_string())
            .help("name the right output, or start anew with --overwrite"));
    }
    if !mark.starts_with(MAGIC) || mark[7] != VERSION {
        let found = String::from_utf8_lossy(&mark[..8]).into_owned();
        return Err(Finding::error("the checkpoint is of another version of odeum")
            .in_file(path.display().to_string())
            .found(format!("it begins with {found}, not ODEUMCK{}", char::from(VERSION)))
            .help("end the run with the odeum that began it, or start anew with --overwrite"));
    }
    let length = u64::from_le_bytes(number(&mark));
    let room = size.saturating_sub((MARK + HASH) as u64);
    if length > LONGEST.min(room) {
        let reason = format!("its text cannot have {length} bytes where all have {size}");
        return Err(damaged(path, &reason));
    }
    let mut rest = vec![0; length as usize + HASH];
    file.read_exact(&mut rest).map_err(|_| damaged(path, "its header is cut off"))?;
    let (text, sum) = rest.split_at(length as usize);
    let mut hasher = Sha256::new();
    hasher.update(mark);
    hasher.update(text);
    if hasher.finalize().as_slice() != sum {
        return Err(damaged(path, "the checksum of its header does not fit"));
    }
    let found = serde_json::from_slice(text).map_err(|error| unreadable(path, &error))?;
    Ok((found, mark.len() as u64 + length + HASH as u64))
}

fn unreadable(path: &Path, error: &serde_json::Error) -> Finding {
    damaged(path, &format!("its header is not readable: {error}"))
}

/// How the names of the files and folders end that the run of a checkpoint writes, of whatever kind it is; `None` where it cannot be read.
pub fn files(path: &Path) -> Option<Vec<String>> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let (Found { head, .. }, _) = read_found(path, &mut file, size, "odeum").ok()?;
    Vec::deserialize(head.get("files")?).ok()
}

/// Writes a checkpoint of one section, whole or not at all.
pub(super) fn write_single<H: Head>(
    path: &Path,
    head: &H,
    content: impl FnOnce(&mut Hashing<&mut BufWriter<&mut File>>) -> io::Result<()>,
) -> Result<(), Finding> {
    let head = head_bytes(head);
    write_whole(path, |file| {
        file.write_all(&head?)?;
        let mut to = Hashing { inner: file, hash: Sha256::new() };
        to.write_all(SECTION)?;
        to.write_all(&0_u64.to_le_bytes())?;
        content(&mut to)?;
        let Hashing { inner, hash } = to;
        inner.write_all(&hash.finalize())
    })
}

/// Reads the section after the head of a checkpoint that has one.
pub(super) fn read_single<R: Read, T>(
    path: &Path,
    file: R,
    content: impl FnOnce(&mut Hashing<R>) -> io::Result<T>,
) -> Result<T, Finding> {
    let cut = |_| damaged(path, "it is cut off");
    let mut from = Hashing { inner: file, hash: Sha256::new() };
    let mut mark = [0; MARK];
    from.read_exact(&mut mark).map_err(cut)?;
    let found = content(&mut from).map_err(|error| damaged(path, &reason(&error)))?;
    let Hashing { mut inner, hash } = from;
    let mut sum = [0; HASH];
    inner.read_exact(&mut sum).map_err(cut)?;
    if hash.finalize().as_slice() != sum || !is_section(&mark, 0) {
        return Err(damaged(path, "its checksum does not fit"));
    }
    Ok(found)
}

/// A section of what `fill` appends.
pub(super) fn section(number: u64, fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = SECTION.to_vec();
    bytes.extend(number.to_le_bytes());
    fill(&mut bytes);
    bytes.extend(hash(&bytes));
    bytes
}

/// What the section of a number holds; `None` where its bytes are not as they were written.
pub(super) fn content(bytes: &[u8], number: u64) -> Option<&[u8]> {
    let (body, sum) = bytes.split_at(bytes.len().checked_sub(HASH)?);
    let good = body.len() >= MARK && is_section(body, number) && hash(body) == *sum;
    good.then(|| &body[MARK..])
}

fn is_section(mark: &[u8], wanted: u64) -> bool {
    mark.starts_with(SECTION) && number(mark) == wanted.to_le_bytes()
}

/// The number after a mark.
fn number(mark: &[u8]) -> [u8; 8] {
    std::array::from_fn(|i| mark[8 + i])
}

fn hash(bytes: &[u8]) -> [u8; HASH] {
    Sha256::digest(bytes).into()
}

/// Hashes what goes through it.
pub(super) struct Hashing<I> {
    inner: I,
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

/// A checkpoint that cannot be opened.
pub(super) fn cannot_open(path: &Path, error: &io::Error) -> Finding {
    Finding::error(format!("cannot open the checkpoint: {}", reason(error)))
        .in_file(path.display().to_string())
}

/// A checkpoint that is not as it was written.
pub(super) fn damaged(path: &Path, reason: &str) -> Finding {
    Finding::error(format!("the checkpoint is damaged: {reason}"))
        .in_file(path.display().to_string())
        .help("start anew with --overwrite")
}

/// Names of what another run depends on that is not so in this one.
pub(super) fn differences<'a>(found: &impl Head, wanted: &'a [(String, String)]) -> Vec<&'a str> {
    let differs = |(name, value): &&(String, String)| {
        found.identity().iter().all(|(n, v)| n != name || v != value)
    };
    wanted.iter().filter(differs).map(|(name, _)| name.as_str()).collect()
}

/// A checkpoint of a run that differs from the present one, and what else helps.
pub(super) fn of_another_run(path: &Path, differences: &[&str], besides: Option<&str>) -> Finding {
    let restore =
        "restore the case as it was, name another --output, or start anew with --overwrite";
    let help = besides.map_or(restore.to_owned(), |besides| format!("{restore}; {besides}"));
    Finding::error("the checkpoint is of another run")
        .in_file(path.display().to_string())
        .found(format!("it differs in: {}", differences.join(", ")))
        .help(help)
}
