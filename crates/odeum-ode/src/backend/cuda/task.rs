//! What a launch integrates: the structure that device code reads, `OdTask` in task.cuh.

use super::source::Traits;
use crate::controller::Controller;
use crate::ensemble::Ensemble;
use crate::method::Method;
use crate::options::{FirstStep, Options};
use crate::solution::Solution;
use crate::stats::Stats;
use crate::status::Status;
use crate::tolerance::{Atol, used_atol};
use odeum_core::Scalar;

/// Keep step size and history over restarts.
pub(crate) const FLAG_WARM: u32 = 1;
/// `first_step` is a share of the piece.
pub(crate) const FLAG_SHARE: u32 = 2;

/// The same fields in the same order as `OdTask`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Task<T> {
    pub(crate) arrays: Arrays<T>,
    pub(crate) numbers: Numbers<T>,
    pub(crate) n_systems: u32,
    /// Distance between components of one system.
    pub(crate) stride: u32,
    pub(crate) n_saves: u32,
    pub(crate) max_steps: u32,
    pub(crate) max_evaluations: u32,
    pub(crate) restarts: u32,
    pub(crate) flags: u32,
}

/// Addresses, valid where the kernel runs; null where an array is not needed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Arrays<T> {
    pub(crate) states: *const T,
    pub(crate) params: *const T,
    pub(crate) spans: *const T,
    pub(crate) saves: *const T,
    pub(crate) atol: *const T,
    pub(crate) first_steps: *const T,
    pub(crate) end_states: *mut T,
    pub(crate) end_times: *mut T,
    pub(crate) end_steps: *mut T,
    pub(crate) saved: *mut T,
    pub(crate) n_saved: *mut u32,
    pub(crate) status: *mut u8,
    pub(crate) stats: *mut Counts,
    pub(crate) next: *mut u32,
}

/// Numbers of the method and the options.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Numbers<T> {
    pub(crate) t0: T,
    pub(crate) t1: T,
    rtol: T,
    atol: T,
    first_step: T,
    largest_step: T,
    safety: T,
    min_factor: T,
    max_factor: T,
    radius_bound: T,
    max_stages: T,
}

impl<T: Scalar> Task<T> {
    /// A task of `n_systems` systems that lie `stride` apart.
    pub(crate) fn new(
        arrays: Arrays<T>,
        span: (f64, f64),
        n_systems: usize,
        stride: usize,
        method: &Method,
        options: &Options,
    ) -> Self {
        let lit = T::from_f64;
        let Controller { safety, min_factor, max_factor, .. } = *method.controller();
        let fixed = method.controller().fixed_step().map(FirstStep::Size);
        let (first_step, share) = match fixed.unwrap_or(options.first_step) {
            // The kernel finds it; this is what it is bounded by.
            FirstStep::Automatic => (1.0, true),
            FirstStep::Size(h) => (h, false),
            FirstStep::Share(share) => (share, true),
        };
        let atol = match &options.tolerance.atol {
            Atol::Scalar(atol) => *atol,
            Atol::PerComponent(_) => 0.0,
        };
        let (radius_bound, max_stages) = match method {
            Method::Erk(_) | Method::Rosenbrock(_) | Method::Radau(_) => (0.0, 0.0),
            Method::Rkc(rkc) => {
                let most = rkc.most_stages(options.tolerance.rtol, T::EPSILON);
                (rkc.radius_bound.unwrap_or(0.0), most)
            }
        };
        Task {
            arrays,
            numbers: Numbers {
                t0: lit(span.0),
                t1: lit(span.1),
                rtol: lit(options.tolerance.rtol),
                atol: lit(used_atol::<T>(atol)),
                first_step: lit(first_step),
                largest_step: lit(options.largest_step.unwrap_or(f64::INFINITY)),
                safety: lit(safety),
                min_factor: lit(min_factor),
                max_factor: lit(max_factor),
                radius_bound: lit(radius_bound),
                max_stages: lit(max_stages),
            },
            n_systems: n_systems as u32,
            stride: stride as u32,
            n_saves: options.save_times().len() as u32,
            max_steps: options.max_steps,
            max_evaluations: options.max_evaluations,
            restarts: options.restarts,
            flags: if options.warm_start { FLAG_WARM } else { 0 }
                | if share { FLAG_SHARE } else { 0 },
        }
    }
}

/// The absolute tolerances and the save times in the precision of the kernel.
pub(crate) fn constants<T: Scalar>(
    traits: &Traits,
    options: &Options,
    dim: usize,
) -> (Vec<T>, Vec<T>) {
    let atol = if traits.atol_each { options.tolerance.atol_of(dim) } else { Vec::new() };
    let atol: Vec<f64> = atol.into_iter().map(used_atol::<T>).collect();
    let narrow = |values: &[f64]| values.iter().map(|&x| T::from_f64(x)).collect();
    (narrow(&atol), narrow(options.save_times()))
}

/// Spans as a kernel reads them, all starts and then all ends; empty when they are shared.
pub(crate) fn spans<T: Scalar>(ensemble: &Ensemble<T>) -> Vec<T> {
    if ensemble.shares_span() {
        return Vec::new();
    }
    let starts = (0..ensemble.len()).map(|s| T::from_f64(ensemble.span(s).0));
    starts.chain((0..ensemble.len()).map(|s| T::from_f64(ensemble.span(s).1))).collect()
}

/// What a kernel counts for a system: steps, rejected, nfev, nfev_radius.
pub(crate) type Counts = [u32; 4];

pub(crate) fn stats([steps, rejected, nfev, nfev_radius]: Counts) -> Stats {
    Stats { steps, rejected, nfev, nfev_radius, ..Stats::default() }
}

/// Runs a kernel that was compiled for the host over a whole ensemble, for checks.
#[doc(hidden)]
pub(crate) fn run_on_host<T: Scalar>(
    entry: &mut dyn FnMut(*const std::ffi::c_void),
    traits: &Traits,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
) -> Solution<T> {
    let (n, count) = (ensemble.dim(), ensemble.len());
    let mut solution = Solution::empty(count, n, options.save_times());
    let (atol, saves) = constants::<T>(traits, options, n);
    let spans = spans(ensemble);
    let mut times = vec![T::from_f64(f64::NAN); count];
    let mut steps = times.clone();
    let mut status = vec![Status::NotRun as u8; count];
    let mut n_saved = vec![0_u32; count];
    let mut counts = vec![Counts::default(); count];
    let mut next = 0_u32;
    let pointer = |values: &[T]| if values.is_empty() { std::ptr::null() } else { values.as_ptr() };
    let arrays = Arrays {
        states: ensemble.states().as_ptr(),
        params: pointer(ensemble.params()),
        spans: pointer(&spans),
        saves: pointer(&saves),
        atol: pointer(&atol),
        first_steps: pointer(ensemble.first_steps().unwrap_or_default()),
        end_states: solution.states.as_mut_ptr(),
        end_times: times.as_mut_ptr(),
        end_steps: steps.as_mut_ptr(),
        saved: solution.saved.as_mut_ptr(),
        n_saved: n_saved.as_mut_ptr(),
        status: status.as_mut_ptr(),
        stats: counts.as_mut_ptr(),
        next: &mut next,
    };
    let task = Task::new(arrays, ensemble.span(0), count, count, method, options);
    entry((&raw const task).cast());
    if ensemble.has_first_steps() {
        solution.next_steps = steps;
    }
    solution.t = times.iter().map(|t| t.to_f64()).collect();
    solution.stats = counts.into_iter().map(stats).collect();
    solution.status =
        status.iter().map(|&number| Status::from_number(number).unwrap_or_default()).collect();
    if !options.save_times().is_empty() {
        solution.n_saved = n_saved;
    }
    solution
}
