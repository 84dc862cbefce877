//! What a launch integrates: the structure that device code reads, `OdTask` in task.cuh.

use super::arena::Work;
use super::source::Traits;
use crate::controller::Controller;
use crate::method::Method;
use crate::method::device::NUMBERS;
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
    pub(crate) event_component: u32,
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
    pub(crate) levels: *const T,
    pub(crate) order: *const u32,
    pub(crate) end_states: *mut T,
    pub(crate) end_times: *mut T,
    pub(crate) end_steps: *mut T,
    pub(crate) saved: *mut T,
    pub(crate) n_saved: *mut u32,
    pub(crate) status: *mut u8,
    pub(crate) stats: *mut u32,
    pub(crate) next: *mut u32,
    pub(crate) work: *mut Work,
    pub(crate) tables: *const u8,
    /// Memory of all groups that is not shared memory.
    pub(crate) matrices: *mut u8,
}

impl<T> Arrays<T> {
    /// Those of the systems from one on, of which each has so many parameters of its own or none, and counts.
    pub(super) fn starting_at(self, first: usize, shared_params: bool, n_counts: usize) -> Self {
        let of_params = if shared_params { 0 } else { first };
        // Null stays null: what is not there is not read.
        let from =
            |array: *const T| if array.is_null() { array } else { array.wrapping_add(first) };
        let to = |array: *mut T| from(array).cast_mut();
        Arrays {
            states: from(self.states),
            params: self.params.wrapping_add(of_params),
            spans: from(self.spans),
            first_steps: from(self.first_steps),
            levels: from(self.levels),
            end_states: to(self.end_states),
            end_times: to(self.end_times),
            end_steps: to(self.end_steps),
            saved: to(self.saved),
            n_saved: self.n_saved.wrapping_add(first),
            status: self.status.wrapping_add(first),
            stats: self.stats.wrapping_add(first * n_counts),
            ..self
        }
    }
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
    of_method: [T; NUMBERS],
    growth_limit: T,
    event_level: T,
    event_sign: T,
    event_atol: T,
}

/// What kernels of a caller see of a session: the same fields in the same order as `OdResident` (resident.cuh).
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Resident {
    pub(super) states: u64,
    pub(super) params: u64,
    pub(super) steps: u64,
    pub(super) status: u64,
    pub(super) stats: u64,
    pub(super) least: u64,
    pub(super) n_systems: u32,
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
        let of_method = method.on_device().numbers(options.tolerance.rtol, T::EPSILON);
        let event = options.terminal_event.as_ref();
        let event_component = event.map_or(0, |event| event.component);
        let event_atol = options.tolerance.atol.at(event_component);
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
                of_method: of_method.map(lit),
                growth_limit: lit(options.growth_limit.unwrap_or(f64::INFINITY)),
                event_level: lit(event.map_or(0.0, |event| event.level(0))),
                event_sign: lit(if event.is_some_and(|event| event.rises) { 1.0 } else { -1.0 }),
                event_atol: lit(event_atol),
            },
            n_systems: n_systems as u32,
            stride: stride as u32,
            n_saves: options.save_times().len() as u32,
            max_steps: options.max_steps,
            max_evaluations: options.max_evaluations,
            segments: options.segments,
            flags: if options.warm_start { FLAG_WARM } else { 0 }
                | if fraction { FLAG_FRACTION } else { 0 },
            event_component: event_component as u32,
        }
    }
}

/// Lists of the options in the precision of the kernel.
pub(crate) struct Lists<T> {
    /// Absolute tolerances \[n\], where they differ.
    pub(crate) atol: Vec<T>,
    /// Save times.
    pub(crate) saves: Vec<T>,
    /// Levels of the terminal event \[M\], where they differ.
    pub(crate) levels: Vec<T>,
}

impl<T: Scalar> Lists<T> {
    pub(crate) fn new(traits: &Traits, options: &Options, dim: usize) -> Self {
        let atol = if traits.atol_each { options.tolerance.atol_of(dim) } else { Vec::new() };
        let atol: Vec<f64> = atol.into_iter().map(used_atol::<T>).collect();
        let narrow = |values: &[f64]| values.iter().map(|&x| T::from_f64(x)).collect();
        let levels = own_levels(options).unwrap_or_default();
        Lists { atol: narrow(&atol), saves: narrow(options.save_times()), levels: narrow(levels) }
    }
}

/// The levels of the terminal event, where systems have their own.
pub(crate) fn own_levels(options: &Options) -> Option<&[f64]> {
    let levels = &options.terminal_event.as_ref()?.levels;
    (levels.len() > 1).then_some(levels)
}

/// How many of the counts of [`Stats`], in their order, a kernel counts for a system.
pub(crate) fn n_counts(method: &Method, has_ranges: bool) -> usize {
    let all = method.jacobian_source().is_some() || has_ranges;
    if all { Stats::COUNTS } else { Stats::OF_EXPLICIT }
}

/// Of the counts of a kernel.
pub(crate) fn stats(counts: &[u32]) -> Stats {
    let mut all = [0; Stats::COUNTS];
    all[..counts.len()].copy_from_slice(counts);
    Stats::from_array(all)
}
