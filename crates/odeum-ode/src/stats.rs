//! What the integration of one system cost.

use odeum_core::memory::Zeroable;

/// Counts for one system; names and meaning as in SciPy where it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stats {
    /// Accepted steps.
    pub steps: u32,
    /// Rejected step attempts.
    pub rejected: u32,
    /// Evaluations of the right-hand side, those for spectral radii included.
    pub nfev: u32,
    /// Evaluations of the right-hand side spent on spectral radii (RKC).
    pub nfev_radius: u32,
    /// Evaluations of the Jacobian.
    pub njev: u32,
    /// LU factorisations; a complex one counts as one.
    pub nlu: u32,
    /// Rejections by the growth guard of implicit methods, counted in `rejected` too.
    pub guarded: u32,
    /// Accepted steps whose end lies outside the range of the model's data
    /// ([`System::ranges`](odeum_core::System::ranges)).
    pub outside: u32,
}

// SAFETY: all bits zero are counts of nothing.
unsafe impl Zeroable for Stats {}

impl Stats {
    /// Number of counts.
    pub const COUNTS: usize = 8;

    /// The names of the counts, in the order of [`Stats::to_array`].
    pub const NAMES: [&str; Stats::COUNTS] =
        ["steps", "rejected", "nfev", "nfev_radius", "njev", "nlu", "guarded", "outside"];

    /// Counts of explicit methods on systems that hold everywhere: the first ones. All others are zero.
    pub(crate) const OF_EXPLICIT: usize = 4;

    /// The counts in the order of [`Stats::NAMES`].
    pub fn to_array(self) -> [u32; Stats::COUNTS] {
        let Stats { steps, rejected, nfev, nfev_radius, njev, nlu, guarded, outside } = self;
        [steps, rejected, nfev, nfev_radius, njev, nlu, guarded, outside]
    }

    /// The inverse of [`Stats::to_array`].
    pub fn from_array(counts: [u32; Stats::COUNTS]) -> Stats {
        let [steps, rejected, nfev, nfev_radius, njev, nlu, guarded, outside] = counts;
        Stats { steps, rejected, nfev, nfev_radius, njev, nlu, guarded, outside }
    }

    /// Accepted and rejected steps together.
    pub fn attempts(&self) -> u32 {
        self.steps + self.rejected
    }
}
