//! What changes from step to step: the argument of a kernel.

use super::variant::{Blended, Variant};
use crate::backend::Batch;
use crate::plan::linear::Linear;
use crate::plan::{BoundVelocity, Plan, Source};
use crate::problem::Problem;
use crate::problem::boundaries::{Ghost, SpeciesBoundaries};
use crate::problem::quantity::TimeDependent;
use odeum_ode::{Error, Scalar};

/// The numbers of `OdStep`, all of one type: t, h, [factors] of Laplacians and a zero, shifts of
/// boundaries \[6 S\], speeds \[3\], rates.
/// After these the factors and addresses of what else the result is made of.
pub(super) struct Step<T> {
    numbers: Vec<T>,
    /// Addresses of other fields and of the output, of a step that blends.
    addresses: Vec<u64>,
    pub(super) variant: Variant,
}

/// What is added to the right-hand side: factors, and addresses of fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Addends {
    pub(super) itself: Option<f64>,
    pub(super) terms: Vec<(f64, u64)>,
    pub(super) own: Option<f64>,
    pub(super) out: u64,
}

/// Bytes that a kernel takes as arguments (CUDA C++ Programming Guide, from driver 530 on), but for what they are beside the
/// numbers of steps: addresses, planes, a map of memory, and what a step that blends has.
const MOST_BYTES: usize = 32_764 - 512;

/// The factors of Laplacians in F that kernels are given: those of species of their own, or \[S × (S + K)\].
pub(super) fn factors(rhs: &Linear) -> Vec<f64> {
    match rhs.is_diagonal() {
        true => rhs.parts.iter().enumerate().map(|(s, parts)| parts[s]).collect(),
        false => rhs.parts.concat(),
    }
}

/// Refuses a problem whose steps have more numbers than a kernel takes as arguments.
pub(super) fn check<T: Scalar>(plan: &Plan<T>) -> Result<(), Error> {
    if fits(plan, 1) {
        return Ok(());
    }
    let (word, species, sources) = (size_of::<T>(), plan.layout.species, plan.sources.len());
    let (argument, found) =
        if sources > 7 * species { ("sources", sources) } else { ("species", species) };
    let (precision, other) = match word {
        8 => ("double", "single precision or the CPU"),
        _ => ("single", "the CPU"),
    };
    let remedy = format!(
        "a step has {} bytes of numbers, and a kernel on a GPU takes {MOST_BYTES}: {} species that diffuse by themselves in \
         {precision} precision (a point source counts a seventh of one); take {other}",
        word * count(plan),
        MOST_BYTES / word / 7 - 1,
    );
    Err(Error::input(argument, found, remedy))
}

/// Whether a kernel takes so many steps of a problem at once.
pub(super) fn fits<T: Scalar>(plan: &Plan<T>, steps: usize) -> bool {
    steps * count(plan) * size_of::<T>() <= MOST_BYTES
}

/// Numbers of a step.
fn count<T: Scalar>(plan: &Plan<T>) -> usize {
    Step::new(plan, 0.0, 0.0).numbers.len()
}

/// Whether steps fit whatever the equations are.
pub(super) fn fits_for_certain<T: Scalar>(problem: &Problem) -> bool {
    let (species, sources) = (problem.model.species().len(), problem.sources.len());
    let laplacians = species + problem.model.potentials().outputs().len();
    (species * (laplacians + 6) + sources + 7) * size_of::<T>() <= MOST_BYTES
}

impl<T: Scalar> Step<T> {
    /// The step of size `h` from time `t`.
    pub(super) fn new(plan: &Plan<T>, t: f64, h: f64) -> Step<T> {
        let mut numbers = vec![T::from_f64(t), T::from_f64(h)];
        if let Some([rhs, _]) = &plan.linear {
            let spread = |part: &f64| T::from_f64(h * (part * plan.weights.scale));
            numbers.extend(factors(rhs).iter().map(spread));
        }
        numbers.push(T::from_f64(0.0));
        numbers.extend(shifts(plan, t));
        let speed = speeds(plan, t);
        numbers.extend(speed.map(|speed| T::from_f64(speed.abs())));
        numbers.extend(plan.sources.iter().map(|source| T::from_f64(source.rate.at(t))));
        numbers.push(T::from_f64(0.0));
        let variant = Variant { sides: speed.map(|speed| speed > 0.0), blend: None };
        Step { numbers, addresses: Vec::new(), variant }
    }

    /// A sweep at time `t` whose result is `rhs` F and what is added to it.
    pub(super) fn blended(plan: &Plan<T>, t: f64, rhs: f64, what: &Addends) -> Step<T> {
        let mut step = Step::new(plan, t, rhs);
        let numbers = [what.itself.unwrap_or(0.0), what.own.unwrap_or(0.0)].into_iter();
        let numbers = numbers.chain(what.terms.iter().map(|(factor, _)| *factor)).chain([0.0]);
        step.numbers.extend(numbers.map(T::from_f64));
        step.addresses.extend(what.terms.iter().map(|(_, address)| *address));
        step.addresses.extend([0, what.out]);
        let (itself, own) = (what.itself.is_some(), what.own.is_some());
        step.variant.blend = Some(Blended { itself, own, terms: what.terms.len() });
        step
    }

    /// The numbers of `OdTransport` at time `t`: the factor of what is added, shifts of boundaries, speeds
    /// with their signs; then the addresses of its arrays.
    pub(super) fn transport(plan: &Plan<T>, t: f64, h: f64, addresses: Vec<u64>) -> Step<T> {
        let mut numbers = vec![T::from_f64(h)];
        numbers.extend(shifts(plan, t));
        numbers.extend(speeds(plan, t).map(T::from_f64));
        Step { numbers, addresses, variant: Variant::default() }
    }

    /// The argument of a kernel, as it lies in memory: numbers, and from a multiple of eight bytes
    /// on the addresses.
    pub(super) fn argument(&self) -> Vec<u64> {
        let mut words = Vec::with_capacity(self.numbers.len() + self.addresses.len() + 1);
        for numbers in self.numbers.chunks(8 / size_of::<T>()) {
            let word = numbers.iter().rev().fold(0, |word: u64, x| match size_of::<T>() {
                // A single-precision number goes through double precision unchanged.
                4 => word << 32 | u64::from((x.to_f64() as f32).to_bits()),
                _ => x.to_f64().to_bits(),
            });
            words.push(word);
        }
        words.extend(&self.addresses);
        words
    }

    /// So many steps of a batch from step `from` on, for a kernel that takes them at once; `None`
    /// when the velocity turns between them.
    pub(super) fn several(
        plan: &Plan<T>,
        batch: &Batch,
        from: u64,
        count: usize,
    ) -> Option<Step<T>> {
        let mut all = Step::new(plan, batch.t(from), batch.h);
        for n in 1..count as u64 {
            let step = Step::new(plan, batch.t(from + n), batch.h);
            if step.variant != all.variant {
                return None;
            }
            all.numbers.extend(step.numbers);
        }
        Some(all)
    }
}

/// What boundaries add to ghosts, of each species and face.
fn shifts<T: Scalar>(plan: &Plan<T>, t: f64) -> impl Iterator<Item = T> {
    plan.boundaries.iter().flat_map(move |boundaries| {
        boundaries.at::<T>(t).into_iter().flatten().map(|ghost| match ghost {
            Ghost::Affine { shift, .. } => shift,
            _ => T::from_f64(0.0),
        })
    })
}

/// w over the edge of a cell, of a velocity that is the same everywhere.
fn speeds<T: Scalar>(plan: &Plan<T>, t: f64) -> [f64; 3] {
    let spacing = plan.grid.spacing();
    match &plan.velocity {
        Some(BoundVelocity::Uniform(w)) => [0, 1, 2].map(|axis| w[axis].at(t) / spacing[axis]),
        _ => [0.0; 3],
    }
}

/// Whether all steps of one size have the same numbers but for the time, and F does not ask for it.
pub(super) fn is_steady<T: Scalar>(problem: &Problem, plan: &Plan<T>) -> bool {
    let constant = |source: &Source| matches!(source.rate, TimeDependent::Constant(_));
    !problem.changes_with_time()
        && plan.boundaries.iter().all(SpeciesBoundaries::is_steady)
        && plan.sources.iter().all(constant)
}
