//! Balls, puffs and plumes in free space against their solutions: profiles, not moments alone.

use crate::common::{advanced, centres, erf};
use odeum_fields::{
    Advection, Field, Grid, ModelText, Options, PointSource, Problem, Quantity, Velocity,
};
use std::f64::consts::PI;

fn diffusing(diffusion: f64) -> odeum_fields::Model {
    let text = ModelText {
        species: vec!["c"],
        params: vec![("D", diffusion)],
        equations: vec![("c", "D * lap(c)")],
        ..ModelText::default()
    };
    text.read().unwrap().0
}

/// A ball of radius a after a time t at a distance r > 0 from its centre, for s = 2√(Dt):
/// ½ [erf((a − r)/s) + erf((a + r)/s)] − √(Dt/π)/r [e^(−(r − a)²/s²) − e^(−(r + a)²/s²)].
fn ball(r: f64, a: f64, dt: f64) -> f64 {
    let s = 2.0 * dt.sqrt();
    let waves = (-((r - a) / s).powi(2)).exp() - (-((r + a) / s).powi(2)).exp();
    0.5 * (erf((a - r) / s) + erf((a + r) / s)) - (dt / PI).sqrt() / r * waves
}

/// An eighth of the paper's ball at t = 100, between boundaries that are planes of symmetry.
#[test]
fn a_ball_spreads_as_the_solution_says_at_every_distance() {
    for (t, centre) in [(100.0, 0.427593), (1000.0, 0.022411)] {
        assert!((ball(1e-3, 20.0, t) - centre).abs() < 1e-6);
    }
    let (a, t, side) = (20.0, 100.0, 96.0);
    let on = |h: f64| {
        let grid = Grid::new([(side / h) as usize; 3], h).unwrap();
        // The part of each cell that is inside, from points of it: a jump has no order.
        let part = |at: [f64; 3]| {
            let shift = |k: usize| (k as f64 - 3.5) / 8.0 * h;
            let squares = |k: usize| [shift(k % 8), shift(k / 8 % 8), shift(k / 64)];
            let inside = |k: &usize| {
                let shifts = squares(*k);
                (0..3).map(|axis| (at[axis] + shifts[axis]).powi(2)).sum::<f64>() <= a * a
            };
            (0..512).filter(inside).count() as f64 / 512.0
        };
        let start = Field::<f64>::from_fn(&grid, 1, |_, at| part(at)).unwrap();
        let problem = Problem::new(diffusing(1.0), grid);
        let end = advanced(&problem, start, &Options::euler(h * h / 16.0), t);
        let pairs = end.to_values(0).into_iter().zip(centres(&grid));
        let errors = pairs.map(|(c, at)| {
            let r = at.iter().map(|x| x * x).sum::<f64>().sqrt();
            (c - ball(r, a, t)).abs()
        });
        errors.fold(0.0, f64::max)
    };
    let [coarse, fine] = [4.0, 2.0].map(on);
    assert!(fine < 1e-3 && coarse / fine > 3.0, "{coarse} {fine}");
}

/// A velocity that turns, and where it has advected what began at 0 by time t.
const VELOCITIES: [&str; 3] = ["2", "-1", "1.5 * cos(t)"];

fn shift(t: f64) -> [f64; 3] {
    [2.0 * t, -t, 1.5 * t.sin()]
}

fn velocity() -> Velocity {
    Velocity::Uniform(VELOCITIES.map(Quantity::from))
}

/// e^(−d²/(2 v)) along each axis over √(2πv), of variances v about `centre`.
fn gaussian(at: [f64; 3], centre: [f64; 3], variances: [f64; 3]) -> f64 {
    let along = |k: usize| {
        let d = at[k] - centre[k];
        (-d * d / (2.0 * variances[k])).exp() / (2.0 * PI * variances[k]).sqrt()
    };
    (0..3).map(along).product()
}

/// Sum times volume, mean place and variance along each axis.
fn moments(c: &Field<f64>, grid: &Grid) -> (f64, [f64; 3], [f64; 3]) {
    let values = c.to_values(0);
    let sum = |f: &dyn Fn([f64; 3]) -> f64| -> f64 {
        values.iter().zip(centres(grid)).map(|(c, at)| c * f(at)).sum()
    };
    let mass = sum(&|_| 1.0);
    let mean = [0, 1, 2].map(|k| sum(&|at| at[k]) / mass);
    let variance = [0, 1, 2].map(|k| sum(&|at| (at[k] - mean[k]).powi(2)) / mass);
    (mass * grid.cell_volume(), mean, variance)
}

const PUFF_END: f64 = 1.0;
const PUFF_D: f64 = 0.05;
/// Variance at the beginning.
const PUFF: f64 = 0.2;
const FROM: [f64; 3] = [2.5, 3.5, 2.5];

/// A Gaussian puff, advected: the grid, the field at the end, and the size of a step.
fn puff(refine: usize, advection: Advection) -> (Grid, Field<f64>, f64) {
    let h = 0.2 / refine as f64;
    let grid = Grid::new([35 * refine, 30 * refine, 32 * refine], h).unwrap();
    let problem = Problem::new(diffusing(PUFF_D), grid).velocity(velocity(), advection);
    let start = Field::<f64>::from_fn(&grid, 1, |_, at| gaussian(at, FROM, [PUFF; 3])).unwrap();
    let step = h * h / 4.0;
    (grid, advanced(&problem, start, &Options::euler(step), PUFF_END), step)
}

/// The place where a puff should be at the end.
fn arrived() -> [f64; 3] {
    let shift = shift(PUFF_END);
    [0, 1, 2].map(|k| FROM[k] + shift[k])
}

/// The mean of |c − Gaussian| over that of the Gaussian.
fn difference(grid: &Grid, c: &Field<f64>, variances: [f64; 3]) -> f64 {
    let (mut error, mut whole) = (0.0, 0.0);
    for (c, at) in c.to_values(0).into_iter().zip(centres(grid)) {
        let exact = gaussian(at, arrived(), variances);
        error += (c - exact).abs();
        whole += exact;
    }
    error / whole
}

#[test]
fn a_puff_is_advected_and_spreads_as_a_gaussian() {
    let variances = [PUFF + 2.0 * PUFF_D * PUFF_END; 3];
    let mut errors = Vec::new();
    for refine in [1, 2] {
        let (grid, c, _) = puff(refine, Advection::Koren);
        let (mass, mean, variance) = moments(&c, &grid);
        let error = difference(&grid, &c, variances);
        assert!((mass - 1.0).abs() < 1e-4, "{mass}");
        let of_mean = (0..3).map(|k| (mean[k] - arrived()[k]).abs()).fold(0.0, f64::max);
        let of_variance = (0..3).map(|k| (variance[k] - variances[k]).abs()).fold(0.0, f64::max);
        errors.push([error, of_mean, of_variance]);
    }
    assert!(errors[1][0] < 0.04, "{errors:?}");
    for (k, fine) in errors[1].iter().enumerate() {
        assert!(errors[0][k] / fine > 2.8, "{errors:?}");
    }
}

/// What upwind makes of it is a Gaussian too, but that of a diffusion larger by
/// |w| h/2 · (1 − |w| Δt/h).
#[test]
fn upwind_spreads_a_puff_by_its_own_diffusion() {
    let (grid, c, step) = puff(2, Advection::Upwind);
    let h = grid.spacing()[0];
    // The mean of |w| over the time, w₃ being positive, and of its square.
    let speeds = [2.0, 1.0, 1.5 * PUFF_END.sin()];
    let squares = [4.0, 1.0, 2.25 * (0.5 + (2.0 * PUFF_END).sin() / 4.0)];
    let plain = PUFF + 2.0 * PUFF_D * PUFF_END;
    let smeared = [0, 1, 2].map(|k| plain + (speeds[k] * h - squares[k] * step) * PUFF_END);
    let (as_it_is, as_it_should) =
        (difference(&grid, &c, smeared), difference(&grid, &c, [plain; 3]));
    assert!(as_it_is < 0.03 && as_it_should > 0.3, "{as_it_is} {as_it_should}");
}

/// A source in a cell that gives q per time, in a velocity that turns: the sum of the puffs of all
/// times, ∫ q e^(−|x − x₀ − s|²/(4Dτ)) (4πDτ)^(−3/2) dτ with s the way of what left τ ago.
fn plume(offset: [f64; 3], q: f64, diffusion: f64, t: f64) -> f64 {
    let n = 4000;
    // τ = t w², which the integrand is smooth in.
    let term = |k: usize| {
        let w = (k as f64 + 0.5) / n as f64;
        let age = t * w * w;
        let way = [0, 1, 2].map(|k| shift(t)[k] - shift(t - age)[k]);
        q * gaussian(offset, way, [2.0 * diffusion * age; 3]) * 2.0 * t * w / n as f64
    };
    (0..n).map(term).sum()
}

/// In a velocity that does not turn the sum is q/(4πDr) e^(−w(r − x)/(2D)) after a long time.
#[test]
fn a_sum_of_puffs_is_the_steady_plume() {
    let (diffusion, w, q): (f64, f64, f64) = (0.3, 2.0, 1.7);
    for [x, y] in [[1.0_f64, 0.2], [2.0, 0.7], [-0.3, 0.1]] {
        let r = x.hypot(y);
        let exact = q / (4.0 * PI * diffusion * r) * (-w * (r - x) / (2.0 * diffusion)).exp();
        let (n, t) = (100_000, 40.0);
        let term = |k: usize| {
            let v = (k as f64 + 0.5) / n as f64;
            let age = t * v * v;
            let variances = [2.0 * diffusion * age; 3];
            q * gaussian([x, y, 0.0], [w * age, 0.0, 0.0], variances) * 2.0 * t * v / n as f64
        };
        let sum: f64 = (0..n).map(term).sum();
        assert!((sum / exact - 1.0).abs() < 1e-6, "{sum} {exact}");
    }
}

/// Six cells and more from the source, where it is as good as a point.
#[test]
fn a_point_source_makes_the_plume_of_its_puffs() {
    let (diffusion, q, t) = (0.15, 3.0, 1.5);
    let on = |refine: usize| {
        let h = 0.2 / refine as f64;
        let shape = [35, 31, 33].map(|n| n * refine);
        let grid = Grid::new(shape, h).unwrap();
        let cell = [7, 19, 14].map(|i| i * refine);
        let from = [0, 1, 2].map(|axis| grid.centre(axis, cell[axis]));
        let rate = Quantity::from(q / h.powi(3));
        let source = PointSource { species: "c".to_owned(), cell, rate };
        let problem = Problem::new(diffusing(diffusion), grid)
            .velocity(velocity(), Advection::Koren)
            .source(source);
        let start = Field::<f64>::zeros(&grid, 1).unwrap();
        let end = advanced(&problem, start, &Options::euler(h * h / 4.0), t);
        let values = end.to_values(0);
        let (mut error, mut whole) = (0.0, 0.0);
        for (c, at) in values.iter().zip(centres(&grid)).step_by(97) {
            let offset = [0, 1, 2].map(|k| at[k] - from[k]);
            let far = offset.iter().map(|x| x * x).sum::<f64>().sqrt() > 1.2;
            let inside = (0..3).all(|k| {
                let side = shape[k] as f64 * h;
                (0.8..side - 0.8).contains(&at[k])
            });
            if far && inside {
                let exact = plume(offset, q, diffusion, t);
                error += (c - exact).abs();
                whole += exact;
            }
        }
        error / whole
    };
    let [coarse, fine] = [1, 2].map(on);
    assert!(fine < 0.02 && coarse / fine > 2.5, "{coarse} {fine}");
}
