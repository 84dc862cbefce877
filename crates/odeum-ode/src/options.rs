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
    /// In single precision, times that it would move by a large part of their distance are refused.
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
    /// [`Status::MaxEvaluations`](crate::Status::MaxEvaluations). They are counted after each attempt: the last one may
    /// pass the limit by its own, and a system that it takes to its end has not failed. Default
    /// 10 000 000, at most [`MOST_EVALUATIONS`](Options::MOST_EVALUATIONS). It bounds what `max_steps` does not: the stages of
    /// RKC.
    pub max_evaluations: u32,
    /// The growth guard of implicit methods: the largest exponent hλ by which a perturbation may
    /// grow in one step, so that no step damps what grows. Default 1; `None` turns it off. See
    /// [`crate::method::rosenbrock`].
    pub growth_limit: Option<f64>,
    /// Choice of the first step.
    pub first_step: FirstStep,
    /// Largest step [units of t]; the last one before a stop may be longer by a hundredth. Default none. Set it when a short
    /// event could be stepped over.
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
    /// The largest `max_evaluations`: the count, of 32 bits, has room for those of the step that passes it.
    pub const MOST_EVALUATIONS: u32 = 4_000_000_000;

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

    /// Refuses what has no meaning for this ensemble, or a method whose controller has this
    /// [fixed step](crate::Controller::fixed_step).
    ///
    /// # Errors
    /// As [`Tolerance::check`], and numbers outside their ranges, save times that do not go in the direction of integration
    /// inside every span, and spans, times and steps that precision `T` moves or that contradict each other.
    pub fn check<T: Scalar>(
        &self,
        fixed_step: Option<f64>,
        ensemble: &Ensemble<T>,
    ) -> Result<(), Error> {
        self.check_for(fixed_step, &ensemble.inputs())
    }

    /// Refuses a largest step below the size of every step.
    pub(crate) fn check_largest(&self, fixed_step: Option<f64>) -> Result<(), Error> {
        match (fixed_step, self.largest_step) {
            (Some(step), Some(largest)) if largest < step => {
                let remedy = format!("every step has the size {step}: leave one of the two out");
                Err(Error::input("largest_step", largest, remedy))
            }
            _ => Ok(()),
        }
    }

    /// Refuses sizes of steps that are zero in the precision of an ensemble.
    fn check_steps_in<T: Scalar>(&self, fixed_step: Option<f64>) -> Result<(), Error> {
        let fixed = (Argument::new("controller").key("step"), fixed_step);
        let first = match self.first_step {
            FirstStep::Automatic => (Argument::new("first_step"), None),
            FirstStep::Size(h) => (Argument::new("first_step"), Some(h)),
            FirstStep::Fraction(fraction) => {
                (Argument::new("first_step").key("fraction"), Some(fraction))
            }
        };
        for (field, size) in [fixed, first, (Argument::new("largest_step"), self.largest_step)] {
            if let Some(size) = size
                && T::from_f64(size).to_f64() == 0.0
            {
                let remedy = format!("in {} this is zero: give more, or compute in f64", T::NAME);
                return Err(Error::input(field, format!("{size:e}"), remedy));
            }
        }
        Ok(())
    }

    /// Refuses what has no meaning for this ensemble of a system with these numbers of equations and parameters, or for a session.
    pub(crate) fn check_for_session<T: Scalar>(
        &self,
        sizes: (usize, usize),
        fixed_step: Option<f64>,
        ensemble: &Ensemble<T>,
    ) -> Result<(), Error> {
        self.check(fixed_step, ensemble)?;
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
    pub(crate) fn check_for<T: Scalar>(
        &self,
        fixed_step: Option<f64>,
        ensemble: &Inputs<'_, T>,
    ) -> Result<(), Error> {
        self.tolerance.check::<T>(ensemble.dim())?;
        if self.max_steps == 0 {
            return Err(Error::input("max_steps", 0, "must be at least 1"));
        }
        if self.max_evaluations == 0 {
            return Err(Error::input("max_evaluations", 0, "must be at least 1"));
        }
        if self.max_evaluations > Options::MOST_EVALUATIONS {
            let remedy = format!("must be at most {}", Options::MOST_EVALUATIONS);
            return Err(Error::input("max_evaluations", self.max_evaluations, remedy));
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
        self.check_largest(fixed_step)?;
        self.check_steps_in::<T>(fixed_step)?;
        self.check_save_times(ensemble)?;
        self.check_distances(fixed_step, ensemble)
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

    /// Refuses spans and save times that the precision moves: their states would be those of other
    /// times.
    fn check_distances<T: Scalar>(
        &self,
        fixed_step: Option<f64>,
        ensemble: &Inputs<'_, T>,
    ) -> Result<(), Error> {
        let spans = if ensemble.shares_span() { 1 } else { ensemble.len() };
        let has_lengths = self.segments > 1 || self.longest_step(fixed_step).is_some();
        for s in 0..if has_lengths { spans } else { 0 } {
            self.check_lengths::<T>(fixed_step, ensemble.span(s))?;
        }
        if T::EPSILON == f64::EPSILON {
            // Nothing is rounded, and spans may be many.
            return Ok(());
        }
        let times = self.save_times();
        let refused = |i: usize, found: String, pair| {
            Err(Error::input(Argument::new("save_at").at(i), found, moved::<T>(pair)))
        };
        for (i, pair) in times.windows(2).enumerate() {
            let (before, time) = (pair[0], pair[1]);
            if is_moved::<T>(before, time) && !is_same(before, time) {
                return refused(i + 1, format!("{time}, after {before}"), [before, time]);
            }
        }
        for s in 0..spans {
            let (start, end) = ensemble.span(s);
            let shared = Argument::new("span");
            let field = if ensemble.shares_span() { shared } else { Argument::new("spans").at(s) };
            check_length::<T>((start, end), field)?;
            let (Some(&first), Some(&last)) = (times.first(), times.last()) else { continue };
            if is_moved::<T>(start, first) && !is_same(start, first) {
                return refused(0, format!("{first}, after the start at {start}"), [start, first]);
            }
            if is_moved::<T>(last, end) && !is_same(last, end) {
                let found = format!("{last}, before the end at {end}");
                return refused(times.len() - 1, found, [last, end]);
            }
        }
        Ok(())
    }

    /// The step that no other is longer than, where there is one, and the option that says so.
    fn longest_step(&self, fixed_step: Option<f64>) -> Option<(Argument, f64)> {
        let fixed = fixed_step.map(|h| (Argument::new("controller").key("step"), h));
        fixed.or(self.largest_step.map(|h| (Argument::new("largest_step"), h)))
    }

    /// Refuses segments of a span that are shorter than a rounding of the time, and a longest step that does not move
    /// it at the start.
    pub(crate) fn check_lengths<T: Scalar>(
        &self,
        fixed_step: Option<f64>,
        (start, end): (f64, f64),
    ) -> Result<(), Error> {
        let length = (end - start).abs();
        let segment = length / f64::from(self.segments);
        let rounding = T::EPSILON * start.abs().max(end.abs());
        if self.segments > 1 && segment < rounding {
            let remedy = format!(
                "from {start} to {end} each is {segment:.2e} long, and in {} times are rounded by {rounding:.2e}: \
                 give fewer, or count times from zero",
                T::NAME
            );
            return Err(Error::input("segments", self.segments, remedy));
        }
        let Some((field, step)) = self.longest_step(fixed_step) else { return Ok(()) };
        let round = |t: f64| T::from_f64(t).to_f64();
        let first = round(round(start) + step.copysign(end - start));
        if first == round(start) && step < length {
            let remedy = format!(
                "at {start} times are rounded by {:.2e} in {}, and so short a step does not move them: give more, or \
                 count times from zero",
                T::EPSILON * start.abs(),
                T::NAME
            );
            return Err(Error::input(field, format!("{step:e}"), remedy));
        }
        Ok(())
    }
}

/// By how much of its size rounding may change the distance of two times.
const MOVED: f64 = 0.25;

/// True where a precision changes the distance of two times by a large part of it.
fn is_moved<T: Scalar>(a: f64, b: f64) -> bool {
    let round = |t: f64| T::from_f64(t).to_f64();
    let (distance, rounded) = ((b - a).abs(), round(round(b) - round(a)).abs());
    // Beyond the range of the precision there are no times, and no distances.
    !rounded.is_finite() || (rounded - distance).abs() > MOVED * distance
}

/// True where only rounding in double precision, as of a range of times, tells two times apart.
fn is_same(a: f64, b: f64) -> bool {
    (b - a).abs() <= 8.0 * f64::EPSILON * a.abs().max(b.abs())
}

/// What a precision makes of two times, and what helps.
fn moved<T: Scalar>([a, b]: [f64; 2]) -> String {
    let (name, a, b) = (T::NAME, T::from_f64(a), T::from_f64(b));
    format!("in {name} these are {a} and {b}: compute in f64, or count times from zero")
}

/// Refuses a span whose length is another in this precision.
pub(crate) fn check_length<T: Scalar>(
    (start, end): (f64, f64),
    field: impl Into<Argument>,
) -> Result<(), Error> {
    if is_moved::<T>(start, end) {
        return Err(Error::input(field, format!("{start} to {end}"), moved::<T>([start, end])));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_single_precision_moves_are_refused() {
        fn checked<T: Scalar>(span: (f64, f64), times: &[f64]) -> Result<(), String> {
            let ensemble = Ensemble::<T>::repeated(&[T::from_f64(1.0)], 2, span).unwrap();
            let options = Options::new(Tolerance::new(1e-4, 1e-6));
            let options = if times.is_empty() { options } else { options.save_at(times.to_vec()) };
            options.check(None, &ensemble).map_err(|error| error.to_string())
        }
        let far = (1e6, 1e6 + 1.0);
        for (times, parts) in [
            // Two that are one number, one that is the start, one that is the end.
            (&[1000000.51, 1000000.52][..], ["save_at[1]", "1000000.52, after 1000000.51"]),
            (&[1000000.01, 1000000.5], ["save_at[0]", "1000000.01, after the start at 1000000"]),
            (&[1000000.5, 1000000.99], ["save_at[1]", "1000000.99, before the end at 1000001"]),
            // One that goes half as far again.
            (&[1000000.04, 1000000.5], ["save_at[0]", "in f32 these are 1000000 and 1000000.06"]),
        ] {
            let error = checked::<f32>(far, times).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
            assert!(error.contains("compute in f64"), "{error}");
            assert_eq!(checked::<f64>(far, times), Ok(()));
        }
        let error = checked::<f32>((1e6, 1e6 + 0.01), &[]).unwrap_err();
        assert!(error.contains("span") && error.contains("1000000 to 1000000.01"), "{error}");
        assert!(checked::<f32>((0.0, 1e39), &[]).is_err());
        assert!(checked::<f32>((-3e38, 3e38), &[]).is_err());
        assert_eq!(checked::<f64>((1e6, 1e6 + 0.01), &[]), Ok(()));
        // Segments, in either precision, that are shorter than a rounding.
        for (count, length) in [(300_000_000, 3.0), (8, 8e-8)] {
            let ensemble = Ensemble::repeated(&[1.0], 2, (1e8, 1e8 + length)).unwrap();
            let options = Options::new(Tolerance::new(1e-4, 1e-6)).segments(count);
            let error = options.check::<f64>(None, &ensemble).unwrap_err().to_string();
            assert!(error.contains("segments") && error.contains("in f64"), "{error}");
            assert!(options.segments(2).check::<f64>(None, &ensemble).is_ok());
        }
        let ensemble = Ensemble::repeated(&[1.0_f32], 2, far).unwrap();
        let options = Options::new(Tolerance::new(1e-4, 1e-6));
        assert!(options.clone().segments(100).check::<f32>(None, &ensemble).is_err());
        assert!(options.segments(4).check::<f32>(None, &ensemble).is_ok());
        // Backward, and where rounding is little beside the distances.
        assert!(checked::<f32>((far.1, far.0), &[1000000.52, 1000000.51]).is_err());
        assert_eq!(checked::<f32>(far, &[1e6, 1000000.3, 1000000.7, far.1]), Ok(()));
        let fine: Vec<f64> = (0..=100_000).map(|i| f64::from(i) * 1e-4).collect();
        assert_eq!(checked::<f32>((0.0, 10.0), &fine), Ok(()));
        // The last of a range misses the end by rounding in double precision.
        assert_eq!(checked::<f32>((0.0, 0.3), &[0.1, 0.3_f64.next_down()]), Ok(()));
    }

    #[test]
    fn steps_that_do_not_move_the_time_are_refused() {
        fn check<T: Scalar>(fixed: bool, step: f64, span: (f64, f64)) -> Result<(), String> {
            let options = Options::new(Tolerance::new(1e-4, 1e-6));
            let options = if fixed { options } else { options.largest_step(step) };
            let ensemble = Ensemble::<T>::repeated(&[T::from_f64(1.0)], 2, span).unwrap();
            options.check(fixed.then_some(step), &ensemble).map_err(|error| error.to_string())
        }
        for (fixed, field) in [(false, "largest_step"), (true, "controller.step")] {
            for span in [(1e8, 1e8 + 1.0), (1e8 + 1.0, 1e8), (-1e8, 0.0)] {
                let error = check::<f64>(fixed, 1e-12, span).unwrap_err();
                let parts = [field, "1e-12", "e-8 in f64"];
                assert!(parts.iter().all(|part| error.contains(part)), "{error}");
                assert_eq!(check::<f64>(fixed, 1e-8, span), Ok(()));
            }
            assert!(check::<f32>(fixed, 1e-3, (1e5, 1e5 + 1.0)).is_err());
            assert_eq!(check::<f32>(fixed, 1e-2, (1e5, 1e5 + 1.0)), Ok(()));
            // From zero every step moves the time, and a step that goes to the end does.
            assert_eq!(check::<f64>(fixed, 1e-12, (0.0, 1e8)), Ok(()));
            assert_eq!(check::<f32>(fixed, 1e-12, (0.0, 1.0)), Ok(()));
            assert_eq!(check::<f64>(fixed, 1.6e-8, (1e8, 1e8_f64.next_up())), Ok(()));
        }
    }
}
