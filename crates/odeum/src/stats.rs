//! What the integration of one system cost.

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
}

impl Stats {
    /// Accepted and rejected steps together.
    pub fn attempts(&self) -> u32 {
        self.steps + self.rejected
    }
}
