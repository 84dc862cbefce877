//! What an earlier run has written beside its result, of a field or of an ensemble.

use crate::job::is_read;
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

/// Removes what an earlier run has written and the `others` that the new one writes beside its result, so that nothing old stays
/// among the new files: the result first, which vouches for the others and from which a run would go on. Where nothing lies or comes beside the result it stays until the new one is there.
pub(super) fn clear(others: &[PathBuf], target: &Target, inputs: &[PathBuf]) {
    // A run that was killed early has left nothing that tells of its states.
    let ends = former::ends(target).unwrap_or_else(|| vec!["frames".to_owned()]);
    let old = with_former(others.to_vec(), &ends, target, inputs);
    let _ = std::fs::remove_file(target.checkpoint());
    if !others.is_empty() || old.iter().any(|path| path.exists()) {
        let _ = std::fs::remove_file(target.npz());
    }
    former::remove(&old);
    ensemble::remove_partial(target);
}
