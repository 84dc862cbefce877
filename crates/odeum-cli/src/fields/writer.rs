//! The thread that writes while the simulation goes on.

use super::frames::Frames;
use super::queue::{Inbox, Sent};
use super::series;
use super::structure::{self, Waves};
use odeum_case::FieldCase;
use odeum_fields::{Checkpoint, Clock, Precision, Problem, Snapshot};
use odeum_io::checkpoint::field::{self as checkpoint, Header};
use odeum_io::file::{came_meanwhile, is_there, may_write};
use odeum_io::table::{Growing, LOST};
use odeum_io::{Finding, Target};
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
pub(super) struct Writer<T> {
    pub(super) frames: Frames<T>,
    pub(super) series: Option<Growing>,
    pub(super) lines: Option<Growing>,
    pub(super) structure: Option<(Waves, Growing)>,
    pub(super) checkpoint: PathBuf,
    /// Files that are written at the end, and replace none.
    later: Vec<PathBuf>,
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
    pub(super) warnings: Vec<Finding>,
    /// What was written and is not there any more.
    pub(super) lost: Option<Finding>,
    pub(super) trouble: Option<Finding>,
}

impl<T: Precision> Writer<T> {
    /// Makes ready to write, or, of a run that was stopped, to go on; the files that come `later`, at the end, replace none.
    pub(super) fn open(
        case: &FieldCase,
        target: &Target,
        header: &Header,
        (resumed, later): (bool, Vec<PathBuf>),
        threads: usize,
    ) -> Result<Writer<T>, Finding> {
        let open = |(table, kept): (Option<(&str, String)>, u64)| {
            let Some((end, heading)) = table else { return Ok(None) };
            let path = target.file(end);
            let table = match resumed {
                true => Growing::go_on(path, &heading, kept),
                false => Growing::begin(path, &heading),
            };
            table.map(Some)
        };
        let [series, lines, structure] = tables(case);
        let [kept_series, kept_lines, kept_structure] = header.tables;
        let (series, lines) = (open((series, kept_series))?, open((lines, kept_lines))?);
        let structure = open((structure, kept_structure))?;
        let Problem { grid, mask, .. } = &case.problem;
        let waves = case.output.structure.as_ref().map(|it| Waves::new(*grid, mask.clone(), it));
        let frames = frames(case, target, header, threads);
        if resumed {
            frames.restore()?;
        }
        let (structure, checkpoint) = (waves.zip(structure), target.checkpoint());
        Ok(Writer { frames, series, lines, structure, checkpoint, later, marked: [0; 3] })
    }

    /// What was written before a checkpoint and is not there, as errors.
    pub(super) fn lost(
        case: &FieldCase,
        target: &Target,
        header: &Header,
    ) -> Result<Vec<Finding>, Finding> {
        let mut lost = Vec::new();
        for (table, kept) in tables(case).into_iter().zip(header.tables) {
            if let Some((end, heading)) = table {
                lost.extend(Growing::lost(&target.file(end), &heading, kept)?);
            }
        }
        let help = format!("put them back, or leave their format out; {LOST}");
        let of_states = frames::<T>(case, target, header, 1).lost(0, "before the checkpoint");
        lost.extend(of_states.map(|finding| finding.help(help)));
        Ok(lost)
    }

    /// Writes until there is nothing more to come; after an error it only listens.
    pub(super) fn run(
        mut self,
        messages: &Inbox<Message<T>>,
        signals: &Signals,
        mut kept: bool,
    ) -> Written {
        let (mut warnings, mut trouble) = (Vec::new(), None);
        let before = self.frames.count();
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
                    let came = self.later.iter().find(|path| is_there(path));
                    came.map_or(Ok(()), |path| Err(came_meanwhile(path)))
                }
                Message::Checkpoint { header, clock, field } => {
                    let begun = Instant::now();
                    let checked = self.check();
                    // The run itself is worth more than its checkpoint: it goes on without.
                    match checked.is_ok().then(|| self.checkpoint(*header, clock, field)) {
                        Some(Ok(())) => kept = true,
                        Some(Err(trouble)) if warnings.is_empty() => warnings.push(trouble),
                        _ => {}
                    }
                    let cost = begun.elapsed().as_micros().min(u128::from(u64::MAX)) as u64;
                    signals.checkpoint_cost.store(cost, Ordering::Relaxed);
                    checked
                }
            };
            if let Err(error) = done {
                trouble = Some(error);
                signals.failed.store(true, Ordering::Relaxed);
            }
        }
        let checked = self.check();
        let of_states = || {
            let finding = self.frames.lost(before, "of this run")?;
            Some(finding.help("put them back"))
        };
        let lost = checked.err().or_else(of_states);
        let mut files = self.frames.files();
        let structure = self.structure.iter().map(|(_, table)| table);
        let tables = self.series.iter().chain(&self.lines).chain(structure);
        files.extend(tables.map(|table| table.path().to_owned()));
        Written { files, kept, marked: self.marked, warnings, lost, trouble }
    }

    /// Whether what was written is where it was written to: a checkpoint would vouch for it.
    fn check(&mut self) -> Result<(), Finding> {
        may_write(&self.checkpoint)?;
        self.tables().into_iter().flatten().try_for_each(|table| table.check())
    }

    fn tables(&mut self) -> [Option<&mut Growing>; 3] {
        let structure = self.structure.as_mut().map(|(_, table)| table);
        [self.series.as_mut(), self.lines.as_mut(), structure]
    }

    fn rows(&mut self, series: &str, lines: &str) -> Result<(), Finding> {
        if let Some(table) = &mut self.series {
            table.append(series)?;
        }
        if let Some(table) = &mut self.lines {
            table.append(lines)?;
        }
        Ok(())
    }

    fn state(&mut self, t: f64, field: Snapshot<T>) -> Result<(), Finding> {
        let field = field.field().map_err(Finding::from)?;
        self.frames.write(t, &field)
    }

    fn structure(&mut self, at: (u64, f64), field: Snapshot<T>) -> Result<(), Finding> {
        let Some((waves, table)) = &mut self.structure else { return Ok(()) };
        let field = field.field().map_err(Finding::from)?;
        table.append(&waves.rows(at, &field)?)
    }

    fn checkpoint(
        &mut self,
        mut header: Header,
        clock: Clock,
        field: Snapshot<T>,
    ) -> Result<(), Finding> {
        let field = field.field().map_err(Finding::from)?;
        for (bytes, table) in header.tables.iter_mut().zip(self.tables()) {
            *bytes = table.map_or(Ok(0), Growing::sync)?;
        }
        checkpoint::write(&self.checkpoint, &header, &Checkpoint { field, clock })
    }
}

/// Extension and heading of the tables of a case: series, lines, structure factors.
pub(super) fn tables(case: &FieldCase) -> [Option<(&'static str, String)>; 3] {
    let (names, output) = (case.problem.model.species(), &case.output);
    let series = output.series.as_ref();
    let lines = series.filter(|series| !series.lines.is_empty());
    let structure = output.structure.as_ref();
    [
        series.map(|series| ("csv", series::heading(series, names))),
        lines.map(|_| ("lines.csv", series::lines_heading(names))),
        structure.map(|structure| ("structure.csv", structure::heading(structure, names))),
    ]
}

/// Writes states after those that a header counts.
fn frames<T: Precision>(
    case: &FieldCase,
    target: &Target,
    header: &Header,
    threads: usize,
) -> Frames<T> {
    let times = header.frames.iter().map(|bits| f64::from_bits(*bits)).collect();
    Frames::new(case, target, times, threads)
}
