//! The paper's problems against their dispersion relations, profiles and moments.

use crate::common::model;
use odeum_fields::problems::Builtin;
use odeum_fields::{
    Advection, Boundaries, Boundary, Engine, Field, Grid, Options, Outcome, Problem, Quantity,
    Simulation, Stencil, Velocity, noise,
};
use odeum_ode::{Cpu, Isa};
use std::f64::consts::PI;
use std::ops::ControlFlow;

fn cpu() -> Cpu {
    Cpu { threads: Some(1), isa: Isa::best() }
}

fn steps(problem: &Problem, u: Field<f64>, h: f64, steps: u64) -> Field<f64> {
    let options = Options { force: true, ..Options::euler(h) };
    let mut simulation = Simulation::new(problem, u, 0.0, &options, cpu()).unwrap();
    let outcome = simulation.run_steps(steps, 0, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(outcome, Outcome::Reached);
    simulation.field().unwrap().into_owned()
}

/// The amplitude of a product of cosines in a field.
fn amplitude(u: &Field<f64>, s: usize, mode: [usize; 3], grid: &Grid) -> f64 {
    let shape = grid.shape();
    let (mut sum, mut square) = (0.0, 0.0);
    for index in 0..grid.cells() {
        let cell = grid.cell(index);
        let parts =
            (0..3).map(|k| (PI * mode[k] as f64 * (cell[k] as f64 + 0.5) / shape[k] as f64).cos());
        let wave: f64 = parts.product();
        sum += wave * u.get(s, cell);
        square += wave * wave;
    }
    sum / square
}

/// Small waves about the steady state of the Turing problem are multiplied, step by step, by the
/// matrix I + dt (J + Λ diag D) of the discrete symbol.
#[test]
fn turing_waves_grow_as_the_discrete_relation_says() {
    let shape = [24, 12, 10];
    let problem = Builtin::Turing.problem(shape).unwrap();
    let grid = problem.grid;
    let mut steady = (0.17, 0.17);
    for _ in 0..50 {
        // v = (u − β)/α, and u − u³ − v = 0, by Newton.
        let f = steady.0 - f64::powi(steady.0, 3) - (steady.0 - 0.09) / 0.5;
        let slope = 1.0 - 3.0 * steady.0 * steady.0 - 2.0;
        steady.0 -= f / slope;
        steady.1 = (steady.0 - 0.09) / 0.5;
    }
    assert!((steady.0 - 0.174671).abs() < 1e-6 && (steady.1 - 0.169342).abs() < 1e-6);
    for mode in [[4, 0, 0], [2, 1, 1], [23, 11, 9], [0, 3, 0]] {
        let small = 1e-7;
        let theta = [0, 1, 2].map(|k| PI * mode[k] as f64 / shape[k] as f64);
        let wave = |at: [f64; 3]| {
            (0..3).map(|k| (theta[k] * at[k] / grid.spacing()[k]).cos()).product::<f64>()
        };
        let u = Field::<f64>::from_fn(&grid, 2, |s, at| {
            [steady.0, steady.1][s] + small * [1.0, 0.4][s] * wave(at)
        })
        .unwrap();
        let (h, count) = (1e-3, 400);
        let end = steps(&problem, u, h, count);
        let symbol = Stencil::Isotropic.symbol(&grid, theta);
        let a = [
            [1.0 + h * (1.0 - 3.0 * steady.0 * steady.0 + 5e-5 * symbol), -h],
            [h * 26.0, 1.0 + h * (-13.0 + 5e-3 * symbol)],
        ];
        let mut v = [small, 0.4 * small];
        for _ in 0..count {
            v = [a[0][0] * v[0] + a[0][1] * v[1], a[1][0] * v[0] + a[1][1] * v[1]];
        }
        for s in 0..2 {
            let found = amplitude(&end, s, mode, &grid);
            assert!((found - v[s]).abs() < 1e-5 * small, "{mode:?} {s}: {found} {}", v[s]);
        }
    }
}

/// c = tanh(x/√2) is the interface of c' = −∇²(c − c³ + ∇²c); on a grid a profile near it.
#[test]
fn the_interface_of_cahn_and_hilliard_rests() {
    let error = |n: usize| {
        let h = 24.0 / n as f64;
        let grid = Grid::new([n, 1, 1], h).unwrap().at([-12.0, 0.0, 0.0]).unwrap();
        let problem = Problem::new(model(&[("c", "-lap(c - c^3 + lap(c))")]), grid);
        let profile = |x: f64| (x / 2.0_f64.sqrt()).tanh();
        let u = Field::<f64>::from_fn(&grid, 1, |_, at| profile(at[0])).unwrap();
        let dt = 0.02 * h.powi(4);
        let end = steps(&problem, u, dt, (8.0 / dt) as u64);
        let at = |i: usize| (end.get(0, [i, 0, 0]) - profile(grid.centre(0, i))).abs();
        (0..n).map(at).fold(0.0, f64::max)
    };
    let errors = [error(24), error(48)];
    assert!(errors[1] < 0.02 && errors[1] < errors[0] / 3.0, "{errors:?}");
}

/// Growth of waves about c₀ by Λ(1 − 3c₀²) − Λ², Λ the negative of the symbol, in three
/// dimensions and at boundaries.
#[test]
fn waves_of_cahn_and_hilliard_grow_by_their_symbol() {
    let shape = [14, 9, 11];
    let grid = Grid::new(shape, 1.0).unwrap();
    let problem = Problem::new(model(&[("c", "-lap(c - c^3 + lap(c))")]), grid);
    for (c0, mode) in [(0.0, [4, 0, 0]), (0.3, [2, 3, 1]), (-0.9, [13, 8, 10]), (0.1, [0, 1, 6])] {
        let theta = [0, 1, 2].map(|k| PI * mode[k] as f64 / shape[k] as f64);
        let wave = |at: [f64; 3]| (0..3).map(|k| (theta[k] * at[k]).cos()).product::<f64>();
        let u = Field::from_fn(&grid, 1, |_, at| c0 + 1e-7 * wave(at)).unwrap();
        let end = steps(&problem, u, 0.01, 50);
        let lambda = -Stencil::Isotropic.symbol(&grid, theta);
        let factor: f64 = 1.0 + 0.01 * (lambda * (1.0 - 3.0 * c0 * c0) - lambda * lambda);
        let found = amplitude(&end, 0, mode, &grid) / 1e-7;
        assert!((found / factor.powi(50) - 1.0).abs() < 1e-5, "{c0} {mode:?}: {found}");
        assert!((amplitude(&end, 0, [0; 3], &grid) - c0).abs() < 1e-14);
    }
}

/// The sum of the front's c changes in a step by dt Σ (k₁ab − k₂ac), whatever the values; with
/// k₂ = 0, a − b obeys pure diffusion.
#[test]
fn budgets_of_the_front() {
    let problem = Builtin::Front.problem([30, 6, 7]).unwrap();
    let grid = problem.grid;
    let mut n = 0;
    let u = Field::<f64>::from_fn(&grid, 3, |_, _| {
        n += 1;
        noise(4, 0, n)
    })
    .unwrap();
    let (a, b, c) = (u.to_values(0), u.to_values(1), u.to_values(2));
    let source: f64 = (0..a.len()).map(|k| 0.2 * a[k] * b[k] - 0.005 * a[k] * c[k]).sum();
    let end = steps(&problem, u.clone(), 0.02, 1);
    let change: f64 = end.to_values(2).iter().zip(&c).map(|(new, old)| new - old).sum();
    assert!((change - 0.02 * source).abs() < 1e-11, "{change} {}", 0.02 * source);

    let mut problem = problem;
    problem.model = problem.model.with_param("k2", 0.0).unwrap();
    // The boundary of a holds 10 and that of b is closed, so their difference is watched inside.
    let before = Field::<f64>::from_fn(&grid, 1, |_, _| 0.0).unwrap();
    let mut difference = before;
    for index in 0..grid.cells() {
        difference.set(0, grid.cell(index), a[index] - b[index]);
    }
    let diffusion = Problem::new(model(&[("c", "lap(c)")]), grid);
    let expected = steps(&diffusion, difference, 0.02, 1);
    let end = steps(&problem, u, 0.02, 1);
    for index in 0..grid.cells() {
        let cell = grid.cell(index);
        if cell[0] > 0 {
            let found = end.get(0, cell) - end.get(1, cell);
            assert!((found - expected.get(0, cell)).abs() < 1e-13, "{cell:?}");
        }
    }
}

/// Mass, mean place along each axis, and variances.
fn moments(u: &Field<f64>, grid: &Grid) -> (f64, [f64; 3], [f64; 3]) {
    let (mut mass, mut mean, mut square) = (0.0, [0.0; 3], [0.0; 3]);
    for index in 0..grid.cells() {
        let cell = grid.cell(index);
        let value = u.get(0, cell);
        mass += value;
        for k in 0..3 {
            let x = grid.centre(k, cell[k]);
            mean[k] += value * x;
            square[k] += value * x * x;
        }
    }
    let mean = mean.map(|sum| sum / mass);
    let variance = [0, 1, 2].map(|k| square[k] / mass - mean[k] * mean[k]);
    (mass, mean, variance)
}

/// A puff moves with the velocity exactly, and its variance grows by 2D·dt + |w|h·dt − (w·dt)² in a
/// step, also when the velocity turns.
#[test]
fn upwind_moments_follow_their_rule() {
    let grid = Grid::new([40, 24, 36], 100.0).unwrap();
    let velocities = ["5", "-1", "5 * cos(t / 30)"];
    let velocity = Velocity::Uniform(velocities.map(Quantity::from));
    let problem =
        Problem::new(model(&[("c", "100 * lap(c)")]), grid).velocity(velocity, Advection::Upwind);
    let u = Field::<f64>::from_fn(&grid, 1, |_, at| {
        f64::from((0..3).all(|k| (at[k] / 100.0 - [12.5, 12.5, 18.5][k]).abs() < 0.6))
    })
    .unwrap();
    let (mass, mean, variance) = moments(&u, &grid);
    let (h, count) = (5.0, 12);
    let end = steps(&problem, u, h, count);
    let (new_mass, new_mean, new_variance) = moments(&end, &grid);
    assert!((new_mass / mass - 1.0).abs() < 1e-12);
    for k in 0..3 {
        let speed = |n: u64| [5.0, -1.0, 5.0 * (n as f64 * h / 30.0).cos()][k];
        let shift: f64 = (0..count).map(|n| speed(n) * h).sum();
        assert!((new_mean[k] - mean[k] - shift).abs() < 1e-8, "axis {k}");
        let growth = |n: u64| 200.0 * h + speed(n).abs() * 100.0 * h - (speed(n) * h).powi(2);
        let growth: f64 = (0..count).map(growth).sum();
        assert!((new_variance[k] - variance[k] - growth).abs() < 1e-6 * growth, "axis {k}");
    }
}

/// Velocities per cell give what a uniform velocity gives; a wave with its crests is advected with second order
/// in the mean by Koren's scheme (koren.rs has more), with far less loss than upwind; no new extremes
/// appear.
#[test]
fn advected_waves_keep_their_shape() {
    let advected = |n: usize, advection: Advection, per_cell: bool, axis: usize| {
        let mut shape = [2; 3];
        shape[axis] = n;
        let grid = Grid::new(shape, 1.0 / n as f64).unwrap();
        let mut w = [0.0; 3];
        w[axis] = -1.0;
        let velocity = if per_cell {
            Velocity::Cells(w.map(|w| vec![w; grid.cells()]))
        } else {
            Velocity::Uniform(w.map(Quantity::from))
        };
        let problem = Problem::new(model(&[("c", "0")]), grid)
            .velocity(velocity, advection)
            .boundaries(Boundaries::all(Boundary::Periodic));
        let wave = |x: f64| (2.0 * PI * x).sin();
        let u = Field::<f64>::from_fn(&grid, 1, |_, at| wave(at[axis])).unwrap();
        // Small steps, so that the error of Euler does not show.
        let count = 40 * n as u64;
        let end = steps(&problem, u, 0.25 / count as f64, count);
        let mut sum = 0.0;
        for index in 0..grid.cells() {
            let cell = grid.cell(index);
            let exact = wave(grid.centre(axis, cell[axis]) + 0.25);
            sum += (end.get(0, cell) - exact).abs();
            assert!(end.get(0, cell).abs() < 1.0);
        }
        (sum / grid.cells() as f64, end)
    };
    for axis in 0..3 {
        let (upwind, uniform) = advected(32, Advection::Upwind, false, axis);
        let (_, cells) = advected(32, Advection::Upwind, true, axis);
        for (a, b) in uniform.to_values(0).iter().zip(cells.to_values(0)) {
            assert!((a - b).abs() < 1e-12, "axis {axis}");
        }
        let (coarse, uniform) = advected(32, Advection::Koren, false, axis);
        let (_, cells) = advected(32, Advection::Koren, true, axis);
        assert!(
            uniform.to_values(0).iter().zip(cells.to_values(0)).all(|(a, b)| (a - b).abs() < 1e-12)
        );
        let (fine, _) = advected(64, Advection::Koren, false, axis);
        assert!(coarse < upwind / 5.0, "axis {axis}: {coarse} {upwind}");
        assert!((coarse / fine).log2() > 2.0, "axis {axis}: {coarse} {fine}");
    }
}

/// A jump advected by Koren's scheme stays between its values.
#[test]
fn jumps_stay_within_their_values() {
    let grid = Grid::new([60, 20, 1], 1.0).unwrap();
    let velocity = Velocity::Uniform([0.7, -0.4, 0.0].map(Quantity::from));
    let problem = Problem::new(model(&[("c", "0")]), grid)
        .boundaries(Boundaries::all(Boundary::Open))
        .velocity(velocity, Advection::Koren);
    let jump = |at: [f64; 3]| f64::from((10.0..20.0).contains(&at[0]) && at[1] > 8.0);
    let u = Field::<f64>::from_fn(&grid, 1, |_, at| jump(at)).unwrap();
    let end = steps(&problem, u, 0.45, 60);
    let values = end.to_values(0);
    assert!(values.iter().all(|c| (-1e-12..=1.0 + 1e-12).contains(c)));
    assert!(values.iter().any(|c| *c > 0.9));
}

/// What a point source gives is in the box: E per time, in one cell.
#[test]
fn a_source_gives_what_it_should() {
    let problem = Builtin::Plume.problem([48, 12, 16]).unwrap();
    let start = Builtin::Plume.initial::<f64>(&problem.grid, 0).unwrap();
    let end = steps(&problem, start, 5.0, 8);
    let engine = Engine::new(&problem, &cpu()).unwrap();
    let all = engine.summaries(&end)[0];
    assert!((all.sum - 10.0 * 40.0).abs() < 0.1 && all.min >= 0.0, "{all:?}");
    assert!((all.mass - all.sum * 1e6).abs() < 1e-3);
}

/// The mended front differs from the printed one only by where the redissolution begins.
#[test]
fn problems_have_their_names() {
    for builtin in Builtin::ALL {
        assert_eq!(Builtin::named(builtin.name()), Some(builtin));
        let problem = builtin.problem([6, 5, 4]).unwrap();
        let start = builtin.initial::<f32>(&problem.grid, 1).unwrap();
        let mut simulation =
            Simulation::new(&problem, start, 0.0, &Options::euler(builtin.step()), cpu()).unwrap();
        let outcome = simulation.run_steps(3, 0, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(outcome, Outcome::Reached, "{builtin:?}");
    }
}
