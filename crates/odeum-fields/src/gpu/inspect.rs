//! Kernels without a GPU, for checks: their texts.

use super::part::fitted;
use super::shape::Shape;
use super::source;
use super::step::{Addends, Step};
use crate::plan::Plan;
use crate::problem::Problem;
use crate::tiling::{SHARED, Tiling};
use odeum_ode::{Error, Scalar};

/// A kernel.
pub struct KernelText {
    /// Its name.
    pub name: &'static str,
    /// The whole text.
    pub source: String,
}

/// The kernel of forward Euler from time `t`.
///
/// # Errors
/// A problem that is not valid, or a tiling that cannot be.
pub fn kernel<T: Scalar>(problem: &Problem, tiling: Tiling, t: f64) -> Result<KernelText, Error> {
    text::<T>(problem, tiling, |plan| Step::new(plan, t, 0.0))
}

/// The kernel of a stage of a stabilised method: the right-hand side, the field itself, `terms` other
/// fields and the old content of the output.
///
/// # Errors
/// As [`kernel`].
pub fn stage<T: Scalar>(
    problem: &Problem,
    tiling: Tiling,
    terms: usize,
) -> Result<KernelText, Error> {
    let (itself, own, terms) = (Some(1.0), Some(1.0), vec![(1.0, 0); terms]);
    let addends = Addends { itself, own, terms, out: 0 };
    text::<T>(problem, tiling, |plan| Step::blended(plan, 0.0, 1.0, &addends))
}

/// Reductions and combinations, with their names.
pub fn common<T: Scalar>() -> (String, [&'static str; 5]) {
    (source::common::<T>(), super::reduce::NAMES)
}

/// The kernel of velocities and diffusion that differ from cell to cell.
///
/// # Errors
/// A problem that is not valid.
pub fn transport<T: Scalar>(problem: &Problem) -> Result<KernelText, Error> {
    let plan = Plan::<T>::new(problem)?;
    let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
    Ok(KernelText { name: "od_transport", source: source::transport(&plan, &shape) })
}

fn text<T: Scalar>(
    problem: &Problem,
    tiling: Tiling,
    step: impl FnOnce(&Plan<T>) -> Step<T>,
) -> Result<KernelText, Error> {
    let plan = Plan::<T>::new(problem)?;
    let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
    let tiling = fitted(tiling, &plan);
    tiling.check(&plan.cell(), SHARED)?;
    let variant = step(&plan).variant;
    let name = tiling.kernel(plan.n_potentials()).name();
    Ok(KernelText { name, source: source::text(problem, &plan, &shape, &tiling, &variant) })
}
