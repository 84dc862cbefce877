//! Numbers that sum up fields on a GPU: every block gives a part, and these are added in order.

use super::late::Late;
use super::machine::{Machine, PLAIN, argument};
use super::masked::Counted;
use super::shape::Shape;
use super::source;
use odeum_ode::{Error, Scalar, Tolerance};
use std::cell::RefCell;
use std::ffi::c_void;

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
pub(super) struct Reductions<M: Machine> {
    kernels: Late<M>,
    cells: Cells,
    ny: usize,
    counted: Counted,
    /// Values of a field, padding included.
    len: usize,
    blocks: usize,
    /// Results of blocks, or what is given to them.
    parts: RefCell<M::Memory>,
    small: RefCell<M::Memory>,
}

/// Values picked at a time.
const PICKED: usize = 16_384;

impl<M: Machine> Reductions<M> {
    /// Of fields of which `planes` are looked at, and of these the cells that count.
    pub(super) fn new<T: Scalar>(
        machine: &M,
        shape: &Shape,
        planes: usize,
        counted: Counted,
    ) -> Result<Reductions<M>, Error> {
        const { assert!(BLOCK[0] * BLOCK[1] * size_of::<Extremes>() <= PLAIN) };
        let kernels = Late::new(machine, &source::common::<T>(), &NAMES);
        let [nx, ny, _] = shape.cells;
        let blocks = (ny * planes).div_ceil(BLOCK[1]).min(MOST_BLOCKS);
        let parts = machine.memory(blocks * shape.species * size_of::<Extremes>())?;
        let small = machine.memory(PICKED * 16 + shape.species * 8)?;
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
        machine: &M,
        kernel: usize,
        fields: &[u64],
        more: &[*mut c_void],
        zero: P,
    ) -> Result<Vec<P>, Error> {
        let parts = self.parts.borrow();
        let (out, blocks) = (M::address(&parts), self.blocks as i32);
        let mut arguments: Vec<*mut c_void> = fields.iter().map(argument).collect();
        arguments.extend([argument(&out), argument(&self.cells), argument(&blocks)]);
        arguments.extend(more);
        let species = self.cells.species as usize;
        let shared = BLOCK[0] * BLOCK[1] * size_of::<P>();
        // SAFETY: the arguments are those of the kernel; there is room for a part of each block.
        unsafe {
            let entry = self.kernels.entry(machine, kernel)?;
            machine.launch(entry, [self.blocks, species, 1], BLOCK, shared, &mut arguments)?;
        }
        let mut found = vec![zero; self.blocks * species];
        machine.read(&parts, 0, &mut found)?;
        Ok(found)
    }

    /// Sum and extremes of each species.
    pub(super) fn extremes(&self, machine: &M, field: u64) -> Result<Vec<Extremes>, Error> {
        let cells = self.cells.rows * i64::from(self.cells.nx);
        let more = [argument(&self.counted.mask), argument(&self.counted.words)];
        let parts = self.reduce(machine, SUMMARY, &[field], &more, Extremes::NONE)?;
        let of_species = |parts: &[Extremes]| {
            let mut all = Extremes::NONE;
            parts.iter().for_each(|part| all.join(part));
            let place = |at: i64| if at < cells { at } else { i64::MAX };
            Extremes { low: place(all.low), high: place(all.high), ..all }
        };
        Ok(parts.chunks(self.blocks).map(of_species).collect())
    }

    /// The first value that is NaN or infinite: species and cell.
    pub(super) fn first_spoiled(
        &self,
        machine: &M,
        field: u64,
    ) -> Result<Option<(usize, [usize; 3])>, Error> {
        let [nx, ny] = [self.cells.nx as usize, self.ny];
        let cells = self.cells.rows as usize * nx;
        let none = cells * self.cells.species as usize;
        let parts = self.reduce(machine, FIRST, &[field], &[], 0_i64)?;
        let first = parts.iter().filter_map(|at| usize::try_from(*at).ok()).min();
        let found = first.filter(|at| *at < none);
        let cell = |at: usize| [at % nx, at / nx % ny, at / (nx * ny)];
        Ok(found.map(|at| (at / cells, cell(at % cells))))
    }

    /// The sum of the squares of the weighted errors of RKC; not finite when a value was not.
    pub(super) fn rkc_error(
        &self,
        machine: &M,
        tolerance: &Tolerance,
        h: f64,
        fields: [u64; 4],
    ) -> Result<f64, Error> {
        let species = self.cells.species as usize;
        let atol = tolerance.atol_of(species);
        let mut small = self.small.borrow_mut();
        machine.write(&mut small, 0, &atol)?;
        let (rtol, atol) = (tolerance.rtol, M::address(&small));
        let more = [argument(&h), argument(&rtol), argument(&atol)];
        let parts = self.reduce(machine, ERROR, &fields, &more, 0.0_f64)?;
        Ok(parts.iter().sum())
    }

    /// Values at these places, counted from the first of the field.
    pub(super) fn pick<T: Scalar>(
        &self,
        machine: &M,
        field: u64,
        places: &[i64],
    ) -> Result<Vec<T>, Error> {
        let mut small = self.small.borrow_mut();
        let mut picked = Vec::with_capacity(places.len());
        for places in places.chunks(PICKED) {
            machine.write(&mut small, 0, places)?;
            let (at, count) = (M::address(&small), places.len() as i32);
            let out = at + (PICKED * 8) as u64;
            let mut arguments = [argument(&field), argument(&at), argument(&out), argument(&count)];
            let blocks = places.len().div_ceil(BLOCK[0] * BLOCK[1]);
            // SAFETY: the arguments are those of the kernel; places lie within the field, and
            // there is room for as many values.
            unsafe {
                machine.launch(
                    self.kernels.entry(machine, PICK)?,
                    [blocks, 1, 1],
                    BLOCK,
                    0,
                    &mut arguments,
                )?
            };
            let mut values = vec![T::from_f64(0.0); places.len()];
            machine.read(&small, PICKED * 8, &mut values)?;
            picked.extend(values);
        }
        Ok(picked)
    }

    /// out = own · out + Σ factor · term; up to four terms.
    pub(super) fn combine(
        &self,
        machine: &M,
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
            machine.launch(
                self.kernels.entry(machine, COMBINE)?,
                [blocks, 1, 1],
                BLOCK,
                0,
                &mut arguments,
            )
        }
    }
}
