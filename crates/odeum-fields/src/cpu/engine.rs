//! Sweeps of a problem on the CPU.

use crate::cpu::sums::{Errors, Part, Rows, Summing};
use crate::cpu::sweep::{Batch, Combination, Precision, STREAM, Sweeper};
use crate::field::{Field, Layout};
use crate::plan::Plan;
use crate::plan::flat;
use crate::problem::Problem;
use crate::problem::grid::Grid;
use crate::problem::mask::Mask;
use odeum_ode::{Cpu, Error, Isa};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a block of a reduction.
const ROWS: usize = 64;

/// A problem ready to compute right-hand sides F(t, u) in one precision, with threads and lanes.
///
/// The result does not depend on the number of threads, bit for bit. Numbers below the least normal one
/// are zero to sweeps, as operands and as results. What a sweep needs beside its fields is kept for the
/// next; small grids are swept by the thread that calls.
pub struct Engine<T> {
    grid: Grid,
    layout: Layout,
    mask: Option<Mask>,
    /// The problem with axes of one cell as the last.
    sweeper: Sweeper<T>,
    /// The mask of that problem.
    turned_mask: Option<Mask>,
}

impl<T: Precision> Engine<T> {
    /// Prepares a problem.
    ///
    /// # Errors
    /// As [`Problem::check`], no threads, and instructions that the CPU does not have.
    pub fn new(problem: &Problem, cpu: &Cpu) -> Result<Engine<T>, Error> {
        if cpu.threads == Some(0) {
            return Err(Error::input("threads", 0, "must be at least 1"));
        }
        if !cpu.isa.is_available() {
            let names: Vec<&str> = Isa::available().into_iter().map(Isa::name).collect();
            let remedy = format!("this CPU has {}", names.join(", "));
            return Err(Error::input("isa", cpu.isa, remedy));
        }
        problem.check()?;
        let species = problem.model.species().len();
        let layout = Layout::new::<T>(&problem.grid, species).ok_or_else(|| {
            Error::input("grid", format!("{:?}", problem.grid.shape()), "does not fit into memory")
        })?;
        let turned = flat::turned(problem)?;
        let swept = turned.as_ref().unwrap_or(problem);
        let plan = Plan::for_processor(swept, flat::Rules::turned(&problem.grid))?;
        let sweeper = Sweeper::new(plan, cpu.isa, cpu.thread_count())?;
        let (mask, turned_mask) = (problem.mask.clone(), swept.mask.clone());
        Ok(Engine { grid: problem.grid, layout, mask, sweeper, turned_mask })
    }

    /// out = own · out + Σ cₖ Vₖ + rhs · F(t, u), over all cells; true when all of it is
    /// finite. With a factor of F of zero the field u is not read.
    ///
    /// In solid cells F is zero; where it is added to anything they get the values of u, which
    /// all fields of a step have there.
    ///
    /// # Panics
    ///
    /// When a field has not the shape of the problem, or there are more than four terms.
    pub fn sweep(
        &self,
        t: f64,
        u: &Field<T>,
        what: &Combination<'_, T>,
        out: &mut Field<T>,
    ) -> bool {
        let fits = |field: &Field<T>| field.layout() == &self.layout;
        assert!(fits(u) && fits(out) && what.terms.iter().all(|(_, field)| fits(field)));
        self.sweeper.sweep(t, u, what, out)
    }

    /// The most steps that [`steps`](Engine::steps) takes at once: one where a velocity brings values
    /// from further away than the nearest cells, or differs from cell to cell as a coefficient of
    /// diffusion may, or where cells are solid.
    pub fn most_steps(&self) -> usize {
        self.sweeper.plan().most_steps()
    }

    /// Whether two steps in one pass are faster than one by one, which they are where memory
    /// decides (docs/src/performance/fields.md): of fields that the caches do not keep, and models
    /// without potentials, of which too much would be computed twice.
    pub(crate) fn pairs_pay(&self) -> bool {
        let plan = self.sweeper.plan();
        let large = plan.layout.len() * size_of::<T>() > STREAM;
        large && self.most_steps() >= 2 && plan.n_potentials() == 0
    }

    /// Takes `count` steps of forward Euler of size `h` from `now` to there, step n from time `t(n)` on, and
    /// gives how many succeeded; where that is not all, `next` is what the next step gave. The result has
    /// the bits of single steps.
    #[doc(hidden)]
    pub fn advance(
        &self,
        (t, h): (&(dyn Fn(u64) -> f64 + Sync), f64),
        count: u64,
        now: &mut Field<T>,
        next: &mut Field<T>,
    ) -> u64 {
        assert!(now.layout() == &self.layout && next.layout() == &self.layout);
        self.sweeper.advance(&Batch { t, h, count }, self.pairs_pay(), now, next)
    }

    /// As many steps of forward Euler of size `h` as there are times, each from its time on, in
    /// one pass over memory; true when every value on the way is finite. The result has the bits
    /// of single steps out = u + h F(t, u).
    ///
    /// # Panics
    ///
    /// When a field has not the shape of the problem, or there are no times, or more than
    /// [`most_steps`](Engine::most_steps).
    pub fn steps(&self, times: &[f64], h: f64, u: &Field<T>, out: &mut Field<T>) -> bool {
        assert!((1..=self.most_steps()).contains(&times.len()), "steps at once");
        if let [t] = times {
            return self.sweep(*t, u, &Combination { rhs: h, own: None, terms: &[(1.0, u)] }, out);
        }
        assert!(u.layout() == &self.layout && out.layout() == &self.layout);
        self.sweeper.steps(times, h, u, out)
    }

    /// The right-hand sides F(t, u); true when all are finite.
    ///
    /// # Panics
    ///
    /// When a field has not the shape of the problem.
    pub fn rhs(&self, t: f64, u: &Field<T>, out: &mut Field<T>) -> bool {
        self.sweep(t, u, &Combination { rhs: 1.0, own: None, terms: &[] }, out)
    }

    /// The cells.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The cells that belong to the domain; `None` for all.
    pub(crate) fn mask(&self) -> Option<&Mask> {
        self.mask.as_ref()
    }

    /// Sum and extremes of some rows of a species, as [`blocks`](Engine::blocks) numbers them, over the cells that belong to the domain.
    pub(crate) fn sum_up(&self, field: &Field<T>, s: usize, z: usize, rows: Range<usize>) -> Part {
        let mask = self.bits(z, &rows);
        T::sum_up(self.sweeper.isa(), Summing { rows: self.rows(field, s, z, rows), mask })
    }

    /// The bits of the mask of some rows, in whole words for each.
    fn bits(&self, z: usize, rows: &Range<usize>) -> Option<&[u64]> {
        let mask = self.turned_mask.as_ref()?;
        let words = mask.shape()[0].div_ceil(u64::BITS as usize);
        Some(&mask.planes(z..z + 1)[rows.start * words..rows.end * words])
    }

    /// The sum of the squares of the weighted errors of RKC in some rows of a species, of fields y, w, F(y) and F(w), over the cells that
    /// belong to the domain.
    pub(crate) fn add_errors(
        &self,
        [y, w, before, after]: [&Field<T>; 4],
        (h, atol, rtol): (f64, f64, f64),
        (s, z, rows): (usize, usize, Range<usize>),
    ) -> f64 {
        let of = |field| self.rows(field, s, z, rows.clone());
        let (rates, mask) = ([of(before), of(after)], self.bits(z, &rows));
        let errors = Errors { y: of(y), w: of(w), rates, mask, h, atol, rtol };
        T::add_errors(self.sweeper.isa(), errors)
    }

    fn rows<'f>(&self, field: &'f Field<T>, s: usize, z: usize, rows: Range<usize>) -> Rows<'f, T> {
        let layout = &self.sweeper.plan().layout;
        let values = &field.values()[layout.row_at(s, rows.start, z)..];
        Rows { values, row: layout.row, nx: layout.shape[0], count: rows.len() }
    }

    /// The value of `f(species, z, rows)` for every block of rows of every plane, in plain order:
    /// blocks are the same for any number of threads. Rows are those of the grid with its axes of one
    /// cell as the last.
    pub(crate) fn blocks<R: Send>(
        &self,
        f: impl Fn(usize, usize, Range<usize>) -> R + Sync,
    ) -> Vec<R> {
        let layout = &self.sweeper.plan().layout;
        let [_, ny, nz] = layout.shape;
        let along = ny.div_ceil(ROWS);
        let count = layout.species * nz * along;
        let block = |at: usize| {
            let (y, z, s) = (at % along, at / along % nz, at / (along * nz));
            f(s, z, y * ROWS..((y + 1) * ROWS).min(ny))
        };
        match self.sweeper.pool() {
            None => (0..count).map(block).collect(),
            Some(pool) => pool.install(|| (0..count).into_par_iter().map(block).collect()),
        }
    }

    /// A field of the problem's shape, all zero.
    ///
    /// # Errors
    /// Too little memory.
    pub fn zeros(&self) -> Result<Field<T>, Error> {
        Field::zeros(&self.grid, self.layout.species)
    }

    /// Refuses a field of another shape.
    ///
    /// # Errors
    /// Another shape than the problem's, or another number of species.
    pub fn check(&self, field: &Field<T>) -> Result<(), Error> {
        field.check(self.layout.shape, self.layout.species)
    }
}
