//! Fields in memory, swept by the processor.

use crate::backend::{Backend, Batch, Blend, Slot, Snapshot, Taken};
use crate::engine::Engine;
use crate::field::Field;
use crate::reduce::{Summary, first_spoiled};
use crate::sample::{self, Care, State};
use crate::sweep::{Combination, Precision};
use odeum::{Error, Tolerance};
use std::borrow::Cow;

/// The fields of a march, in the order of the slots.
pub(crate) struct Host<T: Precision> {
    engine: Engine<T>,
    fields: Vec<Field<T>>,
    /// Whether all that was swept since it was last asked for is finite.
    sound: bool,
}

impl<T: Precision> Host<T> {
    /// `count` fields, the first of them the state.
    pub(crate) fn new(engine: Engine<T>, state: Field<T>, count: usize) -> Result<Host<T>, Error> {
        let mut fields = vec![state];
        for _ in 1..count {
            fields.push(engine.zeros()?);
        }
        Ok(Host { engine, fields, sound: true })
    }

    /// Takes steps `n` and `n` + 1 of a batch in one pass; false where a value was not finite, with
    /// the state as it was.
    fn pair(&mut self, batch: &Batch, n: u64) -> bool {
        let [now, next, ..] = &mut self.fields[..] else { return false };
        let sound = self.engine.steps(&[batch.t(n), batch.t(n + 1)], batch.h, now, next);
        if sound {
            std::mem::swap(now, next);
        }
        sound
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
        let terms: Vec<_> = what.terms.iter().map(|(c, slot)| (*c, field(*slot))).collect();
        let what = Combination { slope: what.slope, own: what.own, terms: &terms };
        self.sound &= self.engine.sweep(t, field(u), &what, out);
        Ok(())
    }

    fn euler(&mut self, batch: &Batch) -> Result<Taken, Error> {
        let mut n = 0;
        while n < batch.count {
            if batch.count - n >= 2 && self.engine.pairs_pay() && self.pair(batch, n) {
                n += 2;
                continue;
            }
            let what = Blend { slope: batch.h, own: None, terms: &[(1.0, Slot::Now)] };
            self.sweep(batch.t(n), Slot::Now, &what, Slot::Next)?;
            if let Some(place) = self.spoiled(Slot::Next)? {
                return Ok(Taken { steps: n, spoiled: Some(place) });
            }
            self.swap(Slot::Now, Slot::Next);
            n += 1;
        }
        Ok(Taken { steps: batch.count, spoiled: None })
    }

    fn swap(&mut self, a: Slot, b: Slot) {
        self.fields.swap(a as usize, b as usize);
    }

    fn spoiled(&mut self, slot: Slot) -> Result<Option<(usize, [usize; 3])>, Error> {
        let sound = std::mem::replace(&mut self.sound, true);
        Ok(if sound { None } else { first_spoiled(&self.fields[slot as usize]) })
    }

    fn rkc_error(&mut self, tolerance: &Tolerance, h: f64) -> Result<f64, Error> {
        if !std::mem::replace(&mut self.sound, true) {
            return Ok(f64::NAN);
        }
        let slots = [Slot::Now, Slot::Next, Slot::Slope, Slot::Older];
        let fields = slots.map(|slot| &self.fields[slot as usize]);
        Ok(self.engine.rkc_error(tolerance, h, fields))
    }

    fn summaries(&self) -> Result<Vec<Summary>, Error> {
        Ok(self.engine.summaries(self.now()))
    }

    fn sample(&self, care: Care) -> Result<Vec<State>, Error> {
        Ok(sample::sample(self.now(), self.engine.mask(), care))
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

    fn field(&self) -> Result<Cow<'_, Field<T>>, Error> {
        Ok(Cow::Borrowed(self.now()))
    }

    fn snapshot(&self) -> Result<Snapshot<T>, Error> {
        let field = self.now().clone();
        Ok(Snapshot::new(move || Ok(field)))
    }
}
