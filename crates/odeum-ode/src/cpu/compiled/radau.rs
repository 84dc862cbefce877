//! Radau IIA, on a system whose type is forgotten.

use super::super::Task;
use super::super::drive::drive;
use crate::method::Radau;
use crate::method::linearised::{JacobianPlan, Linearised};
use crate::method::radau::stepper::RadauStepper;
use crate::method::rhs::Equations;
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// Integrates by the method what the task gives.
pub(super) struct ByRadau<'a, L: Lanes> {
    pub(super) method: &'a Radau,
    pub(super) equations: &'a dyn Equations<L>,
    pub(super) plan: &'a JacobianPlan,
    pub(super) task: &'a Task<'a, L::Scalar>,
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
