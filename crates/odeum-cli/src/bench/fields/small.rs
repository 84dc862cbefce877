//! `odeum bench fields --small`: small and thin grids on one thread, in turn with a plain loop in C.
//!
//! The loop (`plain.c`) is what one would write for one problem; gcc compiles it here, for this
//! processor. Both take the same steps from the same values, and must come to the same sum.

use super::super::machine::Machine;
use super::super::{is_to_stdout, write_json};
use super::row::NAME;
use crate::args::BenchArgs;
use crate::exit::Exit;
use crate::report::{Align, Style, Table, say, significant};
use odeum_fields::{Boundaries, Boundary, Engine, Field, Grid, ModelText, Precision, Problem};
use odeum_io::Finding;
use odeum_ode::{Cpu, Device, Error};
use serde::Serialize;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The loop.
const PLAIN: &str = include_str!("plain.c");
/// How it is compiled.
const FLAGS: [&str; 2] = ["-O3", "-march=native"];

/// Cells along x, y and z.
const SHAPES: [[usize; 3]; 9] = [
    [256, 1, 1],
    [512, 1, 1],
    [1024, 1, 1],
    [2048, 1, 1],
    [4096, 1, 1],
    [1, 1, 1024],
    [256, 256, 1],
    [1, 256, 256],
    [256, 1, 256],
];

/// How often each of the two is measured, by turns, and rounds of each time.
const TURNS: usize = 5;
const ROUNDS: usize = 4;
/// Steps of a round that are not timed, on the way of which values of a field with zeros fall below the
/// least normal number; and the most that are, so that those of a full one do not.
const BEFORE: usize = 60;
const MOST: usize = 300;

/// Sums agree to so many spacings of numbers: between the spots of Gray and Scott small differences grow.
const AGREE: f64 = 1e5;

/// The problems of the study.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Diffusion,
    GrayScott,
}

/// One problem on one grid.
#[derive(Clone, Debug, Serialize)]
struct Row {
    problem: &'static str,
    /// Whether the field is zero but near its middle.
    zeros: bool,
    precision: &'static str,
    shape: [usize; 3],
    /// Of a step, the best of all rounds: ours, of the loop, and of a copy of the field \[s\].
    seconds: f64,
    plain: f64,
    copy: f64,
    /// How many times as fast as the loop.
    ratio: f64,
}

#[derive(Debug, Serialize)]
struct Document {
    bench: String,
    machine: Machine,
    compiler: String,
    rows: Vec<Row>,
}

/// A folder with the two programs, removed in the end.
struct Plain(PathBuf);

impl Drop for Plain {
    fn drop(&mut self) {
        // What is left of it is the system's to clear.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the study.
pub(super) fn run(args: &BenchArgs) -> Result<(), (Finding, Exit)> {
    let broken = |e: Error| (Finding::from(e), Exit::Broken);
    let cpu = cpu(args).map_err(|finding| (finding, Exit::BadInput))?;
    let (plain, compiler) = compile().map_err(|finding| (finding, Exit::BadInput))?;
    let shapes = match &args.sizes[..] {
        [] => SHAPES.to_vec(),
        sizes => sizes.iter().flat_map(|&n| of_edge(n)).collect(),
    };
    let mut rows = Vec::new();
    for kind in [Kind::Diffusion, Kind::GrayScott] {
        for &shape in &shapes {
            for zeros in [false, true] {
                rows.push(measure::<f64>(kind, shape, zeros, &cpu, &plain).map_err(broken)?);
                rows.push(measure::<f32>(kind, shape, zeros, &cpu, &plain).map_err(broken)?);
            }
        }
    }
    if !is_to_stdout(args) {
        let head = format!("one thread, {}; the loop: {compiler} {}", cpu.isa, FLAGS.join(" "));
        say(&format!("{head}\n{}\n", table(&rows).render(Style::stdout())));
    }
    let document =
        Document { bench: format!("{NAME} --small"), machine: Machine::here(), compiler, rows };
    match &args.json {
        Some(path) => write_json(&document, path).map_err(|f| (f, Exit::Broken)),
        None => Ok(()),
    }
}

/// Rods and layers of this edge.
fn of_edge(n: usize) -> [[usize; 3]; 5] {
    [[n, 1, 1], [1, 1, n], [n, n, 1], [1, n, n], [n, 1, n]]
}

/// One thread of the CPU; what the study does not use is refused.
fn cpu(args: &BenchArgs) -> Result<Cpu, Finding> {
    let refused = |field: &str, help: &str| {
        Err(Finding::error("the study `fields --small` runs on one thread of the CPU")
            .field(field)
            .help(help))
    };
    if args.plot.is_some() {
        return refused("--plot", "leave it out; --json writes the rows");
    }
    if args.place.threads.is_some_and(|threads| threads != 1) {
        return refused("--threads", "leave it out");
    }
    match &args.place.device {
        Some(Device::Cuda(_)) => refused("--device", "give --device cpu, or leave it out"),
        Some(Device::Cpu(cpu)) => Ok(Cpu { threads: Some(1), ..cpu.clone() }),
        None => Ok(Cpu { threads: Some(1), ..Cpu::default() }),
    }
}

/// Compiles the loop in both precisions; gives what gcc says of its version too.
fn compile() -> Result<(Plain, String), Finding> {
    let missing = |e: std::io::Error| {
        Finding::error(format!("gcc cannot be run: {e}"))
            .help("the study compares with a loop in C that gcc compiles here; install gcc")
    };
    let version = Command::new("gcc").arg("--version").output().map_err(missing)?;
    let version = String::from_utf8_lossy(&version.stdout);
    let version = version.lines().next().unwrap_or("gcc").to_owned();
    let folder = std::env::temp_dir().join(format!("odeum-bench-{}", std::process::id()));
    let unwritten = |e: std::io::Error| {
        Finding::error(format!("cannot write the loop in C: {e}"))
            .in_file(folder.display().to_string())
            .help("let TMPDIR name a folder that can be written to")
    };
    std::fs::create_dir_all(&folder).map_err(unwritten)?;
    let plain = Plain(folder.clone());
    let source = folder.join("plain.c");
    std::fs::write(&source, PLAIN).map_err(unwritten)?;
    for (name, real) in [("f64", "double"), ("f32", "float")] {
        let mut gcc = Command::new("gcc");
        gcc.args(FLAGS).arg(format!("-DREAL={real}")).arg("-o").arg(folder.join(name));
        let done = gcc.arg(&source).arg("-lm").output().map_err(missing)?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            return Err(Finding::error("gcc does not compile the loop").found(said));
        }
    }
    Ok((plain, version))
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Diffusion => "diffusion",
            Kind::GrayScott => "Gray-Scott",
        }
    }

    /// Step size \[time\].
    fn step(self) -> f64 {
        if self == Kind::Diffusion { 0.15 } else { 0.5 }
    }

    /// In a box that continues at its other end, along axes of more than one cell.
    fn problem(self, shape: [usize; 3]) -> Result<Problem, Error> {
        let (species, equations) = match self {
            Kind::Diffusion => (vec!["u"], vec![("u", "lap(u)")]),
            Kind::GrayScott => (
                vec!["u", "v"],
                vec![
                    ("u", "0.16*lap(u) - u*v^2 + 0.037*(1 - u)"),
                    ("v", "0.08*lap(v) + u*v^2 - 0.097*v"),
                ],
            ),
        };
        let text = ModelText { species, equations, ..ModelText::default() };
        let long = (0..3).filter(|axis| shape[*axis] > 1);
        let boundaries = long.fold(Boundaries::default(), |boundaries, axis| {
            boundaries.axis(axis, Boundary::Periodic)
        });
        Ok(Problem::new(text.read()?.0, Grid::new(shape, 1.0)?).boundaries(boundaries))
    }

    /// The values that the loop begins with.
    fn start<T: Precision>(self, grid: &Grid, zeros: bool) -> Result<Field<T>, Error> {
        let shape = grid.shape();
        let mut long = (0..3).filter(|axis| shape[*axis] > 1);
        let (first, second) = (long.next().unwrap_or(0), long.next());
        let cells = |axis: Option<usize>| axis.map_or(1, |axis| shape[axis] as i64);
        let [nx, ny] = [cells(Some(first)), cells(second)];
        let species = if self == Kind::Diffusion { 1 } else { 2 };
        Field::from_fn(grid, species, |s, at| {
            let (x, y) = (at[first] as i64, second.map_or(0, |axis| at[axis] as i64));
            let near = (x - nx / 2).abs() < 10 && (y - ny / 2).abs() < 10;
            let wave = 0.01 * ((x + 3 * y) % 17) as f64;
            match (self, s, zeros) {
                (Kind::Diffusion, _, true) => f64::from(near),
                (Kind::Diffusion, ..) => 1.0 + wave,
                (_, 0, true) => {
                    if near {
                        0.5
                    } else {
                        1.0
                    }
                }
                (_, 0, false) => 0.4 + wave,
                (_, _, true) => {
                    if near {
                        0.25
                    } else {
                        0.0
                    }
                }
                (_, _, false) => 0.3 + wave,
            }
        })
    }
}

/// The first two numbers above one, or as many as there are and ones.
fn plane(shape: [usize; 3]) -> [usize; 2] {
    let mut long = shape.into_iter().filter(|n| *n > 1);
    [long.next().unwrap_or(1), long.next().unwrap_or(1)]
}

/// Both by turns.
fn measure<T: Precision>(
    kind: Kind,
    shape: [usize; 3],
    zeros: bool,
    cpu: &Cpu,
    plain: &Plain,
) -> Result<Row, Error> {
    let problem = kind.problem(shape)?;
    let engine = Engine::<T>::new(&problem, cpu)?;
    let timed = (1_000_000 / problem.grid.cells()).clamp(40, MOST);
    let (mut ours, mut other, mut copy) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        let (seconds, sum) = steps::<T>(kind, &problem, &engine, zeros, timed)?;
        ours = ours.min(seconds);
        let (seconds, plain_sum) = plain_steps::<T>(kind, shape, zeros, timed, plain)?;
        other = other.min(seconds);
        if (sum - plain_sum).abs() > AGREE * T::EPSILON * sum.abs() {
            let found =
                format!("{} {shape:?} {}: {sum}, the loop {plain_sum}", kind.name(), T::NAME);
            return Err(Error::input("sum", found, "both should come to the same"));
        }
        copy = copy.min(copied(&kind.start::<T>(&problem.grid, zeros)?, timed));
    }
    let (problem, precision, ratio) = (kind.name(), T::NAME, other / ours);
    Ok(Row { problem, zeros, precision, shape, seconds: ours, plain: other, copy, ratio })
}

/// The best time of a step \[s\], and the sum of the first species at the end.
fn steps<T: Precision>(
    kind: Kind,
    problem: &Problem,
    engine: &Engine<T>,
    zeros: bool,
    timed: usize,
) -> Result<(f64, f64), Error> {
    let (mut best, mut sum, h) = (f64::INFINITY, 0.0, kind.step());
    for _ in 0..ROUNDS {
        let mut now = kind.start::<T>(&problem.grid, zeros)?;
        let mut next = engine.zeros()?;
        let t = |n: u64| n as f64 * h;
        engine.advance((&t, h), BEFORE as u64, &mut now, &mut next);
        let start = Instant::now();
        engine.advance((&t, h), timed as u64, &mut now, &mut next);
        best = best.min(start.elapsed().as_secs_f64() / timed as f64);
        sum = engine.summaries(&now)[0].sum;
    }
    Ok((best, sum))
}

/// The same of the loop.
fn plain_steps<T: Precision>(
    kind: Kind,
    shape: [usize; 3],
    zeros: bool,
    timed: usize,
    plain: &Plain,
) -> Result<(f64, f64), Error> {
    let [nx, ny] = plane(shape);
    let numbers =
        [usize::from(kind == Kind::GrayScott), nx, ny, usize::from(zeros), BEFORE, timed, ROUNDS];
    let program = plain.0.join(T::NAME);
    let failed = |found: String| Error::input("plain.c", found, "run the study again");
    let done = Command::new(&program).args(numbers.map(|n| n.to_string())).output();
    let done = done.map_err(|e| failed(format!("{}: {e}", program.display())))?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let mut words = said.split_whitespace().map(str::parse::<f64>);
    match (done.status.success(), words.next(), words.next()) {
        (true, Some(Ok(seconds)), Some(Ok(sum))) => Ok((seconds, sum)),
        _ => Err(failed(format!("{} {said}", done.status))),
    }
}

/// The best time of a copy of all values of a field from one array to another and back, for each
/// way \[s\].
fn copied<T: Precision>(field: &Field<T>, times: usize) -> f64 {
    let mut from: Vec<T> = (0..field.species()).flat_map(|s| field.to_values(s)).collect();
    let mut to = from.clone();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..times {
            to.copy_from_slice(black_box(&from));
            std::mem::swap(&mut from, &mut to);
        }
        best = best.min(start.elapsed().as_secs_f64() / times as f64);
    }
    black_box(&to);
    best
}

fn table(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("problem", Left),
        ("field", Left),
        ("shape", Right),
        ("precision", Left),
        ("step [µs]", Right),
        ("loop [µs]", Right),
        ("copy [µs]", Right),
        ("times the loop", Right),
    ]);
    for row in rows {
        let [nx, ny, nz] = row.shape;
        table.row([
            row.problem.to_owned(),
            if row.zeros { "mostly zero" } else { "full" }.to_owned(),
            format!("{nx}×{ny}×{nz}"),
            row.precision.to_owned(),
            significant(1e6 * row.seconds),
            significant(1e6 * row.plain),
            significant(1e6 * row.copy),
            format!("{:.2}", row.ratio),
        ]);
    }
    table
}
