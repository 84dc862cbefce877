//! Sweeps of a problem on the processor.

use crate::field::Field;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::sweep::{self, Combination, Tile};
use odeum::{Cpu, Error, Isa, Scalar};

/// A problem ready to compute slopes F(t, u) in one precision, with threads and lanes.
///
/// The result does not depend on the number of threads, bit for bit.
pub struct Engine<T> {
    plan: Plan<T>,
    tiles: Vec<Tile>,
    isa: Isa,
    pool: Option<rayon::ThreadPool>,
}

impl<T: Scalar> Engine<T> {
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
        Ok(Engine { plan, tiles, isa: cpu.isa, pool })
    }

    /// out = own · out + Σ cₖ Vₖ + slope · F(t, u), over all cells.
    ///
    /// # Panics
    ///
    /// When a field has not the shape of the problem.
    pub fn sweep(&self, t: f64, u: &Field<T>, what: &Combination<'_, T>, out: &mut Field<T>) {
        let layout = &self.plan.layout;
        let fits = |field: &Field<T>| field.layout() == layout;
        assert!(fits(u) && fits(out) && what.terms.iter().all(|(_, field)| fits(field)));
        sweep::sweep(&self.plan, &self.tiles, self.isa, self.pool.as_ref(), t, u, what, out);
    }

    /// The slopes F(t, u).
    ///
    /// # Panics
    ///
    /// When a field has not the shape of the problem.
    pub fn slope(&self, t: f64, u: &Field<T>, out: &mut Field<T>) {
        self.sweep(t, u, &Combination { slope: 1.0, own: None, terms: &[] }, out);
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
