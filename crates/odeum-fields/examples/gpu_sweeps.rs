//! Speeds of fields on a GPU: the paper's problems at depth 1 for several tilings, beside the
//! bandwidth of a copy on the same device. `gpu_sweeps [tune] [check] [EDGE…]`.

// An example reports by ending.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use odeum::backend::cuda::{devices, kernels::Card};
use odeum::{Cpu, Error, Scalar};
use odeum_fields::cuda::{CudaMarch, Tiling};
use odeum_fields::problems::Paper;
use odeum_fields::{Combination, Engine, Field, Grid, Precision, noise};

const PAPERS: [Paper; 4] = [Paper::Diffusion, Paper::Turing, Paper::Front, Paper::Plume];

/// Bytes per second of a copy, read and written, the best of a few.
fn copy_bandwidth() -> f64 {
    let card = Card::open(0).unwrap();
    let bytes = 1 << 30;
    let (from, mut to) = (card.memory(bytes).unwrap(), card.memory(bytes).unwrap());
    let queue = card.queue().unwrap();
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        queue.mark(0).unwrap();
        for _ in 0..10 {
            queue.copy(&from, &mut to, bytes).unwrap();
        }
        queue.mark(1).unwrap();
        queue.wait().unwrap();
        best = best.min(queue.elapsed().unwrap());
    }
    20.0 * bytes as f64 / (best * 1e-3)
}

/// Values without any symmetry, between 0.1 and 0.9.
fn rough<T: Scalar>(grid: &Grid, species: usize) -> Field<T> {
    let mut cell = 0;
    Field::from_fn(grid, species, |s, _| {
        cell += 1;
        0.5 + 0.4 * noise(7, s, cell)
    })
    .unwrap()
}

/// A march on the GPU against the processor's; the largest difference.
fn check<T: Precision>(paper: Paper, shape: [usize; 3], steps: usize, depth: usize) {
    let problem = paper.problem(shape).unwrap();
    let species = problem.model.species().len();
    let (h, field) = (paper.step(), rough::<T>(&problem.grid, species));
    let mut march = CudaMarch::new(&problem, &field, 0.0, 0).unwrap();
    if depth > 1 {
        let own = Tiling::of(species, 0, size_of::<T>());
        let (pack, rows, block) = (8 / size_of::<T>(), 4, [32, 8]);
        march.retile(Tiling { depth, pack, rows, block, ahead: 1, ..own }).unwrap();
    }
    march.steps(steps as u64, h).unwrap();
    let found = march.field().unwrap();
    let engine = Engine::<T>::new(&problem, &Cpu::default()).unwrap();
    let (mut now, mut next) = (field, engine.zeros().unwrap());
    for n in 0..steps {
        let terms = [(1.0, &now)];
        let what = Combination { slope: h, own: None, terms: &terms };
        engine.sweep(n as f64 * h, &now, &what, &mut next);
        std::mem::swap(&mut now, &mut next);
    }
    let mut worst: f64 = 0.0;
    for s in 0..species {
        for (x, y) in found.to_values(s).iter().zip(now.to_values(s)) {
            worst = worst.max((x.to_f64() - y.to_f64()).abs() / y.to_f64().abs().max(1.0));
        }
    }
    println!(
        "check {:9} {} {shape:?} {steps} steps, depth {depth}: {worst:.1e}",
        paper.name(),
        T::NAME
    );
}

/// 10⁹ updates of cells per second, the best of a few.
fn speed<T: Scalar>(march: &mut CudaMarch<T>, paper: Paper, cells: usize, warm: bool) -> Result<f64, Error> {
    let steps = (4_000_000_000 / cells).clamp(20, 2000) as u64;
    let mut best = f64::INFINITY;
    march.steps(4, paper.step())?;
    if warm {
        return Ok(0.0);
    }
    for _ in 0..4 {
        best = best.min(march.steps(steps, paper.step())?);
    }
    Ok(cells as f64 * steps as f64 / (best * 1e-3) / 1e9)
}

/// Tilings to choose from.
fn candidates(word: usize, species: usize, potentials: usize, depth: usize) -> Vec<Tiling> {
    let widest = 16 / word;
    let mut all = Vec::new();
    for (pack, rows) in
        [(widest, 4), (widest, 3), (widest, 2), (widest / 2, 2)]
    {
        // Values that a thread keeps from plane to plane, of its own cells and those around.
        let reach = if potentials > 0 { 2 } else { depth };
        let ring = |n: usize| (pack + 2 * n) * (rows + 2 * n) * word / 4;
        let kept = match potentials {
            0 => (0..depth).map(ring).sum::<usize>() * species * 2,
            _ => ring(1) * 2 + ring(0) * (2 * species + 1),
        };
        let read = ring(reach) * species.min(2);
        if kept + read / 2 > 240 {
            continue;
        }
        for (registers, block) in [(80, [64, 4]), (128, [32, 4]), (168, [32, 4]), (255, [32, 4]), (255, [32, 8])] {
            if kept + read / 3 > registers || (registers > 80 && kept + read / 2 + 60 < registers / 2) {
                continue;
            }
            let blocks_per_sm = 65536 / registers / (block[0] * block[1]);
            for ahead in if depth > 1 || potentials > 0 { [0, 3] } else { [0, 3] } {
                all.push(Tiling { depth, pack, rows, block, ahead, blocks_per_sm, planes: 0 });
            }
        }
    }
    all
}

fn table<T: Precision>(edge: usize, roof: f64, tune: bool, depth: usize, only: &[Paper], warm: bool) {
    for &paper in only {
        let grid = Grid::new([edge; 3], paper.spacing()).unwrap();
        let model = paper.model().unwrap();
        let species = model.species().len();
        let potentials = model.potentials().outputs().len();
        let field = rough::<T>(&grid, species);
        let bound = roof / (2 * size_of::<T>() * species) as f64 / 1e9;
        let own = Tiling::of(species, potentials, size_of::<T>());
        let mut rows: Vec<(f64, Tiling)> = Vec::new();
        let list = match (tune, potentials) {
            (true, _) => candidates(size_of::<T>(), species, potentials, depth),
            (false, 0) => vec![own, Tiling::twice(species, size_of::<T>())],
            (false, _) => vec![own],
        };
        let problem = paper.problem([edge; 3]).unwrap();
        let mut march = CudaMarch::new(&problem, &field, 0.0, 0).unwrap();
        for tiling in list {
            let done = march.retile(tiling).and_then(|()| speed(&mut march, paper, grid.cells(), warm));
            match done {
                Ok(speed) => rows.push((speed, tiling)),
                Err(error) => println!("{tiling:?}: {error}"),
            }
        }
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (speed, t) in rows.iter().take(6) {
            let (name, share) = (paper.name(), speed / bound);
            println!(
                "{name:9} {} {edge}^3 {speed:7.1} Gpt/s {share:5.3} of {bound:.0}: depth {} pack {} \
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
    let device = match devices() {
        Ok(devices) => devices.into_iter().next().unwrap(),
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    let mut only: Vec<Paper> = arguments.iter().filter_map(|a| Paper::named(a)).collect();
    if only.is_empty() {
        only.extend(PAPERS);
    }
    let depth = if has("three") { 3 } else if has("deep") { 2 } else { 1 };
    let roof = copy_bandwidth();
    println!("{}: copy {:.2} TB/s", device.name, roof / 1e12);
    if has("check") {
        for paper in PAPERS {
            for shape in [[37, 19, 5], [130, 77, 40]] {
                let depths = if paper == Paper::Front { &[1][..] } else { &[1, 2, 4] };
                for &depth in depths {
                    check::<f64>(paper, shape, 150, depth);
                    check::<f32>(paper, shape, 150, depth);
                }
            }
        }
    }
    for edge in arguments.iter().filter_map(|a| a.parse::<usize>().ok()) {
        if !has("double") {
            table::<f32>(edge, roof, has("tune"), depth, &only, has("warm"));
        }
        if has("double") || !has("tune") {
            table::<f64>(edge, roof, has("tune"), depth, &only, has("warm"));
        }
    }
}
