//! Reactors by groups of threads against the CPU.

use crate::common::cpu::{by_cpu, gross, sizes, states};
use crate::common::group::{self, Precision};
use crate::common::{load, synthetic};
use crate::{large, nearly_balanced};
use odeum_core::emit::{Grouped, MatrixPlaces};
use odeum_core::{Error, System};
use odeum_kinetics::{Constraint, Energy, JacobianForm, Kinetics, Mechanism, Reactor, read};
use std::sync::Arc;

fn kinetics(mechanism: &Mechanism) -> Arc<Kinetics> {
    Arc::new(Kinetics::new(mechanism).unwrap())
}

/// How groups of threads evaluate a reactor at states, if they can.
type Evaluate = fn(
    &Reactor,
    usize,
    Precision,
    &MatrixPlaces,
    &[(Vec<f64>, f64)],
) -> Option<Vec<group::Evaluated>>;

/// Compares all states on the host device.
fn compare(
    what: &str,
    reactor: &Reactor,
    places: &MatrixPlaces,
    width: usize,
    precision: Precision,
) {
    compare_by(group::evaluate, what, reactor, places, width, precision);
    if precision == Precision::Double {
        compare_slopes(group::slopes, what, reactor, width);
        // Warps of interleaved reactors, fewer than there are species and more.
        compare_slopes(
            group::interleaved_slopes,
            &format!("{what}, interleaved"),
            reactor,
            1 + width / 8,
        );
    }
}

/// How f alone is evaluated, by so many threads, at states.
type Slopes = fn(&Reactor, usize, &[(Vec<f64>, f64)]) -> Option<Vec<Vec<f64>>>;

/// It is that of the CPU.
fn compare_slopes(slopes: Slopes, what: &str, reactor: &Reactor, width: usize) {
    let states = states(reactor);
    let Some(found) = slopes(reactor, width, &states) else { return };
    for ((y, p), found) in states.iter().zip(&found) {
        let (f, jacobian) = by_cpu(reactor, y, *p);
        let size = sizes(reactor, y, &jacobian);
        for i in 0..f.len() {
            let near = (found[i] - f[i]).abs() <= 1e-12 * size[i];
            assert!(near, "{what}, width {width}, T {}: {i}: {:e} not {:e}", y[0], found[i], f[i]);
        }
    }
}

/// Compares all states.
fn compare_by(
    evaluate: Evaluate,
    what: &str,
    reactor: &Reactor,
    places: &MatrixPlaces,
    width: usize,
    precision: Precision,
) {
    let mut states = states(reactor);
    if precision == Precision::Single {
        // Of colder gas what multiplies concentrations leaves the range of these numbers, as on the CPU.
        states.retain(|(y, _)| y[0] > 900.0);
    }
    let Some(found) = evaluate(reactor, width, precision, places, &states) else { return };
    let pattern = reactor.jacobian_pattern().unwrap();
    let names = reactor.state_names();
    // Of single precision numbers below 1e-37 are zero.
    let (relative, absolute, least) = match precision {
        Precision::Double => (1e-9, 1e-13, 0.0),
        Precision::Mixed => (2e-5, 2e-6, 1e-36),
        Precision::Single => (1e-3, 1e-4, 1e-30),
    };
    let slopes = if precision == Precision::Single { 1e-4 } else { 1e-12 };
    for ((y, p), found) in states.iter().zip(&found) {
        let (f, jacobian) = by_cpu(reactor, y, *p);
        let here = format!("{what}, {:?}, width {width}, T {}", reactor.constraint(), y[0]);
        let size = sizes(reactor, y, &jacobian);
        for i in 0..f.len() {
            for slope in [found.f[i], found.f_too[i]] {
                assert!(
                    (slope - f[i]).abs() <= slopes * size[i] + least,
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
            // Numbers of single precision end at 3e38: beyond, entries are infinite.
            if precision != Precision::Double && gross[entry] > 1e37 {
                continue;
            }
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

#[test]
fn hydrogen_and_methane_are_those_of_the_cpu() {
    for name in ["burke-h2-2012", "grimech30"] {
        let Some(mechanism) = load(name) else { continue };
        let reactor = Reactor::constant_pressure(kinetics(&mechanism));
        for precision in [Precision::Mixed, Precision::Double] {
            let single = precision == Precision::Mixed;
            let group = reactor.group_text(32, &group::places(&reactor, 0), single);
            let (memory, tables) = (group.memory, group.tables.bytes().len());
            println!("{name}: {memory} bytes of shared memory, {tables} of tables");
            compare(name, &reactor, &group::places(&reactor, 3), 32, precision);
        }
    }
}

/// Each reaction alone, so that none hides behind larger ones.
#[test]
fn every_rate_law_is_that_of_the_cpu() {
    let all = synthetic::mechanism();
    let mut ordered = synthetic::with_order_of_consumed().reactions;
    ordered.retain(|reaction| !all.reactions.contains(reaction));
    for (number, reaction) in all.reactions.iter().chain(&ordered).enumerate() {
        let mechanism = Mechanism { reactions: vec![reaction.clone()], ..all.clone() };
        let what = format!("{} ({number})", reaction.equation);
        let kinetics = kinetics(&mechanism);
        for reactor in
            [Reactor::constant_pressure(kinetics.clone()), Reactor::constant_volume(kinetics)]
        {
            compare(&what, &reactor, &group::places(&reactor, 0), 32, Precision::Double);
        }
    }
}

/// Where the shift of γ does not cancel, devices put it back as the CPU does.
#[test]
fn nearly_balanced_reactions_are_those_of_the_cpu() {
    for (what, mechanism) in nearly_balanced::mechanisms() {
        let reactor = Reactor::constant_volume(kinetics(&mechanism));
        compare(what, &reactor, &group::places(&reactor, 0), 32, Precision::Double);
    }
}

/// Reverse rates at temperatures far below those of flames.
#[test]
fn cold_gases_are_those_of_the_cpu() {
    let reactor = Reactor::constant_volume(kinetics(&nearly_balanced::cold()));
    // Atoms would recombine faster than numbers go.
    let y = [0.25, 0.25, 0.25, 0.0, 0.25];
    let states: Vec<(Vec<f64>, f64)> = [5.0, 20.0, 50.0, 150.0]
        .map(|t| reactor.state(t, 1e5, &y).unwrap())
        .map(|(state, density)| (state, density[0]))
        .to_vec();
    let places = group::places(&reactor, 0);
    let Some(found) = group::evaluate(&reactor, 32, Precision::Double, &places, &states) else {
        return;
    };
    for ((y, p), found) in states.iter().zip(&found) {
        let (f, jacobian) = by_cpu(&reactor, y, *p);
        assert!(f.iter().chain(&jacobian).all(|x| x.is_finite()), "{} K: {f:?}", y[0]);
        let size = sizes(&reactor, y, &jacobian);
        for i in 0..f.len() {
            let near = (found.f[i] - f[i]).abs() <= 1e-11 * size[i];
            assert!(near, "{} K: {i}: {:e} not {:e}", y[0], found.f[i], f[i]);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn reactors_on_a_gpu_are_those_of_the_cpu() {
    let mechanisms = ["burke-h2-2012", "grimech30"].into_iter().filter_map(load);
    for mechanism in mechanisms.chain([synthetic::mechanism()]) {
        let kinetics = kinetics(&mechanism);
        for reactor in
            [Reactor::constant_pressure(kinetics.clone()), Reactor::constant_volume(kinetics)]
        {
            let places = group::places(&reactor, 0);
            for width in [32, 128] {
                for precision in [Precision::Mixed, Precision::Double] {
                    let gpu = group::evaluate_on_gpu;
                    compare_by(gpu, "on a GPU", &reactor, &places, width, precision);
                }
            }
        }
    }
}

#[test]
fn all_kinds_of_reactors_are_those_of_the_cpu() {
    let kinetics = kinetics(&synthetic::mechanism());
    for constraint in [Constraint::ConstantPressure, Constraint::ConstantVolume] {
        for energy in [Energy::Adiabatic, Energy::Isothermal] {
            for form in [JacobianForm::Exact, JacobianForm::Approximate] {
                let reactor = Reactor::new(Arc::clone(&kinetics), constraint, energy, form);
                let places = group::places(&reactor, 0);
                compare(&format!("{energy:?}, {form:?}"), &reactor, &places, 32, Precision::Double);
            }
        }
    }
}

#[test]
fn a_gas_that_does_not_react_stands_still() {
    let all = synthetic::mechanism();
    // With so many species each array of them is longer than all that belongs to reactions.
    let mut species = vec![all.species.clone(); 4].concat();
    for (k, species) in species.iter_mut().enumerate() {
        species.name = format!("S{k}");
    }
    let mechanism = Mechanism { species, reactions: Vec::new(), ..all.clone() };
    let reactor = Reactor::constant_pressure(kinetics(&mechanism));
    for precision in [Precision::Mixed, Precision::Double] {
        compare("no reactions", &reactor, &group::places(&reactor, 0), 32, precision);
    }
}

/// Groups of any power of two, whether they are a part of a warp or a block.
#[test]
fn groups_of_all_widths_are_those_of_the_cpu() {
    let mechanism = load("grimech30").unwrap_or_else(synthetic::mechanism);
    let reactor = Reactor::constant_volume(kinetics(&mechanism));
    for (width, precision) in [
        (1, Precision::Double),
        (8, Precision::Mixed),
        (64, Precision::Mixed),
        (128, Precision::Double),
    ] {
        compare("widths", &reactor, &group::places(&reactor, 0), width, precision);
    }
}

/// As many species as the largest mechanisms have, and a matrix whose places need more than 16 bits.
#[test]
fn large_mechanisms_are_those_of_the_cpu() {
    let mechanism = read::yaml("large.yaml", &large::text(1268), None).unwrap().mechanism;
    // Its species have no heat capacity.
    let (constraint, energy) = (Constraint::ConstantPressure, Energy::Isothermal);
    let reactor = Reactor::new(kinetics(&mechanism), constraint, energy, JacobianForm::Exact);
    let places = group::places(&reactor, 70_000);
    let begin = std::time::Instant::now();
    let group = reactor.group_text(128, &places, true);
    let (memory, tables) = (group.memory, group.tables.bytes().len());
    println!("{memory} bytes of shared memory, {tables} of tables, {:?}", begin.elapsed());
    assert!(memory < 200 << 10);
    compare("large", &reactor, &places, 128, Precision::Mixed);
    compare_slopes(group::slopes, "large", &reactor, 128);
}

/// Text and tables do for single precision throughout, as far as its range goes: to hydrogen, not to methane.
#[test]
fn hydrogen_in_single_precision_is_nearly_that_of_the_cpu() {
    let Some(mechanism) = load("burke-h2-2012") else { return };
    let reactor = Reactor::constant_volume(kinetics(&mechanism));
    compare("hydrogen", &reactor, &group::places(&reactor, 0), 32, Precision::Single);
}

/// What is no number is passed on, and what no rate law expects gives no numbers that look like some.
#[test]
fn states_that_are_none_give_what_they_give_on_the_cpu() {
    let reactor = Reactor::constant_pressure(kinetics(&synthetic::mechanism()));
    let places = group::places(&reactor, 0);
    let good = states(&reactor).swap_remove(5);
    let with = |i: usize, value: f64| {
        let mut y = good.0.clone();
        y[i] = value;
        (y, good.1)
    };
    let n = reactor.dim();
    let bad = [
        with(0, f64::NAN),
        with(0, -300.0),
        with(0, 0.0),
        with(0, f64::INFINITY),
        with(3, f64::NAN),
        with(2, f64::INFINITY),
        with(n - 1, f64::NAN),
        with(n - 1, 0.0),
        (good.0.clone(), f64::NAN),
        (good.0.clone(), f64::INFINITY),
        with(0, 1e-3),
        with(0, 20.0),
        with(0, 1e6),
        with(4, 1e300),
    ];
    let Some(found) = group::evaluate(&reactor, 32, Precision::Double, &places, &bad) else {
        return;
    };
    for ((y, p), found) in bad.iter().zip(&found) {
        let (f, jacobian) = by_cpu(&reactor, y, *p);
        let pairs = f.iter().zip(&found.f).chain(f.iter().zip(&found.f_too));
        for (number, (a, b)) in pairs.chain(jacobian.iter().zip(&found.jacobian)).enumerate() {
            assert!(
                a.is_finite() || !b.is_finite(),
                "{number}: {b:e}, on the CPU {a:e}: {y:?} {p}"
            );
        }
    }
}

/// The text is CUDA: NVIDIA's compiler takes it.
#[test]
fn the_compiler_for_gpus_takes_all_kinds_of_kernels() {
    let mechanism = load("grimech30").unwrap_or_else(synthetic::mechanism);
    let cases = [
        ("methane", Reactor::constant_pressure(kinetics(&mechanism)), 32, Precision::Mixed),
        ("methane", Reactor::constant_volume(kinetics(&mechanism)), 128, Precision::Single),
        (
            "all laws",
            Reactor::constant_volume(kinetics(&synthetic::mechanism())),
            32,
            Precision::Mixed,
        ),
    ];
    for (name, reactor, width, precision) in cases {
        let single = precision != Precision::Double;
        let text = reactor.group_text(width, &group::places(&reactor, 0), single);
        let source = group::source(&reactor, &text, width, precision);
        match odeum_cuda::check("od_evaluate", &source, "sm_90a") {
            Ok((resources, _)) => println!("{name}, width {width}: {resources:?}"),
            Err(error @ Error::Device { .. }) => {
                assert!(std::env::var_os("ODEUM_NEED_NVRTC").is_none(), "{error}");
                eprintln!("SKIPPED: {error}");
                return;
            }
            Err(error) => panic!("{name}, width {width}: {error}"),
        }
    }
}

/// 2^x and log₂ x to three units in the last place, and beyond their range what they are there.
#[test]
fn elementary_functions_are_accurate_and_know_their_limits() {
    let mut x: Vec<f64> = (0..4000).map(|i| (f64::from(i) - 2000.0) * 0.5107).collect();
    x.extend((1..4000).map(|i| f64::from(i) * 0.00101));
    x.extend((-300..300).map(|i| 1.37 * 10f64.powi(i)));
    let limits = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1.0, 1e9, -1e9, 1022.0];
    x.extend(limits);
    let Some([exp2, of_several, log2]) = group::elementary(&x) else { return };
    for ((x, alone), value) in x.iter().zip(&exp2).zip(&of_several) {
        assert_eq!(alone.to_bits(), value.to_bits(), "2^{x} beside others");
    }
    let close = |a: f64, b: f64| (a - b).abs() <= 3.0 * f64::EPSILON * b.abs();
    for ((x, exp2), log2) in x.iter().zip(exp2).zip(log2) {
        let expected = x.exp2();
        let expected = match expected {
            _ if expected.abs() < f64::MIN_POSITIVE => 0.0,
            _ if *x >= 1022.0 => f64::INFINITY,
            _ => expected,
        };
        let same = exp2 == expected || exp2.is_nan() && x.is_nan();
        assert!(same || close(exp2, expected), "2^{x} is {exp2:e}, not {expected:e}");
        let same = log2 == x.log2() || log2.is_nan() && x.log2().is_nan();
        assert!(same || close(log2, x.log2()), "log₂ {x:e} is {log2:e}");
    }
}
