//! Exact derivatives of a graph, and which of them can differ from zero.

use crate::graph::{Builder, Graph, Node, NodeId, Op, Rule};
use crate::pattern::Pattern;
use crate::real::Real;
use crate::symbol::{self, Symbol, SymbolMask};

/// The nonzero derivatives of one node: (variable, derivative), variables ascending, and after them those by
/// intermediate values in the order of their nodes.
type Gradient = Vec<(usize, Symbol)>;

/// What the derivatives of a node may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slope {
    /// Finite, within reason.
    Finite,
    /// Infinite where the value is beyond all numbers, or near that: eᵃ, 1/a.
    Large,
    /// Infinite where the value is an ordinary number: √a at a = 0.
    Infinite,
}

impl Graph {
    /// The Jacobian ∂f/∂y: a graph of its structural nonzeros, and where they stand.
    ///
    /// Output k of the graph is entry number k of the pattern (`outputs` rows × n columns). An
    /// entry is left out only when it is zero for every state. Where f has a kink the derivative
    /// is that of the branch that f takes; a step function has derivative zero.
    ///
    /// ```
    /// use odeum_core::Graph;
    ///
    /// let graph = Graph::record(2, 1, |_t, y, p| vec![y[1], p[0] * y[0] * y[1]]);
    /// let (entries, pattern) = graph.jacobian();
    /// assert_eq!(pattern.to_string(), ".x\nxx\n");
    /// assert_eq!(entries.eval(0.0, &[2.0, 3.0], &[10.0]), [1.0, 30.0, 20.0]);
    /// ```
    pub fn jacobian(&self) -> (Graph, Pattern) {
        self.derivatives(self.n_states(), |node| match node {
            Node::State(i) => Some(i as usize),
            _ => None,
        })
    }

    /// Of a system, whose outputs are the slopes of its states: whether the slope of a state is the constant 0.
    pub fn never_changes(&self, state: usize) -> bool {
        self.outputs().get(state).is_some_and(|id| self.node(*id).constant() == Some(0.0))
    }

    /// Of a system: the [`jacobian`](Graph::jacobian) without the columns of states that
    /// [never change](Graph::never_changes). No step moves these, and where they stay f may have no finite derivative, as
    /// √c has none at c = 0.
    pub fn jacobian_of_changing(&self) -> (Graph, Pattern) {
        self.derivatives(self.n_states(), |node| match node {
            Node::State(i) if !self.never_changes(i as usize) => Some(i as usize),
            _ => None,
        })
    }

    /// f, and behind it the entries of its [`jacobian_of_changing`](Graph::jacobian_of_changing); what they share is there
    /// once.
    pub fn linearised(&self) -> Graph {
        let (entries, _) = self.jacobian_of_changing();
        let mut builder = Builder::default();
        let outputs = [self, &entries].map(|graph| {
            let place = builder.load(graph);
            graph.outputs().iter().map(|id| place[id.index()]).collect::<Vec<_>>()
        });
        self.reassemble(&builder, &outputs.concat())
    }

    /// The derivatives ∂f/∂p by the parameters, as [`jacobian`](Graph::jacobian).
    pub fn param_jacobian(&self) -> (Graph, Pattern) {
        self.derivatives(self.n_params(), |node| match node {
            Node::Param(j) => Some(j as usize),
            _ => None,
        })
    }

    /// The derivatives ∂f/∂t, one for every output.
    pub fn time_derivative(&self) -> Graph {
        let (gradients, mut builder) = self.gradients(1, |node| (node == Node::Time).then_some(0));
        let zero = builder.constant(0.0);
        let outputs: Vec<NodeId> =
            gradients.iter().map(|gradient| gradient.first().map_or(zero, |&(_, id)| id)).collect();
        self.reassemble(&builder, &outputs)
    }

    /// The derivatives by `n` leaves, numbered by `variable`.
    fn derivatives(&self, n: usize, variable: impl Fn(Node) -> Option<usize>) -> (Graph, Pattern) {
        let (gradients, builder) = self.gradients(n, variable);
        let nonzero = |id: NodeId| builder.value(id) != Some(0.0);
        let entries: Vec<Vec<(usize, NodeId)>> = gradients
            .into_iter()
            .map(|gradient| gradient.into_iter().filter(|&(_, id)| nonzero(id)).collect())
            .collect();
        let rows: Vec<Vec<usize>> =
            entries.iter().map(|row| row.iter().map(|&(variable, _)| variable).collect()).collect();
        let outputs: Vec<NodeId> = entries.iter().flatten().map(|&(_, id)| id).collect();
        (self.reassemble(&builder, &outputs), Pattern::from_rows(n, &rows))
    }

    /// Sparse forward differentiation by `n` variables: the gradient of every output, and the builder that
    /// holds the function and its derivatives.
    ///
    /// An intermediate value counts as a variable from where it stands, and is replaced in the gradients of the
    /// outputs by those that it depends on.
    ///
    /// Gradients of intermediate nodes are dropped after their last use, so that a long sum
    /// needs the memory of one gradient and not of one per term.
    fn gradients(
        &self,
        n: usize,
        variable: impl Fn(Node) -> Option<usize>,
    ) -> (Vec<Vec<(usize, NodeId)>>, Builder) {
        let mut builder = Builder::lean();
        let place = builder.load(self);
        symbol::recording(builder, || {
            let at = |id: NodeId| Symbol::new(place[id.index()]);
            let mut uses = self.use_counts();
            let mut gradients: Vec<Gradient> = vec![Gradient::new(); self.nodes().len()];
            let mut slopes: Vec<Slope> = Vec::with_capacity(self.nodes().len());
            let mut of_intermediates: Vec<(Gradient, Slope)> = Vec::new();
            for (index, &node) in self.nodes().iter().enumerate() {
                let value = at(NodeId::new(index));
                let through = |id: &NodeId| match gradients[id.index()][..] {
                    [] => Slope::Finite,
                    _ => slopes[id.index()],
                };
                let of_operands: Vec<Slope> = node.args().iter().map(through).collect();
                let own = node.args().last().map_or(Slope::Finite, |id| {
                    let constant = self.node(*id).constant();
                    own_slope(node, constant, gradients[id.index()].is_empty())
                });
                let slope = match self.is_finite() {
                    true => Slope::Finite,
                    false => of_operands.iter().copied().fold(own, Slope::max),
                };
                gradients[index] = match node {
                    Node::Powi(base, exponent) => {
                        // The exponent below the smallest one does not exist.
                        let power = match exponent.checked_sub(1) {
                            Some(lower) => at(base).powi(lower),
                            None => value / at(base),
                        };
                        let partial = Symbol::lit(f64::from(exponent)) * power;
                        // As 1/a, or as what is level nowhere.
                        let op = if exponent < 0 { Op::Recip } else { Op::Add };
                        scaled(&gradients[base.index()], partial, ZeroIf::of(op, of_operands[0]))
                    }
                    Node::Op(op, _) => {
                        let of = |k: usize| &gradients[node.args()[k].index()];
                        let operands: Vec<Symbol> = node.args().iter().map(|&id| at(id)).collect();
                        let all: Vec<&Gradient> = (0..operands.len()).map(of).collect();
                        if all.iter().all(|gradient| gradient.is_empty()) {
                            Gradient::new()
                        } else if op == Op::Select {
                            // The table knows the condition as a number; here it is a mask.
                            choose(SymbolMask::of(operands[0]), of(1), of(2))
                        } else {
                            match op.rule(&operands, value) {
                                Rule::Partials(partials) => {
                                    let zeros = of_operands.iter().map(|&s| ZeroIf::of(op, s));
                                    combine(&all, &partials, zeros)
                                }
                                Rule::Choice(mask) => choose(mask, of(0), of(1)),
                                Rule::Constant => Gradient::new(),
                            }
                        }
                    }
                    leaf => variable(leaf).map(|k| (k, Symbol::lit(1.0))).into_iter().collect(),
                };
                // One derivative is as well carried on as replaced later.
                let is_intermediate = gradients[index].len() > 1
                    && self.intermediates().binary_search(&NodeId::new(index)).is_ok();
                if is_intermediate {
                    let own = vec![(n + of_intermediates.len(), Symbol::lit(1.0))];
                    of_intermediates.push((std::mem::replace(&mut gradients[index], own), slope));
                    slopes.push(Slope::Finite);
                } else {
                    slopes.push(slope);
                }
                for id in node.args() {
                    uses[id.index()] -= 1;
                    if uses[id.index()] == 0 {
                        gradients[id.index()] = Gradient::new();
                    }
                }
            }
            let outputs = self.outputs().iter().map(|id| gradients[id.index()].clone());
            let resolved = outputs.map(|gradient| resolve(gradient, n, &of_intermediates));
            let ids = |gradient: Gradient| gradient.into_iter().map(|(k, d)| (k, d.id())).collect();
            resolved.map(ids).collect()
        })
    }
}

/// A gradient by the `n` variables alone: those by intermediate values replaced, the last of them first.
fn resolve(mut gradient: Gradient, n: usize, of_intermediates: &[(Gradient, Slope)]) -> Gradient {
    while let Some((k, factor)) = gradient.pop_if(|(k, _)| *k >= n) {
        let (of_intermediate, slope) = &of_intermediates[k - n];
        let term = scaled(of_intermediate, factor, ZeroIf::of_any(*slope));
        gradient = sum_of(&gradient, &term);
    }
    gradient
}

/// What a node adds to the slopes of its operands. Of the last operand, `constant` is its value if it has one, and `is_fixed`
/// whether it has no derivatives.
fn own_slope(node: Node, constant: Option<f64>, is_fixed: bool) -> Slope {
    use Op::*;
    match node {
        Node::Op(Powf, _) if constant.is_some_and(|exponent| exponent >= 1.0) => Slope::Large,
        Node::Op(Sqrt | Cbrt | Asin | Acos | Powf, _) => Slope::Infinite,
        Node::Op(Exp | Ln | Sinh | Cosh | Recip | Rsqrt, _) => Slope::Large,
        Node::Op(Div, _) if !is_fixed => Slope::Large,
        Node::Powi(_, exponent) if exponent < 0 => Slope::Large,
        _ => Slope::Finite,
    }
}

/// Which factor of partial derivative × derivative of an operand makes the product zero if it is zero, whatever the other.
#[derive(Clone, Copy, Debug)]
struct ZeroIf {
    /// √max(y, 0) does not depend on y below zero, where the root has the slope ∞.
    derivative: bool,
    /// 1/(1 + eʸ) is level where eʸ is beyond all numbers; x √y is zero for all y where x is.
    partial: bool,
}

impl ZeroIf {
    /// Of an operation on operands whose derivatives may be so large.
    fn of(op: Op, slope: Slope) -> ZeroIf {
        use Op::*;
        let partial = match op {
            Exp | Recip | Rsqrt | Div | Atan | Tanh | Powf => slope >= Slope::Large,
            Mul | Mul3 | MulAdd | MulSub | NegMulAdd => slope == Slope::Infinite,
            _ => false,
        };
        ZeroIf { derivative: matches!(op, Sqrt | Cbrt | Asin | Acos | Powf), partial }
    }

    /// Of a factor that summarises operations.
    fn of_any(slope: Slope) -> ZeroIf {
        ZeroIf { derivative: false, partial: slope >= Slope::Large }
    }

    fn product(self, partial: Symbol, derivative: Symbol) -> Symbol {
        let zero = Symbol::lit(0.0);
        let none = match (self.derivative, self.partial) {
            (false, false) => return partial * derivative,
            (true, false) => derivative.eq(zero),
            (false, true) => partial.eq(zero),
            (true, true) => derivative.eq(zero) | partial.eq(zero),
        };
        Symbol::select(none, zero, partial * derivative)
    }
}

/// Σ partial × gradient.
fn combine(
    gradients: &[&Gradient],
    partials: &[Symbol],
    zeros: impl Iterator<Item = ZeroIf>,
) -> Gradient {
    let terms = gradients.iter().zip(partials).zip(zeros);
    terms.fold(Gradient::new(), |sum, ((gradient, &partial), zero_if)| {
        sum_of(&sum, &scaled(gradient, partial, zero_if))
    })
}

fn scaled(gradient: &Gradient, factor: Symbol, zero_if: ZeroIf) -> Gradient {
    gradient.iter().map(|&(k, d)| (k, zero_if.product(factor, d))).collect()
}

fn sum_of(a: &Gradient, b: &Gradient) -> Gradient {
    merge(a, b, |a, b| match (a, b) {
        (Some(a), Some(b)) => a + b,
        (Some(a), None) | (None, Some(a)) => a,
        (None, None) => Symbol::lit(0.0),
    })
}

/// The gradient of the branch taken.
fn choose(mask: SymbolMask, a: &Gradient, b: &Gradient) -> Gradient {
    let or_zero = |d: Option<Symbol>| d.unwrap_or_else(|| Symbol::lit(0.0));
    merge(a, b, |a, b| Symbol::select(mask, or_zero(a), or_zero(b)))
}

/// Both gradients variable by variable.
fn merge(
    a: &Gradient,
    b: &Gradient,
    both: impl Fn(Option<Symbol>, Option<Symbol>) -> Symbol,
) -> Gradient {
    let mut merged = Gradient::with_capacity(a.len().max(b.len()));
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let k = match (left.peek(), right.peek()) {
            (Some((i, _)), Some((j, _))) => *i.min(j),
            (Some((k, _)), None) | (None, Some((k, _))) => *k,
            (None, None) => return merged,
        };
        let take = |&&(j, _): &&(usize, Symbol)| j == k;
        let (x, y) = (left.next_if(take), right.next_if(take));
        merged.push((k, both(x.map(|&(_, d)| d), y.map(|&(_, d)| d))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every entry against central differences, and everything outside the pattern against zero.
    fn check(graph: &Graph, t: f64, y: &[f64], p: &[f64]) {
        let (entries, pattern) = graph.jacobian();
        let values = entries.eval(t, y, p);
        for col in 0..y.len() {
            let h = 1e-6 * y[col].abs().max(1.0);
            let at = |shift: f64| {
                let mut moved = y.to_vec();
                moved[col] += shift;
                graph.eval(t, &moved, p)
            };
            let (above, below) = (at(h), at(-h));
            for row in 0..pattern.rows() {
                let difference = (above[row] - below[row]) / (2.0 * h);
                let value = pattern.find(row, col).map_or(0.0, |k| values[k]);
                let scale = 1e-7 * value.abs().max(1.0);
                assert!((value - difference).abs() < scale, "({row}, {col}): {value} {difference}");
            }
        }
    }

    #[test]
    fn elementary_functions_differentiate() {
        let functions: [fn(Symbol) -> Symbol; 23] = [
            |x| -x,
            |x| x.recip(),
            |x| x.rsqrt(),
            |x| x.sqrt(),
            |x| x.cbrt(),
            |x| x.abs(),
            |x| x.floor(),
            |x| x.exp(),
            |x| x.ln(),
            |x| x.sin(),
            |x| x.cos(),
            |x| x.tan(),
            |x| x.asin(),
            |x| x.acos(),
            |x| x.atan(),
            |x| x.sinh(),
            |x| x.cosh(),
            |x| x.tanh(),
            |x| x.powi(5),
            |x| x.powi(-3),
            |x| x.powf(Symbol::lit(2.5)),
            |x| Symbol::lit(2.5).powf(x),
            |x| x.powf(x),
        ];
        for f in functions {
            let graph = Graph::record(2, 0, |_, y, _| vec![f(y[0] * y[1]), f(y[1])]);
            check(&graph, 0.0, &[0.7, 0.6], &[]);
        }
    }

    #[test]
    fn choices_take_the_derivative_of_their_branch() {
        let graph = Graph::record(3, 0, |_, y, _| {
            let two = Symbol::lit(2.0);
            vec![
                Symbol::select(y[0].lt(y[1]), y[0] * y[2], y[1].exp()),
                y[0].min(two * y[1]),
                y[0].max(two * y[1]),
                y[2].abs(),
            ]
        });
        check(&graph, 0.0, &[0.3, 0.9, -0.4], &[]);
        check(&graph, 0.0, &[2.3, 0.9, 0.4], &[]);
    }

    #[test]
    fn the_branch_not_taken_lets_no_nan_through() {
        let graph = Graph::record(1, 0, |_, y, _| {
            vec![Symbol::select(y[0].le(Symbol::lit(0.0)), y[0], y[0] * y[0].ln())]
        });
        assert_eq!(graph.jacobian().0.eval(0.0, &[-1.0], &[]), [1.0]);
    }

    #[test]
    fn what_does_not_change_has_no_slope_under_a_root() {
        let graph = Graph::record(2, 1, |_, y, p| {
            let [zero, one] = [0.0, 1.0].map(Symbol::lit);
            let (above, clipped) = (p[0] * y[0].max(zero), y[0].max(-one).min(one));
            vec![
                above.sqrt(),
                above.cbrt(),
                above.powf(Symbol::lit(0.5)),
                clipped.asin(),
                clipped.acos(),
                (y[0] * y[0] + y[1] * y[1]).sqrt(),
            ]
        });
        let entries = graph.jacobian().0;
        let at = |y: [f64; 2]| entries.eval(0.0, &y, &[2.0]);
        assert_eq!(at([-2.0, 0.0]), [0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0]);
        assert_eq!(at([0.0; 2])[5..], [0.0; 2]);
        // A root that begins at zero is as steep as it is.
        let root = Graph::record(1, 0, |_, y, _| vec![y[0].sqrt()]);
        assert_eq!(root.jacobian().0.eval(0.0, &[0.0], &[]), [f64::INFINITY]);
        for y in [[0.3, 0.4], [0.5, -0.7]] {
            check(&graph, 0.0, &y, &[2.0]);
        }
    }

    /// Partial derivatives that are zero there are of what lies beyond all numbers, or has the slope ∞.
    #[test]
    fn what_saturates_is_level() {
        let lit = Symbol::lit;
        let graph = Graph::record(2, 0, |t, y, _| {
            let gate = |x: Symbol| (lit(1.0) + (lit(-1000.0) * (x - lit(1.5))).exp()).recip();
            let large = Symbol::intermediate((lit(800.0) * (y[1] - y[0] - lit(1.0))).cosh());
            vec![
                gate(y[0]),
                gate(t),
                lit(2.0) / (lit(1.0) + (lit(800.0) * (lit(1.0) - y[1])).exp()),
                (-y[0].recip()).exp(),
                (lit(300.0) * (lit(1.0) - y[0])).exp().sinh().atan(),
                large.recip(),
                large.powi(-2),
                y[1] * y[0].sqrt(),
                y[1].mul_add(y[0].powf(lit(0.5)), y[0]),
            ]
        });
        let at = |y: [f64; 2]| graph.jacobian().0.eval(0.0, &y, &[]);
        assert_eq!(at([0.0; 2]), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(graph.time_derivative().eval(0.0, &[0.0; 2], &[]), [0.0; 9]);
        // Where all is finite nothing is judged.
        assert!(graph.of_finite().jacobian().0.nodes().len() < graph.jacobian().0.nodes().len());
        // A power of which the root is no part has no such slope.
        let plain = Graph::record(2, 0, |_, y, _| vec![y[1] * y[0].powf(lit(1.5))]);
        assert!(!plain.jacobian().0.nodes().iter().any(|n| matches!(n, Node::Op(Op::Select, _))));
    }

    #[test]
    fn of_equal_numbers_the_smaller_and_the_larger_are_both() {
        let graph = Graph::record(2, 0, |_, y, _| vec![y[0].min(y[1]) + y[0].max(y[1])]);
        assert_eq!(graph.jacobian().0.eval(0.0, &[2.0, 2.0], &[]), [1.0, 1.0]);
    }

    #[test]
    fn powers_at_zero_are_finite() {
        let graph = Graph::record(1, 1, |_, y, p| {
            vec![y[0].powf(Symbol::lit(2.5)), y[0].powf(p[0]), y[0].powi(2), y[0].powi(3)]
        });
        let (entries, _) = graph.jacobian();
        assert_eq!(entries.eval(0.0, &[0.0], &[1.5]), [0.0; 4]);
    }

    #[test]
    fn robertson_by_hand() {
        // Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.1.
        let graph = Graph::record(3, 3, |_, y, k| {
            let (a, b, c) = (k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] * y[1]);
            vec![b - a, a - b - c, c]
        });
        let (y, k) = ([0.8, 2e-5, 0.2], [0.04, 1e4, 3e7]);
        let (entries, pattern) = graph.jacobian();
        assert_eq!(pattern.to_string(), "xxx\nxxx\n.x.\n");
        let expected = [
            [-k[0], k[1] * y[2], k[1] * y[1]],
            [k[0], -k[1] * y[2] - 2.0 * k[2] * y[1], -k[1] * y[1]],
            [0.0, 2.0 * k[2] * y[1], 0.0],
        ];
        for ((row, col), value) in pattern.iter().zip(entries.eval(0.0, &y, &k)) {
            assert!((value - expected[row][col]).abs() <= 1e-15 * value.abs());
        }
        check(&graph, 0.0, &[0.8, 0.3, 0.2], &[0.04, 1.0, 3.0]);
    }

    #[test]
    fn intermediate_values_leave_derivatives_as_they_are() {
        let graph = |mark: fn(Symbol) -> Symbol| {
            Graph::record(4, 1, |t, y, p| {
                let sum = mark(y[0] * y[1] + y[2] * t);
                let of_sum = mark(sum.exp() * y[3]);
                let low = Symbol::select(of_sum.lt(p[0]), of_sum, sum * y[0]);
                vec![low * sum, of_sum.ln() + low, y[1], p[0] * sum]
            })
        };
        let (plain, through) = (graph(|x| x), graph(Symbol::intermediate));
        // What is rewritten keeps its marks: derivatives are not taken the plain way.
        let rewritten = through.of_finite().subset(&[0, 1, 2, 3]);
        assert_eq!(rewritten.intermediates().len(), 2);
        assert!(through.jacobian().0.counts().flops < plain.jacobian().0.counts().flops);
        let y = [0.3, 0.7, 0.4, 1.1];
        for p in [0.5, 5.0] {
            check(&through, 0.6, &y, &[p]);
            let (entries, pattern) = plain.jacobian();
            for other in [&through, &rewritten] {
                let (found, same) = other.jacobian();
                assert_eq!(same, pattern);
                let values = found.eval(0.6, &y, &[p]);
                for (a, b) in entries.eval(0.6, &y, &[p]).iter().zip(values) {
                    assert!((a - b).abs() <= 1e-14 * b.abs());
                }
            }
            let rates = [&plain, &through].map(|g| g.time_derivative().eval(0.6, &y, &[p]));
            for (a, b) in rates[0].iter().zip(&rates[1]) {
                assert!((a - b).abs() <= 1e-14 * b.abs());
            }
        }
    }

    #[test]
    fn a_system_and_its_derivatives_share_what_they_can() {
        let graph = Graph::record(1, 1, |_, y, p| vec![p[0] * y[0].exp()]);
        let both = graph.linearised();
        assert_eq!(both.outputs()[0], both.outputs()[1]);
        assert_eq!(both.eval(0.0, &[0.0], &[3.0]), [3.0, 3.0]);
    }

    #[test]
    fn nothing_is_derived_by_states_that_never_change() {
        let graph = Graph::record(2, 0, |_, y, _| vec![y[1].sqrt() - y[0], Symbol::lit(0.0)]);
        assert_eq!([0, 1].map(|i| graph.never_changes(i)), [false, true]);
        assert_eq!(graph.jacobian().1.to_string(), "xx\n..\n");
        let (entries, pattern) = graph.jacobian_of_changing();
        assert_eq!(pattern.to_string(), "x.\n..\n");
        assert_eq!(entries.eval(0.0, &[1.0, 0.0], &[]), [-1.0]);
        assert_eq!(graph.linearised().eval(0.0, &[1.0, 0.0], &[]), [-1.0, 0.0, -1.0]);
    }

    #[test]
    fn time_and_parameters_differentiate_too() {
        let graph = Graph::record(1, 2, |t, y, p| vec![p[1] * (p[1] * t).sin() * y[0], y[0]]);
        let (t, y, p) = (0.3, [2.0], [7.0, 1.7]);
        let rates = graph.time_derivative().eval(t, &y, &p);
        assert_eq!(rates[1], 0.0);
        assert!((rates[0] - p[1] * p[1] * (p[1] * t).cos() * y[0]).abs() < 1e-14);
        let (entries, pattern) = graph.param_jacobian();
        assert_eq!(pattern.to_string(), ".x\n..\n");
        let expected = ((p[1] * t).sin() + p[1] * t * (p[1] * t).cos()) * y[0];
        assert!((entries.eval(t, &y, &p)[0] - expected).abs() < 1e-14);
    }

    #[test]
    fn integer_powers_at_the_ends_of_their_range() {
        let graph = Graph::record(1, 0, |_, y, _| vec![y[0].powi(i32::MIN), y[0].powi(i32::MAX)]);
        let slopes = graph.jacobian().0.eval(0.0, &[1.0], &[]);
        assert_eq!(slopes, [f64::from(i32::MIN), f64::from(i32::MAX)]);
    }
}
