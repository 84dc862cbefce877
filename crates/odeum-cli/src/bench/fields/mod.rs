//! `odeum bench fields`: sweeps over grids, beside the bandwidth of a plain copy.
//!
//! The four problems of Molnár, Izsák, Mészáros & Lagzi (2011), Table 1, by forward Euler; cubes
//! (their Tables 6 and Fig. 8), and for diffusion, as theirs, one cube cut into seven boxes of as
//! many cells (as in (3) of their Table 7). What counts are cells: there are no others than
//! interior ones. What is left out is said beneath the table, and why. Small and thin grids have a
//! study of their own ([`small`]).

mod cpu;
mod gpu;
mod picture;
mod row;
mod small;

use super::machine::Machine;
use super::{is_for_nobody, is_to_stdout, write_json, write_plot};
use crate::args::BenchArgs;
use crate::exit::Exit;
use crate::report::{Align, Style, Table, bytes, count, say, significant};
use odeum_fields::Precision;
use odeum_fields::problems::Builtin;
use odeum_io::Finding;
use odeum_ode::gpu::Cuda;
use odeum_ode::{Cpu, Device, Error};
pub(super) use row::NAME;
use row::Row;
use serde::{Deserialize, Serialize};

/// What it is about.
pub(super) const ABOUT: &str = "sweeps over grids against the bandwidth of a copy";

/// Edges of cubes measured on a CPU unless said.
const CPU_SIZES: [usize; 3] = [64, 128, 256];
/// Edges of cubes measured on a GPU unless said: those of the paper's Fig. 8, and larger.
const GPU_SIZES: [usize; 5] = [64, 128, 256, 512, 1024];
/// The edge of the cube that the paper cuts.
const CUT: usize = 256;
/// What computes.
#[derive(Clone, Debug)]
enum Variant {
    /// In each way of [`cpu`].
    Cpu(Cpu),
    /// In each way of [`gpu`].
    Cuda(Cuda),
}

/// A kind of step that was timed: its name, the time of one \[s\], and how many were timed.
type Timed = (String, f64, usize);

/// What was timed on a grid.
struct Measured {
    timed: Vec<Timed>,
    /// What was not, and why.
    left_out: Option<String>,
}

impl Measured {
    /// Nothing, for want of memory in some place, as ` on cuda:0` \[bytes\].
    fn without_memory(need: u128, free: u128, place: &str) -> Measured {
        let why = format!("it needs {}{place}, and {} are free", bytes(need), bytes(free));
        Measured { timed: Vec::new(), left_out: Some(why) }
    }
}

/// Everything the study measured.
#[derive(Debug, Serialize, Deserialize)]
struct Document {
    bench: String,
    machine: Machine,
    rows: Vec<Row>,
    /// What has no row, and why.
    #[serde(default)]
    left_out: Vec<String>,
}

/// Runs the study.
pub(super) fn run(args: &BenchArgs) -> Result<(), (Finding, Exit)> {
    if args.small {
        return small::run(args);
    }
    let variants = variants(args);
    let on_gpu = matches!(args.place.device, Some(Device::Cuda(_)));
    let usual: &[usize] = if on_gpu { &GPU_SIZES } else { &CPU_SIZES };
    let sizes = if args.sizes.is_empty() { usual.to_vec() } else { args.sizes.clone() };
    let (bench, machine) = (NAME.to_owned(), Machine::here());
    let mut document = Document { bench, machine, rows: Vec::new(), left_out: Vec::new() };
    for variant in &variants {
        let roof = roof(variant).map_err(|e| {
            let finding = Finding::from(e);
            let exit = Exit::of(&finding);
            (finding, exit)
        })?;
        for builtin in [Builtin::Diffusion, Builtin::Turing, Builtin::Front, Builtin::Plume] {
            let (mut rows, mut left_out) = (Vec::new(), Vec::new());
            for shape in shapes(&sizes) {
                // As in the paper only diffusion is cut, where every shape is another kernel.
                let cut = shape[0] != shape[1];
                if cut && builtin != Builtin::Diffusion {
                    continue;
                }
                let mut both = [measure::<f32>, measure::<f64>].into_iter();
                let measured = both.try_for_each(|measure| {
                    let (more, missing) = measure(builtin, shape, variant, roof)?;
                    rows.extend(more);
                    left_out.extend(missing);
                    Ok(())
                });
                measured.map_err(|e: Error| (Finding::from(e), Exit::Broken))?;
            }
            if !is_to_stdout(args) {
                let table = table(&rows).render(Style::stdout());
                say(&format!("{}, copy at {roof:.1} GB/s\n{table}\n", builtin.name()));
                left_out.iter().for_each(|line| say(&format!("left out: {line}\n")));
            }
            document.rows.extend(rows);
            document.left_out.extend(left_out);
            if is_for_nobody(args) {
                return Ok(());
            }
        }
    }
    if let Some(path) = &args.json {
        write_json(&document, path).map_err(|f| (f, Exit::Broken))?;
    }
    if let Some(path) = &args.plot {
        write_plot(picture::draw(&document.rows), path)?;
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

/// Rows of a problem on a grid, and what has none.
fn measure<T: Precision>(
    builtin: Builtin,
    shape: [usize; 3],
    variant: &Variant,
    roof: f64,
) -> Result<(Vec<Row>, Option<String>), Error> {
    let (threads, measured) = match variant {
        Variant::Cpu(cpu) => (cpu.thread_count(), cpu::steps::<T>(builtin, shape, cpu)?),
        Variant::Cuda(gpu) => (1, gpu::steps::<T>(builtin, shape, gpu)?),
    };
    let cells: usize = shape.iter().product();
    let bytes_per_point = 2 * builtin.model()?.species().len() * size_of::<T>();
    let row = |(variant, seconds, sweeps): Timed| {
        let bandwidth = (cells * bytes_per_point) as f64 / seconds / 1e9;
        Row {
            problem: builtin.name().to_owned(),
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
            fraction_of_copy: bandwidth / roof,
        }
    };
    let [nx, ny, nz] = shape;
    let what = format!("{}, {}, {nx}×{ny}×{nz}", builtin.name(), T::NAME);
    let left_out = measured.left_out.map(|why| format!("{what}: {why}"));
    Ok((measured.timed.into_iter().map(row).collect(), left_out))
}

/// Bandwidth of a copy by the same device: read and written \[GB/s\].
fn roof(variant: &Variant) -> Result<f64, Error> {
    match variant {
        Variant::Cpu(cpu) => Ok(cpu::roof(cpu.thread_count())),
        Variant::Cuda(gpu) => gpu::roof(gpu),
    }
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
            format!("{:.1} %", 100.0 * row.fraction_of_copy),
        ]);
    }
    table
}
