//! What an earlier run has written beside its result, of a field or of an ensemble.

use super::target::others;
use crate::job::is_read;
use odeum_case::{Described, FieldCase, read_source};
use odeum_io::{Findings, Source, Target, ensemble, former};
use std::path::{Path, PathBuf};

/// The files and folders of a new run, and with them those that the case in the result of the earlier one names: neither belongs
/// to the new result. What the case at `path` is read from, the `inputs`, is not among them.
pub(crate) fn with_former(
    mut own: Vec<PathBuf>,
    target: &Target,
    path: &Path,
    inputs: &[PathBuf],
) -> Vec<PathBuf> {
    let earlier = former::case(&target.npz()).and_then(|text| {
        let source = Source::new(target.npz().display().to_string(), text);
        read_source(&source, path, None, &Findings::default())
    });
    own.extend(match earlier {
        Some(Described::Ensemble(case)) => ensemble::files(target, &case.output.formats),
        Some(Described::Field(case)) => others(&case, target),
        None => Vec::new(),
    });
    own.retain(|file| !is_read(inputs, file));
    own
}

/// Removes what an earlier run has written, so that nothing of it stays among the new files: its result first, which vouches for
/// the others and from which a run would go on. Where nothing lies or comes beside the result it stays until the new one is there.
pub(super) fn clear(case: &FieldCase, target: &Target) {
    let mut files = others(case, target);
    let is_alone = files.is_empty();
    // A run that ended early has left no result that tells of its states.
    files.push(target.file("frames"));
    let old = with_former(files, target, &case.path, &case.inputs);
    let _ = std::fs::remove_file(target.checkpoint());
    if !is_alone || old.iter().any(|path| path.exists()) {
        let _ = std::fs::remove_file(target.npz());
    }
    former::remove(&old);
}
