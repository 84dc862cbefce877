//! Phases that separate (Cahn and Hilliard), with the equations, a boundary and its course in time
//! written in Rust.

#![allow(clippy::print_stdout)]

use odeum::core::Real;
use odeum::core::{Graph, Symbol};
use odeum::fields::{
    Boundaries, Boundary, Face, Field, Grid, Model, Options, Outcome, Problem, Quantity,
    Simulation, noise,
};
use odeum::ode::Cpu;

/// The derivative of c⁴/4 − c²/2, of anything that computes: a number, or a symbol.
fn bulk<R: Real>(c: R) -> R {
    c * c * c - c
}

fn main() -> Result<(), odeum::Error> {
    // ∂c/∂t = ∇²μ with μ = c³ − c − σ ∇²c.
    let model = Model::record_with_potentials(
        &["c"],
        &[("sigma", 0.5)],
        |cell| vec![bulk(cell.u[0]) - cell.p[0] * cell.lap[0]],
        |cell| vec![cell.lap_potentials[0]],
    )?;
    // One face is wetted by the one phase and the other in turn: a graph of t and the parameter.
    let course = Graph::record(0, 1, |t, _, _| vec![(t * Symbol::lit(0.1)).sin()]);
    let face = Face { axis: 0, high: false };
    let boundaries = Boundaries::default().face(face, Boundary::Dirichlet(Quantity::Graph(course)));

    let grid = Grid::new([48, 48, 1], 1.0)?;
    let problem = Problem::new(model, grid).boundaries(boundaries);
    let mut cell = 0;
    let start = Field::<f64>::from_fn(&grid, 1, |_, _| {
        cell += 1;
        0.1 * noise(1, 0, cell)
    })?;
    let mut simulation =
        Simulation::new(&problem, start, 0.0, &Options::euler(0.02), Cpu::default())?;
    let outcome = simulation.advance_to(100.0)?;
    assert_eq!(outcome, Outcome::Reached);
    for all in simulation.summaries()? {
        println!("c: {:.4} to {:.4}, mean {:.4}", all.min, all.max, all.mean);
    }
    Ok(())
}
