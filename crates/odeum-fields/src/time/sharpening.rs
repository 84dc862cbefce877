//! Steps of forward Euler that sharpen what a velocity carries.

use crate::analysis::sample::InMemory;
use crate::field::Field;
use crate::problem::{Advection, Problem};
use crate::time::sampling::Sampling;
use crate::time::stability::{Judge, within};
use odeum_ode::{Error, Scalar};

/// Times of a span.
const TIMES: usize = 33;

/// The largest step of forward Euler whose anti-diffusion w²Δt/2 is at most half of the diffusion along each axis, where Koren's scheme, which
/// adds next to none, carries species: D/w², with the least D of these and the largest w. `None` where nothing is carried so.
///
/// # Errors
/// As [`stability`](crate::stability).
pub fn sharpening_step<T: Scalar>(
    problem: &Problem,
    field: &Field<T>,
    (start, end): (f64, f64),
) -> Result<Option<f64>, Error> {
    if problem.advection != Advection::Koren {
        return Ok(None);
    }
    let judge = Judge::new(problem)?;
    let times = within((start, end), TIMES);
    let Some(speeds) = judge.speeds(problem, &times) else { return Ok(None) };
    let spacing = problem.grid.spacing();
    // Along a single cell nothing is sharp.
    let wide = (0..3).filter(|axis| problem.grid.shape()[*axis] > 1);
    let fastest = wide.map(|axis| speeds[axis] * spacing[axis]).fold(0.0, f64::max);
    let values = InMemory(field, problem.mask.as_ref());
    let of = (problem, &judge.boundaries[..], &judge.linear);
    let states = judge.sample_cells.sample(of, &values, &[start], Sampling::Running)?;
    let matrices = states.iter().flat_map(|state| judge.linear.at(problem, state, start));
    let least = matrices.map(|parts| parts.least_carried()).fold(f64::INFINITY, f64::min);
    Ok((fastest > 0.0).then(|| least.max(0.0) / fastest.powi(2)))
}
