//! How many of the GPUs that the user allows are worth opening for a field.
//!
//! A second GPU takes the driver a quarter of a second to open, in which one H100 updates 10¹² bytes of a field.

use odeum_case::{FieldCase, FieldPlan, Precision};
use odeum_fields::{Method, Steps, gpu};
use odeum_ode::Device;

/// Bytes that all sweeps update, from which on it is worth to open others.
const WORTH: f64 = 2e12;

/// Memory that the first GPU has in any case \[bytes\]: whether it has more takes a moment to find out.
const SURE: u128 = 4 << 30;

/// Whether the first of several GPUs is as fast as all of them.
pub(super) fn first_will_do(plan: &FieldPlan<'_>) -> bool {
    let Device::Cuda(cuda) = &plan.device else { return false };
    let FieldCase { problem, time, precision, .. } = plan.case;
    let needs = |gpus| match precision {
        Precision::F64 => gpu::bytes::<f64>(problem, time.method, gpus),
        Precision::F32 => gpu::bytes::<f32>(problem, time.method, gpus),
    };
    // What cannot be on all of them is refused later, by its reason.
    let need = needs(cuda.ordinals.len()).and_then(|_| needs(1));
    let need = need.map(|need| need.into_iter().max().unwrap_or_default());
    let values = problem.grid.cells() as f64 * problem.model.species().len() as f64;
    let sweep = values * precision.size() as f64;
    sweeps(plan.case).is_some_and(|sweeps| sweeps * sweep < WORTH)
        && need.is_ok_and(|need| need <= SURE || need <= free_memory())
}

/// Memory that the first GPU can give \[bytes\], whichever that is: a tenth is left to kernels and to others.
fn free_memory() -> u128 {
    u128::from(odeum_ode::gpu::least_free_memory().unwrap_or_default()) / 10 * 9
}

/// Sweeps of the whole run; `None` where only the run tells.
fn sweeps(case: &FieldCase) -> Option<f64> {
    let time = &case.time;
    let Steps::Fixed(step) = time.steps else { return None };
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
    use super::FieldPlan;
    use odeum_case::{Given, Overrides, read_field_text};
    use odeum_io::{Findings, Source};
    use std::path::Path;

    fn first_will_do(edge: usize, time: &str) -> bool {
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
        super::first_will_do(&plan)
    }

    #[test]
    fn short_runs_have_one_gpu() {
        assert!(first_will_do(128, "method = \"euler\"\nstep = 5e-6"));
        assert!(!first_will_do(128, "method = \"euler\"\nstep = 4e-6"));
        assert!(first_will_do(128, "method = \"euler\"\nstep = 4e-6\nmax_steps = 10"));
        assert!(!first_will_do(128, "method = \"ssprk3\"\nstep = 1e-5"));
        // A number of steps that nobody knows yet.
        assert!(!first_will_do(64, "method = \"euler\"\nstep = \"stable\""));
    }
}
