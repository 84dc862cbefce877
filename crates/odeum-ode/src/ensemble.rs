//! The data of many systems: initial states, parameters, time spans.

use crate::arrays::{ArrayRef, check_place};
use crate::lent::{self, Inputs};
use odeum_core::{Argument, Error, Scalar, System};
use std::ops::Range;

/// Initial states, parameters and time spans of M systems of n equations.
///
/// Arrays are component-major: component i of system s lies at `i * M + s`, so neighbours in
/// memory are the same component of neighbouring systems. The precision `T` of the data is the
/// precision of the computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble<T> {
    dim: usize,
    n_systems: usize,
    n_params: usize,
    states: Vec<T>,
    params: Params<T>,
    spans: Spans,
    /// Sizes of the first steps \[M\], zero where there is none.
    first_steps: Option<Vec<T>>,
    /// True when starts that are not finite are a status, not an error.
    takes_invalid: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Params<T> {
    Shared(Vec<T>),
    PerSystem(Vec<T>),
}

#[derive(Clone, Debug, PartialEq)]
enum Spans {
    Shared((f64, f64)),
    PerSystem(Vec<(f64, f64)>),
}

impl<T: Scalar> Ensemble<T> {
    /// Systems of `dim` equations with component-major initial states [dim × M], all integrated
    /// over `span` = (start, end); an end before the start integrates backward.
    ///
    /// # Errors
    /// Sizes that do not fit, states that are not finite, and a span that is none.
    pub fn new(dim: usize, states: Vec<T>, span: (f64, f64)) -> Result<Self, Error> {
        Self::build(dim, states, span, false)
    }

    /// As [`Ensemble::new`], but systems whose initial states or parameters are not finite end with
    /// [`Status::InvalidStart`](crate::Status::InvalidStart) instead of making the ensemble an
    /// error.
    ///
    /// # Errors
    /// Sizes that do not fit, and a span that is none.
    pub fn with_invalid_starts(
        dim: usize,
        states: Vec<T>,
        span: (f64, f64),
    ) -> Result<Self, Error> {
        Self::build(dim, states, span, true)
    }

    fn build(
        dim: usize,
        states: Vec<T>,
        span: (f64, f64),
        takes_invalid: bool,
    ) -> Result<Self, Error> {
        check_counts(dim, states.len())?;
        if !states.len().is_multiple_of(dim) {
            return Err(Error::input(
                "states",
                format!("{} values", states.len()),
                format!("must be a multiple of the {dim} components of a system"),
            ));
        }
        let n_systems = states.len() / dim;
        if !takes_invalid {
            check_states(&ArrayRef::component_major(&states, dim)?)?;
        }
        check_span(span, "span")?;
        Ok(Ensemble {
            dim,
            n_systems,
            n_params: 0,
            states,
            params: Params::Shared(Vec::new()),
            spans: Spans::Shared(span),
            first_steps: None,
            takes_invalid,
        })
    }

    /// The arrays, lent.
    pub(crate) fn inputs(&self) -> Inputs<'_, T> {
        let (n, m) = (self.dim, self.n_params);
        let (params, shares) = match &self.params {
            Params::Shared(params) => (ArrayRef::shared(params, self.n_systems), true),
            Params::PerSystem(params) => (ArrayRef::of_systems(params, self.n_systems, m), false),
        };
        let spans = match &self.spans {
            Spans::Shared(span) => lent::Spans::Shared(*span),
            Spans::PerSystem(spans) => lent::Spans::PerSystem(spans),
        };
        let states = ArrayRef::of_systems(&self.states, self.n_systems, n);
        Inputs::lent(states, (params, shares), spans, self.first_steps(), self.takes_invalid)
    }

    /// `count` copies of one initial state \[n\].
    ///
    /// # Errors
    /// As [`Ensemble::new`], and more copies than there is memory for.
    pub fn repeated(state: &[T], count: usize, span: (f64, f64)) -> Result<Self, Error> {
        let mut states = Vec::new();
        let len = state.len().checked_mul(count);
        if len.is_none_or(|len| states.try_reserve_exact(len).is_err()) {
            let remedy =
                format!("there is no memory for so many copies of {} numbers", state.len());
            return Err(Error::input("count", count, remedy));
        }
        for &y in state {
            states.extend(std::iter::repeat_n(y, count));
        }
        Ensemble::new(state.len(), states, span)
    }

    /// Component-major states, as many as before.
    pub(crate) fn states_mut(&mut self) -> &mut Vec<T> {
        &mut self.states
    }

    /// True when starts that are not finite are a status, not an error.
    pub(crate) fn takes_invalid(&self) -> bool {
        self.takes_invalid
    }

    /// Sizes of the first steps \[M\], where they are given.
    pub(crate) fn first_steps_mut(&mut self) -> &mut Option<Vec<T>> {
        &mut self.first_steps
    }

    /// Component-major parameters [m × M], each system its own.
    ///
    /// # Errors
    /// Not the same number for each system, and parameters that are not finite, unless the ensemble takes
    /// [invalid starts](Ensemble::with_invalid_starts).
    pub fn with_params(mut self, params: Vec<T>) -> Result<Self, Error> {
        if !params.len().is_multiple_of(self.n_systems) {
            return Err(Error::input(
                "params",
                format!("{} values", params.len()),
                format!("must be a multiple of the number of systems, {}", self.n_systems),
            ));
        }
        if !self.takes_invalid && !params.is_empty() {
            check_params(&ArrayRef::component_major(&params, params.len() / self.n_systems)?)?;
        }
        self.n_params = params.len() / self.n_systems;
        self.params = Params::PerSystem(params);
        Ok(self)
    }

    /// Parameters \[m\] that all systems share.
    ///
    /// # Errors
    /// Parameters that are not finite.
    pub fn with_shared_params(mut self, params: Vec<T>) -> Result<Self, Error> {
        check_shared_params(&params)?;
        self.n_params = params.len();
        self.params = Params::Shared(params);
        Ok(self)
    }

    /// A time span (start, end) for each system \[M\]; all must run in the same direction.
    ///
    /// # Errors
    /// Not as many as systems, spans that are none, and such of both directions.
    pub fn with_spans(mut self, spans: Vec<(f64, f64)>) -> Result<Self, Error> {
        check_spans(&spans, self.n_systems)?;
        self.spans = Spans::PerSystem(spans);
        Ok(self)
    }

    /// Sizes of the first steps \[M\], those that an earlier call ended with
    /// ([`Solution::next_steps`](crate::Solution::next_steps)); zero where there was none, and
    /// [`Options::first_step`](crate::Options::first_step) chooses.
    ///
    /// A code that splits operators integrates the same systems over one span after the other; steps that
    /// are kept save it the search for a size at each beginning. After a restart within the span
    /// ([`Options::segments`](crate::Options::segments)), and with [`Controller::fixed`](crate::Controller::fixed),
    /// they count for nothing.
    ///
    /// # Errors
    /// Sizes that are negative or no numbers, or not as many as systems.
    pub fn with_first_steps(mut self, steps: Vec<T>) -> Result<Self, Error> {
        check_first_steps(&steps, self.n_systems)?;
        self.first_steps = Some(steps);
        Ok(self)
    }

    /// Sizes of the first steps \[M\], where they are given.
    pub fn first_steps(&self) -> Option<&[T]> {
        self.first_steps.as_deref()
    }

    /// Number of equations n of a system.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of systems M.
    pub fn len(&self) -> usize {
        self.n_systems
    }

    /// Always false: an ensemble has at least one system.
    pub fn is_empty(&self) -> bool {
        self.n_systems == 0
    }

    /// Number of parameters m of a system.
    pub fn n_params(&self) -> usize {
        self.n_params
    }

    /// All initial states, component-major [n × M].
    pub fn states(&self) -> &[T] {
        &self.states
    }

    /// All parameters: component-major [m × M], or \[m\] when the systems share them.
    pub fn params(&self) -> &[T] {
        match &self.params {
            Params::Shared(params) | Params::PerSystem(params) => params,
        }
    }

    /// True when all systems have the same parameters.
    pub fn shares_params(&self) -> bool {
        matches!(self.params, Params::Shared(_))
    }

    /// True when all systems have the same time span.
    pub fn shares_span(&self) -> bool {
        matches!(self.spans, Spans::Shared(_))
    }

    /// Component `i` of the initial state of system `s`.
    ///
    /// # Panics
    /// Where there is no such system or component.
    pub fn state(&self, s: usize, i: usize) -> T {
        check_place((s, self.n_systems), (i, self.dim));
        self.states[i * self.n_systems + s]
    }

    /// Parameter `j` of system `s`.
    ///
    /// # Panics
    /// Where there is no such system or parameter.
    pub fn param(&self, s: usize, j: usize) -> T {
        check_place((s, self.n_systems), (j, self.n_params));
        match &self.params {
            Params::Shared(params) => params[j],
            Params::PerSystem(params) => params[j * self.n_systems + s],
        }
    }

    /// The initial state \[n\] of system `s`.
    ///
    /// # Panics
    /// Where there is no such system.
    pub fn initial_state(&self, s: usize) -> Vec<T> {
        (0..self.dim).map(|i| self.state(s, i)).collect()
    }

    /// The parameters \[m\] of system `s`.
    ///
    /// # Panics
    /// Where there is no such system.
    pub fn params_of(&self, s: usize) -> Vec<T> {
        (0..self.n_params).map(|j| self.param(s, j)).collect()
    }

    /// Start and end of the time span of system `s`.
    ///
    /// # Panics
    /// Where there is no such system.
    pub fn span(&self, s: usize) -> (f64, f64) {
        check_place((s, self.n_systems), (0, 1));
        match &self.spans {
            Spans::Shared(span) => *span,
            Spans::PerSystem(spans) => spans[s],
        }
    }

    /// The systems of `range` alone, as an ensemble of their own.
    ///
    /// # Errors
    /// A range that is empty, or reaches beyond the last system.
    pub fn slice(&self, range: Range<usize>) -> Result<Self, Error> {
        let (first, len) = (range.start, range.len());
        if len == 0 || range.end > self.n_systems {
            let remedy = format!("must name systems of 0..{}, one at least", self.n_systems);
            return Err(Error::input("range", format!("{first}..{}", range.end), remedy));
        }
        let part = |all: &[T]| -> Vec<T> {
            all.chunks_exact(self.n_systems).flat_map(|c| &c[first..first + len]).copied().collect()
        };
        Ok(Ensemble {
            dim: self.dim,
            n_systems: len,
            n_params: self.n_params,
            states: part(&self.states),
            params: match &self.params {
                Params::Shared(params) => Params::Shared(params.clone()),
                Params::PerSystem(params) => Params::PerSystem(part(params)),
            },
            spans: match &self.spans {
                Spans::Shared(span) => Spans::Shared(*span),
                Spans::PerSystem(spans) => Spans::PerSystem(spans[range.clone()].to_vec()),
            },
            first_steps: self.first_steps.as_ref().map(|steps| steps[range].to_vec()),
            takes_invalid: self.takes_invalid,
        })
    }
}

/// Refuses an ensemble of nothing.
pub(crate) fn check_counts(dim: usize, states: usize) -> Result<(), Error> {
    if dim == 0 {
        return Err(Error::input("dim", 0, "a system needs at least one equation"));
    }
    if states == 0 {
        return Err(Error::input("states", "no systems", "give at least one initial state"));
    }
    Ok(())
}

/// Refuses other states for so many systems: another number of values, and those that are no numbers unless these are taken.
pub(crate) fn check_new_states<T: Scalar>(
    states: &[T],
    (dim, systems): (usize, usize),
    takes_invalid: bool,
) -> Result<(), Error> {
    let wanted = dim * systems;
    if states.len() != wanted {
        let remedy = format!("give {dim} × {systems} = {wanted} values");
        return Err(Error::input("states", format!("{} values", states.len()), remedy));
    }
    if takes_invalid { Ok(()) } else { check_states(&ArrayRef::of_systems(states, systems, dim)) }
}

/// Refuses states that are no numbers.
pub(crate) fn check_states<T: Scalar>(states: &ArrayRef<'_, T>) -> Result<(), Error> {
    let Some((s, i)) = states.first_non_finite() else { return Ok(()) };
    let field = Argument::new("states").at(i).at(s);
    Err(Error::input(field, states.get(s, i), "must be finite"))
}

/// Refuses parameters that are no numbers.
pub(crate) fn check_params<T: Scalar>(params: &ArrayRef<'_, T>) -> Result<(), Error> {
    let Some((s, j)) = params.first_non_finite() else { return Ok(()) };
    let field = Argument::new("params").at(j).at(s);
    Err(Error::input(field, params.get(s, j), "must be finite"))
}

/// As [`check_params`], of those that all systems share.
pub(crate) fn check_shared_params<T: Scalar>(params: &[T]) -> Result<(), Error> {
    match params.iter().position(|p| !p.is_finite()) {
        Some(j) => Err(Error::input(Argument::new("params").at(j), params[j], "must be finite")),
        None => Ok(()),
    }
}

/// Refuses spans that are none, or not in one direction.
pub(crate) fn check_spans(spans: &[(f64, f64)], systems: usize) -> Result<(), Error> {
    if spans.len() != systems {
        return Err(Error::input(
            "spans",
            format!("{} spans", spans.len()),
            format!("give one for each of the {} systems", systems),
        ));
    }
    for (s, &span) in spans.iter().enumerate() {
        check_span(span, Argument::new("spans").at(s))?;
        if (span.1 < span.0) != (spans[0].1 < spans[0].0) {
            return Err(Error::input(
                Argument::new("spans").at(s),
                format!("{} to {}", span.0, span.1),
                "all systems must run in the direction of system 0",
            ));
        }
    }
    Ok(())
}

/// Refuses sizes of first steps that are none.
pub(crate) fn check_first_steps<T: Scalar>(steps: &[T], systems: usize) -> Result<(), Error> {
    if steps.len() != systems {
        return Err(Error::input(
            "first_steps",
            format!("{} values", steps.len()),
            format!("give one for each of the {} systems", systems),
        ));
    }
    let zero = T::from_f64(0.0);
    if let Some(s) = steps.iter().position(|h| !(*h >= zero && h.is_finite())) {
        let field = Argument::new("first_steps").at(s);
        return Err(Error::input(field, steps[s], "must be finite, and zero or positive"));
    }
    Ok(())
}

pub(crate) fn check_span((t0, t1): (f64, f64), field: impl Into<Argument>) -> Result<(), Error> {
    let found = || format!("{t0} to {t1}");
    if !(t0.is_finite() && t1.is_finite()) {
        return Err(Error::input(field, found(), "start and end must be finite"));
    }
    if t0 == t1 {
        return Err(Error::input(field, found(), "has no length: start and end must differ"));
    }
    if !(t1 - t0).is_finite() {
        return Err(Error::input(field, found(), "its length is beyond the range of numbers"));
    }
    Ok(())
}

/// Refuses an ensemble whose systems have other sizes than the system says.
pub(crate) fn check_sizes<T: Scalar, S: System>(
    system: &S,
    ensemble: &Ensemble<T>,
) -> Result<(), Error> {
    check_shape((system.dim(), system.n_params()), (ensemble.dim(), ensemble.n_params()))
}

/// As [`check_sizes`], from the numbers of equations and parameters of the system and of an ensemble.
pub(crate) fn check_shape(system: (usize, usize), ensemble: (usize, usize)) -> Result<(), Error> {
    if ensemble.0 != system.0 {
        return Err(Error::input(
            "states",
            format!("{} components", ensemble.0),
            format!("the system has {} equations", system.0),
        ));
    }
    if ensemble.1 != system.1 {
        return Err(Error::input(
            "params",
            format!("{} parameters per system", ensemble.1),
            format!("the system has {}", system.1),
        ));
    }
    Ok(())
}
