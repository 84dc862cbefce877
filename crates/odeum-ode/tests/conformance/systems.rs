//! Small systems with known answers, and systems made to fail.

use odeum_ode::{Ensemble, Real, Scalar, Solution, System};

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

/// x' = −x from 1, beside y' = x from 0: a component that is zero at the start but does not stay there.
#[derive(Clone, Copy)]
pub(crate) struct Wakes;

impl System for Wakes {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = -y[0];
        dydt[1] = y[0];
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

/// So many copies of a system in one, none of which sees another: what a system is integrated as by several lanes of a warp,
/// which need systems of groups of equations that are one function.
pub(crate) struct Copies<'a, S>(pub(crate) &'a S);

impl<S: System> Copies<'_, S> {
    /// As many as make a system that a thread does not keep in its registers, but in its shared memory.
    pub(crate) fn count(&self) -> usize {
        20 / self.0.dim()
    }

    /// An ensemble of copies.
    pub(crate) fn ensemble<T: Scalar>(&self, ensemble: &Ensemble<T>) -> Ensemble<T> {
        let spans = (0..ensemble.len()).map(|s| ensemble.span(s)).collect();
        let states = ensemble.states().repeat(self.count());
        let mut copies = Ensemble::new(self.dim(), states, ensemble.span(0)).unwrap();
        copies = match ensemble.shares_params() {
            true => copies.with_shared_params(ensemble.params().to_vec()).unwrap(),
            false => copies.with_params(ensemble.params().to_vec()).unwrap(),
        };
        if let Some(steps) = ensemble.first_steps() {
            copies = copies.with_first_steps(steps.to_vec()).unwrap();
        }
        copies.with_spans(spans).unwrap()
    }

    /// The solution of the first copy, which is that of the others.
    pub(crate) fn first<T: Scalar>(&self, mut solution: Solution<T>) -> Solution<T> {
        let (dim, copies) = (self.0.dim(), self.count());
        let one = |rows: &[T]| {
            let (first, others) = rows.split_at(rows.len() / copies);
            let bits = |rows: &[T]| rows.iter().map(|y| y.to_f64().to_bits()).collect::<Vec<_>>();
            let are_same = others.chunks_exact(first.len()).all(|copy| bits(copy) == bits(first));
            assert!(are_same, "copies of a system differ");
            first.to_vec()
        };
        let of_a_time = solution.states.len();
        solution.saved = solution.saved.chunks_exact(of_a_time).flat_map(one).collect();
        solution.states = one(&solution.states);
        solution.dim = dim;
        solution
    }
}

impl<S: System> System for Copies<'_, S> {
    fn dim(&self) -> usize {
        self.count() * self.0.dim()
    }
    fn n_params(&self) -> usize {
        self.0.n_params()
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let dim = self.0.dim();
        for (y, dydt) in y.chunks_exact(dim).zip(dydt.chunks_exact_mut(dim)) {
            self.0.rhs(t, y, p, dydt);
            // Always true, and costly: what groups are made by keeps the equations of a copy together.
            let sum = y.iter().fold(R::lit(1.0), |sum, y| sum + y.exp());
            for slope in dydt {
                *slope = R::select(sum.gt(R::lit(0.0)), *slope, R::lit(f64::NAN));
            }
        }
    }
}
