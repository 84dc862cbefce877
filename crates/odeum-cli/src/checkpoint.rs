//! Checkpoints: what a run has finished, kept on disk so that a stopped run can go on.
//!
//! A file is a header and then one slot for each batch, at a place known from its number:
//!
//! ```text
//! header: "ODEUMCK2", length of the text (u64), text (JSON), SHA-256 of all before
//! slot:   "ODEUMBAT", number of the batch (u64), results, SHA-256 of all before; zeros to its end
//! ```
//!
//! The text says what the results depend on; a run goes on only from a checkpoint that says the
//! same. Each slot is judged alone: one that is cut off or damaged costs its own batch, which is
//! computed again. A batch that was stopped on its way is stored as it is; its systems that were
//! not run are run when it is taken up. Numbers are little-endian.

use crate::files::reason;
use crate::finding::Finding;
use crate::output::write_whole;
use crate::plan::SPANS;
use odeum_ode::{Scalar, Solution, Stats, Status};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

const MAGIC: &[u8; 8] = b"ODEUMCK3";
const SLOT: &[u8; 8] = b"ODEUMBAT";
const HASH: usize = 32;
/// No header is longer: it holds a case's equations at most.
const LONGEST_HEADER: u64 = 64 << 20;

/// How systems go on to a later end: those that are finished forgot the steps they would take next.
pub(crate) const LATER: &str = "to go on to a later end, let a run come to its own, and take its result \
     for the starts of another: table = \"RESULT.npz\" in [ensemble], and a span from the old end to the \
     new one";

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// Number of systems M.
    pub(crate) systems: usize,
    /// Systems in a batch; the last may have fewer.
    pub(crate) batch: usize,
    /// Number of equations n.
    pub(crate) dim: usize,
    /// Number of save times K.
    pub(crate) saves: usize,
    /// Bytes of a state component.
    pub(crate) real: usize,
    /// What the results depend on, as (name, value).
    pub(crate) identity: Vec<(String, String)>,
}

/// An open checkpoint.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    file: File,
    header: Header,
    /// Where the slots begin.
    start: u64,
}

/// What a checkpoint held.
pub(crate) struct Loaded<T> {
    /// Solutions by batch.
    pub(crate) batches: Vec<Option<Solution<T>>>,
    /// Batches whose checksum does not fit.
    pub(crate) damaged: Vec<usize>,
}

impl Header {
    pub(crate) fn batches(&self) -> usize {
        self.systems.div_ceil(self.batch)
    }

    /// The systems of a batch.
    pub(crate) fn range(&self, batch: usize) -> Range<usize> {
        batch * self.batch..((batch + 1) * self.batch).min(self.systems)
    }

    /// Bytes of the results of some systems.
    fn payload(&self, systems: usize) -> usize {
        let fixed = 8 + 1 + size_of::<Stats>() + if self.saves > 0 { 4 } else { 0 };
        systems * (fixed + self.dim * self.real * (1 + self.saves))
    }

    fn slot(&self) -> u64 {
        (SLOT.len() + 8 + self.payload(self.batch) + HASH) as u64
    }
}

impl Checkpoint {
    /// Starts a new file, in place of any that is there.
    pub(crate) fn create(path: &Path, header: Header) -> Result<Checkpoint, Finding> {
        let mut bytes = MAGIC.to_vec();
        let text =
            serde_json::to_vec(&header).map_err(|error| damaged(path, &error.to_string()))?;
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        bytes.extend(hash(&bytes));
        write_whole(path, |file| file.write_all(&bytes))?;
        let file = open(path)?;
        Ok(Checkpoint { file, header, start: bytes.len() as u64 })
    }

    /// Opens a file and compares what it says with what this run would say. The batches are those
    /// of the file: their size does not change any result.
    pub(crate) fn open(path: &Path, wanted: &Header) -> Result<Checkpoint, Finding> {
        let mut file = open(path)?;
        let mut head = [0; 16];
        let foreign = || {
            Finding::error("this is no checkpoint of odeum")
                .in_file(path.display().to_string())
                .help("name the right output, or start anew with --overwrite")
        };
        let cut = |_| damaged(path, "its header is cut off");
        file.read_exact(&mut head).map_err(|_| foreign())?;
        if !head.starts_with(MAGIC) {
            return Err(foreign());
        }
        let length = u64::from_le_bytes([8, 9, 10, 11, 12, 13, 14, 15].map(|i: usize| head[i]));
        if length > LONGEST_HEADER {
            return Err(damaged(path, "its header is not readable"));
        }
        let mut rest = vec![0; length as usize + HASH];
        file.read_exact(&mut rest).map_err(cut)?;
        let (text, sum) = rest.split_at(length as usize);
        let mut hasher = Sha256::new();
        hasher.update(head);
        hasher.update(text);
        if hasher.finalize().as_slice() != sum {
            return Err(damaged(path, "the checksum of its header does not fit"));
        }
        let header: Header = serde_json::from_slice(text)
            .map_err(|error| damaged(path, &format!("its header is not readable: {error}")))?;
        compare(path, &header, wanted)?;
        let start = head.len() as u64 + length + HASH as u64;
        Ok(Checkpoint { file, header, start })
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Reads every slot.
    pub(crate) fn load<T: Scalar>(&mut self, save_times: &[f64]) -> io::Result<Loaded<T>> {
        let mut loaded = Loaded { batches: Vec::new(), damaged: Vec::new() };
        for b in 0..self.header.batches() {
            let systems = self.header.range(b).len();
            let mut slot = vec![0; SLOT.len() + 8 + self.header.payload(systems) + HASH];
            self.file.seek(SeekFrom::Start(self.start + b as u64 * self.header.slot()))?;
            let read = fill(&mut self.file, &mut slot)?;
            // A slot of zeros was never written: a later one was, and the file is sparse.
            let absent = slot[..read].iter().all(|&byte| byte == 0);
            let (body, sum) = slot.split_at(slot.len() - HASH);
            let good = read == slot.len()
                && body.starts_with(SLOT)
                && body[8..16] == (b as u64).to_le_bytes()
                && hash(body) == *sum;
            let batch = good.then(|| decode(&self.header, &body[16..], systems, save_times));
            if batch.is_none() && !absent {
                loaded.damaged.push(b);
            }
            loaded.batches.push(batch);
        }
        Ok(loaded)
    }

    /// Stores a batch, whose systems are those of `part` in a solution; call
    /// [`sync`](Checkpoint::sync) after the last of several.
    pub(crate) fn store<T: Scalar>(
        &mut self,
        b: usize,
        solution: &Solution<T>,
        part: Range<usize>,
    ) -> io::Result<()> {
        let mut slot = SLOT.to_vec();
        slot.extend((b as u64).to_le_bytes());
        encode(solution, part, &mut slot);
        slot.extend(hash(&slot));
        self.file.seek(SeekFrom::Start(self.start + b as u64 * self.header.slot()))?;
        self.file.write_all(&slot)
    }

    /// Waits until everything stored is on the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Opens for reading and writing. The lock of the result keeps other runs away.
fn open(path: &Path) -> Result<File, Finding> {
    OpenOptions::new().read(true).write(true).open(path).map_err(|error| {
        Finding::error(format!("cannot open the checkpoint: {}", reason(&error)))
            .in_file(path.display().to_string())
    })
}

fn damaged(path: &Path, reason: &str) -> Finding {
    Finding::error(format!("the checkpoint is damaged: {reason}"))
        .in_file(path.display().to_string())
        .help("start anew with --overwrite")
}

/// Refuses a checkpoint of another run, and says in what it differs.
fn compare(path: &Path, found: &Header, wanted: &Header) -> Result<(), Finding> {
    let mut differences: Vec<&str> = Vec::new();
    for (name, value) in &wanted.identity {
        if found.identity.iter().all(|(n, v)| n != name || v != value) {
            differences.push(name);
        }
    }
    let shape = |h: &Header| (h.systems, h.dim, h.saves, h.real);
    if differences.is_empty() && (shape(found) != shape(wanted) || found.batch == 0) {
        differences.push("number of systems");
    }
    if differences.is_empty() {
        return Ok(());
    }
    let restore =
        "restore the case as it was, name another --output, or start anew with --overwrite";
    let help = match differences[..] {
        [SPANS] => format!("{restore}; {LATER}"),
        _ => restore.to_owned(),
    };
    Err(Finding::error("the checkpoint is of another run")
        .in_file(path.display().to_string())
        .found(format!("it differs in: {}", differences.join(", ")))
        .help(help))
}

fn hash(bytes: &[u8]) -> [u8; HASH] {
    Sha256::digest(bytes).into()
}

/// Reads as much as there is; how much that was.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match file.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(n) => read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

fn encode<T: Scalar>(solution: &Solution<T>, part: Range<usize>, bytes: &mut Vec<u8>) {
    let put = |bytes: &mut Vec<u8>, rows: &[T]| {
        for row in rows.chunks_exact(solution.len()) {
            for x in &row[part.clone()] {
                if size_of::<T>() == 8 {
                    bytes.extend(x.to_f64().to_le_bytes());
                } else {
                    bytes.extend((x.to_f64() as f32).to_le_bytes());
                }
            }
        }
    };
    solution.t[part.clone()].iter().for_each(|t| bytes.extend(t.to_le_bytes()));
    put(bytes, &solution.states);
    put(bytes, &solution.saved);
    if !solution.n_saved.is_empty() {
        solution.n_saved[part.clone()].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    }
    bytes.extend(solution.status[part.clone()].iter().map(|status| *status as u8));
    for stats in &solution.stats[part.clone()] {
        for count in stats.to_array() {
            bytes.extend(count.to_le_bytes());
        }
    }
}

/// The inverse of [`encode`]; `bytes` has the length the header says.
fn decode<T: Scalar>(
    header: &Header,
    bytes: &[u8],
    systems: usize,
    save_times: &[f64],
) -> Solution<T> {
    let mut left = bytes;
    let mut take = |items: usize, size: usize| {
        let (front, rest) = left.split_at(items * size);
        left = rest;
        front.chunks_exact(size)
    };
    fn word<const N: usize>(bytes: &[u8]) -> [u8; N] {
        std::array::from_fn(|i| bytes[i])
    }
    let real = |bytes: &[u8]| {
        T::from_f64(match bytes.len() {
            8 => f64::from_le_bytes(word(bytes)),
            _ => f64::from(f32::from_le_bytes(word(bytes))),
        })
    };
    let count = |bytes: &[u8]| u32::from_le_bytes(word(bytes));
    let states = systems * header.dim;
    let t = take(systems, 8).map(|bytes| f64::from_le_bytes(word(bytes))).collect();
    let y = take(states, header.real).map(real).collect();
    let saved = take(states * header.saves, header.real).map(real).collect();
    let n_saved = take(if header.saves > 0 { systems } else { 0 }, 4).map(count).collect();
    let status = take(systems, 1)
        .map(|byte| Status::from_number(byte[0]).unwrap_or(Status::NotRun))
        .collect();
    let stats = take(systems, size_of::<Stats>())
        .map(|bytes| Stats::from_array(std::array::from_fn(|i| count(&bytes[4 * i..4 * i + 4]))))
        .collect();
    Solution {
        dim: header.dim,
        t,
        states: y,
        save_times: save_times.to_vec(),
        saved,
        n_saved,
        status,
        stats,
        next_steps: Vec::new(),
        warnings: Vec::new(),
        busy_lanes: None,
        gpu_times: None,
    }
}

#[cfg(test)]
mod tests;
