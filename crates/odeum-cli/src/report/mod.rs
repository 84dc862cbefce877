//! What the terminal shows: findings with their source, tables, progress.

mod progress;
mod show;
mod snippet;
mod streams;
mod style;
mod summary;
mod table;

pub(crate) use odeum_io::number::{Exact, bytes, count, duration, rounded, significant};
pub(crate) use progress::{Progress, TICK};
pub(crate) use show::{show, tell};
pub(crate) use snippet::report;
pub(crate) use streams::{ended, heard, is_heard, note, say};
pub(crate) use style::Style;
pub(crate) use summary::{Outcome, print_summary};
pub(crate) use table::{Align, Table, wrap};
