//! Numbers that sum up fields on a GPU: every block gives a part, and these are added in order.

use super::masked::Counted;
use super::pending::PendingKernels;
use super::shape::Shape;
use super::source;
use odeum_cuda::{Device, Memory, Stream, argument};
use odeum_ode::{Error, Scalar, Tolerance};
use std::cell::RefCell;
use std::ffi::c_void;

/// Shared memory that any kernel may have \[bytes\].
const PLAIN: usize = 48 << 10;

/// Threads of a block along x and y, and the rows it takes at a time.
const BLOCK: [usize; 2] = [32, 8];

/// The most blocks of a species.
const MOST_BLOCKS: usize = 512;

/// The kernels, in the order in which they are asked for.
pub(super) const NAMES: [&str; 5] = ["od_summary", "od_first", "od_error", "od_pick", "od_combine"];
const SUMMARY: usize = 0;
const FIRST: usize = 1;
const ERROR: usize = 2;
const PICK: usize = 3;
const COMBINE: usize = 4;

/// Where the cells of a field lie: `OdBox`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Cells {
    rows: i64,
    volume: i64,
    nx: i32,
    row: i32,
    species: i32,
}

/// `OdSummary`: a sum over cells, the extremes, and the first cells that have these.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Extremes {
    pub(super) sum: f64,
    pub(super) least: f64,
    pub(super) largest: f64,
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Extremes {
    /// Of no cells.
    pub(super) const NONE: Extremes = Extremes {
        sum: 0.0,
        least: f64::INFINITY,
        largest: f64::NEG_INFINITY,
        low: i64::MAX,
        high: i64::MAX,
    };

    /// The same of cells that are preceded by others.
    pub(super) fn shifted(self, by: i64) -> Extremes {
        let [low, high] = [self.low, self.high].map(|at| at.saturating_add(by));
        Extremes { low, high, ..self }
    }

    /// Takes in those of other cells.
    pub(super) fn join(&mut self, part: &Extremes) {
        self.sum += part.sum;
        if (part.least, part.low) < (self.least, self.low) {
            (self.least, self.low) = (part.least, part.low);
        }
        if part.largest > self.largest || part.largest == self.largest && part.high < self.high {
            (self.largest, self.high) = (part.largest, part.high);
        }
    }
}

/// `OdCombination`.
#[repr(C)]
struct Combination {
    term: [u64; 4],
    factor: [f64; 4],
    own: f64,
    terms: i32,
    has_own: i32,
}

/// The kernels, and where their results go.
pub(super) struct Reductions<D: Device> {
    kernels: PendingKernels<D>,
    cells: Cells,
    ny: usize,
    counted: Counted,
    /// Values of a field, padding included.
    len: usize,
    blocks: usize,
    /// Results of blocks, or what is given to them.
    parts: RefCell<D::Memory>,
    small: RefCell<D::Memory>,
}

/// Values picked at a time.
const PICKED: usize = 16_384;

impl<D: Device> Reductions<D> {
    /// Of fields of which `planes` are looked at, and of these the cells that count.
    pub(super) fn new<T: Scalar>(
        stream: &D::Stream,
        shape: &Shape,
        planes: usize,
        counted: Counted,
    ) -> Result<Reductions<D>, Error> {
        const { assert!(BLOCK[0] * BLOCK[1] * size_of::<Extremes>() <= PLAIN) };
        let kernels = PendingKernels::new(stream.device(), &source::common::<T>(), &NAMES);
        let [nx, ny, _] = shape.cells;
        let blocks = (ny * planes).div_ceil(BLOCK[1]).min(MOST_BLOCKS);
        let parts = stream.device().memory(blocks * shape.species * size_of::<Extremes>())?;
        let small = stream.device().memory(PICKED * 16 + shape.species * 8)?;
        let cells = Cells {
            rows: (ny * planes) as i64,
            volume: shape.volume as i64,
            nx: nx as i32,
            row: shape.row as i32,
            species: shape.species as i32,
        };
        Ok(Reductions {
            kernels,
            cells,
            ny,
            counted,
            len: shape.len(),
            blocks,
            parts: RefCell::new(parts),
            small: RefCell::new(small),
        })
    }

    /// Runs a reduction over all species and gives the parts, species by species.
    fn reduce<P: Copy>(
        &self,
        stream: &D::Stream,
        kernel: usize,
        fields: &[u64],
        more: &[*mut c_void],
        zero: P,
    ) -> Result<Vec<P>, Error> {
        let parts = self.parts.borrow();
        let (out, blocks) = (parts.address(), self.blocks as i32);
        let mut arguments: Vec<*mut c_void> = fields.iter().map(argument).collect();
        arguments.extend([argument(&out), argument(&self.cells), argument(&blocks)]);
        arguments.extend(more);
        let species = self.cells.species as usize;
        let shared = BLOCK[0] * BLOCK[1] * size_of::<P>();
        // SAFETY: the arguments are those of the kernel; there is room for a part of each block.
        unsafe {
            let entry = self.kernels.get(stream.device(), kernel)?;
            stream.launch(entry, [self.blocks, species, 1], BLOCK, shared, &mut arguments)?;
        }
        let mut found = vec![zero; self.blocks * species];
        stream.read(&parts, 0, &mut found)?;
        Ok(found)
    }

    /// Sum and extremes of each species.
    pub(super) fn extremes(&self, stream: &D::Stream, field: u64) -> Result<Vec<Extremes>, Error> {
        let cells = self.cells.rows * i64::from(self.cells.nx);
        let more = [argument(&self.counted.mask), argument(&self.counted.words)];
        let parts = self.reduce(stream, SUMMARY, &[field], &more, Extremes::NONE)?;
        let of_species = |parts: &[Extremes]| {
            let mut all = Extremes::NONE;
            parts.iter().for_each(|part| all.join(part));
            let place = |at: i64| if at < cells { at } else { i64::MAX };
            Extremes { low: place(all.low), high: place(all.high), ..all }
        };
        Ok(parts.chunks(self.blocks).map(of_species).collect())
    }

    /// The first value that is NaN or infinite: species and cell.
    pub(super) fn first_non_finite(
        &self,
        stream: &D::Stream,
        field: u64,
    ) -> Result<Option<(usize, [usize; 3])>, Error> {
        let [nx, ny] = [self.cells.nx as usize, self.ny];
        let cells = self.cells.rows as usize * nx;
        let none = cells * self.cells.species as usize;
        let parts = self.reduce(stream, FIRST, &[field], &[], 0_i64)?;
        let first = parts.iter().filter_map(|at| usize::try_from(*at).ok()).min();
        let found = first.filter(|at| *at < none);
        let cell = |at: usize| [at % nx, at / nx % ny, at / (nx * ny)];
        Ok(found.map(|at| (at / cells, cell(at % cells))))
    }

    /// The sum of the squares of the weighted errors of RKC; not finite when a value was not.
    pub(super) fn rkc_error(
        &self,
        stream: &D::Stream,
        tolerance: &Tolerance,
        h: f64,
        fields: [u64; 4],
    ) -> Result<f64, Error> {
        let species = self.cells.species as usize;
        let atol = tolerance.atol_of(species);
        let mut small = self.small.borrow_mut();
        stream.write(&mut small, 0, &atol)?;
        let (rtol, atol) = (tolerance.rtol, small.address());
        let more = [argument(&h), argument(&rtol), argument(&atol)];
        let parts = self.reduce(stream, ERROR, &fields, &more, 0.0_f64)?;
        Ok(parts.iter().sum())
    }

    /// Values at these places, counted from the first of the field.
    pub(super) fn pick<T: Scalar>(
        &self,
        stream: &D::Stream,
        field: u64,
        offsets: &[i64],
    ) -> Result<Vec<T>, Error> {
        let mut small = self.small.borrow_mut();
        let mut picked = Vec::with_capacity(offsets.len());
        for offsets in offsets.chunks(PICKED) {
            stream.write(&mut small, 0, offsets)?;
            let (at, count) = (small.address(), offsets.len() as i32);
            let out = at + (PICKED * 8) as u64;
            let mut arguments = [argument(&field), argument(&at), argument(&out), argument(&count)];
            let blocks = offsets.len().div_ceil(BLOCK[0] * BLOCK[1]);
            // SAFETY: the arguments are those of the kernel; places lie within the field, and
            // there is room for as many values.
            unsafe {
                stream.launch(
                    self.kernels.get(stream.device(), PICK)?,
                    [blocks, 1, 1],
                    BLOCK,
                    0,
                    &mut arguments,
                )?
            };
            let mut values = vec![T::from_f64(0.0); offsets.len()];
            stream.read(&small, PICKED * 8, &mut values)?;
            picked.extend(values);
        }
        Ok(picked)
    }

    /// out = own · out + Σ factor · term; up to four terms.
    pub(super) fn combine(
        &self,
        stream: &D::Stream,
        terms: &[(f64, u64)],
        own: Option<f64>,
        out: u64,
    ) -> Result<(), Error> {
        let (mut term, mut factor) = ([0; 4], [0.0; 4]);
        for (k, (c, address)) in terms.iter().take(4).enumerate() {
            (term[k], factor[k]) = (*address, *c);
        }
        let (has_own, own) = (i32::from(own.is_some()), own.unwrap_or(0.0));
        let what = Combination { term, factor, own, terms: terms.len() as i32, has_own };
        let count = self.len as i64;
        // Enough to fill any GPU; the result does not depend on it.
        let blocks = self.len.div_ceil(BLOCK[0] * BLOCK[1]).min(8 * MOST_BLOCKS);
        let number = blocks as i32;
        let mut arguments = [argument(&out), argument(&what), argument(&count), argument(&number)];
        // SAFETY: the arguments are those of the kernel; all fields have as many values.
        unsafe {
            stream.launch(
                self.kernels.get(stream.device(), COMBINE)?,
                [blocks, 1, 1],
                BLOCK,
                0,
                &mut arguments,
            )
        }
    }
}
