//! The data of many systems: initial states, parameters, time spans.

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
        if dim == 0 {
            return Err(Error::input("dim", 0, "a system needs at least one equation"));
        }
        if states.is_empty() {
            return Err(Error::input("states", "no systems", "give at least one initial state"));
        }
        if !states.len().is_multiple_of(dim) {
            return Err(Error::input(
                "states",
                format!("{} values", states.len()),
                format!("must be a multiple of the {dim} components of a system"),
            ));
        }
        let n_systems = states.len() / dim;
        if !takes_invalid && let Some(k) = first_non_finite(&states) {
            return Err(Error::input(
                Argument::new("states").at(k / n_systems).at(k % n_systems),
                states[k],
                "must be finite",
            ));
        }
        check_span(span, "span")?;
        Ok(Ensemble {
            dim,
            n_systems,
            n_params: 0,
            states,
            params: Params::Shared(Vec::new()),
            spans: Spans::Shared(span),
            takes_invalid,
        })
    }

    /// True unless system `s` starts from numbers.
    pub(crate) fn starts_invalid(&self, s: usize) -> bool {
        self.takes_invalid
            && !((0..self.dim).all(|i| self.state(s, i).is_finite())
                && (0..self.n_params).all(|j| self.param(s, j).is_finite()))
    }

    /// `count` copies of one initial state \[n\].
    pub fn repeated(state: &[T], count: usize, span: (f64, f64)) -> Result<Self, Error> {
        let states = state.iter().flat_map(|&y| std::iter::repeat_n(y, count)).collect();
        Ensemble::new(state.len(), states, span)
    }

    /// Component-major parameters [m × M], each system its own.
    pub fn with_params(mut self, params: Vec<T>) -> Result<Self, Error> {
        if !params.len().is_multiple_of(self.n_systems) {
            return Err(Error::input(
                "params",
                format!("{} values", params.len()),
                format!("must be a multiple of the number of systems, {}", self.n_systems),
            ));
        }
        if !self.takes_invalid
            && let Some(k) = first_non_finite(&params)
        {
            let (s, j) = (k % self.n_systems, k / self.n_systems);
            return Err(Error::input(
                Argument::new("params").at(j).at(s),
                params[k],
                "must be finite",
            ));
        }
        self.n_params = params.len() / self.n_systems;
        self.params = Params::PerSystem(params);
        Ok(self)
    }

    /// Parameters \[m\] that all systems share.
    pub fn with_shared_params(mut self, params: Vec<T>) -> Result<Self, Error> {
        if let Some(j) = params.iter().position(|p| !p.is_finite()) {
            return Err(Error::input(Argument::new("params").at(j), params[j], "must be finite"));
        }
        self.n_params = params.len();
        self.params = Params::Shared(params);
        Ok(self)
    }

    /// A time span (start, end) for each system \[M\]; all must run in the same direction.
    pub fn with_spans(mut self, spans: Vec<(f64, f64)>) -> Result<Self, Error> {
        if spans.len() != self.n_systems {
            return Err(Error::input(
                "spans",
                format!("{} spans", spans.len()),
                format!("give one for each of the {} systems", self.n_systems),
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
        self.spans = Spans::PerSystem(spans);
        Ok(self)
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
    pub fn state(&self, s: usize, i: usize) -> T {
        self.states[i * self.n_systems + s]
    }

    /// Parameter `j` of system `s`.
    pub fn param(&self, s: usize, j: usize) -> T {
        match &self.params {
            Params::Shared(params) => params[j],
            Params::PerSystem(params) => params[j * self.n_systems + s],
        }
    }

    /// The initial state \[n\] of system `s`.
    pub fn initial_state(&self, s: usize) -> Vec<T> {
        (0..self.dim).map(|i| self.state(s, i)).collect()
    }

    /// The parameters \[m\] of system `s`.
    pub fn params_of(&self, s: usize) -> Vec<T> {
        (0..self.n_params).map(|j| self.param(s, j)).collect()
    }

    /// Start and end of the time span of system `s`.
    pub fn span(&self, s: usize) -> (f64, f64) {
        match &self.spans {
            Spans::Shared(span) => *span,
            Spans::PerSystem(spans) => spans[s],
        }
    }

    /// The systems of `range` alone, as an ensemble of their own.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let (first, len) = (range.start, range.len());
        let part = |all: &[T]| -> Vec<T> {
            all.chunks_exact(self.n_systems).flat_map(|c| &c[first..first + len]).copied().collect()
        };
        Ensemble {
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
                Spans::PerSystem(spans) => Spans::PerSystem(spans[range].to_vec()),
            },
            takes_invalid: self.takes_invalid,
        }
    }

    /// The first system whose span does not contain `time`.
    pub(crate) fn span_outside(&self, time: f64) -> Option<usize> {
        let outside = |(t0, t1): (f64, f64)| !(t0.min(t1) <= time && time <= t0.max(t1));
        match &self.spans {
            Spans::Shared(span) => outside(*span).then_some(0),
            Spans::PerSystem(spans) => spans.iter().position(|span| outside(*span)),
        }
    }
}

/// The place of the first value that is NaN or infinite. A block without a way out of its loop is
/// judged at the speed of memory.
fn first_non_finite<T: Scalar>(values: &[T]) -> Option<usize> {
    const BLOCK: usize = 4096;
    values.chunks(BLOCK).enumerate().find_map(|(b, block)| {
        let all = block.iter().fold(true, |all, value| all & value.is_finite());
        let first = || block.iter().position(|value| !value.is_finite());
        if all { None } else { first().map(|k| b * BLOCK + k) }
    })
}

pub(crate) fn check_span((t0, t1): (f64, f64), field: impl Into<Argument>) -> Result<(), Error> {
    let found = || format!("{t0} to {t1}");
    if !(t0.is_finite() && t1.is_finite()) {
        return Err(Error::input(field, found(), "start and end must be finite"));
    }
    if t0 == t1 {
        return Err(Error::input(field, found(), "has no length: start and end must differ"));
    }
    Ok(())
}

/// Refuses an ensemble whose systems have other sizes than the system says.
pub(crate) fn check_sizes<T: Scalar, S: System>(
    system: &S,
    ensemble: &Ensemble<T>,
) -> Result<(), Error> {
    check_counts((system.dim(), system.n_params()), ensemble)
}

/// As [`check_sizes`], for a system of n equations and m parameters.
pub(crate) fn check_counts<T: Scalar>(
    (n, m): (usize, usize),
    ensemble: &Ensemble<T>,
) -> Result<(), Error> {
    if ensemble.dim() != n {
        return Err(Error::input(
            "states",
            format!("{} components", ensemble.dim()),
            format!("the system has {n} equations"),
        ));
    }
    if ensemble.n_params() != m {
        return Err(Error::input(
            "params",
            format!("{} parameters per system", ensemble.n_params()),
            format!("the system has {m}"),
        ));
    }
    Ok(())
}
