//! A plan with all that its sweeps use again.

use super::coded::{CodeKey, Codes};
use super::combine::MOST;
use super::flush::Flushed;
use super::memory::{Memory, PerThread};
use super::moment::{Moment, boundaries_in_z};
use super::rod::{self, Rods};
use super::tile::{STREAM, Tile, sharing, tiles};
use super::{Combination, Frame, Output, Precision, cascade, scratch};
use crate::cpu::native::{Code, Factors, StateTerm};
use crate::field::Field;
use crate::plan::solids::Solids;
use crate::plan::{Kernel, Plan};
use odeum_core::{IS_UNOPTIMISED, Isa, LARGE_STACK};
use odeum_ode::Error;
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// A plan, the threads that sweep it, and memory that sweeps use again.
pub(crate) struct Sweeper<T> {
    plan: Plan<T>,
    solids: Option<Solids>,
    codes: Codes,
    isa: Isa,
    /// `None` where the thread that calls sweeps alone.
    pool: Option<rayon::ThreadPool>,
    tiles: Vec<Tile>,
    /// Those of as many steps at once as their place says.
    of_steps: Vec<OnceLock<Vec<Tile>>>,
    memories: PerThread<Memory<T>>,
    moments: PerThread<Vec<Moment<T>>>,
}

/// Steps of forward Euler of one size.
pub(crate) struct Batch<'a> {
    /// When step n begins \[time\].
    pub(crate) t: &'a (dyn Fn(u64) -> f64 + Sync),
    pub(crate) h: f64,
    pub(crate) count: u64,
}

/// Code of rows of the output, and of those that solid cells are near.
type Both = [Option<Arc<Code>>; 2];

impl<T: Precision> Sweeper<T> {
    /// For at most so many threads.
    pub(crate) fn new(plan: Plan<T>, isa: Isa, threads: usize) -> Result<Sweeper<T>, Error> {
        let threads = sharing(&plan, threads);
        let pool = match threads {
            1 if !IS_UNOPTIMISED => None,
            _ => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = if IS_UNOPTIMISED { pool.stack_size(LARGE_STACK) } else { pool };
                let pool = pool.build();
                Some(pool.map_err(|e| Error::input("threads", threads, e.to_string()))?)
            }
        };
        Ok(Sweeper {
            solids: plan.domain.as_ref().map(|domain| Solids::new::<T>(domain, &plan.weights)),
            codes: Codes::new(&plan, isa),
            isa,
            pool,
            tiles: tiles(&plan, threads),
            of_steps: (0..=plan.most_steps()).map(|_| OnceLock::new()).collect(),
            memories: PerThread::new(threads),
            moments: PerThread::new(1),
            plan,
        })
    }

    pub(crate) fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    /// The instructions that rows are computed by.
    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    /// The threads that share a sweep, where they are more than the one that calls.
    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.pool.as_ref()
    }

    /// out = own · out + Σ cₖ Vₖ + rhs · F(t, u); true when all of it is finite.
    pub(crate) fn sweep(
        &self,
        t: f64,
        u: &Field<T>,
        what: &Combination<'_, T>,
        out: &mut Field<T>,
    ) -> bool {
        assert!(what.terms.len() <= MOST, "a sweep adds at most {MOST} fields");
        let mut factors = [0.0; MOST];
        let mut terms = [(T::from_f64(0.0), &u.values()[..0]); MOST];
        for (k, (factor, field)) in what.terms.iter().enumerate() {
            factors[k] = *factor;
            terms[k] = (T::from_f64(*factor), field.values());
        }
        let count = what.terms.len();
        let here = what.terms.first().is_some_and(|(_, field)| std::ptr::eq(*field, u));
        let streams = what.own.is_none() && self.is_large();
        let terms_beside = count - usize::from(here);
        // A step of forward Euler.
        let from_here = here && what.own.is_none() && what.rhs != 0.0 && factors[..count] == [1.0];
        let states = match (here, factors[0] == 1.0) {
            (false, _) => StateTerm::No,
            (true, false) => StateTerm::Scaled,
            (true, true) => StateTerm::Whole,
        };
        let codes = match what.rhs == 0.0 {
            true => [None, None],
            false => self.codes_of((states, terms_beside, what.own.is_some()), streams),
        };
        let factors =
            Factors { rhs: what.rhs, own: what.own.unwrap_or(0.0), terms: &factors[..count] };
        self.moments.lend(|moments| {
            let frame = Frame {
                own: what.own.map(T::from_f64),
                terms: if from_here { &[] } else { &terms[..count] },
                from_here,
                ..self.frame((moments, &[t]), &factors, &codes, u, (out, streams))
            };
            self.over(&self.tiles, &frame)
        })
    }

    /// Steps of forward Euler of size `h` from these times on, all in one pass; true when every value
    /// on the way is finite.
    pub(crate) fn steps(&self, times: &[f64], h: f64, u: &Field<T>, out: &mut Field<T>) -> bool {
        let threads = self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads);
        let tiles = || cascade::tiles(&self.plan, threads, times.len());
        let tiles = self.of_steps[times.len()].get_or_init(tiles);
        let streams = self.is_large();
        let codes = self.codes_of(EULER, streams);
        let [between, _] = self.codes_of(EULER, false);
        let factors = Factors { rhs: h, own: 0.0, terms: &[1.0] };
        self.moments.lend(|moments| {
            let frame = Frame {
                between: between.as_deref(),
                ..self.frame((moments, times), &factors, &codes, u, (out, streams))
            };
            self.over(tiles, &frame)
        })
    }

    /// Takes steps of forward Euler from `now` to there, two in a pass where `pairs` says so; gives
    /// how many succeeded. Where that is not all, `next` is what the next step gave.
    pub(crate) fn advance(
        &self,
        batch: &Batch<'_>,
        pairs: bool,
        now: &mut Field<T>,
        next: &mut Field<T>,
    ) -> u64 {
        match &self.pool {
            None if pairs => self.together(batch, pairs, now, next),
            None => self.alone(batch, now, next),
            // Threads that wait for the next step do so within one call.
            Some(pool) => pool.install(|| self.together(batch, pairs, now, next)),
        }
    }

    /// Steps that threads share, or that are taken by twos.
    fn together(
        &self,
        batch: &Batch<'_>,
        pairs: bool,
        now: &mut Field<T>,
        next: &mut Field<T>,
    ) -> u64 {
        let Batch { t, h, count } = *batch;
        let mut n = 0;
        while n < count {
            if pairs && count - n >= 2 && self.steps(&[t(n), t(n + 1)], h, now, next) {
                n += 2;
            } else {
                let what = Combination { rhs: h, own: None, terms: &[(1.0, &*now)] };
                if !self.sweep(t(n), now, &what, next) {
                    return n;
                }
                n += 1;
            }
            std::mem::swap(now, next);
        }
        n
    }

    /// Steps of the thread that calls: what they share is prepared once.
    fn alone(&self, batch: &Batch<'_>, now: &mut Field<T>, next: &mut Field<T>) -> u64 {
        let Batch { t, h, count } = *batch;
        let _flushed = Flushed::begin();
        let streams = self.is_large();
        let codes = self.codes_of(EULER, streams);
        let factors = Factors { rhs: h, own: 0.0, terms: &[1.0] };
        let steady = self.plan.is_steady();
        let rod = steady && !streams && self.plan.is_rod() && count >= rod::FEWEST;
        let of_rod = if rod { self.codes.rod(&self.plan) } else { None };
        let rod = rod && (of_rod.is_some() || matches!(self.plan.kernel, Kernel::Diffusion(_)));
        let taken = self.moments.lend(|moments| {
            if rod {
                // Both codes read the same numbers.
                let code = of_rod.map(|codes| &codes[0]);
                let moments = Moment::all(moments, &self.plan, &[t(0)], [code, None], &factors);
                let (plan, moment, codes) = (&self.plan, &moments[0], of_rod);
                let fields = [now.values_mut(), next.values_mut()];
                return self.memories.lend(|memory| {
                    T::rods(self.isa, Rods { plan, moment, codes, h, count, fields, memory })
                });
            }
            let (mut from, mut to) = (&mut *now, &mut *next);
            self.memories.lend(|memory| {
                for n in 0..count {
                    // Times that nothing depends on make one moment.
                    let times: &[f64] = if steady && n > 0 { &[] } else { &[t(n)] };
                    let frame = self.frame((moments, times), &factors, &codes, from, (to, streams));
                    if !self.each(&self.tiles, &frame, memory) {
                        return n;
                    }
                    std::mem::swap(&mut from, &mut to);
                }
                count
            })
        });
        if taken % 2 == 1 {
            std::mem::swap(now, next);
        }
        taken
    }

    /// A frame of forward Euler, at these times or, if there are none, at the last one.
    fn frame<'a>(
        &'a self,
        (moments, times): (&'a mut Vec<Moment<T>>, &[f64]),
        factors: &Factors<'_>,
        [outputs, near_solids]: &'a Both,
        u: &'a Field<T>,
        (out, streams): (&mut Field<T>, bool),
    ) -> Frame<'a, T> {
        let (plan, potentials) = (&self.plan, self.codes.potentials());
        let moments = match times {
            [] => &moments[..1],
            _ => Moment::all(moments, plan, times, [outputs.as_deref(), potentials], factors),
        };
        Frame {
            plan,
            solids: self.solids.as_ref(),
            together: scratch::together(plan),
            boundaries_in_z: boundaries_in_z(moments),
            moments,
            u: u.values(),
            rhs: T::from_f64(factors.rhs),
            own: None,
            terms: &[],
            from_here: true,
            out: Output(out.values_mut().as_mut_ptr()),
            streams,
            outputs: outputs.as_deref(),
            near_solids: near_solids.as_deref(),
            between: None,
            potentials,
        }
    }

    /// Whether the caches do not keep a field from one sweep to the next.
    fn is_large(&self) -> bool {
        self.plan.layout.len() * size_of::<T>() > STREAM
    }

    fn codes_of(&self, (here, terms, own): (StateTerm, usize, bool), streams: bool) -> Both {
        let asked = CodeKey { here, terms, own, streams, near_solids: false };
        let outputs = self.codes.outputs(&self.plan, asked);
        // It reads the same numbers, which are there where there is code of other rows.
        let near_solids = match (&outputs, &self.solids) {
            (Some(_), Some(_)) => {
                self.codes.outputs(&self.plan, CodeKey { near_solids: true, ..asked })
            }
            _ => None,
        };
        [outputs, near_solids]
    }

    /// Runs a frame over tiles; true when every value is finite.
    fn over(&self, tiles: &[Tile], frame: &Frame<'_, T>) -> bool {
        let one = |tile: &Tile| {
            let _flushed = Flushed::begin();
            self.memories.lend(|memory| T::tile(self.isa, frame, tile, memory))
        };
        match &self.pool {
            None => {
                let _flushed = Flushed::begin();
                self.memories.lend(|memory| self.each(tiles, frame, memory))
            }
            Some(pool) => {
                let all =
                    || tiles.par_iter().with_max_len(1).map(one).reduce(|| true, |a, b| a & b);
                pool.install(all)
            }
        }
    }

    /// Runs a frame over tiles one after the other.
    fn each(&self, tiles: &[Tile], frame: &Frame<'_, T>, memory: &mut Memory<T>) -> bool {
        let run = |tile: &Tile| T::tile(self.isa, frame, tile, memory);
        tiles.iter().map(run).fold(true, |all, finite| all & finite)
    }
}

/// Forward Euler as a combination: the states themselves, and nothing else, are added.
const EULER: (StateTerm, usize, bool) = (StateTerm::Whole, 0, false);
