//! Winds and diffusion that differ from cell to cell, limited advection, and any wind where the
//! domain is a part of the box: a second sweep, which
//! adds what they bring to the result of the first.

use super::engine::argument;
use super::machine::Machine;
use super::shape::Shape;
use super::source;
use super::step::Step;
use crate::plan::{Blow, Plan};
use crate::problem::{Advection, Problem, Wind};
use odeum::{Error, Scalar};
use std::ffi::c_void;

/// Threads of a block along x and y.
const BLOCK: [usize; 2] = [32, 8];

/// The most blocks along z; a driver starts no more than 65 535.
const LAYERS: usize = 4096;

/// The kernel, and the arrays it reads.
pub(super) struct Transport<M: Machine> {
    entry: M::Entry,
    wind: Option<M::Memory>,
    diffusion: Vec<Option<M::Memory>>,
    /// Where the mask lies; zero where all cells belong to the domain.
    mask: u64,
    blocks: [usize; 3],
    shape: Shape,
}

/// Whether the first sweep leaves the wind out.
pub(super) fn carries<T: Scalar>(plan: &Plan<T>) -> bool {
    match &plan.wind {
        None => false,
        Some(Blow::Cells(_)) => true,
        Some(Blow::Uniform(_)) => plan.advection == Advection::Koren || plan.domain.is_some(),
    }
}

/// Values that differ from cell to cell for each cell of a grid.
fn arrays(problem: &Problem) -> usize {
    let wind = if matches!(problem.wind, Some(Wind::Cells(_))) { 3 } else { 0 };
    problem.diffusion.len() + wind
}

impl<M: Machine> Transport<M> {
    /// `None` where nothing is to be added.
    pub(super) fn new<T: Scalar>(
        machine: &M,
        plan: &Plan<T>,
        shape: &Shape,
        mask: u64,
    ) -> Result<Option<Transport<M>>, Error> {
        if !carries(plan) && plan.diffusion.iter().all(Option::is_none) {
            return Ok(None);
        }
        let upload = |field: &crate::Field<T>| {
            let shape = Shape::new::<T>(&plan.grid, field.species())?;
            let mut memory = machine.memory(shape.room::<T>())?;
            shape.upload(field, machine, &mut memory)?;
            Ok::<M::Memory, Error>(memory)
        };
        let wind = match &plan.wind {
            Some(Blow::Cells(field)) => Some(upload(field)?),
            _ => None,
        };
        let diffusion = plan.diffusion.iter().map(|field| field.as_ref().map(upload).transpose());
        let diffusion: Result<Vec<Option<M::Memory>>, Error> = diffusion.collect();
        let text = source::transport(plan, shape);
        let entry = machine.kernels(&text, &["od_transport"])?.swap_remove(0);
        let [nx, ny, nz] = shape.cells;
        let blocks = [nx.div_ceil(BLOCK[0]), ny.div_ceil(BLOCK[1]), nz.min(LAYERS)];
        Ok(Some(Transport { entry, wind, diffusion: diffusion?, mask, blocks, shape: *shape }))
    }

    /// What changes from step to step, for a factor `h` of what is added at time `t`.
    pub(super) fn step<T: Scalar>(&self, plan: &Plan<T>, t: f64, h: f64) -> Vec<u64> {
        let shape = self.shape;
        let first = |memory: &M::Memory| shape.first::<T>(M::address(memory));
        let address = |memory: &Option<M::Memory>| memory.as_ref().map_or(0, first);
        let mut addresses = vec![address(&self.wind)];
        addresses.extend(self.diffusion.iter().map(address));
        addresses.push(self.mask);
        Step::transport(plan, t, h, addresses).argument()
    }

    /// Adds to the field at `to` what is brought to the field at `from`.
    pub(super) fn launch(
        &self,
        machine: &M,
        step: &[u64],
        [from, to]: [u64; 2],
    ) -> Result<(), Error> {
        let layers = self.blocks[2] as i32;
        let mut arguments = [
            argument(&from),
            argument(&to),
            step.as_ptr().cast_mut().cast::<c_void>(),
            argument(&layers),
        ];
        // SAFETY: the arguments are those of the kernel; fields and arrays live as long as the
        // machine.
        unsafe { machine.launch(&self.entry, self.blocks, BLOCK, 0, &mut arguments) }
    }
}

/// Bytes of the arrays on a GPU.
pub(super) fn bytes<T: Scalar>(problem: &Problem) -> Result<u128, Error> {
    let one = Shape::new::<T>(&problem.grid, 1)?.room::<T>();
    Ok((one * arrays(problem)) as u128)
}
