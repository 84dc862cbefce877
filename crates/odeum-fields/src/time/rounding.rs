//! Changes that are lost in the rounding of large values.
//!
//! A stage adds some part of h F to values of the size of u and rounds the sum. With s stages that part is about h F/s², and the
//! recurrence adds up the rounding, which is the same in many stages, s² times. So what counts is the part of one stage, as of forward
//! Euler with the step that one stage is stable for.

use crate::analysis::reduce::Summary;
use crate::cpu::engine::Engine;
use crate::cpu::sweep::Precision;
use crate::field::Field;
use crate::problem::Problem;
use crate::time::method::{Method, Steps};
use crate::time::stability::Stability;
use odeum_ode::{Cpu, Error, Scalar};

/// Units in the last place below which what a stage adds is off by more than a few per cent: of slow heating of 300 by euler, ssprk3,
/// rkc and rkl2 the error is up to 6 % with 10, a fourth with 3, and all with less than 1 (docs/src/single-precision.md).
const UNITS: f64 = 10.0;

/// The part of |z| to which a stage of a stabilised method adds.
const OF_STAGE: f64 = 1.6;

/// Changes by less than this part of the values in the whole span are what roundings of the initial values may make.
const CHANGE: f64 = 1e-3;

/// The species whose fastest changes at the start are lost in the roundings of single precision, or made too large by them; none in
/// double precision. `limits` are those of the field.
///
/// # Errors
/// As [`Engine::new`].
#[doc(hidden)]
pub fn rounded_away<T: Precision>(
    problem: &Problem,
    field: &Field<T>,
    (start, end): (f64, f64),
    (method, steps): (Method, &Steps),
    limits: &Stability,
) -> Result<Vec<String>, Error> {
    if T::EPSILON < f64::from(f32::EPSILON) {
        return Ok(Vec::new());
    }
    // The end of a simulation that is stepped by hand is not known.
    let span = if end > start.next_up() { end - start } else { f64::INFINITY };
    let stage = stage(method, steps, limits).min(span);
    let engine = Engine::new(problem, &Cpu::default())?;
    // Where there is no memory for another field there is no warning.
    let Ok(mut rates) = engine.zeros() else { return Ok(Vec::new()) };
    engine.rhs(start, field, &mut rates);
    let largest = |field: &Field<T>| -> Vec<f64> {
        let size = |all: &Summary| all.max.abs().max(all.min.abs());
        engine.summaries(field).iter().map(size).collect()
    };
    let (values, rates) = (largest(field), largest(&rates));
    let is_lost = |s: &usize| {
        let (value, rate) = (values[*s], rates[*s]);
        rate * stage < UNITS * last_place::<T>(value) && rate * span > CHANGE * value
    };
    let names = problem.model.species();
    Ok((0..names.len()).filter(is_lost).map(|s| names[s].clone()).collect())
}

/// The length of the step of forward Euler that adds as much as one stage does \[time\].
fn stage(method: Method, steps: &Steps, limits: &Stability) -> f64 {
    let radius = limits.radius;
    let (of_step, reach) = match steps {
        Steps::Fixed(h) => (*h, method.reach(method.stages(*h, radius))),
        Steps::Fraction(fraction) => {
            let h = fraction * limits.usual_step(method);
            (h, method.reach(method.stages(h, radius)))
        }
        // How long steps are is not known; as stages are, they are nearly as long as these allow.
        Steps::Adaptive(_) => return OF_STAGE / radius,
    };
    of_step * (OF_STAGE / reach).min(1.0)
}

/// The distance from a value to the next.
fn last_place<T: Scalar>(value: f64) -> f64 {
    if value > 0.0 { T::EPSILON * value.log2().floor().exp2() } else { 0.0 }
}
