//! Forward Euler by the kernels of the paper.

use super::arrays::{Arrays, Steps};
use super::points::Points;
use super::{Blocks, Variant, problem};
use crate::field::Field;
use crate::problem::grid::Grid;
use crate::problems::Builtin;
use odeum_cuda::{Device, Gpu};
use odeum_ode::{Error, Scalar};

/// A field of a problem of table 1 on a GPU, on its way through time.
///
/// Every step starts the boundary kernels and the computing kernel, 7 launches, of the front 14,
/// one by one, as the paper does.
pub struct PublishedSimulation<T> {
    grid: Grid,
    points: Points,
    arrays: Box<dyn Steps<T>>,
    t: f64,
}

impl<T: Scalar> PublishedSimulation<T> {
    /// Begins at time `t` with the values of a field, on the GPU of this number.
    ///
    /// # Errors
    /// A problem that is not of table 1, a field with another number of species, a GPU that is not
    /// there, or too little memory on it.
    pub fn new(
        builtin: Builtin,
        variant: Variant,
        field: &Field<T>,
        t: f64,
        ordinal: usize,
    ) -> Result<PublishedSimulation<T>, Error> {
        PublishedSimulation::with_blocks(builtin, variant.blocks(builtin), field, t, ordinal)
    }

    /// The same with blocks that the paper does not have: its authors chose theirs by trial.
    ///
    /// # Errors
    /// As [`new`](PublishedSimulation::new), and blocks that cannot be.
    pub fn with_blocks(
        builtin: Builtin,
        blocks: Blocks,
        field: &Field<T>,
        t: f64,
        ordinal: usize,
    ) -> Result<PublishedSimulation<T>, Error> {
        PublishedSimulation::begin(builtin, blocks, field, t, || Gpu::open(ordinal))
    }

    /// The same on any device.
    ///
    /// # Errors
    /// As [`with_blocks`](PublishedSimulation::with_blocks).
    #[doc(hidden)]
    pub fn on_device(
        builtin: Builtin,
        blocks: Blocks,
        field: &Field<T>,
        t: f64,
        device: impl Device,
    ) -> Result<PublishedSimulation<T>, Error> {
        PublishedSimulation::begin(builtin, blocks, field, t, || Ok(device))
    }

    /// Opens the device only when nothing is wrong with the rest.
    fn begin<D: Device>(
        builtin: Builtin,
        blocks: Blocks,
        field: &Field<T>,
        t: f64,
        open: impl FnOnce() -> Result<D, Error>,
    ) -> Result<PublishedSimulation<T>, Error> {
        blocks.check::<T>(builtin)?;
        let problem = problem(builtin, field.shape())?;
        let species = problem.model.species().len();
        if field.species() != species {
            let found = format!("{} species", field.species());
            return Err(Error::input("field", found, format!("{} has {species}", builtin.name())));
        }
        if !t.is_finite() {
            return Err(Error::input("t", t, "must be finite"));
        }
        let points = Points::new::<T>(&problem.grid, species)?;
        let arrays = Arrays::new((builtin, blocks), &problem, points, field, open()?)?;
        Ok(PublishedSimulation { grid: problem.grid, points, arrays: Box::new(arrays), t })
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
        let seconds = self.arrays.steps(steps, self.t, h)?;
        self.t += steps as f64 * h;
        Ok(seconds * 1e3)
    }

    /// The field at the time reached.
    ///
    /// # Errors
    /// Too little memory, or a driver that fails.
    pub fn field(&self) -> Result<Field<T>, Error> {
        let mut values = vec![T::from_f64(0.0); self.points.len()];
        self.arrays.read(&mut values)?;
        let mut field = Field::zeros(&self.grid, self.points.species)?;
        self.points.unpack(&values, &mut field);
        Ok(field)
    }
}
