//! Equations of fields: coordinates and Laplacians.

use super::diagnostic::Diagnostic;
use super::parse::Complaint;
use super::token::Span;
use crate::graph::{Builder, Graph, Node, NodeId, Op};

/// The equations of S species in space, in normal form.
///
/// With Lₛ = ∇²uₛ, K potentials μₖ = μₖ(t, u, L, x) and Mₖ = ∇²μₖ the equations are
/// ∂uₛ/∂t = Fₛ(t, u, L, x, M). The states of the graphs are, in order: the species u \[S\], their
/// Laplacians L \[S\], the coordinates x, y, z, and (of the right-hand side only) M \[K\].
#[derive(Clone, Debug)]
pub struct TextFields {
    rhs: Graph,
    potentials: Graph,
    warnings: Vec<Diagnostic>,
}

impl TextFields {
    pub(super) fn new(
        builder: &Builder,
        rhs: &[NodeId],
        potentials: &[NodeId],
        species: Vec<String>,
        params: Vec<String>,
        warnings: Vec<Diagnostic>,
    ) -> TextFields {
        let mut names = species.clone();
        names.extend(species.iter().map(|name| format!("lap({name})")));
        names.extend(["x", "y", "z"].map(str::to_owned));
        let of_potentials = Graph::assemble(builder, potentials, (names.clone(), params.clone()));
        names.extend((0..potentials.len()).map(|k| format!("lap(potential {k})")));
        let rhs = Graph::assemble(builder, rhs, (names, params));
        TextFields { rhs, potentials: of_potentials, warnings }
    }

    /// F, of 2 S + 3 + K states, with S outputs.
    pub fn rhs(&self) -> &Graph {
        &self.rhs
    }

    /// The potentials μ, of 2 S + 3 states, with K outputs.
    pub fn potentials(&self) -> &Graph {
        &self.potentials
    }

    /// What looks like a slip but is no error: parameters and definitions never used.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}

/// On what a node depends, as far as Laplacians care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// The same everywhere.
    Uniform,
    /// Differs from place to place.
    Local,
    /// Contains the Laplacian of a potential.
    Beyond,
}

/// The Laplacians met while expressions are read.
pub(super) struct Space {
    n_species: usize,
    potentials: Vec<NodeId>,
    /// Of the nodes of the builder, as far as it was asked.
    reach: Vec<Reach>,
}

impl Space {
    pub(super) fn new(n_species: usize) -> Space {
        Space { n_species, potentials: Vec::new(), reach: Vec::new() }
    }

    /// The potentials, in the order of their Laplacians.
    pub(super) fn into_potentials(self) -> Vec<NodeId> {
        self.potentials
    }

    pub(super) fn coordinate(&self, axis: usize) -> Node {
        Node::State((2 * self.n_species + axis) as u32)
    }

    /// The node of the Laplacian of a node.
    pub(super) fn laplacian(
        &mut self,
        builder: &mut Builder,
        id: NodeId,
        span: Span,
    ) -> Result<NodeId, Complaint> {
        match self.reach(builder, id) {
            Reach::Uniform => {
                let complaint = Complaint::new(span, "this is the same everywhere");
                return Err(complaint.help("its Laplacian is zero: leave it out"));
            }
            Reach::Beyond => {
                let complaint = Complaint::new(span, "this contains the Laplacian of a potential");
                return Err(complaint.help("at most two Laplacians can be nested"));
            }
            Reach::Local => {}
        }
        if let Some(known) = self.of_species(builder, id) {
            return Ok(known);
        }
        let k = self.potentials.iter().position(|&known| known == id).unwrap_or_else(|| {
            self.potentials.push(id);
            self.potentials.len() - 1
        });
        Ok(builder.intern(Node::State((2 * self.n_species + 3 + k) as u32)))
    }

    /// The Laplacian of a sum of species, each times what is the same everywhere: the sum of
    /// theirs, each with the walls of its species. `None` of anything else.
    fn of_species(&mut self, builder: &mut Builder, id: NodeId) -> Option<NodeId> {
        let (op, [a, b, _]) = match builder.node(id) {
            Node::State(s) if (s as usize) < self.n_species => {
                return Some(builder.intern(Node::State(s + self.n_species as u32)));
            }
            Node::Op(op, args) => (op, args),
            _ => return None,
        };
        match op {
            Op::Neg => {
                let laplacian = self.of_species(builder, a)?;
                Some(builder.apply(op, &[laplacian]))
            }
            Op::Add | Op::Sub => match [a, b].map(|id| self.reach(builder, id)) {
                [Reach::Uniform, _] => {
                    let laplacian = self.of_species(builder, b)?;
                    Some(if op == Op::Sub {
                        builder.apply(Op::Neg, &[laplacian])
                    } else {
                        laplacian
                    })
                }
                [_, Reach::Uniform] => self.of_species(builder, a),
                _ => {
                    let parts = [self.of_species(builder, a)?, self.of_species(builder, b)?];
                    Some(builder.apply(op, &parts))
                }
            },
            Op::Mul if self.reach(builder, a) == Reach::Uniform => {
                let laplacian = self.of_species(builder, b)?;
                Some(builder.apply(op, &[a, laplacian]))
            }
            Op::Mul | Op::Div if self.reach(builder, b) == Reach::Uniform => {
                let laplacian = self.of_species(builder, a)?;
                Some(builder.apply(op, &[laplacian, b]))
            }
            _ => None,
        }
    }

    /// Operands stand before their users, so one pass over the new nodes is enough.
    fn reach(&mut self, builder: &Builder, id: NodeId) -> Reach {
        for index in self.reach.len()..=id.index() {
            let node = builder.node(NodeId::new(index));
            let reach = match node {
                Node::State(i) if i as usize >= 2 * self.n_species + 3 => Reach::Beyond,
                Node::State(_) => Reach::Local,
                _ => {
                    let operands = node.args().iter().map(|id| self.reach[id.index()]);
                    operands.max().unwrap_or(Reach::Uniform)
                }
            };
            self.reach.push(reach);
        }
        self.reach[id.index()]
    }
}
