//! Steps of fields on GPUs, timed there.

use super::{Measured, Timed};
use odeum_cuda::{Device as _, Gpu, Stream as _};
use odeum_fields::gpu::published::{PublishedSimulation, Variant};
use odeum_fields::problems::Builtin;
use odeum_fields::{Field, Grid, Method, Options, Outcome, Precision, Simulation, gpu};
use odeum_ode::gpu::Cuda;
use odeum_ode::{Device, Error};
use std::ops::ControlFlow;

/// Bytes of each array of the copy.
const COPIED: usize = 1 << 30;
/// A measurement takes about so many updates of cells, is repeated, and the best counts.
const UPDATES: usize = 8_000_000_000;
const REPEATS: usize = 5;
/// Cells of a grid up to which the published kernels are timed too.
const MOST_PUBLISHED: usize = 1 << 27;

/// One step for each time that the field is read and written.
const SINGLE: &str = "cuda";
/// What simulations do where that is faster: two to four.
const SEVERAL: &str = "cuda, several steps at once";

/// Steps; none where a GPU has not memory enough.
pub(super) fn steps<T: Precision>(
    builtin: Builtin,
    shape: [usize; 3],
    gpu: &Cuda,
) -> Result<Measured, Error> {
    let problem = builtin.problem(shape)?;
    let species = problem.model.species().len();
    let memory = gpu::memory::<T>(&problem, Method::Euler, gpu)?;
    if let Some(memory) = memory.iter().find(|memory| memory.need > memory.free) {
        let place = format!(" on cuda:{}", memory.ordinal);
        return Ok(Measured::without_memory(memory.need, memory.free, &place));
    }
    let mut u = Field::<T>::zeros(&problem.grid, species)?;
    fill(&mut u, &builtin.initial::<T>(&plane(&problem.grid)?, 0)?);
    let options = Options { force: true, ..Options::euler(builtin.step()) };
    let mut simulation = Simulation::new(&problem, u, 0.0, &options, Device::Cuda(gpu.clone()))?;
    // A multiple of what may be taken at once.
    let steps = (UPDATES / problem.grid.cells()).clamp(24, 4096) as u64 / 12 * 12;
    let mut timed = Vec::new();
    let depth = simulation.tiling().map_or(1, |tiling| tiling.depth);
    let kinds = if depth > 1 { &[SEVERAL, SINGLE][..] } else { &[SINGLE] };
    for &kind in kinds {
        // Steps by these kernels alone.
        let several = simulation.tiling().filter(|_| kind == SEVERAL);
        simulation.retile(several)?;
        let mut best = f64::INFINITY;
        // The first is not timed.
        for repeat in 0..=REPEATS {
            let count = if repeat == 0 { 12 } else { steps };
            let outcome = simulation.run_steps(count, 0, &mut |_| ControlFlow::Continue(()))?;
            if let Outcome::Failed(failure) = outcome {
                let found = format!("{:?}", failure.place);
                return Err(Error::input(builtin.name(), found, "is no finite number"));
            }
            if repeat > 0 {
                best = best.min(simulation.device_time().unwrap_or(f64::NAN) / steps as f64);
            }
        }
        timed.push((named(kind, gpu), best, steps as usize));
    }
    drop(simulation);
    let mut left_out = None;
    match gpu.ordinals[..] {
        [ordinal] if problem.grid.cells() <= MOST_PUBLISHED => {
            timed.extend(published::<T>(builtin, &problem.grid, ordinal)?);
        }
        [_] => left_out = Some("the published kernels: too slow for so many cells".to_owned()),
        _ => left_out = Some("the published kernels: they know one GPU".to_owned()),
    }
    Ok(Measured { timed, left_out })
}

/// Steps by the kernels of Molnár et al. 2011 for the newer of their cards.
fn published<T: Precision>(
    builtin: Builtin,
    grid: &Grid,
    ordinal: usize,
) -> Result<Vec<Timed>, Error> {
    let species = builtin.model()?.species().len();
    let mut u = Field::<T>::zeros(grid, species)?;
    fill(&mut u, &builtin.initial::<T>(&plane(grid)?, 0)?);
    let steps = (UPDATES / 4 / grid.cells()).clamp(10, 1024) as u64;
    let mut timed = Vec::new();
    for variant in ["shared", "moving tiles"].into_iter().filter_map(Variant::named) {
        let mut simulation = PublishedSimulation::new(builtin, variant, &u, 0.0, ordinal)?;
        simulation.steps(2, builtin.step())?;
        let mut best = f64::INFINITY;
        for _ in 0..REPEATS {
            best = best.min(simulation.steps(steps, builtin.step())? * 1e-3);
        }
        timed.push((variant.name().to_owned(), best / steps as f64, steps as usize));
    }
    Ok(timed)
}

/// The lowest plane of a grid.
fn plane(grid: &Grid) -> Result<Grid, Error> {
    let [nx, ny, _] = grid.shape();
    Grid::with_spacing([nx, ny, 1], grid.spacing())
}

/// Gives every plane the values of one: an initial state of 10⁹ cells takes longer to compute
/// than all that is measured on it.
fn fill<T: Precision>(field: &mut Field<T>, plane: &Field<T>) {
    let [_, ny, nz] = field.shape();
    for s in 0..field.species() {
        for z in 0..nz {
            for y in 0..ny {
                field.row_mut(s, y, z).copy_from_slice(plane.row(s, y, 0));
            }
        }
    }
}

/// The name of a kind of step on these GPUs.
fn named(kind: &str, gpu: &Cuda) -> String {
    match gpu.ordinals.len() {
        1 => kind.to_owned(),
        several => format!("{kind}, {several} GPUs"),
    }
}

/// Bandwidth of copies, one on each GPU: read and written \[GB/s\].
pub(super) fn roof(gpu: &Cuda) -> Result<f64, Error> {
    gpu.ordinals.iter().map(|&ordinal| roof_of(ordinal)).sum()
}

fn roof_of(ordinal: usize) -> Result<f64, Error> {
    const COPIES: usize = 10;
    let gpu = Gpu::open(ordinal)?;
    let (from, mut to) = (gpu.memory(COPIED)?, gpu.memory(COPIED)?);
    let stream = gpu.stream()?;
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        stream.record_time(0)?;
        for _ in 0..COPIES {
            stream.copy(&from, &mut to, COPIED)?;
        }
        stream.record_time(1)?;
        stream.wait()?;
        best = best.min(stream.elapsed_ms(0, 1)? * 1e-3);
    }
    Ok((2 * COPIES * COPIED) as f64 / best / 1e9)
}
