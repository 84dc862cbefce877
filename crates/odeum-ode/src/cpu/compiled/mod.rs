//! Work on systems whose type is forgotten.
//!
//! It calls a system through a table of functions ([`Equations`]), so nothing in it depends on the type of
//! the system. It is compiled in this crate, once for each lane pack, and found by the pack when it is
//! called: generic code that is compiled in other crates holds no copy of it. Each family of methods has a module, which
//! makes it a code generation unit: a change in one leaves what is compiled of the others.

mod erk;
mod exponential;
mod radau;
mod rkc;
mod rosenbrock;

use super::Job;
use super::inlining::Timing;
use crate::method::Method;
use crate::method::rhs::Equations;
use erk::ByErk;
use exponential::ByExponential;
use odeum_core::lanes::PackVisitor;
use odeum_core::real::Outlined;
use odeum_core::{Isa, Lanes, Scalar};
use radau::ByRadau;
use rkc::ByRkc;
use rosenbrock::ByRosenbrock;
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

/// The code of all packs. Not generic: here, and nowhere else, it is compiled. Unit tests of this crate, for which it is compiled once
/// more, integrate in double precision by explicit Runge-Kutta methods: the rest of it would take minutes. What integrates by
/// all methods is in `tests`.
#[inline(never)]
fn compiled() -> &'static [Option<Compiled>; PACKS] {
    static ALL: OnceLock<[Option<Compiled>; PACKS]> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Collected([const { None }; PACKS]);
        Isa::visit_packs::<f64, _>(&mut all);
        if !cfg!(test) {
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
    match (method, plan) {
        (Method::Erk(method), _) => L::outline(ByErk { method, equations, task }),
        _ if cfg!(test) => {
            unreachable!("unit tests integrate by explicit Runge-Kutta methods alone")
        }
        (Method::Rosenbrock(method), Some(plan)) => {
            L::outline(ByRosenbrock { method, equations, plan, task });
        }
        _ if const { PAIR } => unreachable!("lanes that wait for each other do not go in pairs"),
        (Method::Rkc(method), _) => L::outline(ByRkc { method, equations, task }),
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
