//! From the text of equations to the result of a first step, part by part.

use super::{begin, steps};
use odeum_cuda::{Device as _, Gpu};
use odeum_fields::problems::Builtin;
use odeum_fields::{Grid, rough};
use odeum_ode::{Device, Error};
use std::time::Instant;

/// Of one problem, with the driver's context open: a process that has compiled or loaded anything
/// before says less.
pub(super) fn run(builtin: Builtin, edge: usize) -> Result<(), Error> {
    Gpu::open(0)?.stream()?;
    let mut begun = Instant::now();
    let mut lap = || {
        let passed = begun.elapsed().as_secs_f64() * 1e3;
        begun = Instant::now();
        passed
    };
    let problem = builtin.problem([edge; 3])?;
    let read = lap();
    // The initial field is the user's.
    let grid = Grid::new([edge; 3], builtin.spacing())?;
    let field = rough::<f32>(&grid, problem.model.species().len())?;
    lap();
    let mut simulation = begin(&problem, builtin.step(), field, Device::cuda(0))?;
    let begin = lap();
    steps(&mut simulation, 1)?;
    let first = lap();
    // What simulations are fastest by is compiled meanwhile.
    simulation.retile(simulation.tiling())?;
    let depth = simulation.tiling().map_or(1, |tiling| tiling.depth);
    steps(&mut simulation, depth)?;
    println!(
        "{:9} f32 {edge}^3 [ms]: text {read:.1}, field {begin:.1}, step {first:.1}, in all {:.1}; \
         the fastest kernel, {depth} at once, {:.1} later",
        builtin.name(),
        read + begin + first,
        lap()
    );
    Ok(())
}
