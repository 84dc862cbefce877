//! The kinds of systems behind a pointer.

use super::AnySystem;
use crate::cpu::{ByLanes, ERK, NONE, OnLanes, RKC};
use crate::gpu::DeviceSystem;
use crate::method::rhs::{Equations, Erased};
use crate::problems::{Builtin, Problem};
use crate::slopes;
use odeum_core::{Error, Graph, System, Tape};
use odeum_kinetics::Reactor;
use std::sync::Arc;

/// The methods that are compiled for tapes: explicit pairs, of which a step costs a seventh more of a small system where that is called
/// through a pointer. Unit tests integrate nothing.
const FOR_TAPES: u8 = if cfg!(test) { NONE } else { ERK };

/// Any system.
pub(super) struct Held<S>(pub(super) S);

impl<S: System + Send> AnySystem for Held<S> {
    fn trace(&self) -> Option<Graph> {
        Some(Graph::trace(&self.0))
    }

    fn on_device(&self) -> DeviceSystem {
        DeviceSystem::traced(&self.0)
    }

    fn in_f64(&self) -> Box<dyn OnLanes<f64> + '_> {
        Box::new(ByLanes::<S, NONE>(&self.0))
    }

    fn in_f32(&self) -> Option<Box<dyn OnLanes<f32> + '_>> {
        Some(Box::new(ByLanes::<S, NONE>(&self.0)))
    }

    fn on_numbers(&self) -> Box<dyn Equations<f64> + '_> {
        Box::new(Erased(&self.0))
    }

    fn check_slopes(&self, t: f64, y: &[f64], p: &[f64]) -> Result<(), Error> {
        slopes::check(&self.0, t, y, p)
    }

    fn is_callers(&self) -> bool {
        !S::INTERPRETED
    }
}

/// A system that was recorded or read.
pub(super) struct Taped(pub(super) Tape);

impl AnySystem for Taped {
    fn trace(&self) -> Option<Graph> {
        Some(Graph::trace(&self.0))
    }

    fn on_device(&self) -> DeviceSystem {
        DeviceSystem::traced(&self.0)
    }

    fn in_f64(&self) -> Box<dyn OnLanes<f64> + '_> {
        Box::new(ByLanes::<Tape, FOR_TAPES>(&self.0))
    }

    fn in_f32(&self) -> Option<Box<dyn OnLanes<f32> + '_>> {
        Some(Box::new(ByLanes::<Tape, FOR_TAPES>(&self.0)))
    }

    fn on_numbers(&self) -> Box<dyn Equations<f64> + '_> {
        Box::new(Erased(&self.0))
    }
}

/// A system that is compiled in this crate in double precision, for which the methods of `INLINED` are
/// compiled too; in single precision its tape.
struct Native<S, const INLINED: u8> {
    system: S,
    tape: Tape,
}

impl<S: System + Send, const INLINED: u8> AnySystem for Native<S, INLINED> {
    fn trace(&self) -> Option<Graph> {
        Some(Graph::trace(&self.system))
    }

    fn on_device(&self) -> DeviceSystem {
        DeviceSystem::traced(&self.system)
    }

    fn in_f64(&self) -> Box<dyn OnLanes<f64> + '_> {
        Box::new(ByLanes::<S, INLINED>(&self.system))
    }

    fn in_f32(&self) -> Option<Box<dyn OnLanes<f32> + '_>> {
        Some(Box::new(ByLanes::<Tape, FOR_TAPES>(&self.tape)))
    }

    fn on_numbers(&self) -> Box<dyn Equations<f64> + '_> {
        Box::new(Erased(&self.system))
    }
}

/// The built-in problems of which benchmarks measure compiled code, with the methods that they measure, and
/// Van der Pol's; `None` of the others.
pub(super) fn native(problem: &Problem) -> Option<Box<dyn AnySystem>> {
    fn boxed<S: System + Send + 'static, const INLINED: u8>(system: S) -> Box<dyn AnySystem> {
        let tape = Tape::trace(&system);
        Box::new(Native::<S, INLINED> { system, tape })
    }
    match *problem.builtin() {
        Builtin::Pleiades(system) => Some(boxed::<_, ERK>(system)),
        Builtin::Lorenz(system) => Some(boxed::<_, ERK>(system)),
        Builtin::Brusselator1d(system) => Some(boxed::<_, RKC>(system)),
        Builtin::VanDerPol(system) => Some(boxed::<_, NONE>(system)),
        _ => None,
    }
}

/// A gas that reacts: in double precision, and nothing that could be recorded.
pub(super) struct Gas(pub(super) Arc<Reactor>);

impl AnySystem for Gas {
    fn trace(&self) -> Option<Graph> {
        None
    }

    fn on_device(&self) -> DeviceSystem {
        DeviceSystem::reactor(&self.0)
    }

    fn in_f64(&self) -> Box<dyn OnLanes<f64> + '_> {
        Box::new(ByLanes::<Reactor, NONE>(&self.0))
    }

    fn in_f32(&self) -> Option<Box<dyn OnLanes<f32> + '_>> {
        None
    }

    fn on_numbers(&self) -> Box<dyn Equations<f64> + '_> {
        Box::new(Erased(&*self.0))
    }

    fn reactor(&self) -> Option<&Arc<Reactor>> {
        Some(&self.0)
    }
}
