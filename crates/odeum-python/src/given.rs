//! Systems that Python gives as arrays.

use crate::buffer::View;
use crate::solution::Arrays;
use odeum_core::memory::Zeroable;
use odeum_core::recycled::Recycled;
use odeum_core::{Error, cores};
use odeum_io::parallel;
use odeum_ode::gpu::SolutionOnGpu;
use odeum_ode::{
    ArrayMut, ArrayRef, Compiled, Inputs, Monitor, Outputs, Remarks, SavedMut, Solver, Status,
};
use pyo3::buffer::PyBuffer;

/// So many numbers are worth a thread that copies them.
const WORTH: usize = 1 << 17;
/// Numbers that a thread copies before it takes others: so many stay in its cache.
const CHUNK: usize = 1 << 14;
/// Threads that copy, at most: memory has no room for more.
const COPIERS: usize = 8;

/// Initial states and parameters of M systems, where they lie.
pub(crate) struct GivenSystems {
    systems: usize,
    states: Blocks,
    params: Blocks,
    span: (f64, f64),
    /// They go into the solution.
    keep: bool,
}

/// Components one after the other, each of M systems or of one number for all.
struct Blocks(Vec<View>);

impl Blocks {
    fn new(
        name: &'static str,
        blocks: Vec<PyBuffer<f64>>,
        systems: usize,
    ) -> Result<Blocks, Error> {
        let blocks = blocks.into_iter().map(|block| View::read(name, block));
        let blocks: Vec<View> = blocks.collect::<Result<_, Error>>()?;
        if let Some(other) = blocks.iter().find(|block| ![1, systems].contains(&block.systems())) {
            let found = format!("those of {} systems", other.systems());
            return Err(Error::input(name, found, format!("give one number, or {systems}")));
        }
        Ok(Blocks(blocks))
    }

    /// All components: the block, and the place in it.
    fn components(&self) -> impl Iterator<Item = (&View, usize)> {
        self.0.iter().flat_map(|block| (0..block.components()).map(move |k| (block, k)))
    }

    /// True where all systems have the same numbers.
    fn are_shared(&self) -> bool {
        self.0.iter().all(|block| block.systems() == 1)
    }
}

impl GivenSystems {
    /// States and parameters in blocks, each \[M\], [M, components], or of one number.
    pub(crate) fn new(
        systems: usize,
        states: Vec<PyBuffer<f64>>,
        params: Vec<PyBuffer<f64>>,
        span: (f64, f64),
        keep: bool,
    ) -> Result<GivenSystems, Error> {
        let states = Blocks::new("states", states, systems)?;
        let params = Blocks::new("params", params, systems)?;
        let shape = [systems, states.components().count()];
        if shape.contains(&0) {
            // What is said of it.
            Inputs::<f64>::new(ArrayRef::strided(&[], shape, [0, 0])?, span)?;
        }
        Ok(GivenSystems { systems, states, params, span, keep })
    }

    /// Numbers of states and parameters, and of sets of these: one where all systems share them.
    fn sizes(&self) -> [usize; 3] {
        let sets = if self.params.are_shared() { 1 } else { self.systems };
        [self.states.components().count(), self.params.components().count(), sets]
    }

    /// The states [n, M] and parameters [m, sets] in double precision.
    pub(crate) fn doubles(&self) -> (Vec<f64>, Vec<f64>) {
        let [n, m, sets] = self.sizes();
        let (mut states, mut params) = (vec![0.0; n * self.systems], vec![0.0; m * sets]);
        self.copy_to(&mut states, &mut params);
        (states, params)
    }

    fn copy_to<T: Compiled>(&self, states: &mut [T], params: &mut [T]) {
        let sets = self.sizes()[2];
        let rows = self.states.components().zip(states.chunks_exact_mut(self.systems));
        let of_params = self.params.components().zip(params.chunks_exact_mut(sets));
        copy(rows.chain(of_params).collect());
    }

    /// Copies the systems to states [n, M] and parameters [m, sets].
    fn copied<'a, T: Compiled>(
        &self,
        states: &'a mut [T],
        params: &'a mut [T],
    ) -> Result<Inputs<'a, T>, Error> {
        let [n, m, _] = self.sizes();
        self.copy_to(states, params);
        let inputs = Inputs::new(ArrayRef::component_major(states, n)?, self.span)?;
        match self.params.are_shared() {
            true => inputs.with_shared_params(params),
            false => inputs.with_params(ArrayRef::component_major(params, m)?),
        }
    }

    /// Integrates them on one GPU, where the results stay.
    pub(crate) fn solve_on_gpu<T: Compiled + Zeroable>(
        &self,
        solver: &Solver,
        monitor: &Monitor,
    ) -> Result<SolutionOnGpu<T>, Error> {
        let [n, m, sets] = self.sizes();
        let (mut states, mut params) = (room(&[n, self.systems])?, room(&[m, sets])?);
        solver.solve_on_gpu(&self.copied(&mut states, &mut params)?, monitor)
    }

    /// Integrates them.
    pub(crate) fn solve<T: Compiled + Zeroable>(
        &self,
        solver: &Solver,
        monitor: &Monitor,
    ) -> Result<Arrays<T>, Error> {
        let ([n, m, sets], systems) = (self.sizes(), self.systems);
        let save_times = solver.options().save_times().to_vec();
        let times = save_times.len();

        let mut starts = (!self.keep).then(|| room(&[n, systems])).transpose()?;
        let mut states = room(&[if self.keep { 2 } else { 1 }, n, systems])?;
        let mut params = room(&[m, sets])?;
        let (first, end_states) = states.split_at_mut(if self.keep { n * systems } else { 0 });
        let start = starts.as_deref_mut().unwrap_or(first);
        let inputs = self.copied(start, &mut params)?;
        let (mut t, mut stats) = (room(&[systems])?, room(&[systems])?);
        let mut status = vec![Status::NotRun; systems];
        let (mut saved, mut n_saved) =
            (room(&[times, n, systems])?, room(&[times.min(1), systems])?);
        let end = ArrayMut::component_major(end_states, n)?;
        let mut outputs = Outputs::new(end, &mut t, &mut status, &mut stats)?;
        if times > 0 {
            let strides = [n * systems, 1, systems];
            let saved = SavedMut::strided(&mut saved, [times, systems, n], strides)?;
            outputs = outputs.with_saved(saved, &mut n_saved)?;
        }
        let Remarks { warnings, busy_lanes, .. } = solver.solve_into(&inputs, outputs, monitor)?;
        if monitor.is_stopped() {
            put_back(&inputs, &status, &mut t, end_states);
        }
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

/// Puts systems that did not run back to their starts: their times and states \[n, M\] may hold anything.
pub(crate) fn put_back<T: Compiled>(
    inputs: &Inputs<'_, T>,
    status: &[Status],
    t: &mut [f64],
    states: &mut [T],
) {
    let systems = status.len();
    for s in (0..systems).filter(|&s| status[s] == Status::NotRun) {
        t[s] = inputs.span(s).0;
        for i in 0..inputs.dim() {
            states[i * systems + s] = inputs.state(s, i);
        }
    }
}

/// Room for an array of a shape.
fn room<T: Zeroable + Default + Send>(shape: &[usize]) -> Result<Recycled<T>, Error> {
    let len = shape.iter().try_fold(1_usize, |len, count| len.checked_mul(*count));
    let refused =
        || Error::input("systems", format!("{shape:?}"), "there is no memory for so many numbers");
    len.and_then(Recycled::new).ok_or_else(refused)
}

/// Copies components of views, of one number where it holds for all, each to its row of so many systems or of one.
fn copy<T: Compiled>(rows: Vec<((&View, usize), &mut [T])>) {
    let numbers: usize = rows.iter().map(|(_, row)| row.len()).sum();
    // All components of some systems: in an array [M, n] they share lines of the cache.
    let chunk = (CHUNK / rows.len().max(1)).max(64);
    let chunks = rows.iter().map(|(_, row)| row.len().div_ceil(chunk)).max().unwrap_or(0);
    let mut parts: Vec<Vec<_>> = (0..chunks).map(|_| Vec::with_capacity(rows.len())).collect();
    for ((view, component), row) in rows {
        for (k, part) in row.chunks_mut(chunk).enumerate() {
            parts[k].push((view, component, k * chunk, part));
        }
    }
    let threads = (numbers / WORTH).clamp(1, cores().min(COPIERS));
    parallel::each_of(threads, parts.into_iter(), |parts| {
        for (view, component, first, part) in parts {
            view.copy(component, first, part);
        }
    });
}
