//! Small systems with known answers, and systems made to fail.

use odeum_ode::{Real, System};

/// y' = y cos t with y = exp(sin t), beside y' = -2 t y² with y = 1/(1 + t²): smooth, nonlinear,
/// time-dependent.
#[derive(Clone, Copy)]
pub(crate) struct Smooth;

impl Smooth {
    pub(crate) fn exact(t: f64) -> [f64; 2] {
        [t.sin().exp(), 1.0 / (1.0 + t * t)]
    }
}

impl System for Smooth {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = y[0] * t.cos();
        dydt[1] = R::lit(-2.0) * t * y[1] * y[1];
    }
}

/// What becomes of a system of [`Fates`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// Decays; reaches the end.
    Decays,
    /// The right-hand side is NaN beyond t = 1/2.
    TurnsNan,
    /// y' = y³ from 1: infinite at t = 1/2, and nothing real beyond. (y' = 2y² would not do:
    /// Rosenbrock methods can be exact for it, and step over its pole to the right answer.)
    BlowsUp,
    /// Turns a thousand times in a unit of time: many steps.
    Spins,
    /// The right-hand side is NaN from the start.
    IsNan,
}

impl Fate {
    pub(crate) const ALL: [Fate; 5] =
        [Fate::Decays, Fate::TurnsNan, Fate::BlowsUp, Fate::Spins, Fate::IsNan];

    /// The parameter that selects this fate.
    pub(crate) fn param(self) -> f64 {
        self as usize as f64
    }
}

/// One system in which a parameter chooses how it ends; a second parameter is the decay rate.
#[derive(Clone, Copy)]
pub(crate) struct Fates;

impl System for Fates {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let is = |fate: Fate| p[0].eq(R::lit(fate.param()));
        let decay = [-(p[1] * y[0]), -(p[1] * y[1])];
        let nan = R::lit(-1.0).sqrt();
        let late = R::select(t.gt(R::lit(0.5)), nan, R::lit(0.0));
        let spin = R::lit(2000.0 * std::f64::consts::PI);
        let mut x = decay[0];
        x = R::select(is(Fate::TurnsNan), decay[0] + late, x);
        x = R::select(is(Fate::BlowsUp), y[0] * y[0] * y[0], x);
        x = R::select(is(Fate::Spins), spin * y[1], x);
        x = R::select(is(Fate::IsNan), nan, x);
        dydt[0] = x;
        dydt[1] = R::select(is(Fate::Spins), -(spin * y[0]), decay[1]);
    }
}
