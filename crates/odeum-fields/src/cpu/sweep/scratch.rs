//! Memory of one thread, and what is computed in it row by row.

use super::faces::{Bounded, Cross, Faces, Open};
use super::gather::{Around, At, Place};
use super::row::{self, PAD};
use super::transport::{self, Speed};
use super::{Frame, Moment};
use crate::field::Layout;
use crate::field::memory::{LINE, Lined};
use crate::plan::solids::Solids;
use crate::plan::{BoundVelocity, Kernel, Plan};
use crate::problem::Advection;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Program, Scalar};

/// Spare rows for ghosts: those around a row, up to two cells away.
const SPARE: usize = 16;

/// Bytes of a row that a program computes at a time: all its rows together should stay in the
/// first-level cache.
const CHUNK: usize = 1024;

/// Bytes of the rows of a species that are computed together, and of all: so few that the first-level
/// cache keeps what is between them and the output, so many that what is done once for them all is
/// little (measured: halves and doubles are no better).
const EACH: usize = 8800;
const TOGETHER: usize = 2 * EACH;

/// Memory of one thread, used row by row.
pub(super) struct Scratch<T> {
    /// From a padded row to the next.
    pub(super) stride: usize,
    /// Rows from the one that is read to the one that is asked for: those that are computed
    /// together next.
    pub(super) ahead: usize,
    /// Laplacians of the species and of the potentials, where a program reads them
    /// \[S + K rows\].
    pub(super) laplacians: Lined<T>,
    /// What F gains from fluxes, of each species \[S rows\].
    pub(super) gains: Lined<T>,
    /// What a program gives: F of each species, or the potentials \[max(S, K) rows\].
    pub(super) rates: Lined<T>,
    /// The row of a species with its ghosts, and a row to work in.
    line: Lined<T>,
    work_line: Lined<T>,
    pub(super) spare: Lined<T>,
    /// The coordinates of the cells of a row \[3 rows\].
    pub(super) offsets: Lined<T>,
    /// Points that programs compute at a time, and from a row of theirs to the next.
    pub(super) points: usize,
    pub(super) room: usize,
    /// Memory of F and of the potentials, with constants and the time of `loaded`.
    pub(super) rhs_work: Lined<T>,
    pub(super) potential_work: Lined<T>,
    /// The nine rows around a group of cells at an end of a row, with ghosts
    /// \[9 × 3 cache lines\].
    pub(super) patch: Lined<T>,
    /// Rows that machine code is given.
    pub(super) pointers: Vec<*mut T>,
    /// Rows that programs read.
    pub(super) rows: Vec<*const [T]>,
    /// Masks of rows that are computed together: [`ones`] where there are cells, zeros between rows.
    pub(super) masks: Lined<T>,
    /// As `masks`, with zeros where cells are solid.
    pub(super) solid_masks: Lined<T>,
}

/// The number whose bits all are ones.
pub(super) fn ones<T: Scalar>() -> T {
    // SAFETY: a scalar has as many bytes at most, of which all are numbers.
    unsafe { std::mem::transmute_copy(&u64::MAX) }
}

/// Rows of all species that are not too long together.
pub(super) fn together<T>(plan: &Plan<T>) -> usize {
    let Layout { row, species, .. } = plan.layout;
    (EACH.min(TOGETHER / species) / (row * size_of::<T>())).max(1)
}

impl<T: Scalar> Scratch<T> {
    /// For so many rows that are computed together.
    pub(super) fn new(plan: &Plan<T>, together: usize) -> Scratch<T> {
        let (species, potentials) = (plan.layout.species, plan.n_potentials());
        let stride = row::stride(together * plan.layout.row);
        // Rows of a program lie a little further apart than a power of two.
        let points = CHUNK / size_of::<T>();
        let room = points + PAD;
        let zero = T::from_f64(0.0);
        let zeros = |rows: usize| Lined::new(zero, rows * stride);
        let work = |program: Option<&Program>| {
            Lined::new(zero, program.map_or(0, |program| program.row_workspace(room)))
        };
        let (rhs_work, potential_work) = match &plan.kernel {
            Kernel::Diffusion(_) => (work(None), work(None)),
            Kernel::Tape(tape) => (work(Some(&tape.rhs)), work(Some(&tape.potentials))),
        };
        let reads_x = match &plan.kernel {
            Kernel::Diffusion(_) => false,
            Kernel::Tape(tape) => {
                tape.rhs_inputs.coordinates[0] || tape.potential_inputs.coordinates[0]
            }
        };
        let mut offsets = zeros(3);
        let along_x = offsets[PAD..stride].iter_mut().enumerate().filter(|_| reads_x);
        for (i, place) in along_x {
            // Beyond the row the coordinates go on, so that no lane meets a strange number.
            *place = T::from_f64(plan.grid.centre(0, i % plan.layout.row));
        }
        let Layout { row, shape: [nx, ..], .. } = plan.layout;
        let mut masks = Lined::new(zero, together * row);
        masks.chunks_exact_mut(row).for_each(|row| row[..nx].fill(ones()));
        Scratch {
            stride,
            ahead: together.max(2),
            laplacians: zeros(species + potentials),
            gains: zeros(species),
            rates: zeros(species.max(potentials)),
            line: zeros(1),
            work_line: zeros(1),
            spare: Lined::new(zero, SPARE * plan.layout.wide::<T>()),
            offsets,
            points,
            room,
            rhs_work,
            potential_work,
            patch: Lined::new(zero, 9 * 3 * LINE / size_of::<T>()),
            pointers: Vec::new(),
            rows: Vec::new(),
            masks,
            solid_masks: Lined::new(zero, if plan.domain.is_some() { together * row } else { 0 }),
        }
    }

    /// Writes constants and the time into the memory of the programs.
    pub(super) fn load(&mut self, plan: &Plan<T>, t: f64) {
        if let Kernel::Tape(tape) = &plan.kernel {
            tape.rhs.load_along(t, self.room, &mut self.rhs_work);
            tape.potentials.load_along(t, self.room, &mut self.potential_work);
        }
    }
}

/// What F is taken of, at one time: a field, or the rows of it that a tile has.
pub(super) struct Origin<'a, T> {
    pub(super) plan: &'a Plan<T>,
    pub(super) solids: Option<&'a Solids>,
    pub(super) moment: &'a Moment<T>,
    pub(super) values: &'a [T],
    pub(super) place: Place,
    pub(super) potentials: Option<Potentials<'a, T>>,
}

/// The potentials near some rows.
#[derive(Clone, Copy)]
pub(super) struct Potentials<'a, T> {
    pub(super) values: &'a [T],
    pub(super) place: Place,
    /// The number of these rows and of their plane there: they are numbered on where the box
    /// continues.
    pub(super) at: At,
}

impl<'a, T: Scalar> Origin<'a, T> {
    /// The field of a sweep.
    pub(super) fn of_sweep(frame: &'a Frame<'_, T>) -> Origin<'a, T> {
        let Frame { plan, solids, u: values, .. } = *frame;
        let (moment, place) = (&frame.moments[0], Place::of(&plan.layout));
        Origin { plan, solids, moment, values, place, potentials: None }
    }

    /// What a tile keeps of a step.
    pub(super) fn of_tile(
        plan: &'a Plan<T>,
        moment: &'a Moment<T>,
        values: &'a [T],
        place: Place,
    ) -> Origin<'a, T> {
        Origin { plan, solids: None, moment, values, place, potentials: None }
    }

    /// The solid cells, where any are near these rows.
    #[inline(always)]
    pub(super) fn solids(&self, at: At) -> Option<&'a Solids> {
        self.solids.filter(|_| self.plan.domain_near((at.y, at.z), at.rows).is_some())
    }

    /// A species and its surroundings.
    #[inline(always)]
    pub(super) fn around(&self, s: usize) -> Around<'a, T> {
        self.within((self.values, self.place), s, s)
    }

    /// A potential and its surroundings, with where the rows are found there.
    #[inline(always)]
    pub(super) fn around_potential(&self, k: usize) -> Option<(Around<'a, T>, At)> {
        let Potentials { values, place, at } = self.potentials?;
        Some((self.within((values, place), k, self.plan.layout.species + k), at))
    }

    /// One of some arrays, and the number of its ghosts.
    #[inline(always)]
    fn within(&self, (values, place): (&'a [T], Place), n: usize, ghosts: usize) -> Around<'a, T> {
        let Origin { plan, moment, .. } = *self;
        let values = &values[n * place.volume..(n + 1) * place.volume];
        let (shape, wide) = (plan.layout.shape, plan.layout.wide::<T>());
        Around { values, place, shape, wide, ghosts: &moment.ghosts[ghosts], rules: plan.rules }
    }
}

/// Whether a species has gains.
#[inline(always)]
pub(super) fn has_gains<T>(plan: &Plan<T>, s: usize) -> bool {
    plan.advected[s] || plan.diffusion[s].is_some()
}

/// What F gains from velocity and from diffusion that differs from cell to cell; nothing is written
/// for a species that has neither.
#[inline(always)]
pub(super) fn gains<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    s: usize,
    at: At,
) {
    if has_gains(origin.plan, s) {
        L::outline(Gains::<L> { origin, scratch, s, at });
    }
}

struct Gains<'a, 'o, L: Lanes> {
    origin: &'a Origin<'o, L::Scalar>,
    scratch: &'a mut Scratch<L::Scalar>,
    s: usize,
    at: At,
}

impl<L: Lanes> Outlined for Gains<'_, '_, L> {
    #[inline(always)]
    fn run(mut self) {
        for n in 0..self.at.rows {
            let cell = (self.at.y + n as isize, self.at.z);
            match self.origin.plan.domain_near(cell, 1) {
                None => self.through(n, cell, Open),
                Some(domain) => self.through(n, cell, &Cross::of(domain, cell)),
            }
        }
    }
}

impl<L: Lanes> Gains<'_, '_, L> {
    /// Row `n` of those that are computed together.
    #[inline(always)]
    fn through(&mut self, n: usize, at: (isize, isize), faces: impl Faces<L>) {
        let Gains { origin, ref mut scratch, s, .. } = *self;
        let Origin { plan, moment, .. } = *origin;
        let nx = plan.layout.shape[0];
        let around = origin.around(s);
        let stride = scratch.stride;
        let sum = &mut scratch.gains[s * stride + n * plan.layout.row..(s + 1) * stride];
        let line = &mut scratch.line;
        line[PAD..PAD + nx].copy_from_slice(&around.row(at.0, at.1)[..nx]);
        row::fill_ends(line, nx, &moment.ghosts[s][0]);
        let spare = &mut scratch.spare;
        let bounded = Bounded::new(faces, plan.boundaries[s].ends(), plan.layout.shape, at);
        match (&plan.velocity, plan.advection) {
            (Some(BoundVelocity::Uniform(_)), Advection::Upwind) if plan.advected[s] => {
                transport::upwind::<L>(&around, at, bounded, moment.speed, line, spare, sum);
            }
            (Some(velocity), advection) if plan.advected[s] => {
                let layout;
                let speed = match velocity {
                    BoundVelocity::Uniform(_) => Speed::Uniform(moment.speed),
                    BoundVelocity::Cells(field) => {
                        layout = *field.layout();
                        let axis = |axis: usize| {
                            let values = &field.values()[axis * layout.volume..];
                            Around::whole(values, &layout, &moment.inherited)
                        };
                        Speed::Cells([axis(0), axis(1), axis(2)])
                    }
                };
                let lines = (&line[..], &mut scratch.work_line[..]);
                sum[PAD..PAD + around.wide].fill(L::Scalar::from_f64(0.0));
                transport::fluxes::<L>(&around, at, bounded, advection, &speed, lines, spare, sum);
            }
            _ => sum[PAD..PAD + around.wide].fill(L::Scalar::from_f64(0.0)),
        }
        if let Some(field) = &plan.diffusion[s] {
            let coefficients = Around::whole(field.values(), field.layout(), &moment.inherited);
            let per_area = plan.grid.spacing().map(|h| 1.0 / (h * h));
            let lines = (&line[..], &mut scratch.work_line[..]);
            transport::diffusion::<L>(
                &around,
                &coefficients,
                at,
                faces,
                per_area,
                lines,
                spare,
                sum,
            );
        }
    }
}

// SAFETY: pointers are written before they are read by whoever uses the memory; from one use to the
// next they mean nothing.
unsafe impl<T: Send> Send for Scratch<T> {}
