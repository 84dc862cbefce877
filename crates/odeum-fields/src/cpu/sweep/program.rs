//! F and potentials that are programs, along a row.

use super::gather::At;
use super::row::PAD;
use super::scratch::{Origin, Scratch};
use crate::plan::{Inputs, Plan, Tape};
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Program, Scalar};

/// Which of the two programs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Rhs,
    Potentials,
}

/// Runs a program along row (y, z), of which the Laplacians that it reads are prepared; its
/// outputs go into the rows of right-hand sides.
#[inline(always)]
pub(super) fn run<L: Lanes>(
    which: Which,
    tape: &Tape,
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
) {
    L::outline(Interpretation::<L> { which, tape, origin, scratch, at });
}

/// Writes the coordinates y and z of rows, where a program reads them; x stays as it is.
pub(super) fn fill_places<T: Scalar>(
    plan: &Plan<T>,
    inputs: &Inputs,
    stride: usize,
    offsets: &mut [T],
    at: At,
) {
    for (axis, first) in [(1, at.y), (2, at.z)] {
        if inputs.coordinates[axis] {
            let cells = plan.layout.shape[axis] as isize;
            for n in 0..at.rows {
                let i = if axis == 1 { first + n as isize } else { first };
                let place = plan.grid.centre(axis, i.rem_euclid(cells) as usize);
                let begin = axis * stride + PAD + n * plan.layout.row;
                offsets[begin..begin + plan.layout.row].fill(T::from_f64(place));
            }
        }
    }
}

/// A run out of line: an interpreter is long.
struct Interpretation<'a, 'o, L: Lanes> {
    which: Which,
    tape: &'a Tape,
    origin: &'a Origin<'o, L::Scalar>,
    scratch: &'a mut Scratch<L::Scalar>,
    at: At,
}

impl<'a, L: Lanes> Outlined for Interpretation<'a, '_, L> {
    #[inline(always)]
    fn run(self) {
        let Interpretation { which, tape, origin, scratch, at } = self;
        let plan = origin.plan;
        let (species, stride) = (plan.layout.species, scratch.stride);
        let (program, inputs, work): (&Program, &Inputs, _) = match which {
            Which::Rhs => (&tape.rhs, &tape.rhs_inputs, &mut scratch.rhs_work),
            Which::Potentials => {
                (&tape.potentials, &tape.potential_inputs, &mut scratch.potential_work)
            }
        };
        fill_places(plan, inputs, scratch.stride, &mut scratch.offsets, at);
        let wide = (at.rows - 1) * plan.layout.row + plan.layout.wide::<L::Scalar>();
        let count = 2 * species + 3 + tape.n_potentials;
        // Memory of a list that lives no longer than these rows.
        let mut states = std::mem::take(&mut scratch.rows);
        states.clear();
        states.resize(count, &raw const scratch.offsets[..]);
        let mut x = 0;
        while x < wide {
            let points = scratch.points.min(wide - x);
            let padded =
                |rows: &[L::Scalar], n: usize| &raw const rows[n * stride + PAD + x..][..points];
            for &s in &inputs.species {
                states[s] = &raw const origin.around(s).rows(at)[x..x + points];
            }
            for &s in &inputs.laplacians {
                states[species + s] = padded(&scratch.laplacians, s);
            }
            for axis in 0..3 {
                states[2 * species + axis] = padded(&scratch.offsets, axis);
            }
            for &k in &inputs.beyond {
                states[2 * species + 3 + k] = padded(&scratch.laplacians, species + k);
            }
            let rates = (&mut scratch.rates[PAD + x..], stride);
            // SAFETY: rows of the field and of this scratch, neither of which is written but for the
            // right-hand sides, which are no row; a reference is a pointer that is valid.
            let states = unsafe { &*(&raw const states[..] as *const [&[L::Scalar]]) };
            program.run_along::<L>(points, states, rates, (work, scratch.room));
            x += points;
        }
        scratch.rows = states;
    }
}
