//! Where a run of a field begins: at the start of the case, at a checkpoint, or at a result.

use super::finished;
use super::former;
use super::movie::Movie;
use super::target;
use super::writer::Writer;
use crate::args::RunArgs;
use crate::exit::Exit;
use crate::job::{note_no_checkpoint, note_resumed};
use crate::report::{Exact, Style, note, show};
use odeum_case::FieldPlan;
use odeum_fields::{Checkpoint, Clock, Field, Precision};
use odeum_io::checkpoint::field::{self as checkpoint, Header};
use odeum_io::file::is_there;
use odeum_io::{Finding, Target};
use std::path::PathBuf;

/// Where a run begins.
pub(super) struct Beginning<T: Precision> {
    /// Of the run that this one goes on with.
    pub(super) header: Option<Header>,
    pub(super) start: Checkpoint<T>,
}

/// Finds it, and makes the folder ready for it and the files that it writes beside its result, movies among them; `field` is that of the
/// start of the case. What is wrong is told before anything is removed.
pub(super) fn find<T: Precision>(
    plan: &FieldPlan<'_>,
    field: Field<T>,
    args: &RunArgs,
    target: &Target,
    movie: &Movie,
) -> Result<Beginning<T>, Finding> {
    let case = plan.case;
    let others = target::others(case, target, movie);
    let Beginning { mut header, start } = read(plan, field, args, target)?;
    if start.clock.t > case.time.until {
        let message = format!("the run has gone on to t = {} already", start.clock.t);
        return Err(match case.source_spans.find("end") {
            Some(source_span) => source_span.error(message),
            None => Finding::error(message).in_file(case.source.name()),
        }
        .help("give a later time.until, or start anew with --overwrite"));
    }
    if args.resume && !args.quiet {
        tell(plan, header.as_ref(), start.clock.t);
    }
    match &mut header {
        Some(header) => {
            go_on_without(Writer::<T>::lost(case, target, header)?, args)?;
            let asked_for = [others, movie.wanted_files(case, target)].concat();
            show(&left_behind(header, &asked_for, target, start.clock.t), Exit::BadInput);
        }
        None if args.overwrite => former::clear(&others, target, &case.inputs),
        None => {}
    }
    Ok(Beginning { header, start })
}

/// Reads what the run goes on from, if it does.
fn read<T: Precision>(
    plan: &FieldPlan<'_>,
    field: Field<T>,
    args: &RunArgs,
    target: &Target,
) -> Result<Beginning<T>, Finding> {
    let (case, identity) = (plan.case, plan.identity());
    let (checkpoint, result) = (target.checkpoint(), target.npz());
    // A run that was stopped has gone further than the result it went on from.
    let (header, start) = if args.resume && checkpoint.exists() {
        drop(field);
        checkpoint::read(&checkpoint, &case.problem, &identity)?
    } else if args.resume && result.exists() {
        drop(field);
        finished::read(&result, case, &identity)?
    } else {
        let start = Checkpoint { field, clock: Clock::at(case.time.start) };
        return Ok(Beginning { header: None, start });
    };
    Ok(Beginning { header: Some(header), start })
}

/// Says where a run that was to go on begins.
fn tell(plan: &FieldPlan<'_>, header: Option<&Header>, t: f64) {
    let Some(header) = header else { return note_no_checkpoint() };
    note_resumed(&format!("from t = {}", Exact(t)));
    if header.device != plan.kind_of_device() {
        note(&format!(
            "{} it was begun on {}: from here on the result agrees with that of an \
             uninterrupted run to rounding",
            Style::stderr().bold("note:"),
            header.device
        ));
    }
}

/// Takes from a run the files that are not `asked_for` any more, and tells of those that are there: they end where it goes on.
fn left_behind(
    header: &mut Header,
    asked_for: &[PathBuf],
    target: &Target,
    t: f64,
) -> Vec<Finding> {
    let files = std::mem::take(&mut header.files);
    let (own, left): (Vec<String>, Vec<String>) =
        files.into_iter().partition(|end| asked_for.contains(&target.file(end)));
    header.files = own;
    let left = left.iter().map(|end| target.file(end)).filter(|path| is_there(path));
    let told = left.map(|path| {
        Finding::warning(
            "the run goes on without a file that it has begun, which [output] has no more",
        )
        .in_file(path.display().to_string())
        .found(format!("it ends at about t = {}", Exact(t)))
        .help("remove it; one up to the end is written by a run that starts anew, with --overwrite")
    });
    told.collect()
}

/// Files that are missing end a run that would go on, unless the user does without them.
fn go_on_without(mut lost: Vec<Finding>, args: &RunArgs) -> Result<(), Finding> {
    if !args.allow_missing
        && let Some(last) = lost.pop()
    {
        show(&lost, Exit::BadInput);
        return Err(last);
    }
    let lost: Vec<Finding> = lost.into_iter().map(Finding::into_warning).collect();
    show(&lost, Exit::BadInput);
    Ok(())
}
