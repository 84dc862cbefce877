//! What a launch integrates: the structure that device code reads, `OdTask` in task.cuh.

use super::source::Traits;
use crate::controller::Controller;
use crate::method::Method;
use crate::options::{FirstStep, Options};
use crate::stats::Stats;
use crate::tolerance::{Atol, used_atol};
use odeum_core::Scalar;

/// Keep step size and history over segments.
pub(crate) const FLAG_WARM: u32 = 1;
/// `first_step` is a fraction of the piece.
pub(crate) const FLAG_FRACTION: u32 = 2;

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
    pub(crate) segments: u32,
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
    pub(crate) stats: *mut u32,
    pub(crate) next: *mut u32,
    pub(crate) tables: *const u8,
    /// Memory of all groups that is not shared memory.
    pub(crate) matrices: *mut u8,
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
    growth_limit: T,
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
        let (first_step, fraction) = match fixed.unwrap_or(options.first_step) {
            // The kernel finds it; this is what it is bounded by.
            FirstStep::Automatic => (1.0, true),
            FirstStep::Size(h) => (h, false),
            FirstStep::Fraction(fraction) => (fraction, true),
        };
        let atol = match &options.tolerance.atol {
            Atol::Scalar(atol) => *atol,
            Atol::PerComponent(_) => 0.0,
        };
        let (radius_bound, max_stages) = match method {
            Method::Erk(_) | Method::Rosenbrock(_) | Method::Radau(_) | Method::Exponential(_) => {
                (0.0, 0.0)
            }
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
                growth_limit: lit(options.growth_limit.unwrap_or(f64::INFINITY)),
            },
            n_systems: n_systems as u32,
            stride: stride as u32,
            n_saves: options.save_times().len() as u32,
            max_steps: options.max_steps,
            max_evaluations: options.max_evaluations,
            segments: options.segments,
            flags: if options.warm_start { FLAG_WARM } else { 0 }
                | if fraction { FLAG_FRACTION } else { 0 },
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

/// How many of the counts of [`Stats`], in their order, the kernels of a method count for a system.
pub(crate) fn n_counts(method: &Method) -> usize {
    if method.jacobian_by().is_some() { Stats::COUNTS } else { EXPLICIT_COUNTS }
}

/// Steps, rejected, nfev, nfev_radius: of methods that know no Jacobian.
const EXPLICIT_COUNTS: usize = 4;

/// Of the counts of a kernel.
pub(crate) fn stats(counts: &[u32]) -> Stats {
    let mut all = [0; Stats::COUNTS];
    all[..counts.len()].copy_from_slice(counts);
    Stats::from_array(all)
}
