//! What kernels are given beside the arrays.

use super::points::Points;
use crate::problem::quantity::TimeDependent;
use crate::problem::{Problem, Velocity};
use odeum_ode::{Error, Scalar};

/// `OdPublishedTask` of `task.cuh`, field by field.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Task<T> {
    extent: [i32; 3],
    row: i32,
    pub(super) arrays: i32,
    pub(super) inflow: i32,
    plane: i64,
    volume: i64,
    source: i64,
    step: T,
    /// w/h along each axis [1/time].
    velocity: [T; 3],
    emission: T,
}

/// What changes with time.
pub(super) struct TimeDependents {
    velocity: Option<[TimeDependent; 3]>,
    emission: Option<TimeDependent>,
    source: [usize; 3],
    spacing: f64,
}

impl TimeDependents {
    pub(super) fn new(problem: &Problem) -> Result<TimeDependents, Error> {
        let params = problem.model.params();
        let velocity = match &problem.velocity {
            Some(Velocity::Uniform([x, y, z])) => Some([
                x.bind(params, "velocity")?,
                y.bind(params, "velocity")?,
                z.bind(params, "velocity")?,
            ]),
            _ => None,
        };
        let source = problem.sources.first();
        let emission = source.map(|source| source.rate.bind(params, "source")).transpose()?;
        let spacing = problem.grid.spacing()[0];
        Ok(TimeDependents {
            velocity,
            emission,
            source: source.map_or([0; 3], |s| s.cell),
            spacing,
        })
    }

    /// The task of the step of size `h` from time `t`.
    pub(super) fn task<T: Scalar>(&self, points: &Points, t: f64, h: f64) -> Task<T> {
        let velocity = self
            .velocity
            .as_ref()
            .map_or([0.0; 3], |velocity| [0, 1, 2].map(|axis| velocity[axis].at(t) / self.spacing));
        let emission = self.emission.as_ref().map_or(0.0, |emission| emission.at(t));
        Task {
            extent: points.extent().map(|n| n as i32),
            row: points.row as i32,
            arrays: points.species as i32,
            inflow: 0,
            plane: points.plane as i64,
            volume: points.volume as i64,
            source: points.at(self.source) as i64,
            step: T::from_f64(h),
            velocity: velocity.map(T::from_f64),
            emission: T::from_f64(emission),
        }
    }
}
