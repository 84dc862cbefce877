//! What a run gives, seen as one row for each system.

use crate::members::Members;
use crate::plan::Plan;
use odeum_ode::solution::Summary;
use odeum_ode::{Scalar, Solution, Status};
use std::ops::Range;

/// Solutions of ranges of systems, each of whole batches.
pub(crate) struct Pieces<T> {
    /// Systems in a batch; the last may have fewer.
    batch: usize,
    all: Vec<Piece<T>>,
    /// The piece of each batch, once it has one.
    of: Vec<Option<usize>>,
}

/// The solution of systems `first` and those after it.
pub(crate) struct Piece<T> {
    pub(crate) first: usize,
    pub(crate) solution: Solution<T>,
}

impl<T> Pieces<T> {
    /// None of any of so many batches.
    pub(crate) fn new(batch: usize, batches: usize) -> Pieces<T> {
        Pieces { batch, all: Vec::new(), of: vec![None; batches] }
    }

    /// Number of batches.
    pub(crate) fn batches(&self) -> usize {
        self.of.len()
    }

    /// Adds the solution of some batches, which have none.
    pub(crate) fn add(&mut self, batches: Range<usize>, solution: Solution<T>) {
        let first = batches.start * self.batch;
        self.of[batches].fill(Some(self.all.len()));
        self.all.push(Piece { first, solution });
    }

    /// The piece that holds a batch.
    pub(crate) fn of(&self, batch: usize) -> Option<&Piece<T>> {
        self.of[batch].map(|at| &self.all[at])
    }

    pub(crate) fn of_mut(&mut self, batch: usize) -> Option<&mut Piece<T>> {
        self.of[batch].map(|at| &mut self.all[at])
    }

    pub(crate) fn solutions(&self) -> impl Iterator<Item = &Solution<T>> {
        self.all.iter().map(|piece| &piece.solution)
    }
}

/// Results of the systems that ended.
pub(crate) struct Results<'a, T> {
    pub(crate) plan: &'a Plan<'a>,
    pieces: &'a Pieces<T>,
    rows: Rows,
}

/// The systems that ended.
enum Rows {
    All(usize),
    /// In order.
    Some(Vec<usize>),
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
    /// Systems that were not run have no row.
    pub(crate) fn new(plan: &'a Plan<'a>, pieces: &'a Pieces<T>) -> Results<'a, T> {
        let ended = |solution: &Solution<T>| solution.status.iter().all(|s| *s != Status::NotRun);
        let whole = pieces.of.iter().all(Option::is_some) && pieces.solutions().all(ended);
        let rows = if whole {
            Rows::All(plan.members.len())
        } else {
            let mut systems: Vec<usize> = Vec::new();
            for Piece { first, solution } in &pieces.all {
                let ended = solution.status.iter().enumerate();
                let ended = ended.filter(|(_, status)| **status != Status::NotRun);
                systems.extend(ended.map(|(at, _)| first + at));
            }
            systems.sort_unstable();
            Rows::Some(systems)
        };
        Results { plan, pieces, rows }
    }

    /// Number of systems that ended.
    pub(crate) fn len(&self) -> usize {
        match &self.rows {
            Rows::All(count) => *count,
            Rows::Some(systems) => systems.len(),
        }
    }

    pub(crate) fn members(&self) -> &'a Members<'a> {
        &self.plan.members
    }

    /// The `r`-th system that ended.
    pub(crate) fn row(&self, r: usize) -> Row<'a, T> {
        let system = match &self.rows {
            Rows::All(_) => r,
            Rows::Some(systems) => systems[r],
        };
        let pieces = self.pieces;
        let Some(piece) = pieces.of(system / pieces.batch) else {
            unreachable!("a system that ended is in a piece: `rows` comes from these")
        };
        Row { system, solution: &piece.solution, at: system - piece.first }
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
            stats: vec![odeum_ode::Stats::default(); all],
            next_steps: Vec::new(),
            warnings: Vec::new(),
            busy_lanes: None,
            gpu_times: None,
        };
        for Piece { first, solution } in &self.pieces.all {
            let range = *first..first + solution.len();
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

    pub(crate) fn stats(&self) -> odeum_ode::Stats {
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
