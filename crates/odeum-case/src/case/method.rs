//! `[method]` and `[tolerance]`: how to integrate and how accurately.

use super::reader::{Field, Section};
use super::source_spans::SourceSpans;
use super::{Precision, names};
use crate::model::{Model, Start};
use odeum_core::Argument;
use odeum_io::finding::Findings;
use odeum_ode::controller::Law;
use odeum_ode::{Atol, Controller, FirstStep, Method, Norm, Options, Tolerance};

/// `[method]`, with what belongs to the library's options.
#[derive(Clone, Debug)]
pub struct MethodSpec {
    /// The method with its options.
    pub method: Method,
    /// Most steps of a system.
    pub max_steps: Option<u32>,
    /// Most evaluations of the right-hand side of a system.
    pub max_evaluations: Option<u32>,
    /// As the options have it; `None` where the file says nothing.
    pub growth_limit: Option<Option<f64>>,
    /// How the first step is found.
    pub first_step: FirstStep,
    /// The largest step \[time\].
    pub largest_step: Option<f64>,
}

/// Reads `[method]`.
pub(super) fn read(section: &Section<'_>, source_spans: &mut SourceSpans) -> Option<MethodSpec> {
    let name = section.need("name", "as name = \"dopri5\"");
    let method = name.as_ref().and_then(|field| {
        source_spans.put("name of the method", field.source_span());
        let all = Method::all();
        let choices: Vec<(&str, Method)> = all.iter().map(|m| (m.name(), m.clone())).collect();
        field.choice("methods", &choices)
    });
    let controller = section.get("controller");
    let fixed_step = section.get("fixed_step");
    let is_fixed = fixed_step.is_some();
    let controller = match (controller, fixed_step) {
        (Some(_), Some(fixed)) => {
            fixed.refuse("`fixed_step` and `controller` together", "leave one of them out")
        }
        (Some(field), None) => {
            source_spans.put("controller", field.source_span());
            read_controller(&field, source_spans).map(Some)
        }
        (None, Some(field)) => {
            source_spans.put(Argument::new("controller").key("step"), field.source_span());
            field.number().map(|h| Some(Controller::fixed(h)))
        }
        (None, None) => Some(None),
    };
    let radius = section.get("spectral_radius");
    let stages = section.get("max_stages");
    let radius_bound = number(&radius, "radius_bound", source_spans);
    let max_stages = stages.as_ref().map_or(Some(None), |field| {
        source_spans.put("max_stages", field.source_span());
        field.whole(2, u64::from(u32::MAX)).map(|n| Some(n as u32))
    });
    let limit = |key: &'static str, most: u32| {
        let whole = |field: Field<'_>| field.whole(1, u64::from(most)).map(|n| Some(n as u32));
        section.get(key).map_or(Some(None), whole)
    };
    let max_steps = limit("max_steps", u32::MAX);
    let max_evaluations = limit("max_evaluations", Options::MOST_EVALUATIONS);
    let growth = section.get("growth_limit");
    let growth_limit = growth.as_ref().map_or(Some(None), |field| {
        source_spans.put("growth_limit", field.source_span());
        read_growth_limit(field).map(Some)
    });
    let fixed = match &controller {
        Some(Some(controller)) => controller.fixed_step(),
        _ => None,
    };
    let largest_field = section.get("largest_step");
    let mut largest_step = number(&largest_field, "largest_step", source_spans);
    if let (Some(field), Some(step), Some(Some(largest))) = (&largest_field, fixed, largest_step)
        && largest < step
    {
        let message = "`fixed_step` is longer than `largest_step`";
        largest_step =
            field.refuse(message, "every step has the fixed size: leave one of them out");
    }
    let first_step = section.get("first_step").map_or(Some(FirstStep::Automatic), |field| {
        source_spans.put("first_step", field.source_span());
        if is_fixed {
            return field.refuse("`fixed_step` and `first_step` together", "leave one of them out");
        }
        read_first_step(&field)
    });
    section.finish();
    let (controller, radius_bound, max_stages) = (controller?, radius_bound?, max_stages?);
    let mut method = method?;
    if let Some(field) = growth.filter(|_| method.jacobian_source().is_none()) {
        let message = format!("`growth_limit` means nothing to {}", method.name());
        field.refuse::<()>(message, "leave it out: it belongs to implicit methods");
    }
    if let Some(controller) = controller {
        method = method.with_controller(controller);
    }
    match &mut method {
        Method::Rkc(rkc) => (rkc.radius_bound, rkc.max_stages) = (radius_bound, max_stages),
        other => {
            for field in radius.iter().chain(&stages) {
                let message = format!("`{}` means nothing to {}", field.name, other.name());
                field.refuse::<()>(message, "leave it out, or use name = \"rkc\"");
            }
        }
    }
    Some(MethodSpec {
        method,
        max_steps: max_steps?,
        max_evaluations: max_evaluations?,
        growth_limit: growth_limit?,
        first_step: first_step?,
        largest_step: largest_step?,
    })
}

/// A number, or `"off"`.
fn read_growth_limit(field: &Field<'_>) -> Option<Option<f64>> {
    if field.is_text() && !field.is_constant() {
        return field.choice("limits", &[("off", None)]);
    }
    field.number().map(Some)
}

/// A number that may be missing; the outer `None` means it is wrong.
fn number(
    field: &Option<Field<'_>>,
    name: &'static str,
    source_spans: &mut SourceSpans,
) -> Option<Option<f64>> {
    match field {
        None => Some(None),
        Some(field) => {
            source_spans.put(name, field.source_span());
            field.number().map(Some)
        }
    }
}

fn read_controller(field: &Field<'_>, source_spans: &mut SourceSpans) -> Option<Controller> {
    let laws = [
        ("integral", Controller::integral()),
        ("pi", Controller::pi()),
        ("pid", Controller::pid()),
        ("predictive", Controller::predictive()),
    ];
    if field.is_text() {
        return field.choice("controllers", &laws);
    }
    let section = field.section()?;
    let law = section.need("law", "as { law = \"pi\", safety = 0.9 }");
    let law = law.and_then(|law| law.choice("controllers", &laws));
    let mut part = |key: &'static str| match section.get(key) {
        None => Some(None),
        Some(value) => {
            source_spans.put(Argument::new("controller").key(key), value.source_span());
            value.number().map(Some)
        }
    };
    let (safety, least, most) = (part("safety"), part("min_factor"), part("max_factor"));
    section.finish();
    let mut controller = law?;
    debug_assert!(!matches!(controller.law, Law::Fixed(_)));
    controller.safety = safety?.unwrap_or(controller.safety);
    controller.min_factor = least?.unwrap_or(controller.min_factor);
    controller.max_factor = most?.unwrap_or(controller.max_factor);
    Some(controller)
}

fn read_first_step(field: &Field<'_>) -> Option<FirstStep> {
    if field.is_text() && !field.is_constant() {
        return field.choice("first steps", &[("automatic", FirstStep::Automatic)]);
    }
    if !field.is_table() {
        return field.number().map(FirstStep::Size);
    }
    let section = field.section()?;
    let fraction = section.need("fraction", "as { fraction = 0.5 }: half of the segment");
    let fraction = fraction.and_then(|fraction| fraction.number());
    section.finish();
    fraction.map(FirstStep::Fraction)
}

/// Reads `[tolerance]`, of a method.
pub(super) fn read_tolerance(
    section: &Section<'_>,
    method: Option<&Method>,
    model: Option<&Model>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<Tolerance> {
    let rtol = section.need("rtol", "as rtol = 1e-6").and_then(|field| {
        source_spans.put("rtol", field.source_span());
        field.number()
    });
    let norm = section.get("norm").map_or(Some(Norm::WeightedRms), |field| {
        let norms = [("rms", Norm::WeightedRms), ("state-and-rate", Norm::StateAndRate)];
        let norm = field.choice("norms", &norms)?;
        match method {
            Some(method @ Method::Exponential(_)) if norm == Norm::StateAndRate => field.refuse(
                format!("the norm \"state-and-rate\" is not for {}: the rate of a stiff equation excuses any error", method.name()),
                "take `norm = \"rms\"`, or a Rosenbrock method",
            ),
            _ => Some(norm),
        }
    });
    let atol_field = section.get("atol");
    let atol = match (&atol_field, norm) {
        (Some(field), Some(Norm::StateAndRate)) => field
            .refuse("the norm \"state-and-rate\" has no absolute tolerance", "leave `atol` out"),
        (Some(field), _) => {
            source_spans.put("atol", field.source_span());
            read_atol(field, model, source_spans, findings)
        }
        (None, Some(Norm::StateAndRate)) => Some(Atol::Scalar(0.0)),
        // The norm is told of: whether it has an absolute tolerance is not known.
        (None, None) => None,
        (None, _) => {
            let is_gas = model.is_some_and(|model| matches!(model.start, Start::Gas(_)));
            let (one, each) = match is_gas {
                true => ("1e-15", "T = 1e-6, others = 1e-15"),
                false => ("1e-9", "x = 1e-9, others = 1e-6"),
            };
            let help = format!(
                "as atol = {one}: below it a component counts as zero; or one for each state: \
                 atol = {{ {each} }}"
            );
            section.need("atol", &help);
            None
        }
    };
    section.finish();
    Some(Tolerance { rtol: rtol?, atol: atol?, norm: norm? })
}

/// What the library refuses in a tolerance; that there is one for each state has been seen to.
pub(super) fn check_tolerance(
    tolerance: &Tolerance,
    precision: Precision,
) -> Result<(), odeum_ode::Error> {
    let dim = match &tolerance.atol {
        Atol::Scalar(_) => 1,
        Atol::PerComponent(each) => each.len(),
    };
    match precision {
        Precision::F64 => tolerance.check::<f64>(dim),
        Precision::F32 => tolerance.check::<f32>(dim),
    }
}

/// One number, or a table by state; `others` is for the states it does not name.
fn read_atol(
    field: &Field<'_>,
    model: Option<&Model>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<Atol> {
    if !field.is_table() {
        return field.number().map(Atol::Scalar);
    }
    let mut values = vec![None; model.map_or(0, Model::dim)];
    let mut others = None;
    let mut good = model.is_some();
    for (name, source_span, value) in field.section()?.entries() {
        let number = value.number();
        good &= number.is_some();
        let Some(model) = model else { continue };
        match (model.state_names.iter().position(|n| *n == name), name.as_str()) {
            (Some(i), _) => {
                source_spans.put(Argument::new("atol").at(i), value.source_span());
                values[i] = number;
            }
            (None, "others") => others = number,
            _ => good &= findings.ok(names::state(model, &name, &source_span)).is_some(),
        }
    }
    let model = model.filter(|_| good)?;
    if let Some(i) = values.iter().position(Option::is_none).filter(|_| others.is_none()) {
        let state = &model.state_names[i];
        let missing = values.iter().filter(|v| v.is_none()).count();
        let help = if missing == 1 {
            format!("add {state} = …, or others = … for the states that are not named")
        } else {
            format!("add the {missing} missing states, or others = … for all of them")
        };
        return field.refuse(format!("no absolute tolerance for the state `{state}`"), &help);
    }
    Some(Atol::PerComponent(values.into_iter().map(|v| v.or(others).unwrap_or(0.0)).collect()))
}
