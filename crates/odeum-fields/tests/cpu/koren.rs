//! Velocities: the order of Koren's scheme in one dimension, that it makes no new extremum, and what is carried.

use crate::common::{advanced, model};
use odeum_fields::{
    Advection, Boundaries, Boundary, Field, Grid, Method, Options, Problem, Quantity, Steps,
    Velocity, stability,
};
use std::f64::consts::PI;

/// A profile on an axis of length 2, by its integral: what a scheme of fluxes carries are its
/// means over cells.
type Integral = fn(f64) -> f64;

/// Carried by RKC, whose errors of second order in time do not show in steps of a thirty-second of
/// a cell; and by SSPRK3, in steps of half a cell.
const TIMES: [(Method, f64); 2] =
    [(Method::Rkc { stages: Some(4) }, 1.0 / 32.0), (Method::Ssprk3, 0.5)];

/// Mean and largest error on n cells along an axis, advected by 0.3 along it or against it.
fn errors(
    n: usize,
    axis: usize,
    velocity: f64,
    integral: Integral,
    boundaries: &Boundaries,
    (method, courant): (Method, f64),
) -> [f64; 2] {
    let h = 2.0 / n as f64;
    let (mut shape, mut spacing, mut velocities) = ([1; 3], [1.0; 3], [0.0; 3]);
    (shape[axis], spacing[axis], velocities[axis]) = (n, h, velocity);
    let grid = Grid::with_spacing(shape, spacing).unwrap();
    let mean = |x: f64| (integral(x + h / 2.0) - integral(x - h / 2.0)) / h;
    let problem = Problem::new(model(&[("c", "0")]), grid)
        .velocity(Velocity::Uniform(velocities.map(Quantity::from)), Advection::Koren)
        .boundaries(boundaries.clone());
    let start = Field::<f64>::from_fn(&grid, 1, |_, at| mean(at[axis])).unwrap();
    let options = Options::new(method, Steps::Fixed(courant * h / velocity.abs()));
    let end = advanced(&problem, start, &options, 0.3 / velocity.abs()).to_values(0);
    let shift = 0.3 * velocity.signum();
    let error = |i: usize| (end[i] - mean(grid.centre(axis, i) - shift)).abs();
    let errors: Vec<f64> = (0..n).map(error).collect();
    [errors.iter().sum::<f64>() / n as f64, errors.iter().fold(0.0, |a, b| a.max(*b))]
}

/// log₂ of how many times smaller the mean and the largest error are on twice the cells.
fn orders(
    n: usize,
    axis: usize,
    velocity: f64,
    integral: Integral,
    boundaries: &Boundaries,
    time: (Method, f64),
) -> [f64; 2] {
    let [coarse, fine] = [n, 2 * n].map(|n| errors(n, axis, velocity, integral, boundaries, time));
    [0, 1].map(|k| (coarse[k] / fine[k]).log2())
}

/// A rise from −1 to 1 that is level at both ends has no extremum.
#[test]
fn the_third_order_where_nothing_is_limited() {
    let rise: Integral = |x| (10.0 * (x - 1.0)).cosh().ln() / 10.0;
    for axis in 0..3 {
        for (velocity, time) in [(1.0, TIMES[0]), (-1.0, TIMES[0]), (1.0, TIMES[1])] {
            let orders = orders(160, axis, velocity, rise, &Boundaries::all(Boundary::Open), time);
            assert!(orders.iter().all(|p| (p - 3.0).abs() < 0.15), "{axis} {velocity}: {orders:?}");
        }
    }
}

/// At crests the limiter leaves differences of first order: those cells are ever fewer, so that
/// in the mean the error of a wave is still of more than second order.
#[test]
fn crests_cost_an_order_in_the_mean() {
    let wave: Integral = |x| -(PI * x).cos() / PI;
    let [mean, largest] = orders(64, 0, 1.0, wave, &Boundaries::all(Boundary::Periodic), TIMES[0]);
    assert!((2.1..2.5).contains(&mean), "{mean}");
    assert!((1.3..1.8).contains(&largest), "{largest}");
}

/// A block of ones goes round a box by SSPRK3, in the largest steps by which forward Euler makes no
/// new extremum.
#[test]
fn no_new_extremum_by_ssprk3() {
    let grid = Grid::new([40, 24, 1], 1.0).unwrap();
    let velocity = Velocity::Uniform([1.0, -0.7, 0.0].map(Quantity::from));
    let problem = Problem::new(model(&[("c", "0")]), grid)
        .velocity(velocity, Advection::Koren)
        .boundaries(Boundaries::all(Boundary::Periodic));
    let block = |_, [x, y, _]: [f64; 3]| f64::from((x - 12.0).abs() < 5.0 && (y - 9.0).abs() < 4.0);
    let start = Field::<f64>::from_fn(&grid, 1, block).unwrap();
    let h = stability(&problem, &start, (0.0, 40.0)).unwrap().euler;
    let options = Options::new(Method::Ssprk3, Steps::Fixed(h));
    let end = advanced(&problem, start.clone(), &options, 40.0).to_values(0);
    let within = end.iter().all(|c| (-1e-14..=1.0 + 1e-14).contains(c));
    assert!(within, "{:?}", end.iter().fold([0.0, 1.0], |[a, b], c| [c.min(a), c.max(b)]));
    // Most of it is still there, as the scheme is not of first order.
    let largest = end.iter().fold(0.0, |a: f64, b| a.max(*b));
    assert!(largest > 0.95, "{largest}");
}

/// What could not pass was counted: 0.13 for 0.28.
#[test]
fn a_velocity_along_a_closed_cell_makes_nothing_negative() {
    let positive = |velocity: [f64; 3]| {
        let velocity = Velocity::Uniform(velocity.map(Quantity::from));
        let problem =
            Problem::new(model(&[("u", "0.1*lap(u)")]), Grid::new([40, 1, 1], 0.5).unwrap())
                .velocity(velocity, Advection::Upwind);
        let start = Field::<f64>::zeros(&problem.grid, 1).unwrap();
        stability(&problem, &start, (0.0, 3.0)).unwrap().positive
    };
    assert!(positive([1.0, 0.0, 0.0]).is_some());
    assert_eq!(positive([1.0, 2.0, 0.0]), positive([1.0, 0.0, 0.0]));
}

/// A list of nothing carried nothing, without a word.
#[test]
fn species_that_a_velocity_carries_are_named_once() {
    let velocity = Velocity::Uniform([1.0, 0.0, 0.0].map(Quantity::from));
    let grid = Grid::new([8, 1, 1], 0.5).unwrap();
    let problem =
        Problem::new(model(&[("u", "lap(u)")]), grid).velocity(velocity, Advection::Upwind);
    for (names, part) in
        [(vec![], "found none"), (vec!["u", "u"], "`u` twice; name each species once")]
    {
        let advected = Some(names.into_iter().map(str::to_owned).collect());
        let error = Problem { advected, ..problem.clone() }.check().unwrap_err().to_string();
        assert!(error.contains("velocity.species") && error.contains(part), "{error}");
    }
}
