//! A time, and what follows from it.

use super::transport;
use crate::cpu::native::{Code, Factors};
use crate::plan::{BoundVelocity, Plan};
use crate::problem::boundaries::{Ghost, Ghosts};
use odeum_core::Scalar;

/// A time, and what follows from it.
pub(crate) struct Moment<T> {
    pub(crate) t: f64,
    /// Ghosts of each species, then of the potentials.
    pub(crate) ghosts: Vec<Ghosts<T>>,
    /// Ghosts of velocities and coefficients.
    pub(crate) inherited: Ghosts<T>,
    /// w/h of a uniform velocity.
    pub(crate) speed: [f64; 3],
    /// Species, cell and rate of point sources.
    pub(crate) sources: Vec<(usize, [usize; 3], f64)>,
    /// What the code of outputs and that of potentials read.
    pub(crate) numbers: [Vec<T>; 2],
}

impl<T: Scalar> Moment<T> {
    fn new() -> Moment<T> {
        Moment {
            t: f64::NAN,
            ghosts: Vec::new(),
            inherited: [[Ghost::Mirror; 2]; 3],
            speed: [0.0; 3],
            sources: Vec::new(),
            numbers: [Vec::new(), Vec::new()],
        }
    }

    /// Moments at these times, in memory that is used again.
    pub(super) fn all<'m>(
        moments: &'m mut Vec<Moment<T>>,
        plan: &Plan<T>,
        times: &[f64],
        codes: [Option<&Code>; 2],
        factors: &Factors<'_>,
    ) -> &'m [Moment<T>] {
        if moments.len() < times.len() {
            moments.resize_with(times.len(), Moment::new);
        }
        for (moment, t) in moments.iter_mut().zip(times) {
            moment.set(plan, *t, codes, factors);
        }
        &moments[..times.len()]
    }

    /// Makes this the moment at `t`, with the numbers that the codes of outputs and of potentials read.
    fn set(&mut self, plan: &Plan<T>, t: f64, codes: [Option<&Code>; 2], factors: &Factors<'_>) {
        self.t = t;
        self.ghosts.clear();
        self.ghosts.extend(plan.boundaries.iter().map(|boundaries| boundaries.at(t)));
        // Nothing passes the boundaries of a potential, as nothing passes those of coefficients.
        self.inherited = transport::inherited(&self.ghosts[0]);
        self.ghosts.extend(std::iter::repeat_n(self.inherited, plan.n_potentials()));
        let spacing = plan.grid.spacing();
        self.speed = match &plan.velocity {
            Some(BoundVelocity::Uniform(w)) => [0, 1, 2].map(|axis| w[axis].at(t) / spacing[axis]),
            _ => [0.0; 3],
        };
        self.sources.clear();
        self.sources.extend(plan.sources.iter().map(|s| (s.species, s.cell, s.rate.at(t))));
        for (numbers, code) in self.numbers.iter_mut().zip(codes) {
            numbers.clear();
            if let Some(code) = code {
                numbers.extend(code.scalars::<T>(t, factors));
            }
        }
    }
}

/// Whether there are ghosts along z that no cell is equal to.
pub(super) fn boundaries_in_z<T: Scalar>(moments: &[Moment<T>]) -> bool {
    let ends = moments.iter().flat_map(|moment| &moment.ghosts).flat_map(|ghosts| &ghosts[2]);
    ends.into_iter().any(|ghost| matches!(ghost, Ghost::Affine { .. }))
}
