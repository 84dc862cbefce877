//! Numbers that are written down while a run goes on, as CSV.
//!
//! Rows are appended; a run that is taken up again cuts the files to what they held at its
//! checkpoint.

use super::Trouble;
use crate::case::Series;
use crate::output::cannot_write;
use odeum::Error;
use odeum_fields::{Grid, March, Precision};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The heading of the table of reductions and probes.
pub(super) fn heading(series: &Series, names: &[String]) -> String {
    let mut line = "step,t".to_owned();
    for name in names {
        for what in ["mass", "min", "max", "mean"] {
            let _ = write!(line, ",{name}_{what}");
        }
    }
    for [i, j, k] in &series.probes {
        for name in names {
            let _ = write!(line, ",{name}[{i} {j} {k}]");
        }
    }
    line + "\n"
}

/// The heading of the table of lines.
pub(super) fn lines_heading(names: &[String]) -> String {
    format!("step,t,line,position,{}\n", names.join(","))
}

/// A row of reductions and probes.
pub(super) fn row<T: Precision>(series: &Series, march: &March<T>) -> Result<String, Error> {
    let mut line = format!("{},{}", march.counts().steps, march.t());
    for s in march.summaries()? {
        let _ = write!(line, ",{},{},{},{}", s.mass, s.min, s.max, s.mean);
    }
    for value in march.pick(&series.probes)? {
        let _ = write!(line, ",{}", value.to_f64());
    }
    Ok(line + "\n")
}

/// The rows of all lines, one for each cell.
pub(super) fn lines<T: Precision>(
    series: &Series,
    grid: &Grid,
    march: &March<T>,
) -> Result<String, Error> {
    let mut text = String::new();
    for line in &series.lines {
        let name = line.name();
        let cell = |i: usize| {
            let mut cell = line.cell;
            cell[line.along] = i;
            cell
        };
        let cells: Vec<_> = (0..grid.shape()[line.along]).map(cell).collect();
        let values = march.pick(&cells)?;
        for (i, values) in values.chunks(values.len() / cells.len()).enumerate() {
            let at = grid.centre(line.along, i);
            let _ = write!(text, "{},{},{name},{at}", march.counts().steps, march.t());
            for value in values {
                let _ = write!(text, ",{}", value.to_f64());
            }
            text.push('\n');
        }
    }
    Ok(text)
}

/// A table that grows.
pub(super) struct Growing {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Growing {
    /// Begins a table, or cuts the one that is there to the bytes it had.
    pub(super) fn open(
        path: PathBuf,
        heading: &str,
        kept: Option<u64>,
    ) -> Result<Growing, Trouble> {
        let open = || -> io::Result<Growing> {
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(false).open(&path)?;
            match kept {
                Some(bytes) if file.metadata()?.len() >= bytes && bytes > 0 => {
                    file.set_len(bytes)?;
                    file.seek(SeekFrom::End(0))?;
                    Ok(Growing { path: path.clone(), file, bytes })
                }
                _ => {
                    file.set_len(0)?;
                    file.write_all(heading.as_bytes())?;
                    Ok(Growing { path: path.clone(), file, bytes: heading.len() as u64 })
                }
            }
        };
        open().map_err(|error| cannot_write(&path, &error).into())
    }

    pub(super) fn append(&mut self, text: &str) -> Result<(), Trouble> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| Trouble::from(cannot_write(&self.path, &error)))?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// What has been written is on the disk, and how much it is.
    pub(super) fn sync(&mut self) -> Result<u64, Trouble> {
        let synced = self.file.sync_data();
        synced.map_err(|error| Trouble::from(cannot_write(&self.path, &error)))?;
        Ok(self.bytes)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
