//! The Laplacian of a row, in two passes.
//!
//! The sums over the 19 points share their parts: with a the row itself, Q the sum of its four
//! nearest rows and E of the four next, the Laplacian is Z(x) + G(x − 1) + G(x + 1) with
//! Z = 2 Q + E − 24 a and G = 2 a + Q. The first pass writes Z and G, the second adds.
//!
//! Where the field is the same everywhere the result is exactly zero: 24 a is taken as four times
//! the rounded 6 a, which is also what G then is.

use super::row::{self, PAD};
use crate::stencil::Weights;
use crate::walls::Ghost;
use odeum_core::lanes::prefetch;
use odeum_core::{Lanes, Scalar};

/// Z and G of a row of `nx` cells, each padded.
pub(crate) struct Parts<'a, T> {
    pub(crate) z: &'a mut [T],
    pub(crate) g: &'a mut [T],
}

/// The first pass along `nx` cells, from the nine rows around, which are whole packs. What lies `ahead` of the row above is asked for: the
/// processor by itself sees too late that it will be needed.
#[inline(always)]
pub(crate) fn prepare<L: Lanes>(
    weights: &Weights,
    nx: usize,
    rows: &[&[L::Scalar]; 9],
    ahead: usize,
    ends: &[Ghost<L::Scalar>; 2],
    parts: &mut Parts<'_, L::Scalar>,
) {
    if weights.edges {
        prepare_edges::<L>(nx, rows, ahead, parts);
    } else {
        prepare_star::<L>(weights, nx, rows, ahead, parts);
    }
    // The wall along x acts on all rows alike, and G is linear in them.
    let sum = if weights.edges { 6.0 } else { 1.0 };
    let sum = L::Scalar::from_f64(sum);
    let g = &mut *parts.g;
    let end = |ghost: &Ghost<L::Scalar>, mirror: L::Scalar, wrap: L::Scalar| match ghost {
        Ghost::Mirror => mirror,
        Ghost::Wrap => wrap,
        Ghost::Affine { shift, scale } => sum * *shift + *scale * mirror,
    };
    let (first, last) = (g[PAD], g[PAD + nx - 1]);
    g[PAD - 1] = end(&ends[0], first, last);
    g[PAD + nx] = end(&ends[1], last, first);
}

#[inline(always)]
fn prepare_edges<L: Lanes>(
    nx: usize,
    rows: &[&[L::Scalar]; 9],
    ahead: usize,
    parts: &mut Parts<'_, L::Scalar>,
) {
    let whole = nx.next_multiple_of(L::WIDTH);
    let (zs, gs) = (&mut parts.z[PAD..], &mut parts.g[PAD..]);
    assert!(rows.iter().all(|row| row.len() >= whole));
    assert!(zs.len() >= whole && gs.len() >= whole);
    let above = rows[7].as_ptr().wrapping_add(ahead);
    let mut x = 0;
    while x < whole {
        let mut at = [L::lit(0.0); 9];
        for k in 0..9 {
            // SAFETY: whole packs lie within every row, as asserted.
            at[k] = unsafe { row::within(rows[k], x) };
        }
        prefetch(above.wrapping_add(x));
        let (z, g) = edges(at);
        // SAFETY: whole packs lie within the scratch rows, as asserted.
        unsafe { row::put(zs, x, z) };
        // SAFETY: as above.
        unsafe { row::put(gs, x, g) };
        x += L::WIDTH;
    }
}

/// Z and G of the isotropic stencil from the nine rows around.
#[inline(always)]
fn edges<L: Lanes>(at: [L; 9]) -> (L, L) {
    let nearest = (at[3] + at[5]) + (at[1] + at[7]);
    let next = (at[0] + at[2]) + (at[6] + at[8]);
    let (a, two) = (at[4], L::lit(2.0));
    let z = L::lit(-4.0).mul_add(L::lit(6.0) * a, two.mul_add(nearest, next));
    (z, two.mul_add(a, nearest))
}

#[inline(always)]
fn prepare_star<L: Lanes>(
    weights: &Weights,
    nx: usize,
    rows: &[&[L::Scalar]; 9],
    ahead: usize,
    parts: &mut Parts<'_, L::Scalar>,
) {
    let whole = nx.next_multiple_of(L::WIDTH);
    let (zs, gs) = (&mut parts.z[PAD..], &mut parts.g[PAD..]);
    let five = [rows[1], rows[3], rows[4], rows[5], rows[7]];
    assert!(five.iter().all(|row| row.len() >= whole));
    assert!(zs.len() >= whole && gs.len() >= whole);
    let along = [weights.axes[1], weights.axes[2]].map(L::lit);
    let above = rows[7].as_ptr().wrapping_add(ahead);
    let mut x = 0;
    while x < whole {
        let mut at = [L::lit(0.0); 5];
        for k in 0..5 {
            // SAFETY: whole packs lie within every row, as asserted.
            at[k] = unsafe { row::within(five[k], x) };
        }
        prefetch(above.wrapping_add(x));
        // SAFETY: whole packs lie within the scratch rows, as asserted.
        unsafe { row::put(zs, x, star(along, at)) };
        // SAFETY: as above.
        unsafe { row::put(gs, x, at[2]) };
        x += L::WIDTH;
    }
}

/// Z of the star stencil from the rows below, before, here, behind and above; G is the row here.
#[inline(always)]
fn star<L: Lanes>([along_y, along_z]: [L; 2], [below, before, a, behind, above]: [L; 5]) -> L {
    let minus_two = L::lit(-2.0);
    let y = minus_two.mul_add(a, before + behind);
    let z = minus_two.mul_add(a, below + above);
    minus_two.mul_add(a, along_y.mul_add(y, along_z * z))
}

/// The second pass at `x`: the Laplacian over the scale of its weights.
///
/// # Safety
///
/// `PAD + x + L::WIDTH` must be smaller than the length of both rows.
#[inline(always)]
pub(crate) unsafe fn finish<L: Lanes>(z: &[L::Scalar], g: &[L::Scalar], x: usize) -> L {
    let at = PAD + x;
    debug_assert!(at + 1 + L::WIDTH <= g.len() && at + L::WIDTH <= z.len());
    // SAFETY: the caller's promise.
    let sides = unsafe { row::within::<L>(g, at - 1) + row::within(g, at + 1) };
    // SAFETY: the caller's promise.
    unsafe { row::within::<L>(z, at) + sides }
}

/// The second pass along a whole row: `scale` times Z and its neighbours, in place of Z.
#[inline(always)]
pub(crate) fn complete<L: Lanes>(scale: f64, nx: usize, parts: &mut Parts<'_, L::Scalar>) {
    assert!(nx.next_multiple_of(L::WIDTH) + 2 * PAD <= parts.z.len().min(parts.g.len()));
    let scale = L::lit(scale);
    let mut x = 0;
    while x < nx {
        // SAFETY: the padded rows have room for whole packs, as asserted.
        let sum = unsafe { finish::<L>(parts.z, parts.g, x) };
        // SAFETY: as above.
        unsafe { row::put(parts.z, PAD + x, sum * scale) };
        x += L::WIDTH;
    }
}
