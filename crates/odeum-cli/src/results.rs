//! What a run gives, batch by batch, seen as one row for each system.

use crate::members::Members;
use crate::plan::Plan;
use odeum::solution::Summary;
use odeum::{Scalar, Solution, Status};

/// Results of the systems that ended.
pub(crate) struct Results<'a, T> {
    pub(crate) plan: &'a Plan<'a>,
    /// Solutions by batch; a batch that was not reached has none.
    batches: &'a [Option<Solution<T>>],
    batch: usize,
    /// The systems that ended, in order.
    rows: Vec<Row<'a, T>>,
}

/// One system that ended.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a, T> {
    pub(crate) system: usize,
    pub(crate) solution: &'a Solution<T>,
    /// Its place in the solution.
    pub(crate) at: usize,
}

impl<'a, T: Scalar> Results<'a, T> {
    /// Of batches of `batch` systems each; systems that were not run have no row.
    pub(crate) fn new(
        plan: &'a Plan<'a>,
        batches: &'a [Option<Solution<T>>],
        batch: usize,
    ) -> Results<'a, T> {
        let mut rows = Vec::new();
        for (b, solution) in batches.iter().enumerate() {
            let Some(solution) = solution else { continue };
            let ended = solution.status.iter().enumerate().filter(|(_, s)| **s != Status::NotRun);
            rows.extend(ended.map(|(at, _)| Row { system: b * batch + at, solution, at }));
        }
        Results { plan, batches, batch, rows }
    }

    /// Number of systems that ended.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn members(&self) -> &'a Members<'a> {
        &self.plan.members
    }

    /// The `r`-th system that ended.
    pub(crate) fn row(&self, r: usize) -> Row<'a, T> {
        self.rows[r]
    }

    /// Counts over all systems of the ensemble, run or not.
    pub(crate) fn summary(&self) -> Summary {
        let all = self.plan.members.len();
        let mut whole = Solution::<T> {
            dim: self.plan.case.model.dim(),
            t: Vec::new(),
            states: Vec::new(),
            save_times: Vec::new(),
            saved: Vec::new(),
            n_saved: Vec::new(),
            status: vec![Status::NotRun; all],
            stats: vec![odeum::Stats::default(); all],
            warnings: Vec::new(),
            busy_lanes: None,
            gpu_times: None,
        };
        for (b, solution) in self.batches.iter().enumerate() {
            let Some(solution) = solution else { continue };
            let range = b * self.batch..b * self.batch + solution.len();
            whole.status[range.clone()].copy_from_slice(&solution.status);
            whole.stats[range].copy_from_slice(&solution.stats);
        }
        whole.summary()
    }
}

impl<T: Scalar> Row<'_, T> {
    pub(crate) fn t(&self) -> f64 {
        self.solution.t[self.at]
    }

    /// Component `i` of the state at the time reached.
    pub(crate) fn y(&self, i: usize) -> T {
        self.solution.states[i * self.solution.len() + self.at]
    }

    pub(crate) fn status(&self) -> Status {
        self.solution.status[self.at]
    }

    pub(crate) fn stats(&self) -> odeum::Stats {
        self.solution.stats[self.at]
    }

    /// How many of the save times were reached.
    pub(crate) fn n_saved(&self) -> u32 {
        self.solution.n_saved.get(self.at).copied().unwrap_or(0)
    }

    /// Component `i` at save time `k`; NaN when it was not reached.
    pub(crate) fn saved(&self, k: usize, i: usize) -> T {
        self.solution.saved[(k * self.solution.dim + i) * self.solution.len() + self.at]
    }
}
