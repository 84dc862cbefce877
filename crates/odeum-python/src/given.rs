//! Systems that Python gives as arrays.

use crate::buffer::View;
use crate::solution::Arrays;
use odeum_core::memory::Zeroable;
use odeum_core::recycled::Recycled;
use odeum_core::{Error, lock};
use odeum_ode::{
    ArrayMut, ArrayRef, Compiled, Inputs, Monitor, Outputs, Remarks, SavedMut, Solver, Status,
};
use pyo3::buffer::PyBuffer;
use std::sync::Mutex;
use std::thread;

/// So many numbers are worth a thread that copies them.
const WORTH: usize = 1 << 17;
/// Threads that copy, at most: memory has no room for more.
const COPIERS: usize = 8;

/// Initial states and parameters of M systems, where they lie.
pub(crate) struct GivenSystems {
    states: View,
    /// Each of M systems, or one for all.
    params: Vec<View>,
    span: (f64, f64),
    /// They go into the solution.
    keep: bool,
}

impl GivenSystems {
    /// States [M, n], parameters each \[M\] or of one number.
    pub(crate) fn new(
        states: PyBuffer<f64>,
        params: Vec<PyBuffer<f64>>,
        span: (f64, f64),
        keep: bool,
    ) -> Result<GivenSystems, Error> {
        let states = View::read("states", states)?;
        let params: Result<Vec<View>, Error> =
            params.into_iter().map(|one| View::read("params", one)).collect();
        let params = params?;
        let shape = [states.systems(), states.components()];
        if shape.contains(&0) {
            // What is said of it.
            Inputs::<f64>::new(ArrayRef::strided(&[], shape, [0, 0])?, span)?;
        }
        let counts = [1, states.systems()];
        let fits = |one: &&View| !(one.components() == 1 && counts.contains(&one.systems()));
        if let Some(wrong) = params.iter().find(fits) {
            let found = format!("shape [{}, {}]", wrong.systems(), wrong.components());
            let remedy = format!("give one number, or {}", states.systems());
            return Err(Error::input("params", found, remedy));
        }
        Ok(GivenSystems { states, params, span, keep })
    }

    /// Integrates them.
    pub(crate) fn solve<T: Compiled + Zeroable>(
        &self,
        solver: &Solver,
        monitor: &Monitor,
    ) -> Result<Arrays<T>, Error> {
        let (n, m, systems) = (self.states.components(), self.params.len(), self.states.systems());
        let are_shared = self.params.iter().all(|one| one.systems() == 1);
        let sets = if are_shared { 1 } else { systems };
        let save_times = solver.options().save_times().to_vec();
        let times = save_times.len();

        let mut starts = (!self.keep).then(|| room(n * systems)).transpose()?;
        let mut states = room(if self.keep { 2 } else { 1 } * n * systems)?;
        let mut params = room(m * sets)?;
        let (first, end_states) = states.split_at_mut(if self.keep { n * systems } else { 0 });
        let start = starts.as_deref_mut().unwrap_or(first);
        let rows = (0..n).map(|i| (&self.states, i)).zip(start.chunks_exact_mut(systems));
        let of_params = self.params.iter().map(|one| (one, 0)).zip(params.chunks_exact_mut(sets));
        copy(rows.chain(of_params).collect());

        let mut inputs = Inputs::new(ArrayRef::component_major(start, n)?, self.span)?;
        inputs = match are_shared {
            true => inputs.with_shared_params(&params)?,
            false => inputs.with_params(ArrayRef::component_major(&params, m)?)?,
        };
        let (mut t, mut stats) = (room(systems)?, room(systems)?);
        let mut status = vec![Status::NotRun; systems];
        let (mut saved, mut n_saved) = (room(times * n * systems)?, room(times.min(1) * systems)?);
        let end = ArrayMut::component_major(end_states, n)?;
        let mut outputs = Outputs::new(end, &mut t, &mut status, &mut stats)?;
        if times > 0 {
            let strides = [n * systems, 1, systems];
            let saved = SavedMut::strided(&mut saved, [times, systems, n], strides)?;
            outputs = outputs.with_saved(saved, &mut n_saved)?;
        }
        let Remarks { warnings, busy_lanes, .. } = solver.solve_into(&inputs, outputs, monitor)?;
        Ok(Arrays {
            dim: n,
            t,
            states,
            params: self.keep.then_some((params, m)),
            save_times,
            saved,
            n_saved,
            status,
            stats,
            warnings,
            busy_lanes,
        })
    }
}

fn room<T: Zeroable + Default + Send>(len: usize) -> Result<Recycled<T>, Error> {
    let refused = || Error::input("systems", len, "there is no memory for so many numbers");
    Recycled::new(len).ok_or_else(refused)
}

/// Copies components of views, of one number where it holds for all, each to its row.
fn copy<T: Compiled>(rows: Vec<((&View, usize), &mut [T])>) {
    let parts: Vec<_> = rows
        .into_iter()
        .flat_map(|((view, component), row)| {
            let firsts = (0..).step_by(WORTH);
            firsts
                .zip(row.chunks_mut(WORTH))
                .map(move |(first, part)| (view, component, first, part))
        })
        .collect();
    let numbers: usize = parts.iter().map(|part| part.3.len()).sum();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let others = (numbers / WORTH).min(cores).clamp(1, COPIERS) - 1;
    let parts = Mutex::new(parts);
    let work = || {
        loop {
            let next = lock(&parts).pop();
            let Some((view, component, first, part)) = next else { break };
            view.copy(component, first, part);
        }
    };
    thread::scope(|scope| {
        for _ in 0..others {
            scope.spawn(work);
        }
        work();
    });
}
