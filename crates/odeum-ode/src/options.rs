//! What a caller may ask of an integration, whatever the method.

use crate::ensemble::{Ensemble, check_shape};
use crate::lent::Inputs;
use crate::tolerance::Tolerance;
use odeum_core::{Argument, Error, Scalar};

/// Which states to keep.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SaveAt {
    /// The state at the end of each span.
    #[default]
    End,
    /// The states at these times too, in the order of integration, inside every system's span.
    ///
    /// Steps are cut to land on the times, so a saved state has the accuracy of the method
    /// itself, whichever the method; the step proposed before the cut is taken up again after it.
    Times(Vec<f64>),
}

/// How the first step of a span (and after each restart) is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FirstStep {
    /// From the size of the slope and of its change: Hairer, Nørsett & Wanner I, sec. II.4, for
    /// Runge–Kutta; from the spectral radius and a trial Euler step for RKC.
    #[default]
    Automatic,
    /// This size [units of t].
    Size(f64),
    /// This fraction of the span, or of the segment. Niemeyer & Sung 2014 uses 0.5.
    Fraction(f64),
}

/// A component that comes to a level, from below or from above: there a system ends.
///
/// A system that begins at its level or beyond must first leave it.
#[derive(Clone, Debug, PartialEq)]
pub struct TerminalEvent {
    /// Number of the component.
    pub component: usize,
    /// True from below, false from above.
    pub rises: bool,
    /// The level, one for all systems or one for each \[M\] [units of the component].
    pub levels: Vec<f64>,
}

impl TerminalEvent {
    /// The level of a system.
    pub(crate) fn level(&self, system: usize) -> f64 {
        self.levels[if self.levels.len() == 1 { 0 } else { system }]
    }

    fn check(&self, dim: usize, systems: usize) -> Result<(), Error> {
        if self.component >= dim {
            let remedy = format!("components go from 0 to {}", dim.saturating_sub(1));
            return Err(Error::input(
                Argument::new("terminal_event").key("component"),
                self.component,
                remedy,
            ));
        }
        let count = self.levels.len();
        if count != 1 && count != systems {
            let remedy = format!("give one level, or one for each of the {systems} systems");
            return Err(Error::input(
                Argument::new("terminal_event").key("levels"),
                format!("{count} values"),
                remedy,
            ));
        }
        match self.levels.iter().position(|level| !level.is_finite()) {
            Some(s) => {
                let field = Argument::new("terminal_event").key("levels").at(s);
                Err(Error::input(field, self.levels[s], "must be finite"))
            }
            None => Ok(()),
        }
    }
}

/// Options of an integration.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Tolerance of the local error.
    pub tolerance: Tolerance,
    /// Step attempts a system may make over its whole span before it ends with
    /// [`Status::MaxSteps`](crate::Status::MaxSteps). Default 100 000. Raise for long spans.
    pub max_steps: u32,
    /// Evaluations of the right-hand side a system may take over its whole span before it ends with
    /// [`Status::MaxEvaluations`](crate::Status::MaxEvaluations), those of the attempt in which it
    /// reaches them included. Default 10 000 000. It bounds what `max_steps` does not: the stages of
    /// RKC.
    pub max_evaluations: u32,
    /// The growth guard of implicit methods: the largest exponent hλ by which a perturbation may
    /// grow in one step, so that no step damps what grows. Default 1; `None` turns it off. See
    /// [`crate::method::rosenbrock`].
    pub growth_limit: Option<f64>,
    /// Choice of the first step.
    pub first_step: FirstStep,
    /// Largest step [units of t]. Default none. Set it when a short event could be stepped over.
    pub largest_step: Option<f64>,
    /// Which states to keep.
    pub save_at: SaveAt,
    /// Into how many equal pieces each span is cut; at each cut the integrator forgets its step
    /// size and history, as an operator-splitting host code makes it (Niemeyer & Sung 2014's global time
    /// steps). Default 1.
    pub segments: u32,
    /// Keep step size and history over segments instead.
    pub warm_start: bool,
    /// Ends systems early, with [`Status::TerminalEvent`](crate::Status::TerminalEvent).
    pub terminal_event: Option<TerminalEvent>,
}

impl Options {
    /// The defaults with this tolerance, which has none.
    pub fn new(tolerance: Tolerance) -> Self {
        Options {
            tolerance,
            max_steps: 100_000,
            max_evaluations: 10_000_000,
            growth_limit: Some(1.0),
            first_step: FirstStep::Automatic,
            largest_step: None,
            save_at: SaveAt::End,
            segments: 1,
            warm_start: false,
            terminal_event: None,
        }
    }

    /// Sets the limit on step attempts per system.
    pub fn max_steps(mut self, attempts: u32) -> Self {
        self.max_steps = attempts;
        self
    }

    /// Sets the limit on evaluations of the right-hand side per system.
    pub fn max_evaluations(mut self, evaluations: u32) -> Self {
        self.max_evaluations = evaluations;
        self
    }

    /// Sets the largest exponent of growth in one step of an implicit method; `None` turns the
    /// growth guard off.
    pub fn growth_limit(mut self, exponent: Option<f64>) -> Self {
        self.growth_limit = exponent;
        self
    }

    /// Sets the choice of the first step.
    pub fn first_step(mut self, first: FirstStep) -> Self {
        self.first_step = first;
        self
    }

    /// Sets the largest step [units of t].
    pub fn largest_step(mut self, h: f64) -> Self {
        self.largest_step = Some(h);
        self
    }

    /// Keeps the states at these times too.
    pub fn save_at(mut self, times: Vec<f64>) -> Self {
        self.save_at = SaveAt::Times(times);
        self
    }

    /// Cuts each span into this many pieces with a cold start each.
    pub fn segments(mut self, pieces: u32) -> Self {
        self.segments = pieces;
        self
    }

    /// Keeps step size and history over segments.
    pub fn warm_start(mut self) -> Self {
        self.warm_start = true;
        self
    }

    /// Ends a system where a component rises to its level: `levels` has one, or one for each
    /// system.
    pub fn end_when_rises(mut self, component: usize, levels: Vec<f64>) -> Self {
        self.terminal_event = Some(TerminalEvent { component, rises: true, levels });
        self
    }

    /// Ends a system where a component falls to its level.
    pub fn end_when_falls(mut self, component: usize, levels: Vec<f64>) -> Self {
        self.terminal_event = Some(TerminalEvent { component, rises: false, levels });
        self
    }

    /// The times to save at; empty for the end alone.
    pub fn save_times(&self) -> &[f64] {
        match &self.save_at {
            SaveAt::End => &[],
            SaveAt::Times(times) => times,
        }
    }

    /// Refuses what has no meaning for this ensemble.
    pub fn check<T: Scalar>(&self, ensemble: &Ensemble<T>) -> Result<(), Error> {
        self.check_for(&ensemble.inputs())
    }

    /// Refuses what has no meaning for this ensemble of a system with these numbers of equations and parameters, or for a session.
    pub(crate) fn check_for_session<T: Scalar>(
        &self,
        sizes: (usize, usize),
        ensemble: &Ensemble<T>,
    ) -> Result<(), Error> {
        self.check(ensemble)?;
        check_shape(sizes, (ensemble.dim(), ensemble.n_params()))?;
        if !self.save_times().is_empty() {
            return Err(Error::input("save_at", "times", "a session keeps the end states alone"));
        }
        if self.terminal_event.is_some() {
            let remedy = "a session takes all systems over the same spans: to end each at a time of its own, solve";
            return Err(Error::input("terminal_event", "a level", remedy));
        }
        Ok(())
    }

    /// As [`Options::check`].
    pub(crate) fn check_for<T: Scalar>(&self, ensemble: &Inputs<'_, T>) -> Result<(), Error> {
        self.tolerance.check::<T>(ensemble.dim())?;
        if self.max_steps == 0 {
            return Err(Error::input("max_steps", 0, "must be at least 1"));
        }
        if self.max_evaluations == 0 {
            return Err(Error::input("max_evaluations", 0, "must be at least 1"));
        }
        if let Some(limit) = self.growth_limit
            && !(limit > 0.0 && limit.is_finite())
        {
            return Err(Error::input("growth_limit", limit, "must be positive and finite"));
        }
        if self.segments == 0 {
            return Err(Error::input("segments", 0, "must be at least 1 (1 means no restart)"));
        }
        match self.first_step {
            FirstStep::Size(h) if !(h > 0.0 && h.is_finite()) => {
                return Err(Error::input("first_step", h, "must be positive and finite"));
            }
            FirstStep::Fraction(fraction) if !(fraction > 0.0 && fraction <= 1.0) => {
                return Err(Error::input(
                    Argument::new("first_step").key("fraction"),
                    fraction,
                    "must lie in (0, 1]",
                ));
            }
            _ => {}
        }
        if let Some(h) = self.largest_step
            && (h.is_nan() || h <= 0.0)
        {
            return Err(Error::input("largest_step", h, "must be positive"));
        }
        if let Some(event) = &self.terminal_event {
            event.check(ensemble.dim(), ensemble.len())?;
        }
        self.check_save_times(ensemble)
    }

    fn check_save_times<T: Scalar>(&self, ensemble: &Inputs<'_, T>) -> Result<(), Error> {
        let times = self.save_times();
        if matches!(self.save_at, SaveAt::Times(_)) && times.is_empty() {
            return Err(Error::input("save_at", "no times", "list at least one, or save the end"));
        }
        let (t0, t1) = ensemble.span(0);
        let backward = t1 < t0;
        for (i, pair) in times.windows(2).enumerate() {
            if !(if backward { pair[1] < pair[0] } else { pair[1] > pair[0] }) {
                return Err(Error::input(
                    Argument::new("save_at").at(i + 1),
                    pair[1],
                    "save times must go strictly in the direction of integration",
                ));
            }
        }
        for (i, &time) in times.iter().enumerate() {
            if let Some(s) = ensemble.span_outside(time) {
                let (t0, t1) = ensemble.span(s);
                return Err(Error::input(
                    Argument::new("save_at").at(i),
                    time,
                    format!("must lie inside every span; system {s} goes from {t0} to {t1}"),
                ));
            }
        }
        Ok(())
    }
}
