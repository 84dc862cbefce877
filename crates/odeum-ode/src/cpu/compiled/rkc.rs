//! RKC, on a system whose type is forgotten.

use super::super::Task;
use super::super::drive::drive;
use crate::method::Rkc;
use crate::method::rhs::Equations;
use crate::method::rkc::stepper::RkcStepper;
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// Integrates by the method what the task gives.
pub(super) struct ByRkc<'a, L: Lanes> {
    pub(super) method: &'a Rkc,
    pub(super) equations: &'a dyn Equations<L>,
    pub(super) task: &'a Task<'a, L::Scalar>,
}

impl<L: Lanes> Outlined for ByRkc<'_, L> {
    #[inline(always)]
    fn run(self) {
        let ByRkc { method, equations, task } = self;
        let stepper = RkcStepper::new(method, &task.options.tolerance, equations);
        drive(stepper, method.controller, task);
    }
}
