//! `odeum run`: integrates the ensemble of a case, batch by batch.

mod batches;
mod store;
mod worth;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::fields;
use crate::gpus;
use crate::report::{Outcome, Progress, Style, TICK, note, print_summary};
use crate::report::{show, tell};
use crate::stop::{resume_command, stop_on_ctrl_c};
use batches::Batches;
use odeum_case::device;
use odeum_case::results::Results;
use odeum_case::{Described, Precision};
use odeum_case::{Overrides, Plan};
use odeum_io::Target;
use odeum_io::checkpoint::ensemble::LATER;
use odeum_io::ensemble;
use odeum_io::file::Room;
use odeum_io::parallel;
use odeum_io::{Finding, Findings};
use odeum_ode::solution::Summary;
use odeum_ode::{Compiled, Monitor, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::Store;

/// Failed systems named in the summary.
const NAMED: usize = 5;

pub(crate) fn command(args: &RunArgs) -> Exit {
    let findings = Findings::default();
    let overrides = Overrides { device: args.place.device.clone(), threads: args.place.threads };
    let case = match odeum_case::read(&args.case, args.place.device.as_ref(), &findings) {
        Some(Described::Field(case)) => return fields::run(&case, &overrides, args, &findings),
        Some(Described::Ensemble(case)) => Some(case),
        None => None,
    };
    let plan = case.as_ref().and_then(|case| Plan::new(case, &overrides, &findings));
    if let Some(exit) = show(&findings.take(), Exit::BadInput) {
        return exit;
    }
    let Some(mut plan) = plan else { return Exit::BadInput };
    let target = match plan.case.output.target(args.output.as_deref(), &plan.case.path) {
        Ok(target) => target,
        Err(finding) => return show(&[finding], Exit::BadInput).unwrap_or(Exit::BadInput),
    };
    let device = match plan.case.run.precision {
        Precision::F64 => worth::device::<f64>(&plan),
        Precision::F32 => worth::device::<f32>(&plan),
    };
    if device != plan.device && !args.quiet {
        let head = Style::stderr().bold("note:");
        note(&format!(
            "{head} {device} alone is used: it takes less time than to open another GPU"
        ));
    }
    plan.device = device;
    gpus::start(&plan.device);
    match plan.case.run.precision {
        Precision::F64 => run::<f64>(&plan, &target, args),
        Precision::F32 => run::<f32>(&plan, &target, args),
    }
}

/// A run that cannot go on, and how it ends.
struct Stop(Finding, Exit);

fn run<T: Compiled>(plan: &Plan<'_>, target: &Target, args: &RunArgs) -> Exit {
    match try_run::<T>(plan, target, args) {
        Ok(exit) => exit,
        Err(Stop(finding, exit)) => show(&[finding], exit).unwrap_or(exit),
    }
}

fn try_run<T: Compiled>(plan: &Plan<'_>, target: &Target, args: &RunArgs) -> Result<Exit, Stop> {
    let bad_input = |finding| Stop(finding, Exit::BadInput);
    let _lock = target.lock(tell).map_err(bad_input)?;
    refuse_to_replace(target, &plan.case.output.formats, args).map_err(bad_input)?;
    target.probe(disk_space(plan)).map_err(bad_input)?;
    let room = target.room(npz_bytes(plan));
    let (mut store, loaded) =
        Store::open::<T>(plan, target, args.resume, args.checkpoint_every).map_err(bad_input)?;
    let mut batches = Batches::new(plan, store.header(), loaded.batches);
    let before = batches.finished();
    if args.resume && !args.quiet {
        describe_resume(&loaded.damaged, before, plan.members.len(), store.header().batch, target);
    }
    let monitor = Arc::new(Monitor::new());
    stop_on_ctrl_c(&monitor, args.quiet);
    let mut progress = Progress::new(plan.members.len(), before, args.quiet);
    let start = Instant::now();
    let ran = watched(&monitor, &mut progress, || batches.run(&monitor, &mut store));
    let elapsed = start.elapsed();
    progress.end();
    show(store.warnings(), Exit::Broken);

    if let Err(error) = ran {
        // Nothing computed and nothing kept: what was asked for cannot be had.
        let exit = if batches.computed() == 0 { Exit::BadInput } else { Exit::Broken };
        let kept = store.save_all(batches.pieces());
        let finding = plan.case.spots.place(error);
        return Err(Stop(with_resume(finding, kept, args), exit));
    }
    if monitor.is_stopped() && batches.finished() < plan.members.len() {
        return Ok(interrupted(plan, target, args, &mut store, &batches));
    }
    finish(plan, target, args, &mut store, &batches, (elapsed, room))
}

/// Writes the result and says how the run went.
fn finish<T: Compiled>(
    plan: &Plan<'_>,
    target: &Target,
    args: &RunArgs,
    store: &mut Store,
    batches: &Batches<'_, T>,
    (elapsed, room): (Duration, Option<Room>),
) -> Result<Exit, Stop> {
    let results = Results::new(plan, batches.pieces());
    let (written, formats) = (results.written(), &plan.case.output.formats);
    // Looking through all systems takes about as long as writing them.
    let (told, files) = parallel::beside(
        || Told::of(&results),
        || ensemble::write(&written, target, formats, room),
    );
    let Told { summary, crossings, failed } = told;
    let (files, lacks) = files.map_err(|finding| {
        let kept = store.save_all(batches.pieces());
        Stop(with_resume(finding, kept, args), Exit::Broken)
    })?;
    store.remove();
    let _ = std::fs::remove_file(target.partial());
    show(&lacks, Exit::Broken);
    let failures = summary.statuses.iter().any(|(status, _)| !status.is_success());
    if !args.quiet || failures {
        let warnings: Vec<Finding> = batches.warnings().iter().map(Finding::warning).collect();
        show(&warnings, Exit::Broken);
    }
    if !args.quiet {
        print_summary(&Outcome {
            summary,
            computed: batches.computed(),
            nfev: batches.nfev(),
            elapsed,
            busy_lanes: batches.busy_lanes(),
            crossings,
            failed,
            system: plan.case.model.title.clone(),
            device: device::describe(&plan.device),
            files,
        });
    } else if failures {
        let failed: usize =
            summary.statuses.iter().filter(|(s, _)| !s.is_success()).map(|(_, n)| n).sum();
        let message = format!("{failed} of {} systems failed", summary.systems);
        show(&[Finding::warning(message).help("run without --quiet to see why")], Exit::Broken);
    }
    Ok(if failures && args.strict { Exit::SystemsFailed } else { Exit::Success })
}

/// What is told of the systems of a run.
struct Told {
    summary: Summary,
    crossings: Option<[f64; 3]>,
    /// The first systems that failed, and the times they reached.
    failed: Vec<(usize, f64)>,
}

impl Told {
    fn of<T: Compiled>(results: &Results<'_, T>) -> Told {
        let rows = (0..results.len()).map(|r| results.row(r));
        let failed = rows.filter(|row| !row.status().is_success()).take(NAMED);
        Told {
            summary: results.summary(),
            crossings: crossings(results),
            failed: failed.map(|row| (row.system, row.t())).collect(),
        }
    }
}

/// Least, median and largest time from the start to the crossing.
fn crossings<T: Compiled>(results: &Results<'_, T>) -> Option<[f64; 3]> {
    let mut times: Vec<f64> = (0..results.len())
        .map(|r| results.row(r))
        .filter(|row| row.status() == Status::Crossed)
        .map(|row| row.t() - results.members().span(row.system).0)
        .collect();
    times.sort_by(f64::total_cmp);
    Some([*times.first()?, times[times.len() / 2], *times.last()?])
}

/// Keeps what is finished, and says how to go on.
fn interrupted<T: Compiled>(
    plan: &Plan<'_>,
    target: &Target,
    args: &RunArgs,
    store: &mut Store,
    batches: &Batches<'_, T>,
) -> Exit {
    let results = Results::new(plan, batches.pieces());
    let style = Style::stderr();
    let (done, all) = (results.len(), plan.members.len());
    note(&format!("{} {done} of {all} systems are finished", style.yellow("stopped:")));
    if done == 0 {
        note("  nothing is kept: there is nothing to go on from");
        return Exit::Interrupted;
    }
    match ensemble::write_partial(&results.written(), target) {
        Ok(path) => note(&format!("  their results:    {}", path.display())),
        Err(finding) => {
            show(&[finding], Exit::Broken);
        }
    }
    match store.save_all(batches.pieces()) {
        Ok(path) => {
            note(&format!("  the checkpoint:   {}", path.display()));
            note(&format!("  to go on from it: {}", resume_command(args)));
        }
        Err(finding) => {
            show(&[finding], Exit::Broken);
        }
    }
    Exit::Interrupted
}

fn with_resume(
    finding: Finding,
    kept: Result<std::path::PathBuf, Finding>,
    args: &RunArgs,
) -> Finding {
    match kept {
        Ok(path) => {
            let help = finding.help.clone().unwrap_or_default();
            let keeps = format!("what is computed is kept in {}", path.display());
            finding.help(format!("{help}; {keeps}: {}", resume_command(args)))
        }
        Err(_) => finding,
    }
}

/// An existing result stays, unless the user says otherwise.
fn refuse_to_replace(target: &Target, formats: &[&str], args: &RunArgs) -> Result<(), Finding> {
    if args.overwrite && args.resume {
        return Err(Finding::error("--overwrite and --resume together")
            .help("--resume goes on from a checkpoint, --overwrite starts anew: give one"));
    }
    if args.overwrite {
        return Ok(());
    }
    if let Some(path) = ensemble::existing(target, formats) {
        let help = "replace it with --overwrite, or choose another place with --output";
        let later = if args.resume { format!("; {LATER}") } else { String::new() };
        return Err(Finding::error("the result exists already")
            .in_file(path.display().to_string())
            .help(format!("{help}{later}")));
    }
    let checkpoint = target.checkpoint();
    if checkpoint.exists() && !args.resume {
        return Err(Finding::error("there is a checkpoint of a run that was stopped")
            .in_file(checkpoint.display().to_string())
            .help("go on from it with --resume, or start anew with --overwrite"));
    }
    Ok(())
}

fn describe_resume(damaged: &[usize], before: usize, all: usize, batch: usize, target: &Target) {
    let style = Style::stderr();
    let path = target.checkpoint();
    for b in damaged {
        let message = format!(
            "batch {b} (systems from {}) of the checkpoint is damaged or cut off",
            b * batch
        );
        let finding = Finding::warning(message).in_file(path.display().to_string());
        show(&[finding.help("nothing to do: it is computed again")], Exit::Broken);
    }
    if path.exists() {
        let left = all - before;
        let head = style.bold("resuming:");
        note(&format!("{head} {before} systems are finished, {left} are left"));
    } else {
        let head = style.bold("note:");
        note(&format!("{head} there is no checkpoint, starting from the beginning"));
    }
}

/// Bytes of the result, about.
fn npz_bytes(plan: &Plan<'_>) -> u128 {
    let starts = plan.case.model.variables.len() * plan.case.run.precision.size() + 32;
    plan.memory + (plan.members.len() * starts) as u128
}

/// Bytes on the disk: result and checkpoint, and what other formats take.
fn disk_space(plan: &Plan<'_>) -> u128 {
    let npz = npz_bytes(plan);
    let writers = ensemble::chosen::<f64>(&plan.case.output.formats);
    let others: u128 = writers.map(|writer| writer.bytes(npz)).sum();
    2 * npz + others + (1 << 16)
}

/// Does the work while another thread shows how far it is.
fn watched<R>(monitor: &Monitor, progress: &mut Progress, work: impl FnOnce() -> R) -> R {
    /// Ends the watching however the work ends, by a panic too.
    struct Ending<'a>(&'a AtomicBool, std::thread::Thread);

    impl Drop for Ending<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
            self.1.unpark();
        }
    }

    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = || {
            while !ended.load(Ordering::Relaxed) {
                progress.update(monitor.finished());
                std::thread::park_timeout(TICK);
            }
        };
        // Without another thread nobody watches.
        let watcher = std::thread::Builder::new().spawn_scoped(scope, watch).ok();
        let _ending = watcher.map(|watcher| Ending(&ended, watcher.thread().clone()));
        work()
    })
}
