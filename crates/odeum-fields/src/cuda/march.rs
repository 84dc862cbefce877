//! Forward Euler on a GPU.

use super::shape::Shape;
use super::source;
use super::step::{self, Step};
use super::tiling::Tiling;
use crate::field::Field;
use crate::plan::Plan;
use crate::problem::Problem;
use odeum::backend::cuda::kernels::{Card, Entry, Memory, Queue, Recording};
use odeum::{Error, Scalar};
use std::collections::HashMap;
use std::ffi::c_void;

/// A field on a GPU on its way through time, by forward Euler.
///
/// It stays there: steps are given to the GPU one after the other without waiting for any.
pub struct CudaMarch<T> {
    problem: Problem,
    plan: Plan<T>,
    shape: Shape,
    tiling: Tiling,
    card: Card,
    queue: Queue,
    /// The present field, and what the next step is written to.
    fields: [Memory; 2],
    /// By the steps they take and the sides that the wind comes from.
    kernels: HashMap<(usize, [bool; 3]), Kernel>,
    /// Many steps of a size that do not depend on the time, as one piece of work. Of fields so
    /// small that a step takes no longer than to start it.
    recording: Option<(Recorded, Recording)>,
    t: f64,
}

/// What a recording is good for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Recorded {
    h: f64,
    /// Where the field lies that it begins with: steps one by one exchange the two.
    from: u64,
}

/// Kernels in a recording: an even number, after which the fields are where they were.
const RECORDED: usize = 64;

/// Bytes of a field from which on nothing is gained by recording.
const LARGE: usize = 256 << 20;

/// A kernel and the planes that each of its blocks goes through.
#[derive(Clone)]
struct Kernel {
    entry: Entry,
    tiling: Tiling,
    blocks: [usize; 3],
    planes: usize,
}

fn tiling_of<T>(problem: &Problem) -> Tiling {
    let potentials = problem.model.potentials().outputs().len();
    Tiling::of(problem.model.species().len(), potentials, size_of::<T>())
}

impl<T: Scalar> CudaMarch<T> {
    /// Begins at time `t` with the values of a field, on the GPU of this number.
    ///
    /// # Errors
    /// A problem that is not sound or that kernels do not compute, a field of another shape, a
    /// GPU that is not there, or too little memory on it.
    pub fn new(
        problem: &Problem,
        field: &Field<T>,
        t: f64,
        ordinal: usize,
    ) -> Result<CudaMarch<T>, Error> {
        let tiling = tiling_of::<T>(problem);
        CudaMarch::with_tiling(problem, field, t, ordinal, tiling)
    }

    /// The same with another way to deal cells to threads.
    ///
    /// # Errors
    /// As [`new`](CudaMarch::new), and a tiling that cannot be.
    #[doc(hidden)]
    pub fn with_tiling(
        problem: &Problem,
        field: &Field<T>,
        t: f64,
        ordinal: usize,
        tiling: Tiling,
    ) -> Result<CudaMarch<T>, Error> {
        let plan = Plan::<T>::new(problem)?;
        source::refuse(&plan)?;
        tiling.check(plan.n_potentials(), size_of::<T>())?;
        let tiling = tiling.fitted(plan.grid.shape()[0], plan.periodic()[0]);
        if (field.shape(), field.species()) != (plan.grid.shape(), plan.layout.species) {
            let found = format!("{:?} cells of {} species", field.shape(), field.species());
            let (cells, species) = (plan.grid.shape(), plan.layout.species);
            let remedy = format!("wants {cells:?} cells of {species} species");
            return Err(Error::input("field", found, remedy));
        }
        if !t.is_finite() {
            return Err(Error::input("t", t, "must be finite"));
        }
        let shape = Shape::new::<T>(&plan.grid, plan.layout.species)?;
        let card = Card::open(ordinal)?;
        let bytes = shape.len() * size_of::<T>();
        let free = card.free_memory()?;
        if free / 2 < bytes {
            let found = format!("{} MiB for two fields", (2 * bytes) >> 20);
            let remedy = format!("cuda:{ordinal} has {} MiB free", free >> 20);
            return Err(Error::input("grid", found, remedy));
        }
        let mut fields = [card.memory(bytes)?, card.memory(bytes)?];
        fields[0].write(&shape.pack(field))?;
        let queue = card.queue()?;
        let problem = problem.clone();
        let kernels = HashMap::new();
        Ok(CudaMarch {
            problem,
            plan,
            shape,
            tiling,
            card,
            queue,
            fields,
            kernels,
            recording: None,
            t,
        })
    }

    /// Deals cells to threads in another way from here on.
    ///
    /// # Errors
    /// A tiling that cannot be.
    #[doc(hidden)]
    pub fn retile(&mut self, tiling: Tiling) -> Result<(), Error> {
        tiling.check(self.plan.n_potentials(), size_of::<T>())?;
        self.tiling = tiling.fitted(self.shape.cells[0], self.plan.periodic()[0]);
        self.kernels.clear();
        self.recording = None;
        Ok(())
    }

    /// The time reached \[time\].
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Takes `steps` steps of size `h` and waits for the last; gives the time on the GPU, in ms.
    ///
    /// # Errors
    /// A step that is not finite, a kernel that cannot be compiled, or a driver that fails.
    pub fn steps(&mut self, steps: u64, h: f64) -> Result<f64, Error> {
        if !h.is_finite() {
            return Err(Error::input("step", h, "must be finite"));
        }
        let begin = self.t;
        // What is compiled is not timed.
        let depth = self.tiling.depth;
        for depth in [depth, 1] {
            self.kernel(depth, Step::new(&self.plan, begin, h).sides)?;
        }
        let piece = (RECORDED * depth) as u64;
        if steps >= piece {
            self.record(h)?;
        }
        self.queue.mark(0)?;
        let mut done = 0;
        while done < steps {
            // One that was made for other steps is gone by now.
            if let Some((_, recording)) = &self.recording
                && steps - done >= piece
            {
                self.queue.replay(recording)?;
                done += piece;
                continue;
            }
            let t = begin + done as f64 * h;
            let several = if steps - done >= depth as u64 {
                Step::several(&self.plan, t, h, depth).map(|step| (depth, step))
            } else {
                None
            };
            let (count, step) = several.unwrap_or_else(|| (1, Step::new(&self.plan, t, h)));
            let kernel = self.kernel(count, step.sides)?;
            self.launch(&kernel, &step, 0)?;
            self.fields.swap(0, 1);
            done += count as u64;
        }
        self.queue.mark(1)?;
        self.queue.wait()?;
        self.t = begin + steps as f64 * h;
        self.queue.elapsed()
    }

    /// The field at the time reached.
    ///
    /// # Errors
    /// Too little memory, or a driver that fails.
    pub fn field(&self) -> Result<Field<T>, Error> {
        let mut values = vec![T::from_f64(0.0); self.shape.len()];
        self.fields[0].read(&mut values)?;
        let mut field = Field::zeros(&self.plan.grid, self.shape.species)?;
        self.shape.unpack(&values, &mut field);
        Ok(field)
    }

    /// Records many steps of size `h`, where that serves.
    fn record(&mut self, h: f64) -> Result<(), Error> {
        let recorded = Recorded { h, from: self.fields[0].address() };
        if self.recording.as_ref().is_some_and(|(old, _)| *old == recorded) {
            return Ok(());
        }
        self.recording = None;
        let small = self.shape.len() * size_of::<T>() < LARGE;
        if !small || !step::is_steady(&self.problem, &self.plan) {
            return Ok(());
        }
        let depth = self.tiling.depth;
        let Some(step) = Step::several(&self.plan, self.t, h, depth) else { return Ok(()) };
        let kernel = self.kernel(depth, step.sides)?;
        let recording = self.queue.record(|| {
            for n in 0..RECORDED {
                self.launch(&kernel, &step, n % 2)?;
            }
            Ok(())
        })?;
        self.recording = recording.map(|recording| (recorded, recording));
        Ok(())
    }

    /// The kernel that takes `depth` steps.
    fn kernel(&mut self, depth: usize, sides: [bool; 3]) -> Result<Kernel, Error> {
        if let Some(kernel) = self.kernels.get(&(depth, sides)) {
            return Ok(kernel.clone());
        }
        let tiling = match depth {
            _ if depth == self.tiling.depth => self.tiling,
            _ => tiling_of::<T>(&self.problem)
                .fitted(self.shape.cells[0], self.plan.periodic()[0]),
        };
        let text = source::text(&self.problem, &self.plan, &self.shape, &tiling, sides);
        let name = Tiling::kernel(self.plan.n_potentials());
        let entry = self.card.kernels(name, &text, &[name])?.swap_remove(0);
        let per_sm = entry.prepare(tiling.block[0] * tiling.block[1], 0)?;
        let [x, y] = tiling.blocks(self.shape.cells);
        let nz = self.shape.cells[2];
        let planes = tiling.planes(nz, x * y, per_sm * self.card.multiprocessors());
        let kernel = Kernel { entry, tiling, blocks: [x, y, nz.div_ceil(planes)], planes };
        self.kernels.insert((depth, sides), kernel.clone());
        Ok(kernel)
    }

    /// Gives a sweep from field number `from` to the other to the queue.
    fn launch(&self, kernel: &Kernel, step: &Step<T>, from: usize) -> Result<(), Error> {
        let Kernel { entry, tiling, blocks, planes } = kernel;
        let planes = *planes as i32;
        let guard = (self.shape.guard() * size_of::<T>()) as u64;
        let first = |field: usize| self.fields[field].address() + guard;
        let (from, to) = (first(from), first(1 - from));
        let mut arguments = [
            (&raw const from).cast_mut().cast::<c_void>(),
            (&raw const to).cast_mut().cast(),
            step.numbers.as_ptr().cast_mut().cast(),
            (&raw const planes).cast_mut().cast(),
        ];
        // SAFETY: the arguments are those of the kernel, for which the text has the sizes of the
        // steps and of the fields; the fields live until the queue has been waited for.
        unsafe { self.queue.launch(entry, *blocks, tiling.block, 0, &mut arguments) }
    }
}
