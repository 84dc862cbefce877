//! What a run gives, seen as one row for each system.

use crate::case::Axis;
use crate::gas::TEMPERATURE;
use crate::members::Members;
use crate::plan::Plan;
use odeum_io::ensemble::{About, EnsembleResult, Row, Rows as Ended};
use odeum_ode::solution::Summary;
use odeum_ode::{Scalar, Solution, Status};
use std::ops::Range;

/// Solutions of ranges of systems, each of whole batches.
pub struct Pieces<T> {
    /// Systems in a batch; the last may have fewer.
    batch: usize,
    all: Vec<Piece<T>>,
    /// The piece of each batch, once it has one.
    of: Vec<Option<usize>>,
}

/// The solution of systems `first` and those after it.
pub struct Piece<T> {
    /// The number of the first system.
    pub first: usize,
    /// What became of them.
    pub solution: Solution<T>,
}

impl<T> Pieces<T> {
    /// None of any of so many batches.
    pub fn new(batch: usize, batches: usize) -> Pieces<T> {
        Pieces { batch, all: Vec::new(), of: vec![None; batches] }
    }

    /// Number of batches.
    pub fn batches(&self) -> usize {
        self.of.len()
    }

    /// Adds the solution of some batches, which have none.
    pub fn add(&mut self, batches: Range<usize>, solution: Solution<T>) {
        let first = batches.start * self.batch;
        self.of[batches].fill(Some(self.all.len()));
        self.all.push(Piece { first, solution });
    }

    /// The piece that holds a batch.
    pub fn of(&self, batch: usize) -> Option<&Piece<T>> {
        self.of[batch].map(|at| &self.all[at])
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, batch: usize) -> Option<&mut Piece<T>> {
        self.of[batch].map(|at| &mut self.all[at])
    }

    /// All solutions there are.
    pub fn solutions(&self) -> impl Iterator<Item = &Solution<T>> {
        self.all.iter().map(|piece| &piece.solution)
    }
}

/// Results of the systems that ended.
pub struct Results<'a, T> {
    /// What was run.
    pub plan: &'a Plan<'a>,
    pieces: &'a Pieces<T>,
    rows: Rows,
}

/// The systems that ended.
enum Rows {
    All(usize),
    /// In order.
    Some(Vec<usize>),
}

impl<'a, T: Scalar> Results<'a, T> {
    /// Systems that were not run have no row.
    pub fn new(plan: &'a Plan<'a>, pieces: &'a Pieces<T>) -> Results<'a, T> {
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
    /// What writers see of them.
    pub fn written(&self) -> EnsembleResult<'_, T> {
        let (case, members) = (self.plan.case, self.members());
        let (model, sweep) = (&case.model, &case.ensemble.sweep);
        let values = |axis: &'a Axis| (&*axis.name, axis.values.all().into_owned());
        let hot = sweep.iter().position(|axis| axis.name == TEMPERATURE);
        EnsembleResult {
            about: About {
                title: case.title.as_deref(),
                system: &model.title,
                method: case.method.method.name(),
                precision: case.run.precision.name(),
                case: case.source.text(),
                state_names: &model.state_names,
                param_names: &model.param_names,
                variable_names: model.names().map(str::to_owned).collect(),
                is_direct: model.is_direct(),
                save_times: self.plan.options.save_times(),
                shape: members.shape(),
                sweep: sweep.iter().map(values).collect(),
                copies: case.ensemble.count,
                temperature: hot.filter(|_| !model.is_direct()),
                extras: self.plan.extras(),
                threads: self.plan.threads(),
            },
            rows: self,
        }
    }

    /// True where no system ended.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of systems that ended.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::All(count) => *count,
            Rows::Some(systems) => systems.len(),
        }
    }

    /// All systems of the ensemble.
    pub fn members(&self) -> &'a Members<'a> {
        &self.plan.members
    }

    /// The `r`-th system that ended.
    pub fn row(&self, r: usize) -> Row<'a, T> {
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
    pub fn summary(&self) -> Summary {
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

impl<T: Scalar> Ended<T> for Results<'_, T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn row(&self, r: usize) -> Row<'_, T> {
        Results::row(self, r)
    }

    fn value(&self, variable: usize, system: usize) -> f64 {
        self.members().value(variable, system)
    }

    fn span(&self, system: usize) -> (f64, f64) {
        self.members().span(system)
    }

    fn starts(&self, rows: Range<usize>, put: &mut dyn FnMut(usize, usize, f64)) {
        let systems = rows.map(|r| self.row(r).system);
        // Every system that was run had a start.
        let _ = self.members().starts(systems, put);
    }
}
