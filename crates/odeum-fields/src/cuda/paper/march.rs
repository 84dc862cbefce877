//! Forward Euler by the kernels of the paper.

use super::launches::{self, Launch, Place};
use super::points::Points;
use super::task::Courses;
use super::{Blocks, Variant, problem, source};
use crate::field::Field;
use crate::grid::Grid;
use crate::problems::Paper;
use odeum::backend::cuda::kernels::{Card, Entry, Memory, Queue};
use odeum::{Error, Scalar};
use std::ffi::c_void;

/// A field of a problem of table 1 on a GPU, on its way through time.
///
/// Every step starts the boundary kernels and the computing kernel, 7 launches, of the front 14,
/// one by one, as the paper does.
pub struct PaperMarch<T> {
    grid: Grid,
    points: Points,
    courses: Courses,
    entries: Vec<Entry>,
    launches: Vec<Launch>,
    queue: Queue,
    /// The present field ("first"), and what the next step is written to ("second").
    fields: [Memory; 2],
    laplacian: Option<Memory>,
    values: std::marker::PhantomData<T>,
    t: f64,
}

impl<T: Scalar> PaperMarch<T> {
    /// Begins at time `t` with the values of a field, on the GPU of this number.
    ///
    /// # Errors
    /// A problem that is not of table 1, a field with another number of species, a GPU that is not
    /// there, or too little memory on it.
    pub fn new(
        paper: Paper,
        variant: Variant,
        field: &Field<T>,
        t: f64,
        ordinal: usize,
    ) -> Result<PaperMarch<T>, Error> {
        PaperMarch::with_blocks(paper, variant.blocks(paper), field, t, ordinal)
    }

    /// The same with blocks that the paper does not have: its authors chose theirs by trial.
    ///
    /// # Errors
    /// As [`new`](PaperMarch::new), and blocks that cannot be.
    pub fn with_blocks(
        paper: Paper,
        blocks: Blocks,
        field: &Field<T>,
        t: f64,
        ordinal: usize,
    ) -> Result<PaperMarch<T>, Error> {
        blocks.check::<T>(paper)?;
        let problem = problem(paper, field.shape())?;
        let species = problem.model.species().len();
        if field.species() != species {
            let found = format!("{} species", field.species());
            return Err(Error::input("field", found, format!("{} has {species}", paper.name())));
        }
        if !t.is_finite() {
            return Err(Error::input("t", t, "must be finite"));
        }
        let points = Points::new::<T>(&problem.grid, species)?;
        let card = Card::open(ordinal)?;
        let (bytes, one) = (points.len() * size_of::<T>(), points.volume * size_of::<T>());
        let needed = 2 * bytes + if paper == Paper::Front { one } else { 0 };
        let free = card.free_memory()?;
        if free < needed {
            let found = format!("{} MiB for two fields", needed >> 20);
            let remedy = format!("cuda:{ordinal} has {} MiB free", free >> 20);
            return Err(Error::input("grid", found, remedy));
        }
        let text = source::text::<T>(paper, blocks, &problem);
        let entries = card.kernels("od_paper_step", &text, launches::kernels(paper))?;
        let launches = launches::of_step(paper, blocks, &points);
        for launch in &launches {
            entries[launch.kernel].prepare(launch.threads[0] * launch.threads[1], 0)?;
        }
        let mut fields = [card.memory(bytes)?, card.memory(bytes)?];
        let (queue, courses) = (card.queue()?, Courses::new(&problem)?);
        queue.write(&mut fields[0], 0, &points.pack(field))?;
        let laplacian = if paper == Paper::Front { Some(card.memory(one)?) } else { None };
        let grid = problem.grid;
        let values = std::marker::PhantomData;
        Ok(PaperMarch {
            grid,
            points,
            courses,
            entries,
            launches,
            queue,
            fields,
            laplacian,
            values,
            t,
        })
    }

    /// The time reached \[time\].
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Points of the grid as the paper counts them, boundary included; cells are fewer.
    pub fn points(&self) -> usize {
        self.points.extent().iter().product()
    }

    /// Takes `steps` steps of size `h` and waits for the last; gives the time on the GPU, in ms.
    ///
    /// # Errors
    /// A step that is not finite, or a driver that fails.
    pub fn steps(&mut self, steps: u64, h: f64) -> Result<f64, Error> {
        if !h.is_finite() {
            return Err(Error::input("step", h, "must be finite"));
        }
        let begin = self.t;
        self.queue.mark(0)?;
        for n in 0..steps {
            self.step(begin + n as f64 * h, h)?;
            self.fields.swap(0, 1);
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
        let mut values = vec![T::from_f64(0.0); self.points.len()];
        self.queue.read(&self.fields[0], 0, &mut values)?;
        let mut field = Field::zeros(&self.grid, self.points.species)?;
        self.points.unpack(&values, &mut field);
        Ok(field)
    }

    fn step(&self, t: f64, h: f64) -> Result<(), Error> {
        let mut task = self.courses.task::<T>(&self.points, t, h);
        let from = self.fields[0].address();
        let laplacian = self.laplacian.as_ref().map_or(0, Memory::address);
        for launch in &self.launches {
            task.arrays = launch.arrays as i32;
            task.inflow = i32::from(launch.inflow);
            let to = match launch.to {
                Place::Now => from,
                Place::Next => self.fields[1].address(),
                Place::Laplacian => laplacian,
            };
            let mut arguments = [
                (&raw const from).cast_mut().cast::<c_void>(),
                (&raw const to).cast_mut().cast(),
                (&raw const laplacian).cast_mut().cast(),
                (&raw const task).cast_mut().cast(),
            ];
            let entry = &self.entries[launch.kernel];
            // SAFETY: the arguments are those of all kernels of the text, and blocks cover the
            // arrays as the launches of this grid do; the memory lives until the queue has been
            // waited for.
            unsafe {
                self.queue.launch(entry, launch.blocks, launch.threads, 0, &mut arguments)?;
            }
        }
        Ok(())
    }
}
