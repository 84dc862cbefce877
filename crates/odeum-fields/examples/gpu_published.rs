//! Speeds of the paper's kernels on a GPU: `gpu_published [check] [shapes] [tune] [double] [EDGE…]`.
//!
//! Edges and shapes count points with their boundary, as the paper does: 256 is 254³ cells. Gpt/s
//! are points, boundary included (the paper's measure), and cells.

// An example reports by ending.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use odeum_fields::gpu::published::{self, Blocks, Kernel, PublishedSimulation, Variant};
use odeum_fields::problems::Builtin;
use odeum_fields::{Combination, Engine, Field, Grid, Precision, rough};
use odeum_ode::gpu::devices;
use odeum_ode::{Cpu, Error, Scalar};

const BUILTIN: [Builtin; 4] = [Builtin::Diffusion, Builtin::Turing, Builtin::Front, Builtin::Plume];

/// A simulation against the CPU's; the largest difference.
fn check<T: Precision>(builtin: Builtin, variant: Variant, shape: [usize; 3]) {
    let steps = 100;
    let problem = published::problem(builtin, shape).unwrap();
    let species = problem.model.species().len();
    let (h, field) = (builtin.step(), rough::<T>(&problem.grid, species).unwrap());
    let mut simulation = PublishedSimulation::new(builtin, variant, &field, 0.0, 0).unwrap();
    simulation.steps(steps, h).unwrap();
    let found = simulation.field().unwrap();
    let engine = Engine::<T>::new(&problem, &Cpu::default()).unwrap();
    let (mut now, mut next) = (field, engine.zeros().unwrap());
    for n in 0..steps {
        let terms = [(1.0, &now)];
        let what = Combination { rhs: h, own: None, terms: &terms };
        engine.sweep(n as f64 * h, &now, &what, &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    let mut worst: f64 = 0.0;
    for s in 0..species {
        for (x, y) in found.to_values(s).iter().zip(now.to_values(s)) {
            let difference = (x.to_f64() - y.to_f64()).abs() / y.to_f64().abs().max(1.0);
            // A difference that is not a number is the worst.
            worst = if difference.is_nan() { f64::INFINITY } else { worst.max(difference) };
        }
    }
    let (name, kind) = (builtin.name(), variant.name());
    println!("check {name:9} {kind:30} {} {shape:?} {steps} steps: {worst:.1e}", T::NAME);
}

/// 10⁹ updates per second of points and of cells, the best of three.
fn speed<T: Scalar>(
    builtin: Builtin,
    blocks: Blocks,
    points: [usize; 3],
) -> Result<(f64, f64), Error> {
    let shape = points.map(|n| n - 2);
    let grid = Grid::new(shape, builtin.spacing()).unwrap();
    let species = builtin.model().unwrap().species().len();
    let field = Field::<T>::from_fn(&grid, species, |_, _| 0.5).unwrap();
    let mut simulation = PublishedSimulation::with_blocks(builtin, blocks, &field, 0.0, 0)?;
    simulation.steps(3, builtin.step())?;
    let count: usize = points.iter().product();
    let steps = (1_500_000_000 / count).clamp(10, 1000) as u64;
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        best = best.min(simulation.steps(steps, builtin.step())?);
    }
    let rate = |n: usize| n as f64 * steps as f64 / (best * 1e-3) / 1e9;
    Ok((rate(count), rate(grid.cells())))
}

fn row<T: Scalar>(builtin: Builtin, kind: &str, blocks: Blocks, points: [usize; 3]) {
    let [x, y, z] = points;
    let (name, size, block) = (builtin.name(), format!("{x}x{y}x{z}"), blocks.threads);
    let word = T::NAME;
    match speed::<T>(builtin, blocks, points) {
        Ok((all, cells)) => println!(
            "{name:9} {kind:30} {block:?} {word} {size:13} points {all:7.2} cells {cells:7.2} Gpt/s"
        ),
        Err(error) => println!("{name:9} {kind:30} {block:?} {word} {size:13} {error}"),
    }
}

/// Blocks for this card, as the authors chose theirs: by trial.
fn tune<T: Scalar>() {
    let shared = [[32, 8, 4], [32, 10, 3], [16, 8, 8], [32, 6, 5], [34, 10, 3], [64, 5, 3]];
    let tiles = [[8, 8, 16], [16, 8, 8], [32, 4, 8], [32, 8, 4], [32, 6, 5], [16, 10, 6]];
    for builtin in BUILTIN {
        for threads in shared {
            let blocks = Blocks { kernel: Kernel::Shared, threads };
            row::<T>(builtin, "shared, tuned", blocks, [256; 3]);
        }
        for threads in tiles {
            let blocks = Blocks { kernel: Kernel::MovingTiles, threads };
            row::<T>(builtin, "moving tiles, tuned", blocks, [256; 3]);
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|a| a == word);
    match devices() {
        Ok(devices) => println!("{}", devices[0].name),
        Err(error) => {
            println!("{error}");
            return;
        }
    }
    if has("check") {
        for (builtin, variant) in BUILTIN.into_iter().flat_map(|p| Variant::ALL.map(|v| (p, v))) {
            check::<f64>(builtin, variant, [37, 19, 25]);
            check::<f32>(builtin, variant, [126, 62, 30]);
        }
    }
    for edge in arguments.iter().filter_map(|a| a.parse::<usize>().ok()).filter(|n| *n > 2) {
        for (builtin, variant) in BUILTIN.into_iter().flat_map(|p| Variant::ALL.map(|v| (p, v))) {
            row::<f32>(builtin, variant.name(), variant.blocks(builtin), [edge; 3]);
            if has("double") {
                row::<f64>(builtin, variant.name(), variant.blocks(builtin), [edge; 3]);
            }
        }
    }
    if has("shapes") {
        for points in published::cuts() {
            for variant in &Variant::ALL[..2] {
                row::<f32>(
                    Builtin::Diffusion,
                    variant.name(),
                    variant.blocks(Builtin::Diffusion),
                    points,
                );
            }
        }
    }
    if has("tune") {
        tune::<f32>();
        tune::<f64>();
    }
}
