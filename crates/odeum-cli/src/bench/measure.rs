//! Runs one variant on one ensemble and makes a row of it.

use super::document::Row;
use super::limit;
use super::workload::Workload;
use odeum_core::{Graph, Tape};
use odeum_ode::gpu::{self, Session};
use odeum_ode::problems::WithSystem;
use odeum_ode::{
    Compiled, Cpu, Cuda, Device, DynSystem, Ensemble, Error, FirstStep, Isa, Method, Options,
    Scalar, Solution, Solver, System, Tolerance,
};
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
    /// The variants of the CPU: scalar and lanes on one thread, the tape, all threads.
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

    /// The variant of a GPU; each run of it gives several rows.
    pub(crate) fn of_cuda(cuda: &Cuda) -> Vec<Variant> {
        vec![Variant { name: "cuda", device: Device::Cuda(cuda.clone()), tape: false }]
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
    let compiled = DynSystem::from(&workload.problem);
    let interpreted = DynSystem::from(tape);
    let reference = reference(&interpreted, workload, &ensemble)?;
    for variant in variants {
        let rhs = if variant.tape { &interpreted } else { &compiled };
        let mut timed = time(rhs, workload, &ensemble, &variant.device)?;
        if let Device::Cuda(cuda) = &variant.device
            && cuda.ordinals.len() == 1
        {
            let (ordinal, ensemble) = (cuda.ordinals[0], &ensemble);
            timed.kernels =
                workload.problem.with_system(Kernels { workload, ensemble, ordinal })?;
        }
        timed.add_rows(workload, variant, &graph, &reference, rows);
        if let (Device::Cuda(cuda), "pleiades") = (&variant.device, workload.problem.name) {
            rows.extend(published(workload, &ensemble, cuda.ordinals[0], &timed, &reference)?);
        }
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

/// The runs of one variant on one ensemble.
struct Timed<T> {
    /// From the caller's arrays to the solution's \[s\], sorted.
    seconds: Vec<f64>,
    /// Of the kernel alone, over states that lie on the GPU \[s\], sorted; of one GPU only.
    kernels: Vec<f64>,
    solution: Solution<T>,
}

fn time<T: Compiled>(
    rhs: &DynSystem,
    workload: &Workload,
    ensemble: &Ensemble<T>,
    device: &Device,
) -> Result<Timed<T>, Error> {
    let (method, options) = (&workload.method, &workload.options);
    let solver = Solver::new(rhs, method, device, options)?;
    let run = || solver.solve(ensemble);
    if matches!(device, Device::Cuda(_)) {
        // The first run compiles the kernel or loads it from the cache, and takes the memory.
        run()?;
    }
    let mut seconds = Vec::new();
    loop {
        let start = Instant::now();
        let solution = run()?;
        let taken = start.elapsed().as_secs_f64();
        seconds.push(taken);
        if seconds.len() >= RUNS || taken > LONG_RUN {
            seconds.sort_by(f64::total_cmp);
            return Ok(Timed { seconds, kernels: Vec::new(), solution });
        }
    }
}

/// Times of the kernel alone \[s\], sorted.
struct Kernels<'a, T> {
    workload: &'a Workload,
    ensemble: &'a Ensemble<T>,
    ordinal: usize,
}

impl<T: Scalar> WithSystem for Kernels<'_, T> {
    type Output = Result<Vec<f64>, Error>;

    fn run<S: System>(self, system: &S) -> Self::Output {
        let Workload { method, options, .. } = self.workload;
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let mut session = Session::new(system, self.ensemble, method, self.ordinal, options)?;
            times.push(session.advance(self.ensemble.span(0))? / 1e3);
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }
}

/// The middle one of sorted times; the lower of two.
fn median(times: &[f64]) -> Option<f64> {
    times.get((times.len().max(1) - 1) / 2).copied()
}

impl<T: Scalar> Timed<T> {
    fn add_rows(
        &self,
        workload: &Workload,
        variant: &Variant,
        graph: &Graph,
        reference: &Solution<f64>,
        rows: &mut Vec<Row>,
    ) {
        let summary = self.solution.summary();
        let limit = match &variant.device {
            // The compiler packs scalar code as it pleases: there is no limit to compare with.
            Device::Cpu(cpu) if cpu.isa == Isa::Scalar => None,
            Device::Cpu(cpu) => Some(limit::measured::<T>(cpu.isa, cpu.thread_count())),
            Device::Cuda(cuda) => limit::of_gpus::<T>(cuda),
        };
        let operations = limit::operations(graph, &workload.method, &self.solution);
        let row = |name: &str, seconds: f64| Row {
            workload: workload.name.to_owned(),
            variant: name.to_owned(),
            device: variant.device.to_string(),
            precision: workload.precision.name().to_owned(),
            threads: variant.threads(),
            systems: summary.systems,
            seconds,
            runs: self.seconds.len(),
            systems_per_second: summary.systems as f64 / seconds,
            rhs_per_second: summary.nfev as f64 / seconds,
            max_error: max_error(&self.solution, reference),
            divergence: summary.divergence,
            busy_lanes: self.solution.busy_lanes,
            fraction_of_limit: limit.map(|limit| operations / seconds / limit),
            failed: self.solution.failed().len(),
        };
        rows.extend(median(&self.kernels).map(|seconds| row("cuda_kernel", seconds)));
        rows.extend(median(&self.seconds).map(|seconds| row(variant.name, seconds)));
    }
}

/// The kernel of Niemeyer & Sung 2014 as published, on the same ensemble; of the counts it keeps none, those
/// of our own run of the same method stand in.
fn published<T: Scalar>(
    workload: &Workload,
    ensemble: &Ensemble<T>,
    ordinal: usize,
    ours: &Timed<T>,
    reference: &Solution<f64>,
) -> Result<Option<Row>, Error> {
    let wide = ensemble.states().iter().map(|y| y.to_f64()).collect();
    let ensemble = Ensemble::new(ensemble.dim(), wide, ensemble.span(0))?;
    let (segments, eps) = (workload.options.segments, workload.options.tolerance.rtol);
    let mut times = Vec::new();
    let mut states = Vec::new();
    for _ in 0..3 {
        let (end, ms) = gpu::pleiades_as_published(&ensemble, segments, eps, ordinal)?;
        times.push(ms / 1e3);
        states = end;
    }
    times.sort_by(f64::total_cmp);
    let (systems, summary) = (ensemble.len(), ours.solution.summary());
    let error = |s: usize, i: usize, exact: f64| {
        (states[i * systems + s] - exact).abs() / exact.abs().max(1.0)
    };
    let errors = (0..reference.len())
        .flat_map(|s| reference.y(s).into_iter().enumerate().map(move |(i, y)| (s, i, y)));
    Ok(median(&times).map(|seconds| Row {
        workload: workload.name.to_owned(),
        variant: "cuda_published".to_owned(),
        device: format!("cuda:{ordinal}"),
        precision: "f64".to_owned(),
        threads: 1,
        systems,
        seconds,
        runs: times.len(),
        systems_per_second: systems as f64 / seconds,
        rhs_per_second: summary.nfev as f64 / seconds,
        max_error: errors.map(|(s, i, y)| error(s, i, y)).fold(0.0, f64::max),
        divergence: summary.divergence,
        busy_lanes: None,
        fraction_of_limit: None,
        failed: 0,
    }))
}

/// The first systems, solved as tightly as double precision allows from the same numbers.
fn reference<T: Scalar>(
    rhs: &DynSystem,
    workload: &Workload,
    ensemble: &Ensemble<T>,
) -> Result<Solution<f64>, Error> {
    let few = ensemble.slice(0..CHECKED.min(ensemble.len()))?;
    let widen = |values: &[T]| values.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
    let wide = Ensemble::new(few.dim(), widen(few.states()), few.span(0))?;
    let wide = if few.n_params() == 0 { wide } else { wide.with_params(widen(few.params()))? };
    let stiff = workload.method.jacobian_source().is_some();
    let options = Options {
        tolerance: Tolerance::new(if stiff { 1e-12 } else { 1e-13 }, 1e-15),
        first_step: FirstStep::Automatic,
        max_steps: 10_000_000,
        segments: 1,
        ..workload.options.clone()
    };
    let method = if stiff { Method::radau() } else { Method::vern7() };
    Solver::new(rhs, &method, &Device::cpu(), &options)?.solve(&wide)
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
