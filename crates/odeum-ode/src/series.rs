//! Ensembles of one system, integrated one after the other.

use crate::ensemble::{Ensemble, check_shape};
use crate::monitor::Monitor;
use crate::options::Options;
use crate::solution::Solution;
use odeum_core::{Error, Scalar};

/// A part of a series.
#[derive(Clone, Debug)]
pub struct Part<T> {
    /// Its systems.
    pub ensemble: Ensemble<T>,
    /// The levels that end them, instead of those of the options; without any, or where the options name no terminal
    /// event, those of the options.
    pub levels: Option<Vec<f64>>,
}

impl<T> From<Ensemble<T>> for Part<T> {
    fn from(ensemble: Ensemble<T>) -> Part<T> {
        Part { ensemble, levels: None }
    }
}

/// More systems than are to be in memory at once, or whose results are wanted as they come: what
/// [`Solver::solve_series`](crate::Solver::solve_series) draws parts from and gives their solutions to.
pub trait Series<T> {
    /// Systems of all parts that will come, about.
    fn systems(&self) -> usize;

    /// The next part; `None` after the last one.
    ///
    /// # Errors
    /// A part that cannot be made: the series ends with those before it. The error is that of this crate, which `odeum` has as
    /// `odeum::core::Error`; its prelude's `Error` holds those of all crates.
    fn next(&mut self) -> Result<Option<Part<T>>, Error>;

    /// The part of this number, counted from zero, has ended; parts may overtake each other. Of a run that is stopped, systems
    /// that did not end are [`NotRun`](crate::Status::NotRun).
    fn ended(&mut self, number: usize, solution: Solution<T>);
}

/// A series while it is integrated.
pub(crate) struct Parts<'a, T> {
    series: &'a mut (dyn Series<T> + Send),
    /// Of a method that takes steps of one size.
    fixed_step: Option<f64>,
    options: &'a Options,
    /// Equations and parameters of a system.
    sizes: (usize, usize),
    monitor: &'a Monitor,
    /// Parts that were made.
    made: usize,
    are_over: bool,
    failure: Option<Error>,
}

/// A part that can be integrated.
pub(crate) struct Made<T> {
    pub(crate) number: usize,
    pub(crate) ensemble: Ensemble<T>,
    /// With its levels.
    pub(crate) options: Options,
}

impl<'a, T: Scalar> Parts<'a, T> {
    pub(crate) fn new(
        series: &'a mut (dyn Series<T> + Send),
        (fixed_step, options): (Option<f64>, &'a Options),
        sizes: (usize, usize),
        monitor: &'a Monitor,
    ) -> Self {
        Parts {
            series,
            fixed_step,
            options,
            sizes,
            monitor,
            made: 0,
            are_over: false,
            failure: None,
        }
    }

    /// Systems of all parts, about.
    pub(crate) fn systems(&self) -> usize {
        self.series.systems()
    }

    /// The next part; `None` after the last one, after a failure, or when the run is stopped.
    pub(crate) fn next(&mut self) -> Option<Made<T>> {
        if self.are_over || self.monitor.is_stopped() {
            return None;
        }
        match self.series.next().and_then(|part| part.map(|part| self.checked(part)).transpose()) {
            Ok(made) => {
                self.are_over = made.is_none();
                made
            }
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    /// No part comes any more.
    pub(crate) fn are_over(&self) -> bool {
        self.are_over
    }

    fn checked(&mut self, Part { ensemble, levels }: Part<T>) -> Result<Made<T>, Error> {
        check_shape(self.sizes, (ensemble.dim(), ensemble.n_params()))?;
        let mut options = self.options.clone();
        if let (Some(event), Some(levels)) = (&mut options.terminal_event, levels) {
            event.levels = levels;
        }
        options.check(self.fixed_step, &ensemble)?;
        self.made += 1;
        Ok(Made { number: self.made - 1, ensemble, options })
    }

    /// A part has ended.
    pub(crate) fn ended(&mut self, number: usize, solution: Solution<T>) {
        self.series.ended(number, solution);
    }

    /// A part could not be integrated: no other is begun.
    pub(crate) fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
        self.are_over = true;
    }

    /// What went wrong first, if anything.
    pub(crate) fn result(self) -> Result<(), Error> {
        self.failure.map_or(Ok(()), Err)
    }
}
