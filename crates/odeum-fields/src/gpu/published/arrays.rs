//! Arrays of a problem on a device, and the launches that take them through a step.

use super::launches::{self, Launch, Place};
use super::points::Points;
use super::task::TimeDependents;
use super::{Blocks, source};
use crate::field::Field;
use crate::problem::Problem;
use crate::problems::Builtin;
use odeum_cuda::{Device, Kernel, Memory, Stream};
use odeum_ode::{Error, Scalar};
use std::ffi::c_void;

/// A simulation on whichever device.
pub(super) trait Steps<T>: Send {
    /// Takes `steps` steps of size `h` from time `t` and waits for the last; gives the time on the
    /// device \[s\].
    fn steps(&mut self, steps: u64, t: f64, h: f64) -> Result<f64, Error>;

    /// Reads the present field, as [`Points`] lays it out.
    fn read(&self, values: &mut [T]) -> Result<(), Error>;
}

pub(super) struct Arrays<D: Device> {
    points: Points,
    time_dependent: TimeDependents,
    entries: Vec<D::Kernel>,
    launches: Vec<Launch>,
    stream: D::Stream,
    /// The present field ("first"), and what the next step is written to ("second").
    fields: [D::Memory; 2],
    laplacian: Option<D::Memory>,
}

impl<D: Device> Arrays<D> {
    /// With the values of a field; the blocks have been checked.
    pub(super) fn new<T: Scalar>(
        (builtin, blocks): (Builtin, Blocks),
        problem: &Problem,
        points: Points,
        field: &Field<T>,
        device: D,
    ) -> Result<Arrays<D>, Error> {
        let (bytes, one) = (points.len() * size_of::<T>(), points.volume * size_of::<T>());
        let needed = 2 * bytes + if builtin == Builtin::Front { one } else { 0 };
        let free = device.free_memory(0)?;
        if free < needed {
            let found = format!("{} MiB for two fields", needed >> 20);
            let remedy = format!("{} has {} MiB free", device.name(), free >> 20);
            return Err(Error::input("grid", found, remedy));
        }
        let text = source::text::<T>(builtin, blocks, problem);
        let entries = device.wait(device.compile_async(&text, launches::kernels(builtin)))?;
        let launches = launches::of_step(builtin, blocks, &points);
        for launch in &launches {
            let threads = launch.threads[0] * launch.threads[1];
            entries[launch.kernel].prepare(threads, 0)?;
        }
        let stream = device.stream()?;
        let mut fields = [device.memory(bytes)?, device.memory(bytes)?];
        let time_dependent = TimeDependents::new(problem)?;
        stream.write(&mut fields[0], 0, &points.pack(field))?;
        let laplacian = if builtin == Builtin::Front { Some(device.memory(one)?) } else { None };
        Ok(Arrays { points, time_dependent, entries, launches, stream, fields, laplacian })
    }

    fn step<T: Scalar>(&self, t: f64, h: f64) -> Result<(), Error> {
        let mut task = self.time_dependent.task::<T>(&self.points, t, h);
        let [from, next] = [0, 1].map(|n| self.fields[n].address());
        let laplacian = self.laplacian.as_ref().map_or(0, Memory::address);
        for launch in &self.launches {
            task.arrays = launch.arrays as i32;
            task.inflow = i32::from(launch.inflow);
            let to = match launch.to {
                Place::Now => from,
                Place::Next => next,
                Place::Laplacian => laplacian,
            };
            let mut arguments = [
                (&raw const from).cast_mut().cast::<c_void>(),
                (&raw const to).cast_mut().cast(),
                (&raw const laplacian).cast_mut().cast(),
                (&raw const task).cast_mut().cast(),
            ];
            let entry = &self.entries[launch.kernel];
            // SAFETY: the arguments are those of all kernels of the text, and blocks cover the
            // arrays as the launches of this grid do; the memory lives until the stream has been
            // waited for.
            unsafe {
                self.stream.launch(entry, launch.blocks, launch.threads, 0, &mut arguments)?;
            }
        }
        Ok(())
    }
}

impl<T: Scalar, D: Device> Steps<T> for Arrays<D> {
    fn steps(&mut self, steps: u64, t: f64, h: f64) -> Result<f64, Error> {
        self.stream.record_time(0)?;
        for n in 0..steps {
            self.step::<T>(t + n as f64 * h, h)?;
            self.fields.swap(0, 1);
        }
        self.stream.record_time(1)?;
        self.stream.wait()?;
        Ok(self.stream.elapsed_ms(0, 1)? * 1e-3)
    }

    fn read(&self, values: &mut [T]) -> Result<(), Error> {
        self.stream.read(&self.fields[0], 0, values)
    }
}
