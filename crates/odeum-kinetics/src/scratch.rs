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
    /// The length of each part of [`Scratch`], in order.
    #[inline(always)]
    fn lengths(&self) -> [usize; 19] {
        let Sizes { species: n, reactions, constants, bodies, with_body, tables, terms, partials } =
            *self;
        let [c, e, z, u, h, cp, gamma] = [n + 1, n + 1, n + 1, n + 1, n, n, n];
        let [k, x, ln_x] = [constants, bodies, bodies];
        let [recip_e, dcp, dlnk, dk_dx, dlnk_dlnp] = [n + 1, n, constants, with_body, tables];
        let [net, scaled, slots] = [reactions, reactions, partials];
        [
            c, e, z, u, h, cp, gamma, k, x, ln_x, terms, recip_e, dcp, dlnk, dk_dx, dlnk_dlnp, net,
            scaled, slots,
        ]
    }

    /// All values together.
    pub(crate) fn all(&self) -> usize {
        self.lengths().iter().sum()
    }
}

impl<'a, R: Real> Scratch<'a, R> {
    /// Parts of a workspace of so many values.
    #[inline(always)]
    pub(crate) fn split(work: &'a mut [R], sizes: &Sizes) -> Scratch<'a, R> {
        let [
            c,
            e,
            z,
            u,
            h,
            cp,
            gamma,
            k,
            x,
            ln_x,
            terms,
            recip_e,
            dcp,
            dlnk,
            dk_dx,
            dlnk_dlnp,
            net,
            scaled,
            slots,
        ] = sizes.lengths();
        let mut rest = work;
        Scratch {
            c: take(&mut rest, c),
            e: take(&mut rest, e),
            z: take(&mut rest, z),
            u: take(&mut rest, u),
            h: take(&mut rest, h),
            cp: take(&mut rest, cp),
            gamma: take(&mut rest, gamma),
            k: take(&mut rest, k),
            x: take(&mut rest, x),
            ln_x: take(&mut rest, ln_x),
            terms: take(&mut rest, terms),
            recip_e: take(&mut rest, recip_e),
            dcp: take(&mut rest, dcp),
            dlnk: take(&mut rest, dlnk),
            dk_dx: take(&mut rest, dk_dx),
            dlnk_dlnp: take(&mut rest, dlnk_dlnp),
            net: take(&mut rest, net),
            scaled: take(&mut rest, scaled),
            slots: take(&mut rest, slots),
        }
    }
}
