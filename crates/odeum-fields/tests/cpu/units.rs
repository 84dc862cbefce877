//! Amounts of very different size, as a density in 1/m³ beside a temperature: units, and the order of species, change nothing.

use crate::common::{model, one_thread};
use odeum_fields::{
    Field, Grid, Method, Options, Outcome, Problem, Simulation, Steps, first_growing_step, noise,
    stability,
};
use odeum_ode::Tolerance;

const RKC: Method = Method::Rkc { stages: None };

/// Equations u' = Au + D lap(u) in units of powers of two, in an order of species; coefficients may be texts.
fn linear(
    coefficients: &[Vec<String>],
    diffusion: &[f64],
    units: &[i32],
    order: &[usize],
) -> Problem {
    let name = |i: usize| format!("u{i}");
    let equation = |i: &usize| {
        let i = *i;
        let term = |j: usize| {
            let unit = 2.0_f64.powi(units[j] - units[i]);
            format!(" + {unit:?}*({})*{}", coefficients[i][j], name(j))
        };
        let terms: String = (0..coefficients.len()).map(term).collect();
        (name(i), format!("{:?}*lap({}){terms}", diffusion[i], name(i)))
    };
    let equations: Vec<(String, String)> = order.iter().map(equation).collect();
    let equations: Vec<(&str, &str)> = equations.iter().map(|(a, b)| (&a[..], &b[..])).collect();
    Problem::new(model(&equations), Grid::new([16, 1, 1], 0.3).unwrap())
}

fn uniform(problem: &Problem, value: f64) -> Field<f64> {
    Field::from_fn(&problem.grid, problem.model.species().len(), |_, _| value).unwrap()
}

/// Of three species one in units of 10¹⁹ made limits up to 50 times too large, and 400 times too small.
#[test]
fn limits_do_not_depend_on_units() {
    let limits = |problem: &Problem| {
        let limits = stability(problem, &uniform(problem, 0.0), (0.0, 20.0)).unwrap();
        let steps = [Method::Euler, Method::Ssprk3, Method::Rkl2 { stages: Some(6) }, RKC]
            .map(|method| limits.largest_step(method));
        [&steps[..], &[limits.radius, limits.euler]].concat()
    };
    for k in 0..40 {
        let n = 2 + k % 3;
        let mut matrix: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| 2.0 * noise(k as u64, i, j)).collect()).collect();
        // By Gershgorin's discs it is stable, though it may turn far more than it decays.
        let own = |row: &[f64]| row.iter().map(|x| x.abs()).sum::<f64>();
        let most = matrix.iter().map(|row| own(row)).fold(0.0, f64::max);
        (0..n).for_each(|i| matrix[i][i] -= most * (0.2 + 0.8 * (k % 2) as f64));
        let texts: Vec<Vec<String>> =
            matrix.iter().map(|row| row.iter().map(|x| format!("{x:?}")).collect()).collect();
        let diffusion: Vec<f64> = (0..n).map(|i| 0.01 * (1.0 + noise(7, i, k))).collect();
        let order: Vec<usize> = (0..n).collect();
        let plain = limits(&linear(&texts, &diffusion, &[0; 4], &order));
        for turn in 0..n {
            let mut units = [80, 0, -80, 0];
            units[..n].rotate_left(turn);
            let order: Vec<usize> = (0..n).map(|i| (i + turn) % n).rev().collect();
            let found = limits(&linear(&texts, &diffusion, &units, &order));
            for (found, plain) in found.iter().zip(&plain) {
                assert!((found / plain - 1.0).abs() < 1e-6, "{k} {turn}: {found} {plain}");
            }
        }
    }
}

/// Where a coefficient changes within steps, and when it is largest, was not seen beside the large number between two units.
#[test]
fn coefficients_change_whatever_the_units() {
    let texts = [["-1 - 400*exp(-((t - 3.3)/0.02)^2)", "0.5"], ["0.3", "-2"]];
    let texts = texts.map(|row| row.map(str::to_owned).to_vec());
    for (units, order) in [([0, 0], [0, 1]), ([0, 80], [0, 1]), ([-60, 40], [1, 0])] {
        let problem = linear(&texts, &[0.01, 0.01], &units, &order);
        let field = uniform(&problem, 1.0);
        let limits = stability(&problem, &field, (0.0, 5.0)).unwrap();
        assert!((0.99..1.01).contains(&(limits.radius / 402.0)), "{units:?}: {}", limits.radius);
        let method = Method::Rkc { stages: Some(12) };
        let found = first_growing_step(&problem, &field, (0.0, 5.0), method, 0.15).unwrap();
        let (t, shorter) = found.unwrap();
        assert!((3.0..3.4).contains(&t) && shorter < 0.15, "{units:?}: {t} {shorter}");
    }
}

/// A density of 10²⁴ that makes a fraction grow: 142 adaptive steps made 1e-5 of what they make 0.1 of by another order of species.
#[test]
fn growth_is_guarded_whatever_the_units() {
    let run = |unit: f64, order: [usize; 2]| {
        let n = format!("lap(n) + {unit:?}*w*(1 - w)");
        let w = format!("lap(w) + {:?}*n*(1 - w)", 1.0 / unit);
        let of = |s: usize| [("n", &n[..], unit), ("w", &w[..], 1.0)][order[s]];
        let equations = [0, 1].map(|s| (of(s).0, of(s).1));
        let grid = Grid::new([16, 1, 1], 1.0).unwrap();
        let problem = Problem::new(model(&equations), grid);
        let field = Field::<f64>::from_fn(&grid, 2, |s, _| 1e-13 * of(s).2).unwrap();
        let tolerance = Tolerance::per_component(1e-4, vec![1e-4 * of(0).2, 1e-4 * of(1).2]);
        let options = Options::new(RKC, Steps::Adaptive(tolerance));
        let mut simulation = Simulation::new(&problem, field, 0.0, &options, one_thread()).unwrap();
        assert_eq!(simulation.advance_to(28.0).unwrap(), Outcome::Reached);
        let w = simulation.summaries().unwrap()[order.iter().position(|s| *s == 1).unwrap()].max;
        (w, simulation.counts().steps)
    };
    let (plain, steps) = run(1.0, [0, 1]);
    for (unit, order) in [(2.0_f64.powi(80), [0, 1]), (2.0_f64.powi(80), [1, 0])] {
        let (found, taken) = run(unit, order);
        assert!((found / plain - 1.0).abs() < 1e-3, "{order:?}: {found} {plain}");
        assert!(taken.abs_diff(steps) < 3, "{order:?}: {taken} {steps}");
    }
}
