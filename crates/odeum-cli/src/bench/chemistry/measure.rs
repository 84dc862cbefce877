//! Runs of one study: what is varied in each part, and rows of what came out.

use super::row::Row;
use super::states::States;
use odeum_io::Finding;
use odeum_kinetics::{JacobianForm, Reactor};
use odeum_ode::gpu::Session;
use odeum_ode::method::JacobianBy;
use odeum_ode::{
    Controller, Cpu, Device, DynSystem, Ensemble, FirstStep, Isa, Method, Options, Solution,
    Solver, Tolerance,
};
use std::sync::Arc;
use std::time::Instant;

/// Every row is the fastest of this many runs: as many as fit into [`ENOUGH`] seconds.
const RUNS: std::ops::RangeInclusive<usize> = 2..=20;
const ENOUGH: f64 = 0.5;
/// Runs that take longer \[s\] are not repeated.
const LONG_RUN: f64 = 2.0;
/// Tolerances of Curtis, Niemeyer & Sung 2017, for runs and for the error E.
const RTOL: f64 = 1e-6;
const ATOL: f64 = 1e-10;
/// Absolute tolerance relative to the relative one, where that is varied.
const ATOL_FRACTION: f64 = ATOL / RTOL;
/// Relative tolerances of the part on work and precision: finer where most users are.
const TOLERANCES: [f64; 11] = [1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 1e-7, 1e-8, 1e-9];
/// Tolerance of the reference.
const TIGHT: (f64, f64) = (1e-12, 1e-18);
/// Sizes of ensembles on GPUs unless said.
const GPU_SIZES: [usize; 4] = [1024, 8192, 65_536, 262_144];
/// The same along an ignition: Niemeyer & Sung (2014) went from 64 to 16,384.
const GPU_SIZES_OF_ETHANOL: [usize; 8] = [64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
/// Of these the parts that vary something else take so many: more takes RKC minutes.
const MANY_OF_ETHANOL: usize = 65_536;
/// Reactors of the part on convergence.
const FEW: usize = 512;

/// A part of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All methods at the papers' tolerance.
    Methods,
    /// Work and precision over tolerances.
    Tolerances,
    /// From few reactors to many.
    Sizes,
    /// Random and sorted order.
    Orders,
    /// Exact Jacobians, differences, and the approximate one.
    Jacobians,
    /// Fixed steps, smaller and smaller.
    Convergence,
}

impl Part {
    pub(super) const OF_CHEMISTRY: [Part; 6] = [
        Part::Methods,
        Part::Tolerances,
        Part::Sizes,
        Part::Orders,
        Part::Jacobians,
        Part::Convergence,
    ];
    pub(super) const OF_ETHANOL: [Part; 3] = [Part::Methods, Part::Tolerances, Part::Sizes];

    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Methods => "methods",
            Part::Tolerances => "tolerances",
            Part::Sizes => "sizes",
            Part::Orders => "orders",
            Part::Jacobians => "jacobians",
            Part::Convergence => "convergence",
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Part::Methods => "All methods at rtol 1e-6, atol 1e-10",
            Part::Tolerances => "Work and precision: rtol varied, atol = 1e-4 rtol",
            Part::Sizes => "From few reactors to many",
            Part::Orders => "Random order, and sorted by temperature",
            Part::Jacobians => "Exact Jacobian, by differences, and approximate",
            Part::Convergence => "Steps of one size",
        }
    }
}

/// One ensemble and its reference.
pub(super) struct Study<'a> {
    reactor: &'a Arc<Reactor>,
    states: &'a States,
    rhs: DynSystem,
    /// With the approximate Jacobian.
    approximate: DynSystem,
    dt: f64,
    segments: u32,
    /// End states at a tight tolerance, in the order of the states.
    reference: Solution<f64>,
}

/// What a row varies.
struct Run {
    method: Method,
    approximate: bool,
    rtol: f64,
    systems: usize,
    place: Place,
    first: FirstStep,
    sorted: bool,
}

/// Where a run is made, and what of it is timed.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A processor.
    Cpu { threads: usize, isa: Isa },
    /// The GPU of this number: the kernel, over states that are there already.
    Kernel(usize),
    /// The same from arrays of the host to arrays of the host.
    Arrays(usize),
}

impl Place {
    fn device(self) -> Device {
        match self {
            Place::Cpu { threads, isa } => Device::Cpu(Cpu { threads: Some(threads), isa }),
            Place::Kernel(ordinal) | Place::Arrays(ordinal) => Device::cuda(ordinal),
        }
    }

    fn variant(self) -> &'static str {
        match self {
            Place::Cpu { isa: Isa::Scalar, .. } => "scalar",
            Place::Cpu { .. } => "lanes",
            Place::Kernel(_) => "cuda kernel",
            Place::Arrays(_) => "cuda",
        }
    }
}

impl<'a> Study<'a> {
    pub(super) fn new(
        reactor: &'a Arc<Reactor>,
        states: &'a States,
        dt: f64,
        segments: u32,
    ) -> Result<Study<'a>, Finding> {
        let rhs = DynSystem::from(Arc::clone(reactor));
        let approximate = DynSystem::from(Reactor::new(
            Arc::clone(reactor.kinetics()),
            reactor.constraint(),
            reactor.energy(),
            JacobianForm::Approximate,
        ));
        let ensemble = states.ensemble(reactor, states.0.len(), dt)?;
        let options = Options::new(Tolerance::new(TIGHT.0, TIGHT.1));
        let reference = Solver::new(&rhs, &Method::radau(), &Device::cpu(), &options)
            .and_then(|solver| solver.solve(&ensemble))
            .map_err(|error| Finding::error(error.to_string()))?;
        if let Some(&s) = reference.failed().first() {
            let status = reference.status[s].name();
            return Err(Finding::error(format!("the reference of reactor {s} failed: {status}")));
        }
        Ok(Study { reactor, states, rhs, approximate, dt, segments, reference })
    }

    fn usual(&self, method: Method) -> Run {
        Run {
            method,
            approximate: false,
            rtol: RTOL,
            systems: self.states.0.len(),
            place: Place::Cpu { threads: 1, isa: Isa::best() },
            first: FirstStep::Automatic,
            sorted: false,
        }
    }

    /// The methods that suit these reactors.
    fn methods(&self) -> Vec<Method> {
        let mut methods = vec![
            Method::rodas3(),
            Method::rodas4(),
            Method::rodas5p(),
            Method::ros34pw2(),
            Method::radau(),
            Method::exp4(),
            Method::exprb43(),
        ];
        if self.segments > 1 {
            methods.insert(0, Method::rkc());
        }
        methods
    }

    /// Measures a part.
    pub(super) fn part(&self, part: Part, threads: Option<usize>) -> Result<Vec<Row>, Finding> {
        let mut runs: Vec<Run> = Vec::new();
        match part {
            Part::Methods => {
                runs.extend(self.methods().into_iter().map(|m| self.usual(m)));
                let best = || self.usual(Method::rodas4());
                runs.push(Run { place: Place::Cpu { threads: 1, isa: Isa::Scalar }, ..best() });
                let all = Cpu { threads, ..Cpu::default() }.thread_count();
                if all > 1 {
                    let place = Place::Cpu { threads: all, isa: Isa::best() };
                    runs.push(Run { place, ..best() });
                }
            }
            Part::Tolerances => {
                for method in self.methods() {
                    for rtol in TOLERANCES {
                        if is_too_tight(&method, rtol) {
                            continue;
                        }
                        runs.push(Run { rtol, ..self.usual(method.clone()) });
                    }
                }
            }
            Part::Sizes => {
                let most = self.states.0.len();
                let sizes = (4..).map(|k| 2_usize.pow(k)).take_while(|size| *size < most);
                for systems in sizes.chain([most]) {
                    for method in self.methods() {
                        if matches!(method.name(), "rkc" | "rodas4" | "radau") {
                            runs.push(Run { systems, ..self.usual(method) });
                        }
                    }
                }
            }
            Part::Orders => {
                for method in [Method::rodas4(), Method::radau()] {
                    runs.push(self.usual(method.clone()));
                    runs.push(Run { sorted: true, ..self.usual(method) });
                }
            }
            Part::Jacobians => {
                for method in [Method::rodas4(), Method::ros34pw2(), Method::radau()] {
                    runs.push(self.usual(method.clone()));
                    runs.push(self.usual(by_differences(method)));
                }
                runs.push(Run { approximate: true, ..self.usual(Method::ros34pw2()) });
            }
            Part::Convergence => {
                for method in self.methods() {
                    for steps in [1.0, 3.0, 10.0, 30.0, 100.0, 300.0] {
                        let fixed = Controller::fixed(self.dt / steps);
                        let method = method.clone().with_controller(fixed);
                        runs.push(Run { systems: FEW, ..self.usual(method) });
                    }
                }
            }
        }
        runs.into_iter().map(|run| self.measure(part, &run)).collect()
    }

    fn measure(&self, part: Part, run: &Run) -> Result<Row, Finding> {
        let broken = |error: odeum_ode::Error| Finding::error(error.to_string());
        let sorted = run.sorted.then(|| self.states.sorted());
        let states = sorted.as_ref().unwrap_or(self.states);
        let ensemble: Ensemble<f64> = states.ensemble(self.reactor, run.systems, self.dt)?;
        let options = Options::new(Tolerance::new(run.rtol, run.rtol * ATOL_FRACTION))
            .segments(self.segments);
        let options = options.first_step(run.first);
        let rhs = if run.approximate { &self.approximate } else { &self.rhs };
        let solver =
            Solver::new(rhs, &run.method, &run.place.device(), &options).map_err(broken)?;
        let (mut seconds, all) = (Vec::new(), Instant::now());
        let solution = loop {
            let begun = Instant::now();
            let (solution, kernel) = match run.place {
                Place::Kernel(ordinal) => {
                    let mut session = Session::of(rhs, &ensemble, &run.method, ordinal, &options)
                        .map_err(broken)?;
                    let ms = session.advance((0.0, self.dt)).map_err(broken)?;
                    (session.solution().map_err(broken)?, Some(ms / 1e3))
                }
                _ => (solver.solve(&ensemble).map_err(broken)?, None),
            };
            let taken = kernel.unwrap_or_else(|| begun.elapsed().as_secs_f64());
            seconds.push(taken);
            let few = seconds.len() < *RUNS.start();
            let enough = all.elapsed().as_secs_f64() > ENOUGH && !few;
            if enough || taken > LONG_RUN || seconds.len() >= *RUNS.end() {
                break solution;
            }
        };
        let fastest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let summary = solution.summary();
        // The reference is in the order of the states.
        let errors = if run.sorted { Vec::new() } else { self.errors(&solution) };
        let quantile = |fraction: f64| {
            let at =
                ((errors.len() as f64 * fraction) as usize).min(errors.len().saturating_sub(1));
            errors.get(at).copied().unwrap_or(f64::NAN)
        };
        let systems = summary.systems;
        Ok(Row {
            part: part.name(),
            method: run.method.name().to_owned(),
            variant: run.place.variant(),
            device: run.place.device().to_string(),
            precision: "f64",
            threads: match run.place {
                Place::Cpu { threads, .. } => threads,
                _ => 1,
            },
            first_step: match run.first {
                FirstStep::Fraction(_) => "whole",
                _ => "automatic",
            },
            systems,
            order: if run.sorted { "sorted" } else { "random" }.to_owned(),
            dt: self.dt,
            rtol: run.rtol,
            atol: run.rtol * ATOL_FRACTION,
            fixed_step: run.method.controller().fixed_step(),
            jacobian: match run.method.jacobian_by() {
                Some(JacobianBy::Differences) => "differences",
                _ if run.approximate => "approximate",
                _ => "exact",
            },
            seconds: fastest,
            runs: seconds.len(),
            systems_per_second: systems as f64 / fastest,
            rhs_per_second: summary.nfev as f64 / fastest,
            error_median: quantile(0.5),
            error_p95: quantile(0.95),
            max_error: quantile(1.0),
            steps: solution.stats.iter().map(|s| u64::from(s.steps)).sum(),
            rejected: summary.rejected,
            nfev: summary.nfev,
            njev: summary.njev,
            nlu: summary.nlu,
            divergence: summary.divergence,
            busy_lanes: solution.busy_lanes,
            times_one_core: None,
            failed: solution.failed().len(),
        })
    }

    /// Measures a part on the GPU of this number, with ensembles of these sizes.
    pub(super) fn part_on_gpu(
        &self,
        part: Part,
        ordinal: usize,
        sizes: &[usize],
    ) -> Result<Vec<Row>, Finding> {
        let along_ignition = self.segments > 1;
        let usual = if along_ignition { &GPU_SIZES_OF_ETHANOL[..] } else { &GPU_SIZES[..] };
        let sizes = if sizes.is_empty() { usual } else { sizes };
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let most = if along_ignition { largest.min(MANY_OF_ETHANOL) } else { largest };
        let on_gpu = |method: Method, systems: usize| Run {
            systems,
            place: Place::Kernel(ordinal),
            ..self.usual(method)
        };
        let whole = |run: Run| Run { first: FirstStep::Fraction(1.0), ..run };
        let one_core = |method: Method| Run {
            place: Place::Cpu { threads: 1, isa: Isa::Scalar },
            ..self.usual(method)
        };
        let mut runs: Vec<Run> = Vec::new();
        match part {
            Part::Sizes if along_ignition => {
                let methods = [Method::rkc(), Method::rodas4()];
                runs.extend(methods.iter().cloned().map(one_core));
                runs.extend(methods.iter().cloned().map(|method| self.usual(method)));
                for &systems in sizes {
                    for method in &methods {
                        let run = || on_gpu(method.clone(), systems);
                        runs.push(run());
                        runs.push(Run { place: Place::Arrays(ordinal), ..run() });
                    }
                }
            }
            Part::Methods => {
                // What a core and the processor do of the same in the same run.
                runs.push(self.usual(Method::rodas4()));
                let all = Cpu::default().thread_count();
                let place = Place::Cpu { threads: all, isa: Isa::best() };
                runs.push(Run { place, ..self.usual(Method::rodas4()) });
                for method in self.methods() {
                    runs.push(on_gpu(method.clone(), most));
                    runs.push(whole(on_gpu(method, most)));
                }
                let place = Place::Arrays(ordinal);
                runs.push(Run { place, ..on_gpu(Method::rodas4(), most) });
            }
            Part::Tolerances => {
                for method in self.methods() {
                    for rtol in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9] {
                        if is_too_tight(&method, rtol) {
                            continue;
                        }
                        runs.push(Run { rtol, ..on_gpu(method.clone(), most) });
                    }
                }
            }
            Part::Sizes => {
                let all = sizes.iter().flat_map(|&systems| {
                    self.methods().into_iter().map(move |method| (systems, method))
                });
                runs.extend(all.map(|(systems, method)| on_gpu(method, systems)));
            }
            Part::Orders => {
                for method in [Method::rodas4(), Method::radau()] {
                    runs.push(on_gpu(method.clone(), most));
                    runs.push(Run { sorted: true, ..on_gpu(method, most) });
                }
            }
            Part::Jacobians => {
                runs.push(on_gpu(Method::ros34pw2(), most));
                runs.push(Run { approximate: true, ..on_gpu(Method::ros34pw2(), most) });
            }
            Part::Convergence => {
                for method in self.methods() {
                    for steps in [1.0, 3.0, 10.0, 30.0, 100.0, 300.0] {
                        let fixed = Controller::fixed(self.dt / steps);
                        let method = method.clone().with_controller(fixed);
                        runs.push(on_gpu(method, FEW));
                    }
                }
            }
        }
        let rows: Result<Vec<Row>, Finding> =
            runs.into_iter().map(|run| self.measure(part, &run)).collect();
        Ok(beside_one_core(rows?))
    }

    /// E of every reactor (Curtis, Niemeyer & Sung 2017, eq. 1), smallest first; NaN counts as largest.
    fn errors(&self, solution: &Solution<f64>) -> Vec<f64> {
        let (systems, all) = (solution.len(), self.reference.len());
        let count = systems.min(all);
        // T and Y, without the amount of substance.
        let measured = solution.dim - 1;
        let mut errors: Vec<f64> = (0..count)
            .map(|s| {
                let of = self.states.index(s, systems);
                let squares = (0..measured).map(|i| {
                    let (y, exact) =
                        (solution.states[i * systems + s], self.reference.states[i * all + of]);
                    ((y - exact) / (ATOL + RTOL * exact.abs())).powi(2)
                });
                squares.sum::<f64>().sqrt()
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        errors
    }
}

/// Whether a method takes far too many steps: RKC is of order 2.
fn is_too_tight(method: &Method, rtol: f64) -> bool {
    rtol < 1e-7 && matches!(method, Method::Rkc(_))
}

/// With the times as fast as one core without lanes, by methods of which there is such a row.
fn beside_one_core(mut rows: Vec<Row>) -> Vec<Row> {
    let each = |row: &Row| row.seconds / row.systems as f64;
    let cores: Vec<(String, f64)> = rows
        .iter()
        .filter(|row| row.variant == "scalar")
        .map(|row| (row.method.clone(), each(row)))
        .collect();
    for row in &mut rows {
        let core = cores.iter().find(|(method, _)| *method == row.method);
        row.times_one_core = core.map(|(_, seconds)| seconds / each(row));
    }
    rows
}

fn by_differences(mut method: Method) -> Method {
    match &mut method {
        Method::Rosenbrock(rosenbrock) => rosenbrock.jacobian = JacobianBy::Differences,
        Method::Radau(radau) => radau.jacobian = JacobianBy::Differences,
        Method::Exponential(method) => method.jacobian = JacobianBy::Differences,
        _ => {}
    }
    method
}
