//! The Jacobian, exact and sparse.
//!
//! With w = ω/ρ, everything follows from four derivatives of each rate of progress q, taken with
//! the others fixed: ∂q/∂C of its factors, ∂q/∂X, ∂q/∂T, ∂q/∂p. C = ρ Y/W, X = α₀ M + Σ (α − α₀) C
//! and M = ρ m. At constant volume ρ is a constant and p = M R T; at constant pressure ρ = p/(R T m),
//! so that ∂ρ/∂T = −ρ/T and ∂ρ/∂m = −ρ/m, and M = p/(R T).

use odeum_core::Real;
use odeum_core::real::Outlined;

use super::plan::NONE;
use super::rhs::Mixture;
use super::{Constraint, Energy, Reactor};
use crate::scratch::Scratch;

/// One evaluation, out of line as the right-hand side.
pub(super) struct JacobianWork<'a, R> {
    pub(super) reactor: &'a Reactor,
    pub(super) y: &'a [R],
    pub(super) p: &'a [R],
    /// Where the right-hand side goes, if it is wanted too.
    pub(super) dydt: Option<&'a mut [R]>,
    pub(super) jacobian: &'a mut [R],
    pub(super) dfdt: &'a mut [R],
    pub(super) work: &'a mut [R],
}

impl Reactor {
    /// What ∂q/∂T and ∂q/∂m of the reactor are made of, from the partial derivatives of q:
    /// `dlnk` and `scaled` of the scratch become a and b in
    ///
    /// - constant pressure: ∂q/∂T = a − b/T, ∂q/∂m = −b/m
    /// - constant volume: ∂q/∂T = a, ∂q/∂m = b
    ///
    /// and ∂q/∂X goes into the slots.
    #[inline(always)]
    fn total_derivatives<R: Real>(&self, m: R, mixture: &Mixture<R>, s: &mut Scratch<'_, R>) {
        let kinetics = &*self.kinetics;
        let (recip_t, recip_m) = (mixture.with.at.recip, m.recip());
        let first = kinetics.mass_action.n_slots();
        let bodies = &kinetics.bodies;
        let constant_pressure = self.constraint == Constraint::ConstantPressure;
        if !constant_pressure {
            for r in 0..kinetics.n_reactions() {
                s.scaled[r] = R::lit(0.0);
            }
        }
        for j in 0..bodies.reaction.len() {
            let r = bodies.reaction[j] as usize;
            let by_x = s.dk_dx[j] * s.net[r];
            s.slots[first + j] = by_x;
            let base = R::lit(self.plan.default_efficiency[j]);
            if constant_pressure {
                let of_all = base * mixture.with.total;
                let listed = s.x[bodies.set[j] as usize] - of_all;
                s.dlnk[r] = s.dlnk[r] - by_x * of_all * recip_t;
                s.scaled[r] = by_x.mul_add(listed, s.scaled[r]);
            } else {
                s.scaled[r] = (by_x * base).mul_add(mixture.density, s.scaled[r]);
            }
        }
        if constant_pressure {
            return;
        }
        for j in 0..kinetics.tabulated.len() {
            let r = kinetics.tabulated.reaction(j);
            let by_ln_p = s.dlnk_dlnp[j] * s.k[r];
            s.dlnk[r] = by_ln_p.mul_add(recip_t, s.dlnk[r]);
            s.scaled[r] = by_ln_p.mul_add(recip_m, s.scaled[r]);
        }
    }
}

/// Writes an entry that may not be there.
#[inline(always)]
fn put<R>(jacobian: &mut [R], position: u32, value: R) {
    if position != NONE {
        jacobian[position as usize] = value;
    }
}

impl<R: Real> Outlined for JacobianWork<'_, R> {
    #[inline(always)]
    fn run(self) {
        let JacobianWork { reactor, y, p, dydt, jacobian, dfdt, work } = self;
        let (kinetics, plan) = (&*reactor.kinetics, &reactor.plan);
        let n = kinetics.n_species();
        let zero = R::lit(0.0);
        let adiabatic = reactor.energy == Energy::Adiabatic;
        for i in 0..n + 2 {
            dfdt[i] = zero;
        }
        let mut s = kinetics.split(work);
        let mixture = reactor.evaluate::<R, true>(y, p, &mut s);
        let m = y[n + 1];
        reactor.total_derivatives(m, &mixture, &mut s);
        // The progress of the reactions no longer needs what was there.
        kinetics.production.sums([s.k, s.dlnk, s.scaled], [s.z, s.e, s.recip_e]);
        let heat = reactor.production(y, &mixture, &mut s);
        if let Some(dydt) = dydt {
            reactor.slopes(y, &heat, &s, dydt);
        }

        let (t, recip_t) = (y[0], mixture.with.at.recip);
        let recip_capacity = heat.capacity.recip();
        let slope = -(t * heat.released * recip_capacity);
        let expansion = R::lit(reactor.expansion());
        let energies: &[R] = match reactor.constraint {
            Constraint::ConstantPressure => s.h,
            Constraint::ConstantVolume => s.u,
        };

        // Columns Y: first the species rows, then what the rows T and m sum over them.
        plan.block.sum(s.slots, jacobian);
        for k in 0..n {
            s.gamma[k] = energies[k] * R::lit(kinetics.recip_weight[k]);
        }
        for j in 0..n {
            let (mut released, mut moles) = (zero, zero);
            for i in plan.columns[j] as usize..plan.columns[j + 1] as usize {
                let (value, row) = (jacobian[plan.position[i] as usize], plan.row[i] as usize);
                released = s.gamma[row].mul_add(value, released);
                moles = R::lit(kinetics.recip_weight[row]).mul_add(value, moles);
            }
            put(jacobian, plan.moles[j], moles);
            if adiabatic {
                let capacity = R::lit(kinetics.recip_weight[j]) * (s.cp[j] - expansion);
                jacobian[1 + j] = -(recip_capacity * t.mul_add(released, slope * capacity));
            }
        }

        // Columns T and m.
        let constant_pressure = reactor.constraint == Constraint::ConstantPressure;
        let recip_m = m.recip();
        let (mut released_t, mut released_m) = (zero, zero);
        let (mut moles_t, mut moles_m, mut capacity) = (zero, zero, zero);
        for k in 0..n {
            let mut by_t = s.e[k] * mixture.recip_density;
            let mut by_m = s.recip_e[k] * mixture.recip_density;
            let w = s.z[k];
            if constant_pressure {
                // 1/ρ grows with T and m, too.
                let spread = w - by_m;
                by_t = spread.mul_add(recip_t, by_t);
                by_m = spread * recip_m;
            }
            let weight = R::lit(kinetics.weight[k]);
            put(jacobian, plan.in_t[k], weight * by_t);
            put(jacobian, plan.in_m[k], weight * by_m);
            moles_t = moles_t + by_t;
            moles_m = moles_m + by_m;
            let change = (s.cp[k] - expansion).mul_add(w, t * energies[k] * by_t);
            released_t = released_t + change;
            released_m = energies[k].mul_add(by_m, released_m);
            let amount = y[1 + k] * R::lit(kinetics.recip_weight[k]);
            capacity = amount.mul_add(s.dcp[k], capacity);
        }
        put(jacobian, plan.in_t[n], moles_t);
        put(jacobian, plan.in_m[n], moles_m);
        if adiabatic {
            jacobian[0] = -(slope.mul_add(capacity, released_t) * recip_capacity);
            jacobian[n + 1] = -(t * released_m * recip_capacity);
        }
    }
}
