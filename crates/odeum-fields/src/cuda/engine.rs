//! A problem on a GPU: fields there, and sweeps over them.

use super::machine::Machine;
use super::masked::{self, Masked};
use super::reduce::Reductions;
use super::shape::Shape;
use super::snapshot::Couriers;
use super::source::{self, Variant};
use super::step::{Addends, Step};
use super::tiling::Tiling;
use super::transport::{self, Transport};
use crate::backend::{Backend, Batch, Blend, Slot, Snapshot, Taken};
use crate::field::Field;
use crate::method::Method;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::reduce::Summary;
use crate::stability::{self, State};
use odeum::{Error, Scalar, Tolerance};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::c_void;

/// The fields of a march on a GPU. They stay there; work is given to the GPU without waiting for
/// any of it, until something is asked.
pub(super) struct Engine<T, M: Machine> {
    pub(super) problem: Problem,
    pub(super) plan: Plan<T>,
    pub(super) shape: Shape,
    pub(super) tiling: Tiling,
    pub(super) machine: M,
    /// In the order of the slots; after them, for forward Euler, a state kept from before.
    pub(super) fields: Vec<M::Memory>,
    /// By the steps they take, and what they are compiled for.
    kernels: HashMap<(usize, Variant), Kernel<M>>,
    pub(super) euler: super::euler::Memory<M>,
    pub(super) transport: Option<Transport<M>>,
    masked: Option<Masked<M>>,
    reductions: Reductions<M>,
    couriers: Couriers<M>,
}

/// A kernel and the planes that each of its blocks goes through.
pub(super) struct Kernel<M: Machine> {
    entry: M::Entry,
    /// Those of a domain that is a part of the box, in the order of their names.
    masked: Vec<M::Entry>,
    keeps: bool,
    tiling: Tiling,
    blocks: [usize; 3],
    planes: usize,
}

impl<M: Machine> Clone for Kernel<M> {
    fn clone(&self) -> Kernel<M> {
        Kernel { entry: self.entry.clone(), masked: self.masked.clone(), ..*self }
    }
}

/// Fields that a march needs at once on a GPU: by forward Euler one is kept, to return to when a
/// later one is not finite.
fn fields_on_device(method: Method) -> usize {
    match method {
        Method::Euler => 3,
        Method::Rkc { .. } | Method::Rkl2 { .. } => 4,
    }
}

/// Bytes that a march needs on a GPU, but for small things.
pub(super) fn bytes_needed<T: Scalar>(problem: &Problem, method: Method) -> Result<u128, Error> {
    let shape = Shape::new::<T>(&problem.grid, problem.model.species().len())?;
    let fields = shape.room::<T>() as u128 * fields_on_device(method) as u128;
    Ok(fields + transport::bytes::<T>(problem)? + masked::bytes::<T>(problem, method)?)
}

impl<T: Scalar, M: Machine> Engine<T, M> {
    /// Puts a field onto the machine, with room for what the method needs.
    pub(super) fn new(
        problem: &Problem,
        field: &Field<T>,
        method: Method,
        machine: M,
    ) -> Result<Engine<T, M>, Error> {
        let plan = Plan::<T>::new(problem)?;
        if (field.shape(), field.species()) != (plan.grid.shape(), plan.layout.species) {
            let found = format!("{:?} cells of {} species", field.shape(), field.species());
            let (cells, species) = (plan.grid.shape(), plan.layout.species);
            let remedy = format!("wants {cells:?} cells of {species} species");
            return Err(Error::input("field", found, remedy));
        }
        let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
        let bytes = shape.room::<T>();
        let count = fields_on_device(method);
        let (need, free) = (bytes_needed::<T>(problem, method)?, machine.free_memory()?);
        if need > free as u128 {
            let found = format!("{need} bytes for {count} fields and what surrounds them");
            let remedy = format!("{} has {free} bytes free: take fewer cells", machine.name());
            return Err(Error::input("grid", found, remedy));
        }
        let fields: Result<Vec<M::Memory>, Error> =
            (0..count).map(|_| machine.memory(bytes)).collect();
        let masked = Masked::new(&machine, (problem, &plan), method)?;
        let counted = Masked::counted(masked.as_ref(), problem);
        let reductions = Reductions::new::<T>(&machine, &shape, counted)?;
        let transport = Transport::new(&machine, &plan, &shape, counted.mask)?;
        let mut engine = Engine {
            problem: problem.clone(),
            tiling: tiling_of(&plan, &shape),
            plan,
            shape,
            machine,
            fields: fields?,
            kernels: HashMap::new(),
            euler: super::euler::Memory::default(),
            transport,
            masked,
            reductions,
            couriers: Couriers::default(),
        };
        let Engine { machine, fields, .. } = &mut engine;
        shape.upload(field, machine, &mut fields[Slot::Now as usize])?;
        Ok(engine)
    }

    pub(super) fn bytes(&self) -> usize {
        self.shape.room::<T>()
    }

    pub(super) fn address(&self, slot: Slot) -> u64 {
        self.shape.first::<T>(M::address(&self.fields[slot as usize]))
    }

    /// The kernel that takes `depth` steps.
    pub(super) fn kernel(&mut self, depth: usize, variant: Variant) -> Result<Kernel<M>, Error> {
        if let Some(kernel) = self.kernels.get(&(depth, variant)) {
            return Ok(kernel.clone());
        }
        let tiling = if depth == self.tiling.depth { self.tiling } else { single(&self.plan) };
        let text = source::text(&self.problem, &self.plan, &self.shape, &tiling, &variant);
        let name = Tiling::kernel(self.plan.n_potentials());
        let mut names = vec![name];
        if self.masked.is_some() {
            names.extend(masked::NAMES);
        }
        let mut masked = self.machine.kernels(&text, &names)?;
        let entry = masked.remove(0);
        let keeps = variant.blend.is_some_and(|blend| blend.own);
        let per_sm = self.machine.prepare(&entry, tiling.block[0] * tiling.block[1], 0)?;
        let [x, y] = tiling.blocks(self.shape.cells);
        let nz = self.shape.cells[2];
        let planes = tiling.planes(nz, x * y, per_sm * self.machine.multiprocessors());
        let blocks = [x, y, nz.div_ceil(planes)];
        let kernel = Kernel { entry, masked, keeps, tiling, blocks, planes };
        self.kernels.insert((depth, variant), kernel.clone());
        Ok(kernel)
    }

    /// Adds to a result what the first sweep at a time, with this factor of the slope, left out.
    pub(super) fn carry(&self, (t, slope): (f64, f64), places: [u64; 2]) -> Result<(), Error> {
        let Some(transport) = &self.transport else { return Ok(()) };
        let step = transport.step(&self.plan, t, slope);
        transport.launch(&self.machine, &step, places)
    }

    /// Gives a sweep from one address to another to the queue.
    pub(super) fn launch(
        &self,
        kernel: &Kernel<M>,
        step: &[u64],
        [from, to]: [u64; 2],
    ) -> Result<(), Error> {
        let Kernel { entry, masked, keeps, tiling, blocks, planes } = kernel;
        if let (Some(cells), [_, keep]) = (&self.masked, &masked[..])
            && *keeps
        {
            cells.keep(&self.machine, keep, to)?;
        }
        let planes = *planes as i32;
        let mut arguments = [
            argument(&from),
            argument(&to),
            step.as_ptr().cast_mut().cast::<c_void>(),
            argument(&planes),
        ];
        // SAFETY: the arguments are those of the kernel, for which the text has the sizes of the
        // steps and of the fields; the fields live as long as the machine.
        unsafe { self.machine.launch(entry, *blocks, tiling.block, 0, &mut arguments) }?;
        match (&self.masked, &masked[..]) {
            (Some(cells), [mend, _]) => cells.mend(&self.machine, mend, step, [from, to]),
            _ => Ok(()),
        }
    }
}

/// A value as an argument of a kernel.
pub(super) fn argument<V>(value: &V) -> *mut c_void {
    std::ptr::from_ref(value).cast_mut().cast()
}

/// How cells are dealt to threads where steps are taken one by one.
fn single<T: Scalar>(plan: &Plan<T>) -> Tiling {
    fitted(Tiling::of(plan.layout.species, plan.n_potentials(), size_of::<T>()), plan)
}

fn fitted<T: Scalar>(tiling: Tiling, plan: &Plan<T>) -> Tiling {
    tiling.fitted(plan.grid.shape()[0], plan.periodic()[0])
}

/// How they are where nothing else is asked for. Several steps at once have the bits of one by
/// one.
fn tiling_of<T: Scalar>(plan: &Plan<T>, shape: &Shape) -> Tiling {
    let (species, word) = (plan.layout.species, size_of::<T>());
    let plain =
        plan.wind.is_none() && plan.diffusion.iter().all(Option::is_none) && plan.domain.is_none();
    let large = shape.room::<T>() > source::STREAM;
    if (species, plan.n_potentials(), word) == (1, 0, 4) && plain && large {
        return fitted(Tiling::twice(species, word, false), plan);
    }
    single(plan)
}

impl<T: Scalar, M: Machine> Backend<T> for Engine<T, M> {
    fn sweep(&mut self, t: f64, u: Slot, what: &Blend<'_>, out: Slot) -> Result<(), Error> {
        let address = |slot: Slot| self.address(slot);
        if what.slope == 0.0 {
            let terms: Vec<_> = what.terms.iter().map(|(c, slot)| (*c, address(*slot))).collect();
            return self.reductions.combine(&self.machine, &terms, what.own, address(out));
        }
        let mut addends = Addends { own: what.own, out: address(out), ..Addends::default() };
        for (factor, slot) in what.terms {
            if *slot == u {
                addends.itself = Some(addends.itself.unwrap_or(0.0) + factor);
            } else {
                addends.terms.push((*factor, address(*slot)));
            }
        }
        let places = [address(u), address(out)];
        let step = Step::blended(&self.plan, t, what.slope, &addends);
        let kernel = self.kernel(1, step.variant)?;
        self.launch(&kernel, &step.argument(), places)?;
        self.carry((t, what.slope), places)
    }

    fn euler(&mut self, batch: &Batch) -> Result<Taken, Error> {
        self.take(batch)
    }

    fn swap(&mut self, a: Slot, b: Slot) {
        self.fields.swap(a as usize, b as usize);
    }

    fn spoiled(&mut self, slot: Slot) -> Result<Option<(usize, [usize; 3])>, Error> {
        self.reductions.first_spoiled(&self.machine, self.address(slot), &self.plan.grid)
    }

    fn rkc_error(&mut self, tolerance: &Tolerance, h: f64) -> Result<f64, Error> {
        let slots = [Slot::Now, Slot::Next, Slot::Slope, Slot::Older];
        let fields = slots.map(|slot| self.address(slot));
        self.reductions.rkc_error(&self.machine, tolerance, h, fields)
    }

    fn summaries(&self) -> Result<Vec<Summary>, Error> {
        let parts = self.reductions.extremes(&self.machine, self.address(Slot::Now))?;
        let grid = &self.plan.grid;
        let summary = |all: super::reduce::Extremes| Summary {
            sum: all.sum,
            mass: all.sum * grid.cell_volume(),
            mean: all.sum / self.problem.cells() as f64,
            min: all.least,
            max: all.largest,
        };
        Ok(parts.into_iter().map(summary).collect())
    }

    fn sample(&self) -> Result<Vec<State>, Error> {
        let grid = &self.plan.grid;
        let mut cells = stability::everywhere(grid.shape(), self.problem.mask.as_ref());
        for all in self.reductions.extremes(&self.machine, self.address(Slot::Now))? {
            // Of a field without a number there is none.
            let found = |at: i64| usize::try_from(at).ok().filter(|at| *at < grid.cells());
            cells.extend([all.low, all.high].into_iter().filter_map(found).map(|at| grid.cell(at)));
        }
        cells.sort_unstable();
        cells.dedup();
        let values = self.pick(&cells)?;
        let values = values.chunks(self.shape.species);
        let state = |(cell, values): (&[usize; 3], &[T])| State {
            cell: *cell,
            values: values.iter().map(|x| x.to_f64()).collect(),
        };
        Ok(cells.iter().zip(values).map(state).collect())
    }

    fn pick(&self, cells: &[[usize; 3]]) -> Result<Vec<T>, Error> {
        let Shape { row, plane, volume, species, .. } = self.shape;
        let of_cell = |[i, j, k]: &[usize; 3]| {
            let first = k * plane + j * row + i;
            (0..species).map(move |s| (s * volume + first) as i64)
        };
        let places: Vec<i64> = cells.iter().flat_map(of_cell).collect();
        self.reductions.pick(&self.machine, self.address(Slot::Now), &places)
    }

    fn field(&self) -> Result<Cow<'_, Field<T>>, Error> {
        let now = &self.fields[Slot::Now as usize];
        Ok(Cow::Owned(self.shape.download(&self.plan.grid, &self.machine, now)?))
    }

    fn snapshot(&self) -> Result<Snapshot<T>, Error> {
        let now = &self.fields[Slot::Now as usize];
        match self.couriers.take(&self.machine, now, self.bytes())? {
            Some(courier) => {
                let (shape, grid) = (self.shape, self.plan.grid);
                Ok(Snapshot::new(move || courier.deliver(&shape, &grid)))
            }
            None => {
                let field = self.field()?.into_owned();
                Ok(Snapshot::new(move || Ok(field)))
            }
        }
    }

    fn device_time(&self) -> Option<f64> {
        Some(self.euler.seconds)
    }

    fn retile(&mut self, tiling: Tiling) -> Result<(), Error> {
        tiling.check(self.plan.n_potentials(), size_of::<T>())?;
        if tiling.depth > 1 && (self.transport.is_some() || self.masked.is_some()) {
            let found = format!("depth {}", tiling.depth);
            return Err(Error::input("tiling", found, "must be 1 where sweeps are two"));
        }
        self.tiling = fitted(tiling, &self.plan);
        self.kernels.clear();
        self.euler = super::euler::Memory::default();
        Ok(())
    }
}
