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
use odeum_core::{Lanes, Scalar};

/// Z and G of a row of `nx` cells, each padded.
pub(crate) struct Parts<'a, T> {
    pub(crate) z: &'a mut [T],
    pub(crate) g: &'a mut [T],
}

/// The first pass, from the nine rows around.
#[inline(always)]
pub(crate) fn prepare<L: Lanes>(
    weights: &Weights,
    rows: &[&[L::Scalar]; 9],
    ends: &[Ghost<L::Scalar>; 2],
    parts: &mut Parts<'_, L::Scalar>,
) {
    let nx = rows[4].len();
    if weights.edges {
        prepare_edges::<L>(rows, parts);
    } else {
        prepare_star::<L>(weights, rows, parts);
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
fn prepare_edges<L: Lanes>(rows: &[&[L::Scalar]; 9], parts: &mut Parts<'_, L::Scalar>) {
    let nx = rows[4].len();
    let (two, six, minus_four) = (L::lit(2.0), L::lit(6.0), L::lit(-4.0));
    let mut x = 0;
    while x < nx {
        let a: L = row::load(rows[4], x);
        let nearest = (row::load::<L>(rows[3], x) + row::load(rows[5], x))
            + (row::load::<L>(rows[1], x) + row::load(rows[7], x));
        let next = (row::load::<L>(rows[0], x) + row::load(rows[2], x))
            + (row::load::<L>(rows[6], x) + row::load(rows[8], x));
        let g = two.mul_add(a, nearest);
        let z = minus_four.mul_add(six * a, two.mul_add(nearest, next));
        z.store(&mut parts.z[PAD + x..PAD + x + L::WIDTH]);
        g.store(&mut parts.g[PAD + x..PAD + x + L::WIDTH]);
        x += L::WIDTH;
    }
}

#[inline(always)]
fn prepare_star<L: Lanes>(
    weights: &Weights,
    rows: &[&[L::Scalar]; 9],
    parts: &mut Parts<'_, L::Scalar>,
) {
    let nx = rows[4].len();
    let (along_y, along_z) = (L::lit(weights.axes[1]), L::lit(weights.axes[2]));
    let minus_two = L::lit(-2.0);
    let mut x = 0;
    while x < nx {
        let a: L = row::load(rows[4], x);
        let y = minus_two.mul_add(a, row::load::<L>(rows[3], x) + row::load(rows[5], x));
        let z = minus_two.mul_add(a, row::load::<L>(rows[1], x) + row::load(rows[7], x));
        let rest = minus_two.mul_add(a, along_y.mul_add(y, along_z * z));
        rest.store(&mut parts.z[PAD + x..PAD + x + L::WIDTH]);
        a.store(&mut parts.g[PAD + x..PAD + x + L::WIDTH]);
        x += L::WIDTH;
    }
}

/// The second pass at `x`: the Laplacian over the scale of its weights.
#[inline(always)]
pub(crate) fn finish<L: Lanes>(z: &[L::Scalar], g: &[L::Scalar], x: usize) -> L {
    let at = PAD + x;
    let sides = L::load(&g[at - 1..at - 1 + L::WIDTH]) + L::load(&g[at + 1..at + 1 + L::WIDTH]);
    L::load(&z[at..at + L::WIDTH]) + sides
}
