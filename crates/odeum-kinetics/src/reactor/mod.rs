//! A closed, homogeneous volume of ideal gas that reacts.
//!
//! The state is (T, Y₁ … Y_N, m): temperature \[K\], mass fractions, and the amount of substance
//! per mass m = Σ Yₖ/Wₖ [kmol/kg], with the single parameter pressure \[Pa\] or density [kg/m³].
//! With ωₖ the net production rates and ρ the density,
//!
//! - dYₖ/dt = Wₖ ωₖ / ρ and dm/dt = Σ ωₖ / ρ
//! - dT/dt = −Σ hₖ ωₖ / (ρ cp) at constant pressure, −Σ uₖ ωₖ / (ρ cv) at constant volume.
//!
//! m follows from Y, but carried as an unknown it makes the Jacobian sparse without
//! approximation: the total concentration M = ρ m, through which third bodies depend on every
//! species, becomes one column. m is a linear invariant of the equations, so Runge–Kutta and
//! Rosenbrock methods keep m = Σ Yₖ/Wₖ to rounding. Whoever changes Y sets m too: a wrong one is another
//! gas. [`Reactor::state`] makes a state, [`Reactor::check_states`] looks at those of others.

mod jacobian;
pub(crate) mod plan;
mod rhs;
mod state;
mod states;

use std::sync::Arc;

use odeum_core::{Pattern, RangeKind, Real, System, ValidRange};

use crate::kinetics::Kinetics;
use jacobian::JacobianWork;
use plan::Plan;
use rhs::RhsWork;

pub use crate::thermo::TEMPERATURE_MARGIN;
pub(crate) use state::SUM_TOLERANCE;
pub use state::{FuelOxidizer, GasState};
pub use states::StateBounds;

/// What is held constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// Pressure, the parameter of the system \[Pa\].
    ConstantPressure,
    /// Volume, and so the density, the parameter of the system [kg/m³].
    ConstantVolume,
}

/// What happens to the heat of reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Energy {
    /// It stays in the gas.
    Adiabatic,
    /// It is removed: the temperature is constant.
    Isothermal,
}

/// Which Jacobian the system gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JacobianForm {
    /// Exact.
    Exact,
    /// Without the dependence of third bodies on the species with an efficiency of their own: a
    /// sparser matrix for W-methods, which keep their order with any.
    Approximate,
}

/// A reactor, as a [`System`] for the solvers: one mechanism, many states.
#[derive(Clone, Debug)]
pub struct Reactor {
    kinetics: Arc<Kinetics>,
    constraint: Constraint,
    energy: Energy,
    form: JacobianForm,
    temperature_margin: f64,
    pub(crate) plan: Plan,
}

impl Reactor {
    /// A reactor for this mechanism.
    pub fn new(
        kinetics: Arc<Kinetics>,
        constraint: Constraint,
        energy: Energy,
        form: JacobianForm,
    ) -> Reactor {
        let plan = Plan::new(&kinetics, constraint, energy, form);
        let temperature_margin = TEMPERATURE_MARGIN;
        Reactor { kinetics, constraint, energy, form, temperature_margin, plan }
    }

    /// The same, of which [`state`](Reactor::state), [`check_states`](Reactor::check_states) and sessions take temperatures this far
    /// outside the thermodynamic data \[K\], where they are extrapolated; a margin that is negative or NaN counts as zero.
    pub fn with_temperature_margin(self, kelvin: f64) -> Reactor {
        Reactor { temperature_margin: kelvin.max(0.0), ..self }
    }

    /// An adiabatic reactor of constant pressure with the exact Jacobian.
    pub fn constant_pressure(kinetics: Arc<Kinetics>) -> Reactor {
        let (energy, form) = (Energy::Adiabatic, JacobianForm::Exact);
        Reactor::new(kinetics, Constraint::ConstantPressure, energy, form)
    }

    /// An adiabatic reactor of constant volume with the exact Jacobian.
    pub fn constant_volume(kinetics: Arc<Kinetics>) -> Reactor {
        let (energy, form) = (Energy::Adiabatic, JacobianForm::Exact);
        Reactor::new(kinetics, Constraint::ConstantVolume, energy, form)
    }

    /// The mechanism.
    pub fn kinetics(&self) -> &Arc<Kinetics> {
        &self.kinetics
    }

    /// What is held constant.
    pub fn constraint(&self) -> Constraint {
        self.constraint
    }

    /// What happens to the heat of reaction.
    pub fn energy(&self) -> Energy {
        self.energy
    }

    /// How far outside the thermodynamic data it may start \[K\].
    pub fn temperature_margin(&self) -> f64 {
        self.temperature_margin
    }

    /// Lowest and highest temperature at which the data of all species hold \[K\]. Beyond them
    /// the first and the last polynomial of each species continue.
    pub fn temperature_bounds(&self) -> (f64, f64) {
        self.kinetics.temperature_bounds()
    }

    /// Which Jacobian it gives.
    pub fn jacobian_form(&self) -> JacobianForm {
        self.form
    }
}

impl System for Reactor {
    fn dim(&self) -> usize {
        self.kinetics.n_species() + 2
    }

    fn n_params(&self) -> usize {
        1
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let mut work = vec![R::lit(0.0); self.workspace()];
        self.rhs_in(t, y, p, dydt, &mut work);
    }

    fn workspace(&self) -> usize {
        self.kinetics.workspace()
    }

    #[inline(always)]
    fn rhs_in<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R], work: &mut [R]) {
        R::outline(RhsWork { reactor: self, y, p, dydt, work });
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        Some(&self.plan.pattern)
    }

    #[inline(always)]
    fn jacobian_in<R: Real>(
        &self,
        _t: R,
        y: &[R],
        p: &[R],
        jacobian: &mut [R],
        dfdt: &mut [R],
        work: &mut [R],
    ) {
        R::outline(JacobianWork { reactor: self, y, p, dydt: None, jacobian, dfdt, work });
    }

    #[inline(always)]
    fn rhs_and_jacobian_in<R: Real>(
        &self,
        _t: R,
        y: &[R],
        p: &[R],
        dydt: &mut [R],
        jacobian: &mut [R],
        dfdt: &mut [R],
        work: &mut [R],
    ) {
        let dydt = Some(dydt);
        R::outline(JacobianWork { reactor: self, y, p, dydt, jacobian, dfdt, work });
    }

    fn ranges(&self) -> Vec<ValidRange> {
        let (lower, upper) = self.kinetics.temperature_bounds();
        let data = ValidRange { component: 0, lower, upper, kind: RangeKind::Data };
        // No temperature, fraction or amount is negative.
        let positive = |component| {
            let kind = RangeKind::Physical;
            ValidRange { component, lower: 0.0, upper: f64::INFINITY, kind }
        };
        std::iter::once(data).chain((0..self.dim()).map(positive)).collect()
    }

    fn state_names(&self) -> Vec<String> {
        let species = self.kinetics.species_names().iter().cloned();
        ["T".to_owned()].into_iter().chain(species).chain(["m".to_owned()]).collect()
    }

    fn param_names(&self) -> Vec<String> {
        vec![match self.constraint {
            Constraint::ConstantPressure => "pressure".to_owned(),
            Constraint::ConstantVolume => "density".to_owned(),
        }]
    }
}
