//! A field from start to end.

use super::beginning::{self, Beginning};
use super::ending::{Ended, interrupted, print_summary};
use super::movie::Movie;
use super::observer::{Observer, time_told};
use super::plan::describe;
use super::progress::Progress;
use super::queue::queue;
use super::writer::{Signals, Writer, Written};
use super::{finished, target, worth};
use crate::args::RunArgs;
use crate::exit::Exit;
use crate::gpus;
use crate::job::{self, Ground, Job, Stop};
use crate::report::{Style, say, show};
use crate::stop::{SINCE_CHECKPOINT, stop_on_ctrl_c};
use odeum_case::field_ending::{failed, not_stable};
use odeum_case::field_npz as npz;
use odeum_case::{Every, FieldCase, FieldPlan, Overrides, Precision, Prepared};
use odeum_fields::{Options, Outcome, Simulation, Steps, Summary};
use odeum_io::checkpoint::field::Header;
use odeum_io::file::{Staged, is_there, reason};
use odeum_io::{Finding, Findings, Target, number};
use odeum_ode::{Monitor, Status};
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// `odeum run` of a field.
pub(crate) fn run(
    case: &FieldCase,
    overrides: &Overrides,
    args: &RunArgs,
    findings: &Findings,
) -> Exit {
    let plan = FieldPlan::new(case, overrides, findings);
    if let Some(exit) = show(&findings.take(), Exit::BadInput) {
        return exit;
    }
    let Some(mut plan) = plan else { return Exit::BadInput };
    let first_will_do = worth::first_will_do(&plan);
    gpus::start(&mut plan.device, first_will_do, args.quiet);
    match case.precision {
        Precision::F64 => job::run(&FieldJob::<f64>::new(&plan), args),
        Precision::F32 => job::run(&FieldJob::<f32>::new(&plan), args),
    }
}

/// `odeum check` of a field.
pub(crate) fn check(case: &FieldCase, overrides: &Overrides, findings: &Findings) -> Exit {
    let plan = FieldPlan::new(case, overrides, findings);
    if let Some(exit) = show(&findings.take(), Exit::BadInput) {
        return exit;
    }
    let Some(plan) = plan else { return Exit::BadInput };
    let style = Style::stdout();
    let on_gpu = match plan.check_gpu() {
        Err(finding) => return Stop::bad(finding).show(),
        Ok(memory) => memory,
    };
    let text = match case.precision {
        Precision::F64 => {
            plan.prepare::<f64>().map(|p| (describe(&plan, &p, on_gpu, style), p.warnings))
        }
        Precision::F32 => {
            plan.prepare::<f32>().map(|p| (describe(&plan, &p, on_gpu, style), p.warnings))
        }
    };
    match text {
        Ok((text, warnings)) => {
            show(&warnings, Exit::BadInput);
            say(&text);
            Exit::Success
        }
        Err(finding) => Stop::bad(finding).show(),
    }
}

/// The field of a case, in a precision.
struct FieldJob<'a, T> {
    plan: &'a FieldPlan<'a>,
    movie: Movie,
    precision: PhantomData<T>,
}

impl<'a, T> FieldJob<'a, T> {
    fn new(plan: &'a FieldPlan<'a>) -> FieldJob<'a, T> {
        FieldJob { plan, movie: Movie::find(plan.case), precision: PhantomData }
    }
}

impl<T: odeum_fields::Precision> Job for FieldJob<'_, T> {
    type Ready = Prepared<T>;

    fn target(&self, output: Option<&Path>) -> Result<Target, Finding> {
        target::of(self.plan.case, output)
    }

    fn inputs(&self) -> &[PathBuf] {
        &self.plan.case.inputs
    }

    fn others(&self, target: &Target) -> Vec<PathBuf> {
        target::others(self.plan.case, target, &self.movie)
    }

    fn folders(&self, target: &Target) -> Vec<PathBuf> {
        target::folders(self.plan.case, target)
    }

    fn goes_on(&self, target: &Target) -> bool {
        target.checkpoint().exists() || target.npz().exists()
    }

    fn later(&self) -> Option<&'static str> {
        None
    }

    fn result_bytes(&self) -> u128 {
        target::state(self.plan)
    }

    fn disk_bytes(&self) -> u128 {
        target::space(self.plan)
    }

    fn prepare(&self, _args: &RunArgs, _target: &Target) -> Result<Prepared<T>, Finding> {
        let prepared = self.plan.prepare::<T>()?;
        self.plan.check_gpu()?;
        show(&prepared.warnings, Exit::BadInput);
        Ok(prepared)
    }

    fn go(&self, ready: Prepared<T>, ground: Ground<'_>) -> Result<Exit, Stop> {
        simulation_and_write(self.plan, &self.movie, ready, ground)
    }
}

fn simulation_and_write<T: odeum_fields::Precision>(
    plan: &FieldPlan<'_>,
    movie: &Movie,
    Prepared { field, options, limits, .. }: Prepared<T>,
    Ground { args, target, room, replace }: Ground<'_>,
) -> Result<Exit, Stop> {
    let case = plan.case;
    let misplaced = |error| Stop::bad(case.source_spans.place(error));
    movie.tell_lack(case);
    let others = target::others(case, target, movie);
    let path = target.checkpoint();
    let mut later = target::at_the_end(case, target, movie);
    later.push(target.npz());
    later.retain(|path| !replace && !is_there(path));
    let Beginning { header, mut start } =
        beginning::find(plan, field, args, target, movie).map_err(Stop::bad)?;
    let resumed = header.is_some();
    let options = Options { steps: steps(&options, header.as_ref()), ..options };
    if header.as_ref().is_some_and(|header| header.until != case.time.until.to_bits()) {
        start.clock = options.to_another_end(start.clock);
    }
    let mut simulation =
        Simulation::resume(&case.problem, start, &options, &plan.device).map_err(misplaced)?;
    let stable = super::plan::stable_up_to(&limits, case.time.method);
    simulation.set_stability(limits, case.time.until);
    let header = match header {
        Some(header) => header,
        None => first_header(plan, &options, &simulation.summaries().map_err(misplaced)?),
    };
    let mut header =
        Header { device: plan.kind_of_device(), until: case.time.until.to_bits(), ..header };
    list(&mut header, &target::on_the_way(case, target), target);

    let (outcome, ended, written) =
        run_beside_writer(plan, &mut simulation, header, args, target, (resumed, later))?;
    let warnings: Vec<Finding> = written
        .warnings
        .iter()
        .map(|trouble| {
            let finding = trouble.clone().into_warning();
            finding.help("the run went on without a checkpoint")
        })
        .collect();
    show(&warnings, Exit::Broken);

    let is_kept = written.kept && path.exists();
    let kept = if is_kept { format!("; {} is kept", path.display()) } else { String::new() };
    let broken = |trouble: Finding| {
        let help = trouble.help.clone().unwrap_or_default();
        Stop(trouble.help(format!("{help}{kept}")), Exit::Broken)
    };
    if let Some(trouble) = written.trouble {
        return Err(broken(trouble));
    }
    match outcome {
        Err(error) => return Err(Stop(case.source_spans.place(error), Exit::Broken)),
        Ok(Outcome::Failed(failure)) => {
            return Err(Stop(failed(case, &failure, &kept), Exit::Broken));
        }
        Ok(Outcome::Unstable(unstable)) => {
            return Err(Stop(not_stable(case, &unstable, &kept), Exit::Broken));
        }
        Ok(Outcome::Stopped) => return Ok(interrupted(&ended, &path, args, is_kept)),
        Ok(Outcome::Reached) => {}
    }
    // What unstable steps have made of values is held against the run that goes on from here.
    let clock = simulation.clock_to_keep().map_err(misplaced)?;
    let clock = clock.unwrap_or_else(|| simulation.clock());
    let mut header = Header { tables: written.marked, ..ended.header.clone() };
    list(&mut header, &others, target);
    let files = header.files.clone();
    let end = npz::End {
        t: ended.t,
        steps: ended.counts.steps,
        start: &ended.masses,
        end: &ended.summaries,
        files: &files,
        last: Some(finished::bytes(header, clock, &options)),
    };
    let put = if replace { Staged::put } else { Staged::put_new };
    npz::stage(&target.npz(), room, plan.threads(), case, &simulation, end)
        .and_then(put)
        .map_err(broken)?;
    if let Some(lost) = written.lost {
        let _ = std::fs::remove_file(&path);
        let help = lost.help.clone().unwrap_or_default();
        return Err(Stop(
            lost.help(format!("{help}; {} is written", target.npz().display())),
            Exit::Broken,
        ));
    }
    let mut files = vec![target.npz()];
    files.extend(written.files);
    files.extend(movie.make(case, target));
    let _ = std::fs::remove_file(&path);
    if !args.quiet {
        print_summary(plan, &ended, stable, &files);
    }
    Ok(Exit::Success)
}

/// Adds files to those that the run has written. Equal results are equal files, however the run came to its end.
fn list(header: &mut Header, files: &[PathBuf], target: &Target) {
    header.files.extend(files.iter().filter_map(|path| target.extension(path)));
    header.files.sort();
    header.files.dedup();
}

/// What a run says of itself that begins at the start of the case.
fn first_header(plan: &FieldPlan<'_>, options: &Options, start: &[Summary]) -> Header {
    Header {
        identity: plan.identity(),
        device: String::new(),
        until: 0,
        step: match options.steps {
            Steps::Fixed(step) => step.to_bits(),
            Steps::Fraction(_) | Steps::Adaptive(_) => 0,
        },
        masses: start.iter().map(|species| species.mass.to_bits()).collect(),
        frames: Vec::new(),
        tables: [0; 3],
        files: Vec::new(),
    }
}

/// Advances to the end, and writes on the way by a thread of its own.
fn run_beside_writer<T: odeum_fields::Precision>(
    plan: &FieldPlan<'_>,
    simulation: &mut Simulation<T>,
    header: Header,
    args: &RunArgs,
    target: &Target,
    (resumed, later): (bool, Vec<PathBuf>),
) -> Result<(Result<Outcome, odeum_ode::Error>, Ended, Written), Stop> {
    let case = plan.case;
    let writer = Writer::<T>::open(case, target, &header, (resumed, later), plan.threads())
        .map_err(Stop::bad)?;
    let monitor = Arc::new(Monitor::new());
    stop_on_ctrl_c(&monitor, args.quiet, SINCE_CHECKPOINT);
    let asked = Arc::clone(&monitor);
    simulation.stop_when(move || asked.is_stopped());
    let signals = Signals::default();
    let ran = std::thread::scope(|scope| {
        let (outbox, inbox) = queue();
        let signals = &signals;
        let write = move || writer.run(&inbox, signals, resumed);
        let thread = Builder::new().spawn_scoped(scope, write)?;
        let span = (case.time.start, case.time.until);
        let observer = Observer {
            case,
            monitor: &monitor,
            signals,
            progress: Progress::new(span, simulation.t(), args.quiet),
            outbox,
            header,
            every: Duration::from_secs_f64(args.checkpoint_every),
            last_checkpoint: Instant::now(),
            last: simulation.counts().steps,
            looked: Instant::now(),
            pace: 1,
            broken: None,
            first: simulation.counts(),
            last_header: None,
        };
        let (outcome, ended) = simulation_on(simulation, observer, resumed);
        let written = thread.join().unwrap_or_else(|_| Written {
            files: Vec::new(),
            kept: false,
            marked: [0; 3],
            warnings: Vec::new(),
            lost: None,
            trouble: Some(Finding::error("the writing thread broke")),
        });
        Ok((outcome, ended, written))
    });
    ran.map_err(|error: io::Error| {
        let message = format!("the system gives no thread to write with: {}", reason(&error));
        let help = "raise its limits on threads and memory (ulimit -u, ulimit -v)";
        Stop(Finding::error(message).help(help), Exit::Broken)
    })
}

/// The steps of the options, or those a checkpoint goes on with.
fn steps(options: &Options, header: Option<&Header>) -> Steps {
    match (&options.steps, header) {
        (Steps::Fixed(_), Some(header)) => Steps::Fixed(f64::from_bits(header.step)),
        (steps, _) => steps.clone(),
    }
}

/// Advances to the end, from one state to be written to the next. What the observer holds goes
/// with it, so that the writer comes to its end.
fn simulation_on<T: odeum_fields::Precision>(
    simulation: &mut Simulation<T>,
    mut observer: Observer<'_, T>,
    resumed: bool,
) -> (Result<Outcome, odeum_ode::Error>, Ended) {
    let begun = Instant::now();
    let outcome = through(simulation, &mut observer, resumed);
    observer.progress.end();
    let masses = observer.header.masses.iter().map(|bits| f64::from_bits(*bits)).collect();
    let summaries = simulation.summaries();
    let ended = Ended {
        counts: simulation.counts(),
        of_this_run: observer.counts(simulation),
        t: time_told(simulation),
        updates: observer.updates(simulation),
        elapsed: begun.elapsed(),
        masses,
        summaries: summaries.as_ref().map_or_else(|_| Vec::new(), Clone::clone),
        header: observer.last_header.take().unwrap_or_else(|| observer.header.clone()),
    };
    (summaries.and(outcome), ended)
}

/// From the start, or where it was left, to the end or as far as it goes.
fn through<T: odeum_fields::Precision>(
    simulation: &mut Simulation<T>,
    observer: &mut Observer<'_, T>,
    resumed: bool,
) -> Result<Outcome, odeum_ode::Error> {
    let case = observer.case;
    let time = &case.time;
    // The first state is that of the start.
    let next_state = |observer: &Observer<'_, T>, every: f64| {
        number::time_after(time.start, observer.header.frames.len() as u64, every)
    };
    if !resumed {
        observer.rows(simulation)?;
        observer.structure(simulation)?;
        if case.output.every.is_some() {
            observer.state(simulation)?;
        }
    }
    loop {
        let next = match case.output.every {
            Some(Every::Time(every)) => {
                let next = next_state(observer, every);
                // A state just before the end is that of the end.
                if next < time.until - 1e-9 * every { next } else { time.until }
            }
            _ => time.until,
        };
        let outcome = simulation.run(next, &mut |simulation| observer.look(simulation))?;
        if let Some(error) = observer.broken.take() {
            return Err(error);
        }
        if outcome != Outcome::Reached {
            // With more steps allowed a run goes on from where it stands, as one that was stopped does.
            let goes_on = match &outcome {
                Outcome::Stopped => !observer.signals.failed.load(Ordering::Relaxed),
                Outcome::Failed(failure) => failure.status == Status::MaxSteps,
                Outcome::Reached | Outcome::Unstable(_) => false,
            };
            if goes_on {
                observer.checkpoint(simulation)?;
            }
            return Ok(outcome);
        }
        if next >= time.until {
            break;
        }
        observer.state(simulation)?;
    }
    let written = |observer: &Observer<'_, T>| {
        observer.header.frames.last() == Some(&time_told(simulation).to_bits())
    };
    let due = match case.output.every {
        Some(Every::Time(every)) => {
            (next_state(observer, every) - time.until).abs() <= 1e-9 * every
        }
        _ => false,
    };
    if due && !written(observer) {
        observer.state(simulation)?;
    }
    observer.mark();
    if !written(observer) {
        observer.state(simulation)?;
    }
    let steps = simulation.counts().steps;
    let last = |every: Option<u64>| every.is_some_and(|every| !steps.is_multiple_of(every));
    if last(case.output.series.as_ref().map(|series| series.every)) {
        observer.rows(simulation)?;
    }
    if last(case.output.structure.as_ref().map(|structure| structure.every)) {
        observer.structure(simulation)?;
    }
    Ok(Outcome::Reached)
}
