//! The system of a case: built in, from text or from a mechanism, its type erased.

use crate::gas::Gas;
use odeum_core::graph::Switches;
use odeum_ode::DynSystem;
use odeum_ode::problems::Problem;

/// The system of a case, with the values every member of the ensemble starts from.
pub struct Model {
    /// As shown: `Pleiades (built in)`.
    pub title: String,
    /// Says the right-hand side completely: equal identities mean equal right-hand sides.
    pub identity: String,
    /// What it is, one line each, for people.
    pub lines: Vec<String>,
    /// Names of the components of the state.
    pub state_names: Vec<String>,
    /// Names of the parameters.
    pub param_names: Vec<String>,
    /// What an ensemble may vary, and the value every system has unless it does.
    pub variables: Vec<Variable>,
    /// How a system's start follows from the variables.
    pub start: Start,
    /// The time span the problem is usually run over.
    pub span: Option<(f64, f64)>,
    /// The right-hand side, with what solvers need of it.
    pub rhs: DynSystem,
    /// A number of its equations that is zero or infinite in single precision.
    pub outside_single: Option<f64>,
    /// Where equations as text jump at times of their own.
    pub switches: Option<Switches>,
}

/// A named number.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// How initial state and parameters follow from the variables.
#[derive(Clone, Debug)]
pub enum Start {
    /// The variables are the states, then the parameters.
    Direct,
    /// They say what a gas is made of and how hot it is.
    Gas(Box<Gas>),
}

/// Variables from their names and values.
pub(crate) fn variables(
    names: impl IntoIterator<Item = String>,
    values: impl IntoIterator<Item = f64>,
) -> Vec<Variable> {
    names.into_iter().zip(values).map(|(name, value)| Variable { name, value }).collect()
}

impl Model {
    /// A built-in problem.
    pub fn built_in(problem: &Problem) -> Model {
        let (state_names, param_names) = (problem.state_names(), problem.param_names());
        let names = state_names.iter().chain(&param_names).cloned();
        let values = problem.y0.iter().chain(&problem.params).copied();
        let variables = variables(names, values);
        let size = problem.size().map_or(String::new(), |size| format!(", size {size}"));
        Model {
            title: format!("{} (built in{size})", problem.title),
            identity: format!("problem {}{size}", problem.name),
            lines: vec![problem.about.to_owned()],
            state_names,
            param_names,
            variables,
            start: Start::Direct,
            span: Some(problem.span),
            rhs: DynSystem::from(problem),
            outside_single: None,
            switches: None,
        }
    }

    /// Number of equations n.
    pub fn dim(&self) -> usize {
        self.state_names.len()
    }

    /// The number of the variable of this name.
    pub fn variable(&self, name: &str) -> Option<usize> {
        self.names().position(|n| n == name)
    }

    /// The names of all variables.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.variables.iter().map(|variable| variable.name.as_str())
    }

    /// True where the variables are states and parameters.
    pub fn is_direct(&self) -> bool {
        matches!(self.start, Start::Direct)
    }
}
