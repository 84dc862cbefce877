//! Files that were written before, known to be whole without being read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// A file that was written, and what a part of it does not have.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes, where these are known.
    pub bytes: Option<u64>,
    /// Its last bytes.
    pub end: Vec<u8>,
}

impl Whole {
    /// Whether it is there, and not cut off.
    pub fn is_there(&self) -> bool {
        self.look().unwrap_or(false)
    }

    fn look(&self) -> io::Result<bool> {
        let mut file = File::open(&self.path)?;
        let meta = file.metadata()?;
        let fits = self.bytes.is_none_or(|bytes| bytes == meta.len());
        if !meta.is_file() || !fits || meta.len() < self.end.len() as u64 {
            return Ok(false);
        }
        file.seek(SeekFrom::Start(meta.len() - self.end.len() as u64))?;
        let mut end = Vec::new();
        file.take(self.end.len() as u64).read_to_end(&mut end)?;
        Ok(end == self.end)
    }
}
