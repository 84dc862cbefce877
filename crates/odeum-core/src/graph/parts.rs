//! Graphs from arrays of operations: for whoever records a right-hand side in another language.

use super::{Builder, Class, Graph, Node, NodeId, Op};
use std::collections::HashMap;
use std::fmt;

/// One value of a graph; operands are the places of values before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part<'a> {
    /// A number.
    Const(f64),
    /// The time t.
    Time,
    /// Component i of the state.
    State(usize),
    /// Parameter j.
    Param(usize),
    /// An integer power.
    Powi(usize, i32),
    /// An operation on as many operands as it has.
    Op(Op, &'a [usize]),
}

/// Parts of which no graph can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartsError {
    /// A component that the state does not have.
    NoState {
        /// The part.
        part: usize,
        /// The component it names.
        state: usize,
        /// Components there are.
        states: usize,
    },
    /// A parameter that there is not.
    NoParam {
        /// The part.
        part: usize,
        /// The parameter it names.
        param: usize,
        /// Parameters there are.
        params: usize,
    },
    /// An operation with too many operands, or too few.
    Arity {
        /// The part.
        part: usize,
        /// The operation.
        op: Op,
        /// Operands that were given.
        found: usize,
    },
    /// An operand that does not stand before its user.
    NotBefore {
        /// The part.
        part: usize,
        /// The place of the operand.
        operand: usize,
    },
    /// A truth value where a number is wanted, or the other way round.
    Kind {
        /// The part.
        part: usize,
        /// The place of the operand.
        operand: usize,
        /// True where a truth value is wanted.
        wants_condition: bool,
    },
    /// An output that is no part, or a truth value.
    Output {
        /// The output.
        output: usize,
        /// The place it names.
        part: usize,
    },
    /// A spectral radius that is no part, or a truth value.
    Radius {
        /// The place it names.
        part: usize,
    },
    /// Two names that are the same, counted over the states and then the parameters.
    SameName {
        /// The earlier one.
        first: usize,
        /// The later one.
        second: usize,
    },
    /// More parts, states or parameters than a graph counts.
    TooMany(usize),
}

impl fmt::Display for PartsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PartsError::NoState { part, state, states } => {
                write!(f, "part {part}: state {state}, of {states} states")
            }
            PartsError::NoParam { part, param, params } => {
                write!(f, "part {part}: parameter {param}, of {params} parameters")
            }
            PartsError::Arity { part, op, found } => {
                let (name, arity) = (op.info().name, op.info().arity);
                write!(f, "part {part}: {name} has {arity} operands, here {found}")
            }
            PartsError::NotBefore { part, operand } => {
                write!(f, "part {part}: operand {operand} does not stand before it")
            }
            PartsError::Kind { part, operand, wants_condition } => {
                let wanted = if wants_condition { "a truth value" } else { "a number" };
                write!(f, "part {part}: operand {operand} is not {wanted}")
            }
            PartsError::Output { output, part } => {
                write!(f, "output {output}: part {part} is no number of the graph")
            }
            PartsError::Radius { part } => {
                write!(f, "spectral radius: part {part} is no number of the graph")
            }
            PartsError::SameName { first, second } => {
                write!(f, "names {first} and {second} of states and parameters are the same")
            }
            PartsError::TooMany(count) => write!(f, "{count} are more than a graph can have"),
        }
    }
}

impl std::error::Error for PartsError {}

impl Graph {
    /// A graph from its parts, operands before their users: `names` are those of the states and of the parameters, which no two
    /// share; `outputs` and `spectral_radius` are places among the parts. Equal parts become one node, and what is exactly
    /// the same is simplified, as in a right-hand side that is recorded.
    ///
    /// ```
    /// use odeum_core::Graph;
    /// use odeum_core::graph::{Op, Part};
    ///
    /// // u' = -k u, with the spectral radius k
    /// let parts = [Part::State(0), Part::Param(0), Part::Op(Op::Mul, &[0, 1]), Part::Op(Op::Neg, &[2])];
    /// let names = (vec!["u".to_owned()], vec!["k".to_owned()]);
    /// let graph = Graph::from_parts(names, &parts, &[3], Some(1))?;
    /// assert_eq!(graph.eval(0.0, &[3.0], &[2.0]), [-6.0]);
    /// assert_eq!(graph.state_names(), ["u"]);
    /// # Ok::<(), odeum_core::graph::PartsError>(())
    /// ```
    ///
    /// # Errors
    /// Parts that do not fit together, or two names that are the same.
    pub fn from_parts(
        (state_names, param_names): (Vec<String>, Vec<String>),
        parts: &[Part<'_>],
        outputs: &[usize],
        spectral_radius: Option<usize>,
    ) -> Result<Graph, PartsError> {
        let (states, params) = (state_names.len(), param_names.len());
        // The last number stands for the place that an operation does not have.
        const MOST: usize = u32::MAX as usize - 1;
        if let Some(&count) = [states, params, parts.len()].iter().find(|count| **count > MOST) {
            return Err(PartsError::TooMany(count));
        }
        check_names(state_names.iter().chain(&param_names))?;
        let mut builder = Builder::default();
        // What each part became, and whether it is a truth value.
        let mut made: Vec<(NodeId, bool)> = Vec::with_capacity(parts.len());
        for (k, part) in parts.iter().enumerate() {
            let operand = |place: usize, wants_condition: bool| match made.get(place) {
                Some(&(id, is)) if is == wants_condition => Ok(id),
                Some(_) => Err(PartsError::Kind { part: k, operand: place, wants_condition }),
                None => Err(PartsError::NotBefore { part: k, operand: place }),
            };
            let id = match *part {
                Part::Const(x) => builder.constant(x),
                Part::Time => builder.intern(Node::Time),
                Part::State(i) if i < states => builder.intern(Node::State(i as u32)),
                Part::State(state) => return Err(PartsError::NoState { part: k, state, states }),
                Part::Param(j) if j < params => builder.intern(Node::Param(j as u32)),
                Part::Param(param) => return Err(PartsError::NoParam { part: k, param, params }),
                Part::Powi(base, exponent) => builder.powi(operand(base, false)?, exponent),
                Part::Op(op, places) => {
                    let (arity, found) = (op.info().arity, places.len());
                    if found != arity {
                        return Err(PartsError::Arity { part: k, op, found });
                    }
                    let mut args = [NodeId::NONE; 3];
                    for (a, &place) in places.iter().enumerate() {
                        args[a] = operand(place, wants_condition(op, a))?;
                    }
                    builder.apply(op, &args[..arity])
                }
            };
            let is_condition =
                matches!(part, Part::Op(op, _) if op.info().class == Class::Condition);
            made.push((id, is_condition));
        }
        let number = |part: usize| match made.get(part) {
            Some((id, false)) => Some(*id),
            _ => None,
        };
        let output = |(output, &part): (usize, &usize)| {
            number(part).ok_or(PartsError::Output { output, part })
        };
        let ids = outputs.iter().enumerate().map(output).collect::<Result<Vec<_>, _>>()?;
        let radius = spectral_radius.map(|part| number(part).ok_or(PartsError::Radius { part }));
        let names = (state_names, param_names);
        let radius = radius.transpose()?.map(|id| Graph::assemble(&builder, &[id], names.clone()));
        Ok(Graph::assemble(&builder, &ids, names).with_spectral_radius(radius))
    }
}

/// Refuses names that are the same.
fn check_names<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), PartsError> {
    let mut known = HashMap::new();
    for (second, name) in names.enumerate() {
        if let Some(first) = known.insert(name, second) {
            return Err(PartsError::SameName { first, second });
        }
    }
    Ok(())
}

/// True where an operation wants a truth value.
fn wants_condition(op: Op, operand: usize) -> bool {
    match op {
        Op::And | Op::Or | Op::Not => true,
        Op::Select => operand == 0,
        _ => false,
    }
}
