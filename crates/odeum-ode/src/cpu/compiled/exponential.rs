//! Exponential methods, on a system whose type is forgotten.

use super::super::Task;
use super::super::drive::drive;
use crate::method::Exponential;
use crate::method::exponential::stepper::ExponentialStepper;
use crate::method::linearised::{JacobianPlan, Linearised};
use crate::method::rhs::Equations;
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// Integrates by the method what the task gives.
pub(super) struct ByExponential<'a, L: Lanes> {
    pub(super) method: &'a Exponential,
    pub(super) equations: &'a dyn Equations<L>,
    pub(super) plan: &'a JacobianPlan,
    pub(super) task: &'a Task<'a, L::Scalar>,
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
