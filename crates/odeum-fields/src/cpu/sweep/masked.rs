//! Laplacians along rows that solid cells are near.

use super::gather::At;
use super::laplacian::{self, Nine, Store};
use super::row::{self, PAD};
use crate::field::memory::LINE;
use crate::plan::domain::Domain;
use crate::plan::solids::{EDGES, FACES, Group, Solids, Span};
use crate::problem::stencil::Weights;
use odeum_core::lanes::prefetch;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// Groups from the one that is read to the one that is asked for.
const AHEAD: usize = 32;

/// Cells of a group.
const fn line<T>() -> usize {
    LINE / size_of::<T>()
}

/// Puts the Laplacian over the scale of its weights into padded rows, zeros where cells are solid. `patch` holds nine times three groups.
#[inline(always)]
pub(super) fn store<L: Lanes>(
    weights: &Weights,
    nine: &Nine<'_, L::Scalar>,
    (solids, at): (&Solids, At),
    patch: &mut [L::Scalar],
    to: &mut [L::Scalar],
) {
    nine.check::<L>();
    let row = &mut to[PAD..];
    assert!(row.len() >= nine.wide::<L>());
    L::outline(Stored::<L> { weights, nine, solids, at, patch, store: Store { row } });
}

/// [`store`] out of line: it is long, and asked for in several places.
struct Stored<'a, 'n, L: Lanes> {
    weights: &'a Weights,
    nine: &'a Nine<'n, L::Scalar>,
    solids: &'a Solids,
    at: At,
    patch: &'a mut [L::Scalar],
    store: Store<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for Stored<'_, '_, L> {
    #[inline(always)]
    fn run(self) {
        if self.weights.edges {
            self.through::<{ laplacian::EDGES }>();
        } else {
            self.through::<{ laplacian::STAR }>();
        }
    }
}

impl<L: Lanes> Stored<'_, '_, L> {
    #[inline(always)]
    fn through<const KIND: usize>(mut self) {
        let (line, zero) = (line::<L::Scalar>(), L::Scalar::from_f64(0.0));
        // Pointers that stay where they are: a copy for each group would be waited for.
        let mut rows = [self.nine.rows[0].as_ptr(); 9];
        let mut patches = [self.patch.as_ptr(); 9];
        for k in 0..9 {
            rows[k] = self.nine.rows[k].as_ptr();
            patches[k] = self.patch[3 * line * k..].as_ptr();
        }
        let ahead = rows[7].wrapping_add(self.nine.ahead);
        for n in 0..self.nine.count {
            let begin = n * self.nine.row;
            for (cells, span) in self.solids.row(self.at.y + n as isize, self.at.z) {
                if let Span::Open = span {
                    let Stored { weights, nine, ref mut store, .. } = self;
                    // SAFETY: the rows have been checked, and spans are of cells that there are.
                    unsafe {
                        laplacian::simulation::<L, KIND>(weights, nine, n..n + 1, cells, store);
                    }
                    continue;
                }
                for x in cells.clone().step_by(line) {
                    prefetch(ahead.wrapping_add(begin + x));
                }
                if let Span::Mixed(groups) = span {
                    for (group, x) in groups.iter().zip(cells.step_by(line)) {
                        // Those of the next rows follow.
                        prefetch(std::ptr::from_ref(group).wrapping_add(AHEAD));
                        self.group::<KIND>(group, [&rows, &patches], begin, x);
                    }
                } else {
                    self.store.row[begin + cells.start..begin + cells.end].fill(zero);
                }
            }
        }
    }

    /// The cells of a group, which begins at cell `x` of the row that begins at `begin`.
    #[inline(always)]
    fn group<const KIND: usize>(
        &mut self,
        group: &Group,
        [rows, patches]: [&[*const L::Scalar; 9]; 2],
        begin: usize,
        x: usize,
    ) {
        let line = line::<L::Scalar>();
        let (mut rows, mut first) = (rows, begin + x);
        if x == 0 || x + line >= self.nine.nx {
            fill::<L>(self.nine, begin, x, self.patch);
            (rows, first) = (patches, line);
        }
        let mut part = 0;
        while part < line && x + part < self.nine.nx {
            let sum = match group.cells >> part {
                0 => L::lit(0.0),
                // SAFETY: the group is neither at the beginning nor at the end of its rows, or
                // there is a group before and one after.
                _ => unsafe { exchanged::<L, KIND>(self.weights, group, part, rows, first + part) },
            };
            self.store.put(begin + x + part, sum);
            part += L::WIDTH;
        }
    }
}

/// Copies a group at an end of its row, of each of the nine rows, between cells beside it.
#[inline(always)]
fn fill<L: Lanes>(nine: &Nine<'_, L::Scalar>, begin: usize, x: usize, patch: &mut [L::Scalar]) {
    let (line, nx) = (line::<L::Scalar>(), nine.nx);
    let end = nx.min(x + line);
    for (n, (row, patch)) in nine.rows.iter().zip(patch.chunks_exact_mut(3 * line)).enumerate() {
        // Of other rows the ghosts of ghosts are not read.
        let beside = |side: usize, beyond: L::Scalar| match &nine.corners {
            Some(corners) if n % 2 == 1 => beyond + corners[n / 2][side],
            _ => beyond,
        };
        // Rows hold whole lines.
        for part in (0..line).step_by(L::WIDTH) {
            let pack = L::load(&row[begin + x + part..begin + x + part + L::WIDTH]);
            pack.store(&mut patch[line + part..line + part + L::WIDTH]);
        }
        let row = &row[begin..begin + nx];
        patch[line - 1] = match x {
            0 => beside(0, row::end(row, &nine.ends[0], 0, nx - 1)),
            _ => row[x - 1],
        };
        patch[line + end - x] = match end == nx {
            true => beside(1, row::end(row, &nine.ends[1], nx - 1, 0)),
            false => row[end],
        };
    }
}

/// The Laplacian over the scale of its weights of a pack of a group that begins after so many of
/// its cells.
///
/// # Safety
///
/// All rows must have the pack at `x`, and a cell before and after it.
#[inline(always)]
unsafe fn exchanged<L: Lanes, const KIND: usize>(
    weights: &Weights,
    group: &Group,
    part: usize,
    rows: &[*const L::Scalar; 9],
    x: usize,
) -> L {
    // SAFETY: the caller's promise.
    let here: L = unsafe { beside(rows, x, (4, 1)) };
    let mut faces = [here; 6];
    for face in 0..6 {
        // SAFETY: as above.
        faces[face] = unsafe { beside::<L>(rows, x, FACES[face]) } - here;
    }
    let [mut ones, mut twos, mut fours] = [L::lit(0.0); 3];
    if KIND == laplacian::STAR {
        // Along x, y and z.
        for side in 0..2 {
            let bits = |axis: usize| group.faces[0][2 * axis + side] >> part;
            ones = added(bits(0), ones, faces[side]);
            twos = added(bits(1), twos, faces[2 + side]);
            fours = added(bits(2), fours, faces[4 + side]);
        }
        let (along_y, along_z) = (L::lit(weights.axes[1]), L::lit(weights.axes[2]));
        return ones + twos.mul_add(along_y, fours * along_z);
    }
    for face in 0..6 {
        let bits = |bit: usize| group.faces[bit][face] >> part;
        ones = added(bits(0), ones, faces[face]);
        twos = added(bits(1), twos, faces[face]);
        fours = added(bits(2), fours, faces[face]);
    }
    // In three sums, none of which waits for long; they have names because an array of them would lie
    // in memory where the loop is not unrolled.
    let [mut a, mut b, mut c] = [L::lit(0.0); 3];
    for three in 0..4 {
        let with = |edge: usize, sum: L| {
            // SAFETY: as above.
            let more = unsafe { beside::<L>(rows, x, EDGES[edge].0) } - here;
            added(group.edges[edge] >> part, sum, more)
        };
        a = with(3 * three, a);
        b = with(3 * three + 1, b);
        c = with(3 * three + 2, c);
    }
    L::lit(4.0).mul_add(fours, L::lit(2.0).mul_add(twos, ones + (a + (b + c))))
}

/// The pack at `x` of a neighbour.
///
/// # Safety
///
/// All rows must have the pack at `x`, and a cell before and after it.
#[inline(always)]
unsafe fn beside<L: Lanes>(rows: &[*const L::Scalar; 9], x: usize, (row, by): (usize, usize)) -> L {
    // SAFETY: the caller's promise.
    L::load(unsafe { std::slice::from_raw_parts(rows[row].add(x + by - 1), L::WIDTH) })
}

/// A sum, with more in lanes whose bits are set.
#[inline(always)]
fn added<L: Lanes>(bits: u16, sum: L, more: L) -> L {
    L::select(L::from_bits(u64::from(bits)), sum + more, sum)
}

/// Writes masks of rows from the first cell on, which lie so many values apart: `ones` for cells of
/// the domain, zeros for all others.
#[inline(always)]
pub(super) fn masks<L: Lanes>(
    (domain, at): (&Domain, At),
    (nx, row): (usize, usize),
    ones: L,
    masks: &mut [L::Scalar],
) {
    for n in 0..at.rows {
        let masks = &mut masks[n * row..(n + 1) * row];
        for (x, cells) in domain.row(at.y + n as isize, at.z).packs::<L>(nx) {
            L::select(cells, ones, L::lit(0.0)).store(&mut masks[x..x + L::WIDTH]);
        }
    }
}
