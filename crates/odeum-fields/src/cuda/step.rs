//! What changes from step to step: the argument of a kernel.

use crate::plan::{Blow, Plan, Source};
use crate::problem::Problem;
use crate::quantity::Course;
use crate::walls::{Ghost, SpeciesWalls};
use odeum::Scalar;

/// The numbers of `OdStep`, all of one type: t, h, factors of Laplacians \[S × (S + K)\], shifts of
/// walls \[6 S\], speeds \[3\], rates.
/// `sides` tells of each axis whether the wind comes from the low end.
pub(super) struct Step<T> {
    pub(super) numbers: Vec<T>,
    pub(super) sides: [bool; 3],
}

impl<T: Scalar> Step<T> {
    /// The step of size `h` from time `t`.
    pub(super) fn new(plan: &Plan<T>, t: f64, h: f64) -> Step<T> {
        let mut numbers = vec![T::from_f64(t), T::from_f64(h)];
        let laplacians = plan.layout.species + plan.n_potentials();
        match &plan.linear {
            Some([rhs, _]) => {
                let spread = |part: &f64| T::from_f64(h * (part * plan.weights.scale));
                numbers.extend(rhs.parts.iter().flatten().map(spread));
            }
            None => numbers.resize(2 + plan.layout.species * laplacians, T::from_f64(0.0)),
        }
        for walls in &plan.walls {
            for ghost in walls.at::<T>(t).iter().flatten() {
                numbers.push(match ghost {
                    Ghost::Affine { shift, .. } => *shift,
                    _ => T::from_f64(0.0),
                });
            }
        }
        let spacing = plan.grid.spacing();
        let speed = match &plan.wind {
            Some(Blow::Uniform(w)) => [0, 1, 2].map(|axis| w[axis].at(t) / spacing[axis]),
            _ => [0.0; 3],
        };
        numbers.extend(speed.map(|speed| T::from_f64(speed.abs())));
        numbers.extend(plan.sources.iter().map(|source| T::from_f64(source.rate.at(t))));
        numbers.push(T::from_f64(0.0));
        Step { numbers, sides: speed.map(|speed| speed > 0.0) }
    }

    /// So many steps of size `h` from time `t`, for a kernel that takes them at once; `None` when
    /// the wind turns between them.
    pub(super) fn several(plan: &Plan<T>, t: f64, h: f64, count: usize) -> Option<Step<T>> {
        let mut all = Step::new(plan, t, h);
        for n in 1..count {
            let step = Step::new(plan, t + n as f64 * h, h);
            if step.sides != all.sides {
                return None;
            }
            all.numbers.extend(step.numbers);
        }
        Some(all)
    }
}

/// Whether all steps of one size have the same numbers but for the time, and F does not ask for it.
pub(super) fn is_steady<T: Scalar>(problem: &Problem, plan: &Plan<T>) -> bool {
    let constant = |source: &Source| matches!(source.rate, Course::Constant(_));
    !problem.changes_with_time()
        && plan.walls.iter().all(SpeciesWalls::is_steady)
        && plan.sources.iter().all(constant)
}
