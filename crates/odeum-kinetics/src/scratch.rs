//! The memory of one evaluation, carved from the workspace a solver lends.

use odeum_core::Real;

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

/// How many values of each kind an evaluation wants.
pub(crate) struct Sizes {
    pub(crate) species: usize,
    pub(crate) reactions: usize,
    /// k: one per reaction, and k₀ of each falloff reaction.
    pub(crate) constants: usize,
    /// Third bodies, and reactions that have one.
    pub(crate) bodies: usize,
    pub(crate) with_body: usize,
    /// Reactions whose rates are tabulated over pressure.
    pub(crate) tables: usize,
    /// Terms of falloff blending.
    pub(crate) terms: usize,
    /// ∂q/∂C and ∂q/∂X together.
    pub(crate) partials: usize,
}

impl Sizes {
    /// All values together.
    pub(crate) fn all(&self) -> usize {
        let of_species = 5 * (self.species + 1) + 4 * self.species;
        let of_reactions = 2 * self.constants + 2 * self.reactions + self.with_body + self.tables;
        of_species + of_reactions + 2 * self.bodies + self.terms + self.partials
    }
}

impl<'a, R: Real> Scratch<'a, R> {
    /// Parts of a workspace of so many values.
    #[inline(always)]
    pub(crate) fn carve(work: &'a mut [R], sizes: &Sizes) -> Scratch<'a, R> {
        let (n, r) = (sizes.species, sizes.reactions);
        let mut rest = work;
        Scratch {
            c: take(&mut rest, n + 1),
            e: take(&mut rest, n + 1),
            z: take(&mut rest, n + 1),
            u: take(&mut rest, n + 1),
            h: take(&mut rest, n),
            cp: take(&mut rest, n),
            gamma: take(&mut rest, n),
            k: take(&mut rest, sizes.constants),
            x: take(&mut rest, sizes.bodies),
            ln_x: take(&mut rest, sizes.bodies),
            terms: take(&mut rest, sizes.terms),
            recip_e: take(&mut rest, n + 1),
            dcp: take(&mut rest, n),
            dlnk: take(&mut rest, sizes.constants),
            dk_dx: take(&mut rest, sizes.with_body),
            dlnk_dlnp: take(&mut rest, sizes.tables),
            net: take(&mut rest, r),
            scaled: take(&mut rest, r),
            slots: take(&mut rest, sizes.partials),
        }
    }
}
