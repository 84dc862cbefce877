//! `odeum check`: everything that is wrong with a case, and what would be run.

use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::fields;
use crate::job::Stop;
use crate::report::{Style, Table, bytes, count, say, show, wrap};
use odeum_case::{Case, Described, Level, Overrides, Plan, Until, device, stiffness};
use odeum_io::finding::Findings;
use odeum_ode::method::Method;
use odeum_ode::{Atol, Device, FirstStep, Norm, SaveAt, gpu};

/// Most equations listed.
const EQUATIONS: usize = 40;

pub(crate) fn command(args: &CheckArgs) -> Exit {
    let findings = Findings::default();
    let (device, threads) = (args.place.device.clone(), args.place.threads);
    let overrides = Overrides { device, threads, has_other_numbers: false };
    let case = match odeum_case::read(&args.case, args.place.device.as_ref(), &findings) {
        Some(Described::Field(case)) => return fields::check(&case, &overrides, &findings),
        Some(Described::Ensemble(case)) => Some(case),
        None => None,
    };
    let plan = case.as_ref().and_then(|case| Plan::new(case, &overrides, &findings));
    if let Some(warning) = plan.as_ref().and_then(stiffness) {
        findings.push(warning);
    }
    if let Some(exit) = show(&findings.take(), Exit::BadInput) {
        return exit;
    }
    if let Some(Device::Cuda(cuda)) = plan.as_ref().map(|plan| &plan.device)
        && let Err(error) = cuda.check()
    {
        return Stop::bad(error.into()).show();
    }
    match plan {
        Some(plan) => {
            say(&describe(&plan, Style::stdout()));
            Exit::Success
        }
        None => Exit::BadInput,
    }
}

/// What would be run.
fn describe(plan: &Plan<'_>, style: Style) -> String {
    let case = plan.case;
    let mut text = style.bold(&case.path.display().to_string());
    if let Some(title) = &case.title {
        text += &format!(" — {title}");
    }
    text += &format!("\n\n{}\n", style.bold(&case.model.title));
    for line in case.model.lines.iter().take(EQUATIONS) {
        for part in wrap(line, 92) {
            text += &format!("  {part}\n");
        }
    }
    if case.model.lines.len() > EQUATIONS {
        text += &format!("  … {} more\n", case.model.lines.len() - EQUATIONS);
    }
    text += &format!("\n{}", table(plan).render(style));
    text += &format!("\n{} nothing is wrong\n", style.green("ok:"));
    text
}

fn table(plan: &Plan<'_>) -> Table {
    let Plan { case, members, options, .. } = plan;
    let mut table = Table::pairs();
    let systems = count(members.len() as u64);
    let axis = |(name, len): &(String, usize)| format!("{} ({name})", count(*len as u64));
    let axes: Vec<String> = members.shape().iter().map(axis).collect();
    match axes.len() {
        1 => table.pair("systems", systems),
        _ => table.pair("systems", format!("{systems} = {}", axes.join(" × "))),
    }
    let (n, m) = (case.model.dim(), case.model.param_names.len());
    let plural = if m == 1 { "" } else { "s" };
    let own = if members.shares_params() { "" } else { ", each system its own" };
    table.pair("equations", format!("{n}, with {m} parameter{plural}{own}"));
    let (start, end) = members.span(0);
    let own = if members.has_own_spans() {
        " for the first system; the table gives each its own"
    } else {
        ""
    };
    table.pair("span", format!("{start} to {end}{own}"));
    if let Some(until) = &case.time.until {
        table.pair("or until", describe_until(until, &case.model.state_names));
    }
    if options.segments > 1 {
        let warm = if options.warm_start { "the step size is kept" } else { "cold starts" };
        table.pair("segments", format!("{} pieces, {warm}", options.segments));
    }
    table.pair("method", method(&case.method.method));
    table.pair("tolerance", tolerance(case));
    match options.first_step {
        FirstStep::Automatic => {}
        FirstStep::Size(h) => table.pair("first step", h.to_string()),
        FirstStep::Fraction(s) => {
            table.pair("first step", format!("{s} of each piece of the span"));
        }
    }
    if let Some(h) = options.largest_step {
        table.pair("largest step", h.to_string());
    }
    table.pair("step limit", count(u64::from(options.max_steps)));
    if case.method.method.jacobian_source().is_some() {
        let guard = match options.growth_limit {
            Some(limit) => format!("on: no perturbation grows by more than e^{limit} in a step"),
            None => "off: instabilities may be stepped over".to_owned(),
        };
        table.pair("growth guard", guard);
    }
    match &options.save_at {
        SaveAt::End => table.pair("saved", "the state at the end"),
        SaveAt::Times(times) => {
            table.pair("saved", format!("the end, and {} times", count(times.len() as u64)));
        }
    }
    table.pair("precision", case.run.precision.name());
    table.pair("device", device::describe(&plan.device));
    if let Device::Cuda(cuda) = &plan.device
        && let Some(&first) = cuda.ordinals.first()
        && let Some(layout) =
            gpu::layout_in_words(&case.model.rhs, &case.method.method, options, first)
    {
        table.pair("kernel", layout);
    }
    table.pair("memory", bytes(plan.memory));
    table
}

fn describe_until(until: &Until, names: &[String]) -> String {
    let verb = if until.rises { "rises" } else { "falls" };
    let level = match until.level {
        Level::At(level) => format!("to {level}"),
        Level::By(change) => format!("by {}", change.abs()),
    };
    format!("{} {verb} {level}", names[until.component])
}

fn method(method: &Method) -> String {
    let order = format!("{}, order {}", method.name(), method.order());
    match method.controller().fixed_step() {
        Some(h) => format!("{order}, steps of {h}"),
        None => order,
    }
}

fn tolerance(case: &Case) -> String {
    let tolerance = &case.tolerance;
    let rtol = format!("rtol {:e}", tolerance.rtol);
    match (&tolerance.norm, &tolerance.atol) {
        (Norm::StateAndRate, _) => format!("{rtol} of state and rate"),
        (Norm::WeightedRms, Atol::Scalar(atol)) => format!("{rtol}, atol {atol:e}"),
        (Norm::WeightedRms, Atol::PerComponent(_)) => format!("{rtol}, atol by state"),
    }
}
