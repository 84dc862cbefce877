//! `odeum bench`: studies of speed, each one command.

mod chemistry;
mod document;
mod fields;
mod limit;
mod machine;
mod measure;
mod plot;
mod unused;
mod workload;

pub(crate) use machine::Machine;

use crate::args::BenchArgs;
use crate::exit::Exit;
use crate::job::{by_option, claim};
use crate::report::{Align, Style, Table, count, is_heard, say, show, significant};
use document::{Document, Row};
use measure::{Variant, measure};
use odeum_case::{Precision, suggest};
use odeum_io::Finding;
use odeum_io::file::{Lock, write_whole};
use odeum_ode::{Device, Error};
use std::io::Write;
use std::path::{Path, PathBuf};
use workload::{STUDIES, Workload};

/// The path that stands for the standard output.
const STDOUT: &str = "-";
/// Numbers of systems measured on a CPU unless said.
const CPU_SYSTEMS: [usize; 3] = [1024, 8192, 32_768];
/// Numbers of systems measured on a GPU unless said.
const GPU_SYSTEMS: [usize; 6] = [1024, 4096, 16_384, 65_536, 262_144, 1_048_576];

/// Runs a study.
pub(crate) fn command(args: &BenchArgs) -> Exit {
    let locks = match lock(args) {
        Ok(locks) => locks,
        Err(finding) => return show(&[finding], Exit::BadInput).unwrap_or(Exit::BadInput),
    };
    let exit = study(args);
    drop(locks);
    exit
}

/// The right to write the files of a study, which replace none that it reads, none at all unless the user says so, and can be written.
fn lock(args: &BenchArgs) -> Result<Vec<Lock>, Finding> {
    let document = args.json.as_ref().filter(|_| !is_to_stdout(args));
    if let (Some(document), Some(plot)) = (document, &args.plot)
        && document == plot
    {
        return Err(Finding::error("the document and the picture would be one file")
            .in_file(plot.display().to_string())
            .help("give --json and --plot a name each"));
    }
    let (thermo, states) = (&args.beside.thermo, &args.states);
    let read = args.mechanism.iter().chain(thermo).chain(states).chain(&args.add);
    let inputs: Vec<PathBuf> = read.cloned().collect();
    let document = document.map(|path| ("--json", path, "json", "tables are made of it elsewhere"));
    let plot = args.plot.as_ref();
    let plot = plot.map(|path| ("--plot", path, "svg", "other programs make other pictures of it"));
    let mut locks = Vec::new();
    for (option, path, own, help) in document.into_iter().chain(plot) {
        locks.extend(claim((option, path), (own, help), &inputs, args.overwrite)?);
    }
    Ok(locks)
}

fn study(args: &BenchArgs) -> Exit {
    match run(args) {
        Ok(()) => Exit::Success,
        Err((finding, exit)) => show(&[finding], exit).unwrap_or(exit),
    }
}

fn run(args: &BenchArgs) -> Result<(), (Finding, Exit)> {
    let bad = |finding| (finding, Exit::BadInput);
    if chemistry::STUDIES.iter().any(|(name, _)| *name == args.name) {
        return chemistry::run(args);
    }
    if args.name == fields::NAME {
        unused::of_fields(args).map_err(bad)?;
        return fields::run(args);
    }
    let names = || {
        STUDIES
            .iter()
            .chain(&chemistry::STUDIES)
            .chain(&[(fields::NAME, fields::ABOUT)])
            .map(|(name, _)| *name)
    };
    let workloads = workload::study(&args.name).ok_or_else(|| {
        let help = suggest::remedy(&args.name, "studies", names());
        bad(Finding::error(format!("there is no study `{}`", args.name)).help(help))
    })?;
    unused::of_problems(args).map_err(bad)?;
    let variants = chosen(args).map_err(bad)?;
    let added: Result<Vec<Document>, Finding> = args
        .add
        .iter()
        .map(|path| document::read(path, &args.name, |d: &Document| &d.bench))
        .collect();
    let added = added.map_err(bad)?;
    let to_stdout = is_to_stdout(args);
    let mut document =
        Document { bench: args.name.clone(), machine: Machine::here(), rows: Vec::new() };
    for workload in &workloads {
        if !to_stdout {
            say(&format!("{}: {}\n", workload.name, workload.about));
        }
        let rows = measured(workload, args, &variants)
            .map_err(|error| (Finding::error(error.to_string()), Exit::Broken))?;
        if !to_stdout {
            say(&format!("{}\n", table(&rows).render(Style::stdout())));
        }
        document.rows.extend(rows);
        if is_for_nobody(args) {
            return Ok(());
        }
    }
    if let Some(path) = &args.json {
        write_json(&document, path).map_err(|f| (f, Exit::Broken))?;
    }
    if let Some(path) = &args.plot {
        let rows: Vec<Row> =
            document.rows.into_iter().chain(added.into_iter().flat_map(|d| d.rows)).collect();
        write_plot(plot::draw(&args.name, &rows), path)?;
    }
    Ok(())
}

/// The variants asked for, on the device asked for.
fn chosen(args: &BenchArgs) -> Result<Vec<Variant>, Finding> {
    let all = match &args.place.device {
        None | Some(Device::Cpu(_)) => Variant::of_cpu(args.place.threads),
        Some(Device::Cuda(cuda)) => Variant::of_cuda(cuda),
    };
    for wanted in &args.variants {
        if !all.iter().any(|variant| variant.name == wanted) {
            let help = suggest::remedy(wanted, "variants", all.iter().map(|v| v.name));
            return Err(Finding::error(format!("there is no variant `{wanted}`")).help(help));
        }
    }
    let asked = |v: &Variant| args.variants.is_empty() || args.variants.iter().any(|w| w == v.name);
    Ok(all.into_iter().filter(asked).collect())
}

fn measured(
    workload: &Workload,
    args: &BenchArgs,
    variants: &[Variant],
) -> Result<Vec<Row>, Error> {
    let on_gpu = matches!(args.place.device, Some(Device::Cuda(_)));
    let usual: &[usize] = if on_gpu { &GPU_SYSTEMS } else { &CPU_SYSTEMS };
    let sizes = if args.systems.is_empty() { usual } else { &args.systems };
    let mut rows = Vec::new();
    for &systems in sizes {
        match workload.precision {
            Precision::F64 => measure::<f64>(workload, variants, systems, &mut rows)?,
            Precision::F32 => measure::<f32>(workload, variants, systems, &mut rows)?,
        }
    }
    Ok(rows)
}

fn table(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("variant", Left),
        ("device", Left),
        ("threads", Right),
        ("systems", Right),
        ("time [s]", Right),
        ("systems/s", Right),
        ("rhs/s", Right),
        ("max error", Right),
        ("D", Right),
        ("busy", Right),
        ("of limit", Right),
    ]);
    let percent =
        |fraction: Option<f64>| fraction.map_or(String::new(), |x| format!("{:.1} %", 100.0 * x));
    for row in rows {
        table.row([
            row.variant.clone(),
            row.device.clone(),
            row.threads.to_string(),
            count(row.systems as u64),
            significant(row.seconds),
            significant(row.systems_per_second),
            format!("{:.2e}", row.rhs_per_second),
            format!("{:.1e}", row.max_error),
            format!("{:.3}", row.divergence),
            percent(row.busy_lanes),
            percent(row.fraction_of_limit),
        ]);
    }
    table
}

/// True where the document is what goes to the standard output.
fn is_to_stdout(args: &BenchArgs) -> bool {
    args.json.as_deref() == Some(Path::new(STDOUT))
}

/// True where nobody hears what a study finds, and no file will keep it.
fn is_for_nobody(args: &BenchArgs) -> bool {
    let keeps = args.json.is_some() && !is_to_stdout(args) || args.plot.is_some();
    !is_heard() && !keeps
}

fn write_json(document: &impl serde::Serialize, path: &Path) -> Result<(), Finding> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| Finding::error(format!("cannot write the document: {error}")))?;
    if path == Path::new(STDOUT) {
        say(&format!("{text}\n"));
        return Ok(());
    }
    write_whole(path, |file| writeln!(file, "{text}"))
        .map_err(|finding| by_option(finding, "--json"))
}

/// Writes the picture of a study, as SVG.
fn write_plot(
    drawn: Result<String, Box<dyn std::error::Error>>,
    path: &Path,
) -> Result<(), (Finding, Exit)> {
    let drawn = drawn.map_err(|error| {
        Finding::error(format!("cannot draw the plot: {error}")).in_file(path.display().to_string())
    });
    drawn
        .and_then(|picture| write_whole(path, |file| file.write_all(picture.as_bytes())))
        .map_err(|finding| (by_option(finding, "--plot"), Exit::Broken))
}
