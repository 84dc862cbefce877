//! The batches of a run: a series whose parts are some batches each, possibly in two goes.
//!
//! A batch is what a checkpoint keeps by itself. A part has as many as take about [`PART`]: fewer, and more time goes into
//! parts; more, and a run that is killed loses more.

use super::store::Store;
use odeum_case::results::{Piece, Pieces};
use odeum_case::{Plan, STARTS};
use odeum_io::checkpoint::ensemble::Header;
use odeum_ode::{Compiled, Device, Error, Monitor, Part, Series, Solution, Solver, Status};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Time between the ends of two parts, unless checkpoints are asked for more often.
const PART: Duration = Duration::from_secs(1);

/// How many times the batches of a part the next one may have: costs differ between systems.
const GROWTH: usize = 16;

/// All batches, computed or not.
pub(super) struct Batches<'a, T> {
    plan: &'a Plan<'a>,
    header: Header,
    pieces: Pieces<T>,
    computed: usize,
    nfev: u64,
    busy_lanes: Option<f64>,
    warnings: Vec<String>,
}

/// The batches that are left, as they are integrated.
struct Left<'r, 'a, T> {
    batches: &'r mut Batches<'a, T>,
    store: &'r mut Store,
    /// The first batch that no part has.
    next: usize,
    size: Size,
    /// Batches of each part, and its systems: those that had not ended. Empty once it has ended.
    parts: Vec<(Range<usize>, Vec<usize>)>,
}

/// How many batches a part has.
struct Size {
    /// Of the next part, at most.
    most: usize,
    /// Time that a part should take.
    aim: Duration,
    /// Since when parts have ended, and how many batches they had.
    since: Instant,
    ended: usize,
    is_measured: bool,
}

impl<'a, T: Compiled> Batches<'a, T> {
    pub(super) fn new(
        plan: &'a Plan<'a>,
        header: &Header,
        loaded: Vec<Option<Solution<T>>>,
    ) -> Batches<'a, T> {
        let mut pieces = Pieces::new(header.batch, header.batches());
        for (b, solution) in loaded.into_iter().enumerate() {
            if let Some(solution) = solution {
                pieces.add(b..b + 1, solution);
            }
        }
        Batches {
            plan,
            header: header.clone(),
            pieces,
            computed: 0,
            nfev: 0,
            busy_lanes: None,
            warnings: Vec::new(),
        }
    }

    /// Computes what is left, until the end or until the monitor is stopped.
    pub(super) fn run(&mut self, monitor: &Monitor, store: &mut Store) -> Result<(), Error> {
        let Plan { case, device, .. } = self.plan;
        // Each part brings its levels.
        let options = self.plan.options_of(&[]);
        let solver = Solver::new(&case.model.rhs, &case.method.method, device, &options)?;
        let size = Size::new(PART.min(store.every()), first_part(device));
        let mut left = Left { batches: self, store, next: 0, size, parts: Vec::new() };
        let remarks = solver.solve_series(&mut left, monitor)?;
        self.busy_lanes = remarks.busy_lanes;
        self.add_warnings(&remarks.warnings);
        Ok(())
    }

    /// Up to `most` batches from `first` on that nothing is known of, or the first alone.
    fn group(&self, first: usize, most: usize) -> Range<usize> {
        if self.pieces.of(first).is_some() {
            return first..first + 1;
        }
        let room = STARTS / (self.plan.start_bytes() * self.header.batch).max(1);
        let end = (first + most.min(room).max(1)).min(self.pieces.batches());
        let known = (first..end).find(|&b| self.pieces.of(b).is_some());
        first..known.unwrap_or(end)
    }

    /// The systems of some batches that have not ended; several are of no solution.
    fn left(&self, batches: &Range<usize>) -> Vec<usize> {
        let systems =
            self.header.range(batches.start).start..self.header.range(batches.end - 1).end;
        match self.pieces.of(batches.start) {
            None => systems.collect(),
            Some(Piece { first, solution }) => {
                systems.filter(|s| solution.status[s - first] == Status::NotRun).collect()
            }
        }
    }

    fn count(&mut self, part: &Solution<T>) {
        let ended = part.status.iter().zip(&part.stats).filter(|(s, _)| **s != Status::NotRun);
        for (_, stats) in ended {
            self.computed += 1;
            self.nfev += u64::from(stats.nfev);
        }
        self.add_warnings(&part.warnings);
    }

    fn add_warnings(&mut self, warnings: &[String]) {
        for warning in warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
    }

    /// Puts the systems of `part`, which are `systems` of these batches, where they belong.
    fn put(&mut self, batches: Range<usize>, systems: &[usize], part: Solution<T>) {
        let Some(Piece { first, solution: whole }) = self.pieces.of_mut(batches.start) else {
            self.pieces.add(batches, part);
            return;
        };
        let (len, part_len) = (whole.len(), part.len());
        for (from, system) in systems.iter().enumerate() {
            let to = system - *first;
            whole.t[to] = part.t[from];
            whole.status[to] = part.status[from];
            whole.stats[to] = part.stats[from];
            if let Some(n_saved) = whole.n_saved.get_mut(to) {
                *n_saved = part.n_saved[from];
            }
            for i in 0..whole.dim {
                whole.states[i * len + to] = part.states[i * part_len + from];
            }
            for row in 0..whole.dim * whole.save_times.len() {
                whole.saved[row * len + to] = part.saved[row * part_len + from];
            }
        }
    }

    pub(super) fn pieces(&self) -> &Pieces<T> {
        &self.pieces
    }

    /// Systems that have ended, those from a checkpoint included.
    pub(super) fn finished(&self) -> usize {
        let statuses = self.pieces.solutions().flat_map(|s| &s.status);
        statuses.filter(|s| **s != Status::NotRun).count()
    }

    /// Systems that ended in this run.
    pub(super) fn computed(&self) -> usize {
        self.computed
    }

    /// Right-hand sides evaluated in this run.
    pub(super) fn nfev(&self) -> u64 {
        self.nfev
    }

    pub(super) fn busy_lanes(&self) -> Option<f64> {
        self.busy_lanes
    }

    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl<T: Compiled> Series<T> for Left<'_, '_, T> {
    fn systems(&self) -> usize {
        self.batches.plan.members.len() - self.batches.finished()
    }

    fn next(&mut self) -> Result<Option<Part<T>>, Error> {
        let plan = self.batches.plan;
        while self.next < self.batches.pieces.batches() {
            let batches = self.batches.group(self.next, self.size.most);
            self.next = batches.end;
            let systems = self.batches.left(&batches);
            if systems.is_empty() {
                continue;
            }
            let ensemble = plan.members.ensemble::<T>(&systems, plan.threads())?;
            let levels = plan.levels_of(&systems);
            self.parts.push((batches, systems));
            return Ok(Some(Part { ensemble, levels }));
        }
        Ok(None)
    }

    fn ended(&mut self, number: usize, solution: Solution<T>) {
        let (batches, systems) = std::mem::take(&mut self.parts[number]);
        self.size.ended(batches.len());
        self.batches.count(&solution);
        self.batches.put(batches.clone(), &systems, solution);
        let is_last = self.next == self.batches.pieces.batches()
            && self.parts.iter().all(|(batches, _)| batches.is_empty());
        self.store.finished(batches, &self.batches.pieces, is_last);
    }
}

/// Batches of the first part, of which nothing is known: what a GPU is done with in milliseconds.
fn first_part(device: &Device) -> usize {
    match device {
        Device::Cpu(_) => 1,
        Device::Cuda(cuda) => 4 * cuda.ordinals.len(),
    }
}

impl Size {
    fn new(aim: Duration, first: usize) -> Size {
        let most = if aim.is_zero() { 1 } else { first };
        Size { most, aim, since: Instant::now(), ended: 0, is_measured: false }
    }

    /// A part of so many batches has ended.
    fn ended(&mut self, batches: usize) {
        self.ended += batches;
        let took = self.since.elapsed();
        // Parts may end at the same moment: that says nothing of the time they take.
        let is_measured = took > self.aim / 2;
        if is_measured || !self.is_measured {
            self.most = fitting(self.ended, took, self.aim).min(GROWTH * batches);
        }
        if is_measured {
            (self.since, self.ended, self.is_measured) = (Instant::now(), 0, true);
        }
    }
}

/// How many batches take about the time aimed at, where so many took a time.
fn fitting(batches: usize, took: Duration, aim: Duration) -> usize {
    let wanted = batches as f64 * aim.as_secs_f64() / took.as_secs_f64().max(1e-9);
    (wanted as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_grow_and_shrink_towards_the_time_aimed_at() {
        let millis = Duration::from_millis;
        assert_eq!(fitting(1, millis(250), PART), 4);
        assert_eq!(fitting(8, millis(4000), PART), 2);
        assert_eq!(fitting(1, millis(60_000), PART), 1);
        assert_eq!(fitting(100, millis(1), Duration::ZERO), 1);
        // A first part of next to no time says little.
        let mut size = Size::new(PART, 3);
        size.ended(3);
        assert_eq!(size.most, 3 * GROWTH);
    }
}
