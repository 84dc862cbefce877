//! What solid cells leave of the exchange between cells, made ready for sweeps.
//!
//! Nothing passes between a cell of the domain and a solid one. Where the isotropic stencil
//! exchanges across an edge, four cells meet:
//!
//! - the one at the other side of the edge takes part when it belongs to the domain, and one of
//!   the two between as well;
//! - where that one and one of the two between are solid, there is a flat boundary, and the other of
//!   the two is its mirror image, as at the boundaries of the box: its face counts for more;
//! - else nothing passes: domains do not leak through edges at which their cells only touch.
//!
//! Each pair of cells finds the same weight from both sides, so that sums over the domain are kept.
//!
//! Rows are told apart by groups of cells, one cache line of a field each, whatever the lanes that
//! compute them: those whose cells and their neighbours all belong to the domain, those that are
//! solid, and those whose cells have weights of their own, which are kept as bits.

use crate::field::memory::LINE;
use crate::plan::domain::{Bits, Domain};
use crate::problem::stencil::Weights;
use std::ops::Range;

/// Neighbours across faces: the row among the nine around, y fastest, and the place along x, 0 to
/// 2. Along x, then y, then z.
pub(crate) const FACES: [(usize, usize); 6] = [(4, 0), (4, 2), (3, 1), (5, 1), (1, 1), (7, 1)];

/// Neighbours across edges, in the same way, and the faces between which they lie.
pub(crate) const EDGES: [((usize, usize), [usize; 2]); 12] = [
    ((3, 0), [0, 2]),
    ((5, 0), [0, 3]),
    ((3, 2), [1, 2]),
    ((5, 2), [1, 3]),
    ((1, 0), [0, 4]),
    ((7, 0), [0, 5]),
    ((1, 2), [1, 4]),
    ((7, 2), [1, 5]),
    ((0, 1), [2, 4]),
    ((6, 1), [2, 5]),
    ((2, 1), [3, 4]),
    ((8, 1), [3, 5]),
];

/// The weights of a group: a bit for each cell, of solid cells zeros.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Group {
    /// Bits of the weights of [`FACES`], those of one first, then those of two and of four. Of the
    /// star stencil a face weighs one.
    pub(crate) faces: [[u16; 6]; 3],
    /// Which of [`EDGES`] let through.
    pub(crate) edges: [u16; 12],
    /// Which cells belong to the domain.
    pub(crate) cells: u16,
}

/// Cells of a row that are computed in the same way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span<'a> {
    /// They and all their neighbours belong to the domain.
    Open,
    Solid,
    /// One group after the other.
    Mixed(&'a [Group]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Open,
    Solid,
    Mixed,
}

/// Cells of a kind, from those of the run before up to this one.
#[derive(Clone, Copy, Debug)]
struct Run {
    kind: Kind,
    end: u32,
}

/// The spans of all rows.
pub(crate) struct Solids {
    ny: usize,
    /// Cells of a group.
    line: usize,
    /// Where runs and groups of each row begin, and the ends of all.
    rows: Vec<[usize; 2]>,
    runs: Vec<Run>,
    groups: Vec<Group>,
}

impl Solids {
    /// For rows of numbers of type `T`, of which a cache line is a group.
    pub(crate) fn new<T>(domain: &Domain, weights: &Weights) -> Solids {
        let [nx, ny, nz] = domain.shape();
        let line = LINE / size_of::<T>();
        let (rows, runs, groups) = (vec![[0; 2]], Vec::new(), Vec::new());
        let mut solids = Solids { ny, line, rows, runs, groups };
        for (z, y) in (0..nz).flat_map(|z| (0..ny).map(move |y| (z, y))) {
            let (y, z) = (y as isize, z as isize);
            if domain.is_near(y, z) {
                let nine = domain.nine(y, z);
                let first = solids.runs.len();
                for x in (0..nx).step_by(WORD) {
                    let word = Word::new(&nine, weights.edges, x, (nx - x).min(WORD));
                    for at in (0..(nx - x).min(WORD)).step_by(line) {
                        let kind = solids.add(&word, at);
                        let end = nx.min(x + at + line) as u32;
                        match solids.runs[first..].last_mut() {
                            Some(last) if last.kind == kind => last.end = end,
                            _ => solids.runs.push(Run { kind, end }),
                        }
                    }
                }
            } else {
                solids.runs.push(Run { kind: Kind::Open, end: nx as u32 });
            }
            solids.rows.push([solids.runs.len(), solids.groups.len()]);
        }
        solids
    }

    /// Says of which kind the group at cell `at` of a word is, and keeps its weights if they are
    /// its own.
    fn add(&mut self, word: &Word, at: usize) -> Kind {
        let part = |bits: u64| (bits >> at) as u16 & (!0 >> (u16::BITS as usize - self.line));
        if part(word.others | word.cells) == 0 {
            return Kind::Solid;
        }
        if part(!(word.others | word.open)) == 0 {
            return Kind::Open;
        }
        self.groups.push(Group {
            faces: word.faces.map(|bits| bits.map(part)),
            edges: word.edges.map(part),
            cells: part(word.cells),
        });
        Kind::Mixed
    }

    /// The spans of row (y, z), and which cells they are.
    #[inline(always)]
    pub(crate) fn row(&self, y: isize, z: isize) -> impl Iterator<Item = (Range<usize>, Span<'_>)> {
        let row = z as usize * self.ny + y as usize;
        let ([first, group], [last, _]) = (self.rows[row], self.rows[row + 1]);
        let (mut groups, mut x) = (&self.groups[group..], 0);
        self.runs[first..last].iter().map(move |Run { kind, end }| {
            let cells = x..*end as usize;
            x = cells.end;
            let span = match kind {
                Kind::Open => Span::Open,
                Kind::Solid => Span::Solid,
                Kind::Mixed => {
                    let (own, others) = groups.split_at(cells.len().div_ceil(self.line));
                    groups = others;
                    Span::Mixed(own)
                }
            };
            (cells, span)
        })
    }
}

const WORD: usize = u64::BITS as usize;

/// The weights of the cells of a word.
struct Word {
    faces: [[u64; 6]; 3],
    edges: [u64; 12],
    cells: u64,
    /// Those cells all of whose neighbours take part.
    open: u64,
    /// What is no cell.
    others: u64,
}

impl Word {
    /// For so many cells from `x` on.
    fn new(nine: &[Bits<'_>; 9], with_edges: bool, x: usize, cells: usize) -> Word {
        let own = !0 >> (WORD - cells);
        let here = nine[4].window(x, 0) & own;
        let belongs = |(row, by): (usize, usize)| nine[row].window(x, by as isize - 1) & here;
        let open = FACES.map(belongs);
        let mut word = Word {
            faces: [open, [0; 6], [0; 6]],
            edges: [0; 12],
            cells: here,
            open: open.iter().fold(here, |all, face| all & face),
            others: !own,
        };
        if with_edges {
            // Twos, and ones for what is mirrored.
            word.faces = [[0; 6], open, [0; 6]];
            for (n, (across, between)) in EDGES.into_iter().enumerate() {
                let (far, [a, b]) = (belongs(across), between.map(|face| open[face]));
                word.edges[n] = far & (a | b);
                word.open &= far;
                word.add(between[0], a & !b & !far);
                word.add(between[1], b & !a & !far);
            }
        }
        word
    }

    /// Adds one to the weight of a face.
    fn add(&mut self, face: usize, one: u64) {
        let mut advected = one;
        for bits in &mut self.faces {
            let sum = bits[face] ^ advected;
            advected &= bits[face];
            bits[face] = sum;
        }
    }
}
