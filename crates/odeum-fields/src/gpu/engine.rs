//! A problem on GPUs: each has a slab of the box, and all sweep together.

use super::exchange::Links;
use super::part::{Part, StepLaunch, Sweep, bytes_needed, fitted, is_small, single, sweeps_twice};
use super::pipeline;
use super::reduce::Extremes;
use super::shape::Shape;
use super::step;
use super::step_cache::StepCache;
use super::variant::Variant;
use crate::analysis::reduce::Summary;
use crate::backend::{Backend, Batch, Blend, Slot, Snapshot, StepsTaken};
use crate::field::Field;
use crate::field::slab::Slab;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::problem::grid::Grid;
use crate::tiling::Tiling;
use crate::time::method::Method;
use odeum_cuda::{Device, Stream};
use odeum_ode::{Error, Scalar, Tolerance};
use std::borrow::Cow;

/// The fields of a simulation on GPUs.
pub(super) struct Engine<T, D: Device> {
    pub(super) problem: Problem,
    /// What goes from part to part; it ends before the memory does.
    links: Links<D>,
    /// From the lowest slab to the highest, at least one.
    pub(super) parts: Vec<Part<T, D>>,
    /// From the one that simulations are fastest by to the one whose kernels are soonest compiled; all
    /// give the same bits, and the last takes single steps.
    tilings: Vec<Tiling>,
    /// Whether the fastest is waited for.
    patient: bool,
    pub(super) euler: StepCache<D>,
}

/// Bytes that a simulation needs on each of so many GPUs.
pub(super) fn needs<T: Scalar>(
    problem: &Problem,
    method: Method,
    parts: usize,
) -> Result<Vec<u128>, Error> {
    let Problem { model, grid, .. } = problem;
    let boundaries = problem.boundaries.bind(grid, model.species(), model.params())?;
    let slabs = Slab::whole(grid.shape()[2], boundaries[0].wraps(2)).split(parts)?;
    if !step::fits_for_certain::<T>(problem) {
        step::check(&Plan::<T>::new(problem)?)?;
    }
    slabs.iter().map(|slab| bytes_needed::<T>(problem, slab, method)).collect()
}

impl<T: Scalar, D: Device> Engine<T, D> {
    /// Puts a field onto devices, with room for what the method needs.
    pub(super) fn new(
        problem: &Problem,
        field: &Field<T>,
        method: Method,
        devices: Vec<D>,
    ) -> Result<Engine<T, D>, Error> {
        let plan = Plan::<T>::new(problem)?;
        if (field.shape(), field.species()) != (plan.grid.shape(), plan.layout.species) {
            let found = format!("{:?} cells of {} species", field.shape(), field.species());
            let (cells, species) = (plan.grid.shape(), plan.layout.species);
            let remedy = format!("wants {cells:?} cells of {species} species");
            return Err(Error::input("field", found, remedy));
        }
        step::check(&plan)?;
        let slabs = plan.slab.split(devices.len())?;
        let links = Links::new(&devices)?;
        let plans: Vec<Plan<T>> = match slabs.len() {
            1 => vec![plan],
            _ => slabs.iter().map(|slab| plan.cut(slab)).collect::<Result<_, _>>()?,
        };
        // All take the same tiling.
        let least = devices.iter().min_by_key(|device| device.limits().shared_per_block);
        let tilings = tilings_of(&plans[0], least.unwrap_or(&devices[0]))?;
        let part = |(plan, device)| Part::new(problem, plan, (field, method), device);
        let parts: Result<Vec<_>, Error> = plans.into_iter().zip(devices).map(part).collect();
        let (problem, euler) = (problem.clone(), StepCache::default());
        Ok(Engine { problem, links, parts: parts?, tilings, patient: false, euler })
    }

    fn grid(&self) -> &Grid {
        &self.problem.grid
    }

    /// How simulations are fastest.
    pub(super) fn fastest(&self) -> Tiling {
        self.tilings[0]
    }

    /// The tiling by which to take up to so many steps at once: the first whose kernels are there.
    /// Those before it are compiled meanwhile; where none is there, all are, and the last is waited for.
    fn choose(&mut self, most: usize, variant: Variant) -> Tiling {
        let Engine { parts, problem, tilings, patient, .. } = self;
        let mut has =
            |tiling: &&Tiling| parts.iter_mut().all(|part| part.has(problem, (**tiling, variant)));
        let fit = || tilings.iter().filter(|tiling| tiling.depth <= most);
        if *patient {
            return *fit().next().unwrap_or(&tilings[tilings.len() - 1]);
        }
        let there = fit().position(|tiling| has(&tiling));
        let missing = there.unwrap_or(fit().count());
        // One that is waited for goes first.
        for tiling in fit().take(missing).collect::<Vec<_>>().into_iter().rev() {
            parts.iter_mut().for_each(|part| part.begin(problem, (*tiling, variant)));
        }
        *there.and_then(|n| fit().nth(n)).unwrap_or(&tilings[tilings.len() - 1])
    }

    /// The [chosen](Engine::choose) tiling, and what each part sweeps by its kernels. One whose kernels do not compile is not
    /// chosen again where there are others.
    pub(super) fn prepare(
        &mut self,
        most: usize,
        sweeps: &[Sweep<T>],
    ) -> Result<(Tiling, Vec<StepLaunch<D>>), Error> {
        loop {
            let tiling = self.choose(most, sweeps[0].step.variant);
            let Engine { parts, problem, tilings, .. } = self;
            let each = parts.iter_mut().zip(sweeps);
            let launches: Result<Vec<_>, Error> =
                each.map(|(part, sweep)| part.prepare(problem, tiling, sweep)).collect();
            // The last takes single steps.
            let single = |other: &Tiling| *other != tiling && other.depth == 1;
            let others = !self.patient && tilings.iter().any(single);
            match launches {
                Err(Error::Compile { .. }) if others => {
                    tilings.retain(|other| *other != tiling);
                    // Recordings are of the tiling that was the fastest.
                    self.euler.recordings.clear();
                }
                launches => return Ok((tiling, launches?)),
            }
        }
    }

    /// Gives a sweep to all parts.
    pub(super) fn give(&mut self, launches: &[StepLaunch<D>], out: Slot) -> Result<(), Error> {
        let given = self.links.sweep(&mut self.parts, launches, out);
        // No event tells when the edges of a sweep that failed have come.
        given.or_else(|error| self.links.wait().and(Err(error)))
    }

    /// See [`Links::settle`].
    pub(super) fn settle(&self) -> Result<(), Error> {
        self.links.settle(&self.parts)
    }

    /// Copies one field over another.
    pub(super) fn restore(&mut self, from: usize, to: usize) -> Result<(), Error> {
        self.settle()?;
        self.parts.iter_mut().try_for_each(|part| part.restore(from, to))
    }

    /// Sum and extremes of each species of the state.
    fn extremes(&self) -> Result<Vec<Extremes>, Error> {
        let mut all = vec![Extremes::NONE; self.problem.model.species().len()];
        for part in &self.parts {
            let found = part.reductions.extremes(&part.stream, part.own_address(Slot::Now))?;
            let [nx, ny, _] = part.shape.cells;
            let before = (part.plan.slab.first * nx * ny) as i64;
            for (all, found) in all.iter_mut().zip(found) {
                all.join(&found.shifted(before));
            }
        }
        Ok(all)
    }
}

/// How cells are dealt to threads where nothing else is asked for.
fn tilings_of<T: Scalar>(plan: &Plan<T>, device: &impl Device) -> Result<Vec<Tiling>, Error> {
    let (species, word, shared) =
        (plan.layout.species, size_of::<T>(), device.limits().shared_per_block);
    let shape = Shape::new::<T>(&plan.grid, species)?;
    // What each step has a second sweep for is done step by step.
    let deep = plan.n_potentials() == 0 && !sweeps_twice(plan);
    let several = match species {
        _ if pipeline::is_faster(plan) && pipeline::suits(plan, &shape, device).is_ok() => {
            Some(Tiling::pipeline())
        }
        _ if !deep => None,
        _ if is_small(plan, &shape) => Tiling::boxed(species, word, shape.cells, shared),
        _ => Tiling::twice(species, plan.velocity.is_some(), word, shape.cells),
    };
    let cell = plan.cell();
    let several = several.map(|tiling| fitted(tiling, plan).within(shared, &cell));
    let suits = |tiling: &Tiling| tiling.check(&cell, shared).is_ok();
    let finite = several.filter(|tiling| suits(tiling) && step::fits(plan, tiling.depth));
    let single = single(plan, &shape, shared);
    Ok(finite.into_iter().chain([single, single.quick()]).collect())
}

impl<T: Scalar, D: Device> Backend<T> for Engine<T, D> {
    fn sweep(&mut self, t: f64, u: Slot, what: &Blend<'_>, out: Slot) -> Result<(), Error> {
        if what.rhs == 0.0 {
            self.settle()?;
            return self.parts.iter().try_for_each(|part| part.combine(what, out));
        }
        let sweeps: Vec<_> = self.parts.iter().map(|part| part.blend((t, u), what, out)).collect();
        let (_, launches) = self.prepare(1, &sweeps)?;
        self.give(&launches, out)
    }

    fn euler(&mut self, batch: &Batch) -> Result<StepsTaken, Error> {
        self.take(batch)
    }

    fn is_lost(&self) -> bool {
        self.euler.lost
    }

    fn swap(&mut self, a: Slot, b: Slot) {
        for part in &mut self.parts {
            part.fields.swap(a as usize, b as usize);
        }
    }

    fn non_finite(&mut self, slot: Slot) -> Result<Option<(usize, [usize; 3])>, Error> {
        let mut first = None;
        for part in &self.parts {
            let found = part.reductions.first_non_finite(&part.stream, part.own_address(slot))?;
            let place = found.map(|(s, [x, y, z])| (s, [x, y, z + part.plan.slab.first]));
            // Slabs come in order, so that of one species the first found is the first.
            let before = |(s, _): &(usize, [usize; 3])| first.is_none_or(|(other, _)| *s < other);
            first = place.filter(before).or(first);
        }
        Ok(first)
    }

    fn rkc_error(&mut self, tolerance: &Tolerance, h: f64) -> Result<f64, Error> {
        let mut sum = 0.0;
        for part in &self.parts {
            let slots = [Slot::Now, Slot::Next, Slot::Rhs, Slot::Older];
            let fields = slots.map(|slot| part.own_address(slot));
            sum += part.reductions.rkc_error(&part.stream, tolerance, h, fields)?;
        }
        let values = self.problem.cells() * self.problem.model.species().len();
        let norm = (sum / values as f64).sqrt();
        if norm.is_infinite() {
            // Squares of finite values, or a rate that is not.
            for slot in [Slot::Next, Slot::Rhs, Slot::Older] {
                if self.non_finite(slot)?.is_some() {
                    return Ok(f64::NAN);
                }
            }
        }
        Ok(norm)
    }

    fn summaries(&self) -> Result<Vec<Summary>, Error> {
        let grid = self.grid();
        let summary = |all: Extremes| Summary {
            sum: all.sum,
            mass: all.sum * grid.cell_volume(),
            mean: all.sum / self.problem.cells() as f64,
            min: all.least,
            max: all.largest,
        };
        Ok(self.extremes()?.into_iter().map(summary).collect())
    }

    fn extreme_cells(&self) -> Result<Vec<[usize; 3]>, Error> {
        let grid = self.grid();
        // Of a field without a number there is none.
        let found = |at: i64| usize::try_from(at).ok().filter(|at| *at < grid.cells());
        let ends = self.extremes()?.into_iter().flat_map(|all| [all.low, all.high]);
        Ok(ends.filter_map(found).map(|at| grid.cell(at)).collect())
    }

    fn pick(&self, cells: &[[usize; 3]]) -> Result<Vec<T>, Error> {
        let species = self.problem.model.species().len();
        let mut values = vec![T::from_f64(0.0); cells.len() * species];
        for part in &self.parts {
            let Shape { row, plane, volume, .. } = part.shape;
            let (slab, mut offsets, mut into) = (part.plan.slab, Vec::new(), Vec::new());
            for (n, [i, j, k]) in cells.iter().enumerate() {
                if !(slab.first..slab.first + slab.own).contains(k) {
                    continue;
                }
                let first = (k - slab.first) * plane + j * row + i;
                offsets.extend((0..species).map(|s| (s * volume + first) as i64));
                into.extend(n * species..(n + 1) * species);
            }
            let address = part.own_address(Slot::Now);
            let picked = part.reductions.pick(&part.stream, address, &offsets)?;
            for (at, value) in into.into_iter().zip(picked) {
                values[at] = value;
            }
        }
        Ok(values)
    }

    fn values(&self, species: usize, take: &mut dyn FnMut(&[T])) -> Result<(), Error> {
        self.parts.iter().try_for_each(|part| {
            let now = &part.fields[Slot::Now as usize];
            part.shape.values(&part.plan.slab, &part.stream, now, species, take)
        })
    }

    fn field(&self) -> Result<Cow<'_, Field<T>>, Error> {
        let mut field = Field::zeros(self.grid(), self.problem.model.species().len())?;
        for part in &self.parts {
            let now = &part.fields[Slot::Now as usize];
            part.shape.download(&part.plan.slab, &part.stream, now, &mut field)?;
        }
        Ok(Cow::Owned(field))
    }

    fn snapshot(&self) -> Result<Snapshot<T>, Error> {
        self.settle()?;
        let mut transfers = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let now = &part.fields[Slot::Now as usize];
            let Some(transfer) = part.transfers.take(&part.stream, now, part.bytes())? else {
                let field = self.field()?.into_owned();
                return Ok(Snapshot::new(move || Ok(field)));
            };
            transfers.push((transfer, part.shape, part.plan.slab));
        }
        let (grid, species) = (*self.grid(), self.problem.model.species().len());
        Ok(Snapshot::new(move || {
            let mut field = Field::zeros(&grid, species)?;
            for (transfer, shape, slab) in transfers {
                transfer.deliver(&shape, &slab, &mut field)?;
            }
            Ok(field)
        }))
    }

    fn device_time(&self) -> Option<f64> {
        Some(self.euler.seconds)
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(self.fastest())
    }

    fn retile(&mut self, tiling: Option<Tiling>) -> Result<(), Error> {
        let Part { plan, shape, stream, .. } = &self.parts[0];
        let shared = |part: &Part<T, D>| part.stream.device().limits().shared_per_block;
        let shared = self.parts.iter().map(shared).min().unwrap_or_default();
        let own = single(plan, shape, shared);
        let tiling = tiling.map_or(own, |tiling| fitted(tiling, plan));
        tiling.check(&plan.cell(), shared)?;
        let refused =
            |remedy: &str| Err(Error::input("tiling", format!("depth {}", tiling.depth), remedy));
        if tiling.depth > 1 && sweeps_twice(plan) {
            return refused("must be 1 where sweeps are two");
        }
        if tiling.pipeline
            && let Err(wanted) = pipeline::suits(plan, shape, stream.device())
        {
            return refused(wanted);
        }
        if tiling.boxes.is_some() && self.parts.len() > 1 {
            return refused("must be 1 or 2, without boxes, on several GPUs");
        }
        self.tilings = if tiling.depth > 1 { vec![tiling, own] } else { vec![tiling] };
        self.patient = true;
        self.euler = StepCache { lost: self.euler.lost, ..StepCache::default() };
        Ok(())
    }
}
