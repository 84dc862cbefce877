//! Domains that are a part of the box: what the main kernel took for cells like others is
//! computed anew after it, word by word of the mask where solid cells are near.

use super::machine::{Machine, argument};
use super::shape::mask_words;
use super::span::{Piece, Spans};
use crate::domain::Domain;
use crate::method::Method;
use crate::plan::{self, Plan};
use crate::problem::Problem;
use crate::slab::Slab;
use odeum::{Error, Scalar};
use std::ffi::c_void;

/// Threads of a block: a warp takes a word of 32 cells.
const BLOCK: [usize; 2] = [32, 8];

/// The kernels, in the order in which they are asked for.
pub(super) const NAMES: [&str; 2] = ["od_masked", "od_keep"];

/// The mask on a machine, and the words of it that solid cells are near.
pub(super) struct Masked<M: Machine> {
    mask: M::Memory,
    /// Where that of its own planes begins \[bytes\].
    own: usize,
    words: M::Memory,
    /// Words of the edges, and of the other planes.
    counts: [usize; 2],
    /// What the output of a stage held in these words, of each so many bytes.
    kept: Option<M::Memory>,
    of_word: usize,
}

/// Cells that sums count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Where the mask lies; zero where all cells count.
    pub(super) mask: u64,
    /// 32-bit words of a row of it.
    pub(super) words: i32,
}

/// Bytes that an output's old content in so many words takes.
fn kept_bytes<T>(words: usize, species: usize, method: Method) -> usize {
    if method == Method::Euler { 0 } else { words * 32 * species * size_of::<T>() }
}

/// How near: a potential beside a cell reads one cell further.
fn reach(potentials: usize) -> isize {
    if potentials > 0 { 2 } else { 1 }
}

/// The words of a slab that solid cells are near, counted from the first plane that it holds:
/// those of its edges, then the others; and how many these are.
fn words(
    domain: &Domain,
    slab: &Slab,
    reach: isize,
    [nx, ny]: [usize; 2],
) -> (Vec<i32>, [usize; 2]) {
    let plane = ny * mask_words(nx);
    let own = slab.first..slab.first + slab.own;
    let below = (slab.beside[0] * plane) as i32;
    let words = domain.words_near(own, reach).into_iter().map(|word| word + below);
    let spans = Spans::new(slab, |planes| planes);
    let edges = spans.of(Piece::Edges);
    let at_edge = |word: &i32| edges.is_some_and(|span| span.covers(*word as usize / plane));
    let (mut list, inner): (Vec<i32>, Vec<i32>) = words.partition(at_edge);
    let counts = [list.len(), inner.len()];
    list.extend(inner);
    (list, counts)
}

/// Bytes of all that on the machine that has a slab.
pub(super) fn bytes<T: Scalar>(
    problem: &Problem,
    slab: &Slab,
    method: Method,
) -> Result<u128, Error> {
    let species = problem.model.species();
    let walls = problem.walls.bind(&problem.grid, species, problem.model.params())?;
    let Some(domain) = plan::domain(problem, &walls) else { return Ok(0) };
    let [nx, ny, _] = problem.grid.shape();
    let reach = reach(problem.model.potentials().outputs().len());
    let words = words(&domain, slab, reach, [nx, ny]).0.len();
    let kept = kept_bytes::<T>(words, species.len(), method);
    let planes = 4 * slab.planes() * ny * mask_words(nx);
    Ok((planes + 4 * words + kept) as u128)
}

impl<M: Machine> Masked<M> {
    /// `None` where all cells belong to the domain.
    pub(super) fn new<T: Scalar>(
        machine: &M,
        (problem, plan): (&Problem, &Plan<T>),
        method: Method,
    ) -> Result<Option<Masked<M>>, Error> {
        let Some((domain, mask)) = plan.domain.as_ref().zip(problem.mask.as_ref()) else {
            return Ok(None);
        };
        let [nx, ny, _] = plan.grid.shape();
        let (list, counts) = words(domain, &plan.slab, reach(plan.n_potentials()), [nx, ny]);
        let plane = 4 * ny * mask_words(nx);
        let mut bits = machine.memory(plane * plan.slab.planes())?;
        for k in 0..plan.slab.planes() {
            let there = plan.slab.in_box(k);
            machine.write(&mut bits, k * plane, mask.planes(there..there + 1))?;
        }
        let mut words = machine.memory(size_of_val(&list[..]).max(4))?;
        machine.write(&mut words, 0, &list)?;
        let of_word = kept_bytes::<T>(1, plan.layout.species, method);
        let kept = (of_word * list.len() > 0).then(|| machine.memory(of_word * list.len()));
        let own = plane * plan.slab.beside[0];
        Ok(Some(Masked { mask: bits, own, words, counts, kept: kept.transpose()?, of_word }))
    }

    /// Where the mask of the planes that a slab holds lies; zero without one.
    pub(super) fn address(masked: Option<&Masked<M>>) -> u64 {
        masked.map_or(0, |masked| M::address(&masked.mask))
    }

    /// The cells of its own planes that sums count.
    pub(super) fn counted<T>(masked: Option<&Masked<M>>, plan: &Plan<T>) -> Counted {
        let words = mask_words(plan.grid.shape()[0]) as i32;
        let mask = masked.map_or(0, |masked| M::address(&masked.mask) + masked.own as u64);
        Counted { mask, words }
    }

    /// Where the words of a piece lie, how many they are, and where what is kept of them lies.
    fn piece(&self, piece: Piece) -> (u64, i32, u64) {
        let [edges, inner] = self.counts;
        let (first, count) = match piece {
            Piece::Edges => (0, edges),
            Piece::Inner => (edges, inner),
        };
        let kept = |kept: &M::Memory| M::address(kept) + (first * self.of_word) as u64;
        let words = M::address(&self.words) + (first * size_of::<i32>()) as u64;
        (words, count as i32, self.kept.as_ref().map_or(0, kept))
    }

    /// Keeps what the output holds, before the main kernel.
    pub(super) fn keep(
        &self,
        machine: &M,
        entry: &M::Entry,
        piece: Piece,
        to: u64,
    ) -> Result<(), Error> {
        let (words, count, kept) = self.piece(piece);
        if kept == 0 {
            return Ok(());
        }
        let arguments = [argument(&to), argument(&words), argument(&count), argument(&kept)];
        launch(machine, entry, count, arguments)
    }

    /// Computes anew what solid cells are near, after the main kernel, by its own step.
    pub(super) fn mend(
        &self,
        machine: &M,
        entry: &M::Entry,
        step: &[u64],
        piece: Piece,
        [from, to]: [u64; 2],
    ) -> Result<(), Error> {
        let mask = M::address(&self.mask);
        let (words, count, kept) = self.piece(piece);
        let arguments = [
            argument(&from),
            argument(&to),
            step.as_ptr().cast_mut().cast::<c_void>(),
            argument(&mask),
            argument(&words),
            argument(&count),
            argument(&kept),
        ];
        launch(machine, entry, count, arguments)
    }
}

fn launch<M: Machine, const N: usize>(
    machine: &M,
    entry: &M::Entry,
    count: i32,
    mut arguments: [*mut c_void; N],
) -> Result<(), Error> {
    let blocks = (count as usize).div_ceil(BLOCK[1]);
    if blocks == 0 {
        return Ok(());
    }
    // SAFETY: the arguments are those of the kernel; all memory lives as long as the machine, and
    // there is room for the words.
    unsafe { machine.launch(entry, [blocks, 1, 1], BLOCK, 0, &mut arguments) }
}
