//! `odeum bench chemistry` and `odeum bench ethanol`: reactors of one mechanism, by every method.
//!
//! `chemistry` has the workloads of Curtis, Niemeyer & Sung (2017): states of partially stirred
//! reactors, each integrated at constant pressure over a global step of 1e-6 or 1e-4 s. `ethanol`
//! has that of Niemeyer & Sung (2014): ten steps of 1e-6 s at constant volume, each from a cold
//! start, from states along an ignition.

mod locked;
mod measure;
mod part;
mod picture;
mod row;
mod runs;
mod states;

use super::machine::Machine;
use crate::args::BenchArgs;
use crate::exit::Exit;
use crate::pasr::Database;
use crate::report::{Align, Style, Table, count, say, show, significant};
use measure::Study;
use odeum_case::mechanism;
use odeum_io::Finding;
use odeum_kinetics::Reactor;
use odeum_ode::Device;
use part::Part;
use row::{Document, Row};
use runs::Place;
use states::States;
use std::path::PathBuf;
use std::sync::Arc;

/// States of a study unless said.
const STATES: usize = 8192;
/// Along an ignition, of which a GPU has copies: as many as one core integrates by RKC in half a minute.
const STATES_TO_COPY: usize = 256;

/// The studies of this file, with a line on each.
pub(crate) const STUDIES: [(&str, &str); 2] = [
    (
        "chemistry",
        "Curtis, Niemeyer & Sung 2017: stiff methods on states of partially stirred reactors",
    ),
    ("ethanol", "Niemeyer & Sung 2014: RKC, Rosenbrock and Radau along the ignition of ethanol"),
];

/// Runs a study.
pub(crate) fn run(args: &BenchArgs) -> Result<(), (Finding, Exit)> {
    let bad = |finding| (finding, Exit::BadInput);
    super::unused::of_mechanisms(args).map_err(bad)?;
    let read = |path: &PathBuf| {
        super::document::read(path, &args.name, |document: &Document| &document.bench)
    };
    let added: Vec<Document> = args.add.iter().map(read).collect::<Result<_, _>>().map_err(bad)?;
    if let (None, Some(path), Some((first, others))) =
        (&args.mechanism, &args.plot, added.split_first())
    {
        // Nothing is measured: what others measured is drawn.
        super::unused::of_drawings(args).map_err(bad)?;
        let rows = others.iter().flat_map(|document| &document.rows);
        let rows: Vec<Row> = first.rows.iter().chain(rows).cloned().collect();
        return super::write_plot(picture::draw((&args.name, &first.mechanism), &rows), path);
    }
    let Some(file) = &args.mechanism else {
        let help = format!("as odeum bench {} --mechanism gri30.yaml", args.name);
        return Err(bad(Finding::error("which mechanism?").help(help)));
    };
    let read = mechanism::read(file, &args.beside.selection());
    let read = read.map_err(|findings| {
        let (last, others) = match findings.split_last() {
            Some((last, others)) => (last.clone(), others),
            None => (Finding::error("the mechanism cannot be read"), &[][..]),
        };
        show(others, Exit::BadInput);
        bad(last)
    })?;
    let kinetics = Arc::new(read.kinetics);
    let along_ignition = args.name == "ethanol";
    // On a GPU the states are repeated up to the numbers of systems.
    let on_gpu = matches!(args.place.device, Some(Device::Cuda(_)));
    known_methods(&args.methods, along_ignition).map_err(bad)?;
    let parts = chosen(&Part::of(along_ignition, on_gpu), &args.parts).map_err(bad)?;
    let saved = match &args.states {
        Some(path) => Some(Database::read(path, &kinetics).map_err(bad)?),
        None => None,
    };
    let usual = if on_gpu && along_ignition { STATES_TO_COPY } else { STATES };
    let wanted = args.systems.first().filter(|_| !on_gpu).copied().unwrap_or(usual);
    let states = match saved {
        Some(database) => {
            let tell = |finding| {
                show(&[finding], Exit::Success);
            };
            States::of_database(&database, wanted, tell)
        }
        None if along_ignition => States::along_ignition(&kinetics, wanted)?,
        None => States::of_pasr(&kinetics, wanted)?,
    };
    let (reactor, steps, pieces) = if along_ignition {
        (Reactor::constant_volume(kinetics), &[1e-5][..], 10)
    } else {
        (Reactor::constant_pressure(kinetics), &[1e-6, 1e-4][..], 1)
    };
    let what = (&Arc::new(reactor), steps, pieces);
    let rows = measure(what, &states, &parts, args).map_err(|finding| (finding, Exit::Broken))?;
    let document = Document {
        bench: args.name.clone(),
        machine: Machine::here(),
        mechanism: file.display().to_string(),
        rows,
    };
    if let Some(path) = &args.json {
        super::write_json(&document, path).map_err(|f| (f, Exit::Broken))?;
    }
    if let Some(path) = &args.plot {
        let added = added.into_iter().flat_map(|d| d.rows);
        let rows: Vec<Row> = document.rows.into_iter().chain(added).collect();
        let title = (&*document.bench, &*document.mechanism);
        super::write_plot(picture::draw(title, &rows), path)?;
    }
    Ok(())
}

/// The parts of a study, on reactors of its kind over its global steps \[s\], each of so many pieces.
fn measure(
    (reactor, steps, pieces): (&Arc<Reactor>, &[f64], u32),
    states: &States,
    parts: &[Part],
    args: &BenchArgs,
) -> Result<Vec<Row>, Finding> {
    let quiet = super::is_to_stdout(args);
    let mut rows = Vec::new();
    for &dt in steps {
        let study = Study::new(reactor, states, (dt, pieces), &args.methods)?;
        for &part in parts {
            if !part.is_over(dt) {
                continue;
            }
            let (of_reactive, own);
            let mut study = &study;
            if part == Part::Reactive {
                of_reactive = states.reactive(reactor)?;
                own = Study::new(reactor, &of_reactive, (dt, pieces), &args.methods)?;
                study = &own;
            }
            let found = match &args.place.device {
                Some(Device::Cuda(cuda)) => {
                    study.part_on_gpu(part, cuda.ordinals[0], &args.systems)?
                }
                _ => study.part(part, args.place.threads)?,
            };
            show_part(&found, part, dt, quiet);
            rows.extend(found);
            if super::is_for_nobody(args) {
                return Ok(rows);
            }
        }
    }
    Ok(rows)
}

/// Refuses methods that the study does not have.
fn known_methods(named: &[String], along_ignition: bool) -> Result<(), Finding> {
    let methods = runs::methods(along_ignition);
    let known: Vec<&str> = methods.iter().map(odeum_ode::Method::name).collect();
    match named.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Finding::error(format!("the study has no method `{name}`"))
            .help(format!("its methods are {}", known.join(", ")))),
    }
}

/// The parts that are named, or all. First calls come first: what others use is there already.
fn chosen(parts: &[Part], named: &[String]) -> Result<Vec<Part>, Finding> {
    if named.is_empty() {
        return Ok(parts.to_vec());
    }
    let find = |name: &String| {
        parts.iter().copied().find(|part| part.name() == name).ok_or_else(|| {
            let of_gpus = |part: &Part| part.is_on_gpus_alone() && part.name() == name;
            if parts.contains(&Part::Orders) && Part::of(false, true).iter().any(of_gpus) {
                let message = format!("the part `{name}` is measured on GPUs alone");
                return Finding::error(message).help("add --device cuda, or leave it out");
            }
            let known: Vec<&str> = parts.iter().map(|part| part.name()).collect();
            Finding::error(format!("the study has no part `{name}`"))
                .help(format!("its parts are {}", known.join(", ")))
        })
    };
    let mut found = named.iter().map(find).collect::<Result<Vec<Part>, Finding>>()?;
    found.sort_by_key(|part| *part != Part::Calls);
    Ok(found)
}

fn show_part(rows: &[Row], part: Part, dt: f64, quiet: bool) {
    if !quiet {
        let table = match part {
            Part::Parts => table_of_parts(rows),
            Part::Calls => table_of_calls(rows),
            _ => table(rows),
        };
        say(&format!("{}, {dt:.0e} s\n{}\n", part.about(), table.render(Style::stdout())));
    }
}

/// What the parts of a step take.
fn table_of_parts(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[("part", Left), ("reactors", Right), ("ns/reactor", Right)]);
    for row in rows {
        let name = if row.variant == "cuda kernel" { "step" } else { &row.variant };
        let each = significant(row.seconds / row.systems as f64 * 1e9);
        table.row([name.to_owned(), count(row.systems as u64), each]);
    }
    table
}

/// What calls take.
fn table_of_calls(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut table =
        Table::new(&[("method", Left), ("call", Left), ("reactors", Right), ("ms", Right)]);
    for row in rows {
        let is_first = row.variant == Place::FirstCall(0).variant();
        let call = if is_first { "first" } else { "later" };
        let milliseconds = significant(row.seconds * 1e3);
        table.row([row.method.clone(), call.into(), count(row.systems as u64), milliseconds]);
    }
    table
}

fn table(rows: &[Row]) -> Table {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("method", Left),
        ("variant", Left),
        ("threads", Right),
        ("order", Left),
        ("reactors", Right),
        ("rtol", Right),
        ("µs/reactor", Right),
        ("E median", Right),
        ("95 %", Right),
        ("max", Right),
        ("steps", Right),
        ("LU", Right),
        ("rhs", Right),
        ("D", Right),
        ("busy", Right),
        ("× one core", Right),
        ("failed", Right),
    ]);
    for row in rows {
        let each = |total: u64| significant(total as f64 / row.systems as f64);
        let error = |e: Option<f64>| e.map_or(String::new(), |e| format!("{e:.1e}"));
        let step = row.fixed_step.map_or(format!("{:.0e}", row.rtol), |h| format!("h {h:.0e}"));
        table.row([
            row.method.clone(),
            match &*row.jacobian {
                "exact" => row.variant.to_string(),
                other => format!("{}, {other}", row.variant),
            },
            row.threads.to_string(),
            row.order.to_string(),
            count(row.systems as u64),
            step,
            significant(row.seconds / row.systems as f64 * 1e6),
            error(row.error_median),
            error(row.error_p95),
            error(row.max_error),
            each(row.steps + row.rejected),
            each(row.nlu),
            each(row.nfev),
            format!("{:.3}", row.divergence),
            row.busy_lanes.map_or(String::new(), |x| format!("{:.1} %", 100.0 * x)),
            row.times_one_core.map_or(String::new(), significant),
            row.failed.to_string(),
        ]);
    }
    table
}
