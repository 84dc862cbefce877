//! Runs of one study: what is varied in each part, and rows of what came out.

use super::row::Row;
use super::states::States;
use odeum_io::Finding;
use odeum_kinetics::{JacobianForm, Reactor};
use odeum_ode::method::JacobianBy;
use odeum_ode::{
    Controller, Cpu, Device, DynSystem, Ensemble, Isa, Method, Options, Solution, Solver, Tolerance,
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
    threads: usize,
    isa: Isa,
    sorted: bool,
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
        let ensemble = states.ensemble(reactor, usize::MAX, dt)?;
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
            threads: 1,
            isa: Isa::best(),
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
                runs.push(Run { isa: Isa::Scalar, ..best() });
                let all = Cpu { threads, ..Cpu::default() }.thread_count();
                if all > 1 {
                    runs.push(Run { threads: all, ..best() });
                }
            }
            Part::Tolerances => {
                for method in self.methods() {
                    for rtol in TOLERANCES {
                        // RKC is of order 2.
                        if rtol < 1e-7 && matches!(method, Method::Rkc(_)) {
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
        let device = Device::Cpu(Cpu { threads: Some(run.threads), isa: run.isa });
        let rhs = if run.approximate { &self.approximate } else { &self.rhs };
        let solver = Solver::new(rhs, &run.method, &device, &options).map_err(broken)?;
        let mut seconds = Vec::new();
        let solution = loop {
            let begun = Instant::now();
            let solution = solver.solve(&ensemble).map_err(broken)?;
            let taken = begun.elapsed().as_secs_f64();
            seconds.push(taken);
            let spent: f64 = seconds.iter().sum();
            let enough = spent > ENOUGH && seconds.len() >= *RUNS.start();
            if enough || seconds.len() >= *RUNS.end() || taken > LONG_RUN {
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
            variant: if run.isa == Isa::Scalar { "scalar" } else { "lanes" },
            device: "cpu".to_owned(),
            precision: "f64",
            threads: run.threads,
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
            failed: solution.failed().len(),
        })
    }

    /// E of every reactor (Curtis, Niemeyer & Sung 2017, eq. 1), smallest first; NaN counts as largest.
    fn errors(&self, solution: &Solution<f64>) -> Vec<f64> {
        let (count, all) = (solution.len(), self.reference.len());
        // T and Y, without the amount of substance.
        let measured = solution.dim - 1;
        let mut errors: Vec<f64> = (0..count)
            .map(|s| {
                let squares = (0..measured).map(|i| {
                    let (y, exact) =
                        (solution.states[i * count + s], self.reference.states[i * all + s]);
                    ((y - exact) / (ATOL + RTOL * exact.abs())).powi(2)
                });
                squares.sum::<f64>().sqrt()
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        errors
    }
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
