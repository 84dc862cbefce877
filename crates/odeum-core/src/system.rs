//! A system of ordinary differential equations.

use crate::pattern::Pattern;
use crate::range::ValidRange;
use crate::real::Real;

/// A system y' = f(t, y, p), said once for every backend.
///
/// ```
/// use odeum_core::{Real, System};
///
/// /// Lotka–Volterra: prey x, predator y; p = (growth, predation, death, conversion).
/// struct LotkaVolterra;
///
/// impl System for LotkaVolterra {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn n_params(&self) -> usize {
///         4
///     }
///     #[inline(always)]
///     fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
///         let meetings = y[0] * y[1];
///         dydt[0] = p[0] * y[0] - p[1] * meetings;
///         dydt[1] = p[3] * meetings - p[2] * y[1];
///     }
/// }
/// ```
///
/// # Speed
///
/// [`rhs`](System::rhs) and every function it calls want `#[inline(always)]`. The SIMD
/// instructions of a lane pack become machine instructions only inside a function compiled for
/// that instruction set; a right-hand side left out of line calls a function for every addition
/// instead, some ten times slower and with the same result. The solver times the right-hand side
/// when it is given a new system and adds a warning to the solution when it looks like that.
pub trait System: Sync {
    /// True for a system that is interpreted, not compiled: it then runs over wide blocks of
    /// lanes, so that choosing an operation costs little beside doing it.
    const INTERPRETED: bool = false;

    /// Number of equations n.
    fn dim(&self) -> usize;

    /// Number of parameters m of each system.
    fn n_params(&self) -> usize {
        0
    }

    /// The right-hand side: from the time `t`, the state `y` \[n\] and the parameters `p` \[m\],
    /// all n components of `dydt` (whose old content means nothing).
    ///
    /// Choose between values with [`Real::select`]; a loop whose length depends on `y` cannot
    /// be written. Constants come from [`Real::lit`].
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]);

    /// An upper bound of the spectral radius of the Jacobian ∂f/∂y, for stabilised methods
    /// (RKC). Without one they estimate it by a nonlinear power method.
    ///
    /// Where it is NaN or infinite a system ends as `Status::NonFinite`, whatever its right-hand side gives; where it is negative, as
    /// `Status::SpectralRadius`.
    #[inline(always)]
    fn spectral_radius<R: Real>(&self, _t: R, _y: &[R], _p: &[R]) -> Option<R> {
        None
    }

    /// As [`spectral_radius`](System::spectral_radius), with a workspace as for
    /// [`rhs_in`](System::rhs_in). Solvers call this one.
    #[inline(always)]
    fn spectral_radius_in<R: Real>(&self, t: R, y: &[R], p: &[R], _work: &mut [R]) -> Option<R> {
        self.spectral_radius(t, y, p)
    }

    /// How many values of workspace [`rhs_in`](System::rhs_in) wants.
    fn workspace(&self) -> usize {
        0
    }

    /// As [`rhs`](System::rhs), with a workspace of [`workspace`](System::workspace) values
    /// whose content means nothing before and after. Solvers call this one; a system that needs
    /// no memory of its own leaves it alone.
    #[inline(always)]
    fn rhs_in<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R], _work: &mut [R]) {
        self.rhs(t, y, p, dydt);
    }

    /// Which entries of the Jacobian ∂f/∂y may differ from zero, of a system that computes its
    /// own by [`jacobian_in`](System::jacobian_in). `None`: implicit methods derive it from the
    /// recorded right-hand side.
    fn jacobian_pattern(&self) -> Option<&Pattern> {
        None
    }

    /// The Jacobian ∂f/∂y, entry by entry in the order of
    /// [`jacobian_pattern`](System::jacobian_pattern) \[nnz\], and the derivative ∂f/∂t \[n\];
    /// workspace as for [`rhs_in`](System::rhs_in). Called only where there is a pattern.
    ///
    /// Nothing compares it with `rhs`, and a wrong entry costs accuracy, not success: the answers of Rosenbrock methods that are no
    /// W-methods, and of exponential ones, rest on it. [`Graph::jacobian`](crate::Graph::jacobian) of
    /// [`Graph::trace`](crate::Graph::trace) gives the exact entries to compare with, and
    /// [`Graph::time_derivative`](crate::Graph::time_derivative) ∂f/∂t.
    ///
    /// # Panics
    ///
    /// Unless a system with a pattern gives its own.
    #[inline(always)]
    fn jacobian_in<R: Real>(
        &self,
        _t: R,
        _y: &[R],
        _p: &[R],
        _jacobian: &mut [R],
        _dfdt: &mut [R],
        _work: &mut [R],
    ) {
        panic!("a system with `jacobian_pattern` gives `jacobian_in` too");
    }

    /// [`rhs_in`](System::rhs_in) and [`jacobian_in`](System::jacobian_in) at one point, for a
    /// system that has most of the one when it has computed the other. Called only where there
    /// is a pattern.
    #[inline(always)]
    fn rhs_and_jacobian_in<R: Real>(
        &self,
        t: R,
        y: &[R],
        p: &[R],
        dydt: &mut [R],
        jacobian: &mut [R],
        dfdt: &mut [R],
        work: &mut [R],
    ) {
        self.rhs_in(t, y, p, dydt, work);
        self.jacobian_in(t, y, p, jacobian, dfdt, work);
    }

    /// The components whose values have a range in which the model holds, with these parameters
    /// or any others; at most one range of each kind for a component.
    fn ranges(&self) -> Vec<ValidRange> {
        Vec::new()
    }

    /// Names of the components, in order; what is left out is called `y0, y1, …`.
    fn state_names(&self) -> Vec<String> {
        (0..self.dim()).map(|i| format!("y{i}")).collect()
    }

    /// Names of the parameters, in order; what is left out is called `p0, p1, …`.
    fn param_names(&self) -> Vec<String> {
        (0..self.n_params()).map(|i| format!("p{i}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern without what fills it.
    struct Half(Pattern);

    impl System for Half {
        fn dim(&self) -> usize {
            1
        }
        fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
            dydt[0] = -y[0];
        }
        fn jacobian_pattern(&self) -> Option<&Pattern> {
            Some(&self.0)
        }
    }

    #[test]
    #[should_panic(expected = "gives `jacobian_in` too")]
    fn a_pattern_alone_is_no_jacobian() {
        let half = Half(Pattern::from_rows(1, &[vec![0]]));
        let [mut slope, mut jacobian, mut dfdt] = [[0.0]; 3];
        half.rhs_and_jacobian_in(0.0, &[1.0], &[], &mut slope, &mut jacobian, &mut dfdt, &mut []);
    }
}
