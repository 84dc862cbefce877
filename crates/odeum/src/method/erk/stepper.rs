//! One step of an explicit Runge–Kutta pair on a pack of lanes.

use super::{Erk, Tableau};
use crate::method::stepper::{Attempt, Cost, Point, Start, Stepper};
use crate::options::FirstStep;
use crate::tolerance::{Norm, Tolerance, Weights, largest};
use odeum_core::{Lanes, System};

/// The nonzero coefficients of one linear combination of stage slopes.
struct Row {
    stages: Vec<usize>,
    coefficients: Vec<f64>,
}

impl Row {
    fn new(dense: &[f64]) -> Self {
        let nonzero = dense.iter().enumerate().filter(|(_, a)| **a != 0.0);
        let (stages, coefficients) = nonzero.map(|(j, &a)| (j, a)).unzip();
        Row { stages, coefficients }
    }
}

/// Memory of an explicit Runge–Kutta pair for one pack of systems of n equations.
pub(crate) struct ErkStepper<L> {
    tableau: &'static Tableau,
    fsal: bool,
    rows: Vec<Row>,
    solution: Row,
    error: Row,
    weights: Weights<L>,
    /// Slopes of the stages [s × n].
    k: Vec<L>,
    /// State of a stage \[n\].
    stage: Vec<L>,
    candidate: Vec<L>,
    /// Estimated error of each component \[n\].
    deviation: Vec<L>,
    work: Vec<L>,
}

impl<L: Lanes> ErkStepper<L> {
    pub(crate) fn new<S: System>(erk: &Erk, tolerance: &Tolerance, system: &S) -> Self {
        let (n, tableau) = (system.dim(), erk.tableau);
        let zero = L::lit(0.0);
        let rows: Vec<Row> = tableau.a.iter().map(|row| Row::new(row)).collect();
        ErkStepper {
            tableau,
            fsal: tableau.is_fsal(),
            rows,
            solution: Row::new(tableau.b),
            error: Row::new(tableau.e),
            weights: Weights::new(tolerance, n),
            k: vec![zero; tableau.stages() * n],
            stage: vec![zero; n],
            candidate: vec![zero; n],
            deviation: vec![zero; n],
            work: vec![zero; system.workspace()],
        }
    }

    /// The error norm of the attempt; NaN unless the new state and every error are finite.
    #[inline(always)]
    fn norm(&self, y: &[L], h: L) -> L {
        let n = y.len();
        let (candidate, deviation) = (&self.candidate[..n], &self.deviation[..n]);
        let zero = L::lit(0.0);
        let (mut spoiled, mut norm) = (zero, zero);
        for i in 0..n {
            // Zero times a number is zero unless the number is NaN or infinite.
            spoiled = candidate[i].mul_add(zero, deviation[i].mul_add(zero, spoiled));
        }
        match self.weights.norm() {
            Norm::WeightedRms => {
                for i in 0..n {
                    let ratio = deviation[i] / self.weights.scale(i, y[i], candidate[i]);
                    norm = ratio.mul_add(ratio, norm);
                }
                norm = (norm / L::lit(n as f64)).sqrt();
            }
            Norm::StateAndSlope => {
                let k = &self.k[..n];
                for i in 0..n {
                    let ratio = self.weights.slope_ratio(deviation[i], y[i], h * k[i]);
                    norm = largest(norm, ratio);
                }
            }
        }
        norm + spoiled
    }

    /// A first step from the slope f and its change over an explicit Euler step. Hairer,
    /// Nørsett & Wanner I, sec. II.4, with the norm of the tolerance.
    #[inline(always)]
    fn automatic_step<S: System>(&mut self, system: &S, at: &Point<L>, length: L) -> L {
        let n = at.y.len();
        let (zero, tiny_step) = (L::lit(0.0), L::lit(1e-6));
        let slope = &self.deviation[..n];
        let d0 = self.start_norm(at.y, slope, length, |i| at.y[i]);
        let d1 = self.start_norm(at.y, slope, length, |i| slope[i]);
        let small = d0.lt(L::lit(1e-5)) | d1.lt(L::lit(1e-5));
        let mut h0 = L::select(small, tiny_step, L::lit(0.01) * d0 / d1);
        h0 = L::select(h0.lt(length.abs()), h0, length.abs());
        // Whatever is not a positive finite number (a spoiled slope) becomes the tiny step.
        h0 = L::select(h0.gt(zero), h0, tiny_step);
        let signed = L::select(length.lt(zero), -h0, h0);
        for i in 0..n {
            self.stage[i] = slope[i].mul_add(signed, at.y[i]);
        }
        system.rhs_in(
            at.t + signed,
            &self.stage[..n],
            at.p,
            &mut self.candidate[..n],
            &mut self.work,
        );
        let slope = &self.deviation[..n];
        let change = self.start_norm(at.y, slope, length, |i| self.candidate[i] - slope[i]);
        let d2 = change / h0;
        let steepest = largest(d1, d2);
        let exponent = L::lit(-1.0 / f64::from(self.tableau.embedded_order + 1));
        let by_slope = ((steepest * L::lit(100.0)).ln() * exponent).exp();
        let flat = largest(tiny_step, h0 * L::lit(1e-3));
        let h1 = L::select(steepest.le(L::lit(1e-15)), flat, by_slope);
        let cap = h0 * L::lit(100.0);
        let h = L::select(h1.lt(cap), h1, cap);
        L::select(h.lt(length.abs()), h, length.abs())
    }

    /// The tolerance's norm of a vector at the start, where no step size is known yet: there the
    /// whole piece stands for it in [`Norm::StateAndSlope`].
    #[inline(always)]
    fn start_norm(&self, y: &[L], slope: &[L], length: L, x: impl Fn(usize) -> L) -> L {
        let mut norm = L::lit(0.0);
        for i in 0..y.len() {
            match self.weights.norm() {
                Norm::WeightedRms => {
                    let ratio = x(i) / self.weights.scale(i, y[i], y[i]);
                    norm = ratio.mul_add(ratio, norm);
                }
                Norm::StateAndSlope => {
                    let ratio = self.weights.slope_ratio(x(i), y[i], length * slope[i]);
                    norm = largest(norm, ratio);
                }
            }
        }
        match self.weights.norm() {
            Norm::WeightedRms => (norm / L::lit(y.len() as f64)).sqrt(),
            Norm::StateAndSlope => norm,
        }
    }
}

impl<L: Lanes> Stepper<L> for ErkStepper<L> {
    fn error_order(&self) -> u32 {
        self.tableau.embedded_order
    }

    #[inline(always)]
    fn begin<S: System>(
        &mut self,
        system: &S,
        at: &Point<L>,
        start: &Start<L>,
        fresh: L::Mask,
        cost: &mut Cost,
    ) -> L {
        let n = at.y.len();
        let automatic = start.first == FirstStep::Automatic;
        if self.fsal || automatic {
            system.rhs_in(at.t, at.y, at.p, &mut self.deviation[..n], &mut self.work);
            for i in 0..n {
                self.k[i] = L::select(fresh, self.deviation[i], self.k[i]);
            }
            cost.add_fresh::<L>(fresh, 1);
        }
        let size = match start.first {
            FirstStep::Automatic => {
                cost.add_fresh::<L>(fresh, 1);
                self.automatic_step(system, at, start.length)
            }
            FirstStep::Size(h) => L::lit(h),
            FirstStep::Share(share) => start.length.abs() * L::lit(share),
        };
        let size = L::select(size.lt(start.length.abs()), size, start.length.abs());
        L::select(start.length.lt(L::lit(0.0)), -size, size)
    }

    #[inline(always)]
    fn attempt<S: System>(
        &mut self,
        system: &S,
        at: &Point<L>,
        h: L,
        cost: &mut Cost,
    ) -> Attempt<L> {
        let (n, stages) = (at.y.len(), self.tableau.stages());
        let first = usize::from(self.fsal);
        for s in first..stages {
            let (before, from_here) = self.k.split_at_mut(s * n);
            let last_of_fsal = self.fsal && s + 1 == stages;
            let stage = if last_of_fsal { &mut self.candidate } else { &mut self.stage };
            combine(&mut stage[..n], Some(at.y), before, &self.rows[s], h);
            let t = L::lit(self.tableau.c[s]).mul_add(h, at.t);
            system.rhs_in(t, &stage[..n], at.p, &mut from_here[..n], &mut self.work);
        }
        if !self.fsal {
            combine(&mut self.candidate[..n], Some(at.y), &self.k, &self.solution, h);
        }
        combine(&mut self.deviation[..n], None, &self.k, &self.error, h);
        cost.add_all(L::WIDTH, (stages - first) as u32);
        Attempt { h, error: self.norm(at.y, h), no_radius: L::from_bits(0) }
    }

    #[inline(always)]
    fn state(&self) -> &[L] {
        &self.candidate
    }

    #[inline(always)]
    fn settle(&mut self, accepted: L::Mask) {
        if self.fsal {
            let n = self.candidate.len();
            let (first, rest) = self.k.split_at_mut(n);
            let last = &rest[rest.len() - n..];
            for i in 0..n {
                first[i] = L::select(accepted, last[i], first[i]);
            }
        }
    }
}

/// `out` = `base` + h Σ aⱼ kⱼ over the nonzero coefficients of a row; slopes lie one stage after
/// the other in `k`.
#[inline(always)]
fn combine<L: Lanes>(out: &mut [L], base: Option<&[L]>, k: &[L], row: &Row, h: L) {
    // One piece of code for each length keeps coefficients in registers and the sum unrolled.
    match row.stages.len() {
        1 => combine_m::<L, 1>(out, base, k, row, h),
        2 => combine_m::<L, 2>(out, base, k, row, h),
        3 => combine_m::<L, 3>(out, base, k, row, h),
        4 => combine_m::<L, 4>(out, base, k, row, h),
        5 => combine_m::<L, 5>(out, base, k, row, h),
        6 => combine_m::<L, 6>(out, base, k, row, h),
        7 => combine_m::<L, 7>(out, base, k, row, h),
        8 => combine_m::<L, 8>(out, base, k, row, h),
        9 => combine_m::<L, 9>(out, base, k, row, h),
        10 => combine_m::<L, 10>(out, base, k, row, h),
        11 => combine_m::<L, 11>(out, base, k, row, h),
        12 => combine_m::<L, 12>(out, base, k, row, h),
        _ => combine_long(out, base, k, row, h),
    }
}

/// A row of any length; slower.
#[inline(always)]
fn combine_long<L: Lanes>(out: &mut [L], base: Option<&[L]>, k: &[L], row: &Row, h: L) {
    let n = out.len();
    for i in 0..n {
        let mut sum = base.map_or(L::lit(0.0), |base| base[i]);
        for (j, a) in row.stages.iter().zip(&row.coefficients) {
            sum = k[j * n + i].mul_add(h * L::lit(*a), sum);
        }
        out[i] = sum;
    }
}

#[inline(always)]
fn combine_m<L: Lanes, const M: usize>(
    out: &mut [L],
    base: Option<&[L]>,
    k: &[L],
    row: &Row,
    h: L,
) {
    let n = out.len();
    let mut slopes = [&k[..0]; M];
    let mut steps = [h; M];
    for m in 0..M {
        let first = row.stages[m] * n;
        slopes[m] = &k[first..first + n];
        steps[m] = h * L::lit(row.coefficients[m]);
    }
    for i in 0..n {
        let mut sum = match base {
            Some(base) => slopes[0][i].mul_add(steps[0], base[i]),
            None => slopes[0][i] * steps[0],
        };
        for m in 1..M {
            sum = slopes[m][i].mul_add(steps[m], sum);
        }
        out[i] = sum;
    }
}
