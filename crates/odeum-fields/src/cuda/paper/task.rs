//! What kernels are given beside the arrays.

use super::points::Points;
use crate::problem::{Problem, Wind};
use crate::quantity::Course;
use odeum_ode::{Error, Scalar};

/// `OdPaperTask` of `task.cuh`, field by field.
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
    wind: [T; 3],
    emission: T,
}

/// What changes with time.
pub(super) struct Courses {
    wind: Option<[Course; 3]>,
    emission: Option<Course>,
    source: [usize; 3],
    spacing: f64,
}

impl Courses {
    pub(super) fn new(problem: &Problem) -> Result<Courses, Error> {
        let params = problem.model.params();
        let wind = match &problem.wind {
            Some(Wind::Uniform([x, y, z])) => {
                Some([x.bind(params, "wind")?, y.bind(params, "wind")?, z.bind(params, "wind")?])
            }
            _ => None,
        };
        let source = problem.sources.first();
        let emission = source.map(|source| source.rate.bind(params, "source")).transpose()?;
        let spacing = problem.grid.spacing()[0];
        Ok(Courses { wind, emission, source: source.map_or([0; 3], |s| s.cell), spacing })
    }

    /// The task of the step of size `h` from time `t`.
    pub(super) fn task<T: Scalar>(&self, points: &Points, t: f64, h: f64) -> Task<T> {
        let wind = self
            .wind
            .as_ref()
            .map_or([0.0; 3], |wind| [0, 1, 2].map(|axis| wind[axis].at(t) / self.spacing));
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
            wind: wind.map(T::from_f64),
            emission: T::from_f64(emission),
        }
    }
}
