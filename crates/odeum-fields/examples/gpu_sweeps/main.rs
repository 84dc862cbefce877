//! Speeds of fields on a GPU: the paper's problems with the tilings that simulations get, or to choose
//! them with many, beside the bandwidth of a copy on the same device.
//! `gpu_sweeps [check] [tune [deep] [double]] [PROBLEM…] [EDGE…] [XxYxZ…]`.
//!
//! `gpu_sweeps long [PROBLEM…] [EDGE…]`: several steps at once and one by one in f32 for five seconds
//! each, in which the power limit of a GPU makes itself felt.
//!
//! `gpu_sweeps pipeline [check] [EDGE…]`: two steps by groups of warps that hand planes on, against single
//! steps, in speed and with `check` in bits.
//!
//! `gpu_sweeps masked [check] [EDGE…]`: a box of which half is solid, against the whole box, and with
//! `check` against the CPU.
//!
//! `gpu_sweeps start [PROBLEM] [EDGE]`: from the text of the equations to the first step. Cold where
//! `ODEUM_CACHE_DIR` is empty and the driver's cache is off (`CUDA_CACHE_DISABLE=1`).
//!
//! `gpu_sweeps slabs [--gpus N] [same] [EDGE…]`: several GPUs against one, in bits and in speed; with
//! `same` the first GPU plays all.

// An example reports by ending.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod masked;
mod pipeline;
mod slabs;
mod start;

use odeum_cuda::{Device as _, Gpu, Stream as _, devices};
use odeum_fields::gpu::Tiling;
use odeum_fields::problems::Builtin;
use odeum_fields::{Field, Grid, Options, Outcome, Precision, Problem, Simulation, rough};
use odeum_ode::{Cpu, Device, Error};
use std::ops::ControlFlow;

const BUILTIN: [Builtin; 4] = [Builtin::Diffusion, Builtin::Turing, Builtin::Front, Builtin::Plume];

/// Bytes per second of a copy, read and written, the best of a few.
fn copy_bandwidth() -> f64 {
    let gpu = Gpu::open(0).unwrap();
    let bytes = 1 << 30;
    let (from, mut to) = (gpu.memory(bytes).unwrap(), gpu.memory(bytes).unwrap());
    let stream = gpu.stream().unwrap();
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        stream.record_time(0).unwrap();
        for _ in 0..10 {
            stream.copy(&from, &mut to, bytes).unwrap();
        }
        stream.record_time(1).unwrap();
        stream.wait().unwrap();
        best = best.min(stream.elapsed_ms(0, 1).unwrap());
    }
    20.0 * bytes as f64 / (best * 1e-3)
}

fn begin<T: Precision>(
    problem: &Problem,
    h: f64,
    field: Field<T>,
    device: Device,
) -> Result<Simulation<T>, Error> {
    let options = Options { force: true, ..Options::euler(h) };
    Simulation::new(problem, field, 0.0, &options, device)
}

/// Takes steps; gives the time they took on the device \[s\].
fn steps<T: Precision>(simulation: &mut Simulation<T>, count: usize) -> Result<f64, Error> {
    let outcome = simulation.run_steps(count as u64, 0, &mut |_| ControlFlow::Continue(()))?;
    assert_eq!(outcome, Outcome::Reached);
    Ok(simulation.device_time().unwrap_or(f64::NAN))
}

/// A simulation on the GPU against the CPU's, by so many steps at once or, 0, as it does by itself:
/// the largest difference, and whether that is rounding.
fn check<T: Precision>(builtin: Builtin, shape: [usize; 3], count: usize, depth: usize) -> bool {
    let problem = builtin.problem(shape).unwrap();
    let species = problem.model.species().len();
    let (h, field) = (builtin.step(), rough::<T>(&problem.grid, species).unwrap());
    let mut simulation = begin(&problem, h, field.clone(), Device::cuda(0)).unwrap();
    if depth == 1 {
        simulation.retile(None).unwrap();
    } else if depth > 1 {
        let own = Tiling::of(species, 0, size_of::<T>());
        let tiling = match depth {
            2 => Tiling { depth, rows: 4, block: [32, 4], ..own },
            _ => Tiling { depth, rows: 1, boxes: Some([2, 2]), ..own },
        };
        if let Err(error) = simulation.retile(Some(tiling)) {
            println!("check {:9} {} {shape:?}, depth {depth}: {error}", builtin.name(), T::NAME);
            return true;
        }
    }
    let what = format!("{:9} {shape:?}, depth {depth}", builtin.name());
    compare(&what, simulation, &problem, field, builtin.step(), count)
}

/// Whether a simulation differs from the CPU's by no more than rounding after so many steps.
fn compare<T: Precision>(
    what: &str,
    mut simulation: Simulation<T>,
    problem: &Problem,
    field: Field<T>,
    h: f64,
    count: usize,
) -> bool {
    let mut processor = begin(problem, h, field, Cpu::default().into()).unwrap();
    steps(&mut simulation, count).unwrap();
    steps(&mut processor, count).unwrap();
    let (found, expected) = (simulation.field().unwrap(), processor.field().unwrap());
    let mut worst: f64 = 0.0;
    for s in 0..problem.model.species().len() {
        for (x, y) in found.to_values(s).iter().zip(expected.to_values(s)) {
            worst = worst.max((x.to_f64() - y.to_f64()).abs() / y.to_f64().abs().max(1.0));
        }
    }
    let rounding = worst < if T::NAME == "f32" { 1e-4 } else { 1e-12 };
    let wrong = if rounding { "" } else { " IS WRONG" };
    println!("check {} {what}, {count} steps: {worst:.1e}{wrong}", T::NAME);
    rounding
}

/// 10⁹ updates of cells per second, the best of a few.
fn speed<T: Precision>(simulation: &mut Simulation<T>, cells: usize) -> Result<f64, Error> {
    // As many as all depths divide.
    let count = (4_000_000_000 / cells).clamp(20, 2000).next_multiple_of(12);
    speed_of(simulation, cells, count)
}

/// The same of so many steps.
fn speed_of<T: Precision>(
    simulation: &mut Simulation<T>,
    cells: usize,
    count: usize,
) -> Result<f64, Error> {
    let mut best = f64::INFINITY;
    steps(simulation, 2)?;
    for _ in 0..4 {
        best = best.min(steps(simulation, count)?);
    }
    Ok((cells * count) as f64 / best / 1e9)
}

/// Speeds of a simulation in each of five seconds or so, as it goes by itself and by single steps.
fn long(builtin: Builtin, edge: usize) -> Result<(), Error> {
    let problem = builtin.problem([edge; 3])?;
    let (species, cells) = (problem.model.species().len(), problem.grid.cells());
    let field = rough::<f32>(&problem.grid, species)?;
    let mut simulation = begin(&problem, builtin.step(), field, Device::cuda(0))?;
    let several = simulation.tiling().filter(|tiling| tiling.depth > 1);
    for tiling in several.map(Some).into_iter().chain([None]) {
        simulation.retile(tiling)?;
        // As many as fill a second without a limit.
        let count = (speed(&mut simulation, cells)? * 1e9 / cells as f64) as usize;
        let mut seconds = Vec::new();
        for _ in 0..5 {
            let speed = (cells * count) as f64 / steps(&mut simulation, count)? / 1e9;
            seconds.push(format!("{speed:.0}"));
        }
        let (name, depth) = (builtin.name(), simulation.tiling().map_or(1, |tiling| tiling.depth));
        println!("{name:9} f32 {edge}^3, depth {depth}, Gpt/s: {}", seconds.join(" "));
    }
    Ok(())
}

fn candidates(word: usize, potentials: usize, deep: bool) -> Vec<Tiling> {
    let widest = 16 / word;
    let mut all = Vec::new();
    let mut put = |depth, pack, rows, block: [usize; 2], ahead, blocks_per_sm| {
        all.push(Tiling {
            depth,
            pack,
            rows,
            block,
            ahead,
            blocks_per_sm,
            planes: 0,
            boxes: None,
            inner: true,
            pipeline: false,
        });
    };
    if potentials > 0 {
        for rows in [2, 3] {
            put(1, widest, rows, [32, 4], 0, 2);
            put(1, widest, rows, [32, 8], 0, 1);
            put(1, widest, rows, [64, 4], 0, 1);
        }
        return all;
    }
    if deep {
        for pack in [widest, widest / 2] {
            for rows in 3..=8 {
                put(2, pack, rows, [32, 4], 0, 2);
                put(2, pack, rows, [64, 4], 0, 1);
                put(2, pack, rows, [32, 8], 0, 1);
            }
        }
        return all;
    }
    for pack in [widest, widest / 2] {
        for rows in [2, 4] {
            for block in [[32, 4], [32, 8], [64, 4]] {
                put(1, pack, rows, block, 0, 1);
                put(1, pack, rows, block, 0, 768 / (block[0] * block[1]));
            }
        }
    }
    all
}

fn table<T: Precision>(builtins: &[Builtin], shape: [usize; 3], roof: f64, tune: bool, deep: bool) {
    for &builtin in builtins {
        let grid = Grid::new(shape, builtin.spacing()).unwrap();
        let model = builtin.model().unwrap();
        let species = model.species().len();
        let potentials = model.potentials().outputs().len();
        let field = rough::<T>(&grid, species).unwrap();
        let bound = roof / (2 * size_of::<T>() * species) as f64 / 1e9;
        let mut rows: Vec<(f64, Tiling)> = Vec::new();
        let problem = builtin.problem(shape).unwrap();
        let mut simulation = begin(&problem, builtin.step(), field, Device::cuda(0)).unwrap();
        let list = match tune {
            true => candidates(size_of::<T>(), potentials, deep).into_iter().map(Some).collect(),
            false => vec![simulation.tiling(), None],
        };
        for tiling in list {
            let done =
                simulation.retile(tiling).and_then(|()| speed(&mut simulation, grid.cells()));
            match (done, simulation.tiling()) {
                (Ok(speed), Some(tiling)) => rows.push((speed, tiling)),
                (done, _) => println!("{tiling:?}: {:?}", done.err()),
            }
        }
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (speed, t) in rows.iter().take(7) {
            let (name, fraction) = (builtin.name(), speed / bound);
            println!(
                "{name:9} {} {shape:?} {speed:7.1} Gpt/s {fraction:5.3} of {bound:.0}: depth {} pack {} \
                 rows {} block {:?} ahead {} per sm {}",
                T::NAME,
                t.depth,
                t.pack,
                t.rows,
                t.block,
                t.ahead,
                t.blocks_per_sm
            );
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|a| a == word);
    if has("start") {
        let builtin =
            arguments.iter().find_map(|word| Builtin::named(word)).unwrap_or(Builtin::Turing);
        let edge = arguments.iter().find_map(|word| word.parse().ok()).unwrap_or(128);
        start::run(builtin, edge).unwrap();
        return;
    }
    let devices = match devices() {
        Ok(devices) => devices,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    let Some(device) = devices.first() else {
        println!("there is no GPU");
        return;
    };
    let edges: Vec<usize> = arguments
        .iter()
        .enumerate()
        .filter(|(n, _)| *n == 0 || arguments[n - 1] != "--gpus")
        .filter_map(|(_, a)| a.parse().ok())
        .collect();
    if has("slabs") {
        let asked = arguments.iter().skip_while(|a| *a != "--gpus").nth(1);
        let asked = asked.and_then(|count| count.parse().ok()).unwrap_or(devices.len());
        let most = if has("same") { asked } else { asked.min(devices.len()) };
        println!("{} GPUs {}, {most} asked for", devices.len(), device.name);
        slabs::run(&edges, most, has("same"));
        return;
    }
    if has("masked") {
        if has("check") {
            let wrong = BUILTIN.iter().filter(|builtin| !masked::check(**builtin)).count();
            assert!(wrong == 0, "not what the CPU computes");
        }
        edges.iter().for_each(|&edge| masked::run(edge));
        return;
    }
    if has("pipeline") {
        if has("check") {
            assert!(pipeline::check().unwrap(), "not the bits of single steps");
        }
        edges.iter().for_each(|&edge| pipeline::run(edge).unwrap());
        return;
    }
    let roof = copy_bandwidth();
    println!("{}: copy {:.2} TB/s", device.name, roof / 1e12);
    let named = |builtin: &Builtin| has(builtin.name()) || !BUILTIN.iter().any(|p| has(p.name()));
    let builtins: Vec<_> = BUILTIN.into_iter().filter(named).collect();
    if has("long") {
        for (&builtin, &edge) in builtins.iter().flat_map(|p| edges.iter().map(move |e| (p, e))) {
            long(builtin, edge).unwrap();
        }
        return;
    }
    let mut right = true;
    if has("check") {
        for &builtin in &builtins {
            // The last is too large for boxes, and its rows are short.
            let small = [[37, 19, 5], [130, 77, 40], [64, 33, 17], [65, 64, 63], [300, 91, 30]];
            for shape in small.into_iter().chain([[30, 500, 440]]) {
                let depths = if builtin == Builtin::Front { &[1][..] } else { &[0, 1, 2, 4] };
                for &depth in depths {
                    right &= check::<f64>(builtin, shape, 150, depth);
                    right &= check::<f32>(builtin, shape, 150, depth);
                }
            }
            right &= masked::check(builtin);
        }
    }
    assert!(right, "not what the CPU computes");
    let cubes = edges.into_iter().map(|edge| [edge; 3]);
    let shapes = arguments.iter().filter_map(|a| {
        let cells: Result<Vec<usize>, _> = a.split('x').map(str::parse).collect();
        cells.ok()?.try_into().ok()
    });
    for shape in cubes.chain(shapes) {
        table::<f32>(&builtins, shape, roof, has("tune"), has("deep"));
        if has("double") || !has("tune") {
            table::<f64>(&builtins, shape, roof, has("tune"), has("deep"));
        }
    }
}
