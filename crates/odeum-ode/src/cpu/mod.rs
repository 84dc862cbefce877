//! SIMD lanes × threads.
//!
//! One system per lane; every lane has its own time and step. A lane whose system ends stores
//! the result and takes the next system from one queue, so nobody waits for a slow neighbour;
//! threads draw from the same queue, which the parts of a series lengthen. All systems go through
//! the same lane code, whatever their place, so the answer of a system never depends on the others.

mod claimed;
mod compiled;
mod drive;
pub(crate) mod event;
pub(crate) mod guard;
mod handover;
mod inlining;
mod pack;
mod pack_pairs;
mod pool;
pub(crate) mod ranges;
mod results;
mod series;
mod work_queue;

use crate::lent::{Inputs, Outputs, Remarks};
use crate::method::Method;
use crate::method::erk::stepper::ErkStepper;
use crate::method::linearised::JacobianPlan;
use crate::method::rhs::{Erased, Inlined};
use crate::method::rkc::stepper::RkcStepper;
use crate::monitor::Monitor;
use crate::options::Options;
use drive::drive;
use handover::Handover;
pub(crate) use inlining::Inlining;
use inlining::Timing;
use odeum_core::lanes::LaneWork;
use odeum_core::{
    Error, IS_UNOPTIMISED, Isa, Lanes, Scalar, System, ValidRange, computing_thread, cores, joined,
};
use pool::Pool;
use work_queue::WorkQueue;

/// How to use the CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// Number of threads; by default one for each core.
    pub threads: Option<usize>,
    /// Instruction set; the widest the CPU has unless said.
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
        self.threads.unwrap_or_else(cores).max(1)
    }
}

/// How systems are integrated on the CPU.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a, T> {
    pub(crate) on_lanes: &'a dyn OnLanes<T>,
    pub(crate) method: &'a Method,
    /// Where the method needs a Jacobian.
    pub(crate) plan: Option<&'a JacobianPlan>,
    pub(crate) inlining: &'a Inlining,
    pub(crate) cpu: &'a Cpu,
    pub(crate) options: &'a Options,
    pub(crate) monitor: &'a Monitor,
}

impl<T: Scalar> Run<'_, T> {
    fn check(&self) -> Result<(), Error> {
        if self.cpu.threads == Some(0) {
            return Err(Error::input("threads", 0, "must be at least 1"));
        }
        if !self.cpu.isa.is_available() {
            let names: Vec<_> = Isa::available().into_iter().map(Isa::name).collect();
            return Err(Error::input(
                "isa",
                self.cpu.isa,
                format!("this CPU has no such instructions; it has {}", names.join(", ")),
            ));
        }
        Ok(())
    }

    /// Integrates an ensemble.
    pub(crate) fn solve(
        &self,
        inputs: &Inputs<'_, T>,
        mut outputs: Outputs<'_, T>,
    ) -> Result<Remarks, Error> {
        self.check()?;
        let threads = self.cpu.thread_count().min(inputs.len());
        let pool = Pool::lent(inputs.len(), threads, &mut outputs);
        let queue = WorkQueue::lent(*inputs, self.options, pool);
        let ranges = self.on_lanes.ranges();
        let task =
            self.task(&queue, &ranges, (inputs.dim(), inputs.n_params()), (inputs.len(), threads));
        if threads == 1 && !IS_UNOPTIMISED {
            self.integrate(&task);
        } else {
            std::thread::scope(|scope| {
                let work = || self.integrate(&task);
                let another = |_| computing_thread().spawn_scoped(scope, work).ok();
                // Those that begin do the work of those that the system does not give.
                let begun: Vec<_> = (0..threads).filter_map(another).collect();
                if begun.is_empty() {
                    work();
                }
                begun.into_iter().for_each(joined);
            });
        }
        let first = (inputs.initial_state(0), inputs.params_of(0));
        Ok(self.remarks(&queue, &first, inputs.len()))
    }

    fn task<'t>(
        &'t self,
        queue: &'t WorkQueue<'t, T>,
        ranges: &'t [ValidRange],
        (dim, n_params): (usize, usize),
        (systems, threads): (usize, usize),
    ) -> Task<'t, T> {
        let (options, monitor) = (self.options, self.monitor);
        Task { queue, options, ranges, dim, n_params, systems, threads, handover: None, monitor }
    }

    /// What one thread does.
    fn integrate(&self, task: &Task<'_, T>) {
        let (method, plan) = (self.method, self.plan);
        self.on_lanes.run(self.cpu.isa, Job::Integrate { method, plan, task });
    }

    /// What was noticed, with state and parameters of one of so many systems.
    fn remarks(
        &self,
        queue: &WorkQueue<'_, T>,
        first: &(Vec<T>, Vec<T>),
        systems: usize,
    ) -> Remarks {
        let warning = self.inlining.warning(self.on_lanes, self.cpu.isa, first, systems);
        Remarks {
            warnings: warning.into_iter().collect(),
            busy_lanes: Some(queue.busy_lanes()),
            gpu_times: None,
        }
    }
}

/// What the threads of a run share.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a, T> {
    queue: &'a WorkQueue<'a, T>,
    options: &'a Options,
    /// Where the model holds.
    ranges: &'a [ValidRange],
    /// Number of equations.
    dim: usize,
    n_params: usize,
    systems: usize,
    threads: usize,
    /// Of a thread that runs a pair of packs, and then what is left in a single one.
    handover: Option<&'a Handover<T>>,
    monitor: &'a Monitor,
}

/// What a thread does with a system, whatever its lanes.
#[derive(Clone, Copy)]
pub(crate) enum Job<'a, T> {
    /// Integrates what the queue gives.
    Integrate {
        method: &'a Method,
        /// Of a method that needs a Jacobian.
        plan: Option<&'a JacobianPlan>,
        task: &'a Task<'a, T>,
    },
    /// Times the right-hand side.
    Time(&'a Timing<'a, T>),
}

/// A system that lanes of this precision work on.
pub(crate) trait OnLanes<T: Scalar>: Sync {
    /// Where the model holds.
    fn ranges(&self) -> Vec<ValidRange>;

    /// True of a system that is interpreted, not compiled.
    fn is_interpreted(&self) -> bool;

    /// Does a job with the lanes of an instruction set that the CPU has.
    fn run(&self, isa: Isa, job: Job<'_, T>);
}

/// No method is compiled for the system: all of them call it through a pointer.
pub(crate) const NONE: u8 = 0;
/// Runge–Kutta methods are compiled for the system, which becomes part of them.
pub(crate) const ERK: u8 = 1;
/// RKC is compiled for the system.
pub(crate) const RKC: u8 = 2;

/// A system for which the methods of `INLINED` are compiled.
pub(crate) struct ByLanes<'a, S, const INLINED: u8>(pub(crate) &'a S);

impl<T: Scalar, S: System, const INLINED: u8> OnLanes<T> for ByLanes<'_, S, INLINED> {
    fn ranges(&self) -> Vec<ValidRange> {
        self.0.ranges()
    }

    fn is_interpreted(&self) -> bool {
        S::INTERPRETED
    }

    fn run(&self, isa: Isa, job: Job<'_, T>) {
        let work = Work::<T, S, INLINED> { system: self.0, job };
        if S::INTERPRETED && pack_pairs::fit_in_packs(isa, &job) {
            isa.dispatch(Work::<T, S, NONE> { system: self.0, job });
        } else if S::INTERPRETED {
            isa.dispatch_wide(work);
        } else if !is_inlined::<T, INLINED>(&job) && pack_pairs::pay(isa, &job, self.0) {
            let Job::Integrate { method, plan, task } = job else { return };
            let handover = Handover::new();
            let task = &Task { handover: Some(&handover), ..*task };
            let work = || Work::<T, S, NONE> {
                system: self.0,
                job: Job::Integrate { method, plan, task },
            };
            isa.dispatch_pair(work());
            if !handover.is_empty() {
                isa.dispatch(work());
            }
        } else {
            isa.dispatch(work)
        }
    }
}

/// Whether what a job is done by is compiled for the system.
fn is_inlined<T: Scalar, const INLINED: u8>(job: &Job<'_, T>) -> bool {
    match job {
        Job::Integrate { method: Method::Erk(_), .. } => INLINED & ERK != 0,
        Job::Integrate { method: Method::Rkc(_), .. } => INLINED & RKC != 0,
        _ => false,
    }
}

struct Work<'a, T, S, const INLINED: u8> {
    system: &'a S,
    job: Job<'a, T>,
}

impl<T: Scalar, S: System, const INLINED: u8> LaneWork<T> for Work<'_, T, S, INLINED> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) {
        let Work { system, job } = self;
        if const { INLINED & ERK != 0 }
            && let Job::Integrate { method: Method::Erk(erk), task, .. } = job
        {
            let system = &Inlined(system);
            let mut stepper = ErkStepper::<L, _>::new(erk, &task.options.tolerance, system);
            return drive(&mut stepper, erk.controller, task);
        }
        if const { INLINED & RKC != 0 }
            && let Job::Integrate { method: Method::Rkc(rkc), task, .. } = job
        {
            let system = &Inlined(system);
            let mut stepper = RkcStepper::<L, _>::new(rkc, &task.options.tolerance, system);
            return drive(&mut stepper, rkc.controller, task);
        }
        compiled::run::<L>(&Erased(system), job);
    }
}
