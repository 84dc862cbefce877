//! Whether RKC will need more evaluations than it may: judged by spectral radii near the start.

use crate::case::Precision;
use crate::plan::Plan;
use odeum_io::Finding;
use odeum_io::number::{count, significant};
use odeum_ode::{Device, Ensemble, Method, Rkc, Scalar, Solver};

/// Systems looked at, spread over the ensemble.
const LOOKED_AT: usize = 4;
/// Evaluations by which each goes ahead before the second look: fast components that are not there at
/// the start make a system stiff soon after.
const AHEAD: u32 = 500;

/// The largest work that was found.
struct Work {
    system: usize,
    t: f64,
    radius: f64,
    evaluations: f64,
}

/// A warning where a system needs more evaluations than it may, if its spectral radius stays as it is
/// near the start.
pub fn check(plan: &Plan<'_>) -> Option<Finding> {
    let case = plan.case;
    let Method::Rkc(rkc) = &case.method.method else { return None };
    let systems = plan.members.len();
    let looked_at = (0..LOOKED_AT.min(systems)).map(|k| k * systems / LOOKED_AT.min(systems));
    let all = looked_at.flat_map(|system| look(plan, rkc, system));
    let worst = all.max_by(|a, b| a.evaluations.total_cmp(&b.evaluations))?;
    let limit = plan.options.max_evaluations;
    if worst.evaluations <= f64::from(limit) {
        return None;
    }
    let Work { system, t, radius, evaluations } = worst;
    let message = format!(
        "rkc needs about {} evaluations, from the spectral radius near the start, and may take {}",
        significant(evaluations),
        count(u64::from(limit))
    );
    let finding = match case.source_spans.find("name of the method") {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message).in_file(case.source.name()).field("method.name"),
    };
    let radius = significant(radius);
    let found = format!("a spectral radius of {radius} at t = {t:.3e} of system {system}");
    let help = "take a method for stiff systems, as name = \"rodas5p\"; or raise \
                method.max_evaluations if the radius falls soon";
    Some(finding.into_warning().found(found).help(help))
}

/// The work of a system by its radius at the start, and a little later.
fn look(plan: &Plan<'_>, rkc: &Rkc, system: usize) -> Vec<Work> {
    let case = plan.case;
    let Ok(start) = plan.members.start(system) else { return Vec::new() };
    let (y, p) = start.split_at(case.model.dim());
    let (t, end) = plan.members.span(system);
    let first = work(plan, rkc, system, (t, end), y, p);
    let later = ahead(plan, rkc, (t, end), y, p);
    let later = later.and_then(|(t, y)| work(plan, rkc, system, (t, end), &y, p));
    first.into_iter().chain(later).collect()
}

fn work(
    plan: &Plan<'_>,
    rkc: &Rkc,
    system: usize,
    (t, end): (f64, f64),
    y: &[f64],
    p: &[f64],
) -> Option<Work> {
    let radius = plan.case.model.rhs.radius_at(rkc, (t, end - t), y, p)?;
    let epsilon = match plan.case.run.precision {
        Precision::F64 => f64::EPSILON,
        Precision::F32 => f64::from(f32::EPSILON),
    };
    let stages = rkc.most_stages(plan.options.tolerance.rtol, epsilon);
    let sizes = [rkc.controller.fixed_step(), plan.options.largest_step];
    let longest = sizes.into_iter().flatten().fold(f64::INFINITY, f64::min);
    // Steps end where states are saved.
    let times = plan.options.save_times().iter().copied().chain([end]);
    let (mut from, mut evaluations) = (t, 0.0);
    for to in times.filter(|to| (to - t) * (end - t) > 0.0) {
        let length = (to - from).abs();
        if length > 0.0 {
            evaluations += Rkc::least_evaluations(radius, length, stages, longest);
        }
        from = to;
    }
    Some(Work { system, t, radius, evaluations }).filter(|_| radius > 0.0)
}

/// Time and state after a few evaluations, where the system has not come to its end by then.
fn ahead(
    plan: &Plan<'_>,
    rkc: &Rkc,
    span: (f64, f64),
    y: &[f64],
    p: &[f64],
) -> Option<(f64, Vec<f64>)> {
    let ensemble = Ensemble::new(y.len(), y.to_vec(), span).ok()?;
    let ensemble = ensemble.with_shared_params(p.to_vec()).ok()?;
    let mut options = plan.options.clone();
    (options.max_evaluations, options.save_at) = (AHEAD, odeum_ode::SaveAt::End);
    // A step of all the span would be one of as many stages as there may be.
    let method = Method::Rkc(Rkc { max_stages: Some(AHEAD / 10), ..rkc.clone() });
    let solver = Solver::new(&plan.case.model.rhs, &method, &Device::cpu(), &options).ok()?;
    let solution = solver.solve(&ensemble).ok()?;
    let state: Vec<f64> = solution.states.iter().map(|x| x.to_f64()).collect();
    let t = solution.t[0];
    (t != span.1 && state.iter().all(|x| x.is_finite())).then_some((t, state))
}
