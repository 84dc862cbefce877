//! The `state` of a phase: read as Cantera reads it, and never wrong in silence.

use odeum_kinetics::read::{self, Composition, InitialState};

fn text(state: &str) -> String {
    format!(
        "units: {{pressure: bar}}\nphases:\n- name: gas\n  thermo: ideal-gas\n  state: {state}\n\
         species:\n- {{name: H2, composition: {{H: 2}}, thermo: {{model: constant-cp, cp0: 29 J/mol/K}}}}\n\
         - {{name: O2, composition: {{O: 2}}, thermo: {{model: constant-cp, cp0: 29 J/mol/K}}}}\n"
    )
}

fn state(of: &str) -> InitialState {
    let read = read::yaml("f.yaml", &text(of), None).unwrap_or_else(|e| panic!("{of}: {e}"));
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    read.state
}

#[test]
fn all_that_it_may_say() {
    assert_eq!(
        read::yaml("f", &text("").replace("  state: \n", ""), None).unwrap().state,
        InitialState::default()
    );
    let moles = |x: [f64; 2]| Some(Composition::MoleFractions(x.to_vec()));
    let masses = |y: [f64; 2]| Some(Composition::MassFractions(y.to_vec()));
    let atm = 101_325.0;
    for (text, temperature, pressure, composition) in [
        ("{T: 300, P: 1 atm}", Some(300.0), Some(atm), None),
        ("{temperature: 300 K, pressure: 2}", Some(300.0), Some(2e5), None),
        ("{T: 300, X: {H2: 2, O2: 1}}", Some(300.0), None, moles([2.0, 1.0])),
        ("{Y: {O2: 0.5}}", None, None, masses([0.0, 0.5])),
        ("{mole-fractions: 'H2:2, O2:1'}", None, None, moles([2.0, 1.0])),
        ("{X: 'O2: 1e-1; H2 :.5'}", None, None, moles([0.5, 0.1])),
        ("{mass-fractions: 'H2:1 O2:3'}", None, None, masses([1.0, 3.0])),
        ("{}", None, None, None),
    ] {
        let expected = InitialState { temperature, pressure, density: None, composition };
        assert_eq!(state(text), expected, "{text}");
    }
}

/// Cantera writes the density, not the pressure: p = ρ R T Σ Y/W.
#[test]
fn pressure_from_density() {
    let weights = [2.016, 31.998];
    let r = 8314.46261815324;
    for (text, moles_per_mass) in [
        ("{T: 300, D: 0.5, Y: {H2: 1}}", 1.0 / weights[0]),
        ("{T: 300, density: 0.5, Y: {H2: 1, O2: 3}}", (1.0 / weights[0] + 3.0 / weights[1]) / 4.0),
        ("{T: 300, density: 0.5, X: {H2: 2, O2: 1}}", 3.0 / (2.0 * weights[0] + weights[1])),
    ] {
        let expected = 0.5 * r * 300.0 * moles_per_mass;
        let found = state(text).pressure.unwrap();
        assert!((found / expected - 1.0).abs() < 1e-14, "{text}: {found} {expected}");
    }
    // Without a composition none follows, and the density is not lost.
    let open = state("{T: 300, density: 0.5}");
    assert_eq!((open.pressure, open.density), (None, Some(0.5)));
    let given = state("{T: 300, density: 0.5, P: 1, Y: {H2: 1}}");
    assert_eq!((given.pressure, given.density), (Some(1e5), None));
}

#[test]
fn what_is_wrong_with_it() {
    for (state, expected) in [
        ("300", "'300' as 'state'"),
        ("{T: -300}", "'T' = -300"),
        ("{T: warm}", "'warm' is not a number"),
        ("{T: 300,5}", "the key '5' has no value"),
        ("{T: 300, temperature: 300}", "both 'T' and 'temperature'"),
        ("{P: 0}", "'P' = 0"),
        ("{P: 1 K}", "not a unit of this quantity"),
        ("{X: {H2: 1}, Y: {H2: 1}}", "beside mole fractions"),
        ("{X: {N2: 1}}", "'N2' is not a species"),
        ("{X: {H2: -1}}", "-1 of H2"),
        ("{X: {H2: }}", "nothing in place of a number"),
        ("{X: 'H2'}", "'H2' as 'X'"),
        ("{X: 'H2:1,5'}", "'H2:1,5' as 'X'"),
        ("{X: 'H2:'}", "is not a number"),
        ("{X: [1, 2]}", "a list as 'X'"),
        ("{X: {H2: 0}}", "without anything"),
        ("{D: 0.5, X: {H2: 1}}", "a density without a temperature"),
        ("{density: 0.5, P: 1, X: {H2: 1}}", "a density without a temperature"),
        ("{H: 1e5, P: 1, X: {H2: 1}}", "'H' as part of the 'state'"),
        ("{T: 300, enthalpy: 1e5}", "'enthalpy' as part"),
        ("{S: 1e5, P: 1}", "'S' as part"),
        ("{U: 1e5, V: 1}", "as part of the 'state'"),
        ("{T: 300, specific-volume: 1}", "'specific-volume' as part"),
        ("{T: 300, Q: 1}", "'Q' as part"),
    ] {
        let errors = read::yaml("f.yaml", &text(state), None).expect_err(state);
        let problems = if state.contains("V:") { 2 } else { 1 };
        assert_eq!(errors.problems.len(), problems, "{errors}");
        let problem = &errors.problems[0];
        assert!(problem.found.contains(expected) && problem.line == 5, "{state}: {problem}");
    }
    let read = read::yaml("f.yaml", &text("{T: 300, colour: 1e5}"), None).unwrap();
    assert!(read.warnings[0].found.contains("'colour' is not used"), "{:?}", read.warnings);
}
