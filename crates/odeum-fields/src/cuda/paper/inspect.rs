//! The kernels without a GPU, for checks: their texts, and runs on the host.

use super::launches::{self, Place};
use super::points::Points;
use super::task::{Courses, Task};
use super::{Blocks, problem, source};
use crate::field::Field;
use crate::problems::Paper;
use odeum::{Error, Scalar};
use std::ffi::c_void;

/// What stands after the text, to run it on the host: after the library's shim and
/// [`HOST_THREADS`](crate::cuda::inspect::HOST_THREADS).
pub const HOST_MAIN: &str = include_str!("../device/paper/host_main.h");

/// The text of a problem, and the names of its kernels.
///
/// # Errors
/// A problem that is not of table 1, or blocks that cannot be.
pub fn kernels<T: Scalar>(
    paper: Paper,
    blocks: Blocks,
) -> Result<(String, &'static [&'static str]), Error> {
    blocks.check::<T>(paper)?;
    let problem = problem(paper, [1; 3])?;
    Ok((source::text::<T>(paper, blocks, &problem), launches::kernels(paper)))
}

/// Bytes of the kernels' task.
pub fn task_size<T: Scalar>() -> usize {
    size_of::<Task<T>>()
}

/// What a kernel compiled for the host is given.
pub struct Call {
    /// Its number among those of the text.
    pub kernel: usize,
    /// The field, to read.
    pub from: *const c_void,
    /// The array to write.
    pub to: *mut c_void,
    /// ∇²c of the front.
    pub laplacian: *mut c_void,
    /// The task.
    pub task: *const c_void,
    /// Blocks.
    pub blocks: [u64; 3],
    /// Threads of a block.
    pub block: [u64; 2],
}

/// Steps of size `h` from time `t`, by kernels compiled for the host, which `entry` runs.
///
/// # Errors
/// A problem that is not of table 1.
pub fn steps_on_host<T: Scalar>(
    entry: &mut dyn FnMut(&Call),
    (paper, blocks): (Paper, Blocks),
    field: &Field<T>,
    (t, h, steps): (f64, f64, u64),
) -> Result<Field<T>, Error> {
    let problem = problem(paper, field.shape())?;
    let points = Points::new::<T>(&problem.grid, field.species())?;
    let courses = Courses::new(&problem)?;
    let mut now = points.pack(field);
    let mut next = vec![T::from_f64(f64::NAN); points.len()];
    let mut laplacian = vec![T::from_f64(f64::NAN); points.volume];
    for n in 0..steps {
        let mut task = courses.task::<T>(&points, t + n as f64 * h, h);
        for launch in launches::of_step(paper, blocks, &points) {
            task.arrays = launch.arrays as i32;
            task.inflow = i32::from(launch.inflow);
            let (from, laplacian) = (now.as_mut_ptr(), laplacian.as_mut_ptr());
            let to = match launch.to {
                Place::Now => from,
                Place::Next => next.as_mut_ptr(),
                Place::Laplacian => laplacian,
            };
            entry(&Call {
                kernel: launch.kernel,
                from: from.cast_const().cast(),
                to: to.cast(),
                laplacian: laplacian.cast(),
                task: (&raw const task).cast(),
                blocks: launch.blocks.map(|n| n as u64),
                block: launch.threads.map(|n| n as u64),
            });
        }
        std::mem::swap(&mut now, &mut next);
    }
    let mut result = Field::zeros(&problem.grid, points.species)?;
    points.unpack(&now, &mut result);
    Ok(result)
}
