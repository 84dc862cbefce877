//! Where functions of the time jump.

use super::{Graph, Node, NodeId, Op};

/// Comparisons and floors of the time: where one of them changes, outputs may jump.
#[derive(Clone, Debug)]
pub struct Switches {
    /// Their values; a comparison is 1 where it holds, else 0.
    pub values: Graph,
    /// For each whether it is one of a function linear in the time: its values at two times tell whether it changes between
    /// them.
    pub linear: Vec<bool>,
    /// For each whether it depends on parameters.
    pub of_params: Vec<bool>,
    /// The first output that depends on one.
    pub output: usize,
    /// Whether an output depends on the time between the jumps, too.
    pub moves_between: bool,
}

/// How a value without a state depends on the time. The later of two is that of a sum.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum InTime {
    Constant,
    /// Constant between jumps.
    Steps,
    Linear,
    Any,
}

/// How a node depends on what changes along a solution.
#[derive(Clone, Copy)]
struct Dependence {
    on_time: InTime,
    on_state: bool,
    on_params: bool,
    /// On a comparison or a floor of the time.
    on_switch: bool,
}

impl Graph {
    /// The comparisons and floors of functions of the time, of parameters too but of no state; `None` where there are none.
    pub fn switches(&self) -> Option<Switches> {
        let mut all: Vec<Dependence> = Vec::with_capacity(self.nodes.len());
        let (mut found, mut linear, mut of_params) = (Vec::new(), Vec::new(), Vec::new());
        for (index, node) in self.nodes.iter().enumerate() {
            let operands = node.args().iter().map(|id| all[id.index()]);
            let on_state = matches!(node, Node::State(_)) || operands.clone().any(|a| a.on_state);
            let inside = operands.clone().map(|a| a.on_time).fold(InTime::Constant, later);
            let mut dependence = Dependence {
                on_time: in_time(node, |id| all[id.index()].on_time, inside),
                on_state,
                on_params: matches!(node, Node::Param(_)) || operands.clone().any(|a| a.on_params),
                on_switch: operands.clone().any(|a| a.on_switch),
            };
            let jumps = matches!(node, Node::Op(Op::Floor | Op::Lt | Op::Le | Op::Eq, _));
            if jumps && !on_state && inside > InTime::Steps {
                found.push(NodeId::new(index));
                linear.push(inside == InTime::Linear);
                of_params.push(dependence.on_params);
                dependence.on_switch = true;
            }
            all.push(dependence);
        }
        let outputs = || self.outputs.iter().map(|id| all[id.index()]);
        let output = outputs().position(|output| output.on_switch)?;
        let moves_between = outputs().any(|output| output.on_time > InTime::Steps);
        let mut builder = super::Builder::default();
        let place = builder.load(self);
        let found: Vec<NodeId> = found.iter().map(|id| place[id.index()]).collect();
        let values = self.reassemble(&builder, &found);
        Some(Switches { values, linear, of_params, output, moves_between })
    }
}

/// That of a sum.
fn later(a: InTime, b: InTime) -> InTime {
    match (a, b) {
        (InTime::Steps, InTime::Linear) | (InTime::Linear, InTime::Steps) => InTime::Any,
        _ if a < b => b,
        _ => a,
    }
}

/// That of a node whose operands come to `inside` in a sum.
fn in_time(node: &Node, of: impl Fn(NodeId) -> InTime, inside: InTime) -> InTime {
    use InTime::{Any, Constant, Linear, Steps};
    match node {
        Node::Time => Linear,
        Node::Op(Op::Add | Op::Sub | Op::Neg | Op::Add3, _) => inside,
        Node::Op(Op::Mul, [a, b, _]) if of(*a) == Constant || of(*b) == Constant => inside,
        Node::Op(Op::Div, [_, b, _]) if of(*b) == Constant => inside,
        Node::Op(Op::Floor | Op::Lt | Op::Le | Op::Eq, _) if inside > Steps => Steps,
        _ if inside > Steps => Any,
        _ => inside,
    }
}

#[cfg(test)]
mod tests {
    use crate::text::TextSource;

    /// Values at t = 0.3, whether each is linear, and whether outputs move between.
    fn found(equation: &str) -> Option<(Vec<f64>, Vec<bool>, bool)> {
        let source = TextSource {
            states: vec!["y", "x"],
            params: vec!["d"],
            definitions: vec![("day", "floor(t)"), ("hour", "t - day")],
            equations: vec![("y", "x"), ("x", equation)],
            ..TextSource::default()
        };
        let system = source.read().expect("a correct system");
        let switches = system.graph().switches()?;
        let values = switches.values.eval(0.3, &[0.0, 0.0], &[0.25]);
        Some((values, switches.linear, switches.moves_between))
    }

    #[test]
    fn comparisons_and_floors_of_the_time_are_found() {
        let one = |value: f64, linear: bool, moves: bool| Some((vec![value], vec![linear], moves));
        for equation in ["-d*x", "sin(2*pi*t)", "max(t, 1) - abs(t - 2)", "select(x < t, 1, 2)"] {
            assert_eq!(found(equation), None, "{equation}");
        }
        assert_eq!(found("select(t < d, 1, 0) - x"), one(0.0, true, false));
        assert_eq!(found("select(2*(t - d)/3 + 1 >= d, t, 0)"), one(1.0, true, true));
        assert_eq!(found("select(sin(t) > d, 1, 0)"), one(1.0, false, false));
        assert_eq!(found("select(abs(t - 5) < 0.1, 1, 0)"), one(0.0, false, false));
        assert_eq!(found("floor(2*t) * x"), one(0.0, true, false));
        // What is made of steps jumps where they do.
        assert_eq!(found("select(floor(t) == 8, 1, 0)"), one(0.0, true, false));
        assert_eq!(found("select(x > floor(t) + 1, 1, 0) + t"), one(0.0, true, true));
    }

    #[test]
    fn definitions_lead_to_them() {
        let expected = Some((vec![0.0, 0.0], vec![true, false], false));
        assert_eq!(found("select(hour < d, 1, 0)"), expected);
    }
}
