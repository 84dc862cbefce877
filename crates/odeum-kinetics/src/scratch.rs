//! The memory of one evaluation, carved from the workspace a solver lends.

use odeum_core::Real;

use crate::kinetics::Kinetics;

/// Values per species, per reaction and per third body; what they are is said where they are
/// computed ([`thermo`](crate::thermo), [`rate`](crate::rate)).
pub(crate) struct Scratch<'a, R> {
    pub(crate) c: &'a mut [R],
    pub(crate) e: &'a mut [R],
    pub(crate) z: &'a mut [R],
    pub(crate) u: &'a mut [R],
    pub(crate) h: &'a mut [R],
    pub(crate) cp: &'a mut [R],
    pub(crate) gamma: &'a mut [R],
    /// k, then q.
    pub(crate) k: &'a mut [R],
    pub(crate) x: &'a mut [R],
    pub(crate) ln_x: &'a mut [R],
    pub(crate) terms: &'a mut [R],
    // Derivatives only, from here on.
    pub(crate) recip_e: &'a mut [R],
    pub(crate) dcp: &'a mut [R],
    /// d ln k/dT, then ∂q/∂T.
    pub(crate) dlnk: &'a mut [R],
    pub(crate) dk_dx: &'a mut [R],
    pub(crate) dlnk_dlnp: &'a mut [R],
    pub(crate) net: &'a mut [R],
    pub(crate) scaled: &'a mut [R],
    /// ∂q/∂C of the slots, then ∂q/∂X.
    pub(crate) slots: &'a mut [R],
}

/// Takes the first `n` values off `rest`.
#[inline(always)]
fn take<'a, R>(rest: &mut &'a mut [R], n: usize) -> &'a mut [R] {
    let (head, tail) = std::mem::take(rest).split_at_mut(n);
    *rest = tail;
    head
}

impl Kinetics {
    /// Number of ∂q/∂C and ∂q/∂X together.
    pub(crate) fn n_partials(&self) -> usize {
        self.mass_action.n_slots() + self.bodies.reaction.len()
    }

    /// Number of k: one per reaction, and k₀ of each falloff reaction.
    fn n_constants(&self) -> usize {
        self.n_reactions() + self.bodies.reaction.len() - self.bodies.n_three_body
    }

    /// How many values of workspace the functions of this mechanism want.
    pub fn workspace(&self) -> usize {
        let (n, r) = (self.n_species(), self.n_reactions());
        let rates = 5 * (n + 1) + 4 * n + 2 * self.n_constants() + 2 * self.bodies.default.len();
        let tables = self.plog.reaction.len() + self.chebyshev.reaction.len();
        let terms = self.falloffs.troe_blending.n_terms();
        rates + terms + 2 * r + self.bodies.reaction.len() + tables + self.n_partials()
    }

    /// Parts of a workspace of [`workspace`](Kinetics::workspace) values.
    #[inline(always)]
    pub(crate) fn carve<'a, R: Real>(&self, work: &'a mut [R]) -> Scratch<'a, R> {
        let (n, r, constants) = (self.n_species(), self.n_reactions(), self.n_constants());
        let bodies = self.bodies.reaction.len();
        let tables = self.plog.reaction.len() + self.chebyshev.reaction.len();
        let mut rest = work;
        Scratch {
            c: take(&mut rest, n + 1),
            e: take(&mut rest, n + 1),
            z: take(&mut rest, n + 1),
            u: take(&mut rest, n + 1),
            h: take(&mut rest, n),
            cp: take(&mut rest, n),
            gamma: take(&mut rest, n),
            k: take(&mut rest, constants),
            x: take(&mut rest, self.bodies.default.len()),
            ln_x: take(&mut rest, self.bodies.default.len()),
            terms: take(&mut rest, self.falloffs.troe_blending.n_terms()),
            recip_e: take(&mut rest, n + 1),
            dcp: take(&mut rest, n),
            dlnk: take(&mut rest, constants),
            dk_dx: take(&mut rest, bodies),
            dlnk_dlnp: take(&mut rest, tables),
            net: take(&mut rest, r),
            scaled: take(&mut rest, r),
            slots: take(&mut rest, self.n_partials()),
        }
    }
}
