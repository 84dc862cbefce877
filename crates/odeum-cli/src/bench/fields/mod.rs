//! `odeum bench fields`: sweeps over grids, beside the bandwidth of a plain copy.
//!
//! The four problems of Molnár, Izsák, Mészáros & Lagzi (2011), Table 1, by forward Euler; cubes
//! (their Tables 6 and Fig. 8), and one cube cut into seven boxes of as many cells (as in (3) of
//! their Table 7). What counts are cells: there are no others than interior ones.

mod gpu;
mod picture;
mod row;

use super::machine::Machine;
use super::write_json;
use crate::Exit;
use crate::args::BenchArgs;
use crate::finding::Finding;
use crate::report::{Align, Style, Table, count, significant};
use odeum::backend::cuda::Cuda;
use odeum::{Cpu, Device, Error};
use odeum_fields::problems::Paper;
use odeum_fields::{Combination, Engine, Precision};
pub(super) use row::NAME;
use row::Row;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

/// What it is about.
pub(super) const ABOUT: &str = "sweeps over grids against the bandwidth of a copy";

/// Edges of cubes measured on a processor unless said.
const CPU_SIZES: [usize; 3] = [64, 128, 192];
/// Edges of cubes measured on a GPU unless said: those of the paper's Fig. 8, and larger.
const GPU_SIZES: [usize; 5] = [64, 128, 256, 512, 1024];
/// The edge of the cube that the paper cuts.
const CUT: usize = 256;
/// Time for which sweeps are repeated, at least, and their least number.
const TIME: Duration = Duration::from_millis(400);
const SWEEPS: usize = 5;
/// Bytes of each array of the copy.
const COPIED: usize = 128 << 20;
/// What computes.
#[derive(Clone, Debug)]
enum Variant {
    Cpu(Cpu),
    /// In each way of [`gpu`].
    Cuda(Cuda),
}

/// A kind of step that was timed: its name, the time of one \[s\], and how many were timed.
type Timed = (String, f64, usize);

/// Everything the study measured.
#[derive(Debug, Serialize, Deserialize)]
struct Document {
    bench: String,
    machine: Machine,
    rows: Vec<Row>,
}

/// Runs the study.
pub(super) fn run(args: &BenchArgs) -> Result<(), (Finding, Exit)> {
    let variants = variants(args);
    let on_gpu = matches!(args.place.device, Some(Device::Cuda(_)));
    let usual: &[usize] = if on_gpu { &GPU_SIZES } else { &CPU_SIZES };
    let sizes = if args.sizes.is_empty() { usual.to_vec() } else { args.sizes.clone() };
    let to_stdout = args.json.as_deref() == Some(Path::new("-"));
    let mut document =
        Document { bench: NAME.to_owned(), machine: Machine::here(), rows: Vec::new() };
    for variant in &variants {
        let roof = roof(variant).map_err(|e| (Finding::from(e), Exit::BadInput))?;
        for paper in [Paper::Diffusion, Paper::Turing, Paper::Front, Paper::Plume] {
            let mut rows = Vec::new();
            for shape in shapes(&sizes) {
                // As in the paper only diffusion is cut, where every shape is another kernel.
                let cut = shape[0] != shape[1];
                if on_gpu && cut && paper != Paper::Diffusion {
                    continue;
                }
                let measured = measure::<f32>(paper, shape, variant, roof)
                    .and_then(|row| Ok([row, measure::<f64>(paper, shape, variant, roof)?]));
                let measured = measured.map_err(|e| (Finding::from(e), Exit::Broken))?;
                rows.extend(measured.into_iter().flatten());
            }
            if !to_stdout {
                println!("{}, copy at {roof:.1} GB/s", paper.name());
                println!("{}", table(&rows).render(Style::stdout()));
            }
            document.rows.extend(rows);
        }
    }
    if let Some(path) = &args.json {
        write_json(&document, path, to_stdout).map_err(|f| (f, Exit::Broken))?;
    }
    if let Some(path) = &args.plot {
        picture::draw(&document.rows, path).map_err(|error| {
            let finding = Finding::error(format!("cannot draw the plot: {error}"))
                .in_file(path.display().to_string());
            (finding, Exit::Broken)
        })?;
    }
    Ok(())
}

/// One thread and all of them; or what there is on a GPU.
fn variants(args: &BenchArgs) -> Vec<Variant> {
    let cpu = match &args.place.device {
        None => Cpu::default(),
        Some(Device::Cpu(cpu)) => cpu.clone(),
        Some(Device::Cuda(gpu)) => return vec![Variant::Cuda(gpu.clone())],
    };
    let threads = args.place.threads.unwrap_or_else(|| cpu.thread_count());
    let with = |threads| Variant::Cpu(Cpu { threads: Some(threads), ..cpu.clone() });
    if threads == 1 { vec![with(1)] } else { vec![with(1), with(threads)] }
}

/// The least edge of a cube that is cut.
const LEAST_CUT: usize = 64;

/// Cubes, then the cuts of that of the paper, or of the largest whose edge can be cut.
fn shapes(sizes: &[usize]) -> Vec<[usize; 3]> {
    let mut shapes: Vec<[usize; 3]> = sizes.iter().map(|&n| [n, n, n]).collect();
    let cut = sizes.iter().filter(|&&n| n.is_multiple_of(8) && n >= LEAST_CUT);
    if let Some(&n) = cut.max_by_key(|&&n| (n == CUT, n)) {
        let cuts = [8, 4, 2].map(|k| [n * k, n / k, n]);
        shapes.extend(cuts.iter().copied().chain(cuts.iter().rev().map(|&[a, b, c]| [b, a, c])));
    }
    shapes
}

fn measure<T: Precision>(
    paper: Paper,
    shape: [usize; 3],
    variant: &Variant,
    roof: f64,
) -> Result<Vec<Row>, Error> {
    let (threads, timed) = match variant {
        Variant::Cpu(cpu) => {
            let mut times = sweeps_on_cpu::<T>(paper, shape, cpu)?;
            times.sort_by(f64::total_cmp);
            (cpu.thread_count(), vec![("cpu".to_owned(), times[times.len() / 2], times.len())])
        }
        Variant::Cuda(gpu) => (1, gpu::steps::<T>(paper, shape, gpu)?),
    };
    let cells: usize = shape.iter().product();
    let bytes_per_point = 2 * paper.model()?.species().len() * size_of::<T>();
    let row = |(variant, seconds, sweeps): Timed| {
        let bandwidth = (cells * bytes_per_point) as f64 / seconds / 1e9;
        Row {
            problem: paper.name().to_owned(),
            variant,
            precision: T::NAME.to_owned(),
            threads,
            shape,
            cells,
            sweeps,
            seconds,
            mpoints_per_second: cells as f64 / seconds / 1e6,
            bytes_per_point,
            bandwidth,
            copy_bandwidth: roof,
            share_of_copy: bandwidth / roof,
        }
    };
    Ok(timed.into_iter().map(row).collect())
}

/// Times of steps of forward Euler \[s\].
fn sweeps_on_cpu<T: Precision>(
    paper: Paper,
    shape: [usize; 3],
    cpu: &Cpu,
) -> Result<Vec<f64>, Error> {
    let problem = paper.problem(shape)?;
    let engine = Engine::<T>::new(&problem, cpu)?;
    let mut u = paper.initial::<T>(&problem.grid, 0)?;
    let mut next = engine.zeros()?;
    let (mut times, begun) = (Vec::new(), Instant::now());
    let step = paper.step();
    while times.len() <= SWEEPS || begun.elapsed() < TIME {
        let start = Instant::now();
        let terms = [(1.0, &u)];
        let what = Combination { slope: step, own: None, terms: &terms };
        engine.sweep(times.len() as f64 * step, &u, &what, &mut next);
        times.push(start.elapsed().as_secs_f64());
        std::mem::swap(&mut u, &mut next);
    }
    // The first also fetches the pages.
    times.remove(0);
    Ok(times)
}

/// Bandwidth of a copy by the same device: read and written \[GB/s\].
fn roof(variant: &Variant) -> Result<f64, Error> {
    match variant {
        Variant::Cpu(cpu) => Ok(roof_of_cpu(cpu.thread_count())),
        Variant::Cuda(gpu) => gpu::roof(gpu),
    }
}

fn roof_of_cpu(threads: usize) -> f64 {
    let from = vec![1.0_f64; COPIED / 8];
    let mut to = vec![0.0_f64; COPIED / 8];
    let part = from.len().div_ceil(threads);
    let mut best = 0.0_f64;
    for _ in 0..7 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
                scope.spawn(move || to.copy_from_slice(black_box(from)));
            }
        });
        black_box(&mut to);
        best = best.max(2.0 * COPIED as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    best
}

fn table(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("variant", Left),
        ("precision", Left),
        ("threads", Right),
        ("shape", Right),
        ("cells", Right),
        ("sweep [ms]", Right),
        ("Mpoints/s", Right),
        ("GB/s", Right),
        ("of copy", Right),
    ]);
    for row in rows {
        let [nx, ny, nz] = row.shape;
        table.row([
            row.variant.clone(),
            row.precision.clone(),
            row.threads.to_string(),
            format!("{nx}×{ny}×{nz}"),
            count(row.cells as u64),
            significant(1e3 * row.seconds),
            significant(row.mpoints_per_second),
            significant(row.bandwidth),
            format!("{:.1} %", 100.0 * row.share_of_copy),
        ]);
    }
    table
}
