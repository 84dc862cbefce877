//! Words of a mask, 32 cells each, that solid cells are near, and those that these read potentials
//! of: in an order in which each launch takes a run of them.

use super::shape::mask_words;
use super::span::{Piece, Span, Spans};
use crate::field::slab::Slab;
use crate::plan::domain::Domain;
use crate::problem::boundaries::SpeciesBoundaries;
use std::ops::Range;

/// Rows and planes of words that follow each other in the list: what a block reads around them it
/// reads once.
const TILE: usize = 4;

/// Runs of words that all launches of a kind take or leave.
const RUNS: usize = 5;

/// The words of a slab, counted from the first plane that it holds.
pub(super) struct BoundaryCells {
    pub(super) words: Vec<i32>,
    /// Where the runs begin, and where the last ends: those that only potentials of the inner piece
    /// are wanted of; near cells of the inner piece away from the edges, and beside them; near cells
    /// of the edges; those that only potentials of the edges are wanted of.
    ends: [usize; RUNS + 1],
}

impl BoundaryCells {
    /// `potentials`: whether there are any.
    pub(super) fn new(
        domain: &Domain,
        slab: &Slab,
        boundaries: &[SpeciesBoundaries],
        potentials: bool,
        [nx, ny]: [usize; 2],
    ) -> BoundaryCells {
        let words = mask_words(nx);
        let shape = [words, ny, slab.planes()];
        let below = slab.beside[0] * ny * words;
        // A potential beside a cell reads one cell further.
        let reach = if potentials { 2 } else { 1 };
        let mut near = vec![false; shape.iter().product()];
        for word in domain.words_near(slab.first..slab.first + slab.own, reach) {
            near[word as usize + below] = true;
        }
        let mut wanted = near.clone();
        if potentials {
            let round = |axis: usize| boundaries[0].wraps(axis) && (axis < 2 || slab.is_whole());
            let used = [nx.div_ceil(32), ny, slab.planes()];
            (0..3).for_each(|axis| spread(&mut wanted, shape, used, axis, round(axis)));
        }
        let edges = Spans::new(slab, |planes| planes).of(Piece::Edges);
        let at_edge = |z: usize| edges.as_ref().is_some_and(|span: &Span| span.covers(z));
        let beside = |z: usize| (z.saturating_sub(1)..z + 2).any(at_edge);
        let mut runs: [Vec<i32>; RUNS] = Default::default();
        for_each_tile(shape, |word, z| {
            let run = match (near[word], at_edge(z), beside(z)) {
                _ if !wanted[word] => return,
                (false, _, false) => 0,
                (true, false, false) => 1,
                (true, false, true) => 2,
                (true, true, _) => 3,
                (false, _, true) => 4,
            };
            runs[run].push(word as i32);
        });
        let mut ends = [0; RUNS + 1];
        for (n, run) in runs.iter().enumerate() {
            ends[n + 1] = ends[n] + run.len();
        }
        BoundaryCells { words: runs.concat(), ends }
    }

    fn run(&self, run: Range<usize>) -> Range<usize> {
        self.ends[run.start]..self.ends[run.end]
    }

    /// The words of a piece whose cells are computed anew.
    pub(super) fn masked(&self, piece: Piece) -> Range<usize> {
        match piece {
            Piece::Edges => self.run(3..4),
            Piece::Inner => self.run(1..3),
        }
    }

    /// The words of both pieces whose cells are computed anew.
    pub(super) fn all_masked(&self) -> Range<usize> {
        self.run(1..4)
    }

    /// The words of which a piece wants potentials; the inner one those of the edges too, which come
    /// before it.
    pub(super) fn feeding(&self, piece: Piece) -> Range<usize> {
        match piece {
            Piece::Edges => self.run(2..5),
            Piece::Inner => self.run(0..2),
        }
    }
}

/// Adds to a set of words those beside them along an axis, as far as rows are `used`.
fn spread(set: &mut [bool], shape: [usize; 3], used: [usize; 3], axis: usize, round: bool) {
    let stride: usize = shape[..axis].iter().product();
    let (before, n) = (set.to_owned(), used[axis]);
    for (word, belongs) in set.iter_mut().enumerate() {
        let i = word / stride % shape[axis];
        if i >= n {
            continue;
        }
        let first = word - i * stride;
        let low = if i > 0 {
            i - 1
        } else if round {
            n - 1
        } else {
            i
        };
        let high = if i + 1 < n {
            i + 1
        } else if round {
            0
        } else {
            i
        };
        *belongs |= before[first + low * stride] || before[first + high * stride];
    }
}

/// Gives all words and their planes, tile after tile.
fn for_each_tile([words, ny, planes]: [usize; 3], mut give: impl FnMut(usize, usize)) {
    let within = |first: usize, all: usize| first..(first + TILE).min(all);
    for (lowest, first) in tiles(planes).flat_map(|z| tiles(ny).map(move |y| (z, y))) {
        for x in 0..words {
            for z in within(lowest, planes) {
                within(first, ny).for_each(|y| give((z * ny + y) * words + x, z));
            }
        }
    }
}

fn tiles(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(TILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::noise::noise;
    use crate::problem::boundaries::{Boundaries, Boundary};
    use crate::problem::grid::Grid;
    use crate::problem::mask::Mask;

    /// Words within one cell's row, plane and word of a word.
    fn beside(word: i32, [words, ny, planes]: [usize; 3], round: [bool; 3]) -> Vec<i32> {
        let n = [words, ny, planes].map(|n| n as i32);
        let at = [word % n[0], word / n[0] % n[1], word / (n[0] * n[1])];
        let mut all = vec![];
        for shift in (0..27).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]) {
            let place = [0, 1, 2].map(|axis| {
                let i = at[axis] + shift[axis];
                if round[axis] { i.rem_euclid(n[axis]) } else { i.clamp(0, n[axis] - 1) }
            });
            all.push((place[2] * n[1] + place[1]) * n[0] + place[0]);
        }
        all
    }

    #[test]
    fn each_piece_has_the_words_it_reads() {
        for (shape, parts) in [([128, 9, 23], 2), ([256, 20, 16], 1), ([64, 5, 9], 4)] {
            for axis in [None, Some(0), Some(2)] {
                let grid = Grid::new(shape, 1.0).unwrap();
                let values: Vec<f64> = (0..grid.cells()).map(|n| noise(3, 0, n) + 0.9998).collect();
                let mask = Mask::from_values(&grid, &values).unwrap();
                let boundaries = Boundaries::default();
                let boundaries = match axis {
                    Some(axis) => boundaries.axis(axis, Boundary::Periodic),
                    None => boundaries,
                };
                let boundaries = boundaries.bind(&grid, &["c".to_owned()], &[]).unwrap();
                let periodic = [0, 1, 2].map(|axis| boundaries[0].wraps(axis));
                let domain = Domain::new(&mask, periodic, 1);
                let whole = Slab::whole(shape[2], periodic[2]);
                for slab in whole.split(parts).unwrap() {
                    let near =
                        BoundaryCells::new(&domain, &slab, &boundaries, true, [shape[0], shape[1]]);
                    let words = [mask_words(shape[0]), shape[1], slab.planes()];
                    let round = [periodic[0], periodic[1], periodic[2] && slab.is_whole()];
                    let [edges, inner] = [Piece::Edges, Piece::Inner];
                    let mut listed: Vec<i32> = near.words.clone();
                    listed.sort_unstable();
                    assert!(listed.windows(2).all(|pair| pair[0] < pair[1]));
                    let of = |range: Range<usize>| &near.words[range];
                    let first = of(near.feeding(edges));
                    let both = [first, of(near.feeding(inner))].concat();
                    for (piece, there) in [(edges, first), (inner, &both)] {
                        for word in of(near.masked(piece)) {
                            let wanted = beside(*word, words, round);
                            assert!(wanted.iter().all(|word| there.contains(word)), "{slab:?}");
                        }
                    }
                    let expected = domain.words_near(slab.first..slab.first + slab.own, 2);
                    let below = (slab.beside[0] * words[0] * words[1]) as i32;
                    let mut found: Vec<i32> =
                        of(near.all_masked()).iter().map(|word| word - below).collect();
                    found.sort_unstable();
                    assert_eq!(found, expected);
                    assert!(parts > 1 || near.words.len() < words.iter().product());
                }
            }
        }
    }
}
