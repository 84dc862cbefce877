//! Runs one variant on one ensemble and makes a row of it.

use super::document::Row;
use super::limit;
use super::workload::Workload;
use odeum::core::{Graph, Tape};
use odeum::problems::WithSystem;
use odeum::{
    Cpu, Device, Ensemble, Error, FirstStep, Isa, Method, Monitor, Options, Scalar, Solution,
    System, Tolerance,
};
use odeum_compiled::{Compiled, Rhs};
use std::time::Instant;

/// Systems whose error is measured.
const CHECKED: usize = 32;
/// A variant is run at least this often, unless one run takes longer than [`LONG_RUN`].
const RUNS: usize = 5;
const LONG_RUN: f64 = 5.0;

/// How an ensemble is integrated.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) device: Device,
    /// From the tape rather than from compiled code.
    pub(crate) tape: bool,
}

impl Variant {
    /// The variants of the processor: scalar and lanes on one thread, the tape, all threads.
    pub(crate) fn of_cpu(threads: Option<usize>) -> Vec<Variant> {
        let one = |name, isa, tape| Variant {
            name,
            device: Device::Cpu(Cpu { threads: Some(1), isa }),
            tape,
        };
        let all = Cpu { threads, isa: Isa::best() };
        let mut variants = vec![
            one("scalar", Isa::Scalar, false),
            one("lanes", Isa::best(), false),
            one("tape", Isa::best(), true),
        ];
        if all.thread_count() > 1 {
            let device = Device::Cpu(Cpu { threads: Some(all.thread_count()), ..all });
            variants.push(Variant { name: "lanes", device, tape: false });
        }
        variants
    }

    fn threads(&self) -> usize {
        match &self.device {
            Device::Cpu(cpu) => cpu.thread_count(),
            Device::Cuda(_) => 1,
        }
    }
}

/// Measures every variant on an ensemble of this many systems.
pub(crate) fn measure<T: Compiled>(
    workload: &Workload,
    variants: &[Variant],
    systems: usize,
    rows: &mut Vec<Row>,
) -> Result<(), Error> {
    let ensemble: Ensemble<T> = workload.ensemble(systems)?;
    let graph = workload.problem.with_system(Trace);
    let tape = Tape::new(graph.clone())
        .map_err(|e| Error::input("problem", workload.problem.name, e.to_string()))?;
    let compiled = Rhs::of_problem(&workload.problem);
    let interpreted = Rhs::of_tape(tape);
    let reference = reference(&interpreted, workload, &ensemble)?;
    for variant in variants {
        let rhs = if variant.tape { &interpreted } else { &compiled };
        let timed = time(rhs, workload, &ensemble, &variant.device)?;
        rows.push(timed.row(workload, variant, &graph, &reference));
    }
    Ok(())
}

struct Trace;

impl WithSystem for Trace {
    type Output = Graph;
    fn run<S: System>(self, system: &S) -> Graph {
        Graph::trace(system)
    }
}

struct Timed<T> {
    seconds: f64,
    runs: usize,
    solution: Solution<T>,
}

fn time<T: Compiled>(
    rhs: &Rhs,
    workload: &Workload,
    ensemble: &Ensemble<T>,
    device: &Device,
) -> Result<Timed<T>, Error> {
    let (method, options) = (&workload.method, &workload.options);
    let mut times = Vec::new();
    loop {
        let start = Instant::now();
        let solution = rhs.integrate(ensemble, method, device, options, &Monitor::new())?;
        let seconds = start.elapsed().as_secs_f64();
        times.push(seconds);
        if times.len() >= RUNS || seconds > LONG_RUN {
            times.sort_by(f64::total_cmp);
            let seconds = times[times.len() / 2];
            return Ok(Timed { seconds, runs: times.len(), solution });
        }
    }
}

impl<T: Scalar> Timed<T> {
    fn row(
        &self,
        workload: &Workload,
        variant: &Variant,
        graph: &Graph,
        reference: &Solution<f64>,
    ) -> Row {
        let summary = self.solution.summary();
        let limit = match &variant.device {
            Device::Cpu(cpu) => Some(limit::measured::<T>(cpu.isa, cpu.thread_count())),
            Device::Cuda(_) => None,
        };
        let operations = limit::operations(graph, &workload.method, &self.solution);
        Row {
            workload: workload.name,
            variant: variant.name.to_owned(),
            device: variant.device.to_string(),
            precision: workload.precision.name(),
            threads: variant.threads(),
            systems: summary.systems,
            seconds: self.seconds,
            runs: self.runs,
            systems_per_second: summary.systems as f64 / self.seconds,
            rhs_per_second: summary.nfev as f64 / self.seconds,
            max_error: max_error(&self.solution, reference),
            divergence: summary.divergence,
            busy_lanes: self.solution.busy_lanes,
            share_of_limit: limit.map(|limit| operations / self.seconds / limit),
            failed: self.solution.failed().len(),
        }
    }
}

/// The first systems, solved as tightly as double precision allows from the same numbers.
fn reference<T: Scalar>(
    rhs: &Rhs,
    workload: &Workload,
    ensemble: &Ensemble<T>,
) -> Result<Solution<f64>, Error> {
    let few = ensemble.slice(0..CHECKED.min(ensemble.len()));
    let widen = |values: &[T]| values.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
    let wide = Ensemble::new(few.dim(), widen(few.states()), few.span(0))?;
    let wide = if few.n_params() == 0 { wide } else { wide.with_params(widen(few.params()))? };
    let options = Options {
        tolerance: Tolerance::new(1e-13, 1e-15),
        first_step: FirstStep::Automatic,
        max_steps: 10_000_000,
        restarts: 1,
        ..workload.options.clone()
    };
    rhs.integrate(&wide, &Method::vern7(), &Device::cpu(), &options, &Monitor::new())
}

fn max_error<T: Scalar>(found: &Solution<T>, reference: &Solution<f64>) -> f64 {
    let mut worst = 0.0_f64;
    for s in (0..reference.len()).filter(|&s| found.status[s].is_success()) {
        for (y, exact) in found.y(s).iter().zip(reference.y(s)) {
            worst = worst.max((y.to_f64() - exact).abs() / exact.abs().max(1.0));
        }
    }
    worst
}
