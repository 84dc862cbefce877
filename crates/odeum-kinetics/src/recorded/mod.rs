//! The right-hand side of a reactor as a graph: straight-line code for small mechanisms.
//!
//! Thermodynamics, blending functions and tabulated rates are those of the lanes, run once over symbols; what stands
//! around them is arranged so that little is computed, and little again for derivatives:
//!
//! - With C = ρ Y/W the law of mass action is written in mass fractions: the powers of ρ of most reactions are one
//!   factor of all slopes, and molar masses go into the constants A ([`progress`]).
//! - Constants A and F of falloff reactions go into exponentials that are computed anyway ([`constants`], [`falloff`]).
//! - Reactions that differ in their rate constants alone are one, with the sum of these.
//! - Of the sums that many rates depend on (the density, the concentrations of colliders, the heat capacity)
//!   derivatives are taken as of variables ([`Symbol::intermediate`]).
//! - Heat is counted with the enthalpies of which γ is made, where the reactions conserve elements exactly: the shift
//!   cancels as it does in the equilibrium constants, and a coefficient less is chosen by range.

mod constants;
mod falloff;
mod mixture;
mod progress;

use crate::kinetics::Kinetics;
use crate::reactor::{Constraint, Energy, Reactor};
use crate::thermo::{Functions, Temperature, ThermoTables};
use mixture::Mixture;
use odeum_core::{Graph, Real, Symbol, System};

impl Reactor {
    /// The right-hand side as a graph of the states (T, Y₁ … Y_N, m) and the parameter of the reactor, equal to
    /// [`System::rhs`] but for rounding. [`Graph::jacobian`] gives its exact Jacobian, whatever the form of the reactor's.
    ///
    /// It grows with the mechanism, and so does text made of it: hydrogen (13 species, 27 reactions) has 580
    /// operations, of which 37 are elementary functions, and 1,900 with the Jacobian; GRI-Mech 3.0 has 5,300 and
    /// 20,000. What no reaction changes has the slope 0, even where the state is no number.
    pub fn graph(&self) -> Graph {
        let graph = Graph::record(self.dim(), 1, |_t, y, p| slopes(self, y, p[0]));
        graph.of_finite().named(self.state_names(), self.param_names())
    }
}

/// f \[n + 2\] at a state \[n + 2\].
fn slopes(reactor: &Reactor, y: &[Symbol], parameter: Symbol) -> Vec<Symbol> {
    let kinetics = &**reactor.kinetics();
    let n = kinetics.n_species();
    let (fractions, zero) = (&y[1..=n], Symbol::lit(0.0));
    let mixture = Mixture::new(reactor.constraint(), y[0], y[n + 1], parameter);
    let mut work = vec![zero; kinetics.workspace()];
    let mut s = kinetics.split(&mut work);
    let mut functions = Functions { cp: s.cp, h: s.h, gamma: s.gamma, dcp: s.dcp };
    thermo(kinetics).evaluate::<Symbol, false>(&mixture.at, &mut functions);
    let per_mass = constants::write(kinetics, &mixture, fractions, &mut s);

    // ωₖ/ρ².
    let mut production = vec![zero; n];
    let mut moles = zero;
    for (net, rate) in progress::rates(kinetics, &mixture, fractions, &per_mass, &mut s) {
        for &(k, nu) in net {
            production[k] = Symbol::lit(nu).mul_add(rate, production[k]);
        }
        moles = Symbol::lit(net.iter().map(|(_, nu)| nu).sum()).mul_add(rate, moles);
    }
    let expansion = Symbol::lit(reactor.expansion());
    let (mut released, mut capacity) = (-(expansion * moles), zero);
    for k in 0..n {
        released = s.h[k].mul_add(production[k], released);
        let per_mass = (s.cp[k] - expansion) * Symbol::lit(kinetics.recip_weight[k]);
        capacity = fractions[k].mul_add(per_mass, capacity);
    }
    let density = mixture.density;
    let heating = match reactor.energy() {
        Energy::Adiabatic => -(y[0] * density * capacity.intermediate().recip() * released),
        Energy::Isothermal => zero,
    };
    let mut slopes = vec![heating];
    for k in 0..n {
        slopes.push(Symbol::lit(kinetics.weight[k]) * density * production[k]);
    }
    slopes.push(density * moles);
    slopes
}

/// The tables of the species, with enthalpies shifted as γ is where every reaction leaves Σ ν h as it was.
fn thermo(kinetics: &Kinetics) -> ThermoTables {
    /// Rounding of Σ ν λ, relative.
    const ROUNDING: f64 = 1e-12;
    let mut thermo = kinetics.thermo.clone();
    let cancels = kinetics.net.iter().all(|net| {
        let terms = net.iter().map(|&(k, nu)| nu * thermo.shift[k].0);
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x: f64| (sum + x, size + x.abs()));
        sum.abs() <= ROUNDING * size
    });
    if cancels {
        for a in thermo.pair.low.iter_mut().chain(&mut thermo.pair.high) {
            a[5] = a[6];
        }
        for a in &mut thermo.general.coefficients {
            a[7] = a[9];
        }
    }
    thermo
}
