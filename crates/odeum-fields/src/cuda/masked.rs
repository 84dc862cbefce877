//! Domains that are a part of the box: what the main kernel took for cells like others is
//! computed anew after it, word by word of the mask where solid cells are near.

use super::machine::{Machine, argument};
use super::shape::mask_words;
use crate::method::Method;
use crate::plan::{self, Plan};
use crate::problem::Problem;
use odeum::{Error, Scalar};
use std::ffi::c_void;

/// Threads of a block: a warp takes a word of 32 cells.
const BLOCK: [usize; 2] = [32, 8];

/// The kernels, in the order in which they are asked for.
pub(super) const NAMES: [&str; 2] = ["od_masked", "od_keep"];

/// The mask on a machine, and the words of it that solid cells are near.
pub(super) struct Masked<M: Machine> {
    mask: M::Memory,
    words: M::Memory,
    count: usize,
    /// What the output of a stage held in these words.
    kept: Option<M::Memory>,
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

/// Bytes of all that on a machine.
pub(super) fn bytes<T: Scalar>(problem: &Problem, method: Method) -> Result<u128, Error> {
    let species = problem.model.species();
    let walls = problem.walls.bind(&problem.grid, species, problem.model.params())?;
    let Some((domain, mask)) = plan::domain(problem, &walls).zip(problem.mask.as_ref()) else {
        return Ok(0);
    };
    let reach = reach(problem.model.potentials().outputs().len());
    let words = domain.words_near(0..mask.shape()[2], reach).len();
    let kept = kept_bytes::<T>(words, species.len(), method);
    Ok((size_of_val(mask.planes(0..mask.shape()[2])) + 4 * words + kept) as u128)
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
        let all = 0..mask.shape()[2];
        let list = domain.words_near(all.clone(), reach(plan.n_potentials()));
        let planes = mask.planes(all);
        let mut bits = machine.memory(size_of_val(planes))?;
        machine.write(&mut bits, 0, planes)?;
        let mut words = machine.memory(size_of_val(&list[..]).max(4))?;
        machine.write(&mut words, 0, &list)?;
        let kept = kept_bytes::<T>(list.len(), plan.layout.species, method);
        let kept = (kept > 0).then(|| machine.memory(kept)).transpose()?;
        Ok(Some(Masked { mask: bits, words, count: list.len(), kept }))
    }

    /// Where the mask lies; zero without one.
    pub(super) fn address(masked: Option<&Masked<M>>) -> u64 {
        masked.map_or(0, |masked| M::address(&masked.mask))
    }

    /// The cells that sums count.
    pub(super) fn counted<T>(masked: Option<&Masked<M>>, plan: &Plan<T>) -> Counted {
        let words = mask_words(plan.grid.shape()[0]) as i32;
        Counted { mask: Masked::address(masked), words }
    }

    /// Keeps what the output holds, before the main kernel.
    pub(super) fn keep(&self, machine: &M, entry: &M::Entry, to: u64) -> Result<(), Error> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let (words, kept) = (M::address(&self.words), M::address(kept));
        let count = self.count as i32;
        let arguments = [argument(&to), argument(&words), argument(&count), argument(&kept)];
        self.launch(machine, entry, arguments)
    }

    /// Computes anew what solid cells are near, after the main kernel, by its own step.
    pub(super) fn mend(
        &self,
        machine: &M,
        entry: &M::Entry,
        step: &[u64],
        [from, to]: [u64; 2],
    ) -> Result<(), Error> {
        let (mask, words) = (M::address(&self.mask), M::address(&self.words));
        let kept = self.kept.as_ref().map_or(0, M::address);
        let count = self.count as i32;
        let arguments = [
            argument(&from),
            argument(&to),
            step.as_ptr().cast_mut().cast::<c_void>(),
            argument(&mask),
            argument(&words),
            argument(&count),
            argument(&kept),
        ];
        self.launch(machine, entry, arguments)
    }

    fn launch<const N: usize>(
        &self,
        machine: &M,
        entry: &M::Entry,
        mut arguments: [*mut c_void; N],
    ) -> Result<(), Error> {
        let blocks = self.count.div_ceil(BLOCK[1]);
        if blocks == 0 {
            return Ok(());
        }
        // SAFETY: the arguments are those of the kernel; all memory lives as long as the machine,
        // and there is room for the words.
        unsafe { machine.launch(entry, [blocks, 1, 1], BLOCK, 0, &mut arguments) }
    }
}
