//! Fields in memory, swept by the CPU.

use crate::analysis::reduce::{Summary, first_non_finite};
use crate::analysis::sample::extreme_cells;
use crate::backend::{Backend, Batch, Blend, Slot, Snapshot, StepsTaken};
use crate::cpu::engine::Engine;
use crate::cpu::sweep::{Combination, MOST, Precision};
use crate::field::Field;
use odeum_ode::{Error, Tolerance};
use std::borrow::Cow;

/// The fields of a simulation, in the order of the slots.
pub(crate) struct Host<T: Precision> {
    engine: Engine<T>,
    fields: Vec<Field<T>>,
    /// Whether all that was swept since it was last asked for is finite.
    finite: bool,
}

impl<T: Precision> Host<T> {
    /// `count` fields, the first of them the state.
    pub(crate) fn new(engine: Engine<T>, state: Field<T>, count: usize) -> Result<Host<T>, Error> {
        let mut fields = vec![state];
        for _ in 1..count {
            fields.push(engine.zeros()?);
        }
        Ok(Host { engine, fields, finite: true })
    }

    fn now(&self) -> &Field<T> {
        &self.fields[Slot::Now as usize]
    }
}

impl<T: Precision> Backend<T> for Host<T> {
    fn sweep(&mut self, t: f64, u: Slot, what: &Blend<'_>, out: Slot) -> Result<(), Error> {
        let (before, rest) = self.fields.split_at_mut(out as usize);
        let Some((out, after)) = rest.split_first_mut() else {
            return Err(Error::input("slot", format!("{out:?}"), "the method has no such field"));
        };
        let field = |slot: Slot| match (slot as usize).checked_sub(before.len() + 1) {
            None => &before[slot as usize],
            Some(at) => &after[at],
        };
        let mut terms = [(0.0, field(u)); MOST];
        for (term, (c, slot)) in terms.iter_mut().zip(what.terms) {
            *term = (*c, field(*slot));
        }
        let terms = &terms[..what.terms.len()];
        let what = Combination { rhs: what.rhs, own: what.own, terms };
        self.finite &= self.engine.sweep(t, field(u), &what, out);
        Ok(())
    }

    fn euler(&mut self, batch: &Batch) -> Result<StepsTaken, Error> {
        let mut taken = 0;
        while taken < batch.count {
            let [now, next, ..] = &mut self.fields[..] else { break };
            let (first, count) = (taken, batch.count - taken);
            let t = |n: u64| batch.t(first + n);
            taken += self.engine.advance((&t, batch.h), count, now, next);
            if taken == batch.count {
                break;
            }
            if let Some(place) = first_non_finite(next) {
                return Ok(StepsTaken { steps: taken, non_finite: Some(place) });
            }
            // A value between that is not finite leaves nothing of the kind behind it.
            std::mem::swap(now, next);
            taken += 1;
        }
        Ok(StepsTaken { steps: taken, non_finite: None })
    }

    fn swap(&mut self, a: Slot, b: Slot) {
        self.fields.swap(a as usize, b as usize);
    }

    fn non_finite(&mut self, slot: Slot) -> Result<Option<(usize, [usize; 3])>, Error> {
        let finite = std::mem::replace(&mut self.finite, true);
        Ok(if finite { None } else { first_non_finite(&self.fields[slot as usize]) })
    }

    fn leave(&mut self) {
        self.finite = true;
    }

    fn rkc_error(&mut self, tolerance: &Tolerance, h: f64) -> Result<f64, Error> {
        if !std::mem::replace(&mut self.finite, true) {
            return Ok(f64::NAN);
        }
        let slots = [Slot::Now, Slot::Next, Slot::Rhs, Slot::Older];
        let fields = slots.map(|slot| &self.fields[slot as usize]);
        Ok(self.engine.rkc_error(tolerance, h, fields))
    }

    fn summaries(&self) -> Result<Vec<Summary>, Error> {
        Ok(self.engine.summaries(self.now()))
    }

    fn extreme_cells(&self) -> Result<Vec<[usize; 3]>, Error> {
        Ok(extreme_cells(self.now(), self.engine.mask()))
    }

    fn pick(&self, cells: &[[usize; 3]]) -> Result<Vec<T>, Error> {
        let field = self.now();
        let species = 0..field.species();
        let of_cell = |cell: &[usize; 3]| {
            let cell = *cell;
            species.clone().map(move |s| field.get(s, cell))
        };
        Ok(cells.iter().flat_map(of_cell).collect())
    }

    fn in_memory(&self) -> Option<&Field<T>> {
        Some(self.now())
    }

    fn values(&self, species: usize, take: &mut dyn FnMut(&[T])) -> Result<(), Error> {
        let field = self.now();
        let [_, ny, nz] = field.shape();
        (0..ny * nz).for_each(|row| take(field.row(species, row % ny, row / ny)));
        Ok(())
    }

    fn field(&self) -> Result<Cow<'_, Field<T>>, Error> {
        Ok(Cow::Borrowed(self.now()))
    }

    fn snapshot(&self) -> Result<Snapshot<T>, Error> {
        let field = self.now().clone();
        Ok(Snapshot::new(move || Ok(field)))
    }
}
