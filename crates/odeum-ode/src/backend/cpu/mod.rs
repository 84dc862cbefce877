//! SIMD lanes × threads.
//!
//! One system per lane; every lane has its own time and step. A lane whose system ends stores
//! the result and takes the next system from one queue, so nobody waits for a slow neighbour;
//! threads draw from the same queue. All systems go through the same lane code, whatever their
//! place, so the answer of a system never depends on the others.

mod crossing;
pub(crate) mod drive;
mod guard;
mod implicit;
mod inlining;
mod pack;
mod queue;
mod ranges;
mod results;

use crate::ensemble::Ensemble;
use crate::method::Method;
use crate::method::erk::stepper::ErkStepper;
use crate::method::linearised::Plan;
use crate::method::rkc::stepper::RkcStepper;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::Solution;
use drive::drive;
use implicit::Family;
use odeum_core::lanes::LaneWork;
use odeum_core::{Error, Isa, Lanes, Scalar, System, ValidRange};
use queue::Queue;
use results::Results;
use std::thread::Builder;

/// How to use the processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// Number of threads; by default one for each core.
    pub threads: Option<usize>,
    /// Instruction set; the widest the processor has unless said.
    pub isa: Isa,
}

impl Default for Cpu {
    fn default() -> Self {
        Cpu { threads: None, isa: Isa::best() }
    }
}

impl Cpu {
    /// Number of threads that will run.
    pub fn thread_count(&self) -> usize {
        self.threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
            .max(1)
    }
}

/// Integrates an ensemble on the processor; with a plan, where the method needs a Jacobian.
pub(crate) fn solve<T: Scalar, S: System>(
    system: &S,
    ensemble: &Ensemble<T>,
    method: &Method,
    plan: Option<&Plan>,
    cpu: &Cpu,
    options: &Options,
    monitor: &Monitor,
) -> Result<Solution<T>, Error> {
    if cpu.threads == Some(0) {
        return Err(Error::input("threads", 0, "must be at least 1"));
    }
    if !cpu.isa.is_available() {
        let names: Vec<_> = Isa::available().into_iter().map(Isa::name).collect();
        return Err(Error::input(
            "isa",
            cpu.isa,
            format!("this processor has no such instructions; it has {}", names.join(", ")),
        ));
    }
    let threads = cpu.thread_count().min(ensemble.len());
    let mut solution = Solution::empty(ensemble.len(), ensemble.dim(), options.save_times());
    let queue = Queue::new(ensemble.len(), threads);
    let results = Results::new(&mut solution);
    let ranges = system.ranges();
    let task =
        Task { ensemble, options, ranges: &ranges, queue: &queue, results: &results, monitor };
    let run = || {
        let work = Worker { system, method, plan, task: &task };
        if S::INTERPRETED { cpu.isa.dispatch_wide(work) } else { cpu.isa.dispatch(work) }
    };
    if threads == 1 {
        run();
    } else {
        std::thread::scope(|scope| {
            let another = |_: &usize| Builder::new().spawn_scoped(scope, run).is_ok();
            // Those that begin do the work of those that the system does not give.
            if (0..threads).filter(another).count() == 0 {
                run();
            }
        });
    }
    let busy_lanes = results.busy_lanes();
    solution.busy_lanes = Some(busy_lanes);
    let (state, params) = (ensemble.initial_state(0), ensemble.params_of(0));
    solution.warnings.extend(inlining::warning(system, cpu.isa, &state, &params, ensemble.len()));
    Ok(solution)
}

/// What the threads of a run share.
struct Task<'a, T> {
    ensemble: &'a Ensemble<T>,
    options: &'a Options,
    /// Where the model holds.
    ranges: &'a [ValidRange],
    queue: &'a Queue,
    results: &'a Results<T>,
    monitor: &'a Monitor,
}

/// What one thread does, whatever its lanes.
struct Worker<'a, T, S> {
    system: &'a S,
    method: &'a Method,
    /// Of a method that needs a Jacobian.
    plan: Option<&'a Plan>,
    task: &'a Task<'a, T>,
}

impl<T: Scalar, S: System> LaneWork<T> for Worker<'_, T, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) {
        let Worker { system, method, plan, task } = self;
        let tolerance = &task.options.tolerance;
        match method {
            Method::Erk(erk) => {
                let stepper = ErkStepper::<L, S>::new(erk, tolerance, system);
                drive(stepper, erk.controller, task);
            }
            Method::Rkc(rkc) => {
                let stepper = RkcStepper::<L, S>::new(rkc, tolerance, system);
                drive(stepper, rkc.controller, task);
            }
            Method::Rosenbrock(method) => {
                implicit::run::<L, S>(Family::Rosenbrock(method), system, plan, task);
            }
            Method::Radau(method) => {
                implicit::run::<L, S>(Family::Radau(method), system, plan, task);
            }
        }
    }
}
