//! The document a study writes.

use super::machine::Machine;
use odeum_io::Finding;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Everything a study measured.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    /// Name of the study.
    pub(crate) bench: String,
    pub(crate) machine: Machine,
    pub(crate) rows: Vec<Row>,
}

/// The document of an earlier run of the study `bench`; `study_of` says of which study one is.
pub(crate) fn read<D: DeserializeOwned>(
    path: &Path,
    bench: &str,
    study_of: fn(&D) -> &str,
) -> Result<D, Finding> {
    let wrong = |message: String| Finding::error(message).in_file(path.display().to_string());
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(format!("cannot read the document: {error}")))?;
    let document: D = serde_json::from_str(&text).map_err(|error| {
        wrong(format!("no document of a study: {error}"))
            .help(format!("write one with odeum bench {bench} --json FILE"))
    })?;
    let study = study_of(&document);
    if study != bench {
        let found = format!("a document of the study `{study}`");
        return Err(wrong(found).help(format!("give one of the study `{bench}`")));
    }
    Ok(document)
}

/// One variant on one ensemble.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) workload: String,
    /// `scalar`, `lanes`, `tape`, `cuda…`.
    pub(crate) variant: String,
    /// `cpu`, `cuda:0`, …
    pub(crate) device: String,
    pub(crate) precision: String,
    /// Threads of the CPU that computed.
    pub(crate) threads: usize,
    pub(crate) systems: usize,
    /// Median of the runs \[s\].
    pub(crate) seconds: f64,
    pub(crate) runs: usize,
    pub(crate) systems_per_second: f64,
    pub(crate) rhs_per_second: f64,
    /// Largest error of the first systems against a tight reference, relative to max(1, |y|).
    pub(crate) max_error: f64,
    /// Divergence measure D of lockstep execution.
    pub(crate) divergence: f64,
    /// Fraction of lane work that advanced a system, where it is measured.
    pub(crate) busy_lanes: Option<f64>,
    /// Operations per second over the most the hardware can issue, where that is known.
    pub(crate) fraction_of_limit: Option<f64>,
    /// Systems that did not reach their end.
    pub(crate) failed: usize,
}
