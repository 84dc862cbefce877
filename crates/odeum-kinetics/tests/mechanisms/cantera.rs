//! Thermodynamics and rates against Cantera (`validation/kinetics.py` writes the references).

use std::sync::Arc;

use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes};
use odeum_core::{Real, System};
use odeum_kinetics::{Constraint, Kinetics, Reactor};
use serde_json::Value;

/// Largest difference relative to `scale`.
fn worst(found: &[f64], expected: &[f64], scale: impl Fn(usize) -> f64) -> (f64, usize) {
    assert_eq!(found.len(), expected.len());
    let mut worst = (0.0, 0);
    for i in 0..found.len() {
        let difference = (found[i] - expected[i]).abs();
        let error = if difference == 0.0 { 0.0 } else { difference / scale(i) };
        assert!(!error.is_nan(), "{i}: {} for {}", found[i], expected[i]);
        if error > worst.0 {
            worst = (error, i);
        }
    }
    worst
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Everything Odeum computes at one temperature and composition, in the lanes of a pack.
struct Evaluate<'a> {
    kinetics: &'a Kinetics,
    t: f64,
    c: &'a [f64],
}

struct Found {
    cp: Vec<f64>,
    h: Vec<f64>,
    k: Vec<f64>,
    kc: Vec<f64>,
    forward: Vec<f64>,
    reverse: Vec<f64>,
    net: Vec<f64>,
}

impl LaneWork<f64> for Evaluate<'_> {
    type Output = Found;
    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) -> Found {
        let Evaluate { kinetics, t, c } = self;
        let (n, r) = (kinetics.n_species(), kinetics.n_reactions());
        let t = L::lit(t);
        let c: Vec<L> = c.iter().map(|c| L::lit(*c)).collect();
        let mut work = vec![L::lit(f64::NAN); kinetics.workspace()];
        let nan = |n: usize| vec![L::lit(f64::NAN); n];
        let last = |x: &[L]| x.iter().map(|x| x.lane(L::WIDTH - 1)).collect::<Vec<f64>>();
        let standard = kinetics.standard_states(t, &mut work);
        let [mut k, mut kc, mut forward, mut reverse] = [nan(r), nan(r), nan(r), nan(r)];
        let mut net = nan(n);
        kinetics.forward_rate_constants(t, &c, &mut k, &mut work);
        kinetics.equilibrium_constants(t, &mut kc, &mut work);
        kinetics.rates_of_progress(t, &c, &mut forward, &mut reverse, &mut work);
        kinetics.net_production_rates(t, &c, &mut net, &mut work);
        Found {
            cp: last(&standard.cp),
            h: last(&standard.enthalpy),
            k: last(&k),
            kc: last(&kc),
            forward: last(&forward),
            reverse: last(&reverse),
            net: last(&net),
        }
    }
}

/// The right-hand side of a reactor put together from Cantera's numbers.
struct Expected<'a> {
    state: &'a Value,
    /// Σ of the larger of forward and reverse rates, for each species.
    gross: &'a [f64],
    w: &'a [f64],
}

impl Expected<'_> {
    fn compare(&self, reactor: &Reactor, t: f64, pressure: f64, y: &[f64]) {
        // Some reference states lie outside the data, which `Reactor::state` refuses.
        let (mut state, _) = reactor.state(1000.0, 1e5, y).unwrap();
        let density = self.state["density"].as_f64().unwrap();
        let p = match reactor.constraint() {
            Constraint::ConstantPressure => [pressure],
            Constraint::ConstantVolume => [density],
        };
        state[0] = t;
        let mut f = vec![0.0; reactor.dim()];
        reactor.rhs(0.0, &state, &p, &mut f);
        let (h, net) = (numbers(&self.state["h"]), numbers(&self.state["net_production_rates"]));
        let rt = odeum_kinetics::constants::GAS_CONSTANT * t;
        let amount = state[reactor.dim() - 1];
        let (work, capacity) = match reactor.constraint() {
            Constraint::ConstantPressure => (0.0, 0.0),
            Constraint::ConstantVolume => (rt, amount * rt / t),
        };
        let capacity = density * (self.state["cp_mass"].as_f64().unwrap() - capacity);
        let (mut slope, mut scale) = (0.0, 0.0);
        for k in 0..y.len() {
            let expected = net[k] * self.w[k] / density;
            let tolerance = 2e-12 * self.gross[k] * self.w[k] / density;
            assert!((f[1 + k] - expected).abs() <= tolerance, "{} {expected}", f[1 + k]);
            slope -= (h[k] - work) * net[k] / capacity;
            scale += (h[k].abs() + work) * self.gross[k] / capacity;
        }
        assert!((f[0] - slope).abs() <= 2e-12 * scale, "{} {slope}", f[0]);
    }
}

fn against_cantera(name: &str) {
    let Some(mechanism) = crate::common::load(name) else {
        return;
    };
    let path = format!("{}/tests/data/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let reference: Value = serde_json::from_str(&text).unwrap();
    let kinetics = Arc::new(Kinetics::new(&mechanism).unwrap());
    let reactors = [
        Reactor::constant_pressure(Arc::clone(&kinetics)),
        Reactor::constant_volume(Arc::clone(&kinetics)),
    ];
    let gas_constant = odeum_kinetics::constants::GAS_CONSTANT;
    for isa in Isa::available() {
        for state in reference["states"].as_array().unwrap() {
            let number = |name: &str| state[name].as_f64().unwrap();
            let (t, c, y) = (number("T"), numbers(&state["concentrations"]), numbers(&state["Y"]));
            let found = isa.dispatch(Evaluate { kinetics: &kinetics, t, c: &c });
            let check =
                |what: &str, found: &[f64], scale: &dyn Fn(usize) -> f64, tolerance: f64| {
                    let (error, i) = worst(found, &numbers(&state[what]), scale);
                    assert!(
                        error <= tolerance,
                        "{name} {isa} {t} K: {what} of {i}: {error:e}, {:e} for {}",
                        found[i],
                        state[what][i]
                    );
                };
            let of = |what: &str| numbers(&state[what]);
            let (forward, reverse) =
                (of("forward_rates_of_progress"), of("reverse_rates_of_progress"));
            let larger = |i: usize| forward[i].abs().max(reverse[i].abs());
            let (k, kc) = (of("forward_rate_constants"), of("equilibrium_constants"));
            check("cp", &found.cp, &|_| gas_constant, 1e-12);
            check("h", &found.h, &|_| gas_constant * t, 1e-12);
            check("forward_rate_constants", &found.k, &|i| k[i].abs(), 1e-12);
            check("equilibrium_constants", &found.kc, &|i| kc[i], 1e-11);
            check("forward_rates_of_progress", &found.forward, &larger, 1e-12);
            check("reverse_rates_of_progress", &found.reverse, &larger, 1e-12);
            check("reverse_rates_of_progress", &found.reverse, &|i| reverse[i].abs(), 1e-11);
            let mut gross = vec![0.0; kinetics.n_species()];
            for (r, reaction) in mechanism.reactions.iter().enumerate() {
                for (species, n) in reaction.reactants.iter().chain(&reaction.products) {
                    gross[*species] += n * larger(r);
                }
            }
            check("net_production_rates", &found.net, &|i| gross[i], 1e-12);
            let expected = Expected { state, gross: &gross, w: kinetics.molecular_weights() };
            for reactor in &reactors {
                expected.compare(reactor, t, number("P"), &y);
            }
            let mut work = vec![0.0; kinetics.workspace()];
            let cp = kinetics.cp_mass(t, &y, &mut work);
            assert!((cp / number("cp_mass") - 1.0).abs() < 1e-13);
            let density = kinetics.density(t, number("P"), &y);
            assert!((Real::abs(density / number("density") - 1.0)) < 1e-13);
        }
    }
}

#[test]
fn every_rate_law() {
    against_cantera("rate-laws");
}

#[test]
fn burke_hydrogen() {
    against_cantera("burke-h2-2012");
}

#[test]
fn gri_mech_30() {
    against_cantera("grimech30");
}

#[test]
fn marinov_ethanol() {
    against_cantera("marinov-ethanol-1999");
}
