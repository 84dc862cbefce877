//! Runs of one study, and rows of what came out.

use super::locked::Locked;
use super::part::Part;
use super::row::Row;
use super::runs::{Place, Run};
use super::states::States;
use odeum_io::Finding;
use odeum_kinetics::{JacobianForm, Reactor};
use odeum_ode::gpu::StepPart;
use odeum_ode::method::JacobianSource;
use odeum_ode::problems::Lorenz;
use odeum_ode::{
    ArrayMut, Device, DynSystem, Ensemble, FirstStep, Inputs, Method, Monitor, Options, Outputs,
    Session, Solution, Solver, Tolerance,
};
use std::sync::Arc;
use std::time::Instant;

/// Every row is the fastest of this many runs: as many as fit into [`ENOUGH`] seconds.
const RUNS: std::ops::RangeInclusive<usize> = 2..=20;
const ENOUGH: f64 = 0.5;
/// Runs that take longer \[s\] are not repeated.
const LONG_RUN: f64 = 2.0;
/// Tolerances of Curtis, Niemeyer & Sung 2017, for runs and for the error E.
pub(super) const RTOL: f64 = 1e-6;
const ATOL: f64 = 1e-10;
/// Absolute tolerance relative to the relative one, where that is varied.
const ATOL_FRACTION: f64 = ATOL / RTOL;
/// Tolerance of the reference.
const TIGHT: (f64, f64) = (1e-12, 1e-18);

/// One ensemble and its reference.
pub(super) struct Study<'a> {
    reactor: &'a Arc<Reactor>,
    states: &'a States,
    rhs: DynSystem,
    /// With the approximate Jacobian.
    approximate: DynSystem,
    pub(super) dt: f64,
    pub(super) segments: u32,
    /// Names of methods, or none for all.
    pub(super) asked: &'a [String],
    /// End states at a tight tolerance, in the order of the states.
    reference: Solution<f64>,
}

fn broken(error: odeum_ode::Error) -> Finding {
    Finding::error(error.to_string())
}

impl<'a> Study<'a> {
    pub(super) fn new(
        reactor: &'a Arc<Reactor>,
        states: &'a States,
        (dt, segments): (f64, u32),
        asked: &'a [String],
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
            .map_err(broken)?;
        if let Some(&s) = reference.failed().first() {
            let status = reference.status[s].name();
            return Err(Finding::error(format!("the reference of reactor {s} failed: {status}")));
        }
        Ok(Study { reactor, states, rhs, approximate, dt, segments, asked, reference })
    }

    pub(super) fn n_states(&self) -> usize {
        self.states.0.len()
    }

    /// Measures a part on the CPU.
    pub(super) fn part(&self, part: Part, threads: Option<usize>) -> Result<Vec<Row>, Finding> {
        self.asked(self.runs(part, threads)).iter().map(|run| self.measure(part, run)).collect()
    }

    /// Measures a part on the GPU of this number, with ensembles of these sizes.
    pub(super) fn part_on_gpu(
        &self,
        part: Part,
        ordinal: usize,
        sizes: &[usize],
    ) -> Result<Vec<Row>, Finding> {
        let sizes = self.gpu_sizes(sizes);
        let runs = self.asked(self.runs_on_gpu(part, ordinal, sizes));
        if part == Part::Calls {
            start(ordinal).map_err(broken)?;
        }
        let mut rows: Vec<Row> =
            runs.iter().map(|run| self.measure(part, run)).collect::<Result<_, Finding>>()?;
        if let (Part::Parts, Some(step)) = (part, rows.first().cloned()) {
            rows.extend(self.parts_of(&step, ordinal, self.most(sizes))?);
        }
        Ok(beside_one_core(rows))
    }

    /// The parts of a step, as rows like that of the whole.
    fn parts_of(&self, step: &Row, ordinal: usize, systems: usize) -> Result<Vec<Row>, Finding> {
        let ensemble = self.states.ensemble(self.reactor, systems, self.dt)?;
        let tolerance = Tolerance::new(RTOL, ATOL);
        let seconds = |part: StepPart| {
            part.seconds(&self.rhs, &ensemble, &tolerance, ordinal).map_err(broken)
        };
        let [rhs, jacobian, factors, solution] = StepPart::ALL.map(seconds);
        let (jacobian, factors) = (jacobian?, factors?);
        let row = |name: &'static str, seconds: f64| {
            let seconds = seconds * systems as f64;
            Row { variant: name.into(), seconds, ..step.clone() }
        };
        Ok(vec![
            row("f", rhs?),
            row("f and J", jacobian),
            row("LU", factors - jacobian),
            row("solution", solution?),
        ])
    }

    fn measure(&self, part: Part, run: &Run) -> Result<Row, Finding> {
        let sorted = run.sorted.then(|| self.states.sorted());
        let states = sorted.as_ref().unwrap_or(self.states);
        let ensemble: Ensemble<f64> = states.ensemble(self.reactor, run.systems, self.dt)?;
        let options = Options::new(Tolerance::new(run.rtol, run.rtol * ATOL_FRACTION))
            .segments(self.segments);
        let options = options.first_step(run.first);
        let all = Instant::now();
        let is_first = matches!(run.place, Place::FirstCall(_));
        let rhs = match is_first {
            // Of which nothing is known yet.
            true => &DynSystem::from(Arc::clone(self.reactor)),
            false if run.approximate => &self.approximate,
            false => &self.rhs,
        };
        let solver =
            Solver::new(rhs, &run.method, &run.place.device(), &options).map_err(broken)?;
        let written = match run.place {
            Place::SameArrays(_) | Place::LockedArrays(_) => {
                Some(solver.solve(&ensemble).map_err(broken)?)
            }
            _ => None,
        };
        let mut locked = match run.place {
            Place::LockedArrays(ordinal) => Some(Locked::new(ordinal, &ensemble).map_err(broken)?),
            _ => None,
        };
        let (mut written, mut seconds) = (written, Vec::new());
        let solution = loop {
            let begun = if is_first { all } else { Instant::now() };
            // Where the time is not that of all that is done here, the time.
            let (ended, seconds_of_run) = match run.place {
                Place::Kernel(_) | Place::Again(_) => {
                    let mut session = solver.session(&ensemble).map_err(broken)?;
                    let mut kernel = session.advance((0.0, self.dt)).map_err(broken)?;
                    if matches!(run.place, Place::Again(_)) {
                        session.set_states(ensemble.states()).map_err(broken)?;
                        kernel = session.advance((0.0, self.dt)).map_err(broken)?;
                    }
                    (Ended::OnGpu(session), Some(kernel.as_secs_f64()))
                }
                _ => match (written.take(), &mut locked) {
                    (Some(arrays), Some(locked)) => {
                        let solved = locked.solve(&solver, (0.0, self.dt), arrays);
                        let (seconds, solution) = solved.map_err(broken)?;
                        (Ended::Here(Box::new(solution)), Some(seconds))
                    }
                    (Some(arrays), None) => {
                        let solution = again(&solver, &ensemble, arrays).map_err(broken)?;
                        (Ended::Here(Box::new(solution)), None)
                    }
                    (None, _) => {
                        let solution = solver.solve(&ensemble).map_err(broken)?;
                        (Ended::Here(Box::new(solution)), None)
                    }
                },
            };
            let taken = seconds_of_run.unwrap_or_else(|| begun.elapsed().as_secs_f64());
            seconds.push(taken);
            let few = seconds.len() < *RUNS.start();
            let enough = all.elapsed().as_secs_f64() > ENOUGH && !few;
            if is_first || enough || taken > LONG_RUN || seconds.len() >= *RUNS.end() {
                break ended.solution().map_err(broken)?;
            }
            if let (Place::SameArrays(_) | Place::LockedArrays(_), Ended::Here(arrays)) =
                (run.place, ended)
            {
                written = Some(*arrays);
            }
        };
        let fastest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let summary = solution.summary();
        // The reference is in the order of the states.
        let errors = if run.sorted { Vec::new() } else { self.errors(&solution) };
        let quantile = |fraction: f64| {
            let at = (errors.len() as f64 * fraction) as usize;
            errors.get(at.min(errors.len().saturating_sub(1))).copied()
        };
        let systems = summary.systems;
        Ok(Row {
            part: part.name().into(),
            method: run.method.name().to_owned(),
            variant: run.place.variant().into(),
            device: run.place.device().to_string(),
            precision: "f64".into(),
            threads: run.place.threads(),
            first_step: match run.first {
                FirstStep::Fraction(_) => "whole".into(),
                _ => "automatic".into(),
            },
            systems,
            order: if run.sorted { "sorted" } else { "random" }.into(),
            dt: self.dt,
            rtol: run.rtol,
            atol: run.rtol * ATOL_FRACTION,
            fixed_step: run.method.controller().fixed_step(),
            jacobian: match run.method.jacobian_source() {
                Some(JacobianSource::FiniteDifferences) => "differences".into(),
                _ if run.approximate => "approximate".into(),
                _ => "exact".into(),
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
            divergences: (part == Part::Orders).then(|| shares(&solution.divergences())),
            busy_lanes: solution.busy_lanes,
            times_one_core: None,
            failed: solution.failed().len(),
        })
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

/// Where the end states of a run are.
enum Ended {
    Here(Box<Solution<f64>>),
    OnGpu(Session<f64>),
}

impl Ended {
    fn solution(self) -> Result<Solution<f64>, odeum_ode::Error> {
        match self {
            Ended::Here(solution) => Ok(*solution),
            Ended::OnGpu(mut session) => session.solution(),
        }
    }
}

/// Lets the driver of a GPU start, and a kernel run that is none of the study's.
fn start(ordinal: usize) -> Result<(), odeum_ode::Error> {
    let lorenz = Lorenz::problem();
    let ensemble = Ensemble::new(lorenz.y0.len(), lorenz.y0.clone(), lorenz.span)?;
    let ensemble = ensemble.with_params(lorenz.params.clone())?;
    let options = Options::new(Tolerance::new(RTOL, ATOL));
    Solver::new(&lorenz, &Method::tsit5(), &Device::cuda(ordinal), &options)?.solve(&ensemble)?;
    Ok(())
}

/// Solves into the arrays of a solution of the same ensemble.
fn again(
    solver: &Solver,
    ensemble: &Ensemble<f64>,
    mut arrays: Solution<f64>,
) -> Result<Solution<f64>, odeum_ode::Error> {
    let Solution { dim, states, t, status, stats, .. } = &mut arrays;
    let outputs = Outputs::new(ArrayMut::component_major(states, *dim)?, t, status, stats)?;
    solver.solve_into(&Inputs::from(ensemble), outputs, &Monitor::new())?;
    Ok(arrays)
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

/// Of values from 0 to 1, the fractions that lie in equal parts of that range.
fn shares(values: &[f64]) -> Vec<f64> {
    const PARTS: usize = 20;
    let mut shares = vec![0.0; PARTS];
    for value in values {
        shares[((value * PARTS as f64) as usize).min(PARTS - 1)] += 1.0 / values.len() as f64;
    }
    shares
}
