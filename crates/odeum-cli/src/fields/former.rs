//! What an earlier run has written beside its result, of a field or of an ensemble.

use super::target::others;
use crate::job::is_read;
use odeum_case::FieldCase;
use odeum_io::{Target, ensemble, former};
use std::path::PathBuf;

/// The files and folders of a new run, and with them those of an earlier one, whose names end so: neither belongs to the new
/// result. What the case is read from, the `inputs`, is not among them, nor what a stopped run has finished.
pub(crate) fn with_former(
    mut own: Vec<PathBuf>,
    ends: &[String],
    target: &Target,
    inputs: &[PathBuf],
) -> Vec<PathBuf> {
    own.extend(ends.iter().map(|end| target.file(end)));
    own.retain(|file| !is_read(inputs, file) && *file != target.partial());
    own
}

/// Removes what an earlier run has written, so that nothing of it stays among the new files: its result first, which vouches for
/// the others and from which a run would go on. Where nothing lies or comes beside the result it stays until the new one is there.
pub(super) fn clear(case: &FieldCase, target: &Target) {
    let mut files = others(case, target);
    let is_alone = files.is_empty();
    // A run that was killed early has left nothing that tells of its states.
    files.push(target.file("frames"));
    let ends = former::ends(target).unwrap_or_default();
    let old = with_former(files, &ends, target, &case.inputs);
    let _ = std::fs::remove_file(target.checkpoint());
    if !is_alone || old.iter().any(|path| path.exists()) {
        let _ = std::fs::remove_file(target.npz());
    }
    former::remove(&old);
    ensemble::remove_partial(target);
}
