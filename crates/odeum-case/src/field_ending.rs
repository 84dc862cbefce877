//! Simulations of fields that end before their time, in words.

use crate::case::{FieldCase, StepSpec};
use odeum_fields::{Failure, Unstable};
use odeum_io::Finding;
use odeum_ode::Status;

/// A simulation that could not go on; `kept` says what there still is.
pub fn failed(case: &FieldCase, failure: &Failure, kept: &str) -> Finding {
    let what = match &failure.place {
        Some((species, cell)) => {
            let grid = &case.problem.grid;
            let at = [0, 1, 2].map(|axis| grid.centre(axis, cell[axis]));
            format!(
                "`{species}` is no finite number any more, first in cell {cell:?} (x, y, z = \
                 {at:?})"
            )
        }
        None => format!("the simulation stopped: {}", failure.status.name()),
    };
    let after = format!("t = {}, step {}", failure.t, failure.steps);
    let given = failure.given.as_ref().map(|(name, t, x)| {
        format!("`{name}` is {x} at t = {t}: give what is finite over the whole run")
    });
    let advice = match failure.place {
        Some(_) if given.is_some() => given.as_deref().unwrap_or_default(),
        Some(_) => "take smaller steps, or look at the equations there",
        None if failure.status == Status::MaxSteps => {
            "raise time.max_steps if the span is long; rkl2 and rkc take larger steps where diffusion \
             limits them"
        }
        None if failure.status == Status::StepTooSmall => {
            "steps so short are lost in the rounding of the time: look for rates that grow beyond all bounds, or begin \
             nearer to t = 0"
        }
        None => failure.status.advice(),
    };
    Finding::error(format!("{what}, after {after}"))
        .in_file(case.source.name())
        .found(after)
        .help(format!("{advice}{kept}"))
}

/// A simulation whose steps are not stable any more; `kept` says what there still is.
pub fn not_stable(case: &FieldCase, unstable: &Unstable, kept: &str) -> Finding {
    let Unstable { t, steps, step, largest } = unstable;
    // What is stable again has been unstable on the way.
    let passed = largest >= step;
    let after = format!("t = {t}, step {steps}");
    let (message, found) = match passed {
        true => (
            format!("steps of {step:.6e} were not stable on the way to {after}"),
            format!(
                "values that the equations do not explain; for the field of that time steps are stable up to \
                 {largest:.6e}"
            ),
        ),
        false => (
            format!("steps of {step:.6e} are not stable any more at {after}"),
            format!("for the field of that time they are stable up to {largest:.6e}"),
        ),
    };
    let shared = matches!(case.time.steps, StepSpec::Fraction(_));
    let advice = match shared {
        true => {
            "the field changes too fast for its limit to be followed: take a smaller fraction, as \
                 step = { stable = 0.2 }, or a smaller fixed step"
        }
        false if passed => "take a smaller step; force = true goes on whatever becomes of it",
        false => {
            "take a smaller step, or step = \"stable\", which follows the field; force = true \
                  goes on whatever becomes of it"
        }
    };
    Finding::error(message).in_file(case.source.name()).found(found).help(format!("{advice}{kept}"))
}
