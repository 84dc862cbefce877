//! What steps of forward Euler on GPUs remember from batch to batch.

use odeum_cuda::Device;

/// Recorded steps, and a state to return to.
pub(super) struct StepCache<D: Device> {
    /// Many steps of a size that do not depend on the time, as one piece of work, from either of
    /// two places. Of fields so small that a step takes no longer than to start it.
    pub(super) recordings: Vec<(RecordingKey, D::Graph)>,
    pub(super) return_point: Option<ReturnPoint>,
    /// The device failed within a batch, and on the way back to where that began.
    pub(super) lost: bool,
    /// Time of all batches on the GPU, without what is only looked at \[s\].
    pub(super) seconds: f64,
}

/// What a recording is good for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RecordingKey {
    pub(super) h: f64,
    /// Where the field lies that it begins with: steps one by one exchange the two.
    pub(super) from: u64,
}

/// The state before step `at` of the sequence of steps of size `h` from `origin`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReturnPoint {
    pub(super) origin: f64,
    pub(super) h: f64,
    pub(super) at: u64,
}

impl<D: Device> Default for StepCache<D> {
    fn default() -> StepCache<D> {
        StepCache { recordings: Vec::new(), return_point: None, lost: false, seconds: 0.0 }
    }
}
