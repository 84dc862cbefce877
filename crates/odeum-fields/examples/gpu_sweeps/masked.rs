//! Speeds of domains that are a part of the box.

use super::{BUILTIN, begin, compare, speed_of};
use odeum_fields::problems::Builtin;
use odeum_fields::{Mask, Precision, Problem, rough};
use odeum_ode::{Device, Error};

/// Steps that are timed: half-solid boxes take them slowly.
const STEPS: usize = 20;

/// A cube, and the same with a porous half of it solid; all cells count.
pub(super) fn run(edge: usize) {
    for builtin in BUILTIN {
        for done in [speeds::<f32>(builtin, edge), speeds::<f64>(builtin, edge)] {
            if let Err(error) = done {
                println!("FAILED: {error}");
            }
        }
    }
}

/// A problem and the same with a porous half of it solid.
fn both(builtin: Builtin, shape: [usize; 3]) -> Result<[Problem; 2], Error> {
    // No emission from what may be a solid cell.
    let whole = Problem { sources: Vec::new(), ..builtin.problem(shape)? };
    let half = |at: [f64; 3]| {
        let waves = at.map(|x| (0.2 * x / builtin.spacing()).sin());
        waves.iter().sum::<f64>() > 0.0
    };
    let mask = Mask::from_fn(&whole.grid, half)?;
    let masked = whole.clone().mask(mask);
    Ok([whole, masked])
}

/// Whether half-solid boxes on the GPU are those of the CPU.
pub(super) fn check(builtin: Builtin) -> bool {
    [[37, 19, 5], [130, 77, 40]].into_iter().fold(true, |right, shape| {
        check_one::<f64>(builtin, shape).unwrap()
            & check_one::<f32>(builtin, shape).unwrap()
            & right
    })
}

fn check_one<T: Precision>(builtin: Builtin, shape: [usize; 3]) -> Result<bool, Error> {
    let [_, problem] = both(builtin, shape)?;
    let field = rough::<T>(&problem.grid, problem.model.species().len())?;
    let simulation = begin(&problem, builtin.step(), field.clone(), Device::cuda(0))?;
    let what = format!("{:9} {shape:?}, half solid", builtin.name());
    Ok(compare(&what, simulation, &problem, field, builtin.step(), 30))
}

fn speeds<T: Precision>(builtin: Builtin, edge: usize) -> Result<(), Error> {
    let [whole, problem] = both(builtin, [edge; 3])?;
    let field = rough::<T>(&whole.grid, whole.model.species().len())?;
    let cells = whole.grid.cells();
    let mut simulation = begin(&whole, builtin.step(), field.clone(), Device::cuda(0))?;
    simulation.retile(simulation.tiling())?;
    let several = speed_of(&mut simulation, cells, STEPS)?;
    simulation.retile(None)?;
    let one = speed_of(&mut simulation, cells, STEPS)?;
    drop(simulation);
    let mut simulation = begin(&problem, builtin.step(), field, Device::cuda(0))?;
    simulation.retile(None)?;
    let masked = speed_of(&mut simulation, cells, STEPS)?;
    println!(
        "{:9} {} {edge}^3: whole {several:6.1} Gpt/s, one by one {one:6.1}; half solid \
         {masked:6.1}, {:5.3} of one by one",
        builtin.name(),
        T::NAME,
        masked / one
    );
    Ok(())
}
