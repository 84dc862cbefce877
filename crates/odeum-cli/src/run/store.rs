//! The checkpoint of a run as it goes: made when there is something worth keeping.

use odeum_case::Plan;
use odeum_case::results::{Piece, Pieces};
use odeum_io::checkpoint::ensemble::{Checkpoint, Header, Loaded};
use odeum_io::file::{is_there, reason};
use odeum_io::{Finding, Target, ensemble, former};
use odeum_ode::{Scalar, Status};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Writes batches to the checkpoint, not too often.
pub(super) struct Store {
    header: Header,
    path: PathBuf,
    file: Option<Checkpoint>,
    /// The file holds a batch: it is worth keeping.
    has_content: bool,
    every: Duration,
    last: Instant,
    /// Batches that are finished but not stored.
    waiting: Vec<usize>,
    warnings: Vec<Finding>,
}

impl Store {
    /// Of a new run, or of one that goes on.
    pub(super) fn open<T: Scalar>(
        plan: &Plan<'_>,
        target: &Target,
        resume: bool,
        every: f64,
    ) -> Result<(Store, Loaded<T>), Finding> {
        let systems = plan.members.len();
        // What it writes comes with its result, but for this one. What it is to replace stays until then: what is there now, and
        // files of an earlier run.
        let is_kept = |path: &PathBuf| is_there(path) || *path == target.partial();
        let own = written(plan, target).into_iter().filter(is_kept);
        let mut files: Vec<String> = own.filter_map(|path| target.extension(&path)).collect();
        files.extend(former::ends(target).unwrap_or_default());
        files.sort();
        files.dedup();
        let header = Header {
            systems,
            batch: plan.case.run.batch.min(systems),
            dim: plan.case.model.dim(),
            saves: plan.options.save_times().len(),
            real: plan.case.run.precision.size(),
            identity: plan.identity().into_iter().map(|(n, v)| (n.to_owned(), v)).collect(),
            files,
        };
        let path = target.checkpoint();
        let mut store = Store {
            header,
            path,
            file: None,
            has_content: false,
            every: Duration::from_secs_f64(every),
            last: Instant::now(),
            waiting: Vec::new(),
            warnings: Vec::new(),
        };
        let mut loaded = Loaded { batches: Vec::new(), damaged: Vec::new() };
        if resume && store.path.exists() {
            let mut file = Checkpoint::open(&store.path, &store.header)?;
            store.header = file.header().clone();
            loaded = file.load(plan.options.save_times()).map_err(|error| {
                Finding::error(format!("cannot read the checkpoint: {}", reason(&error)))
                    .in_file(store.path.display().to_string())
            })?;
            store.file = Some(file);
            store.has_content = true;
        }
        Ok((store, loaded))
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// Time between two checkpoints.
    pub(super) fn every(&self) -> Duration {
        self.every
    }

    /// Batches have come to their end, or were stopped; after the last ones comes the result.
    pub(super) fn finished<T: Scalar>(
        &mut self,
        batches: Range<usize>,
        pieces: &Pieces<T>,
        is_last: bool,
    ) {
        self.waiting.extend(batches);
        if self.last.elapsed() >= self.every && !is_last {
            // The run itself is worth more than its checkpoint: it goes on without.
            if let Err(finding) = self.write(pieces) {
                self.every = Duration::MAX;
                let help = "the run went on without a checkpoint";
                self.warnings.push(finding.help(help).into_warning());
            }
        }
    }

    /// Stores everything that waits.
    fn write<T: Scalar>(&mut self, pieces: &Pieces<T>) -> Result<(), Finding> {
        let header = &self.header;
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(Checkpoint::create(&self.path, self.header.clone())?),
        };
        let stored = self
            .waiting
            .iter()
            .filter_map(|&b| Some((b, pieces.of(b)?)))
            .try_for_each(|(b, piece)| file.store(b, &piece.solution, place(header, b, piece)))
            .and_then(|()| file.sync());
        stored.map_err(|error| {
            if !self.has_content {
                self.file = None;
                let _ = std::fs::remove_file(&self.path);
            }
            Finding::error(format!("cannot write the checkpoint: {}", reason(&error)))
                .in_file(self.path.display().to_string())
        })?;
        self.has_content = true;
        self.waiting.clear();
        self.last = Instant::now();
        Ok(())
    }

    /// Stores every batch in which a system has ended; where to, if there is any.
    pub(super) fn save_all<T: Scalar>(
        &mut self,
        pieces: &Pieces<T>,
    ) -> Result<Option<PathBuf>, Finding> {
        let header = &self.header;
        let any = |b: &usize| {
            pieces.of(*b).is_some_and(|piece| {
                let statuses = &piece.solution.status[place(header, *b, piece)];
                statuses.iter().any(|status| *status != Status::NotRun)
            })
        };
        self.waiting.retain(any);
        if self.waiting.is_empty() && self.file.is_none() {
            return Ok(None);
        }
        self.write(pieces)?;
        Ok(Some(self.path.clone()))
    }

    /// The run is complete and its result is written.
    pub(super) fn remove(&mut self) {
        let had = self.file.take().is_some();
        // One of an earlier run that is now overwritten goes too.
        if let Err(error) = std::fs::remove_file(&self.path)
            && had
        {
            let message = format!("cannot remove the checkpoint: {}", reason(&error));
            self.warnings.push(Finding::warning(message).in_file(self.path.display().to_string()));
        }
    }

    pub(super) fn warnings(&self) -> &[Finding] {
        &self.warnings
    }
}

/// Files that a run writes beside its result.
pub(super) fn written(plan: &Plan<'_>, target: &Target) -> Vec<PathBuf> {
    let mut files = ensemble::files(target, &plan.case.output.formats, plan.extras());
    files.push(target.partial());
    files
}

/// The systems of a batch within the piece that holds it.
fn place<T>(header: &Header, b: usize, piece: &Piece<T>) -> Range<usize> {
    let range = header.range(b);
    range.start - piece.first..range.end - piece.first
}
