//! Cells of a flow code in arrays on a GPU, integrated without copies through the host.

use crate::gpu_array::GpuArray;
use crate::ours::Ours;
use odeum_case::gas::Gas;
use odeum_core::{Argument, Error, memory};
use odeum_kinetics::cells::{self, CellFault, NotFinite};
use odeum_ode::gpu::{Exchange, Session};
use odeum_ode::{Ensemble, Monitor, Solver, Stats, Status};

/// What helps against numbers that are not finite.
pub(crate) const AS_THEY_WERE: &str = "give finite numbers; the cells are as they were";

/// The caller's arrays.
pub(crate) struct Arrays<'a> {
    pub(crate) t: &'a GpuArray,
    /// None: `pressure` is that of all cells.
    pub(crate) p: Option<&'a GpuArray>,
    pub(crate) pressure: f64,
    pub(crate) updates_p: bool,
    pub(crate) y: &'a GpuArray,
}

impl Arrays<'_> {
    /// As kernels see them, if they are those of so many cells and species on the GPU of these.
    pub(crate) fn cells(
        &self,
        gpus: &[usize],
        (cells, species): (usize, usize),
        temperature_margin: f64,
    ) -> Result<cells::Cells, Error> {
        let fits = |array: &GpuArray, shape: &[usize], is_written: bool| {
            array.shape == shape && [array.gpu] == *gpus && (array.is_written || !is_written)
        };
        let fit = fits(self.t, &[cells], true)
            && self.p.is_none_or(|p| fits(p, &[cells], self.updates_p))
            && fits(self.y, &[cells, species], true);
        if !fit {
            let remedy = format!("give T and p [{cells}], Y [{cells}, {species}] on {gpus:?}");
            return Err(Error::input("T, p, Y", "arrays that do not fit", remedy));
        }
        let stride = |array: &GpuArray, axis: usize| array.strides[axis] as i64;
        Ok(cells::Cells {
            temperatures: self.t.address,
            pressures: self.p.map_or(0, |p| p.address),
            mass_fractions: self.y.address,
            pressure: self.pressure,
            temperature_stride: stride(self.t, 0),
            pressure_stride: self.p.map_or(0, |p| stride(p, 0)),
            mass_fraction_strides: [stride(self.y, 0), stride(self.y, 1)],
            updates_pressures: u64::from(self.updates_p),
            temperature_margin,
        })
    }
}

/// The cells in memory of a GPU, and the kernels that fill them.
pub(crate) struct OnGpu {
    held: Ours<Held>,
    n_species: usize,
}

struct Held {
    session: Session<f64>,
    exchange: Exchange,
}

impl OnGpu {
    /// Room for so many cells, which each call brings; by a method that has kernels.
    pub(crate) fn new(
        solver: &Solver,
        gas: &Gas,
        gpu: usize,
        cells: usize,
    ) -> Result<OnGpu, Error> {
        let zeros = |len| {
            let refused = || Error::input("cells", cells, "there is no memory for so many");
            memory::zeros(len).ok_or_else(refused)
        };
        let dim = solver.system().dim();
        let ensemble = Ensemble::new(dim, zeros(dim * cells)?, (0.0, 1.0))?;
        let ensemble = ensemble.with_params(zeros(cells)?)?;
        let (method, options) = (solver.method(), solver.options());
        let session = Session::of(solver.system(), &ensemble, method, gpu, options)?;
        let text = gas.cells_text().ok_or_else(|| {
            Error::input("system", "a gas without mass fractions", "give `mass_fractions`")
        })?;
        let exchange = session.exchange(&text, &[cells::TO_STATES, cells::TO_CELLS])?;
        let held = Ours::new(Held { session, exchange });
        Ok(OnGpu { held, n_species: gas.reactor.kinetics().n_species() })
    }

    /// The handle of the stream on which arrays are read and written.
    pub(crate) fn stream(&mut self) -> Result<u64, Error> {
        self.held.session.stream()
    }

    /// Integrates all cells over `dt`; gives the first that does not start because of its temperature. Nothing is written
    /// to the arrays, which `scatter` does. Of a call that was stopped sizes of steps are those of before.
    ///
    /// # Safety
    /// `cells` are memory of this GPU, as their strides say, which nobody else uses until this returns but what was given to
    /// its stream before.
    pub(crate) unsafe fn integrate(
        &mut self,
        cells: &cells::Cells,
        dt: f64,
        monitor: &Monitor,
    ) -> Result<Option<usize>, Error> {
        let n_species = self.n_species;
        let Held { session, exchange } = &mut *self.held;
        // SAFETY: the kernel takes such cells; of their memory the caller's promise.
        let told = unsafe { session.run(exchange, 0, cells)? };
        let outside = match told.map(|number| CellFault::decode(number, n_species)) {
            Some(CellFault::NotFinite(found)) => return Err(not_finite(found)),
            Some(CellFault::Outside(cell)) => Some(cell),
            None => None,
        };
        session.advance_monitored((0.0, dt), monitor).map(|_| outside)
    }

    /// Puts the new states of the cells that did not fail into the arrays; how each ended, and how far outside the
    /// thermodynamic data they came \[K\], if steps ended there.
    ///
    /// # Safety
    /// As for `integrate`.
    pub(crate) unsafe fn scatter(
        &mut self,
        cells: &cells::Cells,
    ) -> Result<(Vec<Status>, Option<f64>), Error> {
        let Held { session, exchange } = &mut *self.held;
        // SAFETY: the caller's promise.
        let told = unsafe { session.run(exchange, 1, cells)? };
        Ok((session.statuses()?, told.map(cells::excess_temperature)))
    }

    /// What the last call cost each cell.
    pub(crate) fn stats(&mut self) -> Result<Vec<Stats>, Error> {
        self.held.session.stats()
    }

    /// Sizes of the first steps of the next call \[cells\], zero where there is none.
    pub(crate) fn steps(&mut self) -> Result<Vec<f64>, Error> {
        self.held.session.step_sizes()
    }

    /// Sets them.
    pub(crate) fn set_steps(&mut self, steps: &[f64]) -> Result<(), Error> {
        self.held.session.set_step_sizes(steps)
    }
}

fn not_finite(found: NotFinite) -> Error {
    let NotFinite { cell, place, value } = found;
    match place {
        0 => Error::input(Argument::new("T").at(cell), value, AS_THEY_WERE),
        1 => Error::input(Argument::new("p").at(cell), value, AS_THEY_WERE),
        _ => Error::input("Y", format!("{value} in cell {cell}"), AS_THEY_WERE),
    }
}
