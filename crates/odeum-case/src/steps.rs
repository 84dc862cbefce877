//! Whether the steps that a system may take can be enough: judged by the stops at which a step must
//! end, and by the longest step there may be.

use crate::case::{Case, ColumnTarget, Values};
use odeum_core::Argument;
use odeum_io::number::count;
use odeum_io::{Finding, Findings};
use odeum_ode::Options;
use odeum_ode::controller::STRETCH;

/// Reports stops that need more steps than a system may take: an error where nothing else ends a system.
pub(crate) fn check_stops(case: &Case, options: &Options, findings: &Findings) {
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
}

/// Warns of steps of a size with which systems do not come to their ends: what is computed up to the limit
/// is kept.
pub(crate) fn check_sizes(case: &Case, options: &Options, findings: &Findings) {
    let limit = options.max_steps;
    let sizes = [
        (Argument::new("controller").key("step"), case.method.method.controller().fixed_step()),
        ("largest_step".into(), options.largest_step),
    ];
    for (field, size) in sizes {
        let Some(h) = size else { continue };
        let (mut most, mut short, mut first) = (0.0_f64, 0, None);
        let spans = spans(case);
        for (row, span) in spans.iter().enumerate() {
            let need = attempts(*span, options.save_times(), options.segments, h);
            most = most.max(need);
            if need > f64::from(limit) {
                short += 1;
                first.get_or_insert(row);
            }
        }
        let Some(first) = first.filter(|_| most.is_finite()) else { continue };
        let rows = match spans.len() {
            1 => String::new(),
            all => {
                let (short, all) = (count(short), count(all as u64));
                format!(
                    " in {short} of {all} rows of the table, the first of which is row {first} (from 0)"
                )
            }
        };
        let message = format!("steps of this size do not reach the end within {limit}{rows}");
        let help = if most > f64::from(u32::MAX) {
            "take larger steps".to_owned()
        } else {
            format!("raise method.max_steps to {most} or more, or take larger steps")
        };
        findings.push(at(case, field, message).into_warning().help(help));
    }
}

/// Steps of the size h, each of which is accepted, over a span with stops at these times and at the ends of
/// segments; NaN where no span is known.
fn attempts((start, end): (f64, f64), save: &[f64], segments: u32, h: f64) -> f64 {
    let between = |a: f64, b: f64| match (b - a).abs() {
        0.0 => 0.0,
        length => (length / h - STRETCH).ceil().max(0.0) + 1.0,
    };
    let pieces = f64::from(segments);
    let cut = |piece: f64| start + (end - start) * (piece / pieces);
    let (mut last, mut sum) = (start, 0.0);
    for &stop in save.iter().chain([&end]) {
        let [after, before] = [last, stop].map(|t| (t - start) / (end - start) * pieces);
        let (from, to) = (after.floor() + 1.0, before.ceil() - 1.0);
        sum += if from > to {
            between(last, stop)
        } else {
            between(last, cut(from))
                + (to - from) * between(0.0, cut(1.0) - start)
                + between(cut(to), stop)
        };
        last = stop;
    }
    sum
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

/// The spans of rows of the table, or the one of all systems; NaN where none is known.
fn spans(case: &Case) -> Vec<(f64, f64)> {
    let (start, end) = case.time.span.unwrap_or((f64::NAN, f64::NAN));
    let Some(table) = case.ensemble.table.as_ref().filter(|_| own_spans(case)) else {
        return vec![(start, end)];
    };
    let of = |target, usual: f64, row: usize| table.column(target).map_or(usual, |v| v[row]);
    (0..table.rows)
        .map(|row| (of(ColumnTarget::Start, start, row), of(ColumnTarget::End, end, row)))
        .collect()
}
