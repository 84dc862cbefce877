//! A Turing pattern: equations as text, advanced from noise, and what has become of them.

#![allow(clippy::print_stdout)]

use odeum::fields::{
    Field, Grid, Method, ModelText, Options, Outcome, Problem, Simulation, Steps, noise,
};
use odeum::ode::Cpu;
use std::ops::ControlFlow;

fn main() -> Result<(), odeum::Error> {
    let text = ModelText {
        species: vec!["u", "v"],
        params: vec![("Du", 5e-5), ("Dv", 5e-3), ("gamma", 26.0)],
        equations: vec![
            ("u", "Du * lap(u) + u - u^3 - v"),
            ("v", "Dv * lap(v) + gamma * (u - 0.5 * v - 0.09)"),
        ],
        ..ModelText::default()
    };
    let (model, warnings) = text.read()?;
    warnings.iter().for_each(|warning| eprintln!("{warning}"));

    // A closed square of 64 × 64 cells; noise about the steady state.
    let grid = Grid::new([64, 64, 1], 6.2e-3)?;
    let problem = Problem::new(model, grid);
    let mut cell = 0;
    let start = Field::<f64>::from_fn(&grid, 2, |species, _centre| {
        cell += 1;
        [0.174671, 0.169342][species] + 0.05 * noise(1, species, cell)
    })?;

    // Stages for large steps; a grid this small is done soonest by one thread.
    let options = Options::new(Method::Rkl2 { stages: None }, Steps::Fixed(0.05));
    let cpu = Cpu { threads: Some(1), ..Cpu::default() };
    let mut simulation = Simulation::new(&problem, start, 0.0, &options, cpu)?;
    let outcome = simulation.run_every(400.0, 2000, &mut |simulation| {
        eprintln!("t = {:.0}", simulation.t());
        ControlFlow::Continue(())
    })?;
    assert_eq!(outcome, Outcome::Reached);

    for (name, all) in problem.model.species().iter().zip(simulation.summaries()?) {
        println!("{name}: {:.4} to {:.4}, mean {:.4}", all.min, all.max, all.mean);
    }
    let field = simulation.field()?;
    println!("u along the middle: {:.2?}", &field.row(0, 32, 0)[..8]);
    Ok(())
}
