//! What the study measured.

use serde::{Deserialize, Serialize};

/// The name of the study.
pub(in crate::bench) const NAME: &str = "fields";

/// One problem on one grid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) problem: String,
    /// `cpu`, `cuda`, …
    pub(super) variant: String,
    pub(super) precision: String,
    pub(super) threads: usize,
    /// Cells along x, y and z.
    pub(super) shape: [usize; 3],
    pub(super) cells: usize,
    /// Steps that were timed.
    pub(super) sweeps: usize,
    /// Of a step: the median on a CPU; on a GPU the best mean of many \[s\].
    pub(super) seconds: f64,
    /// 10⁶ cells a second.
    pub(super) mpoints_per_second: f64,
    /// Every species read once and written once \[bytes\].
    pub(super) bytes_per_point: usize,
    /// \[GB/s\]
    pub(super) bandwidth: f64,
    /// Of a copy by as many threads in the same run \[GB/s\].
    pub(super) copy_bandwidth: f64,
    /// Of the two.
    pub(super) fraction_of_copy: f64,
}

impl Row {
    /// What tells a line of the plot from the others.
    pub(super) fn line(&self) -> String {
        let threads = if self.threads == 1 { "1 thread" } else { "all threads" };
        let what = match self.variant.strip_prefix("cpu") {
            Some(how) => format!("{threads}{how}"),
            None => self.variant.clone(),
        };
        format!("{}, {}, {what}", self.problem, self.precision)
    }

    pub(super) fn is_cube(&self) -> bool {
        self.shape.iter().all(|n| *n == self.shape[0])
    }
}
