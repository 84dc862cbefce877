//! Velocities and diffusion that differ from cell to cell, and limited advection: a second sweep, which
//! adds what they bring to the result of the first.

use super::pending::PendingKernels;
use super::shape::Shape;
use super::source;
use super::span::{Piece, Spans};
use super::step::Step;
use crate::plan::{BoundVelocity, Plan};
use crate::problem::grid::Grid;
use crate::problem::{Problem, Velocity};
use odeum_cuda::{Device, Memory, Stream, argument};
use odeum_ode::{Error, Scalar};
use std::ffi::c_void;

/// Threads of a block along x and y.
const BLOCK: [usize; 2] = [32, 8];

/// The most blocks along z; a driver starts no more than 65 535.
const LAYERS: usize = 4096;

/// The kernel, and the arrays it reads.
pub(super) struct Transport<D: Device> {
    kernels: PendingKernels<D>,
    velocity: Option<D::Memory>,
    diffusion: Vec<Option<D::Memory>>,
    /// Where the mask lies; zero where all cells belong to the domain.
    mask: u64,
    across: [usize; 2],
    spans: Spans,
    shape: Shape,
}

/// Values that differ from cell to cell for each cell of a grid.
fn arrays(problem: &Problem) -> usize {
    let velocity = if matches!(problem.velocity, Some(Velocity::Cells(_))) { 3 } else { 0 };
    problem.diffusion.len() + velocity
}

impl<D: Device> Transport<D> {
    /// `None` where nothing is to be added.
    pub(super) fn new<T: Scalar>(
        stream: &D::Stream,
        plan: &Plan<T>,
        shape: &Shape,
        mask: u64,
    ) -> Result<Option<Transport<D>>, Error> {
        if !plan.is_left_over() {
            return Ok(None);
        }
        let kernels = PendingKernels::new(
            stream.device(),
            &source::transport(plan, shape),
            &["od_transport"],
        );
        let upload = |field: &crate::field::Field<T>| {
            let shape = Shape::new::<T>(&plan.grid, field.species())?;
            let mut memory = stream.device().memory(shape.room::<T>())?;
            shape.upload(field, stream, &mut memory)?;
            Ok::<D::Memory, Error>(memory)
        };
        let velocity = match &plan.velocity {
            Some(BoundVelocity::Cells(field)) => Some(upload(field)?),
            _ => None,
        };
        let diffusion = plan.diffusion.iter().map(|field| field.as_ref().map(upload).transpose());
        let diffusion: Result<Vec<Option<D::Memory>>, Error> = diffusion.collect();
        let [nx, ny, _] = shape.cells;
        let across = [nx.div_ceil(BLOCK[0]), ny.div_ceil(BLOCK[1])];
        let spans = Spans::new(&plan.slab, |planes| planes.div_ceil(LAYERS));
        let (diffusion, shape) = (diffusion?, *shape);
        Ok(Some(Transport { kernels, velocity, diffusion, mask, across, spans, shape }))
    }

    /// What changes from step to step, for a factor `h` of what is added at time `t`.
    pub(super) fn step<T: Scalar>(&self, plan: &Plan<T>, t: f64, h: f64) -> Vec<u64> {
        let shape = self.shape;
        let first = |memory: &D::Memory| shape.first::<T>(memory.address());
        let address = |memory: &Option<D::Memory>| memory.as_ref().map_or(0, first);
        let mut addresses = vec![address(&self.velocity)];
        addresses.extend(self.diffusion.iter().map(address));
        addresses.push(self.mask);
        Step::transport(plan, t, h, addresses).argument()
    }

    /// Adds to planes of the field at `to` what is brought to the field at `from`.
    pub(super) fn launch(
        &self,
        stream: &D::Stream,
        step: &[u64],
        [from, to]: [u64; 2],
        piece: Piece,
    ) -> Result<(), Error> {
        let Some(planes) = self.spans.of(piece) else { return Ok(()) };
        let blocks = [self.across[0], self.across[1], planes.blocks()];
        let mut arguments = [
            argument(&from),
            argument(&to),
            step.as_ptr().cast_mut().cast::<c_void>(),
            argument(&planes),
        ];
        // SAFETY: the arguments are those of the kernel; fields and arrays live as long as the
        // part.
        unsafe {
            stream.launch(self.kernels.get(stream.device(), 0)?, blocks, BLOCK, 0, &mut arguments)
        }
    }
}

/// Bytes of the arrays on a GPU that has the cells of a grid.
pub(super) fn bytes<T: Scalar>(problem: &Problem, grid: &Grid) -> Result<u128, Error> {
    let one = Shape::new::<T>(grid, 1)?.room::<T>();
    Ok((one * arrays(problem)) as u128)
}
