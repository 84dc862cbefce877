//! The batches of a run: computed some at once, each possibly in two goes.
//!
//! A batch is what a checkpoint keeps by itself. As many are integrated in one call as take about
//! [`CALL`]: fewer, and cores or GPUs wait between calls for the last systems of one and the first
//! of the next; more, and a run that is killed loses more.

use super::store::Store;
use odeum_case::results::{Piece, Pieces};
use odeum_case::{Plan, STARTS};
use odeum_io::checkpoint::ensemble::Header;
use odeum_io::parallel;
use odeum_ode::{Compiled, Device, Ensemble, Error, Monitor, Solution, Solver, Status};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Time that a call should take, unless checkpoints are asked for more often.
const CALL: Duration = Duration::from_secs(1);

/// How many times the batches of a call the next one may have: costs differ between systems.
const GROWTH: usize = 16;

/// All batches, computed or not.
pub(super) struct Batches<'a, T> {
    plan: &'a Plan<'a>,
    header: Header,
    pieces: Pieces<T>,
    computed: usize,
    nfev: u64,
    /// Sum of busy shares, weighted with the systems they were measured over, and those systems.
    busy: (f64, usize),
    warnings: Vec<String>,
}

/// What one call integrates.
struct Part<T> {
    batches: Range<usize>,
    /// Its systems that have not ended.
    left: Vec<usize>,
    ensemble: Ensemble<T>,
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
            busy: (0.0, 0),
            warnings: Vec::new(),
        }
    }

    /// Computes what is left, until the end or until the monitor is stopped. What the next call starts
    /// from is made while one runs.
    pub(super) fn run(&mut self, monitor: &Monitor, store: &mut Store) -> Result<(), Error> {
        let aim = CALL.min(store.every());
        let mut most = if aim.is_zero() { 1 } else { first_call(&self.plan.device) };
        let Plan { case, device, options, .. } = self.plan;
        // What depends on neither batch nor precision is found once.
        let solver = Solver::new(&case.model.rhs, &case.method.method, device, options)?;
        let mut coming = self.part(0, most)?;
        while let Some(part) = coming.take() {
            if monitor.is_stopped() {
                break;
            }
            let Part { batches, left, ensemble } = part;
            let begun = Instant::now();
            let (next, solution) = parallel::beside(
                || self.part(batches.end, most),
                || {
                    let solver = solver.with_options(self.plan.options_of(&left));
                    solver.solve_monitored(&ensemble, monitor)
                },
            );
            let solution = solution?;
            most = fitting(batches.len(), begun.elapsed(), aim);
            self.count(&solution);
            self.put(batches.clone(), &left, solution);
            store.finished(batches, &self.pieces);
            coming = next?;
        }
        Ok(())
    }

    /// The first batches from `first` on of which something is left, about `most`, and the starts of
    /// what is left; `None` after the last.
    fn part(&self, mut first: usize, most: usize) -> Result<Option<Part<T>>, Error> {
        while first < self.pieces.batches() {
            let batches = self.group(first, most);
            let left = self.left(&batches);
            if !left.is_empty() {
                let ensemble = self.plan.members.ensemble::<T>(&left, self.plan.threads())?;
                return Ok(Some(Part { batches, left, ensemble }));
            }
            first = batches.end;
        }
        Ok(None)
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
        if let Some(busy) = part.busy_lanes {
            self.busy.0 += busy * part.len() as f64;
            self.busy.1 += part.len();
        }
        for warning in &part.warnings {
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
        (self.busy.1 > 0).then(|| self.busy.0 / self.busy.1 as f64)
    }

    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Batches of the first call, of which nothing is known: what a GPU is done with in milliseconds.
fn first_call(device: &Device) -> usize {
    match device {
        Device::Cpu(_) => 1,
        Device::Cuda(cuda) => 4 * cuda.ordinals.len(),
    }
}

/// How many batches take about the time aimed at, where so many took a time.
fn fitting(batches: usize, took: Duration, aim: Duration) -> usize {
    let wanted = batches as f64 * aim.as_secs_f64() / took.as_secs_f64().max(1e-9);
    (wanted as usize).clamp(1, GROWTH * batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_grow_and_shrink_towards_the_time_aimed_at() {
        let millis = Duration::from_millis;
        assert_eq!(fitting(1, millis(250), CALL), 4);
        assert_eq!(fitting(8, millis(4000), CALL), 2);
        assert_eq!(fitting(1, millis(60_000), CALL), 1);
        // A first call of next to no time says little.
        assert_eq!(fitting(1, Duration::ZERO, CALL), GROWTH);
        assert_eq!(fitting(100, millis(1), Duration::ZERO), 1);
    }
}
