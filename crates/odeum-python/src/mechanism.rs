//! Chemical mechanisms: read, asked, evaluated over arrays.

use crate::array::Array;
use crate::buffer::View;
use crate::failure::{raise, raise_and_warn};
use crate::properties::{self, Gas};
use crate::watch::watch;
use odeum_case::mechanism::{self, Read};
use odeum_core::cores;
use odeum_io::{Finding, Findings, parallel};
use odeum_kinetics::read::{Named, Selection};
use odeum_kinetics::{EquilibriumError, Kinetics, StateError};
use odeum_ode::Monitor;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// States that a thread takes at once.
const PIECE: usize = 64;

/// A mechanism, ready to compute rates.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct Mechanism {
    kinetics: Arc<Kinetics>,
    mechanism: odeum_kinetics::Mechanism,
}

#[pymethods]
impl Mechanism {
    /// Reads a file, Cantera YAML or Chemkin.
    #[staticmethod]
    #[pyo3(signature = (path, thermo = None, phase = None, include = Vec::new()))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        thermo: Option<PathBuf>,
        phase: Option<&str>,
        include: Vec<PathBuf>,
    ) -> PyResult<Mechanism> {
        let selection = Selection { thermo: thermo.as_deref(), phase, include: &include };
        Mechanism::of(py, mechanism::read(&path, &selection))
    }

    /// Reads a text, Cantera YAML or Chemkin, which messages call `name`; `thermo` has the name and the text
    /// of thermodynamic data for a Chemkin mechanism.
    #[staticmethod]
    #[pyo3(signature = (name, text, thermo = None, phase = None))]
    fn of_text(
        py: Python<'_>,
        name: &str,
        text: &str,
        thermo: Option<(String, String)>,
        phase: Option<&str>,
    ) -> PyResult<Mechanism> {
        let thermo = thermo.as_ref().map(|(file, text)| Named { file, text });
        Mechanism::of(py, mechanism::read_text(Named { file: name, text }, thermo, phase))
    }

    /// Name of the phase.
    #[getter]
    fn name(&self) -> &str {
        &self.mechanism.name
    }

    #[getter]
    fn species_names(&self) -> Vec<&str> {
        self.kinetics.species_names().iter().map(String::as_str).collect()
    }

    #[getter]
    fn element_names(&self) -> Vec<&str> {
        self.mechanism.elements.iter().map(|element| element.name.as_str()).collect()
    }

    #[getter]
    fn reaction_equations(&self) -> Vec<&str> {
        self.mechanism.reactions.iter().map(|reaction| reaction.equation.as_str()).collect()
    }

    /// Molar masses [kg/kmol] \[species\].
    #[getter]
    fn molecular_weights(&self) -> Array {
        let weights = self.kinetics.molecular_weights().to_vec();
        let len = weights.len();
        Array::new(weights, &[len])
    }

    /// Lowest and highest temperature at which the data of all species hold \[K\].
    #[getter]
    fn temperature_bounds(&self) -> (f64, f64) {
        self.kinetics.temperature_bounds()
    }

    /// A property of M gases of temperatures \[M\], pressures \[M\] and mass fractions [M, species]:
    /// \[M\] or, of species or reactions, [M, n].
    fn evaluate(
        &self,
        py: Python<'_>,
        property: &str,
        t: PyBuffer<f64>,
        p: PyBuffer<f64>,
        y: PyBuffer<f64>,
    ) -> PyResult<Array> {
        let Some(property) = properties::find(property) else {
            return Err(PyValueError::new_err(format!("there is no property `{property}`")));
        };
        let states = States::new(&self.kinetics, t, p, y).map_err(|error| raise(py, error))?;
        let width = property.per.width(&self.kinetics);
        let mut out = vec![0.0; states.len() * width];
        if width > 0 {
            let pieces = out.chunks_mut(PIECE * width).enumerate();
            states.each(py, pieces, |gas, piece, place| {
                for (k, row) in place.chunks_mut(width).enumerate() {
                    states.take(PIECE * piece + k, gas);
                    (property.of)(gas, row);
                }
            })?;
        }
        Ok(match property.per {
            properties::Per::State => Array::new(out, &[states.len()]),
            _ => Array::new(out, &[states.len(), width]),
        })
    }

    /// The equilibria of M gases at their enthalpy, or else at their temperature, and pressure: temperatures
    /// \[M\] and mass fractions [M, species], NaN where there is none, and of the first where there is none
    /// its number, the reason, and whether the gas itself is impossible.
    #[allow(clippy::type_complexity)]
    fn equilibrate(
        &self,
        py: Python<'_>,
        holds_enthalpy: bool,
        t: PyBuffer<f64>,
        p: PyBuffer<f64>,
        y: PyBuffer<f64>,
    ) -> PyResult<(Array, Array, Option<(usize, String, bool)>)> {
        let states = States::new(&self.kinetics, t, p, y).map_err(|error| raise(py, error))?;
        let (len, n) = (states.len(), self.kinetics.n_species());
        let (mut temperatures, mut fractions) = (vec![f64::NAN; len], vec![f64::NAN; len * n]);
        let first: Mutex<Option<(usize, EquilibriumError)>> = Mutex::new(None);
        let pieces = temperatures.chunks_mut(PIECE).zip(fractions.chunks_mut(PIECE * n));
        states.each(py, pieces.enumerate(), |gas, piece, (temperatures, fractions)| {
            let rows = temperatures.iter_mut().zip(fractions.chunks_mut(n));
            for (k, (temperature, row)) in rows.enumerate() {
                let number = PIECE * piece + k;
                states.take(number, gas);
                let found = match holds_enthalpy {
                    true => self.kinetics.equilibrate_hp(gas.t, gas.p, &gas.y),
                    false => self.kinetics.equilibrate_tp(gas.t, gas.p, &gas.y),
                };
                match found {
                    Ok(state) => {
                        *temperature = state.temperature;
                        row.copy_from_slice(&state.mass_fractions);
                    }
                    Err(error) => {
                        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                        if first.as_ref().is_none_or(|(other, _)| number < *other) {
                            *first = Some((number, error));
                        }
                    }
                }
            }
        })?;
        let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        let first = first.map(|(number, error)| {
            let is_input = matches!(error, EquilibriumError::State(_));
            (number, error.to_string(), is_input)
        });
        Ok((Array::new(temperatures, &[len]), Array::new(fractions, &[len, n]), first))
    }

    /// Mass fractions [M, species] of fuel and oxidizer, in amounts of their species \[kmol\], at equivalence
    /// ratios \[M\].
    fn at_equivalence_ratio(
        &self,
        phi: Vec<f64>,
        fuel: Vec<f64>,
        oxidizer: Vec<f64>,
    ) -> PyResult<Array> {
        let refused = |error: StateError| PyValueError::new_err(error.to_string());
        let side = |amounts: &[f64]| self.kinetics.mass_fractions(amounts).map_err(refused);
        let sides = self.kinetics.fuel_oxidizer(side(&fuel)?, side(&oxidizer)?).map_err(refused)?;
        let mut out = Vec::with_capacity(phi.len() * self.kinetics.n_species());
        for &phi in &phi {
            out.extend(sides.at(phi).map_err(refused)?);
        }
        Ok(Array::new(out, &[phi.len(), self.kinetics.n_species()]))
    }
}

impl Mechanism {
    pub(crate) fn kinetics(&self) -> &Arc<Kinetics> {
        &self.kinetics
    }

    fn of(py: Python<'_>, read: Result<Read, Vec<Finding>>) -> PyResult<Mechanism> {
        let findings = Findings::default();
        let read = match read {
            Ok(read) => {
                read.warnings.into_iter().for_each(|warning| findings.push(warning));
                Some((read.kinetics, read.mechanism))
            }
            Err(problems) => {
                problems.into_iter().for_each(|problem| findings.push(problem));
                None
            }
        };
        raise_and_warn(py, &findings)?;
        let (kinetics, mechanism) =
            read.ok_or_else(|| PyValueError::new_err("the mechanism cannot be read"))?;
        Ok(Mechanism { kinetics: Arc::new(kinetics), mechanism })
    }
}

/// Temperatures, pressures and mass fractions of M gases in arrays of Python.
struct States<'a> {
    kinetics: &'a Kinetics,
    t: View,
    p: View,
    y: View,
}

impl<'a> States<'a> {
    fn new(
        kinetics: &'a Kinetics,
        t: PyBuffer<f64>,
        p: PyBuffer<f64>,
        y: PyBuffer<f64>,
    ) -> Result<States<'a>, odeum_core::Error> {
        let (t, p, y) = (View::read("T", t)?, View::read("p", p)?, View::read("Y", y)?);
        let shapes = [&t, &p, &y].map(|view| (view.systems(), view.components()));
        let (m, n) = (t.systems(), kinetics.n_species());
        if shapes != [(m, 1), (m, 1), (m, n)] {
            let remedy = format!("give T and p [{m}], Y [{m}, {n}]");
            return Err(odeum_core::Error::input("T, p, Y", format!("{shapes:?}"), remedy));
        }
        Ok(States { kinetics, t, p, y })
    }

    fn len(&self) -> usize {
        self.t.systems()
    }

    /// Puts the numbers of a gas into `gas`.
    fn take(&self, number: usize, gas: &mut Gas<'_>) {
        (gas.t, gas.p) = (self.t.get(number, 0), self.p.get(number, 0));
        for (k, y) in gas.y.iter_mut().enumerate() {
            *y = self.y.get(number, k);
        }
    }

    /// Does `work` for all pieces on all cores, with the interpreter free for others. What a signal raises
    /// comes back as soon as the pieces at work are done.
    fn each<P: Send>(
        &self,
        py: Python<'_>,
        pieces: impl ExactSizeIterator<Item = (usize, P)> + Send,
        work: impl Fn(&mut Gas<'_>, usize, P) + Sync,
    ) -> PyResult<()> {
        let monitor = Monitor::new();
        let all = || {
            parallel::each_of(cores(), pieces, |(number, piece)| {
                if !monitor.is_stopped() {
                    work(&mut Gas::new(self.kinetics), number, piece);
                }
            });
        };
        let ((), raised) = watch(py, &monitor, None, all)?;
        raised.map_or(Ok(()), Err)
    }
}
