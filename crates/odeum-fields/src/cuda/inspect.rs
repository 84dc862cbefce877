//! Kernels without a GPU, for checks: their texts, and runs on the host.

use super::shape::Shape;
use super::source;
use super::step::Step;
use super::tiling::Tiling;
use crate::field::Field;
use crate::plan::Plan;
use crate::problem::Problem;
use odeum::{Error, Scalar};
use std::ffi::c_void;

/// What stands after a kernel's text to run it on the host.
pub const HOST_MAIN: &str = include_str!("device/host_main.h");

/// The text of the kernel of a forward Euler step from time `t`.
pub fn euler<T: Scalar>(problem: &Problem, tiling: Tiling, t: f64) -> Result<String, Error> {
    let plan = Plan::<T>::new(problem)?;
    source::refuse(problem, &plan)?;
    tiling.check(size_of::<T>())?;
    let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
    let sides = Step::new(&plan, t, 0.0).sides;
    Ok(source::euler(problem, &plan, &shape, &tiling, sides))
}

/// What a kernel compiled for the host is given.
pub struct Call {
    /// The field, to read.
    pub from: *const c_void,
    /// The field, to write.
    pub to: *mut c_void,
    /// The numbers of the step.
    pub step: *const c_void,
    /// Planes of a block.
    pub planes: i32,
    /// Blocks.
    pub blocks: [usize; 3],
}

/// A step of forward Euler by a kernel compiled for the host, which `entry` runs.
pub fn step_on_host<T: Scalar>(
    entry: &mut dyn FnMut(&Call),
    problem: &Problem,
    tiling: Tiling,
    field: &Field<T>,
    (t, h): (f64, f64),
) -> Result<Field<T>, Error> {
    let plan = Plan::<T>::new(problem)?;
    let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
    let step = Step::new(&plan, t, h);
    let from = shape.pack(field);
    // What is not written is not finite.
    let mut to = vec![T::from_f64(f64::NAN); shape.len()];
    let [x, y] = tiling.blocks(shape.cells);
    let planes = tiling.planes(shape.cells, 8);
    entry(&Call {
        from: from.as_ptr().cast(),
        to: to.as_mut_ptr().cast(),
        step: step.numbers.as_ptr().cast(),
        planes: planes as i32,
        blocks: [x, y, shape.cells[2].div_ceil(planes)],
    });
    let mut result = Field::zeros(&plan.grid, shape.species)?;
    shape.unpack(&to, &mut result);
    Ok(result)
}
