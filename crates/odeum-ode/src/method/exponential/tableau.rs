//! The coefficients of an exponential method.

/// w φₖ(c z).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// k, at least 1.
    pub k: u32,
    /// c, in (0, 1].
    pub scale: f64,
    /// w.
    pub weight: f64,
}

/// A sum of terms.
pub type Function = &'static [Term];

/// Coefficients of an exponential Rosenbrock method of s stages, all of them functions of
/// z = hJ. With Dᵢ = f(Uᵢ) − f(y) − J (Uᵢ − y), and f(y) for D₁,
///
/// Uᵢ = y + h Σ aᵢⱼ(hJ) Dⱼ for j < i,  y⁺ = y + h Σ bⱼ(hJ) Dⱼ.
///
/// Hochbruck & Ostermann, Acta Numerica 19 (2010) 209, sec. 2.4.
#[derive(Debug, PartialEq)]
pub struct Tableau {
    /// Short name.
    pub name: &'static str,
    /// Order of the solution that is continued.
    pub order: u32,
    /// Order of the embedded solution: the error estimate is h^(order + 1) of this.
    pub embedded_order: u32,
    /// Stage times cᵢ \[s\], zero the first alone.
    pub c: &'static [f64],
    /// Rows of aᵢⱼ for j < i; row 0 is empty.
    pub a: &'static [&'static [Function]],
    /// Weights bⱼ \[s\].
    pub b: &'static [Function],
    /// Error weights eⱼ = bⱼ − b̂ⱼ \[s\].
    pub e: &'static [Function],
    /// Where the coefficients come from.
    pub reference: &'static str,
}

impl Tableau {
    /// Number of stages s.
    pub fn stages(&self) -> usize {
        self.c.len()
    }

    /// What becomes of h Dⱼ: its function in each sum. The sums are the increments of the stages
    /// 2, …, s, that of the solution, and the error estimate: s + 1 in all.
    pub(super) fn functions_of(&self, j: usize) -> Vec<Function> {
        let stages = (1..self.stages()).map(|i| self.a[i].get(j).copied().unwrap_or(&[]));
        stages.chain([self.b[j], self.e[j]]).collect()
    }
}
