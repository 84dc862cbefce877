//! The right-hand side of a system over one kind of lanes.
//!
//! Steppers ask a [`Rhs`] for slopes. Where speed counts most that is the system itself, [`Inlined`] into
//! the stepper, which is then compiled anew for each system and kind of lanes. Elsewhere it is an
//! [`Equations`] behind a pointer: loop, stepper and linear algebra know no system and are compiled once for
//! each kind of lanes, and a system adds to a program what [`Erased`] has of it, each function out of line
//! and compiled for the instruction set. Both give the same bits.

use crate::method::linearised::Derivatives;
use crate::method::stepper::Point;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, System};

/// What explicit methods ask of a system.
pub(crate) trait Rhs<L: Lanes> {
    /// Number of equations n.
    fn dim(&self) -> usize;

    /// Values of workspace the functions below want.
    fn workspace(&self) -> usize;

    /// f at a point, into `out` \[n\].
    fn slope(&self, at: &Point<L>, out: &mut [L], work: &mut [L]);

    /// The bound that the system has of its spectral radius.
    fn spectral_radius(&self, at: &Point<L>, work: &mut [L]) -> Option<L>;
}

/// What implicit methods ask for besides, of a system that has a Jacobian of its own.
pub(crate) trait Equations<L: Lanes>: Rhs<L> {
    /// ∂f/∂y and ∂f/∂t at a point.
    fn jacobian(&self, at: &Point<L>, out: &mut Derivatives<L>, work: &mut [L]);

    /// f, ∂f/∂y and ∂f/∂t at a point.
    fn slope_and_jacobian(
        &self,
        at: &Point<L>,
        slope: &mut [L],
        out: &mut Derivatives<L>,
        work: &mut [L],
    );
}

/// A system whose right-hand side becomes part of the stepper.
pub(crate) struct Inlined<'a, S>(pub(crate) &'a S);

impl<L: Lanes, S: System> Rhs<L> for Inlined<'_, S> {
    #[inline(always)]
    fn dim(&self) -> usize {
        self.0.dim()
    }

    #[inline(always)]
    fn workspace(&self) -> usize {
        self.0.workspace()
    }

    #[inline(always)]
    fn slope(&self, at: &Point<L>, out: &mut [L], work: &mut [L]) {
        self.0.rhs_in(at.t, at.y, at.p, out, work);
    }

    #[inline(always)]
    fn spectral_radius(&self, at: &Point<L>, work: &mut [L]) -> Option<L> {
        self.0.spectral_radius_in(at.t, at.y, at.p, work)
    }
}

/// A system as it is called through a pointer.
pub(crate) struct Erased<'a, S>(pub(crate) &'a S);

impl<L: Lanes, S: System> Rhs<L> for Erased<'_, S> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn workspace(&self) -> usize {
        self.0.workspace()
    }

    fn slope(&self, at: &Point<L>, out: &mut [L], work: &mut [L]) {
        L::outline(Slope { system: self.0, at, out, work });
    }

    fn spectral_radius(&self, at: &Point<L>, work: &mut [L]) -> Option<L> {
        let mut bound = None;
        L::outline(Radius { system: self.0, at, bound: &mut bound, work });
        bound
    }
}

impl<L: Lanes, S: System> Equations<L> for Erased<'_, S> {
    fn jacobian(&self, at: &Point<L>, out: &mut Derivatives<L>, work: &mut [L]) {
        L::outline(Own { system: self.0, at, out, work });
    }

    fn slope_and_jacobian(
        &self,
        at: &Point<L>,
        slope: &mut [L],
        out: &mut Derivatives<L>,
        work: &mut [L],
    ) {
        L::outline(Both { system: self.0, at, slope, out, work });
    }
}

struct Slope<'a, L, S> {
    system: &'a S,
    at: &'a Point<'a, L>,
    out: &'a mut [L],
    work: &'a mut [L],
}

impl<L: Lanes, S: System> Outlined for Slope<'_, L, S> {
    #[inline(always)]
    fn run(self) {
        let Slope { system, at, out, work } = self;
        system.rhs_in(at.t, at.y, at.p, out, work);
    }
}

struct Radius<'a, L, S> {
    system: &'a S,
    at: &'a Point<'a, L>,
    bound: &'a mut Option<L>,
    work: &'a mut [L],
}

impl<L: Lanes, S: System> Outlined for Radius<'_, L, S> {
    #[inline(always)]
    fn run(self) {
        let Radius { system, at, bound, work } = self;
        *bound = system.spectral_radius_in(at.t, at.y, at.p, work);
    }
}

struct Own<'a, L, S> {
    system: &'a S,
    at: &'a Point<'a, L>,
    out: &'a mut Derivatives<L>,
    work: &'a mut [L],
}

impl<L: Lanes, S: System> Outlined for Own<'_, L, S> {
    #[inline(always)]
    fn run(self) {
        let Own { system, at, out, work } = self;
        system.jacobian_in(at.t, at.y, at.p, &mut out.jacobian, &mut out.dfdt, work);
    }
}

struct Both<'a, L, S> {
    system: &'a S,
    at: &'a Point<'a, L>,
    slope: &'a mut [L],
    out: &'a mut Derivatives<L>,
    work: &'a mut [L],
}

impl<L: Lanes, S: System> Outlined for Both<'_, L, S> {
    #[inline(always)]
    fn run(self) {
        let Both { system, at, slope, out, work } = self;
        let Derivatives { jacobian, dfdt } = out;
        system.rhs_and_jacobian_in(at.t, at.y, at.p, slope, jacobian, dfdt, work);
    }
}
