//! Sweeps of a problem on the processor.

use crate::field::Field;
use crate::grid::Grid;
use crate::mask::Mask;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::solids::Solids;
use crate::sweep::combine::MOST;
use crate::sweep::{self, Codes, Combination, Precision, Tile};
use odeum::{Cpu, Error, Isa};
use rayon::prelude::*;

/// Rows of a block of a reduction.
const ROWS: usize = 64;

/// A problem ready to compute slopes F(t, u) in one precision, with threads and lanes.
///
/// The result does not depend on the number of threads, bit for bit.
pub struct Engine<T> {
    plan: Plan<T>,
    mask: Option<Mask>,
    solids: Option<Solids>,
    codes: Codes,
    tiles: Vec<Tile>,
    isa: Isa,
    pool: Option<rayon::ThreadPool>,
}

impl<T: Precision> Engine<T> {
    /// Prepares a problem, or says what is wrong with it.
    pub fn new(problem: &Problem, cpu: &Cpu) -> Result<Engine<T>, Error> {
        if cpu.threads == Some(0) {
            return Err(Error::input("threads", 0, "must be at least 1"));
        }
        if !cpu.isa.is_available() {
            let names: Vec<&str> = Isa::available().into_iter().map(Isa::name).collect();
            let remedy = format!("this processor has {}", names.join(", "));
            return Err(Error::input("isa", cpu.isa, remedy));
        }
        let plan = Plan::new(problem)?;
        let threads = cpu.thread_count();
        let pool = match threads {
            1 => None,
            _ => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                Some(pool.map_err(|e| Error::input("threads", threads, e.to_string()))?)
            }
        };
        let tiles = sweep::tiles(&plan, threads);
        let codes = Codes::new(&plan, cpu.isa);
        let solids = plan.domain.as_ref().map(|domain| Solids::new::<T>(domain, &plan.weights));
        let (mask, isa) = (problem.mask.clone(), cpu.isa);
        Ok(Engine { plan, mask, solids, codes, tiles, isa, pool })
    }

    /// out = own · out + Σ cₖ Vₖ + slope · F(t, u), over all cells; true when all of it is
    /// finite. With slope 0 the field u is not read.
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
        let layout = &self.plan.layout;
        assert!(what.terms.len() <= MOST, "a sweep adds at most {MOST} fields");
        let fits = |field: &Field<T>| field.layout() == layout;
        assert!(fits(u) && fits(out) && what.terms.iter().all(|(_, field)| fits(field)));
        let Engine { plan, solids, codes, tiles, isa, .. } = self;
        let pool = self.pool.as_ref();
        sweep::sweep((plan, solids.as_ref()), codes, tiles, *isa, pool, t, u, what, out)
    }

    /// The most steps that [`steps`](Engine::steps) takes at once: one where a wind brings values
    /// from further away than the nearest cells, or differs from cell to cell as a coefficient of
    /// diffusion may, or where cells are solid.
    pub fn most_steps(&self) -> usize {
        self.plan.most_steps()
    }

    /// Whether two steps in one pass are faster than one by one, which they are where memory
    /// decides (docs/performance/fields.md): of fields that the caches do not keep, and models
    /// without potentials, of which too much would be computed twice.
    pub(crate) fn pairs_pay(&self) -> bool {
        let large = self.plan.layout.len() * size_of::<T>() > sweep::STREAM;
        large && self.most_steps() >= 2 && self.plan.n_potentials() == 0
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
            return self.sweep(
                *t,
                u,
                &Combination { slope: h, own: None, terms: &[(1.0, u)] },
                out,
            );
        }
        assert!(u.layout() == &self.plan.layout && out.layout() == &self.plan.layout);
        let threads = self.pool.as_ref().map_or(1, |pool| pool.current_num_threads());
        let Engine { plan, codes, isa, pool, .. } = self;
        sweep::steps(plan, codes, (threads, *isa), pool.as_ref(), times, h, u, out)
    }

    /// The slopes F(t, u); true when all are finite.
    ///
    /// # Panics
    ///
    /// When a field has not the shape of the problem.
    pub fn slope(&self, t: f64, u: &Field<T>, out: &mut Field<T>) -> bool {
        self.sweep(t, u, &Combination { slope: 1.0, own: None, terms: &[] }, out)
    }

    /// The cells.
    pub fn grid(&self) -> &Grid {
        &self.plan.grid
    }

    /// The cells that belong to the domain; `None` for all.
    pub(crate) fn mask(&self) -> Option<&Mask> {
        self.mask.as_ref()
    }

    /// The value of `f(species, z, rows)` for every block of rows of every plane, in plain order:
    /// blocks are the same for any number of threads.
    pub(crate) fn blocks<R: Send>(
        &self,
        f: impl Fn(usize, usize, std::ops::Range<usize>) -> R + Sync,
    ) -> Vec<R> {
        let [_, ny, nz] = self.plan.layout.shape;
        let along = ny.div_ceil(ROWS);
        let count = self.plan.layout.species * nz * along;
        let block = |at: usize| {
            let (y, z, s) = (at % along, at / along % nz, at / (along * nz));
            f(s, z, y * ROWS..((y + 1) * ROWS).min(ny))
        };
        match &self.pool {
            None => (0..count).map(block).collect(),
            Some(pool) => pool.install(|| (0..count).into_par_iter().map(block).collect()),
        }
    }

    /// A field of the problem's shape, all zero.
    pub fn zeros(&self) -> Result<Field<T>, Error> {
        Field::zeros(&self.plan.grid, self.plan.layout.species)
    }

    /// Refuses a field of another shape.
    pub fn check(&self, field: &Field<T>) -> Result<(), Error> {
        if field.layout() == &self.plan.layout {
            return Ok(());
        }
        let found = format!("{:?} cells of {} species", field.shape(), field.species());
        let layout = &self.plan.layout;
        let remedy = format!("wants {:?} cells of {} species", layout.shape, layout.species);
        Err(Error::input("field", found, remedy))
    }
}
