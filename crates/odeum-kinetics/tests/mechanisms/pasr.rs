//! Partially stirred reactors: what they conserve, how often their events come, and that they are
//! the same again.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::synthetic;
use odeum_kinetics::constants::ONE_ATM;
use odeum_kinetics::pasr::{Feed, PasrError, RunError};
use odeum_kinetics::{Kinetics, Mechanism, Pasr, PasrSettings};

fn kinetics() -> (Mechanism, Arc<Kinetics>) {
    let mechanism = synthetic::mechanism();
    let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
    (mechanism, kinetics)
}

/// Hydrogen in the air of the synthetic mechanism, which has no nitrogen.
fn settings() -> PasrSettings {
    let air = vec![("O2".to_owned(), 1.0), ("AR".to_owned(), 3.76)];
    PasrSettings { oxidizer: air, ..PasrSettings::hydrogen(400.0, ONE_ATM) }
}

fn inert(_: &mut [f64], _: f64) -> Result<(), Infallible> {
    Ok(())
}

type Totals = (f64, f64, Vec<f64>);

/// Sums over the particles of enthalpy [J/kg], mass fractions, and amounts of elements [kmol/kg].
fn totals(mechanism: &Mechanism, kinetics: &Kinetics, states: &[f64]) -> Totals {
    let n = states.len() / (kinetics.n_species() + 2);
    let (mut enthalpy, mut mass, mut atoms) = (0.0, 0.0, vec![0.0; mechanism.elements.len()]);
    for i in 0..n {
        let y: Vec<f64> = (1..=kinetics.n_species()).map(|k| states[k * n + i]).collect();
        enthalpy += kinetics.enthalpy_mass(states[i], &y);
        mass += y.iter().sum::<f64>();
        for (species, y) in mechanism.species.iter().zip(&y) {
            for (element, count) in &species.composition {
                atoms[*element] += count * y / species.weight;
            }
        }
    }
    (enthalpy, mass, atoms)
}

/// Mean mass fraction of a species.
fn mean(pasr: &Pasr, kinetics: &Kinetics, species: &str) -> f64 {
    let n = pasr.settings().n_particles;
    let k = kinetics.species_index(species).unwrap() + 1;
    pasr.states()[k * n..(k + 1) * n].iter().sum::<f64>() / n as f64
}

#[test]
fn mixing_conserves_mass_enthalpy_and_elements() {
    let (mechanism, kinetics) = kinetics();
    for feed in [Feed::Premixed, Feed::NonPremixed] {
        let mut pasr = Pasr::new(kinetics.clone(), PasrSettings { feed, ..settings() }).unwrap();
        // A hundred particles of a megajoule each.
        let (n, scale) = (pasr.settings().n_particles, 1e8);
        let (mut differences, mut enthalpies) = (0, 0);
        for _ in 0..200 {
            // Between the calls of one step there is nothing but mixing.
            let mut before: Option<(Totals, Vec<f64>)> = None;
            let mut react = |states: &mut [f64], dt: f64| -> Result<(), Infallible> {
                assert!((dt - 1e-4 / 3.0).abs() < 1e-15, "{dt}");
                let after = totals(&mechanism, &kinetics, states);
                if let Some((before, then)) = &before {
                    let jump = |states: &[f64]| states[..n].iter().any(|t| (t - 1e3).abs() < 1e-6);
                    let at_jump = (jump(then), jump(states));
                    // In the jump of the synthetic data an enthalpy has no temperature.
                    if at_jump == (false, false) {
                        let change = (before.0 - after.0).abs();
                        assert!(change < 1e-12 * scale, "{change} J/kg");
                        enthalpies += 1;
                    }
                    assert!((before.1 - after.1).abs() < 1e-12 * before.1);
                    for (before, after) in before.2.iter().zip(&after.2) {
                        assert!((before - after).abs() <= 1e-12 * before);
                    }
                    differences += usize::from(then != states);
                }
                before = Some((after, states.to_vec()));
                Ok(())
            };
            pasr.step(&mut react).unwrap();
        }
        assert!(enthalpies > 40, "{enthalpies}");
        assert_eq!(differences, 400, "mixing changes something in every substep");
    }
}

#[test]
fn events_come_as_often_as_the_times_demand() {
    let (_, kinetics) = kinetics();
    let settings =
        PasrSettings { tau_res: 0.0073, tau_pair: 0.0031, n_particles: 58, ..settings() };
    let mut pasr = Pasr::new(kinetics, settings).unwrap();
    assert_eq!(pasr.n_steps(), 236);
    let mut saved = 0;
    let flow = pasr.run(inert, |pasr| {
        let (t, n) = (pasr.time(), 58.0);
        assert!((pasr.n_inflow() as f64 - n * t / 0.0073).abs() <= 0.5 + 1e-9);
        // In the last, shorter step one pair may be due, which has no other to part with.
        let waiting = if pasr.steps() < 236 { 0.5 } else { 1.5 };
        assert!((pasr.n_parted() as f64 - 0.5 * n * t / 0.0031).abs() <= waiting + 1e-9);
        saved += 1;
        ControlFlow::Continue(())
    });
    assert!(flow.unwrap());
    assert_eq!((saved, pasr.n_inflow(), pasr.steps()), (237, 580, 236));
    assert!((pasr.time() - 0.073).abs() < 1e-15);
    let states = pasr.states().to_vec();
    pasr.step(&mut inert).unwrap();
    assert_eq!(pasr.states(), states, "nothing happens after the end");
}

#[test]
fn without_reaction_the_inflow_replaces_what_was_there() {
    let (_, kinetics) = kinetics();
    let settings = PasrSettings { n_particles: 2000, n_residence_times: 4.0, ..settings() };
    let mut pasr = Pasr::new(kinetics.clone(), settings).unwrap();
    let burnt = mean(&pasr, &kinetics, "H2");
    let fuel = kinetics.composition(&[("H2", 1.0)]).unwrap();
    let air = kinetics.composition(&[("O2", 1.0), ("AR", 3.76)]).unwrap();
    let fresh = kinetics.at_equivalence_ratio(1.0, &fuel, &air).unwrap()[0];
    for step in 1..=pasr.n_steps() {
        pasr.step(&mut inert).unwrap();
        if step % 50 != 0 {
            continue;
        }
        let found = (mean(&pasr, &kinetics, "H2") - burnt) / (fresh - burnt);
        let expected = 0.95 * (1.0 - (-pasr.time() / 0.01).exp());
        // Four standard deviations of what remains of 2000 particles.
        assert!((found - expected).abs() < 0.045, "{} s: {found} for {expected}", pasr.time());
    }
}

#[test]
fn pairing_brings_all_particles_together() {
    // Mixing makes the members of a pair equal; only new partners make all particles equal.
    let (_, kinetics) = kinetics();
    let spread = |tau_pair: f64| {
        let settings = PasrSettings { tau_pair, tau_mix: 1e-4, ..settings() };
        let mut pasr = Pasr::new(kinetics.clone(), settings).unwrap();
        assert!(pasr.run(inert, |_| ControlFlow::Continue(())).unwrap());
        let h = pasr.enthalpies();
        let n = h.len();
        let t = &pasr.states()[..n];
        let mean = t.iter().sum::<f64>() / n as f64;
        (t.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / n as f64).sqrt()
    };
    let (often, seldom) = (spread(5e-4), spread(5e-1));
    assert!(often < 0.5 * seldom, "{often} K, {seldom} K");
}

#[test]
fn a_few_particles_change_partners_too() {
    // Fewer than two pairs are due in a step, and one pair has no other to change partners with.
    let (_, kinetics) = kinetics();
    for n_particles in [4, 10, 20] {
        let spread = |tau_pair: f64| {
            let settings = PasrSettings { tau_pair, n_particles, ..settings() };
            let feed = Feed::NonPremixed;
            let settings = PasrSettings { feed, tau_mix: 1e-4, n_residence_times: 5.0, ..settings };
            let mut pasr = Pasr::new(kinetics.clone(), settings).unwrap();
            let (mut sum, mut times) = (0.0, 0.0);
            let flow = pasr.run(inert, |pasr| {
                let (h, n) = (pasr.enthalpies(), n_particles as f64);
                let mean = h.iter().sum::<f64>() / n;
                sum += (h.iter().map(|h| (h - mean).powi(2)).sum::<f64>() / n).sqrt();
                times += 1.0;
                ControlFlow::Continue(())
            });
            assert!(flow.unwrap());
            sum / times
        };
        let (often, seldom) = (spread(5e-4), spread(5e-1));
        assert!(often < 0.6 * seldom, "{n_particles}: {often} J/kg, {seldom} J/kg");
    }
}

#[test]
fn pairs_mix_at_their_rate() {
    let (_, kinetics) = kinetics();
    let settings = PasrSettings { feed: Feed::NonPremixed, n_particles: 2, ..settings() };
    let (dt, tau_mix) = (0.1 * settings.tau_pair, settings.tau_mix);
    let mut pasr = Pasr::new(kinetics, settings).unwrap();
    let apart = |pasr: &Pasr| -> Vec<f64> {
        pasr.states().chunks(2).map(|pair| pair[0] - pair[1]).collect()
    };
    while pasr.n_inflow() == 0 {
        pasr.step(&mut inert).unwrap();
    }
    let (before, inflow) = (apart(&pasr), pasr.n_inflow());
    pasr.step(&mut inert).unwrap();
    assert_eq!(pasr.n_inflow(), inflow, "in this step nothing but mixing happens");
    let after = apart(&pasr);
    // All but the temperature, which follows from the enthalpy.
    for k in 1..before.len() {
        let expected = before[k] * (-2.0 * dt / tau_mix).exp();
        assert!((after[k] - expected).abs() < 1e-12, "{k}: {} {expected}", after[k]);
    }
    assert!(before[1..].iter().any(|difference| difference.abs() > 0.01));
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let (_, kinetics) = kinetics();
    let run = |seed: u64| {
        let settings = PasrSettings { seed, n_residence_times: 0.5, ..settings() };
        let mut pasr = Pasr::new(kinetics.clone(), settings).unwrap();
        assert!(pasr.run(inert, |_| ControlFlow::Continue(())).unwrap());
        pasr.states().to_vec()
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn a_stopped_run_goes_on() {
    let (_, kinetics) = kinetics();
    let settings = PasrSettings { n_residence_times: 0.5, ..settings() };
    let mut whole = Pasr::new(kinetics.clone(), settings.clone()).unwrap();
    assert!(whole.run(inert, |_| ControlFlow::Continue(())).unwrap());
    let mut parts = Pasr::new(kinetics, settings).unwrap();
    let stop = |pasr: &Pasr| match pasr.steps() {
        17 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    assert!(!parts.run(inert, stop).unwrap());
    assert_eq!(parts.steps(), 17);
    assert!(parts.run(inert, stop).unwrap());
    assert_eq!(parts.states(), whole.states());
}

#[test]
fn a_run_stopped_at_every_state_sees_each_once() {
    let (_, kinetics) = kinetics();
    let settings = PasrSettings { n_particles: 4, n_residence_times: 0.02, ..settings() };
    let mut pasr = Pasr::new(kinetics, settings).unwrap();
    let mut seen = Vec::new();
    let mut calls = 0;
    let mut stop = |pasr: &Pasr| {
        seen.push(pasr.steps());
        ControlFlow::Break(())
    };
    while !pasr.run(inert, &mut stop).unwrap() {
        calls += 1;
        assert!(calls < 10, "no state is shown for ever");
    }
    assert!(seen.into_iter().eq(0..=pasr.n_steps()));
}

/// Every particle relaxes towards its own equilibrium in a millisecond.
fn relax(kinetics: &Kinetics, states: &mut [f64], dt: f64) {
    let n_species = kinetics.n_species();
    let n = states.len() / (n_species + 2);
    let part = -(-dt / 1e-3).exp_m1();
    for i in 0..n {
        let y: Vec<f64> = (1..=n_species).map(|k| states[k * n + i]).collect();
        let end = kinetics.equilibrate_hp(states[i], ONE_ATM, &y).unwrap();
        for k in 0..n_species {
            states[(k + 1) * n + i] += part * (end.mass_fractions[k] - y[k]);
        }
        // As an integrator may leave them.
        states[2 * n + i] -= 1e-13;
    }
}

fn a_flame_stays_physical(mechanism: &Mechanism, settings: PasrSettings) {
    let kinetics = Arc::new(Kinetics::new(mechanism).unwrap());
    let (t_in, n) = (settings.temperature, settings.n_particles);
    let mut pasr = Pasr::new(kinetics.clone(), settings).unwrap();
    let burnt = pasr.gas(0).unwrap();
    let enthalpy = pasr.enthalpies()[0];
    let (_, _, atoms) = totals(mechanism, &kinetics, pasr.states());
    let mut coldest = f64::INFINITY;
    let react = |states: &mut [f64], dt: f64| {
        relax(&kinetics, states, dt);
        Ok::<(), Infallible>(())
    };
    let outcome = pasr.run(react, |pasr| {
        for i in 0..n {
            let gas = pasr.gas(i).unwrap();
            let (low, high) = (t_in - 1e-6, burnt.temperature + 1e-3);
            assert!(gas.temperature > low && gas.temperature < high, "{} K", gas.temperature);
            assert!(gas.mass_fractions.iter().all(|y| *y >= 0.0));
            assert!((gas.mass_fractions.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let amounts = gas.mass_fractions.iter().zip(kinetics.molecular_weights());
            let m: f64 = amounts.map(|(y, w)| y / w).sum();
            let carried = pasr.states()[(kinetics.n_species() + 1) * n + i];
            assert!((carried / m - 1.0).abs() < 1e-14);
            coldest = coldest.min(gas.temperature);
            // Premixed and adiabatic: all particles have the enthalpy and the atoms of the inflow.
            assert!((pasr.enthalpies()[i] - enthalpy).abs() < 1e-9 * enthalpy.abs().max(1e6));
        }
        let (.., now) = totals(mechanism, &kinetics, pasr.states());
        for (a, b) in atoms.iter().zip(&now) {
            assert!((a - b).abs() <= 1e-8 * a, "{a} {b}");
        }
        ControlFlow::Continue(())
    });
    assert!(outcome.unwrap());
    assert!(coldest < 0.5 * (t_in + burnt.temperature), "fresh gas comes in: {coldest}");
    let mean = pasr.states()[..n].iter().sum::<f64>() / n as f64;
    assert!(mean > t_in + 500.0 && mean < burnt.temperature - 20.0, "{mean} K");
}

#[test]
fn flames_stay_physical() {
    let short = |settings| PasrSettings { n_residence_times: 2.0, ..settings };
    a_flame_stays_physical(&synthetic::mechanism(), short(settings()));
    if let Some(mechanism) = crate::common::load("burke-h2-2012") {
        a_flame_stays_physical(&mechanism, short(PasrSettings::hydrogen(600.0, ONE_ATM)));
    }
    if let Some(mechanism) = crate::common::load("grimech30") {
        let settings = PasrSettings::methane(400.0, ONE_ATM);
        a_flame_stays_physical(&mechanism, PasrSettings { n_residence_times: 1.0, ..settings });
    }
}

#[test]
fn the_published_runs_have_the_published_number_of_states() {
    let (_, kinetics) = kinetics();
    let mut states = 0;
    for (temperature, pressure) in PasrSettings::published_conditions() {
        let settings = PasrSettings { temperature, pressure, ..settings() };
        let pasr = Pasr::new(kinetics.clone(), settings).unwrap();
        states += (pasr.n_steps() + 1) * 100;
    }
    // Curtis, Niemeyer & Sung (2017) drop the first thousand.
    assert_eq!(states - 1000, 899_900);
    let hot = PasrSettings::published_conditions()[8];
    assert_eq!(hot, (800.0, 25.0 * ONE_ATM));
}

#[test]
fn errors_name_the_setting() {
    let (_, kinetics) = kinetics();
    let message =
        |settings: PasrSettings| Pasr::new(kinetics.clone(), settings).unwrap_err().to_string();
    let good = settings;
    assert!(message(PasrSettings { tau_mix: 0.0, ..good() }).starts_with("tau_mix = 0"));
    let shortest = good().tau_res.min(good().tau_pair) / 4000.0;
    for tau_mix in [0.99 * shortest, 1e-300, 1e-320] {
        let message = message(PasrSettings { tau_mix, ..good() });
        assert!(message.starts_with("tau_mix = ") && message.contains("above 1/4000"), "{message}");
    }
    let tau_mix = 1.01 * shortest;
    assert!(Pasr::new(kinetics.clone(), PasrSettings { tau_mix, ..good() }).is_ok());
    assert!(message(PasrSettings { tau_res: f64::NAN, ..good() }).starts_with("tau_res = NaN"));
    assert!(message(PasrSettings { n_particles: 7, ..good() }).contains("even"));
    for n_particles in [0, 1_000_002, usize::MAX - 1] {
        let message = message(PasrSettings { n_particles, ..good() });
        assert!(message.contains("from 2 to 1000000"), "{message}");
    }
    let fuel = vec![("CH4".to_owned(), 1.0)];
    assert!(message(PasrSettings { fuel, ..good() }).starts_with("fuel: no species \"CH4\""));
    assert!(message(PasrSettings { oxidizer: vec![], ..good() }).starts_with("oxidizer"));
    assert!(message(PasrSettings { equivalence_ratio: -1.0, ..good() }).contains("ratio"));
    assert!(message(PasrSettings { temperature: 20.0, ..good() }).contains("temperature"));
    assert!(message(PasrSettings { pressure: -1.0, ..good() }).contains("pressure"));
}

#[test]
fn failures_of_a_reaction_come_back() {
    let (_, kinetics) = kinetics();
    let mut pasr = Pasr::new(kinetics, settings()).unwrap();
    let error = pasr.step(&mut |_, _| Err("no convergence")).unwrap_err();
    assert_eq!(error, RunError::Reaction("no convergence"));
    let mut spoil = |states: &mut [f64], _: f64| {
        states[100 * 3 + 42] = f64::NAN;
        Ok::<(), Infallible>(())
    };
    let error = pasr.step(&mut spoil).unwrap_err();
    assert!(matches!(error, RunError::Pasr(PasrError::Particle { particle: 42, .. })), "{error}");
}

#[test]
fn the_smallest_reactor_runs() {
    let (_, kinetics) = kinetics();
    let settings = PasrSettings { n_particles: 2, ..settings() };
    let mut pasr = Pasr::new(kinetics, settings).unwrap();
    assert!(pasr.run(inert, |_| ControlFlow::Continue(())).unwrap());
    assert_eq!(pasr.n_inflow(), 20);
}
