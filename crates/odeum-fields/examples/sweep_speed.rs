//! Updates per second of Euler sweeps, of those over a porous half of the box (all cells count),
//! and of several steps in one pass:
//! `sweep_speed [cells along an edge] [threads] [problem]`.

#![allow(clippy::print_stdout)]

use odeum_fields::{
    Advection, Combination, Engine, Field, Grid, Mask, ModelText, Precision, Problem, Quantity,
    Velocity,
};
use odeum_ode::{Cpu, Error};
use std::time::Instant;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize| arguments.get(k).and_then(|text| text.parse::<usize>().ok());
    let n = number(0).unwrap_or(256);
    let cpu = Cpu { threads: number(1), ..Cpu::default() };
    let grid = Grid::new([n, n, n], 1.0)?;
    let diffusion =
        ModelText { species: vec!["c"], equations: vec![("c", "lap(c)")], ..ModelText::default() };
    let turing = ModelText {
        species: vec!["u", "v"],
        equations: vec![
            ("u", "1.3*lap(u) + u - u^3 - v"),
            ("v", "130*lap(v) + 26*(u - 0.5*v - 0.09)"),
        ],
        ..ModelText::default()
    };
    let front = ModelText {
        species: vec!["a", "b", "c"],
        equations: vec![
            ("a", "lap(a) - 0.2*a*b - 0.005*a*c"),
            ("b", "lap(b) - 0.2*a*b"),
            ("c", "0.2*a*b - 0.005*a*c - lap(c - c^3 + lap(c))"),
        ],
        ..ModelText::default()
    };
    let velocity = Velocity::Uniform([
        Quantity::from(0.05),
        Quantity::from(0.01),
        Quantity::from("0.05*sin(t/500)"),
    ]);
    println!("{n}³ cells, {} threads, {}; million updates per second", cpu.thread_count(), cpu.isa);
    // What memory allows: a field read and written, by the same threads and the same stores.
    let problem = Problem::new(diffusion.read()?.0, grid);
    let copies = [speed::<f32>(&problem, &cpu, 0.0)?, speed::<f64>(&problem, &cpu, 0.0)?];
    println!("{:12} f32 {:8.0}  f64 {:8.0}", "copy", copies[0], copies[1]);
    for (name, text, velocity) in [
        ("diffusion", &diffusion, None),
        ("turing", &turing, None),
        ("front", &front, None),
        ("plume", &diffusion, Some(velocity)),
    ] {
        if arguments.get(2).is_some_and(|only| only != name) {
            continue;
        }
        let mut problem = Problem::new(text.read()?.0, grid);
        if let Some(velocity) = velocity {
            problem = problem.velocity(velocity, Advection::Upwind);
        }
        println!(
            "{name:12} f32 {:8.0}  f64 {:8.0}",
            speed::<f32>(&problem, &cpu, 1e-4)?,
            speed::<f64>(&problem, &cpu, 1e-4)?
        );
        let half = |at: [f64; 3]| at.map(|x| (0.2 * x).sin()).iter().sum::<f64>() > 0.0;
        let masked = problem.clone().mask(Mask::from_fn(&grid, half)?);
        println!(
            "  half solid f32 {:8.0}  f64 {:8.0}",
            speed::<f32>(&masked, &cpu, 1e-4)?,
            speed::<f64>(&masked, &cpu, 1e-4)?
        );
        for steps in 2..=Engine::<f32>::new(&problem, &cpu)?.most_steps().min(4) {
            println!(
                "  {steps} at once f32 {:8.0}  f64 {:8.0}",
                several::<f32>(&problem, &cpu, steps)?,
                several::<f64>(&problem, &cpu, steps)?
            );
        }
    }
    Ok(())
}

/// The best of some sweeps with a factor of F, which is left out when it is zero [10⁶ cells/s].
fn speed<T: Precision>(problem: &Problem, cpu: &Cpu, slope: f64) -> Result<f64, Error> {
    let engine = Engine::<T>::new(problem, cpu)?;
    let species = problem.model.species().len();
    let mut u = Field::<T>::from_fn(&problem.grid, species, |_, [x, y, z]| {
        0.1 + 0.01 * (0.1 * x).sin() * (0.2 * y).cos() * (0.3 * z).cos()
    })?;
    let mut next = engine.zeros()?;
    let (mut best, begun) = (f64::INFINITY, Instant::now());
    // The best of many: others may use the machine too.
    while begun.elapsed().as_secs_f64() < 1.0 {
        let start = Instant::now();
        let terms = [(1.0, &u)];
        engine.sweep(0.0, &u, &Combination { rhs: slope, own: None, terms: &terms }, &mut next);
        best = best.min(start.elapsed().as_secs_f64());
        std::mem::swap(&mut u, &mut next);
    }
    Ok(problem.grid.cells() as f64 / best / 1e6)
}

/// As [`speed`], for so many steps at once.
fn several<T: Precision>(problem: &Problem, cpu: &Cpu, steps: usize) -> Result<f64, Error> {
    let engine = Engine::<T>::new(problem, cpu)?;
    let species = problem.model.species().len();
    let u = Field::<T>::from_fn(&problem.grid, species, |_, [x, y, z]| {
        0.1 + 0.01 * (0.1 * x).sin() * (0.2 * y).cos() * (0.3 * z).cos()
    })?;
    let mut next = engine.zeros()?;
    let times = vec![0.0; steps];
    let (mut best, begun) = (f64::INFINITY, Instant::now());
    while begun.elapsed().as_secs_f64() < 1.0 {
        let start = Instant::now();
        engine.steps(&times, 1e-4, &u, &mut next);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok((problem.grid.cells() * steps) as f64 / best / 1e6)
}
