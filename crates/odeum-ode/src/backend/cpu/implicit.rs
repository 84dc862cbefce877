//! Runs by methods that need a Jacobian.
//!
//! They call a system through a table of functions ([`Equations`]), so nothing in them depends on its
//! type. They are compiled in this crate, once for each lane pack, and found by the pack when they are
//! called: generic code that is compiled in other crates holds no copy of them.

use super::Task;
use super::drive::drive;
use crate::method::linearised::{Equations, Linearised, Plan};
use crate::method::radau::stepper::RadauStepper;
use crate::method::rosenbrock::stepper::RosenbrockStepper;
use crate::method::{Radau, Rosenbrock};
use odeum_core::lanes::PackVisitor;
use odeum_core::real::Outlined;
use odeum_core::{Isa, Lanes, Scalar, System};
use std::any::TypeId;
use std::sync::OnceLock;

/// A method.
#[derive(Clone, Copy)]
pub(super) enum Family<'a> {
    Rosenbrock(&'a Rosenbrock),
    Radau(&'a Radau),
}

/// Integrates the systems of a task, where there is a plan.
#[inline(always)]
pub(super) fn run<L: Lanes, S: System>(
    method: Family<'_>,
    system: &S,
    plan: Option<&Plan>,
    task: &Task<'_, L::Scalar>,
) {
    let Some(plan) = plan else { return };
    let run = Run::<L> { method, equations: &Linearised { system, plan }, task };
    let mut compiled = compiled().iter().flatten();
    let compiled = compiled.find(|compiled| compiled.pack == TypeId::of::<L>());
    let Some(compiled) = compiled else { unreachable!("lanes that are dispatched are visited") };
    // SAFETY: the function was made for this very pack.
    unsafe { (compiled.run)((&raw const run).cast()) };
}

/// A run over these lanes.
struct Run<'a, L: Lanes> {
    method: Family<'a>,
    equations: &'a dyn Equations<L>,
    task: &'a Task<'a, L::Scalar>,
}

/// The code of one pack.
struct Compiled {
    pack: TypeId,
    /// Takes a pointer to a [`Run`] over this pack.
    run: unsafe fn(*const ()),
}

/// Three instruction sets with a pack and a block each, in two precisions.
const PACKS: usize = 12;

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
    let Run { method, equations, task } = unsafe { &*run.cast::<Run<'_, L>>() };
    match *method {
        Family::Rosenbrock(method) => {
            L::outline(ByRosenbrock { method, equations: *equations, task });
        }
        Family::Radau(method) => L::outline(ByRadau { method, equations: *equations, task }),
    }
}

struct ByRosenbrock<'a, L: Lanes> {
    method: &'a Rosenbrock,
    equations: &'a dyn Equations<L>,
    task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByRosenbrock<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByRosenbrock { method, equations, task } = self;
        let stepper = RosenbrockStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}

struct ByRadau<'a, L: Lanes> {
    method: &'a Radau,
    equations: &'a dyn Equations<L>,
    task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByRadau<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByRadau { method, equations, task } = self;
        let stepper = RadauStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}
