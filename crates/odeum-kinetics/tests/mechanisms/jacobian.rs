//! The Jacobian of a reactor against dual numbers through its own right-hand side.

use std::sync::Arc;

use crate::common::{dual::Dual, synthetic};
use odeum_core::System;
use odeum_kinetics::{Constraint, Energy, JacobianForm, Kinetics, Reactor};

/// All four kinds of reactor.
fn reactors(kinetics: &Arc<Kinetics>, form: JacobianForm) -> Vec<Reactor> {
    let mut all = Vec::new();
    for constraint in [Constraint::ConstantPressure, Constraint::ConstantVolume] {
        for energy in [Energy::Adiabatic, Energy::Isothermal] {
            all.push(Reactor::new(Arc::clone(kinetics), constraint, energy, form));
        }
    }
    all
}

/// ∂f/∂y, row by row, by dual numbers, and f.
fn by_duals(reactor: &Reactor, y: &[f64], p: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = reactor.dim();
    let mut rows = vec![vec![0.0; n]; n];
    let mut f = vec![0.0; n];
    let p: Vec<Dual> = p.iter().map(|p| Dual::new(*p, 0.0)).collect();
    for column in 0..n {
        let seeded: Vec<Dual> =
            (0..n).map(|i| Dual::new(y[i], f64::from(u8::from(i == column)))).collect();
        let mut dydt = vec![Dual::new(0.0, 0.0); n];
        reactor.rhs(Dual::new(0.0, 0.0), &seeded, &p, &mut dydt);
        for row in 0..n {
            rows[row][column] = dydt[row].slope;
            f[row] = dydt[row].value;
        }
    }
    (rows, f)
}

fn by_reactor(reactor: &Reactor, y: &[f64], p: &[f64]) -> Vec<Vec<f64>> {
    let (n, pattern) = (reactor.dim(), reactor.jacobian_pattern().unwrap());
    let mut values = vec![f64::NAN; pattern.nnz()];
    let mut dfdt = vec![f64::NAN; n];
    let mut work = vec![f64::NAN; reactor.workspace()];
    reactor.jacobian_in(0.0, y, p, &mut values, &mut dfdt, &mut work);
    assert_eq!(dfdt, vec![0.0; n]);
    with_the_slope(reactor, y, p, &values);
    let mut rows = vec![vec![0.0; n]; n];
    for ((row, column), value) in pattern.iter().zip(values) {
        rows[row][column] = value;
    }
    rows
}

/// f and ∂f/∂y of one evaluation are those of two, up to roundings of f.
fn with_the_slope(reactor: &Reactor, y: &[f64], p: &[f64], jacobian: &[f64]) {
    let n = reactor.dim();
    let mut work = vec![f64::NAN; reactor.workspace()];
    let mut f = vec![f64::NAN; n];
    reactor.rhs_in(0.0, y, p, &mut f, &mut work);
    let (mut both, mut dfdt) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    let mut values = vec![f64::NAN; jacobian.len()];
    work.fill(f64::NAN);
    reactor.rhs_and_jacobian_in(0.0, y, p, &mut both, &mut values, &mut dfdt, &mut work);
    assert_eq!((values, dfdt), (jacobian.to_vec(), vec![0.0; n]));
    // What stands in a row of f is a sum of terms of the size of ∂f/∂y y.
    let mut size = vec![0.0; n];
    for ((row, column), value) in reactor.jacobian_pattern().unwrap().iter().zip(jacobian) {
        size[row] += (value * y[column]).abs();
    }
    for i in 0..n {
        assert!((both[i] - f[i]).abs() <= 1e-14 * size[i], "{i}: {} and {}", both[i], f[i]);
    }
}

/// Largest difference relative to the largest entry of the row and column, which is what a
/// cancellation among its terms can cost.
fn compare(reactor: &Reactor, y: &[f64], p: &[f64], tolerance: f64) {
    let (expected, f) = by_duals(reactor, y, p);
    let found = by_reactor(reactor, y, p);
    let names = reactor.state_names();
    let n = reactor.dim();
    assert!(f.iter().all(|f| f.is_finite()), "{y:?} {f:?}");
    for row in 0..n {
        let largest = (0..n).map(|j| expected[row][j].abs()).fold(0.0, f64::max);
        for column in 0..n {
            let (a, b) = (found[row][column], expected[row][column]);
            assert!(
                (a - b).abs() <= tolerance * b.abs() + 1e-13 * largest,
                "∂{}/∂{}: {a:e}, by duals {b:e}; {:?} {:?} at {y:?}",
                names[row],
                names[column],
                reactor.constraint(),
                reactor.energy(),
            );
        }
    }
}

/// Temperature, pressure, mass fractions.
fn states(n: usize) -> Vec<(f64, f64, Vec<f64>)> {
    let mut all = Vec::new();
    for (i, (t, p)) in
        [(300.0, 1e5), (900.0, 3e3), (1400.0, 2e6), (2500.0, 5e7)].into_iter().enumerate()
    {
        let weights: Vec<f64> =
            (0..n).map(|k| 10f64.powi(-(((7 * k + 3 * i) % 6) as i32))).collect();
        let sum: f64 = weights.iter().sum();
        all.push((t, p, weights.iter().map(|w| w / sum).collect()));
    }
    all
}

#[test]
fn the_exact_jacobian_is_the_derivative_of_the_right_hand_side() {
    let kinetics = Arc::new(Kinetics::new(&synthetic::mechanism()).unwrap());
    for reactor in reactors(&kinetics, JacobianForm::Exact) {
        for (t, p, fractions) in states(kinetics.n_species()) {
            let (y, p) = reactor.state(t, p, &fractions).unwrap();
            compare(&reactor, &y, &p, 1e-10);
        }
    }
}

#[test]
fn zero_and_slightly_negative_fractions_give_finite_exact_derivatives() {
    for mechanism in [synthetic::mechanism(), synthetic::with_order_of_consumed()] {
        let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
        let n = kinetics.n_species();
        for reactor in reactors(&kinetics, JacobianForm::Exact) {
            for first in [0, 2, 5, 8] {
                let mut fractions = vec![0.0; n];
                fractions[first] = 0.9;
                fractions[(first + 3) % n] = 0.1;
                let (mut y, p) = reactor.state(1100.0, 101_325.0, &fractions).unwrap();
                compare(&reactor, &y, &p, 1e-9);
                for k in 0..n {
                    if fractions[k] == 0.0 {
                        y[1 + k] = -1e-14;
                    }
                }
                compare(&reactor, &y, &p, 1e-9);
            }
        }
    }
}

/// What is gone is not consumed, whatever its order; one that is below zero comes back.
#[test]
fn consumption_with_a_negative_order_ends_at_zero() {
    let mechanism = synthetic::with_order_of_consumed();
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let ordered = |r: &odeum_kinetics::mechanism::Reaction| r.orders.contains(&(0, -0.3));
    let at = mechanism.reactions.iter().position(ordered).unwrap();
    let rate = |hydrogen: f64, water: f64| {
        let mut c = vec![1e-3; kinetics.n_species()];
        (c[0], c[5]) = (hydrogen, water);
        let mut work = vec![0.0; kinetics.workspace()];
        let [mut forward, mut reverse] = [(); 2].map(|()| vec![0.0; kinetics.n_reactions()]);
        kinetics.rates_of_progress(1500.0, &c, &mut forward, &mut reverse, &mut work);
        forward[at]
    };
    // The floor is 1e-20 kmol/m³.
    let floor = rate(1e-20, 1e-3);
    assert!((rate(1e-18, 1e-3) / floor / 0.01_f64.powf(0.3) - 1.0).abs() < 1e-12);
    assert_eq!(rate(0.0, 1e-3), 0.0);
    for part in [0.5, 1e-3, -1e-3, -1e6] {
        let ratio = rate(part * 1e-20, 1e-3) / floor;
        assert!((ratio / part - 1.0).abs() < 1e-12, "{part}: {ratio}");
    }
    // Water is not consumed, and slows the reaction no more than at the floor.
    assert_eq!(rate(1e-3, -1e-9), rate(1e-3, 1e-20));
}

#[test]
fn approximate_leaves_out_listed_efficiencies_only() {
    let kinetics = Arc::new(Kinetics::new(&synthetic::mechanism()).unwrap());
    for (exact, approximate) in reactors(&kinetics, JacobianForm::Exact)
        .into_iter()
        .zip(reactors(&kinetics, JacobianForm::Approximate))
    {
        let (full, less) =
            (exact.jacobian_pattern().unwrap(), approximate.jacobian_pattern().unwrap());
        assert!(less.nnz() < full.nnz());
        assert!(less.iter().all(|(row, column)| full.contains(row, column)));
        let (t, p, fractions) = states(kinetics.n_species()).swap_remove(2);
        let (y, p) = exact.state(t, p, &fractions).unwrap();
        let (full, less) = (by_reactor(&exact, &y, &p), by_reactor(&approximate, &y, &p));
        let last = exact.dim() - 1;
        for row in 1..=last {
            assert_eq!(full[row][0], less[row][0]);
            assert_eq!(full[row][last], less[row][last]);
        }
    }
}

#[test]
fn mass_elements_and_the_amount_of_substance_are_conserved() {
    let mechanism = synthetic::mechanism();
    let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
    let n = kinetics.n_species();
    for reactor in reactors(&kinetics, JacobianForm::Exact) {
        for (t, p, fractions) in states(n) {
            let (y, p) = reactor.state(t, p, &fractions).unwrap();
            let mut f = vec![0.0; n + 2];
            reactor.rhs(0.0, &y, &p, &mut f);
            let w = kinetics.molecular_weights();
            let total = |of: &dyn Fn(usize) -> f64| {
                let sum: f64 = (0..n).map(|k| of(k) * f[1 + k]).sum();
                let scale: f64 = (0..n).map(|k| (of(k) * f[1 + k]).abs()).sum();
                assert!(sum.abs() <= 1e-12 * scale, "{sum:e} of {scale:e}");
            };
            total(&|_| 1.0);
            for element in 0..mechanism.elements.len() {
                total(&|k| {
                    let atoms = &mechanism.species[k].composition;
                    atoms.iter().find(|(e, _)| *e == element).map_or(0.0, |(_, n)| n / w[k])
                });
            }
            let moles: f64 = (0..n).map(|k| f[1 + k] / w[k]).sum();
            let scale: f64 = (0..n).map(|k| (f[1 + k] / w[k]).abs()).sum();
            assert!((moles - f[n + 1]).abs() <= 1e-13 * scale);
        }
    }
}

#[test]
fn a_temperature_that_is_none_gives_nan_not_a_panic() {
    let kinetics = Arc::new(Kinetics::new(&synthetic::mechanism()).unwrap());
    let reactor = Reactor::constant_pressure(kinetics);
    let (_, p, fractions) = states(reactor.kinetics().n_species()).swap_remove(1);
    let (mut y, p) = reactor.state(1000.0, p, &fractions).unwrap();
    for t in [f64::NAN, -300.0] {
        y[0] = t;
        let mut f = vec![0.0; reactor.dim()];
        reactor.rhs(0.0, &y, &p, &mut f);
        assert!(f[0].is_nan());
    }
}

/// Number of entries of the exact pattern at constant volume, and of its approximation.
fn entries(name: &str) -> Option<(usize, usize)> {
    let kinetics = Arc::new(Kinetics::new(&crate::common::load(name)?).unwrap());
    let count = |form| {
        let (constraint, energy) = (Constraint::ConstantVolume, Energy::Adiabatic);
        let reactor = Reactor::new(Arc::clone(&kinetics), constraint, energy, form);
        reactor.jacobian_pattern().unwrap().nnz()
    };
    Some((count(JacobianForm::Exact), count(JacobianForm::Approximate)))
}

#[test]
fn published_mechanisms_have_exact_and_sparse_jacobians() {
    for name in ["rate-laws", "burke-h2-2012", "grimech30", "marinov-ethanol-1999"] {
        let Some(mechanism) = crate::common::load(name) else { continue };
        let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
        for reactor in reactors(&kinetics, JacobianForm::Exact) {
            let low = 300.0_f64.max(kinetics.temperature_bounds().0);
            for (t, p, mut fractions) in states(kinetics.n_species()) {
                let (y, parameter) = reactor.state(t.max(low), p, &fractions).unwrap();
                compare(&reactor, &y, &parameter, 1e-9);
                for k in (0..fractions.len()).step_by(3) {
                    fractions[k] = 0.0;
                }
                let sum: f64 = fractions.iter().sum();
                fractions.iter_mut().for_each(|y| *y /= sum);
                let (y, parameter) = reactor.state(t.max(low), p, &fractions).unwrap();
                compare(&reactor, &y, &parameter, 1e-9);
            }
        }
    }
}

#[test]
fn patterns_are_as_sparse_as_the_reactions() {
    // A count in concentrations, with the whole diagonal, gave 1,467 for GRI-Mech 3.0.
    for (name, expected) in [("grimech30", (1465, 1325)), ("burke-h2-2012", (144, 105))] {
        if let Some(found) = entries(name) {
            assert_eq!(found, expected, "{name}");
        }
    }
}
