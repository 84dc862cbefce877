//! Numbers that may change with time.

use odeum_core::text::TextSource;
use odeum_core::{Argument, Graph};
use odeum_ode::Error;
use std::cell::RefCell;

/// A number, or an expression of the time and the parameters of the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// Always the same.
    Constant(f64),
    /// An expression in the grammar of [`odeum_core::text`], of `t` and parameters by name.
    Text(String),
    /// A graph of no states and the model's parameters, with one output.
    Graph(Graph),
}

impl From<f64> for Quantity {
    fn from(x: f64) -> Quantity {
        Quantity::Constant(x)
    }
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Quantity {
        Quantity::Text(text.to_owned())
    }
}

impl Quantity {
    /// The quantity as a function of time, for parameters (name, value); `field` names it in
    /// errors.
    pub(crate) fn bind(
        &self,
        params: &[(String, f64)],
        field: impl Into<Argument>,
    ) -> Result<TimeDependent, Error> {
        let field = field.into();
        let values: Vec<f64> = params.iter().map(|(_, value)| *value).collect();
        let graph = match self {
            Quantity::Constant(x) if x.is_finite() => return Ok(TimeDependent::Constant(*x)),
            Quantity::Constant(x) => return Err(Error::input(field, x, "must be finite")),
            Quantity::Text(text) => {
                let source = TextSource {
                    params: params.iter().map(|(name, _)| name.as_str()).collect(),
                    definitions: vec![("quantity", text)],
                    ..TextSource::default()
                };
                source.read_definitions().map_err(|errors| {
                    let place = errors.0.first().map_or(0, |error| error.column);
                    let what = errors.0.first().map_or("", |error| error.message.as_str());
                    Error::input(
                        field.clone(),
                        format!("`{text}`"),
                        format!("column {place}: {what}"),
                    )
                })?
            }
            Quantity::Graph(graph) => {
                let finite = graph.n_states() == 0
                    && graph.n_params() == params.len()
                    && graph.outputs().len() == 1;
                if !finite {
                    let remedy =
                        format!("give one output of no states, {} parameters", values.len());
                    return Err(Error::input(field, "another graph", remedy));
                }
                graph.clone()
            }
        };
        let graph = graph.with_params(&values);
        if graph.uses_time() {
            return Ok(TimeDependent::Varying(graph));
        }
        match graph.eval(0.0, &[], &[])[0] {
            x if f64::is_finite(x) => Ok(TimeDependent::Constant(x)),
            x => Err(Error::input(field, x, "must be finite")),
        }
    }
}

thread_local! {
    /// Values of a graph: sweeps ask for boundaries and velocities at every step, and allocate nothing.
    static NODES: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// A quantity with numbers for its parameters.
#[derive(Clone, Debug)]
pub(crate) enum TimeDependent {
    Constant(f64),
    Varying(Graph),
}

impl TimeDependent {
    pub(crate) fn at(&self, t: f64) -> f64 {
        match self {
            TimeDependent::Constant(x) => *x,
            TimeDependent::Varying(graph) => NODES.with_borrow_mut(|nodes| {
                graph.eval_nodes(t, &[], &[], nodes);
                nodes[graph.outputs()[0].index()]
            }),
        }
    }
}
