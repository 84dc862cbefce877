//! What F gains beside Laplacians and reactions, as rows are written.

use super::gather::At;
use super::laplacian::Nine;
use super::row;
use super::scratch::Origin;
use crate::plan::{BoundVelocity, Kernel};
use crate::problem::Advection;
use crate::problem::boundaries::Ghost;
use odeum_core::{Lanes, Scalar};

/// Gains along rows.
pub(super) trait Gain<L: Lanes> {
    /// Asserts that there are gains of this many values, whole packs.
    fn check(&self, wide: usize);

    /// A row begins at value `at`.
    #[inline(always)]
    fn begin(&mut self, _at: usize) {}

    /// F with the gains at `x`, of which so many lanes are cells.
    ///
    /// # Safety
    ///
    /// The pack at `x` must lie within what was [checked](Gain::check), in the row that has begun.
    unsafe fn added(&self, x: usize, cells: usize, rhs: L) -> L;
}

/// None.
pub(super) struct Nothing;

impl<L: Lanes> Gain<L> for Nothing {
    #[inline(always)]
    fn check(&self, _wide: usize) {}

    #[inline(always)]
    unsafe fn added(&self, _x: usize, _cells: usize, rhs: L) -> L {
        rhs
    }
}

/// Those that have been computed before, if there are any.
pub(super) struct Precomputed<'a, T>(pub(super) Option<&'a [T]>);

impl<L: Lanes> Gain<L> for Precomputed<'_, L::Scalar> {
    #[inline(always)]
    fn check(&self, wide: usize) {
        assert!(self.0.is_none_or(|gains| wide <= gains.len()));
    }

    #[inline(always)]
    unsafe fn added(&self, x: usize, _cells: usize, rhs: L) -> L {
        match self.0 {
            // SAFETY: the caller's promise.
            Some(gains) => rhs + unsafe { row::within::<L>(gains, x) },
            None => rhs,
        }
    }
}

/// What a velocity that is the same everywhere brings, upwind, from the rows of the Laplacian:
/// −∇·(w u), as [`transport::upwind`](super::transport::upwind) has it.
pub(super) struct Advected<'a, L: Lanes> {
    nx: usize,
    here: &'a [L::Scalar],
    from_y: &'a [L::Scalar],
    from_z: &'a [L::Scalar],
    speed: [L; 3],
    /// Whether it comes from the low end along x, and the ghost there, or at the high end.
    forward: bool,
    end: &'a Ghost<L::Scalar>,
    ghost: L::Scalar,
    begin: usize,
}

/// Whether a species is advected by such a velocity alone, and all cells near these rows belong to the
/// domain.
#[inline(always)]
pub(super) fn is_advected<T: Scalar>(origin: &Origin<'_, T>, s: usize, at: At) -> bool {
    let plan = origin.plan;
    matches!(
        (&plan.kernel, &plan.velocity),
        (Kernel::Diffusion(_), Some(BoundVelocity::Uniform(_)))
    ) && plan.advection == Advection::Upwind
        && !plan.meets_boundaries
        && plan.advected[s]
        && plan.diffusion[s].is_none()
        && origin.solids(at).is_none()
}

impl<'a, L: Lanes> Advected<'a, L> {
    /// `speed` is w/h along each axis.
    #[inline(always)]
    pub(super) fn new(nine: &Nine<'a, L::Scalar>, speed: [f64; 3]) -> Advected<'a, L> {
        let forward = speed[0] > 0.0;
        Advected {
            nx: nine.nx,
            here: nine.rows[4],
            from_y: nine.rows[if speed[1] > 0.0 { 3 } else { 5 }],
            from_z: nine.rows[if speed[2] > 0.0 { 1 } else { 7 }],
            speed: speed.map(|speed| L::lit(speed.abs())),
            forward,
            end: &nine.ends[usize::from(!forward)],
            ghost: L::Scalar::from_f64(0.0),
            begin: 0,
        }
    }
}

impl<L: Lanes> Gain<L> for Advected<'_, L> {
    #[inline(always)]
    fn check(&self, wide: usize) {
        assert!([self.here, self.from_y, self.from_z].iter().all(|row| wide <= row.len()));
    }

    #[inline(always)]
    fn begin(&mut self, at: usize) {
        let (row, last) = (&self.here[at..at + self.nx], self.nx - 1);
        let (mirror, wrap) = if self.forward { (0, last) } else { (last, 0) };
        self.ghost = row::end(row, self.end, mirror, wrap);
        self.begin = at;
    }

    #[inline(always)]
    unsafe fn added(&self, x: usize, cells: usize, rhs: L) -> L {
        // SAFETY: the caller's promise.
        let here: L = unsafe { row::within(self.here, x) };
        let from_x = if self.forward {
            match x == self.begin {
                true => here.shifted_up(L::splat(self.ghost)),
                // SAFETY: there is a cell before.
                false => unsafe { row::within(self.here, x - 1) },
            }
        } else if x + cells == self.begin + self.nx {
            let mut ends = here.shifted_down(here);
            ends.set_lane(cells - 1, self.ghost);
            ends
        } else {
            // SAFETY: there is another pack.
            unsafe { row::within(self.here, x + 1) }
        };
        // SAFETY: the caller's promise.
        let (from_y, from_z): (L, L) =
            unsafe { (row::within(self.from_y, x), row::within(self.from_z, x)) };
        let [vx, vy, vz] = self.speed;
        let along_z = (from_z - here) * vz;
        rhs + (from_x - here).mul_add(vx, (from_y - here).mul_add(vy, along_z))
    }
}
