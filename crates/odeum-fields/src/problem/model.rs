//! Reaction–diffusion equations in normal form.

use crate::problem::text;
use odeum_core::text::{Diagnostic, TextErrors, TextSource};
use odeum_core::{Argument, Graph};
use odeum_ode::Error;
use std::collections::HashSet;
use std::fmt;

/// Equations ∂uₛ/∂t = Fₛ(t, u, L, x, M) of S species, as data.
///
/// L = ∇²u are the Laplacians of the species, x the coordinates of the cell, and Mₖ = ∇²μₖ the
/// Laplacians of K potentials μₖ(t, u, L, x), from which come derivatives of fourth order (Cahn
/// and Hilliard's μ = c³ − c − ∇²c). The states of both graphs are, in order: u \[S\], L \[S\],
/// x, y, z, and of the right-hand side M \[K\].
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    species: Vec<String>,
    params: Vec<(String, f64)>,
    rhs: Graph,
    potentials: Graph,
}

/// A model as text: names, numbers and expressions in the grammar of [`odeum_core::text`], with
/// the coordinates `x`, `y`, `z` and `lap(...)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelText<'a> {
    /// Names of the species, in order.
    pub species: Vec<&'a str>,
    /// Names and values of the parameters.
    pub params: Vec<(&'a str, f64)>,
    /// Names for expressions that equations and other definitions use, in any order.
    pub definitions: Vec<(&'a str, &'a str)>,
    /// ∂u/∂t of each species by its name, in any order.
    pub equations: Vec<(&'a str, &'a str)>,
}

/// What is wrong with a model as text.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelError {
    /// Names and expressions, each with its place.
    Text(TextErrors),
    /// A parameter that is not a finite number.
    Param {
        /// Its name.
        name: String,
        /// Its value.
        value: f64,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Text(errors) => errors.fmt(f),
            ModelError::Param { name, value } => {
                write!(f, "parameter {name}: found {value}; must be finite")
            }
        }
    }
}

impl std::error::Error for ModelError {}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Error {
        Error::input("model", error, "mend the text")
    }
}

impl ModelText<'_> {
    /// Reads the model and what looks like a slip in it, or says everything that is wrong.
    ///
    /// # Errors
    /// Names and expressions that cannot be read, and parameters that are not finite.
    pub fn read(&self) -> Result<(Model, Vec<Diagnostic>), ModelError> {
        let source = TextSource {
            states: self.species.clone(),
            params: self.params.iter().map(|(name, _)| *name).collect(),
            definitions: self.definitions.clone(),
            equations: self.equations.clone(),
            spectral_radius: None,
        };
        let (rhs, potentials, warnings) = text::read(&source).map_err(ModelError::Text)?;
        if let Some((name, value)) = self.params.iter().find(|(_, value)| !value.is_finite()) {
            return Err(ModelError::Param { name: (*name).to_owned(), value: *value });
        }
        let model = Model {
            species: self.species.iter().map(|name| (*name).to_owned()).collect(),
            params: self.params.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect(),
            rhs,
            potentials,
        };
        Ok((model, warnings))
    }
}

impl Model {
    /// A model from graphs with the states that [`Model`] names and these parameters.
    ///
    /// # Errors
    /// No species, names that are empty or mean something in expressions (`t`, `pi`, `x`), or that two of species and parameters share, graphs of other numbers of states, parameters or outputs, and
    /// parameters that are not finite.
    pub fn new(
        species: Vec<String>,
        params: Vec<(String, f64)>,
        rhs: Graph,
        potentials: Graph,
    ) -> Result<Model, Error> {
        let (s, k) = (species.len(), potentials.outputs().len());
        let check = |name: &'static str, graph: &Graph, states: usize, outputs: usize| {
            let found = (graph.n_states(), graph.n_params(), graph.outputs().len());
            if found == (states, params.len(), outputs) {
                return Ok(());
            }
            let text = format!("{} states, {} parameters, {} outputs", found.0, found.1, found.2);
            let remedy =
                format!("wants {states} states, {} parameters, {outputs} outputs", params.len());
            Err(Error::input(name, text, remedy))
        };
        if s == 0 {
            return Err(Error::input("species", 0, "a model needs at least one"));
        }
        let params_as = params.iter().map(|(name, _)| ("params", name));
        for (of, name) in species.iter().map(|name| ("species", name)).chain(params_as) {
            if let Some(what) = text::meaning(name) {
                return Err(Error::input(of, name, format!("{what}; choose another name")));
            }
        }
        let mut known = HashSet::new();
        if let Some(name) = species.iter().find(|name| !known.insert(name.as_str())) {
            return Err(Error::input("species", name, "is given twice"));
        }
        if let Some((name, _)) = params.iter().find(|(name, _)| !known.insert(name)) {
            let remedy = "is given twice, or is a species: give each a name of its own";
            return Err(Error::input("params", name, remedy));
        }
        check("rhs", &rhs, 2 * s + 3 + k, s)?;
        check("potentials", &potentials, 2 * s + 3, k)?;
        if let Some((name, value)) = params.iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::input(
                Argument::new("params").key(name.to_owned()),
                value,
                "must be finite",
            ));
        }
        Ok(Model { species, params, rhs, potentials })
    }

    /// Names of the S species.
    pub fn species(&self) -> &[String] {
        &self.species
    }

    /// The number of a species.
    ///
    /// # Errors
    /// There is no such species.
    pub fn index(&self, species: &str) -> Result<usize, Error> {
        self.species.iter().position(|name| name == species).ok_or_else(|| {
            Error::input("species", species, format!("the model has {}", self.species.join(", ")))
        })
    }

    /// Names and values of the parameters.
    pub fn params(&self) -> &[(String, f64)] {
        &self.params
    }

    /// The same model with another value of a parameter.
    ///
    /// # Errors
    /// There is no such parameter, or the value is not finite.
    pub fn with_param(mut self, name: &str, value: f64) -> Result<Model, Error> {
        if !value.is_finite() {
            return Err(Error::input(
                Argument::new("params").key(name.to_owned()),
                value,
                "must be finite",
            ));
        }
        match self.params.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value,
            None => {
                let names: Vec<&str> = self.params.iter().map(|(name, _)| name.as_str()).collect();
                let remedy = format!("the model has {}", names.join(", "));
                return Err(Error::input("parameter", name, remedy));
            }
        }
        Ok(self)
    }

    /// F, of 2 S + 3 + K states, with S outputs.
    pub fn rhs(&self) -> &Graph {
        &self.rhs
    }

    /// μ, of 2 S + 3 states, with K outputs.
    pub fn potentials(&self) -> &Graph {
        &self.potentials
    }

    /// F and μ with numbers for the parameters.
    pub(crate) fn bound(&self) -> (Graph, Graph) {
        let values: Vec<f64> = self.params.iter().map(|(_, value)| *value).collect();
        (self.rhs.with_params(&values), self.potentials.with_params(&values))
    }
}
