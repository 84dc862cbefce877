//! The thread that writes while the march goes on.

use super::Trouble;
use super::checkpoint::{self, Header};
use super::frames::Frames;
use super::growing::Growing;
use super::queue::{Inbox, Sent};
use super::series;
use super::structure::{self, Waves};
use crate::case::FieldCase;
use crate::finding::Finding;
use crate::output::Target;
use odeum_fields::{Checkpoint, Clock, Precision, Problem, Snapshot};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// What is to be written; in the order given.
pub(super) enum Message<T: Precision> {
    State {
        t: f64,
        field: Snapshot<T>,
    },
    /// Rows of the table of reductions, and of lines.
    Rows {
        series: String,
        lines: String,
    },
    /// A state whose structure factors are wanted.
    Structure {
        step: u64,
        t: f64,
        field: Snapshot<T>,
    },
    /// What follows is of the end alone: a run that goes on later does not keep it.
    Mark,
    Checkpoint {
        header: Box<Header>,
        clock: Clock,
        field: Snapshot<T>,
    },
}

/// What the thread tells while it works.
#[derive(Default)]
pub(super) struct Signals {
    /// It cannot write any more.
    pub(super) failed: AtomicBool,
    /// Microseconds the last checkpoint took.
    pub(super) checkpoint_cost: AtomicU64,
}

/// All that is written.
pub(super) struct Writer {
    pub(super) frames: Frames,
    pub(super) series: Option<Growing>,
    pub(super) lines: Option<Growing>,
    pub(super) structure: Option<(Waves, Growing)>,
    pub(super) checkpoint: PathBuf,
    /// Bytes of the tables at the mark.
    marked: [u64; 3],
}

/// What the thread has done.
pub(super) struct Written {
    pub(super) files: Vec<PathBuf>,
    /// There is a checkpoint.
    pub(super) kept: bool,
    /// Bytes of the tables that a run that goes on later keeps.
    pub(super) marked: [u64; 3],
    pub(super) warnings: Vec<Trouble>,
    pub(super) trouble: Option<Trouble>,
}

impl Writer {
    /// Makes ready to write, or to go on; and warnings of what an earlier run had written and is
    /// missing.
    pub(super) fn open(
        case: &FieldCase,
        target: &Target,
        header: &Header,
        resumed: bool,
        threads: usize,
    ) -> Result<(Writer, Vec<Finding>), Trouble> {
        let names = case.problem.model.species();
        let mut missing = Vec::new();
        let mut open = |end: &str, heading: &str, kept: u64| -> Result<Growing, Trouble> {
            if !resumed {
                return Growing::begin(target.file(end), heading);
            }
            let (table, warning) = Growing::go_on(target.file(end), heading, kept)?;
            missing.extend(warning);
            Ok(table)
        };
        let [series_bytes, lines_bytes, structure_bytes] = header.tables;
        let (mut table, mut lines) = (None, None);
        if let Some(series) = &case.output.series {
            table = Some(open("csv", &series::heading(series, names), series_bytes)?);
            if !series.lines.is_empty() {
                lines = Some(open("lines.csv", &series::lines_heading(names), lines_bytes)?);
            }
        }
        let structure = match &case.output.structure {
            None => None,
            Some(wanted) => {
                let heading = structure::heading(wanted, names);
                let table = open("structure.csv", &heading, structure_bytes)?;
                let Problem { grid, mask, .. } = &case.problem;
                Some((Waves::new(*grid, mask.clone(), wanted), table))
            }
        };
        let times = header.frames.iter().map(|bits| f64::from_bits(*bits)).collect();
        let frames = Frames::new(&case.output, target, &case.problem, times, threads);
        let checkpoint = target.checkpoint();
        let marked = [0; 3];
        let writer = Writer { frames, series: table, lines, structure, checkpoint, marked };
        Ok((writer, missing))
    }

    /// Writes until there is nothing more to come; after an error it only listens.
    pub(super) fn run<T: Precision>(
        mut self,
        messages: &Inbox<Message<T>>,
        signals: &Signals,
        mut kept: bool,
    ) -> Written {
        let (mut warnings, mut trouble) = (Vec::new(), None);
        // Room is given back after each turn, when what took it is gone.
        while let Ok(Sent { message, room: _room }) = messages.recv() {
            if trouble.is_some() {
                continue;
            }
            let done = match message {
                Message::State { t, field } => self.state(t, field),
                Message::Rows { series, lines } => self.rows(&series, &lines),
                Message::Structure { step, t, field } => self.structure((step, t), field),
                Message::Mark => {
                    self.marked = self.tables().map(|table| table.map_or(0, |table| table.bytes()));
                    Ok(())
                }
                Message::Checkpoint { header, clock, field } => {
                    let begun = Instant::now();
                    // The run itself is worth more than its checkpoint: it goes on without.
                    match self.checkpoint(*header, clock, field) {
                        Ok(()) => kept = true,
                        Err(trouble) if warnings.is_empty() => warnings.push(trouble),
                        Err(_) => {}
                    }
                    let cost = begun.elapsed().as_micros().min(u128::from(u64::MAX)) as u64;
                    signals.checkpoint_cost.store(cost, Ordering::Relaxed);
                    Ok(())
                }
            };
            if let Err(error) = done {
                trouble = Some(error);
                signals.failed.store(true, Ordering::Relaxed);
            }
        }
        let mut files = self.frames.files();
        let structure = self.structure.iter().map(|(_, table)| table);
        let tables = self.series.iter().chain(&self.lines).chain(structure);
        files.extend(tables.map(|table| table.path().to_owned()));
        Written { files, kept, marked: self.marked, warnings, trouble }
    }

    fn tables(&mut self) -> [Option<&mut Growing>; 3] {
        let structure = self.structure.as_mut().map(|(_, table)| table);
        [self.series.as_mut(), self.lines.as_mut(), structure]
    }

    fn rows(&mut self, series: &str, lines: &str) -> Result<(), Trouble> {
        if let Some(table) = &mut self.series {
            table.append(series)?;
        }
        if let Some(table) = &mut self.lines {
            table.append(lines)?;
        }
        Ok(())
    }

    fn state<T: Precision>(&mut self, t: f64, field: Snapshot<T>) -> Result<(), Trouble> {
        let field = field.field().map_err(Finding::from)?;
        self.frames.write(t, &field)
    }

    fn structure<T: Precision>(
        &mut self,
        at: (u64, f64),
        field: Snapshot<T>,
    ) -> Result<(), Trouble> {
        let Some((waves, table)) = &mut self.structure else { return Ok(()) };
        let field = field.field().map_err(Finding::from)?;
        table.append(&waves.rows(at, &field)?)
    }

    fn checkpoint<T: Precision>(
        &mut self,
        mut header: Header,
        clock: Clock,
        field: Snapshot<T>,
    ) -> Result<(), Trouble> {
        let field = field.field().map_err(Finding::from)?;
        for (bytes, table) in header.tables.iter_mut().zip(self.tables()) {
            *bytes = table.map_or(Ok(0), Growing::sync)?;
        }
        checkpoint::write(&self.checkpoint, &header, &Checkpoint { field, clock })
    }
}
