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
    /// Evaluations of the Jacobian.
    pub njev: u32,
    /// LU factorisations; a complex one counts as one.
    pub nlu: u32,
}

impl Stats {
    /// `count` empty statistics, in memory that is not touched before it is used: a million
    /// systems have 24 MB of them, and the first write to a page is the slow one.
    pub(crate) fn zeros(count: usize) -> Vec<Stats> {
        let mut zeros = std::mem::ManuallyDrop::new(vec![[0_u32; 6]; count]);
        // SAFETY: `Stats` is six `u32` in C layout: same size, same alignment, any bits valid.
        unsafe { Vec::from_raw_parts(zeros.as_mut_ptr().cast(), zeros.len(), zeros.capacity()) }
    }

    /// Accepted and rejected steps together.
    pub fn attempts(&self) -> u32 {
        self.steps + self.rejected
    }
}
