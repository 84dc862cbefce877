//! From a case file to a run: what the library and this machine say to it.

use crate::available::{Free, Working, available_memory};
use crate::case::{Case, EnsembleSpec, Precision, SourceSpan, SourceSpans, TableData};
use crate::device::threads_of;
use crate::members::Members;
use crate::{starts, steps, switches};
use odeum_io::checkpoint::ensemble::SPANS;
use odeum_io::ensemble::{self, Extras};
use odeum_io::number::bytes;
use odeum_io::parallel;
use odeum_io::{Finding, Findings};
use odeum_ode::{Device, Ensemble, Error, Options, SaveAt, Scalar, Stats, TerminalEvent};

/// What the systems of a part of a run start from, at most, but for a single batch \[bytes\].
pub const STARTS: usize = 128 << 20;
/// Parts in memory at once: that in which the last systems end, the one that is drawn from, and the next.
const PARTS: u128 = 3;

/// What a thread holds for each equation, about: vectors of a method in lanes, and rows of its matrix
/// \[bytes\].
const STAGES: usize = 16 << 10;

/// What the command line says over the case file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Another device.
    pub device: Option<Device>,
    /// Threads of the CPU.
    pub threads: Option<usize>,
    /// Numbers of systems come with each call: the case has those of one.
    pub has_other_numbers: bool,
}

impl Overrides {
    /// The device of a run with its threads: each as it is said over the case, else as the case has it.
    pub(crate) fn device(
        &self,
        (own, threads): (&Device, Option<usize>),
        source_spans: &SourceSpans,
        findings: &Findings,
    ) -> Device {
        let mut device = self.device.as_ref().unwrap_or(own).clone();
        match &mut device {
            Device::Cpu(cpu) => cpu.threads = self.threads.or(threads),
            other if self.threads.is_some() => findings.push(
                Finding::warning(format!("--threads means nothing to {other}"))
                    .help("leave it out, or use --device cpu"),
            ),
            // Those of a case whose device is another for once are not meant for it.
            other if self.device.is_none() => {
                if let (Some(_), Some(source_span)) = (threads, source_spans.find("threads")) {
                    let finding = source_span.error(format!("threads mean nothing to {other}"));
                    let help = "leave them out: they are those of device = \"cpu\"";
                    findings.push(finding.into_warning().help(help));
                }
            }
            Device::Cuda(_) => {}
        }
        device
    }
}

/// A run that is ready to start.
pub struct Plan<'a> {
    /// What is to be run.
    pub case: &'a Case,
    /// The systems.
    pub members: Members<'a>,
    /// How they are integrated.
    pub options: Options,
    /// Where.
    pub device: Device,
    /// Memory the results need [bytes].
    pub memory: u128,
}

impl<'a> Plan<'a> {
    /// What the result has beside one row for each system.
    pub fn extras(&self) -> Extras {
        let saved = !self.options.save_times().is_empty();
        Extras { saved, picture: self.case.undrawn().is_none() }
    }

    /// Checks everything that can be checked without computing; `None` after reporting.
    pub fn new(case: &'a Case, overrides: &Overrides, findings: &Findings) -> Option<Plan<'a>> {
        let own = (&case.run.device, case.run.threads);
        let device = overrides.device(own, &case.source_spans, findings);
        if !case.model.is_direct() {
            check_precision(case, findings);
        }
        let mut options = options(case);
        check_span(case, findings)?;
        steps::check_stops(case, &options, findings);
        let memory = memory(case);
        let threads = threads_of(&device);
        check_memory(case, memory, threads, findings)?;
        // What a range stands for is made only now that it fits.
        if let Some(times) = &case.time.save {
            options.save_at = SaveAt::Times(times.all().into_owned());
        }
        steps::check_sizes(case, &options, findings);
        let members = Members::new(case)?;
        if let Some(warning) =
            switches::check(case, &members, &options, overrides.has_other_numbers)
        {
            findings.push(warning);
        }
        match case.run.precision {
            Precision::F64 => check::<f64>(case, &members, (&options, threads), findings),
            Precision::F32 => check::<f32>(case, &members, (&options, threads), findings),
        }
        if findings.has_errors() {
            return None;
        }
        Some(Plan { case, members, options, device, memory })
    }

    /// Bytes of what a system starts from, its state and parameters.
    pub fn start_bytes(&self) -> usize {
        let model = &self.case.model;
        (model.dim() + model.param_names.len()) * self.case.run.precision.size()
    }

    /// Threads for what is done beside integrating.
    pub fn threads(&self) -> usize {
        threads_of(&self.device)
    }

    /// The options for these systems: levels that end a system are its own.
    pub fn options_of(&self, systems: &[usize]) -> Options {
        let event = self.case.time.until.as_ref().zip(self.levels_of(systems));
        let terminal_event = event.map(|(until, levels)| TerminalEvent {
            component: until.component,
            rises: until.rises,
            levels,
        });
        Options { terminal_event, ..self.options.clone() }
    }

    /// The levels that end these systems, where the case has any.
    pub fn levels_of(&self, systems: &[usize]) -> Option<Vec<f64>> {
        let until = self.case.time.until.as_ref()?;
        let level = |&system: &usize| match self.members.start(system) {
            Ok(start) if start.iter().all(|x| x.is_finite()) => until.level(&start),
            // A system without a start is refused, or not integrated: any level will do.
            _ => 0.0,
        };
        Some(parallel::map(self.threads(), parallel::PIECE, systems, level))
    }

    /// What a result depends on, as (name, value) pairs; equal pairs mean equal bits.
    pub fn identity(&self) -> Vec<(&'static str, String)> {
        let Case { model, method, run, .. } = self.case;
        let device = match &self.device {
            Device::Cpu(cpu) => format!("cpu, {} lanes", cpu.isa),
            Device::Cuda(_) => "cuda".to_owned(),
        };
        vec![
            ("version of odeum", env!("CARGO_PKG_VERSION").to_owned()),
            ("system", model.identity.clone()),
            ("ensemble", self.members.fingerprint()),
            (SPANS, self.members.spans()),
            ("method", format!("{:?}", method.method)),
            ("options", format!("{:?}", self.options)),
            ("until", format!("{:?}", self.case.time.until)),
            ("precision", run.precision.name().to_owned()),
            ("kind of device", device),
        ]
    }
}

fn options(case: &Case) -> Options {
    let mut options = Options::new(case.tolerance.clone());
    if let Some(max_steps) = case.method.max_steps {
        options.max_steps = max_steps;
    }
    if let Some(max_evaluations) = case.method.max_evaluations {
        options.max_evaluations = max_evaluations;
    }
    if let Some(growth_limit) = case.method.growth_limit {
        options.growth_limit = growth_limit;
    }
    options.first_step = case.method.first_step;
    options.largest_step = case.method.largest_step;
    options.segments = case.time.segments;
    options.warm_start = case.time.warm_start;
    options
}

/// Every system must have a span, from the case file, the table or the problem.
fn check_span(case: &Case, findings: &Findings) -> Option<()> {
    let table = case.ensemble.table.as_ref();
    if case.time.span.is_some() || table.is_some_and(TableData::has_spans) {
        return Some(());
    }
    let finding = Finding::error("over what time span?").field("time.span");
    let finding = match case.source_spans.find("span") {
        Some(source_span) => finding.at(&source_span.source, source_span.span.clone()),
        None => finding.in_file(case.source.name()),
    };
    let help = "add [time] with span = [0.0, 10.0], or columns `t_start` and `t_end` to the table";
    findings.push(finding.help(help));
    None
}

/// What the library refuses, at the place in the case file it is about.
fn check<T: Scalar>(
    case: &Case,
    members: &Members<'_>,
    (options, threads): (&Options, usize),
    findings: &Findings,
) {
    let precision = case.run.precision;
    let too_large = members.overflow(precision).map(|found| {
        let help = "scale it, perturb it less, or use precision = \"f64\"";
        (found, "may be too large for", help)
    });
    let vanishing = || {
        let found = members.vanishing(precision)?;
        Some((found, "is zero in", "scale it, or use precision = \"f64\""))
    };
    if let Some(((variable, value), what, help)) = too_large.or_else(vanishing) {
        let name = case.model.names().nth(variable).unwrap_or_default();
        findings.push(
            Finding::error(format!("`{name}` {what} {}", T::NAME))
                .in_file(case.source.name())
                .field(name)
                .found(value)
                .help(help),
        );
        return;
    }
    if let Some((variable, value)) = members.vanishing_start(precision) {
        let name = case.model.names().nth(variable).unwrap_or_default();
        findings.push(
            Finding::warning(format!("a start of `{name}` is zero in {}", T::NAME))
                .in_file(case.source.name())
                .field(name)
                .found(value)
                .help("what grows from it stays zero: scale it, or use precision = \"f64\""),
        );
    }
    if let (Precision::F32, Some(value)) = (precision, case.model.outside_single) {
        let what = if precision.vanishes(value) { "zero" } else { "infinite" };
        findings.push(
            Finding::warning(format!("a number of the equations is {what} in {}", T::NAME))
                .in_file(case.source.name())
                .field("system.equations")
                .found(value)
                .help("scale the equations, or use precision = \"f64\""),
        );
    }
    starts::check(case, members, threads, findings);
    // Spans differ between rows of the table at most: one system of each row stands for all.
    let rows = case.ensemble.table.as_ref().map_or(1, |table| table.rows);
    let stride = members.len() / rows;
    let spans: Vec<(f64, f64)> = (0..rows).map(|row| members.span(row * stride)).collect();
    let state = vec![T::default(); case.model.dim()];
    let own = members.has_own_spans();
    // Spans of rows are judged as such, that of the first row too.
    let shared = if own { (0.0, 1.0) } else { spans[0] };
    let checked = Ensemble::repeated(&state, rows, shared).and_then(|ensemble| {
        let ensemble = if own { ensemble.with_spans(spans)? } else { ensemble };
        options.check(case.method.method.controller().fixed_step(), &ensemble)
    });
    if let Err(mut error) = checked {
        // The library counts the systems that stand for rows.
        let outside = |time: f64| {
            let mut spans = (0..rows).map(|row| (row, members.span(row * stride)));
            spans.find(|(_, (t0, t1))| time < t0.min(*t1) || time > t0.max(*t1))
        };
        if let Error::Input { field, remedy, .. } = &mut error
            && own
            && field.is_within(&"save_at".into())
            && let Some(time) = field.index().and_then(|i| options.save_times().get(i))
            && let Some((row, (t0, t1))) = outside(*time)
        {
            let (first, last) = (row * stride, (row + 1) * stride - 1);
            let systems = match stride {
                1 => format!("system {first}"),
                _ => format!("systems {first} to {last}"),
            };
            *remedy = format!(
                "must lie inside every span; that of table row {row} ({systems}) goes from {t0} to {t1}"
            );
        }
        let row = match &error {
            Error::Input { field, .. } if field.is_within(&"spans".into()) => field.index(),
            _ => None,
        };
        findings.push(match (&case.ensemble.table, row, &error) {
            (Some(table), Some(row), Error::Input { found, remedy, .. }) => {
                let error = format!("span of table row {row}: found {found}; {remedy}");
                let (start, end) = members.span(row * stride);
                // As of a result some of whose systems ended at a level, the others at the end.
                let done = "a system that has come to the end has nothing left to do: leave such rows \
                            out, or raise the end; ";
                let done = if start == end { done } else { "" };
                table.source_span.error(error).help(format!(
                    "{done}look at the columns t_start and t_end of {} (rows from 0)",
                    table.name
                ))
            }
            _ => case.source_spans.place(error),
        });
    }
}

/// Mechanisms have one precision.
fn check_precision(case: &Case, findings: &Findings) {
    if case.run.precision == Precision::F32 {
        let message = "mechanisms are integrated in double precision";
        let finding = match case.source_spans.find("precision") {
            Some(source_span) => source_span.error(message),
            None => Finding::error(message).in_file(case.source.name()).field("precision"),
        };
        findings.push(finding.found("f32").help("give precision = \"f64\", or leave it out"));
    }
}

/// Memory for the results of all systems [bytes].
fn memory(case: &Case) -> u128 {
    let state = (case.model.dim() * case.run.precision.size()) as u128;
    // Time, status, statistics and number of saved states.
    let fixed = (8 + 1 + size_of::<Stats>() + 4) as u128;
    let each = state * (1 + save_times(case)) + fixed;
    case.ensemble.systems().saturating_mul(each)
}

fn save_times(case: &Case) -> u128 {
    case.time.save.as_ref().map_or(0, |times| times.len() as u128)
}

/// Refuses systems, and values that they are made of, that do not fit into memory. Nothing of their
/// number has been made before.
fn check_memory(case: &Case, results: u128, threads: usize, findings: &Findings) -> Option<()> {
    let swept = case.ensemble.sweep.iter().map(|axis| axis.values.len() as u128);
    let need = results.saturating_add(8 * swept.chain([save_times(case)]).sum::<u128>());
    // What the system does not say is bounded by what can be addressed.
    let working = working(case, results, threads);
    let free = available_memory(working).unwrap_or(Free::bytes(isize::MAX as u128));
    if need <= free.bytes {
        return Some(());
    }
    let systems = case.ensemble.systems();
    let systems = match systems {
        u128::MAX => "more systems than can be counted".to_owned(),
        systems => format!("{systems} systems"),
    };
    let message = format!("the results of {systems} need {}, and {free}", bytes(need));
    let finding = match largest(case) {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message).in_file(case.source.name()).field("ensemble"),
    };
    findings.push(finding.help("take fewer systems or save times, or split the case"));
    None
}

/// What a run takes beside its results: starts of the systems of some parts, a batch on its
/// way to the checkpoint, columns on their way to Parquet, and what threads integrate with.
fn working(case: &Case, results: u128, threads: usize) -> Working {
    let systems = case.ensemble.systems().max(1);
    let batch = systems.min(case.run.batch as u128);
    let width = (case.model.dim() + case.model.param_names.len()) as u128;
    let start = width * case.run.precision.size() as u128;
    let starts = systems.saturating_mul(start).min((STARTS as u128).max(batch * start));
    let writers = ensemble::chosen::<f64>(&case.output.formats);
    let columns: u128 = writers.map(|writer| writer.memory(results)).sum();
    let stages = (STAGES * case.model.dim() * threads) as u128;
    let bytes = (PARTS * starts + stages).saturating_add(results / systems * batch);
    Working { threads, bytes: bytes.saturating_add(columns) }
}

/// Where the largest number is that results are multiplied by: systems along an axis, or save times.
fn largest(case: &Case) -> Option<&SourceSpan> {
    let EnsembleSpec { count, sweep, .. } = &case.ensemble;
    let axes = sweep.iter().map(|axis| (axis.values.len() as u128, Some(&axis.source_span)));
    let copies = (*count as u128, case.source_spans.find("ensemble.count"));
    let times = (save_times(case), case.source_spans.find("save_at"));
    let all = axes.chain([copies, times]).filter(|(len, _)| *len > 1);
    all.max_by_key(|(len, _)| *len)?.1
}
