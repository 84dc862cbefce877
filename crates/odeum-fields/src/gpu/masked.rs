//! Domains that are a part of the box: what the main kernel took for cells like others is
//! computed anew after it, word by word of the mask where solid cells are near.
//!
//! Which faces and edges of such a cell are open is written down once, as a code of 32 bits; the
//! potentials that these cells read are computed before them, each once.

use super::near::BoundaryCells;
use super::pending::PendingKernels;
use super::shape::{Shape, mask_words};
use super::source;
use super::span::Piece;
use crate::field::slab::Slab;
use crate::plan::{self, Plan};
use crate::problem::Problem;
use crate::time::method::Method;
use odeum_cuda::{Device, Memory, Stream, argument};
use odeum_ode::{Error, Scalar};
use std::ffi::c_void;

/// Threads of a block: a warp takes a word of 32 cells.
const BLOCK: [usize; 2] = [32, 8];

/// Cells of a word.
const WORD: usize = 32;

/// The mask on a device, and the words of it that solid cells are near.
pub(super) struct Masked<D: Device> {
    /// The one that writes the codes.
    kernels: PendingKernels<D>,
    mask: D::Memory,
    /// Where that of its own planes begins \[bytes\].
    own: usize,
    near: BoundaryCells,
    words: D::Memory,
    codes: D::Memory,
    /// What the output of a stage held in words that are computed anew, of each so many bytes.
    kept: Option<D::Memory>,
    of_word: usize,
    potentials: Option<D::Memory>,
}

/// The kernels that the text of a step has for this.
#[derive(Clone)]
pub(super) struct Entries<E> {
    masked: E,
    /// Of stages that add what their output held.
    keep: Option<E>,
    potentials: Option<E>,
}

/// Cells that sums count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Where the mask lies; zero where all cells count.
    pub(super) mask: u64,
    /// 32-bit words of a row of it.
    pub(super) words: i32,
}

/// The names of the kernels, in the order in which [`Entries::new`] wants them.
pub(super) fn names(keeps: bool, potentials: usize) -> Vec<&'static str> {
    let mut names = vec!["od_masked"];
    names.extend(keeps.then_some("od_keep"));
    names.extend((potentials > 0).then_some("od_boundary_cells_potentials"));
    names
}

impl<E> Entries<E> {
    /// `None` where there are no kernels.
    pub(super) fn new(kernels: Vec<E>, keeps: bool) -> Option<Entries<E>> {
        let mut kernels = kernels.into_iter();
        let masked = kernels.next()?;
        let keep = if keeps { kernels.next() } else { None };
        Some(Entries { masked, keep, potentials: kernels.next() })
    }
}

/// Bytes that an output's old content in a word takes.
fn kept_bytes<T>(species: usize, method: Method) -> usize {
    if method == Method::Euler { 0 } else { WORD * species * size_of::<T>() }
}

/// Bytes of all that on the device that has a slab.
pub(super) fn bytes<T: Scalar>(
    problem: &Problem,
    slab: &Slab,
    method: Method,
) -> Result<u128, Error> {
    let species = problem.model.species();
    let boundaries = problem.boundaries.bind(&problem.grid, species, problem.model.params())?;
    let Some(domain) = plan::domain(problem, &boundaries) else { return Ok(0) };
    let [nx, ny, _] = problem.grid.shape();
    let potentials = problem.model.potentials().outputs().len();
    let near = BoundaryCells::new(&domain, slab, &boundaries, potentials > 0, [nx, ny]);
    let kept = near.all_masked().len() * kept_bytes::<T>(species.len(), method);
    let planes = 4 * slab.planes() * ny * mask_words(nx);
    let words = near.words.len() * (4 + 4 * WORD);
    let shape = Shape::new::<T>(&problem.grid.with_planes(slab.planes()), potentials.max(1))?;
    let fields = shape.volume as u128 * (potentials * size_of::<T>()) as u128;
    Ok((planes + words + kept) as u128 + fields)
}

impl<D: Device> Masked<D> {
    /// `None` where all cells belong to the domain.
    pub(super) fn new<T: Scalar>(
        stream: &D::Stream,
        (problem, plan): (&Problem, &Plan<T>),
        shape: &Shape,
        method: Method,
    ) -> Result<Option<Masked<D>>, Error> {
        let Some((domain, mask)) = plan.domain.as_ref().zip(problem.mask.as_ref()) else {
            return Ok(None);
        };
        let [nx, ny, _] = plan.grid.shape();
        let fields = plan.n_potentials();
        let near = BoundaryCells::new(domain, &plan.slab, &plan.boundaries, fields > 0, [nx, ny]);
        let plane = 4 * ny * mask_words(nx);
        let mut bits = stream.device().memory(plane * plan.slab.planes())?;
        for k in 0..plan.slab.planes() {
            let there = plan.slab.in_box(k);
            stream.write(&mut bits, k * plane, mask.planes(there..there + 1))?;
        }
        let some = |bytes: usize| (bytes > 0).then(|| stream.device().memory(bytes)).transpose();
        let count = near.words.len();
        let mut words = stream.device().memory((4 * count).max(4))?;
        stream.write(&mut words, 0, &near.words)?;
        let codes = stream.device().memory((4 * WORD * count).max(4))?;
        let of_word = kept_bytes::<T>(plan.layout.species, method);
        Ok(Some(Masked {
            kernels: PendingKernels::new(
                stream.device(),
                &source::codes(plan, shape),
                &["od_codes"],
            ),
            mask: bits,
            own: plane * plan.slab.beside[0],
            words,
            codes,
            kept: some(of_word * near.all_masked().len())?,
            of_word,
            potentials: some(shape.volume * fields * size_of::<T>())?,
            near,
        }))
    }

    /// Writes the codes, once and before anything else.
    pub(super) fn derive(&self, stream: &D::Stream) -> Result<(), Error> {
        let (mask, [words, codes]) = (self.mask.address(), self.offsets(0));
        let count = self.near.words.len() as i32;
        let arguments = [argument(&mask), argument(&words), argument(&count), argument(&codes)];
        launch(stream, self.kernels.get(stream.device(), 0)?, self.near.words.len(), arguments)
    }

    /// Where the mask of the planes that a slab holds lies; zero without one.
    pub(super) fn address(masked: Option<&Masked<D>>) -> u64 {
        masked.map_or(0, |masked| masked.mask.address())
    }

    /// The cells of its own planes that sums count.
    pub(super) fn counted<T>(masked: Option<&Masked<D>>, plan: &Plan<T>) -> Counted {
        let words = mask_words(plan.grid.shape()[0]) as i32;
        let mask = masked.map_or(0, |masked| masked.mask.address() + masked.own as u64);
        Counted { mask, words }
    }

    /// Where word `n` of the list and the codes of its cells lie.
    fn offsets(&self, n: usize) -> [u64; 2] {
        let word = self.words.address() + 4 * n as u64;
        [word, self.codes.address() + (4 * WORD * n) as u64]
    }

    /// Where what is kept of a piece lies; zero where nothing is.
    fn kept(&self, piece: Piece) -> u64 {
        let before = self.near.masked(piece).start - self.near.all_masked().start;
        let kept = |kept: &D::Memory| kept.address() + (before * self.of_word) as u64;
        self.kept.as_ref().map_or(0, kept)
    }

    /// Keeps what the output holds, before the main kernel, where the step adds that.
    pub(super) fn keep(
        &self,
        stream: &D::Stream,
        entries: &Entries<D::Kernel>,
        piece: Piece,
        to: u64,
    ) -> Result<(), Error> {
        let Some(entry) = &entries.keep else { return Ok(()) };
        let range = self.near.masked(piece);
        let ([words, _], kept) = (self.offsets(range.start), self.kept(piece));
        let count = range.len() as i32;
        let arguments = [argument(&to), argument(&words), argument(&count), argument(&kept)];
        launch(stream, entry, range.len(), arguments)
    }

    /// Computes anew what solid cells are near, after the main kernel, by its own step.
    pub(super) fn mend(
        &self,
        stream: &D::Stream,
        entries: &Entries<D::Kernel>,
        step: &[u64],
        piece: Piece,
        [from, to]: [u64; 2],
    ) -> Result<(), Error> {
        let step = step.as_ptr().cast_mut().cast::<c_void>();
        let fields = self.potentials.as_ref().map_or(0, Memory::address);
        if let Some(entry) = &entries.potentials {
            let range = self.near.feeding(piece);
            let ([words, codes], count) = (self.offsets(range.start), range.len() as i32);
            let arguments = [
                argument(&from),
                step,
                argument(&words),
                argument(&codes),
                argument(&count),
                argument(&fields),
            ];
            launch(stream, entry, range.len(), arguments)?;
        }
        let range = self.near.masked(piece);
        let ([words, codes], kept) = (self.offsets(range.start), self.kept(piece));
        let count = range.len() as i32;
        let arguments = [
            argument(&from),
            argument(&to),
            step,
            argument(&words),
            argument(&codes),
            argument(&count),
            argument(&kept),
            argument(&fields),
        ];
        launch(stream, &entries.masked, range.len(), arguments)
    }
}

fn launch<S: Stream, const N: usize>(
    stream: &S,
    kernel: &<S::Device as Device>::Kernel,
    words: usize,
    mut arguments: [*mut c_void; N],
) -> Result<(), Error> {
    let blocks = words.div_ceil(BLOCK[1]);
    if blocks == 0 {
        return Ok(());
    }
    // SAFETY: the arguments are those of the kernel; all memory lives as long as the part, and
    // there is room for the words.
    unsafe { stream.launch(kernel, [blocks, 1, 1], BLOCK, 0, &mut arguments) }
}
