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
use crate::domain::{Bits, Domain};
use crate::stencil::Weights;
use crate::walls::Ghost;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// A cell beside the middle one: the number of its row among the nine, and its place along x.
type Beside = (usize, isize);

/// Neighbours across faces, along x, y and z.
const FACES: [[Beside; 2]; 3] = [[(4, -1), (4, 1)], [(3, 0), (5, 0)], [(1, 0), (7, 0)]];

/// A neighbour across an edge, and the two between.
const fn edge(a: Beside, b: Beside) -> [Beside; 3] {
    [((a.0 + b.0) - 4, a.1 + b.1), a, b]
}

const EDGES: [[Beside; 3]; 12] = {
    let [[w, e], [s, n], [b, t]] = FACES;
    [
        edge(w, s),
        edge(e, s),
        edge(w, n),
        edge(e, n),
        edge(w, b),
        edge(e, b),
        edge(w, t),
        edge(e, t),
        edge(s, b),
        edge(n, b),
        edge(s, t),
        edge(n, t),
    ]
};

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
            let around = Patch { lines, bits, x, here: at::<L>(lines[4], x, 0) };
            let sum = if weights.edges { around.isotropic() } else { around.star(weights.axes) };
            (sum * L::lit(scale)).store(&mut to[PAD + x..PAD + x + L::WIDTH]);
            x += L::WIDTH;
        }
    }
}

#[inline(always)]
fn at<L: Lanes>(line: &[L::Scalar], x: usize, shift: isize) -> L {
    let first = (PAD + x).wrapping_add_signed(shift);
    L::load(&line[first..first + L::WIDTH])
}

/// A pack of cells with what surrounds it.
struct Patch<'a, L: Lanes> {
    lines: [&'a [L::Scalar]; 9],
    bits: [Bits<'a>; 9],
    x: usize,
    here: L,
}

impl<L: Lanes> Patch<'_, L> {
    /// Which cells beside these belong to the domain.
    #[inline(always)]
    fn belong(&self, (k, shift): Beside) -> u64 {
        self.bits[k].pack(self.x, shift, L::WIDTH)
    }

    /// What they have more than these.
    #[inline(always)]
    fn more(&self, (k, shift): Beside) -> L {
        at::<L>(self.lines[k], self.x, shift) - self.here
    }

    #[inline(always)]
    fn through_face(&self, beside: Beside) -> L {
        L::select(L::from_bits(self.belong(beside)), self.more(beside), L::lit(0.0))
    }

    #[inline(always)]
    fn through_edge(&self, [across, a, b]: [Beside; 3]) -> L {
        let [far, left, right] = [across, a, b].map(|beside| self.belong(beside));
        let zero = L::lit(0.0);
        let mirrored = L::select(L::from_bits(!far & right & !left), self.more(b), zero);
        let mirrored = L::select(L::from_bits(!far & left & !right), self.more(a), mirrored);
        L::select(L::from_bits(far & (left | right)), self.more(across), mirrored)
    }

    #[inline(always)]
    fn along(&self, axis: usize) -> L {
        self.through_face(FACES[axis][0]) + self.through_face(FACES[axis][1])
    }

    #[inline(always)]
    fn isotropic(&self) -> L {
        let faces = self.along(0) + (self.along(1) + self.along(2));
        let mut edges = L::lit(0.0);
        for edge in EDGES {
            edges = edges + self.through_edge(edge);
        }
        L::lit(2.0).mul_add(faces, edges)
    }

    #[inline(always)]
    fn star(&self, [_, along_y, along_z]: [f64; 3]) -> L {
        let yz = self.along(1).mul_add(L::lit(along_y), self.along(2) * L::lit(along_z));
        self.along(0) + yz
    }
}

/// What faces let through.
pub(super) trait Faces<L: Lanes>: Copy {
    /// The flux through the face after the cells `shift` along an axis from those at `x`; zero
    /// where that face is closed.
    fn through(self, x: usize, axis: usize, shift: isize, flux: L) -> L;

    /// A number that the cells there must give; zero where they are solid.
    fn given(self, x: usize, axis: usize, shift: isize, number: L) -> L;
}

/// All cells belong to the domain.
#[derive(Clone, Copy)]
pub(super) struct Open;

impl<L: Lanes> Faces<L> for Open {
    #[inline(always)]
    fn through(self, _: usize, _: usize, _: isize, flux: L) -> L {
        flux
    }

    #[inline(always)]
    fn given(self, _: usize, _: usize, _: isize, number: L) -> L {
        number
    }
}

/// A row with the two rows at either side along y and z.
#[derive(Clone, Copy)]
pub(super) struct Cross<'a> {
    here: Bits<'a>,
    /// Of rows that lie −2 … 2 along y, and along z.
    beside: [[Bits<'a>; 5]; 2],
}

impl<'a> Cross<'a> {
    /// That of row (y, z).
    pub(super) fn of(domain: &'a Domain, (y, z): (isize, isize)) -> Cross<'a> {
        let along_y = std::array::from_fn(|n| domain.row(y + n as isize - 2, z));
        let along_z = std::array::from_fn(|n| domain.row(y, z + n as isize - 2));
        Cross { here: domain.row(y, z), beside: [along_y, along_z] }
    }

    #[inline(always)]
    fn belong<L: Lanes>(&self, x: usize, axis: usize, shift: isize) -> u64 {
        match axis {
            0 => self.here.pack(x, shift, L::WIDTH),
            _ => self.beside[axis - 1][(shift + 2) as usize].pack(x, 0, L::WIDTH),
        }
    }
}

impl<L: Lanes> Faces<L> for &Cross<'_> {
    #[inline(always)]
    fn through(self, x: usize, axis: usize, shift: isize, flux: L) -> L {
        let open = self.belong::<L>(x, axis, shift) & self.belong::<L>(x, axis, shift + 1);
        L::select(L::from_bits(open), flux, L::lit(0.0))
    }

    #[inline(always)]
    fn given(self, x: usize, axis: usize, shift: isize, number: L) -> L {
        L::select(L::from_bits(self.belong::<L>(x, axis, shift)), number, L::lit(0.0))
    }
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

/// Values of one row where the cells of another are solid.
#[inline(always)]
pub(super) fn keep<T: Scalar>(bits: Bits<'_>, from: &[T], to: &mut [T]) {
    for x in 0..to.len() {
        if bits.pack(x, 0, 1) == 0 {
            to[x] = from[x];
        }
    }
}
