//! The systems of an ensemble, made when they are needed.
//!
//! What a system starts from depends on its number alone, so any part of an ensemble can be made
//! at any time, with the same bits: nothing but results is ever held for all systems.

use crate::case::{Case, ColumnTarget, Precision};
use crate::model::Start;
use crate::random;
use odeum_core::{Argument, memory};
use odeum_io::cells::aside;
use odeum_io::parallel::{self, PIECE};
use odeum_kinetics::StateError;
use odeum_ode::{Ensemble, Error, Scalar};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The systems of a case.
pub struct Members<'a> {
    case: &'a Case,
    /// Length of the axes: table, sweeps, copies.
    shape: Vec<(String, usize)>,
    systems: usize,
    variables: Vec<Variable<'a>>,
}

/// Where the values of one variable come from.
struct Variable<'a> {
    base: Base<'a>,
    change: Option<Change>,
}

enum Base<'a> {
    Fixed(f64),
    /// Along one axis: values, and how many systems share each before the next comes.
    Along(Cow<'a, [f64]>, usize),
}

#[derive(Clone, Copy)]
struct Change {
    size: f64,
    relative: bool,
    normal: bool,
}

impl<'a> Members<'a> {
    /// The systems of a case; `None` when there are more than can be counted. Values of ranges are
    /// made here: that they fit into memory is the plan's business.
    pub fn new(case: &'a Case) -> Option<Members<'a>> {
        let spec = &case.ensemble;
        let swept: Vec<String> = spec.sweep.iter().map(|axis| axis.name.clone()).collect();
        let mut shape = Vec::new();
        if let Some(table) = &spec.table {
            shape.push((aside("table", &swept), table.rows));
        }
        shape.extend(spec.sweep.iter().map(|axis| (axis.name.clone(), axis.values.len())));
        if spec.count > 1 || shape.is_empty() {
            shape.push((aside("copy", &swept), spec.count));
        }
        let systems = shape.iter().try_fold(1_usize, |m, (_, len)| m.checked_mul(*len))?;
        let mut variables: Vec<Variable<'a>> = case
            .model
            .variables
            .iter()
            .map(|variable| variable.value)
            .map(|value| Variable { base: Base::Fixed(value), change: None })
            .collect();
        // How many neighbouring systems share a place on an axis: the axes after it.
        let mut stride = systems;
        if let Some(table) = &spec.table {
            stride /= table.rows;
            for (target, values) in &table.columns {
                if let ColumnTarget::Variable(variable) = target {
                    variables[*variable].base = Base::Along(Cow::Borrowed(values), stride);
                }
            }
        }
        for axis in &spec.sweep {
            stride /= axis.values.len();
            variables[axis.variable].base = Base::Along(axis.values.all(), stride);
        }
        for perturbation in &spec.perturb {
            let (size, relative, normal) =
                (perturbation.size, perturbation.relative, perturbation.normal);
            for &variable in &perturbation.of {
                variables[variable].change = Some(Change { size, relative, normal });
            }
        }
        Some(Members { case, shape, systems, variables })
    }

    /// True where there is no system.
    pub fn is_empty(&self) -> bool {
        self.systems == 0
    }

    /// Number of systems M.
    pub fn len(&self) -> usize {
        self.systems
    }

    /// Names and lengths of the axes; their product is the number of systems.
    pub fn shape(&self) -> &[(String, usize)] {
        &self.shape
    }

    /// What one system starts from: states, then parameters \[n + m\]; or why there is no such
    /// state. Where a table may have bad rows such a start is not a number.
    pub fn start(&self, system: usize) -> Result<Vec<f64>, StateError> {
        match &self.case.model.start {
            Start::Direct => Ok(self.values(system)),
            Start::Gas(gas) => gas.start(&self.values(system)).or_else(|why| {
                let width = self.case.model.dim() + self.case.model.param_names.len();
                if self.case.ensemble.takes_bad_rows { Ok(vec![f64::NAN; width]) } else { Err(why) }
            }),
        }
    }

    /// Whether a variable differs between systems.
    pub(crate) fn varies(&self, variable: usize) -> bool {
        let Variable { base, change } = &self.variables[variable];
        change.is_some() || !matches!(base, Base::Fixed(_))
    }

    /// All variables of one system.
    pub fn values(&self, system: usize) -> Vec<f64> {
        (0..self.variables.len()).map(|v| self.value(v, system)).collect()
    }

    /// Gives the starts of systems to `put`: the place among the systems, the number of the value, states
    /// before parameters, and the value; or the first system that has none, and why.
    pub fn starts(
        &self,
        systems: impl Iterator<Item = usize> + Clone,
        mut put: impl FnMut(usize, usize, f64),
    ) -> Result<(), (usize, StateError)> {
        match &self.case.model.start {
            Start::Direct => {
                for v in 0..self.case.model.dim() + self.case.model.param_names.len() {
                    for (at, system) in systems.clone().enumerate() {
                        put(at, v, self.value(v, system));
                    }
                }
            }
            Start::Gas(_) => {
                for (at, system) in systems.enumerate() {
                    let start = self.start(system).map_err(|why| (system, why))?;
                    start.into_iter().enumerate().for_each(|(i, x)| put(at, i, x));
                }
            }
        }
        Ok(())
    }

    /// A variable of one system.
    pub fn value(&self, variable: usize, system: usize) -> f64 {
        let Variable { base, change } = &self.variables[variable];
        let value = match base {
            Base::Fixed(value) => *value,
            Base::Along(values, stride) => values[system / stride % values.len()],
        };
        let Some(change) = change else { return value };
        let (seed, component) = (self.case.ensemble.seed, variable as u64);
        let draw = if change.normal { random::normal } else { random::uniform };
        let shift = change.size * draw(seed, system as u64, component);
        if change.relative { value * (1.0 + shift) } else { value + shift }
    }

    /// Start and end of the time of one system. A span must be known (see the plan).
    pub fn span(&self, system: usize) -> (f64, f64) {
        let (start, end) = self.case.time.span.unwrap_or((f64::NAN, f64::NAN));
        let Some(table) = &self.case.ensemble.table else { return (start, end) };
        let row = system / (self.systems / table.rows);
        let of = |target, usual: f64| table.column(target).map_or(usual, |values| values[row]);
        (of(ColumnTarget::Start, start), of(ColumnTarget::End, end))
    }

    /// True when all systems have the same parameters.
    pub fn shares_params(&self) -> bool {
        let fixed = |v: &Variable<'_>| matches!(v.base, Base::Fixed(_)) && v.change.is_none();
        match self.case.model.start {
            Start::Direct => self.variables[self.case.model.dim()..].iter().all(fixed),
            Start::Gas(_) => self.variables.iter().all(fixed),
        }
    }

    /// True when a table gives time spans.
    pub fn has_own_spans(&self) -> bool {
        self.case.ensemble.table.as_ref().is_some_and(|table| {
            table.column(ColumnTarget::Start).or(table.column(ColumnTarget::End)).is_some()
        })
    }

    /// These systems, ready to integrate, made by so many threads.
    pub fn ensemble<T: Scalar>(
        &self,
        systems: &[usize],
        threads: usize,
    ) -> Result<Ensemble<T>, Error> {
        let (dim, count) = (self.case.model.dim(), systems.len());
        let width = dim + self.case.model.param_names.len();
        // Shared parameters are those of the first system.
        let sets = if self.shares_params() { count.min(1) } else { count };
        // Component-major, as the library wants it.
        let room = |values: usize| {
            memory::zeros::<T>(values).ok_or_else(|| {
                let found = format!("{count} systems of {width} values");
                Error::input("ensemble", found, "no memory of that size is to be had")
            })
        };
        let (mut states, mut params) = (room(dim * count)?, room((width - dim) * sets)?);
        let mut pieces: Vec<(&[usize], Vec<&mut [T]>)> =
            systems.chunks(PIECE).map(|piece| (piece, Vec::with_capacity(width))).collect();
        let rows = states.chunks_mut(count.max(1)).chain(params.chunks_mut(sets.max(1)));
        for row in rows {
            for ((_, rows), part) in pieces.iter_mut().zip(row.chunks_mut(PIECE)) {
                rows.push(part);
            }
        }
        let failed: Mutex<Option<(usize, StateError)>> = Mutex::new(None);
        parallel::each_of(threads, pieces.into_iter(), |(systems, mut rows)| {
            let put = |at: usize, i: usize, x: f64| {
                if let Some(place) = rows.get_mut(i).and_then(|row| row.get_mut(at)) {
                    *place = T::from_f64(x);
                }
            };
            if let Err((system, why)) = self.starts(systems.iter().copied(), put) {
                let mut first = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(other, _)| system < *other) {
                    *first = Some((system, why));
                }
            }
        });
        if let Some((system, why)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(Error::input(Argument::new("systems").at(system), "", why.to_string()));
        }
        let first = systems.first().copied().unwrap_or(0);
        let ensemble = match self.case.ensemble.takes_bad_rows {
            true => Ensemble::with_invalid_starts(dim, states, self.span(first))?,
            false => Ensemble::new(dim, states, self.span(first))?,
        };
        let ensemble = if self.shares_params() {
            ensemble.with_shared_params(params)?
        } else {
            ensemble.with_params(params)?
        };
        if self.has_own_spans() {
            ensemble.with_spans(systems.iter().map(|&s| self.span(s)).collect())
        } else {
            Ok(ensemble)
        }
    }

    /// The first parameter, with its value, that is not zero but would be in the precision.
    pub(crate) fn vanishing(&self, precision: Precision) -> Option<(usize, f64)> {
        self.vanishing_among(self.case.model.dim()..self.variables.len(), precision)
    }

    /// The same of starts.
    pub(crate) fn vanishing_start(&self, precision: Precision) -> Option<(usize, f64)> {
        self.vanishing_among(0..self.case.model.dim(), precision)
    }

    fn vanishing_among(
        &self,
        variables: Range<usize>,
        precision: Precision,
    ) -> Option<(usize, f64)> {
        let Start::Direct = self.case.model.start else { return None };
        let first = |v: &Variable<'_>| match &v.base {
            Base::Fixed(value) => precision.vanishes(*value).then_some(*value),
            Base::Along(values, _) => values.iter().copied().find(|x| precision.vanishes(*x)),
        };
        variables.into_iter().find_map(|k| Some((k, first(&self.variables[k])?)))
    }

    /// The first variable that may leave the range of the precision, with its largest size.
    pub fn overflow(&self, precision: Precision) -> Option<(usize, f64)> {
        let most = match precision {
            Precision::F64 => f64::MAX,
            Precision::F32 => f64::from(f32::MAX),
        };
        let largest = |v: &Variable<'_>| {
            let base = match &v.base {
                Base::Fixed(value) => value.abs(),
                // What is no number is judged as a start.
                Base::Along(values, _) => {
                    let finite = values.iter().filter(|x| x.is_finite());
                    finite.fold(0.0, |m: f64, x| m.max(x.abs()))
                }
            };
            let Some(change) = v.change else { return base };
            let shift = change.size * if change.normal { random::LARGEST_NORMAL } else { 1.0 };
            if change.relative { base * (1.0 + shift) } else { base + shift }
        };
        let sizes = self.variables.iter().map(largest).enumerate();
        sizes.into_iter().find(|(_, size)| *size > most)
    }

    /// Fingerprint of the data of all systems but for their spans.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.case.ensemble.seed.to_le_bytes());
        for (_, len) in &self.shape {
            hash.update((*len as u64).to_le_bytes());
        }
        for variable in &self.variables {
            match &variable.base {
                Base::Fixed(value) => put(&mut hash, &[*value]),
                Base::Along(values, stride) => {
                    hash.update((*stride as u64).to_le_bytes());
                    put(&mut hash, values);
                }
            }
            if let Some(Change { size, relative, normal }) = variable.change {
                put(&mut hash, &[size, f64::from(relative), f64::from(normal)]);
            }
        }
        word(hash)
    }

    /// Fingerprint of the spans of all systems.
    pub fn spans(&self) -> String {
        let mut hash = Sha256::new();
        if let Some((start, end)) = self.case.time.span {
            put(&mut hash, &[start, end]);
        }
        if let Some(table) = &self.case.ensemble.table {
            for target in [ColumnTarget::Start, ColumnTarget::End] {
                put(&mut hash, table.column(target).unwrap_or(&[]));
            }
        }
        word(hash)
    }
}

fn put(hash: &mut Sha256, values: &[f64]) {
    hash.update((values.len() as u64).to_le_bytes());
    values.iter().for_each(|x| hash.update(x.to_bits().to_le_bytes()));
}

/// A hash in digits.
fn word(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
