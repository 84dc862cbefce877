//! What Runge–Kutta–Chebyshev is in device code.

use super::{Rkc, radius, recurrence};
use odeum_core::Graph;
use odeum_cuda::{Text, literal};

/// What both kernels share.
const RECURRENCE: &str = include_str!("recurrence.cuh");
/// The kernel `od_rkc`, of one thread for each system.
const KERNEL: &str = include_str!("rkc.cuh");
/// The kernel `od_rkc_groups`, of a group of threads for each system.
const GROUPS: &str = include_str!("rkc_groups.cuh");

/// The kernel of threads, or of groups.
pub(crate) fn write_kernel(text: &mut Text, groups: bool) {
    text.line(RECURRENCE);
    text.line(if groups { GROUPS } else { KERNEL });
}

/// The numbers, and the bound of the spectral radius that the system gives: `radius` where it is recorded. `epsilon`: distance
/// from 1 to the next larger number.
pub(crate) fn write(text: &mut Text, rkc: &Rkc, radius: Option<&Graph>, epsilon: f64) {
    let bound = match (rkc.radius_bound, radius) {
        (Some(_), _) => 1,
        (None, Some(_)) => 2,
        (None, None) => 0,
    };
    text.define("OD_RADIUS_BOUND", bound);
    text.define("OD_ROOT_EPSILON", literal(epsilon.sqrt()));
    text.define("OD_RADIUS_EVERY", Rkc::RADIUS_EVERY);
    text.define("OD_POWER_ITERATIONS", Rkc::POWER_ITERATIONS);
    let [of_states, of_slopes] = Rkc::ERROR_WEIGHTS;
    for (name, number) in [
        ("OD_DAMPING", recurrence::DAMPING),
        ("OD_STABILITY", recurrence::STABILITY),
        ("OD_MARGIN", radius::MARGIN),
        ("OD_SETTLED", radius::SETTLED),
        ("OD_ERROR_OF_STATES", of_states),
        ("OD_ERROR_OF_SLOPES", of_slopes),
    ] {
        text.define(name, literal(number));
    }
}
