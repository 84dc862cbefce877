//! Graph to graph: the forms that tapes and C text start from.

use super::{Builder, Graph, Node, NodeId, Op};

impl Graph {
    /// The same functions with integer powers written out and operations fused, as tapes and
    /// device code compute them. What is computed for an output no longer depends on which other
    /// outputs stand beside it: subsets of a fused graph give the same bits.
    pub fn fused(&self) -> Graph {
        self.expand_powers().fuse()
    }

    /// The same functions with numbers in the place of the parameters \[m\], and what then is
    /// constant computed: a graph without parameters.
    ///
    /// # Panics
    ///
    /// When there are fewer numbers than parameters.
    pub fn with_params(&self, params: &[f64]) -> Graph {
        let bound = self.rewrite(|builder, place, node| match node.map(|id| place[id.index()]) {
            Node::Param(j) => builder.constant(params[j as usize]),
            Node::Powi(base, exponent) => builder.powi(base, exponent),
            Node::Op(op, args) => builder.apply(op, &args[..op.info().arity]),
            leaf => builder.intern(leaf),
        });
        Graph { param_names: Vec::new(), ..bound }
    }

    /// The same functions where no value is infinite or NaN: 0 x is 0, x + 0 is x, x − x is 0 and ln eˣ is x. Zeros
    /// may change their sign, and what is no number no longer shows where it only meets zeros.
    ///
    /// For graphs that are recorded from tables, in which zeros stand where nothing happens. Dependences that
    /// are none disappear, and with them entries of the Jacobian.
    ///
    /// ```
    /// use odeum_core::{Graph, Real, Symbol};
    ///
    /// let graph = Graph::record(2, 0, |_t, y, _p| {
    ///     let weights = [0.0, 3.0].map(Symbol::lit);
    ///     vec![weights[0].mul_add(y[0], weights[1] * y[1])]
    /// });
    /// let plain = Graph::record(2, 0, |_t, y, _p| vec![Symbol::lit(3.0) * y[1]]);
    /// assert_eq!(graph.of_finite().nodes(), plain.nodes());
    /// ```
    pub fn of_finite(&self) -> Graph {
        let graph = self.rewrite_into(Builder::lean(), |builder, place, node| {
            match node.map(|id| place[id.index()]) {
                Node::Powi(base, exponent) => builder.powi(base, exponent),
                Node::Op(op, args) => apply_to_finite(builder, op, &args[..op.info().arity]),
                leaf => builder.intern(leaf),
            }
        });
        Graph { is_finite: true, ..graph }
    }

    /// The same functions where state i is given in other units, as one in `unit(i)` of it. A product of such a state and a
    /// number stays one product, of which the number is another.
    ///
    /// ```
    /// use odeum_core::{Graph, Real, Symbol};
    ///
    /// let graph = |c: f64| Graph::record(2, 0, |_t, y, _p| vec![y[0] * (Symbol::lit(c) * y[1])]);
    /// assert_eq!(graph(3.0).with_units(|i| if i == 1 { 0.5 } else { 1.0 }), graph(1.5));
    /// ```
    pub fn with_units(&self, unit: impl Fn(usize) -> f64) -> Graph {
        let unit = |builder: &Builder, id: NodeId| match builder.node(id) {
            Node::State(i) => Some(unit(i as usize)).filter(|unit| *unit != 1.0),
            _ => None,
        };
        // The number and the state of a product of both.
        let product = |builder: &Builder, id: NodeId| match builder.node(id) {
            Node::Op(Op::Mul, [a, b, _]) => [(a, b), (b, a)].into_iter().find_map(|(c, state)| {
                unit(builder, state)?;
                Some((builder.value(c)?, state))
            }),
            _ => None,
        };
        self.rewrite(|builder, place, node| match node.map(|id| place[id.index()]) {
            Node::Op(op, mut args) => {
                if let Op::Mul | Op::MulAdd | Op::MulSub | Op::NegMulAdd = op {
                    for (c, other) in [(args[0], args[1]), (args[1], args[0])] {
                        if let Some(c) = builder.value(c)
                            && let Some((factor, state)) = product(builder, other)
                        {
                            (args[0], args[1]) = (builder.constant(c * factor), state);
                            break;
                        }
                    }
                }
                builder.apply(op, &args[..op.info().arity])
            }
            Node::Powi(base, exponent) => builder.powi(base, exponent),
            leaf => {
                let id = builder.intern(leaf);
                match unit(builder, id) {
                    Some(unit) => {
                        let unit = builder.constant(unit);
                        builder.apply(Op::Mul, &[unit, id])
                    }
                    None => id,
                }
            }
        })
    }

    /// Integer powers written out as the multiplications of [`Real::powi`](crate::Real::powi),
    /// in the same order; powers of one base share their squares.
    pub(crate) fn expand_powers(&self) -> Graph {
        self.rewrite(|builder, place, node| match node.map(|id| place[id.index()]) {
            Node::Powi(base, exponent) => expand_power(builder, base, exponent),
            other => builder.intern(other),
        })
    }

    /// Operations fused with an operand that nothing else uses: a product with the sum or
    /// difference it goes into, then what is left of products of three and sums of three.
    ///
    /// Only the first changes rounding, and only over scalars whose `mul_add` rounds once.
    pub(crate) fn fuse(&self) -> Graph {
        let uses = self.use_counts();
        let n = self.nodes.len();
        let mut fused: Vec<Option<(Op, [NodeId; 3])>> = vec![None; n];
        let mut gone = vec![false; n];
        let single = |id: NodeId, wanted: Op| match self.node(id) {
            Node::Op(op, [a, b, _]) if op == wanted && uses[id.index()] == 1 => Some((a, b)),
            _ => None,
        };
        for (index, node) in self.nodes.iter().enumerate() {
            let &Node::Op(op @ (Op::Add | Op::Sub), [a, b, _]) = node else { continue };
            let (first, second) =
                if op == Op::Add { (Op::MulAdd, Op::MulAdd) } else { (Op::MulSub, Op::NegMulAdd) };
            if let Some((x, y)) = single(b, Op::Mul) {
                fused[index] = Some((second, [x, y, a]));
                gone[b.index()] = true;
            } else if let Some((x, y)) = single(a, Op::Mul) {
                fused[index] = Some((first, [x, y, b]));
                gone[a.index()] = true;
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let &Node::Op(op, [a, b, _]) = node else { continue };
            let of_three = match op {
                Op::Mul => Op::Mul3,
                Op::Add => Op::Add3,
                _ => continue,
            };
            if gone[index] || fused[index].is_some() {
                continue;
            }
            let plain = |id: NodeId| {
                single(id, op).filter(|_| fused[id.index()].is_none() && !gone[id.index()])
            };
            let (inner, (x, y), other) = match (plain(a), plain(b)) {
                (Some(pair), _) => (a, pair, b),
                (None, Some(pair)) => (b, pair, a),
                (None, None) => continue,
            };
            fused[index] = Some((of_three, [x, y, other]));
            gone[inner.index()] = true;
        }
        let mut index = 0;
        self.rewrite(|builder, place, node| {
            let node = fused[index].map_or(node, |(op, args)| Node::Op(op, args));
            index += 1;
            let node = node.map(|id| place[id.index()]);
            let node = sign_into_constant(builder, node);
            builder.intern(node)
        })
    }

    /// How many operations and outputs read each node.
    pub(crate) fn use_counts(&self) -> Vec<u32> {
        let mut uses = vec![0; self.nodes.len()];
        let operands = self.nodes.iter().flat_map(|node| node.args());
        operands.chain(&self.outputs).for_each(|id| uses[id.index()] += 1);
        uses
    }

    /// Rebuilds the graph node by node; `make` gets the places of the nodes so far and the next
    /// node with its old operands.
    fn rewrite(&self, make: impl FnMut(&mut Builder, &[NodeId], Node) -> NodeId) -> Graph {
        self.rewrite_into(Builder::default(), make)
    }

    fn rewrite_into(
        &self,
        mut builder: Builder,
        mut make: impl FnMut(&mut Builder, &[NodeId], Node) -> NodeId,
    ) -> Graph {
        let mut place: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            let id = make(&mut builder, &place, node);
            place.push(id);
        }
        self.intermediates.iter().for_each(|id| builder.mark_intermediate(place[id.index()]));
        let outputs: Vec<NodeId> = self.outputs.iter().map(|id| place[id.index()]).collect();
        self.reassemble(&builder, &outputs)
    }
}

/// [`Builder::apply`] where no operand is infinite or NaN.
fn apply_to_finite(builder: &mut Builder, op: Op, args: &[NodeId]) -> NodeId {
    let zero = |k: usize| builder.value(args[k]) == Some(0.0);
    match op {
        Op::Add | Op::Sub if zero(1) => args[0],
        Op::Add if zero(0) => args[1],
        Op::Sub if zero(0) => builder.apply(Op::Neg, &args[1..]),
        Op::Sub if args[0] == args[1] => builder.constant(0.0),
        Op::Mul if zero(0) || zero(1) => builder.constant(0.0),
        Op::MulAdd if zero(0) || zero(1) => args[2],
        Op::MulAdd if zero(2) => builder.apply(Op::Mul, &args[..2]),
        Op::Ln => ln_of_finite(builder, args[0]),
        Op::Neg | Op::Div if zero(0) => builder.constant(0.0),
        _ => builder.apply(op, args),
    }
}

/// ln x, which is y of x = eʸ, and y + ln c of x = c eʸ.
fn ln_of_finite(builder: &mut Builder, x: NodeId) -> NodeId {
    match builder.node(x) {
        Node::Op(Op::Exp, [y, ..]) => y,
        Node::Op(Op::Mul, [a, b, _]) => {
            let factor = |c: NodeId, other: NodeId| match builder.node(other) {
                Node::Op(Op::Exp, [y, ..]) => {
                    builder.value(c).filter(|c| *c > 0.0).map(|c| (c.ln(), y))
                }
                _ => None,
            };
            match factor(a, b).or_else(|| factor(b, a)) {
                Some((ln_c, y)) => {
                    let ln_c = builder.constant(ln_c);
                    builder.apply(Op::Add, &[y, ln_c])
                }
                None => builder.apply(Op::Ln, &[x]),
            }
        }
        _ => builder.apply(Op::Ln, &[x]),
    }
}

/// a − c x as a + (−c) x, which has the same bits: what is added and what is subtracted then are
/// one operation ([`Graph::isomorphic`]).
fn sign_into_constant(builder: &mut Builder, node: Node) -> Node {
    let Node::Op(Op::NegMulAdd, [x, y, a]) = node else { return node };
    match (builder.value(x), builder.value(y)) {
        (Some(c), _) => Node::Op(Op::MulAdd, [builder.constant(-c), y, a]),
        (_, Some(c)) => Node::Op(Op::MulAdd, [x, builder.constant(-c), a]),
        _ => node,
    }
}

/// The order of [`Real::powi`](crate::Real::powi), recorded.
fn expand_power(builder: &mut Builder, base: NodeId, exponent: i32) -> NodeId {
    let mut left = exponent.unsigned_abs();
    let mut square = base;
    let mut product = None;
    while left > 0 {
        if left & 1 == 1 {
            product = Some(match product {
                Some(p) => builder.apply(Op::Mul, &[p, square]),
                None => square,
            });
        }
        left >>= 1;
        if left > 0 {
            square = builder.apply(Op::Mul, &[square, square]);
        }
    }
    let power = product.unwrap_or_else(|| builder.constant(1.0));
    if exponent < 0 { builder.apply(Op::Recip, &[power]) } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Real, Symbol};

    #[test]
    fn powers_keep_their_bits_and_fraction_squares() {
        let graph = Graph::record(1, 0, |_, y, _| {
            vec![y[0].powi(12), y[0].powi(4), y[0].powi(-7), y[0].powi(2)]
        });
        let expanded = graph.expand_powers();
        let y = [1.1_f64];
        assert_eq!(graph.eval(0.0, &y, &[]), expanded.eval(0.0, &y, &[]));
        assert!(!expanded.nodes().iter().any(|node| matches!(node, Node::Powi(..))));
        // y², y⁴, y⁸, y¹², y³, y⁷ and the reciprocal.
        assert_eq!(expanded.nodes().len(), 1 + 7);
    }

    #[test]
    fn numbers_for_parameters_fold() {
        let graph = Graph::record(1, 2, |_, y, p| vec![p[0] * p[1] * y[0], p[0].exp()]);
        let bound = graph.with_params(&[2.0, 3.0]);
        assert_eq!((bound.n_params(), bound.nodes().len()), (0, 4));
        assert_eq!(bound.eval(0.0, &[5.0], &[]), graph.eval(0.0, &[5.0], &[2.0, 3.0]));
    }

    #[test]
    fn a_state_in_other_units_has_the_same_meaning() {
        let graph = Graph::record(3, 0, |_t, y, _p| {
            let c = Symbol::lit(4.0);
            vec![y[1] * c - y[0], y[1].mul_add(c, y[2]), y[1] * y[1], -(c * y[1]), y[2]]
        });
        let scaled = graph.with_units(|i| if i == 1 { 0.5 } else { 1.0 });
        assert_eq!(graph.eval(0.0, &[3.0, 1.5, 5.0], &[]), scaled.eval(0.0, &[3.0, 3.0, 5.0], &[]));
        // Only what is no product with a number costs one more.
        assert_eq!(scaled.counts().flops, graph.counts().flops + 1);
    }

    #[test]
    fn of_finite_values_zeros_do_nothing() {
        let lit = Symbol::lit;
        let cases: [fn(Symbol) -> Symbol; 9] = [
            |x| x + Symbol::lit(0.0),
            |x| Symbol::lit(0.0) + x,
            |x| -(Symbol::lit(0.0) - x),
            |x| x + (x * x - x * x),
            |x| Symbol::lit(0.0) * x.ln() + x,
            |x| x.exp().mul_add(Symbol::lit(0.0), x),
            |x| x.mul_add(Symbol::lit(1.0), Symbol::lit(0.0)),
            |x| Symbol::lit(0.0) / x + x,
            |x| x.exp().ln(),
        ];
        let plain = Graph::record(1, 0, |_, y, _| vec![y[0]]);
        for (number, case) in cases.iter().enumerate() {
            let graph = Graph::record(1, 0, |_, y, _| vec![case(y[0])]);
            assert_ne!(graph, plain, "{number}");
            assert_eq!(graph.of_finite().nodes(), plain.nodes(), "{number}");
        }
        let nothing = Graph::record(1, 0, |_, y, _| vec![-(lit(0.0) * y[0])]).of_finite();
        assert_eq!(nothing.nodes(), Graph::record(1, 0, |_, _, _| vec![lit(0.0)]).nodes());
        let scaled = Graph::record(1, 0, |_, y, _| vec![(lit(2.0) * y[0].exp()).ln()]).of_finite();
        let sum = Graph::record(1, 0, |_, y, _| vec![y[0] + lit(2.0_f64.ln())]);
        assert_eq!(scaled.nodes(), sum.nodes());
        // There is no logarithm of a negative number.
        let negative = Graph::record(1, 0, |_, y, _| vec![(lit(-2.0) * y[0].exp()).ln()]);
        assert_eq!(negative.of_finite().nodes(), negative.nodes());
    }

    #[test]
    fn only_operands_used_once_fuse() {
        let graph = Graph::record(3, 0, |_, y, _| {
            let shared = y[0] * y[1];
            vec![
                shared + y[2],
                shared - y[2],
                y[2] - y[1] * y[2],
                y[0] * y[2] - y[1],
                y[0].exp() * y[1] * y[2],
                y[0].sin() + y[1] + y[2] + y[0].cos() + y[1].cos(),
            ]
        });
        let fused = graph.fuse();
        let count = |op| {
            fused.nodes().iter().filter(|n| matches!(n, Node::Op(found, _) if *found == op)).count()
        };
        assert_eq!((count(Op::Mul), count(Op::NegMulAdd), count(Op::MulSub)), (1, 1, 1));
        assert_eq!((count(Op::Mul3), count(Op::Add3), count(Op::Add)), (1, 2, 1));
        let y = [1.5, -2.25, 0.75];
        assert_eq!(graph.eval(0.0, &y, &[]), fused.eval(0.0, &y, &[]));
    }
}
