//! The Laplacian along a row, in one pass.
//!
//! The sums over the 19 points share their parts: with a the row itself, Q the sum of its four
//! nearest rows and E of the four next, the Laplacian is Z(x) + G(x − 1) + G(x + 1) with
//! Z = 2 Q + E − 24 a and G = 2 a + Q. Packs of G stay in registers until their neighbours are
//! there.
//!
//! Where the field is the same everywhere the result is exactly zero: 24 a is taken as four times
//! the rounded 6 a, which is also what G then is.

use super::gather::Corners;
use super::row;
use crate::problem::boundaries::Ghost;
use crate::problem::stencil::{Reach, Weights};
use odeum_core::lanes::prefetch;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};
use std::ops::Range;

/// Which of the nine rows count, and how: those of the star stencil; all, with edges; of these the
/// three of a plane, where the others are the same; or the row alone.
pub(super) const STAR: usize = 0;
pub(super) const EDGES: usize = 1;
const PLANE: usize = 2;
const LINE: usize = 3;

/// What takes the Laplacian of a row, pack by pack.
pub(super) trait Sink<L> {
    /// A row begins at value `at`.
    #[inline(always)]
    fn begin(&mut self, _at: usize) {}

    /// Takes the pack at `x`, of which so many lanes are cells: the Laplacian over the scale of its
    /// weights, and the row itself.
    fn take(&mut self, x: usize, cells: usize, sum: L, centre: L);
}

/// The nine rows around a row of `nx` cells, whole packs, and its boundaries; or around `count` rows
/// that lie `row` apart.
pub(super) struct Nine<'a, T> {
    pub(super) nx: usize,
    pub(super) count: usize,
    pub(super) row: usize,
    pub(super) rows: &'a [&'a [T]; 9],
    pub(super) ends: &'a [Ghost<T>; 2],
    /// What the ghosts of the four nearest rows have beside that.
    pub(super) corners: Option<Corners<T>>,
    /// Values from what is read of the row above to what is asked for: the CPU by itself
    /// sees too late that it will be needed.
    pub(super) ahead: usize,
}

impl<T: Scalar> Nine<'_, T> {
    /// Asserts that there are cells, and that all rows have them as whole packs.
    #[inline(always)]
    pub(super) fn check<L: Lanes<Scalar = T>>(&self) {
        let wide = self.wide::<L>();
        assert!(self.nx > 0 && self.rows.iter().all(|row| row.len() >= wide));
    }

    /// From the first cell of the first row to the end of the last pack of the last.
    #[inline(always)]
    pub(super) fn wide<L: Lanes<Scalar = T>>(&self) -> usize {
        (self.count - 1) * self.row + self.nx.next_multiple_of(L::WIDTH)
    }
}

/// Gives the Laplacian along rows.
#[inline(always)]
pub(super) fn along<L: Lanes>(
    weights: &Weights,
    nine: &Nine<'_, L::Scalar>,
    sink: &mut impl Sink<L>,
) {
    nine.check::<L>();
    let (rows, cells) = (0..nine.count, 0..nine.nx);
    // SAFETY: just checked.
    unsafe {
        match (weights.reach, weights.edges) {
            (Reach::Line, _) => simulation::<L, LINE>(weights, nine, rows, cells, sink),
            (Reach::Plane, true) => simulation::<L, PLANE>(weights, nine, rows, cells, sink),
            (Reach::Box, true) => simulation::<L, EDGES>(weights, nine, rows, cells, sink),
            (_, false) => simulation::<L, STAR>(weights, nine, rows, cells, sink),
        }
    }
}

/// Gives the Laplacian along some of the rows, of some of their cells, of which the first begins a
/// pack.
///
/// # Safety
///
/// The rows must have passed [`check`](Nine::check), and have these cells.
#[inline(always)]
pub(super) unsafe fn simulation<L: Lanes, const KIND: usize>(
    weights: &Weights,
    nine: &Nine<'_, L::Scalar>,
    which: Range<usize>,
    cells: Range<usize>,
    sink: &mut impl Sink<L>,
) {
    // Copies: what a sink writes could change what it is only lent, as far as the compiler sees.
    let Nine { nx, row, ends, corners, ahead, .. } = *nine;
    let mut rows = [nine.rows[0].as_ptr(); 9];
    for k in 1..9 {
        rows[k] = nine.rows[k].as_ptr();
    }
    let yz = [weights.axes[1], weights.axes[2]];
    let above = rows[7].wrapping_add(ahead);
    // The boundary along x acts on all rows alike, and G is linear in them.
    let weight = L::Scalar::from_f64(if KIND == EDGES || KIND == PLANE { 6.0 } else { 1.0 });
    // What it has beside is that of edges, of which one row counts for each.
    let beside = |side: usize, beyond: L::Scalar| match corners {
        Some(corners) if KIND == EDGES || KIND == PLANE => {
            corners.iter().fold(beyond, |sum, ends| sum + ends[side])
        }
        _ => beyond,
    };
    // G is the same for a number as for lanes: its only product is by two.
    // SAFETY: such cells of every row are there.
    let one = |x: usize| unsafe { parts::<L::Scalar, KIND>(yz, &rows, x).1 };
    for begin in which.map(|n| n * row) {
        sink.begin(begin);
        let (mut x, last) = (begin + cells.start, begin + cells.end - 1);
        // SAFETY: the first pack of these cells is there.
        let (mut z, mut here, mut centre) = unsafe { parts::<L, KIND>(yz, &rows, x) };
        let first = here.lane(0);
        let before = match (cells.start, &ends[0]) {
            (0, Ghost::Wrap) => one(begin + nx - 1),
            (0, ghost) => beside(0, end(ghost, weight, first)),
            _ => one(x - 1),
        };
        let mut up = here.shifted_up(L::splat(before));
        // A line has no row above, and the rows of a plane are one stream, which the CPU sees.
        let ask = |x: usize| {
            if KIND != LINE && KIND != PLANE {
                prefetch(above.wrapping_add(x));
            }
        };
        ask(x);
        while x + L::WIDTH <= last {
            let at = x + L::WIDTH;
            ask(at);
            // SAFETY: a pack that holds cells, as asserted.
            let (next_z, next, next_centre) = unsafe { parts::<L, KIND>(yz, &rows, at) };
            // With AVX2 both shifts between two packs begin with the same operation.
            let sides = up + here.shifted_down(next);
            up = next.shifted_up(here);
            sink.take(x, L::WIDTH, joined::<L, KIND>(z, sides, centre), centre);
            (here, z, centre) = (next, next_z, next_centre);
            x = at;
        }
        let count = last + 1 - x;
        let after = match (cells.end == nx, &ends[1]) {
            (true, Ghost::Wrap) if cells.start == 0 => first,
            (true, Ghost::Wrap) => one(begin),
            (true, ghost) => beside(1, end(ghost, weight, here.lane(count - 1))),
            _ => one(last + 1),
        };
        if count < L::WIDTH {
            here.set_lane(count, after);
        }
        let sides = up + here.shifted_down(L::splat(after));
        sink.take(x, count, joined::<L, KIND>(z, sides, centre), centre);
    }
}

/// Z + G(x − 1) + G(x + 1). Along a line Z is −2 a, a product without rounding: with the sum it is one
/// operation. So it is in a plane, where a quarter of Z is given.
#[inline(always)]
fn joined<L: Lanes, const KIND: usize>(z: L, sides: L, centre: L) -> L {
    match KIND {
        LINE => L::lit(-2.0).mul_add(centre, sides),
        PLANE => L::lit(4.0).mul_add(z, sides),
        _ => z + sides,
    }
}

/// G beyond a boundary, from that before it.
#[inline(always)]
pub(super) fn end<T: Scalar>(ghost: &Ghost<T>, weight: T, mirror: T) -> T {
    match ghost {
        Ghost::Mirror | Ghost::Wrap => mirror,
        Ghost::Affine { shift, scale } => weight * *shift + *scale * mirror,
    }
}

/// Z, or in a plane a quarter of it, and G at `x`, and the row itself, with what the star stencil
/// weighs its axes y and z by.
///
/// # Safety
///
/// Rows are not shorter than `x + L::WIDTH`.
#[inline(always)]
unsafe fn parts<L: Lanes, const KIND: usize>(
    yz: [f64; 2],
    rows: &[*const L::Scalar; 9],
    x: usize,
) -> (L, L, L) {
    let mut at = [L::lit(0.0); 9];
    for k in 0..9 {
        let counts = match KIND {
            EDGES => true,
            STAR => k % 2 == 1 || k == 4,
            PLANE => k / 3 == 1,
            _ => k == 4,
        };
        if counts {
            // SAFETY: the caller's promise.
            at[k] = L::load(unsafe { std::slice::from_raw_parts(rows[k].add(x), L::WIDTH) });
        }
    }
    let (z, g) = match KIND {
        EDGES => edges(at),
        STAR => (star(yz.map(L::lit), [at[1], at[3], at[4], at[5], at[7]]), at[4]),
        PLANE => plane([at[3], at[4], at[5]]),
        _ => (L::lit(-2.0) * at[4], at[4]),
    };
    (z, g, at[4])
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

/// As [`edges`] where the planes below and above are this one, so that Q = 2 a + S and E = 2 S with the sum S of the rows
/// beside: a quarter of Z, S − 5 a, and G = 4 a + S. A field that is the same everywhere has −3 a and 6 a, equally rounded.
#[inline(always)]
fn plane<L: Lanes>([before, a, behind]: [L; 3]) -> (L, L) {
    let sides = before + behind;
    let quarter = match L::WIDTH {
        // Without lanes nothing is fused, and 5 a would be rounded by itself.
        1 => L::lit(-4.0).mul_add(a, sides) - a,
        _ => L::lit(-5.0).mul_add(a, sides),
    };
    (quarter, L::lit(4.0).mul_add(a, sides))
}

/// Z of the star stencil from the rows below, before, here, behind and above; G is the row here.
#[inline(always)]
fn star<L: Lanes>([along_y, along_z]: [L; 2], [below, before, a, behind, above]: [L; 5]) -> L {
    let minus_two = L::lit(-2.0);
    let y = minus_two.mul_add(a, before + behind);
    let z = minus_two.mul_add(a, below + above);
    minus_two.mul_add(a, along_y.mul_add(y, along_z * z))
}

/// Writes the Laplacian over the scale of its weights into a padded row.
#[inline(always)]
pub(super) fn store<L: Lanes>(
    weights: &Weights,
    nine: &Nine<'_, L::Scalar>,
    padded: &mut [L::Scalar],
) {
    let row = &mut padded[row::PAD..];
    assert!(row.len() >= nine.wide::<L>());
    L::outline(Stored::<L> { weights, nine, store: Store { row } });
}

/// A row out of line: its loop wants all registers.
struct Stored<'a, L: Lanes> {
    weights: &'a Weights,
    nine: &'a Nine<'a, L::Scalar>,
    store: Store<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for Stored<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Stored { weights, nine, mut store } = self;
        along::<L>(weights, nine, &mut store);
    }
}

/// A row that all packs fit into.
pub(super) struct Store<'a, T> {
    pub(super) row: &'a mut [T],
}

impl<T: Scalar> Store<'_, T> {
    #[inline(always)]
    pub(super) fn put<L: Lanes<Scalar = T>>(&mut self, x: usize, sum: L) {
        // SAFETY: packs lie within the width that `store` has compared with the row.
        unsafe { row::put(self.row, x, sum) };
    }
}

impl<L: Lanes> Sink<L> for Store<'_, L::Scalar> {
    #[inline(always)]
    fn take(&mut self, x: usize, _cells: usize, sum: L, _centre: L) {
        self.put(x, sum);
    }
}
