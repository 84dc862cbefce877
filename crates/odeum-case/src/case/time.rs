//! `[time]`: the span, its segments, the times to keep states at, and what ends a system early.

use super::names;
use super::range::{self, Values};
use super::reader::{Field, Section};
use super::source_spans::SourceSpans;
use crate::model::Model;
use odeum_core::Argument;
use odeum_io::finding::Findings;

/// The whole section.
#[derive(Clone, Debug)]
pub struct TimeSpec {
    /// Start and end for all systems; a table may give each its own.
    pub span: Option<(f64, f64)>,
    /// Pieces of equal length the span is cut into; the method begins anew with each.
    pub segments: u32,
    /// Step size and history are kept over segments.
    pub warm_start: bool,
    /// Times to save at; `None` for the end alone.
    pub save: Option<Values>,
    /// What ends a system before its time.
    pub until: Option<Until>,
}

/// A state that ends a system where it comes to a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Until {
    /// Number of the state.
    pub component: usize,
    /// From below; else from above.
    pub rises: bool,
    /// Where the level is.
    pub level: Level,
}

/// Where the level of a system is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// At a value.
    At(f64),
    /// Relative to the initial state.
    By(f64),
}

impl Until {
    /// The level for a system that starts from this state.
    pub fn level(&self, start: &[f64]) -> f64 {
        self.level_from(start[self.component])
    }

    /// The level where the component starts from this value.
    pub(crate) fn level_from(&self, start: f64) -> f64 {
        match self.level {
            Level::At(level) => level,
            Level::By(change) => start + change,
        }
    }
}

impl TimeSpec {
    /// Without the section: the span of the problem.
    pub fn new(span: Option<(f64, f64)>) -> TimeSpec {
        TimeSpec { span, segments: 1, warm_start: false, save: None, until: None }
    }
}

/// Reads the section, where a table may give systems their `own_spans`; without a model, names are not looked up.
pub(super) fn read(
    section: &Section<'_>,
    model: Option<&Model>,
    own_spans: bool,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<TimeSpec> {
    let usual = model.and_then(|model| model.span);
    let span = match section.get("span") {
        Some(field) => {
            source_spans.put("span", field.source_span());
            read_span(&field).map(Some)
        }
        None => Some(usual),
    };
    let segments = match section.get("segments") {
        Some(field) => {
            source_spans.put("segments", field.source_span());
            field.whole(1, u64::from(u32::MAX)).map(|n| n as u32)
        }
        None => Some(1),
    };
    let warm_start = section.get("warm_start").map_or(Some(false), |field| {
        let warm = field.truth()?;
        if warm && !section.has("segments") {
            let message = "`warm_start` without `segments`";
            return field.refuse(message, "give the number of segments, or leave `warm_start` out");
        }
        Some(warm)
    });
    let save = match section.get("save") {
        None => Some(None),
        Some(field) => {
            source_spans.put("save_at", field.source_span());
            if field.is_list() {
                for (i, item) in field.list()?.iter().enumerate() {
                    source_spans.put(Argument::new("save_at").at(i), item.source_span());
                }
            }
            // A span beside those of a table is refused: that none has a span is said only where none is written.
            let is_of_all = section.has("span") || !own_spans;
            read_save(&field, span.flatten().filter(|_| is_of_all)).map(Some)
        }
    };
    let until = section.get("until").map(|field| {
        source_spans.put("until", field.source_span());
        read_until(&field, model, findings)
    });
    section.finish();
    Some(TimeSpec {
        span: span?,
        segments: segments?,
        warm_start: warm_start?,
        save: save?,
        until: until.map_or(Some(None), |until| until.map(Some))?,
    })
}

/// Times, or their number within the span.
fn read_save(field: &Field<'_>, span: Option<(f64, f64)>) -> Option<Values> {
    if field.is_table() && span.is_none() {
        let section = field.section()?;
        if !(section.has("from") || section.has("to")) {
            let message = format!(
                "`{}` has a number of times, but there is no span of all systems",
                field.name
            );
            return field
                .refuse(message, "give `from` and `to` as well, or list the times, as [1.0, 2.0]");
        }
    }
    range::read(field, span)
}

const UNTIL_HELP: &str =
    "as until = { T = { rises_by = 400.0 } }; also rises_to, falls_by, falls_to";

/// `{ T = { rises_by = 400.0 } }`.
fn read_until(field: &Field<'_>, model: Option<&Model>, findings: &Findings) -> Option<Until> {
    let entries = field.section()?.entries();
    let [(name, source_span, value)] = &entries[..] else {
        return field.refuse("a system ends by one state", UNTIL_HELP);
    };
    let section = value.section()?;
    let forms = [
        ("rises_by", true, Level::By as fn(f64) -> Level),
        ("rises_to", true, Level::At),
        ("falls_by", false, Level::By),
        ("falls_to", false, Level::At),
    ];
    let given: Vec<_> = forms
        .into_iter()
        .filter_map(|(key, rises, level)| Some((section.get(key)?, rises, level)))
        .collect();
    section.finish();
    let [(number, rises, level)] = &given[..] else {
        return value.refuse("one level is wanted", UNTIL_HELP);
    };
    let size = number.number()?;
    let level = level(if *rises { size } else { -size });
    let level = match level {
        Level::At(_) => Level::At(size),
        Level::By(change) if size > 0.0 => Level::By(change),
        Level::By(_) => return number.refuse("a change must be positive", UNTIL_HELP),
    };
    let component = findings.ok(names::state(model?, name, source_span))?;
    Some(Until { component, rises: *rises, level })
}

fn read_span(field: &Field<'_>) -> Option<(f64, f64)> {
    let items = field.list()?;
    let [start, end] = &items[..] else {
        let message = format!("a time span has two ends, here are {}", items.len());
        return field.refuse(message, "give span = [start, end]");
    };
    let (start, end) = (start.number(), end.number());
    let (start, end) = (start?, end?);
    if start == end {
        return field.refuse("the time span has no length", "start and end must differ");
    }
    Some((start, end))
}
