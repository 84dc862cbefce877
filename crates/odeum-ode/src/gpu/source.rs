//! The complete text of a kernel: generated parts, then the device headers.

use super::layout::{Layout, UNROLLED_COMPONENTS};
use super::task::{self, FLAG_FRACTION, FLAG_WARM};
use crate::controller::{LEAST_ERROR, Law, SHORT_STEP_EPSILONS, SHORTER, STRETCH};
use crate::cpu::{event, guard, ranges};
use crate::method::device::{NUMBERS, Storage, ThreadKernels, epsilon};
use crate::method::{Method, first_step};
use crate::options::{FirstStep, Options};
use crate::stats::Stats;
use crate::status::Status;
use crate::tolerance::{Atol, Norm, TINY, Tolerance, underflow};
use odeum_core::{Graph, RangeKind, Scalar, ValidRange};
use odeum_cuda::{REAL, Text, literal};

/// The headers, in the order in which they stand in a source.
const CUDA: &str = include_str!("device/cuda.cuh");
const COMMON: [&str; 5] = [
    REAL,
    include_str!("device/task.cuh"),
    include_str!("device/norm.cuh"),
    include_str!("device/controller.cuh"),
    include_str!("device/guard.cuh"),
];
const EVENT: &str = include_str!("device/event.cuh");
const STEP_LOOP: &str = include_str!("device/step_loop.cuh");
const RANGES: &str = include_str!("device/ranges.cuh");

/// What of an integration is compiled into its kernel. Numbers that change from call to call
/// (tolerances, spans) are not, so that a cached kernel serves them all; the size of fixed steps
/// is, because it makes a step a quarter faster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traits {
    pub(crate) float: bool,
    pub(crate) shared_params: bool,
    pub(crate) saves: bool,
    pub(crate) automatic: bool,
    pub(crate) norm: Norm,
    pub(crate) atol_each: bool,
    /// Systems end at a terminal event.
    pub(crate) event: bool,
    /// Where the model holds.
    pub(crate) ranges: Vec<ValidRange>,
    pub(crate) n_counts: usize,
    /// The tolerance lets matrices be of single precision.
    pub(crate) loose: bool,
}

/// Absolute tolerances below this let first steps be so short that 1/h overflows in single precision.
const LEAST_ATOL_OF_SINGLE: f64 = 1e-30;

impl Traits {
    pub(crate) fn new(
        float: bool,
        shared_params: bool,
        method: &Method,
        options: &Options,
        ranges: &[ValidRange],
    ) -> Self {
        let fixed = method.controller().fixed_step().is_some();
        Traits {
            float,
            shared_params,
            saves: !options.save_times().is_empty(),
            automatic: options.first_step == FirstStep::Automatic && !fixed,
            norm: options.tolerance.norm,
            atol_each: matches!(options.tolerance.atol, Atol::PerComponent(_)),
            event: options.terminal_event.is_some(),
            ranges: ranges.to_vec(),
            n_counts: task::n_counts(method, !ranges.is_empty()),
            loose: is_loose(&options.tolerance, method),
        }
    }

    /// Size of a number, in bytes.
    pub(crate) fn word(&self) -> usize {
        if self.float { 4 } else { 8 }
    }
}

/// Whether matrices of single precision do.
fn is_loose(tolerance: &Tolerance, method: &Method) -> bool {
    let used = tolerance.norm == Norm::WeightedRms;
    tolerance.rtol >= method.on_device().single_from()
        && (!used || tolerance.atol.least() >= LEAST_ATOL_OF_SINGLE)
}

/// The text of a kernel of threads, or of lanes where that is the layout.
pub(super) fn threads(
    kernels: &dyn ThreadKernels,
    graph: &Graph,
    method: &Method,
    traits: &Traits,
    layout: &Layout,
) -> String {
    let mut text = Text::default();
    head(&mut text, (graph.outputs().len(), graph.n_params()), traits, method, layout);
    text.define("OD_IMPLICIT", 0);
    common(&mut text, traits);
    kernels.write(&mut text, layout.storage);
    text.finish()
}

/// Sizes and choices.
pub(super) fn head(
    text: &mut Text,
    (dim, n_params): (usize, usize),
    traits: &Traits,
    method: &Method,
    layout: &Layout,
) {
    let law = method.controller().law;
    text.define("OD_FLOAT", i32::from(traits.float));
    text.define("OD_EPSILON", literal(epsilon(traits.word())));
    let [least, steepest] = if traits.float { limits::<f32>() } else { limits::<f64>() };
    text.define("OD_UNDERFLOW", literal(least));
    text.define("OD_STEEPEST", literal(steepest));
    text.define("OD_N", dim);
    text.define("OD_EVENT", i32::from(traits.event));
    text.define("OD_RANGES", i32::from(!traits.ranges.is_empty()));
    text.define("OD_PARAMS", n_params);
    text.define("OD_SHARED_PARAMS", i32::from(traits.shared_params));
    text.define("OD_PARAMS_IN_REGISTERS", i32::from(n_params <= 8));
    text.define("OD_SAVES", i32::from(traits.saves));
    text.define("OD_PROBE", i32::from(traits.automatic));
    text.define("OD_NORM", if traits.norm == Norm::WeightedRms { 0 } else { 1 });
    text.define("OD_ATOL_EACH", i32::from(traits.atol_each));
    if let Law::Fixed(h) = law {
        let h = if traits.float { f64::from(h as f32) } else { h };
        text.define("OD_STEP", literal(h));
    }
    let name = match law {
        Law::Fixed(_) => "OD_LAW_FIXED",
        Law::I => "OD_LAW_I",
        Law::Pi => "OD_LAW_PI",
        Law::Pid => "OD_LAW_PID",
        Law::Predictive => "OD_LAW_PREDICTIVE",
    };
    text.define("OD_LAW", name);
    for (k, exponent) in law.exponents().into_iter().enumerate() {
        text.define(&format!("OD_EXPONENT_{k}"), format_args!("{exponent:?}f"));
    }
    text.define("OD_ERROR_ORDER", method.error_order());
    text.define("OD_BLOCK", layout.block);
    text.define("OD_BLOCKS_PER_SM", layout.blocks_per_sm);
    text.define("OD_IN_REGISTERS", i32::from(layout.storage == Storage::Registers));
    text.define("OD_IN_SHARED", i32::from(layout.storage == Storage::Shared));
    text.define("OD_UNROLLED_COMPONENTS", unrolled_components(layout));
    constants(text);
    counts(text, traits.n_counts);
}

/// What is counted of a system.
pub(super) fn counts(text: &mut Text, n_counts: usize) {
    // Written at once, sixteen bytes each time.
    let names = Stats::NAMES[..n_counts].join(", ");
    text.line(format_args!("struct alignas(16) OdStats {{ unsigned {names}; }};"));
}

/// Sums of squares below which digits are lost, and the steepest curvature.
fn limits<T: Scalar>() -> [f64; 2] {
    [underflow::<T>(), first_step::steepest::<T>()]
}

/// Components up to which loops over all of them are unrolled in a thread. What lies in local memory anyway gains
/// nothing from straight-line code.
fn unrolled_components(layout: &Layout) -> usize {
    if layout.storage == Storage::Local { 0 } else { UNROLLED_COMPONENTS }
}

/// The numbers of statuses, as `OD_MAX_STEPS`.
pub(super) fn statuses(text: &mut Text) {
    for status in Status::ALL {
        text.define(&format!("OD{}", upper_case(status)), status as u8);
    }
}

/// Numbers that the host computes with, too: each is typed there.
fn constants(text: &mut Text) {
    statuses(text);
    text.define("OD_METHOD_NUMBERS", NUMBERS);
    text.define("OD_FLAG_WARM", format_args!("{FLAG_WARM}u"));
    text.define("OD_FLAG_FRACTION", format_args!("{FLAG_FRACTION}u"));
    // Controllers compute in single precision.
    text.define("OD_LEAST_ERROR", format_args!("{LEAST_ERROR:?}f"));
    for (name, number) in [
        ("OD_STRETCH", STRETCH),
        ("OD_SHORT_STEP_EPSILONS", SHORT_STEP_EPSILONS),
        ("OD_SHORTER", SHORTER),
        ("OD_TINY", TINY),
        ("OD_SMALL", first_step::SMALL),
        ("OD_TINY_STEP", first_step::TINY_STEP),
        ("OD_GUESS", first_step::GUESS),
        ("OD_FLAT", first_step::FLAT),
        ("OD_FLAT_FRACTION", first_step::FLAT_FRACTION),
        ("OD_LONGER", first_step::LONGER),
        ("OD_LEAST_ULPS", first_step::LEAST_ULPS),
        ("OD_GUARD_EXPONENTS", guard::EXPONENTS),
        ("OD_GUARD_SAFETY", guard::SAFETY),
        ("OD_GUARD_LEAST", guard::SHRINK[0]),
        ("OD_GUARD_MOST", guard::SHRINK[1]),
    ] {
        text.define(name, literal(number));
    }
}

/// `_MAX_STEPS` of `MaxSteps`.
fn upper_case(status: Status) -> String {
    let mut name = String::new();
    for letter in format!("{status:?}").chars() {
        name.extend(letter.is_ascii_uppercase().then_some('_'));
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// What a GPU's compiler spells otherwise than that of the host device.
pub(super) fn compiler(text: &mut Text) {
    text.line("#ifdef __CUDACC__");
    text.line(CUDA);
    text.line("#endif");
}

/// The whole text of kernels that know no system.
pub(super) fn of_none(mut text: Text, kernels: &str) -> String {
    text.define("OD_FLOAT", 0);
    compiler(&mut text);
    text.line(REAL);
    text.line(kernels);
    text.finish()
}

/// Headers of every kernel.
pub(super) fn common(text: &mut Text, traits: &Traits) {
    compiler(text);
    for header in COMMON {
        text.line(header);
    }
    if traits.event {
        for (name, number) in [
            ("OD_EVENT_FRACTION", event::FRACTION),
            ("OD_EVENT_BEND", event::BEND),
            ("OD_EVENT_SHORTER", event::SHORTER),
            ("OD_EVENT_MISS", event::MISS),
            ("OD_EVENT_CUBIC_MISS", event::CUBIC_MISS),
            ("OD_EVENT_STAGE_MISS", event::STAGE_MISS),
            ("OD_EVENT_PLACE", event::PLACES[0]),
            ("OD_EVENT_OTHER_PLACE", event::PLACES[1]),
        ] {
            text.define(name, literal(number));
        }
        text.line(EVENT);
    }
    text.line(STEP_LOOP);
    if !traits.ranges.is_empty() {
        write_ranges(text, traits);
    }
}

/// The bounds of the components, as far as there are any, and what reads them.
fn write_ranges(text: &mut Text, traits: &Traits) {
    // Tables hold finite numbers; nor is there need of others, as no state is infinite.
    let most = if traits.float { f64::from(f32::MAX) } else { f64::MAX };
    for (kind, name) in [(RangeKind::Data, "data"), (RangeKind::Physical, "physical")] {
        let ranges = || traits.ranges.iter().filter(|range| range.kind == kind);
        let end = ranges().map(|range| range.component + 1).max().unwrap_or(0);
        text.define(&format!("OD_{}_END", name.to_uppercase()), end);
        let mut bounds = [vec![literal(-most); end], vec![literal(most); end]];
        for range in ranges() {
            bounds[0][range.component] = literal(range.lower.clamp(-most, most));
            bounds[1][range.component] = literal(range.upper.clamp(-most, most));
        }
        for (side, bounds) in ["lower", "upper"].into_iter().zip(&bounds) {
            text.table_in_memory("real", &format!("od_{name}_{side}(int i)"), "i", bounds);
        }
    }
    text.define("OD_RANGE_MARGIN", literal(ranges::MARGIN));
    text.line(RANGES);
}
