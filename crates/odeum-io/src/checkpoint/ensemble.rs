//! Checkpoints of ensembles: a section for each batch, at a place known from its number.
//!
//! A section that is cut off or damaged costs its own batch, which is computed again. A batch that was
//! stopped on its way is stored as it is; its systems that were not run are run when it is taken up.
//! Between sections, which have room for a whole batch, there are zeros.

use super::container::{
    FRAME, Head, cannot_open, content, damaged, differences, head_bytes, of_another_run, read_head,
    section,
};
use crate::cells::put;
use crate::file::{is_at, write_whole};
use crate::finding::Finding;
use odeum_ode::{Scalar, Solution, Stats, Status};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The part of an identity that says from where to where systems go.
pub const SPANS: &str = "time span";

/// How systems go on to a later end: those that are finished forgot the steps they would take next.
pub const LATER: &str = "to go on to a later end, let a run come to its own, and take its result \
     for the starts of another: table = \"RESULT.npz\" in [ensemble], and a span from the old end to the \
     new one";

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Number of systems M.
    pub systems: usize,
    /// Systems in a batch; the last may have fewer.
    pub batch: usize,
    /// Number of equations n.
    pub dim: usize,
    /// Number of save times K.
    pub saves: usize,
    /// Bytes of a state component.
    pub real: usize,
    /// What the results depend on, as (name, value).
    pub identity: Vec<(String, String)>,
    /// How the names of the files end that the run writes beside its result, and of those of a run that it replaces.
    pub files: Vec<String>,
}

/// An open checkpoint.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    file: File,
    header: Header,
    /// Where the slots begin.
    start: u64,
}

/// What a checkpoint held.
pub struct Loaded<T> {
    /// Solutions by batch.
    pub batches: Vec<Option<Solution<T>>>,
    /// Batches whose checksum does not fit.
    pub damaged: Vec<usize>,
}

impl Header {
    /// Number of batches.
    pub fn batches(&self) -> usize {
        self.systems.div_ceil(self.batch)
    }

    /// The systems of a batch.
    pub fn range(&self, batch: usize) -> Range<usize> {
        batch * self.batch..((batch + 1) * self.batch).min(self.systems)
    }

    /// Bytes of the results of some systems.
    fn payload(&self, systems: usize) -> usize {
        let fixed = 8 + 1 + size_of::<Stats>() + if self.saves > 0 { 4 } else { 0 };
        systems * (fixed + self.dim * self.real * (1 + self.saves))
    }

    /// Bytes from one section to the next.
    fn slot(&self) -> u64 {
        FRAME + self.payload(self.batch) as u64
    }
}

impl Head for Header {
    const KIND: &'static str = "ensemble";
    const OF: &'static str = "odeum";

    fn identity(&self) -> &[(String, String)] {
        &self.identity
    }
}

impl Checkpoint {
    /// Starts a new file, in place of any that is there.
    pub fn create(path: &Path, header: Header) -> Result<Checkpoint, Finding> {
        let bytes = head_bytes(&header).map_err(|error| damaged(path, &error.to_string()))?;
        write_whole(path, |file| file.write_all(&bytes))?;
        let file = open(path)?;
        Ok(Checkpoint { path: path.to_owned(), file, header, start: bytes.len() as u64 })
    }

    /// Opens a file and compares what it says with what this run would say. The batches are those
    /// of the file: their size does not change any result.
    pub fn open(path: &Path, wanted: &Header) -> Result<Checkpoint, Finding> {
        let mut file = open(path)?;
        let size = file.metadata().map_err(|error| cannot_open(path, &error))?.len();
        let (header, start) = read_head(path, &mut file, size)?;
        compare(path, &header, wanted)?;
        Ok(Checkpoint { path: path.to_owned(), file, header, start })
    }

    /// What the file says of its run.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads every slot.
    pub fn load<T: Scalar>(&mut self, save_times: &[f64]) -> io::Result<Loaded<T>> {
        let mut loaded = Loaded { batches: Vec::new(), damaged: Vec::new() };
        for b in 0..self.header.batches() {
            let systems = self.header.range(b).len();
            let mut slot = vec![0; FRAME as usize + self.header.payload(systems)];
            self.file.seek(SeekFrom::Start(self.start + b as u64 * self.header.slot()))?;
            let read = fill(&mut self.file, &mut slot)?;
            // A slot of zeros was never written: a later one was, and the file is sparse.
            let absent = slot[..read].iter().all(|&byte| byte == 0);
            let found = content(&slot, b as u64).filter(|_| read == slot.len());
            let batch = found.map(|bytes| decode(&self.header, bytes, systems, save_times));
            if batch.is_none() && !absent {
                loaded.damaged.push(b);
            }
            loaded.batches.push(batch);
        }
        Ok(loaded)
    }

    /// Stores a batch, whose systems are those of `part` in a solution; call
    /// [`sync`](Checkpoint::sync) after the last of several.
    pub fn store<T: Scalar>(
        &mut self,
        b: usize,
        solution: &Solution<T>,
        part: Range<usize>,
    ) -> io::Result<()> {
        let slot = section(b as u64, |bytes| encode(solution, part, bytes));
        self.file.seek(SeekFrom::Start(self.start + b as u64 * self.header.slot()))?;
        self.file.write_all(&slot)
    }

    /// Waits until everything stored is on the disk; an error where that is in no file any more.
    pub fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        if is_at(&self.file, &self.path) {
            return Ok(());
        }
        Err(io::Error::other("it was removed or replaced while the run went on"))
    }
}

/// Opens for reading and writing. The lock of the result keeps other runs away.
fn open(path: &Path) -> Result<File, Finding> {
    OpenOptions::new().read(true).write(true).open(path).map_err(|error| cannot_open(path, &error))
}

/// Refuses a checkpoint of another run, and says in what it differs.
fn compare(path: &Path, found: &Header, wanted: &Header) -> Result<(), Finding> {
    let mut differences = differences(found, &wanted.identity);
    let shape = |h: &Header| (h.systems, h.dim, h.saves, h.real);
    if differences.is_empty() && (shape(found) != shape(wanted) || found.batch == 0) {
        differences.push("number of systems");
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(of_another_run(path, &differences, (differences == [SPANS]).then_some(LATER)))
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
    let rows = |bytes: &mut Vec<u8>, rows: &[T]| {
        rows.chunks_exact(solution.len()).for_each(|row| put(bytes, &row[part.clone()]));
    };
    solution.t[part.clone()].iter().for_each(|t| bytes.extend(t.to_le_bytes()));
    rows(bytes, &solution.states);
    rows(bytes, &solution.saved);
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
