//! Whether the steps that a system may take can be enough: judged by the stops at which a step must
//! end, and by the longest step there may be.

use crate::case::{Case, ColumnTarget, Values};
use odeum_core::Argument;
use odeum_io::number::count;
use odeum_io::{Finding, Findings};
use odeum_ode::Options;

/// A step that would leave less than a hundredth of itself goes to its stop at once (`odeum`'s drive).
const REACH: f64 = 1.01;

/// Reports what needs more steps than a system may take. Stops that do are an error where nothing else
/// ends a system; all else is a warning, since what is computed up to the limit is kept.
pub(crate) fn check(case: &Case, options: &Options, findings: &Findings) {
    let limit = options.max_steps;
    let most = u64::from(limit);
    let until = case.time.until.is_some();
    let raise =
        format!("steps end at each of them: raise method.max_steps, now {limit}, or take fewer");
    if let Some(times) = &case.time.save
        && stops(case, times, most) > most
    {
        let (what, found) = ("times to save at", times.len() as u64);
        findings.push(too_many(case, "save_at", what, found, most, until).help(&raise));
    }
    let segments = u64::from(case.time.segments);
    if segments > most {
        findings.push(too_many(case, "segments", "segments", segments, most, until).help(&raise));
    }
    let sizes = [
        (Argument::new("controller").key("step"), case.method.method.controller().fixed_step()),
        ("largest_step".into(), options.largest_step),
    ];
    for (field, size) in sizes {
        let Some(need) = size.map(|h| shortest_span(case) / (REACH * h)) else { continue };
        if need.is_finite() && need > most as f64 {
            let message = format!("steps of this size do not reach the end within {limit}");
            let finding = at(case, field, message).into_warning();
            let help = if need > f64::from(u32::MAX) {
                "take larger steps".to_owned()
            } else {
                format!("raise method.max_steps to {need:.3e} or more, or take larger steps")
            };
            findings.push(finding.help(help));
        }
    }
}

fn too_many(
    case: &Case,
    field: &'static str,
    what: &str,
    found: u64,
    most: u64,
    until: bool,
) -> Finding {
    let (found, most) = (count(found), count(most));
    let message = format!("there are {found} {what}, but a system takes {most} steps at most");
    let finding = at(case, field.into(), message);
    if until { finding.into_warning() } else { finding }
}

fn at(case: &Case, field: Argument, message: String) -> Finding {
    match case.source_spans.find(&field) {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message).in_file(case.source.name()).field(field.to_string()),
    }
}

/// Stops that every system makes on its way from the start to the end, the end included; counted as
/// far as one above `most`.
fn stops(case: &Case, times: &Values, most: u64) -> u64 {
    // The state at the start is there already; where a table says where that is, it may be any.
    let own = own_spans(case);
    let (mut last, mut stops) = match case.time.span {
        Some((start, _)) if !own => (Some(start), 0),
        _ => (times.iter().next(), 0),
    };
    for t in times.iter() {
        if Some(t) != last {
            stops += 1;
            last = Some(t);
        }
        if stops > most {
            break;
        }
    }
    let end = case.time.span.map(|(_, end)| end);
    stops + u64::from(!own && end.is_some() && end != last)
}

fn own_spans(case: &Case) -> bool {
    let table = case.ensemble.table.as_ref();
    table.is_some_and(|table| {
        table.column(ColumnTarget::Start).or(table.column(ColumnTarget::End)).is_some()
    })
}

/// Least length of the span of a system; NaN where none is known.
fn shortest_span(case: &Case) -> f64 {
    let (start, end) = case.time.span.unwrap_or((f64::NAN, f64::NAN));
    let Some(table) = &case.ensemble.table else { return (end - start).abs() };
    let of = |target, usual: f64, row: usize| table.column(target).map_or(usual, |v| v[row]);
    let length =
        |row| (of(ColumnTarget::End, end, row) - of(ColumnTarget::Start, start, row)).abs();
    (0..table.rows).map(length).fold(f64::NAN, f64::min)
}
