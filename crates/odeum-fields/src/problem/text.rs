//! Equations in space as text: coordinates and Laplacians.

use crate::problem::grid::AXES;
use odeum_core::Graph;
use odeum_core::graph::{Builder, Node, NodeId, Op};
use odeum_core::text::{Diagnostic, Refusal, TextErrors, TextSource, Variable, Vocabulary};

/// Right-hand sides and potentials of a source whose states are species, in the normal form of
/// [`Model`](crate::Model), and what looks like a slip.
pub(crate) fn read(source: &TextSource<'_>) -> Result<(Graph, Graph, Vec<Diagnostic>), TextErrors> {
    let mut space = Space::new(source.states.len());
    let text = source.read_with(&mut space)?;
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (mut names, params) = (owned(&source.states), owned(&source.params));
    names.extend(source.states.iter().map(|name| format!("lap({name})")));
    names.extend(AXES.map(str::to_owned));
    let potentials = text.graph(&space.potentials, names.clone(), params.clone());
    names.extend((0..space.potentials.len()).map(|k| format!("lap(potential {k})")));
    let rhs = text.graph(text.equations(), names, params);
    Ok((rhs, potentials, text.warnings().to_vec()))
}

/// Why no species or parameter can have this name, which is empty, or means something in expressions. One that is no word means
/// nothing there.
pub(crate) fn meaning(name: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphabetic() || c == '_';
    if name.is_empty() {
        return Some("a name has at least one letter".to_owned());
    }
    if !name.starts_with(is_word) || !name.chars().all(|c| is_word(c) || c.is_ascii_digit()) {
        return None;
    }
    let own =
        TextSource { states: vec![name], equations: vec![(name, "0")], ..TextSource::default() };
    let errors = read(&own).err()?;
    errors.0.into_iter().next().map(|error| error.message)
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
struct Space {
    n_species: usize,
    /// In the order of their Laplacians.
    potentials: Vec<NodeId>,
    /// Of the nodes of the builder, as far as it was asked.
    reach: Vec<Reach>,
}

impl Space {
    fn new(n_species: usize) -> Space {
        Space { n_species, potentials: Vec::new(), reach: Vec::new() }
    }

    /// The node of the Laplacian of a node.
    fn laplacian(&mut self, builder: &mut Builder, id: NodeId) -> Result<NodeId, Refusal> {
        let refused = |message: &str, help: &str| {
            Err(Refusal { message: message.to_owned(), help: help.to_owned() })
        };
        match self.reach(builder, id) {
            Reach::Uniform => {
                let help = "its Laplacian is zero: leave it out";
                return refused("this is the same everywhere", help);
            }
            Reach::Beyond => {
                let help = "at most two Laplacians can be nested";
                return refused("this contains the Laplacian of a potential", help);
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
    /// theirs, each with the boundaries of its species. `None` of anything else.
    fn of_species(&mut self, builder: &mut Builder, id: NodeId) -> Option<NodeId> {
        let (op, [a, b, _]) = match builder.nodes()[id.index()] {
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
            let node = builder.nodes()[index];
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

impl Vocabulary for Space {
    fn variables(&self) -> Vec<Variable> {
        let variable =
            |(axis, name)| Variable { name, state: 2 * self.n_species + axis, kind: "coordinate" };
        AXES.into_iter().enumerate().map(variable).collect()
    }

    fn functions(&self) -> Vec<&'static str> {
        vec!["lap"]
    }

    fn call(
        &mut self,
        _: usize,
        builder: &mut Builder,
        argument: NodeId,
    ) -> Result<NodeId, Refusal> {
        self.laplacian(builder, argument)
    }
}

#[cfg(test)]
mod tests {
    use odeum_core::text::TextSource;

    /// Equations of fields: what Laplacians become, and what cannot be one.
    #[test]
    fn laplacians_become_inputs() {
        let read = |equation: &'static str| {
            let source = TextSource {
                states: vec!["u", "v"],
                params: vec!["D"],
                equations: vec![("u", equation), ("v", "lap(v)")],
                ..TextSource::default()
            };
            super::read(&source)
        };
        // u, v, lap u, lap v, x, y, z, laps of potentials.
        let at = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0];
        for (equation, value) in [
            ("D*lap(u) + u", 502.0),
            ("lap(D*u)", 500.0),
            ("lap(-v)", -7.0),
            ("lap(v/D)", 0.07),
            ("lap(2*u*D - (v - 0.2)/4 + D)", 998.25),
            ("lap(1 - u)", -5.0),
            ("x + 2*y - z", 20.0),
            ("lap(u*v) + lap(v*u)", 38.0),
            ("lap(u*u) - lap(lap(u))", -4.0),
            ("select(x > 10, lap(x*u), 0)", 19.0),
        ] {
            let (rhs, ..) = read(equation).unwrap();
            assert_eq!(rhs.eval(0.0, &at, &[100.0])[0], value, "{equation}");
        }
        let (_, potentials, _) = read("lap(2*u*D - (v - 0.2)/4 + D) + lap(1 - u)").unwrap();
        assert!(potentials.outputs().is_empty(), "boundaries of u and v are not those of a sum");
        let (_, potentials, _) = read("lap(u*u) - lap(lap(u))").unwrap();
        assert_eq!(potentials.eval(0.0, &at, &[100.0]), [4.0, 5.0]);
        for (equation, column, message) in [
            ("lap(lap(u*u))", 5, "Laplacian of a potential"),
            ("u + lap(D)", 9, "same everywhere"),
            ("lap(u, v)", 1, "takes 1 argument"),
            ("lap + u", 1, "is a function"),
            ("u*w", 3, "nothing is called"),
        ] {
            let errors = read(equation).map(|_| ()).unwrap_err();
            assert_eq!(errors.0[0].column, column, "{equation}");
            assert!(errors.0[0].message.contains(message), "{equation}: {errors}");
        }
        let source =
            TextSource { states: vec!["x"], equations: vec![("x", "0")], ..TextSource::default() };
        let errors = super::read(&source).map(|_| ()).unwrap_err();
        assert!(errors.to_string().contains("coordinate"), "{errors}");
    }
}
