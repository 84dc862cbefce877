//! What can be wrong with a mechanism or a state.

use std::fmt;

/// A mechanism from which no rates can be computed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KineticsError {
    /// The mechanism has no species.
    NoSpecies,
    /// Index of a species that the mechanism does not have.
    UnknownSpecies {
        /// Index of the reaction.
        reaction: usize,
        /// Line of the reaction in its file.
        line: usize,
        /// The index it names.
        species: usize,
    },
    /// A species without a range of thermodynamic data.
    NoThermo {
        /// Name of the species.
        species: String,
        /// Its line in the file.
        line: usize,
    },
    /// Index of an element that the mechanism does not have.
    UnknownElement {
        /// Name of the species.
        species: String,
        /// Its line in the file.
        line: usize,
        /// The index it names.
        element: usize,
    },
    /// A reaction makes or destroys an element.
    Unbalanced {
        /// The equation.
        equation: String,
        /// Line of the reaction in its file.
        line: usize,
        /// The element.
        element: String,
        /// Atoms among the products less atoms among the reactants.
        excess: f64,
    },
    /// A number that has no meaning where it stands, or one that is missing.
    BadNumber {
        /// The species or the equation.
        item: String,
        /// Its line in the file.
        line: usize,
        /// What was found.
        found: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

impl fmt::Display for KineticsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KineticsError::NoSpecies => f.write_str("the mechanism has no species"),
            KineticsError::UnknownSpecies { reaction, line, species } => {
                write!(f, "line {line}: reaction {reaction} names species {species}, which is none")
            }
            KineticsError::NoThermo { species, line } => {
                write!(f, "line {line}: {species}: no thermodynamic data")
            }
            KineticsError::UnknownElement { species, line, element } => {
                write!(f, "line {line}: {species} is made of element {element}, which is none")
            }
            KineticsError::Unbalanced { equation, line, element, excess } => write!(
                f,
                "line {line}: {equation} does not conserve {element}: the products have {excess} \
                 atoms more than the reactants"
            ),
            KineticsError::BadNumber { item, line, found, remedy } => {
                write!(f, "line {line}: {item}: {found}; {remedy}")
            }
        }
    }
}

impl std::error::Error for KineticsError {}

/// A state in which no reactor can be.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StateError {
    /// The temperature is outside the range of the thermodynamic data by more than is allowed, or
    /// not a number.
    Temperature {
        /// The temperature \[K\].
        value: f64,
        /// Lowest and highest temperature of the data \[K\].
        bounds: (f64, f64),
        /// How far outside it may be \[K\].
        margin: f64,
    },
    /// The pressure is not a positive number, or the equivalence ratio below zero.
    NotPositive {
        /// `"pressure"` or `"equivalence ratio"`.
        what: &'static str,
        /// The value.
        value: f64,
    },
    /// The composition has not one number per species.
    Length {
        /// Number of species.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// A negative fraction, or one that is not a number.
    Fraction {
        /// Name of the species.
        species: String,
        /// The fraction.
        value: f64,
    },
    /// The mass fractions do not sum to one.
    Sum(f64),
    /// A species that the mechanism does not have.
    UnknownSpecies(String),
    /// A fuel that takes no oxygen, or an oxidizer that gives none: there is no stoichiometric
    /// mixture.
    NoStoichiometricMixture,
    /// A state of a system of an ensemble.
    Of {
        /// Index of the system.
        system: usize,
        /// What is wrong with it.
        error: Box<StateError>,
    },
}

impl StateError {
    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            StateError::Temperature { bounds: (low, high), .. } => format!(
                "give {low} to {high} K, for which the mechanism has the data of all its species, or \
                 a larger `temperature_margin` to extrapolate them"
            ),
            StateError::Fraction { .. } => "give zero or more".to_owned(),
            _ => "correct the state".to_owned(),
        }
    }

    /// The same, of this system of an ensemble.
    pub fn of(self, system: usize) -> StateError {
        StateError::Of { system, error: Box::new(self) }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Temperature { value, bounds: (low, high), margin } => {
                write!(
                    f,
                    "temperature {value} K is more than {margin} K outside the thermodynamic data, \
                     {low} to {high} K"
                )
            }
            StateError::NotPositive { what: "equivalence ratio", value } => {
                write!(f, "equivalence ratio {value}: expected a finite number not below zero")
            }
            StateError::NotPositive { what, value } => {
                write!(f, "{what} {value}: expected a positive number")
            }
            StateError::Length { expected, found } => {
                write!(f, "{found} fractions for {expected} species")
            }
            StateError::Fraction { species, value } => {
                write!(f, "fraction {value} of {species}: expected a number not below zero")
            }
            StateError::Sum(sum) => write!(f, "the mass fractions sum to {sum}, not to one"),
            StateError::UnknownSpecies(name) => write!(f, "no species {name:?} in the mechanism"),
            StateError::NoStoichiometricMixture => f.write_str(
                "the fuel takes no oxygen or the oxidizer gives none: there is no stoichiometric \
                 mixture",
            ),
            StateError::Of { system, error } => write!(f, "system {system}: {error}"),
        }
    }
}

impl std::error::Error for StateError {}
