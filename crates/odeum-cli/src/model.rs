//! The system of a case: built in or from text, its type erased.

use odeum::problems::Problem;
use odeum_compiled::Rhs;

/// The system of a case, with the values every member of the ensemble starts from.
pub(crate) struct Model {
    /// As shown: `Pleiades (built in)`.
    pub(crate) title: String,
    /// Says the right-hand side completely: equal identities mean equal right-hand sides.
    pub(crate) identity: String,
    /// What it is, one line each, for people.
    pub(crate) lines: Vec<String>,
    pub(crate) state_names: Vec<String>,
    pub(crate) param_names: Vec<String>,
    /// Initial state \[n\].
    pub(crate) states: Vec<f64>,
    /// Parameters \[m\].
    pub(crate) params: Vec<f64>,
    /// The time span the problem is usually run over.
    pub(crate) span: Option<(f64, f64)>,
    pub(crate) rhs: Rhs,
}

impl Model {
    /// A built-in problem.
    pub(crate) fn built_in(problem: &Problem) -> Model {
        let size = problem.size().map_or(String::new(), |size| format!(", size {size}"));
        Model {
            title: format!("{} (built in{size})", problem.title),
            identity: format!("problem {}{size}", problem.name),
            lines: vec![problem.about.to_owned()],
            state_names: problem.state_names(),
            param_names: problem.param_names(),
            states: problem.y0.clone(),
            params: problem.params.clone(),
            span: Some(problem.span),
            rhs: Rhs::of_problem(problem),
        }
    }

    /// Number of equations n.
    pub(crate) fn dim(&self) -> usize {
        self.state_names.len()
    }

    /// States and parameters are numbered together: states first. The number of a name.
    pub(crate) fn variable(&self, name: &str) -> Option<usize> {
        self.names().position(|n| n == name)
    }

    /// The names of all states, then of all parameters.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.state_names.iter().chain(&self.param_names).map(String::as_str)
    }

    /// The values of all states, then of all parameters.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.states.iter().chain(&self.params).copied()
    }
}
