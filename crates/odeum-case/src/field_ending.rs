//! Simulations of fields that end before their time, in words.

use crate::case::FieldCase;
use odeum_fields::{Failure, Steps, Unstable};
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
        None if failure.status == Status::MaxSteps => match case.time.steps {
            Steps::Fixed(_) => "raise time.max_steps, or take larger steps",
            _ => {
                "raise time.max_steps if the span is long; rkl2 and rkc take larger steps where diffusion \
                 limits them, ssprk3 where waves or a velocity do"
            }
        },
        None if failure.status == Status::StepTooSmall => match case.time.steps {
            Steps::Fraction(_) => {
                "steps so short are lost in the rounding of the time: look for rates that grow beyond all bounds, \
                 take steps by their error (method = \"rkc\" with tolerance = { rtol = 1e-4, atol = 1e-6 }), or begin nearer to t = 0"
            }
            _ => {
                "steps so short are lost in the rounding of the time: look for rates that grow beyond all bounds, or \
                 begin nearer to t = 0"
            }
        },
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
    let limit = format!("stable up to {largest:.6e} for the field of that time");
    let message = match passed {
        true => format!("steps of {step:.6e} were not stable on the way to {after}"),
        false => format!("steps of {step:.6e} are not stable any more at {after}"),
    };
    let found = if passed { "values that the equations do not explain" } else { &limit };
    let shared = matches!(case.time.steps, Steps::Fraction(_));
    let smaller = match (shared, passed) {
        (true, true) => "take a smaller fraction, as step = { stable = 0.2 }",
        (true, false) => {
            "the field changes too fast for its limit to be followed: take a smaller fraction, as \
             step = { stable = 0.2 }, a smaller fixed step"
        }
        (false, true) => "take a smaller step",
        (false, false) => "take a smaller step, step = \"stable\", which follows the field",
    };
    let by_error =
        "or steps by their error: method = \"rkc\" with tolerance = { rtol = 1e-4, atol = 1e-6 }";
    let mut advice = format!("{smaller}, {by_error}");
    if passed {
        advice = format!("{advice}; steps are {limit}");
    }
    if !shared {
        advice += "; force = true goes on whatever becomes of it";
    }
    Finding::error(message).in_file(case.source.name()).found(found).help(format!("{advice}{kept}"))
}
