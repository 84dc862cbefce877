//! `odeum run`: integrates the ensemble of a case, batch by batch.

mod batches;
mod store;
mod worth;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::job::{
    self, Ground, Job, Stop, note_kept, note_no_checkpoint, note_resumed, note_stopped,
};
use crate::report::{Outcome, Progress, TICK, note, print_summary, show};
use crate::stop::{SINCE_CHECKPOINT, resume_command, stop_on_ctrl_c};
use crate::{fields, gpus};
use batches::Batches;
use odeum_case::results::Results;
use odeum_case::{Described, Overrides, Plan, Precision, device};
use odeum_io::checkpoint::ensemble::{LATER, Loaded};
use odeum_io::{Finding, Findings, Target, ensemble, former, parallel};
use odeum_ode::solution::Summary;
use odeum_ode::{Compiled, Monitor, Status};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::Store;

/// Failed systems named in the summary.
const NAMED: usize = 5;

pub(crate) fn command(args: &RunArgs) -> Exit {
    let findings = Findings::default();
    let (device, threads) = (args.place.device.clone(), args.place.threads);
    let overrides = Overrides { device, threads, has_other_numbers: false };
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
    let first_will_do = match plan.case.run.precision {
        Precision::F64 => worth::first_will_do::<f64>(&plan),
        Precision::F32 => worth::first_will_do::<f32>(&plan),
    };
    gpus::start(&mut plan.device, first_will_do, args.quiet);
    match plan.case.run.precision {
        Precision::F64 => job::run(&EnsembleJob::<f64>::new(&plan), args),
        Precision::F32 => job::run(&EnsembleJob::<f32>::new(&plan), args),
    }
}

/// The ensemble of a case, in a precision.
struct EnsembleJob<'a, T> {
    plan: &'a Plan<'a>,
    precision: PhantomData<T>,
}

impl<'a, T> EnsembleJob<'a, T> {
    fn new(plan: &'a Plan<'a>) -> EnsembleJob<'a, T> {
        EnsembleJob { plan, precision: PhantomData }
    }
}

impl<T: Compiled> Job for EnsembleJob<'_, T> {
    type Ready = (Store, Loaded<T>);

    fn target(&self, output: Option<&Path>) -> Result<Target, Finding> {
        self.plan.case.output.target(output, &self.plan.case.path)
    }

    fn inputs(&self) -> &[PathBuf] {
        &self.plan.case.inputs
    }

    fn others(&self, target: &Target) -> Vec<PathBuf> {
        store::written(self.plan, target)
    }

    fn goes_on(&self, target: &Target) -> bool {
        target.checkpoint().exists()
    }

    fn later(&self) -> Option<&'static str> {
        Some(LATER)
    }

    fn result_bytes(&self) -> u128 {
        npz_bytes(self.plan)
    }

    fn disk_bytes(&self) -> u128 {
        disk_space(self.plan)
    }

    fn prepare(&self, args: &RunArgs, target: &Target) -> Result<Self::Ready, Finding> {
        Store::open(self.plan, target, args.resume, args.checkpoint_every)
    }

    fn take_back(&self, (store, _): &Self::Ready, target: &Target) {
        former::take_back(target, &self.others(target), &store.header().files);
    }

    fn go(&self, ready: Self::Ready, ground: Ground<'_>) -> Result<Exit, Stop> {
        integrate(self.plan, ready, ground)
    }
}

fn integrate<T: Compiled>(
    plan: &Plan<'_>,
    (mut store, loaded): (Store, Loaded<T>),
    ground: Ground<'_>,
) -> Result<Exit, Stop> {
    let Ground { args, target, .. } = ground;
    let mut batches = Batches::new(plan, store.header(), loaded.batches);
    let before = batches.finished();
    if args.resume && !args.quiet {
        describe_resume(&loaded.damaged, before, plan.members.len(), store.header().batch, target);
    }
    let monitor = Arc::new(Monitor::new());
    stop_on_ctrl_c(&monitor, args.quiet, SINCE_CHECKPOINT);
    let mut progress = Progress::new(plan.members.len(), before, args.quiet);
    let start = Instant::now();
    let ran = watched(&monitor, &mut progress, || batches.run(&monitor, &mut store));
    let elapsed = start.elapsed();
    progress.end();
    show(store.warnings(), Exit::Broken);

    if let Err(error) = ran {
        let kept = store.save_all(batches.pieces());
        let finding = plan.case.source_spans.place(error);
        // Nothing computed and nothing kept: what was asked for cannot be had.
        let exit = if batches.computed() == 0 { Exit::of(&finding) } else { Exit::Broken };
        return Err(Stop(with_resume(finding, kept, args), exit));
    }
    if monitor.is_stopped() && batches.finished() < plan.members.len() {
        return Ok(interrupted(plan, target, args, &mut store, &batches));
    }
    finish(plan, ground, &mut store, &batches, elapsed)
}

/// Writes the result and says how the run went.
fn finish<T: Compiled>(
    plan: &Plan<'_>,
    Ground { args, target, room, replace }: Ground<'_>,
    store: &mut Store,
    batches: &Batches<'_, T>,
    elapsed: Duration,
) -> Result<Exit, Stop> {
    let results = Results::new(plan, batches.pieces());
    let (written, formats) = (results.written(), &plan.case.output.formats);
    let earlier = fields::with_former(Vec::new(), &store.header().files, target, &plan.case.inputs);
    // Looking through all systems takes about as long as writing them.
    let (told, files) = parallel::beside(
        || Told::of(&results),
        || ensemble::write(&written, target, formats, (&earlier, replace), room),
    );
    let Told { summary, events, failed } = told;
    let (files, lacks) = files.map_err(|finding| {
        let kept = store.save_all(batches.pieces());
        Stop(with_resume(finding, kept, args), Exit::Broken)
    })?;
    store.remove();
    ensemble::remove_partial(target);
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
            events,
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
    events: Option<[f64; 3]>,
    /// The first systems that failed, and the times they reached.
    failed: Vec<(usize, f64)>,
}

impl Told {
    fn of<T: Compiled>(results: &Results<'_, T>) -> Told {
        let rows = (0..results.len()).map(|r| results.row(r));
        let failed = rows.filter(|row| !row.status().is_success()).take(NAMED);
        Told {
            summary: results.summary(),
            events: events(results),
            failed: failed.map(|row| (row.system, row.t())).collect(),
        }
    }
}

/// Least, median and largest time from the start to the terminal event.
fn events<T: Compiled>(results: &Results<'_, T>) -> Option<[f64; 3]> {
    let mut times: Vec<f64> = (0..results.len())
        .map(|r| results.row(r))
        .filter(|row| row.status() == Status::TerminalEvent)
        .map(|row| (row.t() - results.members().span(row.system).0).abs())
        .collect();
    times.sort_by(f64::total_cmp);
    Some([*times.first()?, median(&times), *times.last()?])
}

/// The median of numbers in order, of which there is one at least.
fn median(sorted: &[f64]) -> f64 {
    let upper = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => f64::midpoint(sorted[upper - 1], sorted[upper]),
        _ => sorted[upper],
    }
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
    let (done, all) = (results.len(), plan.members.len());
    note_stopped(&format!("{done} of {all} systems are finished"));
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
        Ok(path) => path.into_iter().for_each(|path| note_kept(&path, args)),
        Err(finding) => {
            show(&[finding], Exit::Broken);
        }
    }
    Exit::Interrupted
}

fn with_resume(
    finding: Finding,
    kept: Result<Option<PathBuf>, Finding>,
    args: &RunArgs,
) -> Finding {
    let told = match kept {
        Ok(None) => return finding,
        Ok(Some(path)) => {
            format!("what is computed is kept in {}: {}", path.display(), resume_command(args))
        }
        Err(lost) => format!("what is computed could not be kept: {}", lost.message),
    };
    let help = finding.help.clone().unwrap_or_default();
    finding.help(format!("{help}; {told}"))
}

fn describe_resume(damaged: &[usize], before: usize, all: usize, batch: usize, target: &Target) {
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
        note_resumed(&format!("{before} systems are finished, {left} are left"));
    } else {
        note_no_checkpoint();
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
