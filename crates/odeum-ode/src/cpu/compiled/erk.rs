//! Explicit Runge–Kutta pairs, on a system whose type is forgotten.

use super::super::Task;
use super::super::drive::drive;
use crate::method::Erk;
use crate::method::erk::stepper::ErkStepper;
use crate::method::rhs::Equations;
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// Integrates by the method what the task gives.
pub(super) struct ByErk<'a, L: Lanes> {
    pub(super) method: &'a Erk,
    pub(super) equations: &'a dyn Equations<L>,
    pub(super) task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByErk<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByErk { method, equations, task } = self;
        let stepper = ErkStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}
