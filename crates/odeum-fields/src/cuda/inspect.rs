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

/// What stands after a kernel's text, and the library's own shim, to run it on the host.
pub const HOST_MAIN: &str = include_str!("device/host_main.h");

/// A kernel.
pub struct KernelText {
    /// Its name.
    pub name: &'static str,
    /// The whole text.
    pub source: String,
}

/// The kernel that sweeps from time `t`.
///
/// # Errors
/// What kernels do not compute, or a tiling that cannot be.
pub fn kernel<T: Scalar>(problem: &Problem, tiling: Tiling, t: f64) -> Result<KernelText, Error> {
    let plan = Plan::<T>::new(problem)?;
    source::refuse(&plan)?;
    tiling.check(plan.n_potentials(), size_of::<T>())?;
    let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
    let sides = Step::new(&plan, t, 0.0).sides;
    let tiling = tiling.fitted(shape.cells[0], plan.periodic()[0]);
    Ok(KernelText {
        name: Tiling::kernel(plan.n_potentials()),
        source: source::text(problem, &plan, &shape, &tiling, sides),
    })
}

/// What a kernel compiled for the host is given.
pub struct Call {
    /// The field, to read.
    pub from: *const c_void,
    /// The field, to write.
    pub to: *mut c_void,
    /// The numbers of the steps.
    pub step: *const c_void,
    /// Planes of a block.
    pub planes: i32,
    /// Blocks.
    pub blocks: [usize; 3],
    /// Threads of a block.
    pub block: [usize; 2],
}

/// As many steps of forward Euler as the tiling is deep, by a kernel compiled for the host, which
/// `entry` runs.
///
/// # Errors
/// A problem that is not sound.
pub fn sweep_on_host<T: Scalar>(
    entry: &mut dyn FnMut(&Call),
    problem: &Problem,
    tiling: Tiling,
    field: &Field<T>,
    (t, h): (f64, f64),
) -> Result<Field<T>, Error> {
    let plan = Plan::<T>::new(problem)?;
    let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
    let step = Step::several(&plan, t, h, tiling.depth)
        .ok_or_else(|| Error::input("wind", "one that turns", "must not between the steps"))?;
    let from = shape.pack(field);
    // What is not written is not finite.
    let mut to = vec![T::from_f64(f64::NAN); shape.len()];
    let [x, y] = tiling.fitted(shape.cells[0], plan.periodic()[0]).blocks(shape.cells);
    let planes = tiling.planes(shape.cells[2], x * y, 8);
    entry(&Call {
        from: from[shape.guard()..].as_ptr().cast(),
        to: to[shape.guard()..].as_mut_ptr().cast(),
        step: step.numbers.as_ptr().cast(),
        planes: planes as i32,
        blocks: [x, y, shape.cells[2].div_ceil(planes)],
        block: tiling.block,
    });
    let mut result = Field::zeros(&plan.grid, shape.species)?;
    shape.unpack(&to, &mut result);
    Ok(result)
}
