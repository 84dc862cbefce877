//! How many of the GPUs that the user allows are worth opening for a field.
//!
//! A second GPU takes the driver a quarter of a second to open, in which one H100 updates 10¹² bytes of a field.

use odeum_case::{FieldCase, FieldPlan, Precision, StepSpec};
use odeum_fields::{Method, gpu};
use odeum_ode::{Cuda, Device};

/// Bytes that all sweeps update, from which on it is worth to open others.
const WORTH: f64 = 2e12;

/// Memory that the first GPU has in any case \[bytes\]. Whether it has more is known when it is open, and then it is too
/// late to hide the others from the driver.
const SURE: u128 = 4 << 30;

/// The device of a run: the one that was asked for, or the first of its GPUs where that is as fast.
pub(super) fn device(plan: &FieldPlan<'_>) -> Device {
    match &plan.device {
        Device::Cuda(cuda)
            if cuda.ordinals.len() > 1 && first_will_do(plan.case, cuda.ordinals.len()) =>
        {
            Device::Cuda(Cuda { ordinals: cuda.ordinals[..1].to_vec() })
        }
        device => device.clone(),
    }
}

/// Whether one of so many GPUs is as fast as all. What cannot be on all of them is refused later, by its reason.
fn first_will_do(case: &FieldCase, gpus: usize) -> bool {
    let (problem, method) = (&case.problem, case.time.method);
    let needs = |gpus| match case.precision {
        Precision::F64 => gpu::bytes::<f64>(problem, method, gpus),
        Precision::F32 => gpu::bytes::<f32>(problem, method, gpus),
    };
    let word = match case.precision {
        Precision::F64 => 8.0,
        Precision::F32 => 4.0,
    };
    let need = needs(gpus).and_then(|_| needs(1));
    let fits = need.is_ok_and(|need| need.iter().all(|&bytes| bytes <= SURE));
    let values = problem.grid.cells() as f64 * problem.model.species().len() as f64;
    fits && sweeps(case).is_some_and(|sweeps| sweeps * values * word < WORTH)
}

/// Sweeps of the whole run; `None` where only the run tells.
fn sweeps(case: &FieldCase) -> Option<f64> {
    let time = &case.time;
    let StepSpec::Fixed(step) = time.steps else { return None };
    let steps = ((time.until - time.start) / step).min(time.max_steps as f64);
    let of_step = match time.method {
        Method::Euler => 1,
        Method::Ssprk3 => 3,
        Method::Rkc { stages } | Method::Rkl2 { stages } => stages?,
    };
    Some(steps * f64::from(of_step))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use odeum_case::{Given, Overrides, read_field_text};
    use odeum_io::{Findings, Source};
    use std::path::Path;

    fn gpus_of(edge: usize, time: &str) -> usize {
        let text = format!(
            "[system]\nproblem = \"turing\"\n[grid]\nshape = [{edge}, {edge}, {edge}]\n\
             [time]\nuntil = 0.5\n{time}\n[run]\ndevice = \"cuda:1,0,2\"\nprecision = \"f32\"\n"
        );
        let findings = Findings::default();
        let source = Source::new("case.toml", &text);
        let path = Path::new("case.toml");
        let case = read_field_text(&source, path, &Given::default(), &findings);
        let case = case.unwrap_or_else(|| panic!("{:?}", findings.take()));
        let plan = FieldPlan::new(&case, &Overrides::default(), &findings).unwrap();
        match device(&plan) {
            Device::Cuda(cuda) => cuda.ordinals.len(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn short_runs_have_one_gpu() {
        assert_eq!(gpus_of(128, "method = \"euler\"\nstep = 5e-6"), 1);
        assert_eq!(gpus_of(128, "method = \"euler\"\nstep = 4e-6"), 3);
        assert_eq!(gpus_of(128, "method = \"euler\"\nstep = 4e-6\nmax_steps = 10"), 1);
        assert_eq!(gpus_of(128, "method = \"ssprk3\"\nstep = 1e-5"), 3);
        // A number of steps that nobody knows yet.
        assert_eq!(gpus_of(64, "method = \"euler\"\nstep = \"stable\""), 3);
    }
}
