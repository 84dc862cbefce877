//! Reactors on the CPU: what other forms of them are compared with.

use odeum_core::System;
use odeum_kinetics::Reactor;

/// States at the ends of the data, where their ranges meet and between; with all species, with few, and with
/// slightly negative ones.
pub(crate) fn states(reactor: &Reactor) -> Vec<(Vec<f64>, f64)> {
    let kinetics = reactor.kinetics();
    let n = kinetics.n_species();
    let (low, high) = kinetics.temperature_bounds();
    let mut all = Vec::new();
    for (i, (t, p)) in [
        (low.max(250.0), 1e5),
        (999.0, 3e3),
        (1000.0, 2.1e6),
        (1400.0, 1.3e5),
        (high.min(3000.0), 4.7e7),
    ]
    .into_iter()
    .enumerate()
    {
        let weight = |k: usize| 10f64.powi(-(((7 * k + 3 * i) % 6) as i32));
        let few = |k: usize| if (k + i).is_multiple_of(3) { weight(k) } else { 0.0 };
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
pub(crate) fn by_cpu(reactor: &Reactor, y: &[f64], p: f64) -> (Vec<f64>, Vec<f64>) {
    let n = reactor.dim();
    let (mut f, mut dfdt) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    let mut jacobian = vec![f64::NAN; reactor.jacobian_pattern().unwrap().nnz()];
    let mut work = vec![f64::NAN; reactor.workspace()];
    reactor.rhs_and_jacobian_in(0.0, y, &[p], &mut f, &mut jacobian, &mut dfdt, &mut work);
    (f, jacobian)
}

/// A large h/R over a small cp/R \[K\].
const HEAT: f64 = 5e4 / 2.5;

/// What the terms of entries of the Jacobian are like in size: of a row of a species its largest entry; of
/// the rows m and T, which are sums down the columns, that of the entries of the species; of the columns T
/// and m, which are sums over all reactions, as f is.
pub(crate) fn gross(reactor: &Reactor, y: &[f64], jacobian: &[f64]) -> Vec<f64> {
    let pattern = reactor.jacobian_pattern().unwrap();
    let (weight, n) = (reactor.kinetics().molecular_weights(), reactor.dim());
    let (mut largest, mut moles) = (vec![0.0_f64; n], vec![0.0; n]);
    for ((row, column), value) in pattern.iter().zip(jacobian) {
        largest[row] = largest[row].max(value.abs());
        if (1..n - 1).contains(&row) {
            moles[column] += value.abs() / weight[row - 1];
        }
    }
    let sizes = sizes(reactor, y, jacobian);
    let size = |(row, column): (usize, usize)| match (row, column) {
        (_, 0) => largest[row].max(sizes[row] / y[0]),
        (_, _) if column == n - 1 => largest[row].max(sizes[row] / y[n - 1]),
        (0, _) => largest[0].max(HEAT / y[n - 1] * moles[column]),
        _ if row == n - 1 => moles[column],
        _ => largest[row],
    };
    pattern.iter().map(size).collect()
}

/// What the terms of f are like in size: in a row of the Jacobian times y; of m and T, sums of those of the species.
pub(crate) fn sizes(reactor: &Reactor, y: &[f64], jacobian: &[f64]) -> Vec<f64> {
    let (weight, n) = (reactor.kinetics().molecular_weights(), reactor.dim());
    let mut size = vec![0.0; n];
    for ((row, column), value) in reactor.jacobian_pattern().unwrap().iter().zip(jacobian) {
        size[row] += (value * y[column]).abs();
    }
    let moles: f64 = (1..n - 1).map(|i| size[i] / weight[i - 1]).sum();
    size[n - 1] = size[n - 1].max(moles);
    size[0] = size[0].max(moles * HEAT / y[n - 1]);
    size
}
