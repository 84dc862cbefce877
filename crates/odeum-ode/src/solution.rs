//! What an integration gives back.

use crate::arrays::{ArrayMut, SavedMut};
use crate::lent::{Inputs, Outputs, Remarks};
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::Scalar;
use odeum_core::memory::{self, Zeroable};

/// Systems that step together in lockstep on a GPU; the divergence measure is defined over them.
pub const WARP: usize = 32;

/// End states, statuses and statistics of M systems of n equations.
#[derive(Clone, Debug)]
pub struct Solution<T> {
    /// Number of equations n.
    pub dim: usize,
    /// Time each system reached \[M\]; zero of one that did not run.
    pub t: Vec<f64>,
    /// State at the time reached, component-major [n × M]; of a system that failed, the last
    /// accepted state, which is finite; zeros of one that did not run.
    pub states: Vec<T>,
    /// Times of the saved states \[K\], as asked.
    pub save_times: Vec<f64>,
    /// Saved states, [K × n × M]; of system s only the first `n_saved[s]` were reached, the rest
    /// is NaN.
    pub saved: Vec<T>,
    /// How many of the save times each system reached \[M\]; empty when none were asked for.
    pub n_saved: Vec<u32>,
    /// How each system ended \[M\].
    pub status: Vec<Status>,
    /// What each system cost \[M\].
    pub stats: Vec<Stats>,
    /// Size of the step that each system would have taken next \[M\], zero of one that failed or did not run:
    /// where the ensemble gave first steps, for those of the next call. Else empty.
    pub next_steps: Vec<T>,
    /// Remarks on the run as a whole.
    pub warnings: Vec<String>,
    /// Fraction of the lane work of the run that advanced a system (1 = no lane ever idled), where
    /// the backend measures it: the CPU by attempts, a session on a GPU by time.
    pub busy_lanes: Option<f64>,
    /// Where the time of a run on GPUs went.
    pub gpu_times: Option<GpuTimes>,
}

/// The time of a run on GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GpuTimes {
    /// The whole run, from the caller's arrays to the solution's, in ms.
    pub total_ms: f64,
    /// Number of batches.
    pub batches: usize,
}

/// Counts over a whole ensemble.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of systems.
    pub systems: usize,
    /// How many systems ended in each status that occurs, most frequent first.
    pub statuses: Vec<(Status, usize)>,
    /// Accepted steps: mean and maximum over the systems.
    pub steps: (f64, u32),
    /// Rejected steps, all systems together.
    pub rejected: u64,
    /// Evaluations of the right-hand side, all systems together.
    pub nfev: u64,
    /// Evaluations of the Jacobian, all systems together.
    pub njev: u64,
    /// LU factorisations, all systems together.
    pub nlu: u64,
    /// Rejections by the growth guard, all systems together.
    pub guarded: u64,
    /// Systems with accepted steps outside the range of the model's data.
    pub outside: usize,
    /// Divergence measure D of lockstep execution (see [`Solution::divergence`]).
    pub divergence: f64,
}

/// Zeros; without memory for them the program ends, as by any other vector.
pub(crate) fn zeros<T: Zeroable + Default>(len: usize) -> Vec<T> {
    memory::zeros(len).unwrap_or_else(|| vec![T::default(); len])
}

/// The same of another number.
fn filled<T: Scalar>(len: usize, value: T) -> Vec<T> {
    let mut values = zeros(len);
    values.fill(value);
    values
}

impl<T: Scalar> Solution<T> {
    /// A solution in which no system has run yet.
    pub(crate) fn empty(n_systems: usize, dim: usize, save_times: &[f64]) -> Self {
        let nan = T::from_f64(f64::NAN);
        Solution {
            dim,
            t: zeros(n_systems),
            states: zeros(n_systems * dim),
            save_times: save_times.to_vec(),
            saved: filled(n_systems * dim * save_times.len(), nan),
            n_saved: zeros(if save_times.is_empty() { 0 } else { n_systems }),
            status: vec![Status::NotRun; n_systems],
            stats: zeros(n_systems),
            next_steps: Vec::new(),
            warnings: Vec::new(),
            busy_lanes: None,
            gpu_times: None,
        }
    }

    /// A solution of an ensemble in which no system has run yet.
    pub(crate) fn of(ensemble: &Inputs<'_, T>, save_times: &[f64]) -> Self {
        let steps = if ensemble.has_first_steps() { ensemble.len() } else { 0 };
        let empty = Solution::empty(ensemble.len(), ensemble.dim(), save_times);
        Solution { next_steps: zeros(steps), ..empty }
    }

    /// The arrays, lent to a run.
    pub(crate) fn outputs(&mut self) -> Outputs<'_, T> {
        let (systems, dim) = (self.status.len(), self.dim);
        Outputs {
            states: ArrayMut::of_systems(&mut self.states, systems, dim),
            t: &mut self.t,
            status: &mut self.status,
            stats: &mut self.stats,
            next_steps: &mut self.next_steps,
            saved: SavedMut::of_times(&mut self.saved, [self.save_times.len(), systems, dim]),
            n_saved: &mut self.n_saved,
        }
    }

    /// With what the run told besides.
    pub(crate) fn with_remarks(self, remarks: Remarks) -> Self {
        let Remarks { warnings, busy_lanes, gpu_times } = remarks;
        Solution { warnings, busy_lanes, gpu_times, ..self }
    }

    /// Number of systems M.
    pub fn len(&self) -> usize {
        self.status.len()
    }

    /// True when there is no system.
    pub fn is_empty(&self) -> bool {
        self.status.is_empty()
    }

    /// The state \[n\] of system `s` at the time it reached.
    ///
    /// # Panics
    /// When there is no such system.
    pub fn y(&self, s: usize) -> Vec<T> {
        (0..self.dim).map(|i| self.states[i * self.len() + s]).collect()
    }

    /// The state \[n\] of system `s` at save time `k`; `None` when it did not get there.
    pub fn y_at(&self, k: usize, s: usize) -> Option<Vec<T>> {
        let reached = k < *self.n_saved.get(s)? as usize;
        reached
            .then(|| (0..self.dim).map(|i| self.saved[(k * self.dim + i) * self.len() + s]))
            .map(Iterator::collect)
    }

    /// True when every system reached its end.
    pub fn all_succeeded(&self) -> bool {
        self.status.iter().all(|s| s.is_success())
    }

    /// The systems that did not reach their end.
    pub fn failed(&self) -> Vec<usize> {
        (0..self.len()).filter(|&s| !self.status[s].is_success()).collect()
    }

    /// D = 1 − Σ dᵢ / (32 max dᵢ) of each warp, where dᵢ is the number of step attempts of system i: the fraction of lane
    /// time a lockstep execution in groups of 32 would waste. Curtis, Niemeyer & Sung 2017, eq. 3; a last group that is
    /// not full counts as it is.
    pub fn divergences(&self) -> Vec<f64> {
        let of = |warp: &[Stats]| {
            let total: u64 = warp.iter().map(|s| u64::from(s.attempts())).sum();
            let most = warp.iter().map(Stats::attempts).max().unwrap_or(0);
            if most == 0 { 0.0 } else { 1.0 - total as f64 / (warp.len() as f64 * f64::from(most)) }
        };
        self.stats.chunks(WARP).map(of).collect()
    }

    /// Mean of D over the warps (see [`divergences`](Solution::divergences)).
    pub fn divergence(&self) -> f64 {
        let all = self.divergences();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    }

    /// Counts over the whole ensemble.
    pub fn summary(&self) -> Summary {
        let mut statuses: Vec<_> = Status::ALL
            .into_iter()
            .map(|status| (status, self.status.iter().filter(|&&s| s == status).count()))
            .filter(|&(_, count)| count > 0)
            .collect();
        statuses.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let sum = |count: fn(&Stats) -> u32| -> u64 {
            self.stats.iter().map(|s| u64::from(count(s))).sum()
        };
        Summary {
            systems: self.len(),
            statuses,
            steps: (
                sum(|s| s.steps) as f64 / self.len().max(1) as f64,
                self.stats.iter().map(|s| s.steps).max().unwrap_or(0),
            ),
            rejected: sum(|s| s.rejected),
            nfev: sum(|s| s.nfev),
            njev: sum(|s| s.njev),
            nlu: sum(|s| s.nlu),
            guarded: sum(|s| s.guarded),
            outside: self.stats.iter().filter(|s| s.outside > 0).count(),
            divergence: self.divergence(),
        }
    }
}
