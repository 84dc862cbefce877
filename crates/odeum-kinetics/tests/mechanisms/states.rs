//! States of a reactor: made, checked at the door, and read back.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use crate::common::synthetic;
use odeum_core::{RangeKind, System};
use odeum_kinetics::mechanism::{
    Arrhenius, Blending, Chebyshev, PlogPoint, Range, Rate, Reaction, Species, Thermo, ThirdBody,
};
use odeum_kinetics::reactor::TEMPERATURE_MARGIN;
use odeum_kinetics::{Constraint, Kinetics, KineticsError, Reactor, StateError, read};

fn reactor(constraint: Constraint) -> Reactor {
    let kinetics = Arc::new(Kinetics::new(&synthetic::mechanism()).unwrap());
    match constraint {
        Constraint::ConstantPressure => Reactor::constant_pressure(kinetics),
        Constraint::ConstantVolume => Reactor::constant_volume(kinetics),
    }
}

#[test]
fn a_state_reads_back() {
    for constraint in [Constraint::ConstantPressure, Constraint::ConstantVolume] {
        let reactor = reactor(constraint);
        let kinetics = reactor.kinetics();
        let x = kinetics.composition(&[("H2", 2.0), ("O2", 1.0), ("AR", 7.0)]).unwrap();
        let fractions = kinetics.mass_fractions(&x).unwrap();
        let (y, p) = reactor.state(1200.0, 2e5, &fractions).unwrap();
        let gas = reactor.gas(&y, &p).unwrap();
        assert!((gas.pressure / 2e5 - 1.0).abs() < 1e-14 && gas.temperature == 1200.0);
        let w = kinetics.molecular_weights();
        let mean = (2.0 * w[0] + w[2] + 7.0 * w[8]) / 10.0;
        let density = 2e5 * mean / (8314.46261815324 * 1200.0);
        assert!((gas.density / density - 1.0).abs() < 1e-14);
        assert!((gas.mass_fractions[2] - w[2] / (10.0 * mean)).abs() < 1e-15);
        assert!(reactor.gas(&y[1..], &p).is_none());
    }
}

#[test]
fn equivalence_ratio_one_is_two_hydrogen_to_one_oxygen() {
    let reactor = reactor(Constraint::ConstantPressure);
    let kinetics = reactor.kinetics();
    let fuel = kinetics.composition(&[("H2", 1.0)]).unwrap();
    let oxidizer = kinetics.composition(&[("O2", 1.0), ("AR", 3.76)]).unwrap();
    for phi in [0.5, 1.0, 2.0] {
        let found = kinetics.at_equivalence_ratio(phi, &fuel, &oxidizer).unwrap();
        let mixed = [("H2", 2.0 * phi), ("O2", 1.0), ("AR", 3.76)];
        let expected = kinetics.mass_fractions(&kinetics.composition(&mixed).unwrap()).unwrap();
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-15, "{a} {b}");
        }
    }
    // Deuterium burns as hydrogen.
    let text = "phases: [{name: gas, thermo: ideal-gas}]\nspecies:\n\
        - {name: D2, composition: {D: 2}, thermo: {model: constant-cp, cp0: 29 J/mol/K}}\n\
        - {name: HD, composition: {H: 1, D: 1}, thermo: {model: constant-cp, cp0: 29 J/mol/K}}\n\
        - {name: O2, composition: {O: 2}, thermo: {model: constant-cp, cp0: 29 J/mol/K}}\n";
    let heavy = Kinetics::new(&read::yaml("f.yaml", text, None).unwrap().mechanism).unwrap();
    for fuel in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]] {
        let found = heavy.at_equivalence_ratio(1.0, &fuel, &[0.0, 0.0, 1.0]).unwrap();
        let expected = heavy.mass_fractions(&[2.0 * fuel[0], 2.0 * fuel[1], 1.0]).unwrap();
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-15, "{a} {b}");
        }
    }
    // Fuel that takes next to no oxygen: of 1e305 times that little the ratio of masses is beyond all numbers.
    let weak = kinetics.composition(&[("H2", 1e-9), ("AR", 1.0)]).unwrap();
    let alone = kinetics.mass_fractions(&weak).unwrap();
    assert_eq!(kinetics.at_equivalence_ratio(1e305, &weak, &oxidizer).unwrap(), alone);
    let inert = kinetics.composition(&[("AR", 1.0)]).unwrap();
    let error = kinetics.at_equivalence_ratio(1.0, &fuel, &inert);
    assert_eq!(error, Err(StateError::NoStoichiometricMixture));
    // Both sides are looked at once for any number of mixtures.
    let lean = kinetics.at_equivalence_ratio(0.7, &fuel, &oxidizer);
    let [fuel, oxidizer] = [&fuel, &oxidizer].map(|side| kinetics.mass_fractions(side).unwrap());
    let sides = kinetics.fuel_oxidizer(fuel.clone(), oxidizer.clone()).unwrap();
    assert_eq!((sides.at(0.7), sides.at(0.0)), (lean, Ok(oxidizer.clone())));
    let negative = StateError::NotPositive { what: "equivalence ratio", value: -0.5 };
    assert_eq!(sides.at(-0.5), Err(negative));
    let short = kinetics.fuel_oxidizer(fuel[1..].to_vec(), oxidizer);
    assert!(matches!(short, Err(StateError::Length { .. })), "{short:?}");
}

#[test]
fn impossible_states_are_named() {
    let reactor = reactor(Constraint::ConstantVolume);
    let n = reactor.kinetics().n_species();
    let mut y = vec![0.0; n];
    y[2] = 1.0;
    let message = |t: f64, p: f64, y: &[f64]| reactor.state(t, p, y).unwrap_err().of(7).to_string();
    for (t, p) in [(150.0, 1e5), (f64::NAN, 1e5), (9000.0, 1e5)] {
        assert!(message(t, p, &y).contains("temperature"), "{}", message(t, p, &y));
    }
    for p in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(message(1000.0, p, &y).contains("system 7: pressure"));
    }
    assert!(message(1000.0, 1e5, &y[1..]).contains("9 fractions for 10 species"));
    y[1] = -1e-3;
    assert!(message(1000.0, 1e5, &y).contains("of H:"));
    y[1] = 1e-3;
    assert!(message(1000.0, 1e5, &y).contains("1.001"));
    y[1] = f64::NAN;
    assert!(message(1000.0, 1e5, &y).contains("NaN of H:"));
    let unknown = reactor.kinetics().composition(&[("XE", 1.0)]);
    assert!(unknown.unwrap_err().to_string().contains("XE"));
}

/// A gas may start a little outside the data, which are extrapolated and stay smooth: the heat
/// capacity that follows from the enthalpy is continuous across the end of the range.
#[test]
fn a_temperature_may_lie_a_margin_outside_the_data() {
    let reactor = reactor(Constraint::ConstantPressure);
    let kinetics = reactor.kinetics();
    let (low, high) = reactor.temperature_bounds();
    let x = kinetics.composition(&[("H2", 2.0), ("O2", 1.0), ("AR", 7.0)]).unwrap();
    let y = kinetics.mass_fractions(&x).unwrap();
    let margin = reactor.temperature_margin();
    assert_eq!(margin, TEMPERATURE_MARGIN);
    for t in [low, low - 1.85, low - margin, high, high + 1.0, high + margin] {
        let (state, _) = reactor.state(t, 1e5, &y).unwrap();
        assert_eq!(state[0], t, "the temperature is kept as given");
        assert_eq!(kinetics.data_hold_at(t), t == low || t == high);
    }
    let beyond = [low - margin - 0.01, high + margin + 0.01, 0.0, -low, f64::NAN, f64::INFINITY];
    for t in beyond {
        let error = reactor.state(t, 1e5, &y).unwrap_err();
        let StateError::Temperature { bounds, margin: allowed, .. } = error else { panic!("{t}") };
        assert_eq!((bounds, allowed), ((low, high), margin));
    }
    // Wider on request, down to absolute zero but not beyond; or not at all.
    let wide = reactor.clone().with_temperature_margin(1e9);
    assert!(wide.state(1.0, 1e5, &y).is_ok() && wide.state(1e5, 1e5, &y).is_ok());
    for t in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(wide.state(t, 1e5, &y).is_err(), "{t}");
    }
    for none in [0.0, -5.0, f64::NAN] {
        let strict = reactor.clone().with_temperature_margin(none);
        assert!(strict.state(low, 1e5, &y).is_ok() && strict.state(low - 0.01, 1e5, &y).is_err());
    }
    let h = |t: f64| kinetics.enthalpy_mass(t, &y);
    for (inside, outside) in [(low, low - margin), (high, high + margin)] {
        let cp = (h(outside) - h(inside)) / (outside - inside);
        let step = inside - outside;
        let within = (h(inside + step) - h(inside)) / step;
        assert!((cp / within - 1.0).abs() < 0.02, "{cp} {within}");
    }
}

/// Rounding at the end of the data is not outside of them.
#[test]
fn rounding_is_no_extrapolation() {
    let kinetics = Kinetics::new(&synthetic::mechanism()).unwrap();
    let (low, high) = kinetics.temperature_bounds();
    assert!(
        kinetics.data_hold_at(low * (1.0 - 1e-12)) && kinetics.data_hold_at(high * (1.0 + 1e-12))
    );
    assert!(!kinetics.data_hold_at(low - 1e-3) && !kinetics.data_hold_at(high + 1e-3));
    assert!(!kinetics.data_hold_at(f64::NAN));
}

#[test]
fn impossible_mechanisms_are_named() {
    let good = synthetic::mechanism();
    let mut bad = good.clone();
    bad.reactions[0].products[0].1 = 2.0;
    let error = Kinetics::new(&bad).unwrap_err();
    assert!(matches!(error, KineticsError::Unbalanced { .. }) && error.to_string().contains('O'));
    let mut bad = good.clone();
    bad.reactions[1].reactants[0].0 = 99;
    let error = Kinetics::new(&bad).unwrap_err();
    assert!(matches!(error, KineticsError::UnknownSpecies { species: 99, .. }));
    let mut bad = good.clone();
    bad.species[3].weight = 0.0;
    assert!(Kinetics::new(&bad).unwrap_err().to_string().contains("molar mass of 0"));
    for none in [Thermo::Nasa7(vec![]), Thermo::Nasa9(vec![]), Thermo::Shomate(vec![])] {
        let mut bad = good.clone();
        bad.species[3].thermo = none;
        let error = Kinetics::new(&bad).unwrap_err();
        let (name, line) = (bad.species[3].name.clone(), bad.species[3].line);
        assert_eq!(error, KineticsError::NoThermo { species: name.clone(), line });
        assert!(error.to_string().contains(&format!("{name}: no thermodynamic data")), "{error}");
    }
    let mut bad = good.clone();
    bad.species[3].composition.push((99, 1.0));
    let error = Kinetics::new(&bad).unwrap_err();
    assert!(matches!(error, KineticsError::UnknownElement { element: 99, .. }), "{error}");
    let mut bad = good;
    bad.species.clear();
    assert_eq!(Kinetics::new(&bad).unwrap_err(), KineticsError::NoSpecies);
}

/// Whoever builds a mechanism is told what readers of files are told.
#[test]
fn numbers_without_sense_are_named() {
    let good = synthetic::mechanism();
    let place =
        |fits: fn(&Rate) -> bool| good.reactions.iter().position(|r| fits(&r.rate)).unwrap();
    let [plain, falloff, plog, chebyshev] = [
        place(|rate| matches!(rate, Rate::Arrhenius(_))),
        place(|rate| matches!(rate, Rate::Falloff { blending: Blending::Troe { .. }, .. })),
        place(|rate| matches!(rate, Rate::Plog(_))),
        place(|rate| matches!(rate, Rate::Chebyshev(_))),
    ];
    let colliding = good.reactions.iter().position(|r| r.third_body.is_some()).unwrap();
    let rate = |r: usize, spoil: fn(&mut Rate)| {
        let mut bad = good.clone();
        spoil(&mut bad.reactions[r].rate);
        (bad, good.reactions[r].equation.clone())
    };
    let reaction = |r: usize, spoil: fn(&mut Reaction)| {
        let mut bad = good.clone();
        spoil(&mut bad.reactions[r]);
        (bad, good.reactions[r].equation.clone())
    };
    let species = |name: &str, spoil: fn(&mut Species)| {
        let mut bad = good.clone();
        let k = bad.species_index(name).unwrap();
        spoil(&mut bad.species[k]);
        (bad, name.to_owned())
    };
    let cases = [
        (rate(plain, |k| arrhenius(k).a = f64::INFINITY), "not finite at 300 K"),
        (rate(plain, |k| arrhenius(k).b = f64::NAN), "not finite at 300 K"),
        (rate(plain, |k| arrhenius(k).ta = f64::NEG_INFINITY), "not finite at 300 K"),
        (rate(falloff, |k| arrhenius(k).a = 0.0), "a limit with A = 0"),
        (rate(falloff, |k| arrhenius(k).a *= -1.0), "opposite sign"),
        (rate(falloff, |k| arrhenius(k).b = f64::NAN), "a limit of the rate constant"),
        (rate(falloff, |k| *troe(k) = f64::NAN), "NaN in the blending function"),
        (rate(plog, |k| points(k).clear()), "a table without rows"),
        (rate(plog, |k| points(k)[0].rates.clear()), "is not positive and finite"),
        (rate(plog, |k| points(k).reverse()), "after"),
        (rate(plog, |k| points(k)[1].pressure = points(k)[0].pressure), "after"),
        (rate(plog, |k| points(k)[0].pressure = 0.0), "a pressure of 0 Pa"),
        (rate(plog, |k| points(k)[0].pressure = f64::NAN), "a pressure of NaN Pa"),
        (rate(chebyshev, |k| table(k).coefficients.clear()), "rows of one length"),
        (rate(chebyshev, |k| table(k).coefficients[1].truncate(1)), "rows of one length"),
        (rate(chebyshev, |k| table(k).coefficients[0][0] = f64::NAN), "may reach NaN"),
        (rate(chebyshev, |k| table(k).temperatures = (300.0, 300.0)), "temperatures 300 to 300 K"),
        (rate(chebyshev, |k| table(k).pressures = (0.0, 1e5)), "pressures 0 to 100000 Pa"),
        (
            reaction(colliding, |r| r.third_body.as_mut().unwrap().default_efficiency = f64::NAN),
            "NaN as a stoichiometric",
        ),
        (
            reaction(colliding, |r| {
                r.third_body.as_mut().unwrap().efficiencies = vec![(2, 3.0), (1, 1.0), (2, 2.0)];
            }),
            "two efficiencies of O2",
        ),
        (reaction(plog, with_body), "a third body beside a tabulated rate"),
        (reaction(chebyshev, with_body), "a third body beside a tabulated rate"),
        (species("H2O", |s| s.weight = 40.0), "a molar mass of 40 kg/kmol, and 18.015"),
        (species("H2O", |s| s.composition.clear()), ", and 0 of its atoms"),
        (species("AR", |s| constant(s, f64::NAN)), "NaN in the thermodynamic data"),
        (species("AR", |s| constant(s, -1.0)), "a reference temperature of -1 K"),
        (species("H2", |s| nasa7(s)[1].a[6] = f64::NAN), "NaN in the thermodynamic data"),
        (species("H2", |s| nasa7(s)[0].low = 5000.0), "from 5000 to 1000 K"),
        (species("H2", |s| nasa7(s).reverse()), "data that end at 6000 K and go on from 200 K"),
        (species("H2", |s| nasa7(s)[1].low = 1100.0), "end at 1000 K and go on from 1100 K"),
    ];
    for ((bad, item), expected) in cases {
        let Err(error) = Kinetics::new(&bad) else { panic!("{expected}") };
        let message = error.to_string();
        assert!(matches!(error, KineticsError::BadNumber { .. }), "{expected}: {message}");
        assert!(message.contains(&item) && message.contains(expected), "{expected}: {message}");
    }
}

fn with_body(reaction: &mut Reaction) {
    reaction.third_body = Some(ThirdBody { default_efficiency: 1.0, efficiencies: Vec::new() });
}

/// The expression of a plain rate, or of the low-pressure limit.
fn arrhenius(rate: &mut Rate) -> &mut Arrhenius {
    match rate {
        Rate::Arrhenius(k) | Rate::Falloff { low: k, .. } => k,
        other => panic!("{other:?}"),
    }
}

/// T*** of Troe.
fn troe(rate: &mut Rate) -> &mut f64 {
    match rate {
        Rate::Falloff { blending: Blending::Troe { t3, .. }, .. } => t3,
        other => panic!("{other:?}"),
    }
}

fn points(rate: &mut Rate) -> &mut Vec<PlogPoint> {
    match rate {
        Rate::Plog(points) => points,
        other => panic!("{other:?}"),
    }
}

fn table(rate: &mut Rate) -> &mut Chebyshev {
    match rate {
        Rate::Chebyshev(table) => table,
        other => panic!("{other:?}"),
    }
}

fn nasa7(species: &mut Species) -> &mut Vec<Range<7>> {
    match &mut species.thermo {
        Thermo::Nasa7(ranges) => ranges,
        other => panic!("{other:?}"),
    }
}

fn constant(species: &mut Species, reference: f64) {
    match &mut species.thermo {
        Thermo::ConstantCp { t0, .. } => *t0 = reference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn properties_want_a_number_per_species() {
    let kinetics = Kinetics::new(&synthetic::mechanism()).unwrap();
    let n = kinetics.n_species();
    let refuses = |f: &dyn Fn() -> f64| {
        let panic = std::panic::catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap()
    };
    for length in [n - 1, n + 1] {
        let y = vec![1.0 / n as f64; length];
        let work = || vec![0.0; kinetics.workspace()];
        let expected = format!("{length} mass fractions for {n} species");
        let said = [
            refuses(&|| kinetics.enthalpy_mass(1000.0, &y)),
            refuses(&|| kinetics.cp_mass(1000.0, &y, &mut work())),
            refuses(&|| kinetics.density(1000.0, 1e5, &y)),
        ];
        assert!(said.iter().all(|said| *said == expected), "{said:?}");
        let said = refuses(&|| {
            kinetics.net_production_rates(1000.0, &y, &mut vec![0.0; n], &mut work());
            0.0
        });
        assert_eq!(said, format!("{length} concentrations for {n} species"));
    }
}

/// A temperature below zero is no success, as fractions below zero are none.
#[test]
fn no_component_can_be_negative() {
    for constraint in [Constraint::ConstantPressure, Constraint::ConstantVolume] {
        let reactor = reactor(constraint);
        let physical: Vec<usize> = reactor
            .ranges()
            .iter()
            .filter(|range| range.kind == RangeKind::Physical && range.lower == 0.0)
            .map(|range| range.component)
            .collect();
        assert_eq!(physical, Vec::from_iter(0..reactor.dim()));
        let data: Vec<_> =
            reactor.ranges().into_iter().filter(|range| range.kind == RangeKind::Data).collect();
        let (lower, upper) = reactor.temperature_bounds();
        assert_eq!((data.len(), data[0].lower, data[0].upper), (1, lower, upper));
    }
}
