//! `[time]` of a field: how far, by which method, in which steps.

use super::known;
use crate::case::reader::{Field, Section};
use crate::case::source_spans::SourceSpans;
use odeum_fields::problems::Builtin;
use odeum_fields::{Method, Steps};
use odeum_ode::{Atol, Norm, Tolerance};

/// The whole section.
#[derive(Clone, Debug)]
pub struct FieldTime {
    /// Where time begins \[time\].
    pub start: f64,
    /// Where it ends \[time\].
    pub until: f64,
    /// How steps are taken.
    pub method: Method,
    /// How long steps are.
    pub steps: Steps,
    /// Steps that are not stable are taken all the same.
    pub force: bool,
    /// Most steps.
    pub max_steps: u64,
}

impl FieldTime {
    /// The end of the span at which a step of this size is lost in the rounding of the time.
    pub(crate) fn stands_at(&self, step: f64) -> Option<f64> {
        stands_at(step, [Some(self.start), Some(self.until)])
    }
}

fn stands_at(step: f64, times: [Option<f64>; 2]) -> Option<f64> {
    times.into_iter().flatten().find(|t| t + step == *t)
}

/// The fraction of the largest stable step where nothing is said.
const FRACTION: f64 = 0.8;

/// What the section may hold.
const KEYS: [&str; 8] =
    ["start", "until", "method", "stages", "step", "tolerance", "force", "max_steps"];

/// Reads the section; a built-in problem knows its step. One that is `open` may leave out where it ends.
pub(super) fn read(
    section: &Section<'_>,
    (builtin, open): (Option<Builtin>, bool),
    names: Option<&[String]>,
    source_spans: &mut SourceSpans,
) -> Option<FieldTime> {
    section.keep_to(&KEYS);
    let start = section.get("start").map_or(Some(0.0), |field| field.number());
    let until = match open {
        true => section.get("until"),
        false => section.need("until", "the time at which the run ends, as until = 100.0"),
    };
    let until = until.map_or(if open { start.map(f64::next_up) } else { None }, |field| {
        source_spans.put("end", field.source_span());
        let until = field.number()?;
        match start {
            Some(start) if until <= start => {
                field.refuse("the run ends before it begins", &format!("it starts at {start}"))
            }
            _ => Some(until),
        }
    });
    let stages = section.get("stages").map(|field| {
        source_spans.put("stages", field.source_span());
        (field.whole(2, u64::from(Method::MOST_STAGES)).map(|n| n as u32), field)
    });
    let (count, stages_field) = match stages {
        Some((count, field)) => (count.map(Some), Some(field)),
        None => (Some(None), None),
    };
    let count = count?;
    let methods = [
        ("euler", Method::Euler),
        ("ssprk3", Method::Ssprk3),
        ("rkc", Method::Rkc { stages: count }),
        ("rkl2", Method::Rkl2 { stages: count }),
    ];
    let (step, tolerance) = (section.get("step"), section.get("tolerance"));
    let usual = match (&tolerance, &step, builtin) {
        (Some(_), ..) => Method::Rkc { stages: count },
        (None, Some(step), None) if is_fraction(step) => Method::Ssprk3,
        (None, Some(_), _) | (None, None, Some(_)) => Method::Euler,
        (None, None, None) => Method::Ssprk3,
    };
    let method_field = section.get("method");
    let method = method_field.as_ref().map_or(Some(usual), |field| {
        source_spans.put("steps", field.source_span());
        source_spans.put("method", field.source_span());
        field.choice("methods of fields", &methods)
    });
    if let (Some(method), Some(field)) = (method, &stages_field)
        && method.stages_asked().is_none()
    {
        let message = format!("the stages of {} are always as many", method.name());
        return field.refuse(message, "leave `stages` out, or use rkc or rkl2");
    }
    let usual = match (builtin, method) {
        (Some(builtin), Some(Method::Euler)) => Steps::Fixed(builtin.step()),
        _ => Steps::Fraction(FRACTION),
    };
    let steps = match (&step, &tolerance) {
        (Some(field), None) => {
            source_spans.put("step", field.source_span());
            read_step(field)
        }
        (None, Some(field)) => {
            source_spans.put("steps", field.source_span());
            match method {
                Some(Method::Rkc { .. }) => {
                    read_tolerance(field, names, source_spans).map(Steps::Adaptive)
                }
                Some(_) => field.refuse(
                    "only rkc estimates its error",
                    "use method = \"rkc\", or give `step` instead",
                ),
                None => None,
            }
        }
        (None, None) => Some(usual),
        (Some(field), Some(_)) => field.refuse("both `step` and `tolerance`", "give one of them"),
    };
    let force = section.get("force").map_or(Some(false), |field| field.truth());
    match (&steps, force, &step) {
        (Some(Steps::Fraction(fraction)), Some(false), Some(field)) if *fraction > 1.0 => {
            return field.refuse(
                "steps longer than the longest stable one",
                "give a fraction up to 1, or force = true to take them all the same",
            );
        }
        (Some(Steps::Fixed(step)), _, Some(field)) => {
            if let Some(t) = stands_at(*step, [start, until]) {
                return field.refuse(
                    format!("a step of {step:e} does not move the time at {t}"),
                    "give a larger step",
                );
            }
        }
        (Some(Steps::Fraction(fraction)), Some(true), _) if *fraction > 1.0 => {}
        (Some(Steps::Fraction(_) | Steps::Adaptive(_)), Some(true), _) => {
            if let Some(field) = section.get("force") {
                field.warn(
                    "steps are of a stable size here, which needs no force",
                    "leave this out, or give the size of the step: step = 0.01",
                );
            }
        }
        _ => {}
    }
    let max_steps =
        section.get("max_steps").map_or(Some(u64::MAX), |field| field.whole(1, u64::MAX));
    if let (Some(Some(None)), Some(Steps::Fraction(_)), Some(field)) =
        (method.map(Method::stages_asked), &steps, step.as_ref().or(method_field.as_ref()))
    {
        return field.refuse(
            "a stabilised method is stable for any step, given enough stages",
            "give `stages` too, or the size of the step, or (rkc) a `tolerance`",
        );
    }
    Some(FieldTime {
        start: start?,
        until: until?,
        method: method?,
        steps: steps?,
        force: force?,
        max_steps: max_steps?,
    })
}

/// Whether steps are said as a part of the limit, not by their size.
fn is_fraction(step: &Field<'_>) -> bool {
    step.is_table() || step.is_text() && !step.is_constant()
}

fn read_step(field: &Field<'_>) -> Option<Steps> {
    let help =
        "give the size of the step, \"stable\", or { stable = 0.8 }, a fraction of the largest";
    if is_fraction(field) && !field.is_table() {
        return field.choice("steps", &[("stable", Steps::Fraction(FRACTION))]);
    }
    if field.is_table() {
        let section = field.section()?;
        let fraction = section.need("stable", help).and_then(|field| match field.number()? {
            fraction if fraction > 0.0 => Some(fraction),
            _ => field.refuse("a fraction must be positive", help),
        });
        section.finish();
        return fraction.map(Steps::Fraction);
    }
    match field.number()? {
        step if step > 0.0 => Some(Steps::Fixed(step)),
        _ => field.refuse("a step must be positive", help),
    }
}

fn read_tolerance(
    field: &Field<'_>,
    names: Option<&[String]>,
    source_spans: &mut SourceSpans,
) -> Option<Tolerance> {
    let help = "as tolerance = { rtol = 1e-4, atol = 1e-6 }";
    let section = field.section()?;
    let rtol = section.need("rtol", help).and_then(|field| {
        source_spans.put("rtol", field.source_span());
        field.number()
    });
    let atol = section.need("atol", help).and_then(|field| {
        source_spans.put("atol", field.source_span());
        if !field.is_table() {
            return field.number().map(Atol::Scalar);
        }
        let mut values = vec![None; names?.len()];
        for (name, _, value) in field.section()?.entries() {
            let s = known(&name, names, |message, help| value.refuse(message, help))?;
            values[s] = value.number();
        }
        let values: Option<Vec<f64>> = values.into_iter().collect();
        match values {
            Some(values) => Some(Atol::PerComponent(values)),
            None => field.refuse("a species has no tolerance", "name every species"),
        }
    });
    section.finish();
    Some(Tolerance { rtol: rtol?, atol: atol?, norm: Norm::WeightedRms })
}
