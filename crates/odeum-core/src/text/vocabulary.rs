//! Names that the reader of a text adds to those that every system has.

use super::diagnostic::Diagnostic;
use crate::graph::{Builder, Graph, NodeId};

/// Names beside those of every system, as coordinates and the Laplacian are for equations in space.
pub trait Vocabulary {
    /// Variables that stand for states of the graph behind those of the source.
    fn variables(&self) -> Vec<Variable>;

    /// Names of functions of one argument.
    fn functions(&self) -> Vec<&'static str>;

    /// The value of function number `function` of an argument.
    ///
    /// # Errors
    /// An argument that the function does not take.
    fn call(
        &mut self,
        function: usize,
        builder: &mut Builder,
        argument: NodeId,
    ) -> Result<NodeId, Refusal>;
}

/// A variable of a [`Vocabulary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// The state of the graph that it stands for.
    pub state: usize,
    /// What it is, as `coordinate`, for messages.
    pub kind: &'static str,
}

/// Why a function of a [`Vocabulary`] does not take its argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong with the argument.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// No names beside those of every system.
pub(super) struct NoVocabulary;

impl Vocabulary for NoVocabulary {
    fn variables(&self) -> Vec<Variable> {
        Vec::new()
    }

    fn functions(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn call(&mut self, _: usize, _: &mut Builder, argument: NodeId) -> Result<NodeId, Refusal> {
        Ok(argument)
    }
}

/// Equations read with a [`Vocabulary`], as nodes of one builder.
#[derive(Debug)]
pub struct TextGraphs {
    builder: Builder,
    equations: Vec<NodeId>,
    warnings: Vec<Diagnostic>,
}

impl TextGraphs {
    pub(super) fn new(
        builder: Builder,
        equations: Vec<NodeId>,
        warnings: Vec<Diagnostic>,
    ) -> TextGraphs {
        TextGraphs { builder, equations, warnings }
    }

    /// The right-hand sides, in the order of the states.
    pub fn equations(&self) -> &[NodeId] {
        &self.equations
    }

    /// The graph of some nodes, with names for all states and parameters.
    pub fn graph(&self, outputs: &[NodeId], states: Vec<String>, params: Vec<String>) -> Graph {
        Graph::assemble(&self.builder, outputs, (states, params))
    }

    /// What looks like a slip but is no error: parameters and definitions never used.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}
