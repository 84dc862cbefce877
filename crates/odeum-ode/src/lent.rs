//! An ensemble in the caller's arrays, and the arrays that take what it ends with.

use crate::arrays::{ArrayMut, ArrayRef, SavedMut, check_place};
use crate::ensemble::{
    Ensemble, check_counts, check_first_steps, check_params, check_shared_params, check_span,
    check_spans, check_states,
};
use crate::solution::GpuTimes;
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::{Error, Scalar};

/// Initial states, parameters and time spans of M systems of n equations, lent: as an [`Ensemble`], but in
/// the caller's arrays, whatever their order.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a, T> {
    states: ArrayRef<'a, T>,
    params: ArrayRef<'a, T>,
    shares_params: bool,
    spans: Spans<'a>,
    first_steps: Option<&'a [T]>,
    takes_invalid: bool,
}

/// Time spans, lent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spans<'a> {
    Shared((f64, f64)),
    PerSystem(&'a [(f64, f64)]),
}

impl<'a, T: Scalar> Inputs<'a, T> {
    /// As [`Ensemble::new`].
    ///
    /// # Errors
    /// As [`Ensemble::new`].
    pub fn new(states: ArrayRef<'a, T>, span: (f64, f64)) -> Result<Self, Error> {
        let inputs = Inputs { takes_invalid: false, ..Self::with_invalid_starts(states, span)? };
        check_states(&states)?;
        Ok(inputs)
    }

    /// As [`Ensemble::with_invalid_starts`].
    ///
    /// # Errors
    /// As [`Ensemble::with_invalid_starts`].
    pub fn with_invalid_starts(states: ArrayRef<'a, T>, span: (f64, f64)) -> Result<Self, Error> {
        check_counts(states.components(), states.systems())?;
        check_span(span, "span")?;
        Ok(Inputs {
            states,
            params: ArrayRef::strided(&[], [states.systems(), 0], [0, 0])?,
            shares_params: true,
            spans: Spans::Shared(span),
            first_steps: None,
            takes_invalid: true,
        })
    }

    /// As [`Ensemble::with_params`].
    ///
    /// # Errors
    /// As [`Ensemble::with_params`].
    pub fn with_params(self, params: ArrayRef<'a, T>) -> Result<Self, Error> {
        if params.systems() != self.len() {
            let found = format!("those of {} systems", params.systems());
            let remedy = format!("give them for each of the {} systems", self.len());
            return Err(Error::input("params", found, remedy));
        }
        if !self.takes_invalid {
            check_params(&params)?;
        }
        Ok(Inputs { params, shares_params: false, ..self })
    }

    /// As [`Ensemble::with_shared_params`].
    ///
    /// # Errors
    /// As [`Ensemble::with_shared_params`].
    pub fn with_shared_params(self, params: &'a [T]) -> Result<Self, Error> {
        check_shared_params(params)?;
        let params = ArrayRef::strided(params, [self.len(), params.len()], [0, 1])?;
        Ok(Inputs { params, shares_params: true, ..self })
    }

    /// As [`Ensemble::with_spans`].
    ///
    /// # Errors
    /// As [`Ensemble::with_spans`].
    pub fn with_spans(self, spans: &'a [(f64, f64)]) -> Result<Self, Error> {
        check_spans(spans, self.len())?;
        Ok(Inputs { spans: Spans::PerSystem(spans), ..self })
    }

    /// As [`Ensemble::with_first_steps`].
    ///
    /// # Errors
    /// As [`Ensemble::with_first_steps`].
    pub fn with_first_steps(self, steps: &'a [T]) -> Result<Self, Error> {
        check_first_steps(steps, self.len())?;
        Ok(Inputs { first_steps: Some(steps), ..self })
    }

    /// What an ensemble lends. Its arrays have been checked.
    pub(crate) fn lent(
        states: ArrayRef<'a, T>,
        (params, shares_params): (ArrayRef<'a, T>, bool),
        spans: Spans<'a>,
        first_steps: Option<&'a [T]>,
        takes_invalid: bool,
    ) -> Self {
        Inputs { states, params, shares_params, spans, first_steps, takes_invalid }
    }

    /// The same over another span, which has been checked.
    pub(crate) fn over(self, span: (f64, f64)) -> Self {
        Inputs { spans: Spans::Shared(span), ..self }
    }

    /// Number of equations n of a system.
    pub fn dim(&self) -> usize {
        self.states.components()
    }

    /// Number of systems M.
    pub fn len(&self) -> usize {
        self.states.systems()
    }

    /// Always false: there is at least one system.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of parameters m of a system.
    pub fn n_params(&self) -> usize {
        self.params.components()
    }

    /// Component `i` of the initial state of system `s`.
    ///
    /// # Panics
    /// Where there is no such system or component.
    #[inline(always)]
    pub fn state(&self, s: usize, i: usize) -> T {
        self.states.get(s, i)
    }

    /// Parameter `j` of system `s`.
    ///
    /// # Panics
    /// Where there is no such system or parameter.
    #[inline(always)]
    pub fn param(&self, s: usize, j: usize) -> T {
        self.params.get(s, j)
    }

    /// Start and end of the time span of system `s`.
    ///
    /// # Panics
    /// Where there is no such system.
    pub fn span(&self, s: usize) -> (f64, f64) {
        check_place((s, self.len()), (0, 1));
        match self.spans {
            Spans::Shared(span) => span,
            Spans::PerSystem(spans) => spans[s],
        }
    }

    /// The initial state \[n\] of system `s`.
    ///
    /// # Panics
    /// Where there is no such system.
    pub fn initial_state(&self, s: usize) -> Vec<T> {
        (0..self.dim()).map(|i| self.state(s, i)).collect()
    }

    /// The parameters \[m\] of system `s`.
    ///
    /// # Panics
    /// Where there is no such system.
    pub fn params_of(&self, s: usize) -> Vec<T> {
        (0..self.n_params()).map(|j| self.param(s, j)).collect()
    }

    /// True unless system `s` starts from numbers.
    pub(crate) fn starts_invalid(&self, s: usize) -> bool {
        self.takes_invalid
            && !((0..self.dim()).all(|i| self.state(s, i).is_finite())
                && (0..self.n_params()).all(|j| self.param(s, j).is_finite()))
    }

    /// The systems that do not start from numbers: where all do, that is found at the speed of memory.
    pub(crate) fn invalid_starts(&self) -> Vec<usize> {
        let are_finite = |array: &ArrayRef<'_, T>| array.first_non_finite().is_none();
        let params_are_finite = || self.shares_params || are_finite(&self.params);
        if !self.takes_invalid || are_finite(&self.states) && params_are_finite() {
            return Vec::new();
        }
        (0..self.len()).filter(|&s| self.starts_invalid(s)).collect()
    }

    /// Initial states [M × n].
    pub(crate) fn states(&self) -> &ArrayRef<'a, T> {
        &self.states
    }

    /// Parameters [M × m].
    pub(crate) fn params(&self) -> &ArrayRef<'a, T> {
        &self.params
    }

    /// True when all systems have the same parameters.
    pub(crate) fn shares_params(&self) -> bool {
        self.shares_params
    }

    /// True when all systems have the same time span.
    pub(crate) fn shares_span(&self) -> bool {
        matches!(self.spans, Spans::Shared(_))
    }

    /// Sizes of the first steps \[M\], zero where there is none.
    pub(crate) fn first_steps(&self) -> Option<&'a [T]> {
        self.first_steps
    }

    /// Size of the first step of system `s`, where it is given.
    pub(crate) fn first_step(&self, s: usize) -> Option<T> {
        self.first_steps.map(|steps| steps[s]).filter(|h| *h > T::from_f64(0.0))
    }

    /// True where first steps are given.
    pub(crate) fn has_first_steps(&self) -> bool {
        self.first_steps.is_some()
    }

    /// The first system whose span does not contain `time`.
    pub(crate) fn span_outside(&self, time: f64) -> Option<usize> {
        let outside = |(t0, t1): (f64, f64)| !(t0.min(t1) <= time && time <= t0.max(t1));
        match self.spans {
            Spans::Shared(span) => outside(span).then_some(0),
            Spans::PerSystem(spans) => spans.iter().position(|span| outside(*span)),
        }
    }
}

impl<'a, T: Scalar> From<&'a Ensemble<T>> for Inputs<'a, T> {
    fn from(ensemble: &'a Ensemble<T>) -> Inputs<'a, T> {
        ensemble.inputs()
    }
}

/// Arrays of M systems that take what these end with.
#[derive(Debug)]
pub struct Outputs<'a, T> {
    pub(crate) states: ArrayMut<'a, T>,
    pub(crate) t: &'a mut [f64],
    pub(crate) status: &'a mut [Status],
    pub(crate) stats: &'a mut [Stats],
    /// Empty where they are not wanted.
    pub(crate) next_steps: &'a mut [T],
    /// At no times, where none are saved; so are the counts \[M\] empty.
    pub(crate) saved: SavedMut<'a, T>,
    pub(crate) n_saved: &'a mut [u32],
}

impl<'a, T: Scalar> Outputs<'a, T> {
    /// The state at the time reached, that time, how and at what cost each system ended: as in
    /// [`Solution`](crate::Solution). What was there before means nothing to a run; where a
    /// system does not run, its state stays as it was there.
    ///
    /// # Errors
    /// Arrays of different numbers of systems.
    pub fn new(
        states: ArrayMut<'a, T>,
        t: &'a mut [f64],
        status: &'a mut [Status],
        stats: &'a mut [Stats],
    ) -> Result<Self, Error> {
        let systems = states.systems();
        for (name, len) in [("t", t.len()), ("status", status.len()), ("stats", stats.len())] {
            check_room(name, len, systems)?;
        }
        let saved = SavedMut::of_times(&mut [], [0, systems, states.components()]);
        let (next_steps, n_saved) = (&mut [][..], &mut [][..]);
        Ok(Outputs { states, t, status, stats, next_steps, saved, n_saved })
    }

    /// Room for [`Solution::next_steps`](crate::Solution::next_steps) too.
    ///
    /// # Errors
    /// An array of another number of systems.
    pub fn with_next_steps(self, next_steps: &'a mut [T]) -> Result<Self, Error> {
        check_room("next_steps", next_steps.len(), self.states.systems())?;
        Ok(Outputs { next_steps, ..self })
    }

    /// Room for the states at the save times of the options, and for how many of these each system reached: as
    /// [`Solution::saved`](crate::Solution::saved) and [`Solution::n_saved`](crate::Solution::n_saved).
    ///
    /// # Errors
    /// Arrays of another number of systems or components.
    pub fn with_saved(self, saved: SavedMut<'a, T>, n_saved: &'a mut [u32]) -> Result<Self, Error> {
        let (systems, dim) = (self.states.systems(), self.states.components());
        if (saved.systems(), saved.components()) != (systems, dim) {
            let found = format!("{} systems of {}", saved.systems(), saved.components());
            return Err(Error::input("saved", found, format!("there are {systems} of {dim}")));
        }
        check_room("n_saved", n_saved.len(), systems)?;
        Ok(Outputs { saved, n_saved, ..self })
    }

    /// Where they lie.
    pub(crate) fn places(&mut self) -> Places<T> {
        let (states, strides) = self.states.raw();
        let (saved, saved_strides) = self.saved.raw();
        Places {
            t: self.t.as_mut_ptr(),
            states,
            strides,
            saved,
            saved_strides,
            n_saved: self.n_saved.as_mut_ptr(),
            status: self.status.as_mut_ptr(),
            stats: self.stats.as_mut_ptr(),
            next_steps: match &mut self.next_steps[..] {
                [] => std::ptr::null_mut(),
                steps => steps.as_mut_ptr(),
            },
        }
    }

    /// The result of a system that starts from no numbers.
    pub(crate) fn refuse(&mut self, s: usize, inputs: &Inputs<'_, T>) {
        for i in 0..inputs.dim() {
            self.states.set(s, i, inputs.state(s, i));
            for k in 0..self.saved.times() {
                self.saved.set(k, s, i, T::from_f64(f64::NAN));
            }
        }
        self.t[s] = inputs.span(s).0;
        self.status[s] = Status::InvalidStart;
        self.stats[s] = Stats::default();
        if let Some(step) = self.next_steps.get_mut(s) {
            *step = T::from_f64(0.0);
        }
        if let Some(n_saved) = self.n_saved.get_mut(s) {
            *n_saved = 0;
        }
    }

    /// As if no system had run.
    pub(crate) fn clear(&mut self) {
        self.t.fill(0.0);
        self.status.fill(Status::NotRun);
        self.stats.fill(Stats::default());
        self.next_steps.fill(T::from_f64(0.0));
        self.saved.fill(T::from_f64(f64::NAN));
        self.n_saved.fill(0);
    }

    /// Refuses arrays that have no room for `dim` equations of `systems` systems, saved at so many times.
    pub(crate) fn check(&self, dim: usize, systems: usize, times: usize) -> Result<(), Error> {
        let (n, m) = (self.states.components(), self.states.systems());
        if (n, m) != (dim, systems) {
            let remedy = format!("there are {systems} systems of {dim} equations");
            return Err(Error::input("outputs", format!("{m} systems of {n}"), remedy));
        }
        if self.saved.times() != times {
            let found = format!("room for {} times", self.saved.times());
            return Err(Error::input("saved", found, format!("there are {times} save times")));
        }
        Ok(())
    }
}

/// Where the arrays of a run lie, for threads that each write to the places of their own systems.
pub(crate) struct Places<T> {
    pub(crate) t: *mut f64,
    pub(crate) states: *mut T,
    /// From a system, and from a component, to the next.
    pub(crate) strides: [usize; 2],
    pub(crate) saved: *mut T,
    /// From a time, from a system, and from a component, to the next.
    pub(crate) saved_strides: [usize; 3],
    pub(crate) n_saved: *mut u32,
    pub(crate) status: *mut Status,
    pub(crate) stats: *mut Stats,
    /// Null where nobody asks for them.
    pub(crate) next_steps: *mut T,
}

fn check_room(name: &'static str, len: usize, systems: usize) -> Result<(), Error> {
    if len != systems {
        let remedy = format!("give one for each of the {systems} systems");
        return Err(Error::input(name, format!("{len} values"), remedy));
    }
    Ok(())
}

/// What a run told besides the answers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Remarks {
    /// As [`Solution::warnings`](crate::Solution::warnings).
    pub warnings: Vec<String>,
    /// As [`Solution::busy_lanes`](crate::Solution::busy_lanes).
    pub busy_lanes: Option<f64>,
    /// As [`Solution::gpu_times`](crate::Solution::gpu_times).
    pub gpu_times: Option<GpuTimes>,
}
