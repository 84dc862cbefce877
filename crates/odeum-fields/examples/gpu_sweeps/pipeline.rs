//! Two steps by groups of warps that hand planes on, beside single steps: bits and speeds.

use crate::{begin, speed, steps};
use odeum_fields::gpu::Tiling;
use odeum_fields::problems::Builtin;
use odeum_fields::{Boundaries, Grid, Model, ModelText, Problem, rough};
use odeum_ode::{Device, Error};

fn model(equations: Vec<(&'static str, &'static str)>) -> Result<Model, Error> {
    let species = equations.iter().map(|(name, _)| *name).collect();
    let definitions = vec![("rate", "0.2 * a * b"), ("mu", "c^3 - c - lap(c)")];
    let used = |name: &str| equations.iter().any(|(_, text)| text.contains(name));
    let definitions = definitions.into_iter().filter(|(name, _)| used(name)).collect();
    Ok(ModelText { species, definitions, equations, ..ModelText::default() }.read()?.0)
}

fn problems(shape: [usize; 3]) -> Result<Vec<(&'static str, Problem)>, Error> {
    let of = |equations| -> Result<Problem, Error> {
        Ok(Problem::new(model(equations)?, Grid::new(shape, 1.0)?))
    };
    let front = Builtin::Front.problem(shape)?;
    Ok(vec![
        ("front, closed", front.clone().boundaries(Boundaries::default())),
        ("front", front),
        ("Cahn-Hilliard", of(vec![("c", "lap(mu)")])?),
        ("Cahn-Hilliard and another", of(vec![("c", "lap(mu) - c * s"), ("s", "lap(s) - c * s")])?),
        (
            "three species",
            of(vec![
                ("a", "lap(a) - rate - 0.1 * a * c"),
                ("b", "0.5 * lap(b) - rate"),
                ("c", "0.2 * lap(c) + rate"),
            ])?,
        ),
    ])
}

/// Whether steps by pipelines have the bits of single steps, of a number that ends with a single one.
pub(crate) fn check() -> Result<bool, Error> {
    let mut right = true;
    for shape in [[68, 36, 5], [300, 91, 30], [256, 256, 64]] {
        for (name, problem) in problems(shape)? {
            let start = rough::<f32>(&problem.grid, problem.model.species().len())?;
            let mut found = Vec::new();
            for tiling in [None, Some(Tiling::pipeline())] {
                let mut simulation = begin(&problem, 1e-3, start.clone(), Device::cuda(0))?;
                simulation.retile(tiling)?;
                steps(&mut simulation, 151)?;
                found.push(simulation.field()?.into_owned());
            }
            let same = found[0] == found[1];
            right &= same;
            println!(
                "check {name}, {shape:?}: {}",
                if same { "the same bits" } else { "IS WRONG" }
            );
        }
    }
    Ok(right)
}

/// Speeds of both on a cube, and by which of them simulations go.
pub(crate) fn run(edge: usize) -> Result<(), Error> {
    for (name, problem) in problems([edge; 3])? {
        let start = rough::<f32>(&problem.grid, problem.model.species().len())?;
        let mut simulation = begin(&problem, 1e-3, start, Device::cuda(0))?;
        let own = simulation.tiling().is_some_and(|tiling| tiling.pipeline);
        let mut speeds = Vec::new();
        for tiling in [Some(Tiling::pipeline()), None] {
            simulation.retile(tiling)?;
            speeds.push(speed(&mut simulation, problem.grid.cells())?);
        }
        let way = if own { "two" } else { "one" };
        println!(
            "{name:26} f32 {edge}^3, Gpt/s: two at once {:.1}, one {:.1}; simulations take {way}",
            speeds[0], speeds[1]
        );
    }
    Ok(())
}
