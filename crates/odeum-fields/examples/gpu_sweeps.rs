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
    let overlap = depth > 1 || potentials > 0;
    for (pack, rows) in [(widest, 4), (widest, 3), (widest, 2), (widest, 1), (widest / 2, 2)] {
        // Registers for what a thread keeps from plane to plane, and for what it reads.
        let cells = pack * rows * word / 4;
        let kept = cells * 2 * (species * depth + potentials);
        let read = (pack + 2) * (rows + 2) * word / 4;
        for registers in [64, 80, 96, 112, 128, 168, 208] {
            if registers < kept + read / 2 + 24 || registers > 2 * (kept + read) + 64 {
                continue;
            }
            for wide in if overlap { [34, 66, 130] } else { [32, 64, 128] } {
                for blocks_per_sm in if overlap { vec![1, 2] } else { vec![2048 / 256] } {
                    let threads = 65536 / registers / blocks_per_sm / 32 * 32;
                    let deep = if overlap { threads / wide } else { 256 / wide };
                    let halo = if overlap { 2 } else { 0 };
                    if deep == 0 || deep * rows < 4 + halo || deep * wide > 1024 {
                        continue;
                    }
                    let per_sm = if overlap { blocks_per_sm } else { 65536 / registers / 256 };
                    let block = [wide, deep];
                    for ahead in if overlap { [3] } else { [0] } {
                        let blocks_per_sm = per_sm.max(1);
                        all.push(Tiling { depth, pack, rows, block, ahead, blocks_per_sm, planes: 0 });
                    }
                }
            }
        }
    }
    all.dedup();
    all
}

fn table<T: Precision>(edge: usize, roof: f64, tune: bool, depth: usize, only: &[Paper], warm: bool) {
    let shard: Option<usize> = std::env::var("SHARD").ok().and_then(|n| n.parse().ok());
    for &paper in only {
        let grid = Grid::new([edge; 3], paper.spacing()).unwrap();
        let model = paper.model().unwrap();
        let species = model.species().len();
        let potentials = model.potentials().outputs().len();
        let field = rough::<T>(&grid, species);
        let bound = roof / (2 * size_of::<T>() * species) as f64 / 1e9;
        let own = Tiling::of(species, potentials, size_of::<T>());
        let mut rows: Vec<(f64, Tiling)> = Vec::new();
        let given: Vec<usize> = std::env::var("TILING")
            .map(|text| text.split(',').filter_map(|n| n.parse().ok()).collect())
            .unwrap_or_default();
        let list = match (tune, potentials) {
            _ if given.len() == 7 => vec![Tiling {
                depth: given[0],
                pack: given[1],
                rows: given[2],
                block: [given[3], given[4]],
                ahead: given[5],
                blocks_per_sm: given[6],
                planes: 0,
            }],
            (true, _) => candidates(size_of::<T>(), species, potentials, depth),
            (false, 0) => vec![own, Tiling::twice(species, size_of::<T>())],
            (false, _) => vec![own],
        };
        let problem = paper.problem([edge; 3]).unwrap();
        let mut march = CudaMarch::new(&problem, &field, 0.0, 0).unwrap();
        for (n, tiling) in list.into_iter().enumerate() {
            if shard.is_some_and(|shard| n % 4 != shard) {
                continue;
            }
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
