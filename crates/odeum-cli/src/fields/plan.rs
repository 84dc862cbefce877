//! A plan of a field in words.

use crate::report::{Style, Table, bytes, count, wrap};
use odeum_case::{FieldCase, FieldPlan, Prepared};
use odeum_fields::{Advection, Method, Problem, Quantity, Stability, Stencil, Steps, Velocity};
use odeum_ode::Device;

/// How many cells there are, in words.
pub(super) fn cells(problem: &Problem) -> String {
    let [nx, ny, nz] = problem.grid.shape();
    let all = format!("{nx} × {ny} × {nz} = {}", count(problem.grid.cells() as u64));
    match &problem.mask {
        Some(mask) => format!("{all}, of which {} in the domain", count(mask.cells() as u64)),
        None => all,
    }
}

/// The velocity of a problem, where there is one.
fn velocity(problem: &Problem) -> Option<String> {
    let quantity = |part: &Quantity| match part {
        Quantity::Constant(x) => x.to_string(),
        Quantity::Text(text) => text.clone(),
        Quantity::Graph(_) => "given by a graph".to_owned(),
    };
    let velocity = match problem.velocity.as_ref()? {
        Velocity::Uniform(parts) => parts.each_ref().map(quantity).join(", "),
        Velocity::Cells(_) => "of every cell".to_owned(),
    };
    let scheme = match problem.advection {
        Advection::Upwind => "upwind",
        Advection::Koren => "koren",
    };
    let advected = problem.advected.as_ref().map_or("all species".to_owned(), |all| all.join(", "));
    Some(format!("{velocity}; carries {advected}, {scheme}"))
}

/// What would be run, in words.
pub(crate) fn describe<T: odeum_fields::Precision>(
    plan: &FieldPlan<'_>,
    prepared: &Prepared<T>,
    on_gpu: Option<u128>,
    style: Style,
) -> String {
    let FieldCase { problem, time, .. } = plan.case;
    let mut text = style.bold(&plan.case.path.display().to_string());
    if let Some(title) = &plan.case.title {
        text += &format!(" — {title}");
    }
    text += &format!("\n\n{}\n", style.bold(&plan.case.system));
    for line in &plan.case.lines {
        for part in wrap(line, 92) {
            text += &format!("  {part}\n");
        }
    }
    let mut table = Table::pairs();
    let grid = &problem.grid;
    table.pair("cells", cells(problem));
    let [hx, hy, hz] = grid.spacing();
    let spacing = if hx == hy && hy == hz { hx.to_string() } else { format!("{hx}, {hy}, {hz}") };
    table.pair("spacing", spacing);
    table.pair("species", problem.model.species().join(", "));
    let stencil = match problem.stencil {
        Stencil::Isotropic => "isotropic",
        Stencil::Star => "star",
    };
    table.pair("stencil", stencil);
    if let Some(velocity) = velocity(problem) {
        table.pair("velocity", velocity);
    }
    table.pair("time", format!("{} to {}", time.start, time.until));
    let method = time.method.name();
    let about = |h: f64| number_of(((time.until - time.start) / h).ceil());
    let steps = match &prepared.options.steps {
        Steps::Fixed(h) => format!("steps of {h:.6e}, about {}", about(*h)),
        Steps::Fraction(fraction) => {
            let h = fraction * prepared.limits.usual_step(time.method);
            let most = time.max_steps;
            let beyond = match (time.until - time.start) / h > most as f64 {
                true => format!(", of which `max_steps` allows {}", count(most)),
                false => String::new(),
            };
            format!("steps of {h:.6e} at the start, about {} of them{beyond}", about(h))
        }
        Steps::Adaptive(tolerance) => format!("steps by tolerance, rtol {:e}", tolerance.rtol),
    };
    table.pair("method", format!("{method}, {steps}"));
    table.pair("stable up to", stable_up_to(&prepared.limits, time.method));
    if let Some(positive) = prepared.limits.positive {
        table.pair("positive up to", format!("{positive:.6e} (euler)"));
    }
    table.pair("device", odeum_case::device::describe(&plan.device));
    table.pair("precision", plan.case.precision.name());
    table.pair("memory", bytes(plan.case.memory));
    if let Some(memory) = on_gpu {
        let several = matches!(&plan.device, Device::Cuda(gpu) if gpu.ordinals.len() > 1);
        let whose = if several { "memory of each GPU" } else { "memory of the GPU" };
        table.pair(whose, bytes(memory));
    }
    text += &format!("\n{}", table.render(style));
    text += &format!("\n{} nothing is wrong\n", style.green("ok:"));
    text
}

/// A number of steps, with an exponent where nobody counts them.
fn number_of(steps: f64) -> String {
    if steps < 1e15 { count(steps as u64) } else { format!("{steps:.1e}") }
}

/// The largest stable steps, of forward Euler and of the method.
pub(crate) fn stable_up_to(limits: &Stability, method: Method) -> String {
    let mut text = format!("{:.6e} at the start (euler)", limits.euler);
    if method != Method::Euler {
        text += &format!(", {:.6e} ({})", limits.largest_step(method), method.name());
    }
    if let Some(remedy) = limits.remedy(method) {
        text += &format!("; {remedy}");
    }
    text
}
