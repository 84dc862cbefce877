//! Runs from and to page-locked arrays.

use odeum_ode::gpu::PageLocked;
use odeum_ode::{
    ArrayMut, ArrayRef, Ensemble, Error, Inputs, Monitor, Outputs, Solution, Solver, Stats,
};
use std::time::Instant;

/// The arrays of an ensemble in which each system has its parameters.
pub(super) struct Locked {
    states: PageLocked<f64>,
    params: PageLocked<f64>,
    end_states: PageLocked<f64>,
    t: PageLocked<f64>,
    stats: PageLocked<Stats>,
}

impl Locked {
    /// Reserved by the driver of the GPU of this number.
    pub(super) fn new(ordinal: usize, ensemble: &Ensemble<f64>) -> Result<Locked, Error> {
        let filled = |values: &[f64]| {
            let mut locked = PageLocked::zeros(ordinal, values.len())?;
            locked.copy_from_slice(values);
            Ok::<_, Error>(locked)
        };
        Ok(Locked {
            states: filled(ensemble.states())?,
            params: filled(ensemble.params())?,
            end_states: PageLocked::zeros(ordinal, ensemble.states().len())?,
            t: PageLocked::zeros(ordinal, ensemble.len())?,
            stats: PageLocked::zeros(ordinal, ensemble.len())?,
        })
    }

    /// Solves, and gives the time \[s\] and the results, in the arrays of a solution of the same ensemble.
    pub(super) fn solve(
        &mut self,
        solver: &Solver,
        span: (f64, f64),
        mut like: Solution<f64>,
    ) -> Result<(f64, Solution<f64>), Error> {
        let states = ArrayRef::component_major(&self.states, like.dim)?;
        let params = ArrayRef::component_major(&self.params, self.params.len() / like.len())?;
        let inputs = Inputs::new(states, span)?.with_params(params)?;
        let begun = Instant::now();
        let ends = ArrayMut::component_major(&mut self.end_states, like.dim)?;
        let outputs = Outputs::new(ends, &mut self.t, &mut like.status, &mut self.stats)?;
        solver.solve_into(&inputs, outputs, &Monitor::new())?;
        let seconds = begun.elapsed().as_secs_f64();
        like.states.copy_from_slice(&self.end_states);
        like.t.copy_from_slice(&self.t);
        like.stats.copy_from_slice(&self.stats);
        Ok((seconds, like))
    }
}
