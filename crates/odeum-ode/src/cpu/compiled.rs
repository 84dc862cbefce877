//! Work on systems whose type is forgotten.
//!
//! It calls a system through a table of functions ([`Equations`]), so nothing in it depends on the type of
//! the system. It is compiled in this crate, once for each lane pack, and found by the pack when it is
//! called: generic code that is compiled in other crates holds no copy of it.

use super::drive::drive;
use super::inlining::Timing;
use super::{Job, Task};
use crate::method::erk::stepper::ErkStepper;
use crate::method::exponential::stepper::ExponentialStepper;
use crate::method::linearised::{Linearised, Plan};
use crate::method::radau::stepper::RadauStepper;
use crate::method::rhs::Equations;
use crate::method::rkc::stepper::RkcStepper;
use crate::method::rosenbrock::stepper::RosenbrockStepper;
use crate::method::{Erk, Exponential, Method, Radau, Rkc, Rosenbrock};
use odeum_core::lanes::PackVisitor;
use odeum_core::real::Outlined;
use odeum_core::{Isa, Lanes, Scalar};
use std::any::TypeId;
use std::sync::OnceLock;

/// Does a job on a system, over these lanes.
#[inline(always)]
pub(super) fn run<L: Lanes>(equations: &dyn Equations<L>, job: Job<'_, L::Scalar>) {
    let run = Run::<L> { equations, job };
    let mut compiled = compiled().iter().flatten();
    let compiled = compiled.find(|compiled| compiled.pack == TypeId::of::<L>());
    let Some(compiled) = compiled else { unreachable!("lanes that are dispatched are visited") };
    // SAFETY: the function was made for this very pack.
    unsafe { (compiled.run)((&raw const run).cast()) };
}

/// A job over these lanes.
struct Run<'a, L: Lanes> {
    equations: &'a dyn Equations<L>,
    job: Job<'a, L::Scalar>,
}

/// The code of one pack.
struct Compiled {
    pack: TypeId,
    /// Takes a pointer to a [`Run`] over this pack.
    run: unsafe fn(*const ()),
}

/// Three instruction sets with a pack and a block each, in two precisions, and pairs of packs of `f64` of two sets.
const PACKS: usize = 14;

/// The code of all packs. Not generic: here, and nowhere else, it is compiled.
#[inline(never)]
fn compiled() -> &'static [Option<Compiled>; PACKS] {
    static ALL: OnceLock<[Option<Compiled>; PACKS]> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Collected([const { None }; PACKS]);
        Isa::visit_packs::<f64, _>(&mut all);
        Isa::visit_packs::<f32, _>(&mut all);
        all.0
    })
}

struct Collected([Option<Compiled>; PACKS]);

impl<T: Scalar> PackVisitor<T> for Collected {
    fn visit<L: Lanes<Scalar = T>>(&mut self) {
        if let Some(free) = self.0.iter_mut().find(|place| place.is_none()) {
            *free = Some(Compiled { pack: TypeId::of::<L>(), run: run_compiled::<L> });
        }
    }
}

/// # Safety
///
/// The pointer is to a live [`Run`] over `L`.
unsafe fn run_compiled<L: Lanes>(run: *const ()) {
    // SAFETY: the caller's promise.
    let Run { equations, job } = *unsafe { &*run.cast::<Run<'_, L>>() };
    let (method, plan, task) = match job {
        Job::Integrate { method, plan, task } => (method, plan, task),
        Job::Time(timing) => return L::outline(Timed { timing, equations }),
    };
    match (method, plan) {
        (Method::Erk(method), _) => L::outline(ByErk { method, equations, task }),
        (Method::Rkc(method), _) => L::outline(ByRkc { method, equations, task }),
        (Method::Rosenbrock(method), Some(plan)) => {
            L::outline(ByRosenbrock { method, equations, plan, task });
        }
        (Method::Radau(method), Some(plan)) => {
            L::outline(ByRadau { method, equations, plan, task });
        }
        (Method::Exponential(method), Some(plan)) => {
            L::outline(ByExponential { method, equations, plan, task });
        }
        (Method::Rosenbrock(_) | Method::Radau(_) | Method::Exponential(_), None) => {
            unreachable!("a solver plans for a method that needs a Jacobian")
        }
    }
}

struct ByErk<'a, L: Lanes> {
    method: &'a Erk,
    equations: &'a dyn Equations<L>,
    task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByErk<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByErk { method, equations, task } = self;
        let stepper = ErkStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}

struct ByRkc<'a, L: Lanes> {
    method: &'a Rkc,
    equations: &'a dyn Equations<L>,
    task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByRkc<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByRkc { method, equations, task } = self;
        let stepper = RkcStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}

struct ByRosenbrock<'a, L: Lanes> {
    method: &'a Rosenbrock,
    equations: &'a dyn Equations<L>,
    plan: &'a Plan,
    task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByRosenbrock<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByRosenbrock { method, equations, plan, task } = self;
        let equations = Linearised::new(equations, plan);
        let stepper = RosenbrockStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}

struct ByRadau<'a, L: Lanes> {
    method: &'a Radau,
    equations: &'a dyn Equations<L>,
    plan: &'a Plan,
    task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByRadau<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByRadau { method, equations, plan, task } = self;
        let equations = Linearised::new(equations, plan);
        let stepper = RadauStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}

struct ByExponential<'a, L: Lanes> {
    method: &'a Exponential,
    equations: &'a dyn Equations<L>,
    plan: &'a Plan,
    task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByExponential<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByExponential { method, equations, plan, task } = self;
        let equations = Linearised::new(equations, plan);
        let stepper = ExponentialStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}

struct Timed<'a, L: Lanes> {
    timing: &'a Timing<'a, L::Scalar>,
    equations: &'a dyn Equations<L>,
}

impl<L: Lanes> Outlined for Timed<'_, L> {
    #[inline(always)]
    fn run(self) {
        self.timing.measure(self.equations);
    }
}
