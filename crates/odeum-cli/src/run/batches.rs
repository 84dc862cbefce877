//! The batches of a run: computed one after another, each possibly in two goes.

use super::store::Store;
use crate::checkpoint::Header;
use crate::plan::Plan;
use odeum::{Error, Monitor, Solution, Status};
use odeum_compiled::Compiled;

/// All batches, computed or not.
pub(super) struct Batches<'a, T> {
    plan: &'a Plan<'a>,
    header: Header,
    solutions: Vec<Option<Solution<T>>>,
    computed: usize,
    nfev: u64,
    /// Sum of busy shares, weighted with the systems they were measured over, and those systems.
    busy: (f64, usize),
    warnings: Vec<String>,
}

impl<'a, T: Compiled> Batches<'a, T> {
    pub(super) fn new(
        plan: &'a Plan<'a>,
        header: &Header,
        mut loaded: Vec<Option<Solution<T>>>,
    ) -> Batches<'a, T> {
        loaded.resize_with(header.batches(), || None);
        Batches {
            plan,
            header: header.clone(),
            solutions: loaded,
            computed: 0,
            nfev: 0,
            busy: (0.0, 0),
            warnings: Vec::new(),
        }
    }

    /// Computes what is left, until the end or until the monitor is stopped.
    pub(super) fn run(&mut self, monitor: &Monitor, store: &mut Store) -> Result<(), Error> {
        for b in 0..self.solutions.len() {
            if monitor.is_stopped() {
                break;
            }
            let left = self.left(b);
            if left.is_empty() {
                continue;
            }
            let ensemble = self.plan.members.ensemble::<T>(&left)?;
            let case = self.plan.case;
            let part = case.model.rhs.integrate(
                &ensemble,
                &case.method.method,
                &self.plan.device,
                &self.plan.options_of(&left),
                monitor,
            )?;
            self.count(&part);
            self.put(b, &left, part);
            store.finished(b, &self.solutions);
        }
        Ok(())
    }

    /// The systems of a batch that have not ended.
    fn left(&self, b: usize) -> Vec<usize> {
        let range = self.header.range(b);
        match &self.solutions[b] {
            None => range.collect(),
            Some(solution) => range
                .clone()
                .filter(|s| solution.status[s - range.start] == Status::NotRun)
                .collect(),
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

    /// Puts the systems of `part`, which are those of `systems`, where they belong.
    fn put(&mut self, b: usize, systems: &[usize], part: Solution<T>) {
        let Some(whole) = &mut self.solutions[b] else {
            self.solutions[b] = Some(part);
            return;
        };
        let first = self.header.range(b).start;
        let (len, part_len) = (whole.len(), part.len());
        for (from, system) in systems.iter().enumerate() {
            let to = system - first;
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

    pub(super) fn solutions(&self) -> &[Option<Solution<T>>] {
        &self.solutions
    }

    /// Systems that have ended, those from a checkpoint included.
    pub(super) fn finished(&self) -> usize {
        let statuses = self.solutions.iter().flatten().flat_map(|s| &s.status);
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
