//! The front of two species that meet and react at once: a − b is that of pure diffusion, and
//! the front where it is zero.

use crate::common::{advanced, erf};
use odeum_fields::problems::Builtin;
use odeum_fields::{
    Boundaries, Boundary, Face, Field, Grid, ModelText, Options, Problem, Quantity,
};
use std::f64::consts::PI;

/// a − b before a boundary that holds 10 and 0, in a half space of b = 1: −1 + 11 erfc(x/(2√t)).
fn difference(x: f64, t: f64) -> f64 {
    -1.0 + 11.0 * (1.0 - erf(x / (2.0 * t.sqrt())))
}

/// x/√t of the front: 11 erfc(s/2) = 1, by bisection.
fn front() -> f64 {
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if difference(middle, 1.0) > 0.0 { low = middle } else { high = middle }
    }
    low
}

/// Where values at cell centres pass zero.
fn zero(grid: &Grid, values: &[f64]) -> f64 {
    let i = values.windows(2).position(|pair| pair[0] > 0.0 && pair[1] <= 0.0).unwrap();
    grid.centre(0, i) + grid.spacing()[0] * values[i] / (values[i] - values[i + 1])
}

/// Whatever the speed of the reaction, in cells of 1 and of 1/2: the errors are those of the
/// grid, of second order, and as large as the difference of both says. What reacts in all is what
/// flows into the front, the more exactly the narrower it is.
#[test]
fn the_difference_of_what_reacts_only_diffuses() {
    let t = 100.0;
    for (rate, fraction) in [(0.2, 0.02), (20.0, 0.002)] {
        let on = |refine: usize| {
            let h = 1.0 / refine as f64;
            let text = ModelText {
                species: vec!["a", "b"],
                params: vec![("k", rate)],
                equations: vec![("a", "lap(a) - k * a * b"), ("b", "lap(b) - k * a * b")],
                ..ModelText::default()
            };
            let grid = Grid::new([140 * refine, 1, 1], h).unwrap();
            let boundary = |value: f64| Boundary::Dirichlet(Quantity::from(value));
            let low = Face { axis: 0, high: false };
            let boundaries = Boundaries::default().species(low, "a", boundary(10.0)).species(
                low,
                "b",
                boundary(0.0),
            );
            let problem = Problem::new(text.read().unwrap().0, grid).boundaries(boundaries);
            let start = Field::<f64>::from_fn(&grid, 2, |s, _| s as f64).unwrap();
            // As fast as 10 k allows in the coarser grid.
            let end = advanced(&problem, start, &Options::euler(h * h / 256.0), t);
            let pairs = end.to_values(0).into_iter().zip(end.to_values(1));
            let values: Vec<f64> = pairs.clone().map(|(a, b)| a - b).collect();
            let gone: f64 = pairs.map(|(a, b)| rate * a * b * h).sum();
            let exact = |i: usize| difference(grid.centre(0, i), t);
            let error = (0..values.len()).map(|i| (values[i] - exact(i)).abs()).fold(0.0, f64::max);
            (error, zero(&grid, &values), gone)
        };
        let [coarse, fine] = [1, 2].map(on);
        let order = (coarse.0 / fine.0).log2();
        assert!(fine.0 < 0.001 && (order - 2.0).abs() < 0.1, "{coarse:?} {fine:?}");
        let place = front() * t.sqrt();
        let of_grid = (coarse.1 - fine.1).abs() / 3.0;
        assert!((fine.1 - place).abs() < 1.5 * of_grid, "{coarse:?} {fine:?} {place}");
        let flux = 11.0 / (PI * t).sqrt() * (-front().powi(2) / 4.0).exp();
        assert!((fine.2 / flux - 1.0).abs() < fraction, "{} {flux}", fine.2);
    }
}

/// The printed problem but for k₂, whose boundary lets no b pass instead of holding none. That tells
/// only at first, while b is left there, and at the front as 0.1 ∫b(0, t) dt/√t cells.
#[test]
fn the_front_of_the_paper_goes_with_the_root_of_time() {
    assert!((front() - 2.39).abs() < 0.005, "{}", front());
    let mut problem = Builtin::Front.problem([300, 1, 1]).unwrap();
    problem.model = problem.model.with_param("k2", 0.0).unwrap();
    let start = Builtin::Front.initial::<f64>(&problem.grid, 0).unwrap();
    let mut before = 0.0;
    for t in [100.0, 400.0, 900.0] {
        let end = advanced(&problem, start.clone(), &Options::euler(0.02), t);
        let pairs = end.to_values(0).into_iter().zip(end.to_values(1));
        let values: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        let found = zero(&problem.grid, &values);
        let error = (found - front() * f64::sqrt(t)).abs();
        assert!(error * f64::sqrt(t) < 0.2, "{t}: {found}, {error}");
        assert!(found > before);
        before = found;
    }
}
