//! The coefficients of an explicit Runge–Kutta pair.

/// Coefficients of an explicit pair of s stages, in the notation of Butcher.
#[derive(Debug, PartialEq)]
pub struct Tableau {
    /// Short name.
    pub name: &'static str,
    /// Order of the solution that is continued.
    pub order: u32,
    /// Order of the embedded solution: the error estimate is h^(order + 1) of this.
    pub embedded_order: u32,
    /// Stage times cᵢ [s].
    pub c: &'static [f64],
    /// Rows of aᵢⱼ for j < i; row 0 is empty.
    pub a: &'static [&'static [f64]],
    /// Weights bᵢ [s].
    pub b: &'static [f64],
    /// Error weights bᵢ − b̂ᵢ [s].
    pub e: &'static [f64],
    /// Where the coefficients come from.
    pub reference: &'static str,
}

impl Tableau {
    /// Number of stages s.
    pub fn stages(&self) -> usize {
        self.c.len()
    }

    /// True when the last stage is the right-hand side at the new state (first same as last), so
    /// that an accepted step needs one evaluation fewer.
    pub fn is_fsal(&self) -> bool {
        let last = self.stages() - 1;
        self.c[last] == 1.0 && self.b[last] == 0.0 && self.a[last] == &self.b[..last]
    }
}
