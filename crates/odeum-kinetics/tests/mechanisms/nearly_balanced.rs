//! Reactions that conserve the elements only nearly, as much as is let through.

use odeum_kinetics::{Kinetics, Mechanism, read};

/// A lump with a rounded formula, a species with a hair too much nitrogen, and a balanced partner for each.
const SPECIES: &str = "
- {name: N2, composition: {N: 2}, thermo: {model: constant-cp, s0: 191 J/mol/K, cp0: 29 J/mol/K}}
- {name: H, composition: {H: 1}, thermo: {model: constant-cp, h0: 218 kJ/mol, s0: 115 J/mol/K, cp0: 21 J/mol/K}}
- {name: X, composition: {N: 2.0001}, thermo: {model: constant-cp, h0: -9 kJ/mol, s0: 200 J/mol/K, cp0: 29 J/mol/K}}
- {name: Y, composition: {N: 2}, thermo: {model: constant-cp, h0: -9 kJ/mol, s0: 200 J/mol/K, cp0: 29 J/mol/K}}
- {name: A, composition: {C: 100, H: 50}, thermo: {model: constant-cp, h0: 1800 kJ/mol, s0: 1500 J/mol/K, cp0: 1500 J/mol/K}}
- {name: B, composition: {C: 100.009, H: 50}, thermo: {model: constant-cp, h0: 1799 kJ/mol, s0: 1501 J/mol/K, cp0: 1500 J/mol/K}}
";

const REACTIONS: [&str; 9] = [
    "{equation: A <=> B, rate-constant: {A: 1e6, b: 0, Ea: 0}}",
    "{equation: A + H <=> B + H, type: elementary, rate-constant: {A: 1e6, b: 0, Ea: 0}}",
    "{equation: N2 <=> X, rate-constant: {A: 1e6, b: 0, Ea: 0}}",
    "{equation: 2 N2 <=> 2 X, rate-constant: {A: 1e6, b: 0, Ea: 0}}",
    "{equation: 3 N2 <=> 3 X, rate-constant: {A: 1e6, b: 0, Ea: 0}}",
    "{equation: N2 + M <=> X + M, rate-constant: {A: 1e6, b: 0, Ea: 0}}",
    "{equation: N2 (+M) <=> X (+M), type: falloff, low-P-rate-constant: {A: 1e6, b: 0, Ea: 0}, \
     high-P-rate-constant: {A: 1e6, b: 0, Ea: 0}}",
    "{equation: N2 + X <=> 2 Y, rate-constant: {A: 1e6, b: 0, Ea: 0}}",
    "{equation: N2 + H <=> Y + H, type: elementary, rate-constant: {A: 1e6, b: 0, Ea: 0}}",
];

/// With data that hold from absolute zero on, where products leave the range of numbers and reactions take the general path, and
/// with data from 200 K on, where the balance alone keeps them from the short one.
pub(crate) fn mechanisms() -> Vec<(&'static str, Mechanism)> {
    let read = |from: f64, reaction: &'static str| {
        let species =
            SPECIES.replace("model: constant-cp,", &format!("model: constant-cp, T-min: {from},"));
        let text = format!(
            "phases:\n- {{name: gas, thermo: ideal-gas, kinetics: gas}}\nspecies:{species}\
             reactions:\n- {reaction}\n"
        );
        let read = read::yaml("f.yaml", &text, None).unwrap_or_else(|e| panic!("{reaction}: {e}"));
        (reaction, read.mechanism)
    };
    [0.0, 200.0].iter().flat_map(|&from| REACTIONS.map(|reaction| read(from, reaction))).collect()
}

/// Reverse rates are those of the equilibrium constant, whatever γ is measured from.
#[test]
fn reverse_rates_are_those_of_the_equilibrium_constant() {
    for (what, mechanism) in mechanisms() {
        let kinetics = Kinetics::new(&mechanism).unwrap();
        let n = kinetics.n_species();
        let mut work = vec![0.0; kinetics.workspace()];
        let c = vec![1e-3; n];
        for t in [300.0, 1000.0, 2500.0] {
            let ([mut forward, mut reverse, mut kc], mut omega) = ([[0.0_f64]; 3], vec![0.0; n]);
            kinetics.rates_of_progress(t, &c, &mut forward, &mut reverse, &mut work);
            kinetics.equilibrium_constants(t, &mut kc, &mut work);
            kinetics.net_production_rates(t, &c, &mut omega, &mut work);
            // All concentrations are one, and both sides have as many molecules.
            let ratio = reverse[0] * kc[0] / forward[0];
            assert!((ratio - 1.0).abs() < 1e-11, "{what} at {t} K: {ratio}");
            let nu = mechanism.reactions[0].reactants[0].1;
            let net = omega[mechanism.reactions[0].reactants[0].0] / -nu;
            let size = forward[0].max(reverse[0]);
            let error = (net - (forward[0] - reverse[0])).abs();
            assert!(error < 1e-11 * size, "{what} at {t} K: {net}");
        }
    }
}

/// Data that hold from absolute zero on. The energies are some of those of molecules; of the last reaction it is zero.
const COLD: &str = "
phases: [{name: gas, thermo: ideal-gas, kinetics: gas, elements: [H, O]}]
species:
- {name: A, composition: {H: 2}, thermo: {model: constant-cp, h0: -200 kJ/mol, s0: 150 J/mol/K, cp0: 29 J/mol/K}}
- {name: B, composition: {O: 2}, thermo: {model: constant-cp, h0: 100 kJ/mol, s0: 200 J/mol/K, cp0: 29 J/mol/K}}
- {name: C, composition: {H: 1, O: 1}, thermo: {model: constant-cp, h0: -49.9 kJ/mol, s0: 175 J/mol/K, cp0: 29 J/mol/K}}
- {name: D, composition: {H: 1}, thermo: {model: constant-cp, h0: 218 kJ/mol, s0: 115 J/mol/K, cp0: 21 J/mol/K}}
- {name: E, composition: {H: 2}, thermo: {model: constant-cp, h0: -200 kJ/mol, s0: 151 J/mol/K, cp0: 29 J/mol/K}}
reactions:
- {equation: A + B <=> 2 C, rate-constant: {A: 1e6, b: 0, Ea: 0}}
- {equation: A + M <=> 2 D + M, rate-constant: {A: 1e6, b: 0, Ea: 0}}
- {equation: A + C <=> E + C, rate-constant: {A: 1e6, b: 0, Ea: 0}, type: elementary}
";

pub(crate) fn cold() -> Mechanism {
    read::yaml("f.yaml", COLD, None).unwrap().mechanism
}

#[test]
fn rates_are_finite_in_the_cold() {
    let kinetics = Kinetics::new(&cold()).unwrap();
    let mut work = vec![0.0; kinetics.workspace()];
    let c = [1e-3; 5];
    for t in [0.5, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 150.0, 200.0, 300.0, 1000.0] {
        let [mut forward, mut reverse, mut kc] = [[0.0_f64; 3]; 3];
        let mut omega = [0.0; 5];
        kinetics.rates_of_progress(t, &c, &mut forward, &mut reverse, &mut work);
        kinetics.equilibrium_constants(t, &mut kc, &mut work);
        kinetics.net_production_rates(t, &c, &mut omega, &mut work);
        let all = [&forward[..], &reverse, &omega].concat();
        assert!(all.iter().all(|x| x.is_finite()), "{t} K: {all:?}");
        for r in 0..3 {
            // One molecule more among the products of the second.
            let product = forward[r] * if r == 1 { c[0] } else { 1.0 } / kc[r];
            if product < 1e250 && kc[r] < 1e290 {
                let error = (reverse[r] - product).abs();
                assert!(error <= 1e-11 * product, "{t} K, {r}: {} {product}", reverse[r]);
            }
        }
    }
}
