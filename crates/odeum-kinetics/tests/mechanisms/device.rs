//! Reactors by groups of threads against the CPU.

use crate::common::{group, load};
use odeum_core::System;
use odeum_core::emit::Grouped;
use odeum_kinetics::{Kinetics, Mechanism, Reactor};
use std::sync::Arc;

fn kinetics(mechanism: &Mechanism) -> Arc<Kinetics> {
    Arc::new(Kinetics::new(mechanism).unwrap())
}

/// States at the ends of the data, where their ranges meet and between; with all species, with few, and with
/// slightly negative ones.
fn states(reactor: &Reactor) -> Vec<(Vec<f64>, f64)> {
    let kinetics = reactor.kinetics();
    let n = kinetics.n_species();
    let (low, high) = kinetics.temperature_bounds();
    let mut all = Vec::new();
    for (i, (t, p)) in
        [(low.max(250.0), 1e5), (999.0, 3e3), (1000.0, 2.1e6), (1400.0, 1.3e5), (high, 4.7e7)]
            .into_iter()
            .enumerate()
    {
        let weight = |k: usize| 10f64.powi(-(((7 * k + 3 * i) % 6) as i32));
        let few = |k: usize| if (k + i) % 3 == 0 { weight(k) } else { 0.0 };
        let (all_of_them, some) = ((0..n).map(weight).collect(), (0..n).map(few).collect());
        for weights in [all_of_them, some] {
            let weights: Vec<f64> = weights;
            let sum: f64 = weights.iter().sum();
            let fractions: Vec<f64> = weights.iter().map(|w| w / sum).collect();
            let (mut y, p) = reactor.state(t, p, &fractions).unwrap();
            all.push((y.clone(), p[0]));
            for k in 0..n {
                if fractions[k] == 0.0 && k % 2 == 0 {
                    y[1 + k] = -1e-13;
                }
            }
            all.push((y, p[0]));
        }
    }
    all
}

/// f and J of the CPU.
fn by_cpu(reactor: &Reactor, y: &[f64], p: f64) -> (Vec<f64>, Vec<f64>) {
    let n = reactor.dim();
    let (mut f, mut dfdt) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    let mut jacobian = vec![f64::NAN; reactor.jacobian_pattern().unwrap().nnz()];
    let mut work = vec![f64::NAN; reactor.workspace()];
    reactor.rhs_and_jacobian_in(0.0, y, &[p], &mut f, &mut jacobian, &mut dfdt, &mut work);
    (f, jacobian)
}

/// What the terms of entries of the Jacobian are like in size: of a row of a species its largest entry; of
/// the rows m and T, which are sums down the columns, that of the entries of the species.
fn gross(reactor: &Reactor, y: &[f64], jacobian: &[f64]) -> Vec<f64> {
    let pattern = reactor.jacobian_pattern().unwrap();
    let (weight, n) = (reactor.kinetics().molecular_weights(), reactor.dim());
    let (mut largest, mut moles) = (vec![0.0_f64; n], vec![0.0; n]);
    for ((row, column), value) in pattern.iter().zip(jacobian) {
        largest[row] = largest[row].max(value.abs());
        if (1..n - 1).contains(&row) {
            moles[column] += value.abs() / weight[row - 1];
        }
    }
    // h/RT is at most about this, cp/R of a mixture at least 2.5.
    let energy = 5e4 / y[0];
    let heat = y[0] * energy / (2.5 * y[n - 1]);
    let size = |(row, column): (usize, usize)| match row {
        0 => largest[0].max(heat * moles[column]),
        _ if row == n - 1 => moles[column],
        _ => largest[row],
    };
    pattern.iter().map(size).collect()
}

/// Compares all states. What stands in a row of f is a sum of terms of the size of ∂f/∂y y.
fn compare(what: &str, reactor: &Reactor, width: usize, single: bool) {
    let places = group::places(reactor, 3);
    let states = states(reactor);
    let Some(found) = group::evaluate(reactor, width, single, &places, &states) else { return };
    let pattern = reactor.jacobian_pattern().unwrap();
    let names = reactor.state_names();
    // Of single precision numbers below 1e-37 are zero.
    let (relative, absolute, least) = if single { (2e-5, 2e-6, 1e-36) } else { (1e-9, 1e-13, 0.0) };
    for ((y, p), found) in states.iter().zip(&found) {
        let (f, jacobian) = by_cpu(reactor, y, *p);
        let here = format!("{what}, {:?}, width {width}, T {}", reactor.constraint(), y[0]);
        let mut size = vec![0.0; f.len()];
        for ((row, column), value) in pattern.iter().zip(&jacobian) {
            size[row] += (value * y[column]).abs();
        }
        for i in 0..f.len() {
            for slope in [found.f[i], found.f_too[i]] {
                assert!(
                    (slope - f[i]).abs() <= 1e-12 * size[i],
                    "{here}: f of {} is {slope:e}, on the CPU {:e} of {:e}",
                    names[i],
                    f[i],
                    size[i]
                );
            }
        }
        let gross = gross(reactor, y, &jacobian);
        for (entry, (row, column)) in pattern.iter().enumerate() {
            let (a, b) = (found.jacobian[entry], jacobian[entry]);
            assert!(
                (a - b).abs() <= relative * b.abs() + absolute * gross[entry] + least,
                "{here}: ∂{}/∂{} is {a:e}, on the CPU {b:e} of {:e}",
                names[row],
                names[column],
                gross[entry]
            );
        }
    }
}

fn constant_pressure(mechanism: &Mechanism) -> Reactor {
    Reactor::constant_pressure(kinetics(mechanism))
}

#[test]
fn hydrogen_and_methane_are_those_of_the_cpu() {
    for name in ["burke-h2-2012", "grimech30"] {
        let Some(mechanism) = load(name) else { continue };
        let reactor = constant_pressure(&mechanism);
        for single in [true, false] {
            let group = reactor.group_text(32, &group::places(&reactor, 0), single);
            let (memory, tables) = (group.memory, group.tables.bytes().len());
            println!("{name}: {memory} bytes of shared memory, {tables} of tables");
            compare(name, &reactor, 32, single);
        }
    }
}
