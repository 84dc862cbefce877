//! Work on systems whose type is forgotten.
//!
//! It calls a system through a table of functions ([`Equations`]), so nothing in it depends on the type of
//! the system; and the loop of steps calls a method in the same way ([`OutOfLine`]), so that one serves all
//! methods. Both are compiled in this crate, once for each lane pack, and found by the pack when they are
//! called: generic code that is compiled in other crates holds no copy of them.

mod out_of_line;

use super::drive::drive;
use super::inlining::Timing;
use super::{Job, Task};
use crate::controller::Controller;
use crate::method::Method;
use crate::method::erk::stepper::ErkStepper;
use crate::method::exponential::stepper::ExponentialStepper;
use crate::method::linearised::Linearised;
use crate::method::radau::stepper::RadauStepper;
use crate::method::rhs::Equations;
use crate::method::rkc::stepper::RkcStepper;
use crate::method::rosenbrock::stepper::RosenbrockStepper;
use crate::method::stepper::Stepper;
use odeum_core::lanes::PackVisitor;
use odeum_core::real::Outlined;
use odeum_core::{Isa, Lanes, Scalar};
use out_of_line::OutOfLine;
use std::any::TypeId;
use std::sync::OnceLock;

/// Does a job on a system, over these lanes.
#[inline(always)]
pub(super) fn run<L: Lanes>(equations: &dyn Equations<L>, job: Job<'_, L::Scalar>) {
    let run = Run::<L> { equations, job };
    let mut compiled = compiled().iter().flatten();
    let compiled = compiled.find(|compiled| compiled.pack == TypeId::of::<L>());
    let Some(compiled) = compiled else {
        unreachable!("lanes that are dispatched are visited, but in unit tests")
    };
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

/// The code of all packs. Not generic: here, and nowhere else, it is compiled. Unit tests of this crate, for which all would be compiled
/// once more, integrate nothing: what integrates is in `tests`.
#[inline(never)]
fn compiled() -> &'static [Option<Compiled>; PACKS] {
    static ALL: OnceLock<[Option<Compiled>; PACKS]> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Collected([const { None }; PACKS]);
        if !cfg!(test) {
            Isa::visit_packs::<f64, _>(&mut all);
            Isa::visit_packs::<f32, _>(&mut all);
        }
        all.0
    })
}

struct Collected([Option<Compiled>; PACKS]);

impl Collected {
    fn add<L: Lanes>(&mut self, run: unsafe fn(*const ())) {
        if let Some(free) = self.0.iter_mut().find(|place| place.is_none()) {
            *free = Some(Compiled { pack: TypeId::of::<L>(), run });
        }
    }
}

impl<T: Scalar> PackVisitor<T> for Collected {
    fn visit<L: Lanes<Scalar = T>>(&mut self) {
        self.add::<L>(run_compiled::<L, false>);
    }

    fn visit_pair<L: Lanes<Scalar = T>>(&mut self) {
        self.add::<L>(run_compiled::<L, true>);
    }
}

/// Does a job by whichever method; where the pack is a `PAIR`, by those alone that [go over pairs](super::pack_pairs).
///
/// # Safety
///
/// The pointer is to a live [`Run`] over `L`.
unsafe fn run_compiled<L: Lanes, const PAIR: bool>(run: *const ()) {
    // SAFETY: the caller's promise.
    let Run { equations, job } = *unsafe { &*run.cast::<Run<'_, L>>() };
    let (method, plan, task) = match job {
        Job::Integrate { method, plan, task } => (method, plan, task),
        Job::Time(timing) => return L::outline(Timed { timing, equations }),
    };
    let tolerance = &task.options.tolerance;
    match (method, plan) {
        (Method::Erk(method), _) => {
            let stepper = ErkStepper::new(method, tolerance, equations);
            integrate(stepper, method.controller, task);
        }
        (Method::Rosenbrock(method), Some(plan)) => {
            let equations = Linearised::new(equations, plan);
            let stepper = RosenbrockStepper::new(method, tolerance, equations);
            integrate(stepper, method.controller, task);
        }
        _ if const { PAIR } => unreachable!("lanes that wait for each other do not go in pairs"),
        (Method::Rkc(method), _) => {
            let stepper = RkcStepper::new(method, tolerance, equations);
            integrate(stepper, method.controller, task);
        }
        (Method::Radau(method), Some(plan)) => {
            let equations = Linearised::new(equations, plan);
            let stepper = RadauStepper::new(method, tolerance, equations);
            integrate(stepper, method.controller, task);
        }
        (Method::Exponential(method), Some(plan)) => {
            let equations = Linearised::new(equations, plan);
            let stepper = ExponentialStepper::new(method, tolerance, equations);
            integrate(stepper, method.controller, task);
        }
        (Method::Rosenbrock(_) | Method::Radau(_) | Method::Exponential(_), None) => {
            unreachable!("a solver plans for a method that needs a Jacobian")
        }
    }
}

/// Integrates by a method what the task gives.
fn integrate<L: Lanes>(
    stepper: impl Stepper<L>,
    controller: Controller,
    task: &Task<'_, L::Scalar>,
) {
    L::outline(Integration { stepper: &mut OutOfLine(stepper), controller, task });
}

struct Integration<'a, L: Lanes> {
    stepper: &'a mut dyn Stepper<L>,
    controller: Controller,
    task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for Integration<'_, L> {
    #[inline(always)]
    fn run(self) {
        drive(self.stepper, self.controller, self.task);
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
