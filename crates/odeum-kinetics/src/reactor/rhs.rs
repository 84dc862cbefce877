//! The right-hand side.

use odeum_core::Real;
use odeum_core::real::Outlined;

use super::{Constraint, Energy, Reactor};
use crate::constants::GAS_CONSTANT;
use crate::rate::Conditions;
use crate::scratch::Scratch;
use crate::thermo::Temperature;

/// The mixture at a state.
pub(super) struct Mixture<R> {
    pub(super) with: Conditions<R>,
    /// ρ [kg/m³] and its reciprocal.
    pub(super) density: R,
    pub(super) recip_density: R,
}

/// Sums over the species that the temperature needs.
pub(super) struct Heat<R> {
    /// Σ hₖ ωₖ / (ρ R T), with u for h at constant volume.
    pub(super) released: R,
    /// Σ Yₖ cpₖ / (Wₖ R), with cv for cp at constant volume.
    pub(super) capacity: R,
}

impl Reactor {
    /// Density and concentrations, thermodynamics, rate constants and progress of the reactions.
    #[inline(always)]
    pub(super) fn evaluate<R: Real, const D: bool>(
        &self,
        y: &[R],
        p: &[R],
        s: &mut Scratch<'_, R>,
    ) -> Mixture<R> {
        let kinetics = &*self.kinetics;
        let n = kinetics.n_species();
        let at = Temperature::new(y[0]);
        let m = y[n + 1];
        let (density, total, pressure) = match self.constraint {
            Constraint::ConstantPressure => {
                let total = p[0] * R::lit(1.0 / GAS_CONSTANT) * at.recip;
                (total / m, total, p[0])
            }
            Constraint::ConstantVolume => {
                let total = p[0] * m;
                (p[0], total, total * R::lit(GAS_CONSTANT) * at.t)
            }
        };
        let ln_p = if kinetics.needs_pressure() { pressure.ln() } else { pressure };
        for k in 0..n {
            s.c[k] = y[1 + k] * R::lit(kinetics.recip_weight[k]) * density;
        }
        let with = Conditions { at, ln_p, total };
        kinetics.standard_state::<R, D>(&at, s);
        kinetics.activities::<R, D>(&at, s);
        kinetics.constants::<R, D>(&with, true, s);
        kinetics.progress::<R, D>(&at, s);
        Mixture { with, density, recip_density: density.recip() }
    }

    /// Where heat is counted per species: h at constant pressure, u at constant volume.
    #[inline(always)]
    pub(super) fn energies<'s, R>(&self, s: &'s Scratch<'_, R>) -> &'s [R] {
        match self.constraint {
            Constraint::ConstantPressure => s.h,
            Constraint::ConstantVolume => s.u,
        }
    }

    /// cp/R less this is what stands in the heat capacity.
    #[inline(always)]
    pub(crate) fn expansion(&self) -> f64 {
        match self.constraint {
            Constraint::ConstantPressure => 0.0,
            Constraint::ConstantVolume => 1.0,
        }
    }

    /// ωₖ/ρ [kmol/kg/s] of all species in place of ωₖ in `z` of the scratch, and the sums over
    /// them.
    #[inline(always)]
    pub(super) fn production<R: Real>(
        &self,
        y: &[R],
        mixture: &Mixture<R>,
        s: &mut Scratch<'_, R>,
    ) -> Heat<R> {
        let kinetics = &*self.kinetics;
        let (mut released, mut capacity) = (R::lit(0.0), R::lit(0.0));
        let expansion = R::lit(self.expansion());
        for k in 0..kinetics.n_species() {
            let w = s.z[k] * mixture.recip_density;
            s.z[k] = w;
            released = self.energies(s)[k].mul_add(w, released);
            let amount = y[1 + k] * R::lit(kinetics.recip_weight[k]);
            capacity = amount.mul_add(s.cp[k] - expansion, capacity);
        }
        Heat { released, capacity }
    }

    /// The right-hand side from what [`production`](Reactor::production) leaves.
    #[inline(always)]
    pub(super) fn slopes<R: Real>(
        &self,
        y: &[R],
        heat: &Heat<R>,
        s: &Scratch<'_, R>,
        dydt: &mut [R],
    ) {
        let kinetics = &*self.kinetics;
        let n = kinetics.n_species();
        let mut moles = R::lit(0.0);
        for k in 0..n {
            let w = s.z[k];
            dydt[1 + k] = R::lit(kinetics.weight[k]) * w;
            moles = moles + w;
        }
        dydt[n + 1] = moles;
        dydt[0] = match self.energy {
            Energy::Adiabatic => -(y[0] * heat.released / heat.capacity),
            Energy::Isothermal => R::lit(0.0),
        };
    }
}

/// One evaluation, out of line: it is long, and solvers call it in several places.
pub(super) struct RhsWork<'a, R> {
    pub(super) reactor: &'a Reactor,
    pub(super) y: &'a [R],
    pub(super) p: &'a [R],
    pub(super) dydt: &'a mut [R],
    pub(super) work: &'a mut [R],
}

impl<R: Real> Outlined for RhsWork<'_, R> {
    #[inline(always)]
    fn run(self) {
        let RhsWork { reactor, y, p, dydt, work } = self;
        let kinetics = &*reactor.kinetics;
        let mut s = kinetics.split(work);
        let mixture = reactor.evaluate::<R, false>(y, p, &mut s);
        // The progress of the reactions no longer needs what was there.
        kinetics.production.sum(s.k, s.z);
        let heat = reactor.production(y, &mixture, &mut s);
        reactor.slopes(y, &heat, &s, dydt);
    }
}
