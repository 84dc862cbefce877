//! Rosenbrock methods, on a system whose type is forgotten.

use super::super::Task;
use super::super::drive::drive;
use crate::method::Rosenbrock;
use crate::method::linearised::{JacobianPlan, Linearised};
use crate::method::rhs::Equations;
use crate::method::rosenbrock::stepper::RosenbrockStepper;
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// Integrates by the method what the task gives.
pub(super) struct ByRosenbrock<'a, L: Lanes> {
    pub(super) method: &'a Rosenbrock,
    pub(super) equations: &'a dyn Equations<L>,
    pub(super) plan: &'a JacobianPlan,
    pub(super) task: &'a Task<'a, L::Scalar>,
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
