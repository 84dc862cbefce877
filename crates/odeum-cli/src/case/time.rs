//! `[time]`: the span, its restarts, and the times to keep states at.

use super::range;
use super::reader::{Field, Section};
use super::spots::Spots;
use odeum::SaveAt;

/// The whole section.
#[derive(Clone, Debug)]
pub(crate) struct TimeSpec {
    /// Start and end for all systems; a table may give each its own.
    pub(crate) span: Option<(f64, f64)>,
    pub(crate) restarts: u32,
    pub(crate) warm_start: bool,
    pub(crate) save_at: SaveAt,
}

impl TimeSpec {
    /// Without the section: the span of the problem.
    pub(crate) fn new(span: Option<(f64, f64)>) -> TimeSpec {
        TimeSpec { span, restarts: 1, warm_start: false, save_at: SaveAt::End }
    }
}

/// Reads the section; `usual` is the span of the problem itself.
pub(crate) fn read(
    section: &Section<'_>,
    usual: Option<(f64, f64)>,
    spots: &mut Spots,
) -> Option<TimeSpec> {
    let span = match section.get("span") {
        Some(field) => {
            spots.put("span", field.spot());
            read_span(&field).map(Some)
        }
        None => Some(usual),
    };
    let restarts = match section.get("restarts") {
        Some(field) => field.whole(1, u64::from(u32::MAX)).map(|n| n as u32),
        None => Some(1),
    };
    let warm_start = section.get("warm_start").map_or(Some(false), |field| field.truth());
    let save_at = match section.get("save") {
        None => Some(SaveAt::End),
        Some(field) => {
            spots.put("save_at", field.spot());
            if field.is_list() {
                for (i, item) in field.list()?.iter().enumerate() {
                    spots.put(format!("save_at[{i}]"), item.spot());
                }
            }
            range::read(&field, span.flatten()).map(SaveAt::Times)
        }
    };
    section.finish();
    Some(TimeSpec { span: span?, restarts: restarts?, warm_start: warm_start?, save_at: save_at? })
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
