//! One step of an explicit Runge–Kutta pair on a pack of lanes.

use super::{Erk, Tableau};
use crate::method::first_step;
use crate::method::rhs::Rhs;
use crate::method::stepper::{Attempt, Cost, Point, Start, Stepper, cubic_at};
use crate::tolerance::{Tolerance, Weights};
use odeum_core::Lanes;

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
pub(crate) struct ErkStepper<'a, L, F: ?Sized> {
    system: &'a F,
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
    error_estimate: Vec<L>,
    work: Vec<L>,
}

impl<'a, L: Lanes, F: Rhs<L> + ?Sized> ErkStepper<'a, L, F> {
    pub(crate) fn new(erk: &Erk, tolerance: &Tolerance, system: &'a F) -> Self {
        let (n, tableau) = (system.dim(), erk.tableau);
        let zero = L::lit(0.0);
        let rows: Vec<Row> = tableau.a.iter().map(|row| Row::new(row)).collect();
        ErkStepper {
            system,
            tableau,
            fsal: tableau.is_fsal(),
            rows,
            solution: Row::new(tableau.b),
            error: Row::new(tableau.e),
            weights: Weights::new(tolerance, n),
            k: vec![zero; tableau.stages() * n],
            stage: vec![zero; n],
            candidate: vec![zero; n],
            error_estimate: vec![zero; n],
            work: vec![zero; system.workspace()],
        }
    }

    /// The size of a first step from the slope in `self.error_estimate`.
    #[inline(always)]
    fn automatic_step(&mut self, at: &Point<L>, length: L) -> L {
        let n = at.y.len();
        let guess = first_step::guess(&self.weights, at.y, &self.error_estimate[..n], length);
        for i in 0..n {
            self.stage[i] = self.error_estimate[i].mul_add(guess.h, at.y[i]);
        }
        let t = at.t + guess.h;
        let (end, probe) = (Point { t, y: &self.stage[..n], p: at.p }, &mut self.candidate[..n]);
        self.system.slope(&end, probe, &mut self.work);
        let slopes = (&self.error_estimate[..n], &self.candidate[..n]);
        let order = self.tableau.embedded_order;
        let curvature =
            first_step::estimated_curvature(&self.weights, at.y, slopes, length, &guess);
        first_step::moving(first_step::refined(curvature, length, &guess, order), at.t)
    }
}

impl<L: Lanes, F: Rhs<L> + ?Sized> Stepper<L> for ErkStepper<'_, L, F> {
    fn error_order(&self) -> u32 {
        self.tableau.embedded_order
    }

    fn most_evaluations(&self) -> Option<u32> {
        Some(self.tableau.stages() as u32 + 2)
    }

    #[inline(always)]
    fn slope(&self) -> &[L] {
        &self.k[..self.candidate.len()]
    }

    #[inline(always)]
    fn end_slope(&self) -> Option<&[L]> {
        self.fsal.then(|| &self.k[self.k.len() - self.candidate.len()..])
    }

    #[inline(always)]
    fn stage_misses(&self, h: L, i: usize, rise: L, slopes: [L; 2]) -> L {
        let n = self.candidate.len();
        let inner = self.tableau.inner_stages();
        inner.fold(L::lit(0.0), |misses, s| {
            let [_, slope] = cubic_at(self.tableau.c[s], rise, slopes);
            misses + (self.k[s * n + i] * h - slope).abs()
        })
    }

    #[inline(always)]
    fn evaluate(&mut self, at: &Point<L>, out: &mut [L]) {
        self.system.slope(at, out, &mut self.work);
    }

    #[inline(always)]
    fn begin(&mut self, at: &Point<L>, start: &Start<L>, restarted: L::Mask, cost: &mut Cost) -> L {
        let n = at.y.len();
        let automatic = start.first.is_automatic();
        if self.fsal || automatic {
            self.system.slope(at, &mut self.error_estimate[..n], &mut self.work);
            for i in 0..n {
                self.k[i] = L::select(restarted, self.error_estimate[i], self.k[i]);
            }
            cost.add_fresh::<L>(restarted, 1);
        }
        let size = if automatic {
            cost.add_fresh::<L>(restarted, 1);
            self.automatic_step(at, start.length)
        } else {
            start.length
        };
        first_step::signed(start.first, size, start.length)
    }

    #[inline(always)]
    fn attempt(&mut self, at: &Point<L>, h: L, end: L, cost: &mut Cost) -> Attempt<L> {
        let (n, stages) = (at.y.len(), self.tableau.stages());
        let first = usize::from(self.fsal);
        for s in first..stages {
            let (before, from_here) = self.k.split_at_mut(s * n);
            let last_of_fsal = self.fsal && s + 1 == stages;
            let stage = if last_of_fsal { &mut self.candidate } else { &mut self.stage };
            combine(&mut stage[..n], Some(at.y), before, &self.rows[s], h);
            let c = self.tableau.c[s];
            let t = if c == 1.0 { end } else { L::lit(c).mul_add(h, at.t) };
            let point = Point { t, y: &stage[..n], p: at.p };
            self.system.slope(&point, &mut from_here[..n], &mut self.work);
        }
        if !self.fsal {
            combine(&mut self.candidate[..n], Some(at.y), &self.k, &self.solution, h);
        }
        combine(&mut self.error_estimate[..n], None, &self.k, &self.error, h);
        cost.add_all(L::WIDTH, (stages - first) as u32);
        let (y, slope) = (at.y, &self.k[..n]);
        let error = self.weights.error_norm(y, &self.candidate, &self.error_estimate, slope, h);
        Attempt::new(h, error)
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
