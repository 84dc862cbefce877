//! The Laplacian along a row that solid cells are near: what passes a face or an edge, pair by
//! pair.
//!
//! Nothing passes between a cell of the domain and a solid one. Where the isotropic stencil
//! exchanges across an edge, four cells meet:
//!
//! - the one at the other side of the edge takes part when it belongs to the domain, and one of
//!   the two between as well;
//! - where that one and one of the two between are solid, there is a flat wall, and the other of
//!   the two is its mirror image, as at the walls of the box;
//! - else nothing passes: domains do not leak through edges at which their cells only touch.
//!
//! Each pair of cells finds the same weight from both sides, so that sums over the domain are kept.

use super::row::{self, PAD};
use crate::domain::Bits;
use crate::stencil::Weights;
use crate::walls::Ghost;
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// The nine rows around a row, as [`Around::nine`](super::gather::Around::nine) gives them.
pub(super) struct Nine<'a, T> {
    pub(super) nx: usize,
    pub(super) rows: [&'a [T]; 9],
    pub(super) ends: &'a [Ghost<T>; 2],
    pub(super) bits: [Bits<'a>; 9],
}

/// Puts `scale` times the Laplacian over the scale of its weights into a padded row; of solid
/// cells it means nothing. `work` are nine padded rows.
#[inline(always)]
pub(super) fn laplacian<L: Lanes>(
    weights: &Weights,
    nine: &Nine<'_, L::Scalar>,
    scale: f64,
    work: &mut [L::Scalar],
    to: &mut [L::Scalar],
) {
    L::outline(Laplacian::<L> { weights, nine, scale, work, to });
}

/// [`laplacian`] out of line: it is long, and asked for in several places.
struct Laplacian<'a, 'n, L: Lanes> {
    weights: &'a Weights,
    nine: &'a Nine<'n, L::Scalar>,
    scale: f64,
    work: &'a mut [L::Scalar],
    to: &'a mut [L::Scalar],
}

impl<L: Lanes> Outlined for Laplacian<'_, '_, L> {
    #[inline(always)]
    fn run(self) {
        let Laplacian { weights, nine, scale, work, to } = self;
        let Nine { nx, rows, ends, bits } = *nine;
        let stride = work.len() / 9;
        for k in 0..9 {
            let line = &mut work[k * stride..(k + 1) * stride];
            line[PAD..PAD + nx].copy_from_slice(&rows[k][..nx]);
            row::fill_ends(line, nx, ends);
        }
        let lines: [&[L::Scalar]; 9] = std::array::from_fn(|k| &work[k * stride..(k + 1) * stride]);
        let mut x = 0;
        while x < nx {
            let cells = (nx - x).min(L::WIDTH);
            let place = PAD + x..PAD + x + L::WIDTH;
            x += L::WIDTH;
            if bits[4].window(place.start - PAD, 0) & ((1 << cells) - 1) == 0 {
                L::lit(0.0).store(&mut to[place]);
                continue;
            }
            let around = Patch::<L>::new(&lines, &bits, place.start);
            // What is added where all is open is what the masks would let through, in that order.
            let sum = match (weights.edges, around.is_open(cells)) {
                (true, true) => around.isotropic::<true>(),
                (true, false) => around.isotropic::<false>(),
                (false, true) => around.star::<true>(weights.axes),
                (false, false) => around.star::<false>(weights.axes),
            };
            (sum * L::lit(scale)).store(&mut to[place]);
        }
    }
}

/// What cells beside those of a pack have more than these, and which of them belong to the domain:
/// of each of the nine rows one cell down, straight and one cell up along x.
struct Patch<L> {
    more: [[L; 3]; 9],
    belong: [[u64; 3]; 9],
}

/// Cells beside those of a pack.
type Beside<L> = (L, u64);

impl<L: Lanes> Patch<L> {
    #[inline(always)]
    fn new(lines: &[&[L::Scalar]; 9], bits: &[Bits<'_>; 9], place: usize) -> Patch<L> {
        debug_assert!(L::WIDTH + 2 <= u64::BITS as usize);
        let at = |k: usize, by: usize| {
            let first = place + by - 1;
            L::load(&lines[k][first..first + L::WIDTH])
        };
        let here = at(4, 1);
        let (mut more, mut belong) = ([[L::lit(0.0); 3]; 9], [[0; 3]; 9]);
        for k in 0..9 {
            let window = bits[k].window(place - PAD, -1);
            belong[k] = [window, window >> 1, window >> 2];
            more[k][1] = at(k, 1) - here;
            // Rows across an edge have no neighbours along x.
            if k % 2 == 1 || k == 4 {
                more[k][0] = at(k, 0) - here;
                more[k][2] = at(k, 2) - here;
            }
        }
        Patch { more, belong }
    }

    /// Whether so many cells of the pack, and all beside them, belong to the domain.
    #[inline(always)]
    fn is_open(&self, cells: usize) -> bool {
        // The first bits of the rows are those of the cells one down.
        let all = self.belong.iter().fold(!0, |all, row| all & row[0]);
        let wanted = (1_u64 << (cells + 1) << 1) - 1;
        all & wanted == wanted
    }

    #[inline(always)]
    fn beside(&self, k: usize, by: usize) -> Beside<L> {
        (self.more[k][by], self.belong[k][by])
    }

    /// Neighbours across the faces, along x, y and z.
    #[inline(always)]
    fn faces(&self) -> [[Beside<L>; 2]; 3] {
        let pair =
            |a: (usize, usize), b: (usize, usize)| [self.beside(a.0, a.1), self.beside(b.0, b.1)];
        [pair((4, 0), (4, 2)), pair((3, 1), (5, 1)), pair((1, 1), (7, 1))]
    }

    #[inline(always)]
    fn isotropic<const OPEN: bool>(&self) -> L {
        let [x, y, z] = self.faces();
        let faces = along::<L, OPEN>(x) + (along::<L, OPEN>(y) + along::<L, OPEN>(z));
        let mut edges = L::lit(0.0);
        for n in 0..2 {
            for m in 0..2 {
                let in_xy = edge::<L, OPEN>(self.beside(3 + 2 * m, 2 * n), x[n], y[m]);
                let in_xz = edge::<L, OPEN>(self.beside(1 + 6 * m, 2 * n), x[n], z[m]);
                let in_yz = edge::<L, OPEN>(self.beside(2 * n + 6 * m, 1), y[n], z[m]);
                edges = edges + (in_xy + (in_xz + in_yz));
            }
        }
        L::lit(2.0).mul_add(faces, edges)
    }

    #[inline(always)]
    fn star<const OPEN: bool>(&self, [_, along_y, along_z]: [f64; 3]) -> L {
        let [x, y, z] = self.faces().map(along::<L, OPEN>);
        x + y.mul_add(L::lit(along_y), z * L::lit(along_z))
    }
}

/// Through both faces along an axis.
#[inline(always)]
fn along<L: Lanes, const OPEN: bool>([(low, a), (high, b)]: [Beside<L>; 2]) -> L {
    if OPEN {
        return low + high;
    }
    let zero = L::lit(0.0);
    L::select(L::from_bits(a), low, zero) + L::select(L::from_bits(b), high, zero)
}

/// Through an edge: what is across it, and the two between.
#[inline(always)]
fn edge<L: Lanes, const OPEN: bool>(
    (far, across): Beside<L>,
    (a, left): Beside<L>,
    (b, right): Beside<L>,
) -> L {
    if OPEN {
        return far;
    }
    let mirrored = L::select(L::from_bits(!across & right & !left), b, L::lit(0.0));
    let mirrored = L::select(L::from_bits(!across & left & !right), a, mirrored);
    L::select(L::from_bits(across & (left | right)), far, mirrored)
}

/// Zeros where the cells of a row are solid.
#[inline(always)]
pub(super) fn clear<L: Lanes>(bits: Bits<'_>, nx: usize, row: &mut [L::Scalar]) {
    let mut x = 0;
    while x < nx {
        let value = L::load(&row[x..x + L::WIDTH]);
        L::select(bits.mask::<L>(x), value, L::lit(0.0)).store(&mut row[x..x + L::WIDTH]);
        x += L::WIDTH;
    }
}

/// Puts values of one row into another where cells are solid; both are whole packs.
#[inline(always)]
pub(super) fn keep<L: Lanes>(bits: Bits<'_>, nx: usize, from: &[L::Scalar], to: &mut [L::Scalar]) {
    let mut x = 0;
    while x < nx {
        let pack = x..x + L::WIDTH;
        let value =
            L::select(bits.mask::<L>(x), L::load(&to[pack.clone()]), L::load(&from[pack.clone()]));
        value.store(&mut to[pack]);
        x += L::WIDTH;
    }
}
