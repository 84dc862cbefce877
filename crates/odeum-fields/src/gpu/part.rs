//! A slab of a problem on one GPU: fields there, and sweeps over them.

use super::masked::{self, Masked};
use super::reduce::Reductions;
use super::shape::Shape;
use super::snapshot::SnapshotTransfers;
use super::source;
use super::span::{Piece, Spans};
use super::step::{Addends, Step};
use super::transport::{self, Transport};
use super::variant::Variant;
use crate::backend::{Batch, Blend, Slot};
use crate::field::Field;
use crate::field::slab::Slab;
use crate::plan::Plan;
use crate::problem::Problem;
use crate::tiling::{MANY, Tiling};
use crate::time::method::Method;
use odeum_cuda::{Device, Kernel as _, Memory, Pending, Stream, TensorMap, argument};
use odeum_ode::{Error, Scalar};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::c_void;

/// A kernel that is there, or on its way.
enum KernelSlot<D: Device> {
    Loaded(Kernel<D>),
    Pending(D::Pending),
}

/// Fields of a slab on a GPU. They stay there; work is given to the GPU without waiting for any of
/// it, until something is asked.
pub(super) struct Part<T, D: Device> {
    pub(super) plan: Plan<T>,
    pub(super) shape: Shape,
    pub(super) stream: D::Stream,
    /// In the order of the slots; after them, for forward Euler, a state kept from before.
    pub(super) fields: Vec<D::Memory>,
    kernels: HashMap<(Tiling, Variant), KernelSlot<D>>,
    transport: Option<Transport<D>>,
    masked: Option<Masked<D>>,
    pub(super) reductions: Reductions<D>,
    pub(super) transfers: SnapshotTransfers<D>,
}

/// A kernel and the planes that its blocks go through.
pub(super) struct Kernel<D: Device> {
    entry: D::Kernel,
    /// Those of a domain that is a part of the box.
    masked: Option<masked::Entries<D::Kernel>>,
    tiling: Tiling,
    across: [usize; 2],
    spans: Spans,
    /// Shared memory of a block \[bytes\].
    shared: usize,
}

impl<D: Device> Clone for Kernel<D> {
    fn clone(&self) -> Kernel<D> {
        Kernel { entry: self.entry.clone(), masked: self.masked.clone(), ..*self }
    }
}

/// What a sweep computes, by whichever kernel.
pub(super) struct Sweep<T> {
    pub(super) step: Step<T>,
    t: f64,
    rhs: f64,
    offsets: [u64; 2],
}

/// A sweep with all its arguments.
pub(super) struct StepLaunch<D: Device> {
    kernel: Kernel<D>,
    step: Vec<u64>,
    /// Of the second sweep, where there is one.
    carry: Option<Vec<u64>>,
    offsets: [u64; 2],
}

impl<D: Device> StepLaunch<D> {
    /// The tiling of its kernel.
    pub(super) fn tiling(&self) -> Tiling {
        self.kernel.tiling
    }

    /// A step of forward Euler from where this one ends to where it begins.
    pub(super) fn reversed(&self) -> StepLaunch<D> {
        let ([from, to], kernel) = (self.offsets, self.kernel.clone());
        StepLaunch {
            kernel,
            step: self.step.clone(),
            carry: self.carry.clone(),
            offsets: [to, from],
        }
    }
}

/// Fields that a simulation needs at once on a GPU: by forward Euler one is kept, to return to when a
/// later one is not finite.
fn fields_on_device(method: Method) -> usize {
    method.fields() + usize::from(method == Method::Euler)
}

/// Bytes that a simulation needs on the GPU that has a slab, but for small things.
pub(super) fn bytes_needed<T: Scalar>(
    problem: &Problem,
    slab: &Slab,
    method: Method,
) -> Result<u128, Error> {
    let grid = problem.grid.with_planes(slab.planes());
    let shape = Shape::new::<T>(&grid, problem.model.species().len())?;
    let fields = shape.room::<T>() as u128 * fields_on_device(method) as u128;
    let others =
        transport::bytes::<T>(problem, &grid)? + masked::bytes::<T>(problem, slab, method)?;
    Ok(fields + others)
}

impl<T: Scalar, D: Device> Part<T, D> {
    /// Puts the planes of a slab onto a device, with room for what the method needs; `plan` is
    /// that of the slab, `field` the whole.
    pub(super) fn new(
        problem: &Problem,
        plan: Plan<T>,
        (field, method): (&Field<T>, Method),
        device: D,
    ) -> Result<Part<T, D>, Error> {
        let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
        let count = fields_on_device(method);
        let need = bytes_needed::<T>(problem, &plan.slab, method)?;
        let free = device.free_memory(0)?;
        if need > free as u128 {
            let found = format!("{need} bytes for {count} fields and what surrounds them");
            let remedy = format!("{} has {free} bytes free: take fewer cells", device.name());
            return Err(Error::input("grid", found, remedy));
        }
        let bytes = shape.room::<T>();
        let fields: Result<Vec<D::Memory>, Error> =
            (0..count).map(|_| device.memory(bytes)).collect();
        let (mut fields, stream) = (fields?, device.stream()?);
        let own = match plan.slab.is_whole() {
            true => Cow::Borrowed(field),
            false => Cow::Owned(field.cut(&plan.grid, &plan.slab)?),
        };
        let masked = Masked::new(&stream, (problem, &plan), &shape, method)?;
        let counted = Masked::counted(masked.as_ref(), &plan);
        let mask = Masked::address(masked.as_ref());
        // What is compiled is under way while the field is.
        let reductions = Reductions::new::<T>(&stream, &shape, plan.slab.own, counted)?;
        let transport = Transport::new(&stream, &plan, &shape, mask)?;
        shape.upload(&own, &stream, &mut fields[Slot::Now as usize])?;
        masked.as_ref().map_or(Ok(()), |masked| masked.derive(&stream))?;
        Ok(Part {
            reductions,
            transport,
            masked,
            transfers: SnapshotTransfers::default(),
            kernels: HashMap::new(),
            plan,
            shape,
            stream,
            fields,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.shape.room::<T>()
    }

    /// Where a field begins, copies of neighbours' planes included.
    pub(super) fn address(&self, slot: Slot) -> u64 {
        self.shape.first::<T>(self.fields[slot as usize].address())
    }

    /// Where its own planes begin.
    pub(super) fn own_address(&self, slot: Slot) -> u64 {
        self.address(slot) + self.byte(0, self.plan.slab.beside[0]) as u64
    }

    /// Where a plane lies, counted from the first value of a field \[bytes\].
    fn byte(&self, species: usize, plane: usize) -> usize {
        (species * self.shape.volume + plane * self.shape.plane) * size_of::<T>()
    }

    /// Where a plane lies in the memory of a field \[bytes\].
    pub(super) fn place(&self, species: usize, plane: usize) -> usize {
        self.shape.first::<T>(0) as usize + self.byte(species, plane)
    }

    /// The text of a kernel, and its kernels' names.
    fn text(
        &self,
        problem: &Problem,
        (tiling, variant): (Tiling, Variant),
    ) -> (String, Vec<&'static str>) {
        let mut names = vec![tiling.kernel(self.plan.n_potentials()).name()];
        if self.masked.is_some() {
            names.extend(masked::names(variant.keeps(), self.plan.n_potentials()));
        }
        (source::text(problem, &self.plan, &self.shape, &tiling, &variant), names)
    }

    /// Whether nobody would have to wait for a kernel.
    pub(super) fn has(&mut self, problem: &Problem, of: (Tiling, Variant)) -> bool {
        match self.kernels.get(&of) {
            Some(KernelSlot::Loaded(_)) => true,
            Some(KernelSlot::Pending(pending)) => pending.is_ready(),
            None => {
                let (text, names) = self.text(problem, of);
                let cached = self.stream.device().cached(&text, &names);
                cached.map(|cached| self.kernels.insert(of, KernelSlot::Pending(cached))).is_some()
            }
        }
    }

    /// Has a kernel compiled, unless that has begun.
    pub(super) fn begin(&mut self, problem: &Problem, of: (Tiling, Variant)) {
        if !self.kernels.contains_key(&of) {
            let (text, names) = self.text(problem, of);
            self.kernels
                .insert(of, KernelSlot::Pending(self.stream.device().compile_async(&text, &names)));
        }
    }

    /// A kernel, which is waited for.
    fn kernel(&mut self, problem: &Problem, of: (Tiling, Variant)) -> Result<Kernel<D>, Error> {
        if let Some(KernelSlot::Loaded(kernel)) = self.kernels.get(&of) {
            return Ok(kernel.clone());
        }
        let coming = match self.kernels.remove(&of) {
            Some(KernelSlot::Pending(pending)) => pending,
            _ => {
                let (text, names) = self.text(problem, of);
                self.stream.device().compile_async(&text, &names)
            }
        };
        let (tiling, variant) = of;
        let mut entries = self.stream.device().wait(coming)?;
        let entry = entries.remove(0);
        let masked = masked::Entries::new(entries, variant.keeps());
        let shared = tiling.shared(&self.plan.cell());
        let threads = tiling.block[0] * tiling.block[1];
        let per_sm = entry.prepare(threads, shared)?;
        let across = tiling.blocks(self.shape.cells);
        let resident = tiling.resident(per_sm) * self.stream.device().limits().multiprocessors;
        let (across_both, potentials) = (across[0] * across[1], self.plan.n_potentials());
        let planes = |count: usize| tiling.planes(count, across_both, resident, potentials);
        let spans = Spans::new(&self.plan.slab, planes);
        let kernel = Kernel { entry, masked, tiling, across, spans, shared };
        self.kernels.insert(of, KernelSlot::Loaded(kernel.clone()));
        Ok(kernel)
    }

    /// `count` steps from step `from` of a batch on, for a kernel that takes them at once; `None`
    /// when the velocity turns between them.
    pub(super) fn steps(&self, batch: &Batch, from: u64, count: usize) -> Option<Sweep<T>> {
        let step = Step::several(&self.plan, batch, from, count)?;
        let offsets = [self.address(Slot::Now), self.address(Slot::Next)];
        Some(Sweep { step, t: batch.t(from), rhs: batch.h, offsets })
    }

    /// out = own · out + Σ cₖ Vₖ + rhs · F(t, u).
    pub(super) fn blend(&self, (t, u): (f64, Slot), what: &Blend<'_>, out: Slot) -> Sweep<T> {
        let offsets = [self.address(u), self.address(out)];
        let mut addends = Addends { own: what.own, out: offsets[1], ..Addends::default() };
        for (factor, slot) in what.terms {
            if *slot == u {
                addends.itself = Some(addends.itself.unwrap_or(0.0) + factor);
            } else {
                addends.terms.push((*factor, self.address(*slot)));
            }
        }
        let step = Step::blended(&self.plan, t, what.rhs, &addends);
        Sweep { step, t, rhs: what.rhs, offsets }
    }

    /// out = own · out + Σ cₖ Vₖ, in the copies of neighbours' planes too.
    pub(super) fn combine(&self, what: &Blend<'_>, out: Slot) -> Result<(), Error> {
        let term = |(c, slot): &(f64, Slot)| (*c, self.address(*slot));
        let terms: Vec<_> = what.terms.iter().map(term).collect();
        self.reductions.combine(&self.stream, &terms, what.own, self.address(out))
    }

    /// A sweep by the kernel of a tiling, which is waited for.
    pub(super) fn prepare(
        &mut self,
        problem: &Problem,
        tiling: Tiling,
        sweep: &Sweep<T>,
    ) -> Result<StepLaunch<D>, Error> {
        let Sweep { step, t, rhs, offsets } = sweep;
        let kernel = self.kernel(problem, (tiling, step.variant))?;
        let carry = self.transport.as_ref().map(|second| second.step(&self.plan, *t, *rhs));
        Ok(StepLaunch { kernel, step: step.argument(), carry, offsets: *offsets })
    }

    /// Sweeps the planes that neighbours hold copies of.
    pub(super) fn sweep_edges(&self, launch: &StepLaunch<D>) -> Result<(), Error> {
        self.launch(launch, Piece::Edges)
    }

    /// Sweeps the other planes.
    pub(super) fn sweep_inner(&self, launch: &StepLaunch<D>) -> Result<(), Error> {
        self.launch(launch, Piece::Inner)
    }

    fn launch(&self, launch: &StepLaunch<D>, piece: Piece) -> Result<(), Error> {
        let Kernel { entry, masked, tiling, across: [x, y], spans, shared, .. } = &launch.kernel;
        let Some(planes) = spans.of(piece) else { return Ok(()) };
        let [from, to] = launch.offsets;
        if let (Some(cells), Some(entries)) = (&self.masked, masked) {
            cells.keep(&self.stream, entries, piece, to)?;
        }
        let boxes = match tiling.pipeline {
            true => self.stream.device().tensor_map(from, &self.shape.boxes())?,
            false => TensorMap([0; 16]),
        };
        // The first is for pipelines alone.
        let mut arguments = [
            argument(&boxes),
            argument(&from),
            argument(&to),
            launch.step.as_ptr().cast_mut().cast::<c_void>(),
            argument(&planes),
        ];
        let arguments = &mut arguments[usize::from(!tiling.pipeline)..];
        let blocks = [*x, *y, planes.blocks()];
        // SAFETY: the arguments are those of the kernel, for which the text has the sizes of the
        // steps and of the fields; the fields live as long as the part.
        unsafe { self.stream.launch(entry, blocks, tiling.block, *shared, arguments)? };
        if let (Some(cells), Some(entries)) = (&self.masked, masked) {
            cells.mend(&self.stream, entries, &launch.step, piece, launch.offsets)?;
        }
        match (&self.transport, &launch.carry) {
            (Some(second), Some(step)) => second.launch(&self.stream, step, launch.offsets, piece),
            _ => Ok(()),
        }
    }

    /// Copies one field over another.
    pub(super) fn restore(&mut self, from: usize, to: usize) -> Result<(), Error> {
        let bytes = self.bytes();
        let (low, high) = self.fields.split_at_mut(from.max(to));
        let (low, high) = (&mut low[from.min(to)], &mut high[0]);
        let (from, to) = if from < to { (&*low, high) } else { (&*high, low) };
        self.stream.copy(from, to, bytes)
    }
}

/// Whether a field is kept in the second-level cache, by kernels that take whole boxes: the edges of
/// a slab are other planes than what is between them.
pub(super) fn is_small<T: Scalar>(plan: &Plan<T>, shape: &Shape) -> bool {
    plan.slab.is_whole() && plan.n_potentials() == 0 && shape.room::<T>() <= source::STREAM
}

/// Whether each step has a second sweep: of what the first leaves out, or near solid cells.
pub(super) fn sweeps_twice<T: Scalar>(plan: &Plan<T>) -> bool {
    plan.is_left_over() || plan.domain.is_some()
}

/// How cells are dealt to threads where steps are taken one by one, and a block may have so many
/// bytes of shared memory.
pub(super) fn single<T: Scalar>(plan: &Plan<T>, shape: &Shape, shared: usize) -> Tiling {
    let cell = plan.cell();
    let tiling = Tiling::of(cell.species, cell.potentials, cell.word);
    let tiling = match cell.potentials {
        0 if is_small(plan, shape) => tiling.small(shape.cells),
        // A velocity takes registers; those of three blocks are enough.
        0 if cell.species == 1 && plan.velocity.is_some() => Tiling { blocks_per_sm: 3, ..tiling },
        1.. if plan.grid.cells() < MANY => tiling.narrow().slim(shape.cells),
        1.. => tiling.slim(shape.cells),
        _ => tiling,
    };
    fitted(tiling, plan).within(shared, &cell)
}

pub(super) fn fitted<T: Scalar>(tiling: Tiling, plan: &Plan<T>) -> Tiling {
    tiling.fitted(plan.grid.shape()[0], plan.periodic()[0], plan.n_potentials())
}
