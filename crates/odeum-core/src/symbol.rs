//! The recording scalar: computing with it writes a graph.

use crate::graph::{Builder, Node, NodeId, Op};
use crate::real::{Mask, Real};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

thread_local! {
    /// The recordings under way on this thread, innermost last.
    static RECORDINGS: RefCell<Vec<Builder>> = const { RefCell::new(Vec::new()) };
}

/// A number that stands for a node of the graph being recorded.
///
/// Symbols exist inside [`Graph::record`](crate::Graph::record) and
/// [`Graph::trace`](crate::Graph::trace), on the thread that records.
///
/// # Panics
///
/// Computing with a symbol after its recording has ended panics: it names nothing any more.
#[derive(Clone, Copy, Debug)]
pub struct Symbol(NodeId, ThreadBound);

/// A truth value that stands for a node of the graph being recorded.
#[derive(Clone, Copy, Debug)]
pub struct SymbolMask(NodeId, ThreadBound);

/// Keeps symbols on the thread whose recording they belong to.
type ThreadBound = PhantomData<*const ()>;

/// Ends the innermost recording also when the recorded function panics.
struct Recording;

impl Recording {
    fn start(builder: Builder) -> Recording {
        RECORDINGS.with_borrow_mut(|stack| stack.push(builder));
        Recording
    }

    fn finish(self) -> Builder {
        std::mem::forget(self);
        RECORDINGS.with_borrow_mut(Vec::pop).unwrap_or_default()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        RECORDINGS.with_borrow_mut(Vec::pop);
    }
}

/// Runs `f` while computing with symbols adds to `builder`; its result and the builder.
pub(crate) fn recording<T>(builder: Builder, f: impl FnOnce() -> T) -> (T, Builder) {
    let recording = Recording::start(builder);
    let result = f();
    (result, recording.finish())
}

/// Symbols for the time, the states and the parameters.
pub(crate) fn inputs(n: usize, m: usize) -> (Symbol, Vec<Symbol>, Vec<Symbol>) {
    let leaf = |node| Symbol::new(with_builder(|builder| builder.intern(node)));
    let time = leaf(Node::Time);
    let states = (0..n).map(|i| leaf(Node::State(i as u32))).collect();
    let params = (0..m).map(|j| leaf(Node::Param(j as u32))).collect();
    (time, states, params)
}

fn with_builder<T>(f: impl FnOnce(&mut Builder) -> T) -> T {
    RECORDINGS.with_borrow_mut(|stack| match stack.last_mut() {
        Some(builder) => f(builder),
        // Symbols are made by recordings alone and stay on their thread, so this is one that the
        // recorded function let escape. Arithmetic has no errors to return, and any value here
        // would be a wrong result.
        None => panic!("a Symbol outlived the recording it belongs to"),
    })
}

impl Symbol {
    pub(crate) fn new(id: NodeId) -> Symbol {
        Symbol(id, PhantomData)
    }

    pub(crate) fn id(self) -> NodeId {
        self.0
    }

    /// The same value, through which differentiation goes: the Jacobian takes derivatives of the outputs by it as
    /// by a variable, and applies the chain rule to it once in each output. That is less work where a value
    /// depends on many states, and much is computed of it.
    ///
    /// Its derivatives must be finite wherever it is used: one that a choice excludes would be multiplied by
    /// zero, and not left out.
    ///
    /// ```
    /// use odeum_core::{Graph, Real, Symbol};
    ///
    /// let graph = |mark: fn(Symbol) -> Symbol| {
    ///     Graph::record(4, 0, |_t, y, _p| {
    ///         let sum = mark(y[0] * y[1] + y[2] * y[3]);
    ///         let low = (sum * sum + sum).exp();
    ///         vec![low.sin(); 4]
    ///     })
    /// };
    /// let (plain, through) = (graph(|sum| sum), graph(Symbol::intermediate));
    /// let flops = |graph: Graph| graph.jacobian().0.counts().flops;
    /// assert!(flops(through) < flops(plain));
    /// ```
    pub fn intermediate(self) -> Symbol {
        with_builder(|builder| builder.mark_intermediate(self.0));
        self
    }

    fn apply(op: Op, args: &[NodeId]) -> Symbol {
        Symbol::new(with_builder(|builder| builder.apply(op, args)))
    }

    fn unary(self, op: Op) -> Symbol {
        Symbol::apply(op, &[self.0])
    }

    fn binary(self, op: Op, other: Symbol) -> Symbol {
        Symbol::apply(op, &[self.0, other.0])
    }

    fn compare(self, op: Op, other: Symbol) -> SymbolMask {
        SymbolMask::apply(op, &[self.0, other.0])
    }
}

impl SymbolMask {
    pub(crate) fn new(id: NodeId) -> SymbolMask {
        SymbolMask(id, PhantomData)
    }

    fn apply(op: Op, args: &[NodeId]) -> SymbolMask {
        SymbolMask::new(with_builder(|builder| builder.apply(op, args)))
    }
}

impl Mask for SymbolMask {}

impl BitAnd for SymbolMask {
    type Output = SymbolMask;
    fn bitand(self, other: SymbolMask) -> SymbolMask {
        SymbolMask::apply(Op::And, &[self.0, other.0])
    }
}

impl BitOr for SymbolMask {
    type Output = SymbolMask;
    fn bitor(self, other: SymbolMask) -> SymbolMask {
        SymbolMask::apply(Op::Or, &[self.0, other.0])
    }
}

impl Not for SymbolMask {
    type Output = SymbolMask;
    fn not(self) -> SymbolMask {
        SymbolMask::apply(Op::Not, &[self.0])
    }
}

impl Add for Symbol {
    type Output = Symbol;
    fn add(self, other: Symbol) -> Symbol {
        self.binary(Op::Add, other)
    }
}

impl Sub for Symbol {
    type Output = Symbol;
    fn sub(self, other: Symbol) -> Symbol {
        self.binary(Op::Sub, other)
    }
}

impl Mul for Symbol {
    type Output = Symbol;
    fn mul(self, other: Symbol) -> Symbol {
        self.binary(Op::Mul, other)
    }
}

impl Div for Symbol {
    type Output = Symbol;
    fn div(self, other: Symbol) -> Symbol {
        self.binary(Op::Div, other)
    }
}

impl Neg for Symbol {
    type Output = Symbol;
    fn neg(self) -> Symbol {
        self.unary(Op::Neg)
    }
}

/// Forwards methods of [`Real`] to the operation of the table with the same meaning.
macro_rules! record {
    ($($method:ident $op:ident;)*) => {
        $(fn $method(self) -> Symbol {
            self.unary(Op::$op)
        })*
    };
}

impl Real for Symbol {
    type Mask = SymbolMask;

    fn lit(x: f64) -> Symbol {
        Symbol::new(with_builder(|builder| builder.constant(x)))
    }

    record! {
        recip Recip; rsqrt Rsqrt; sqrt Sqrt; cbrt Cbrt; abs Abs; floor Floor; exp Exp; ln Ln;
        sin Sin; cos Cos; tan Tan; asin Asin; acos Acos; atan Atan;
        sinh Sinh; cosh Cosh; tanh Tanh;
    }

    fn mul_add(self, a: Symbol, b: Symbol) -> Symbol {
        Symbol::apply(Op::MulAdd, &[self.0, a.0, b.0])
    }

    fn powf(self, exponent: Symbol) -> Symbol {
        self.binary(Op::Powf, exponent)
    }

    fn powi(self, exponent: i32) -> Symbol {
        Symbol::new(with_builder(|builder| builder.powi(self.0, exponent)))
    }

    fn lt(self, other: Symbol) -> SymbolMask {
        self.compare(Op::Lt, other)
    }

    fn le(self, other: Symbol) -> SymbolMask {
        self.compare(Op::Le, other)
    }

    fn eq(self, other: Symbol) -> SymbolMask {
        self.compare(Op::Eq, other)
    }

    fn select(mask: SymbolMask, a: Symbol, b: Symbol) -> Symbol {
        Symbol::apply(Op::Select, &[mask.0, a.0, b.0])
    }

    fn min(self, other: Symbol) -> Symbol {
        self.binary(Op::Min, other)
    }

    fn max(self, other: Symbol) -> Symbol {
        self.binary(Op::Max, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;

    #[test]
    fn recordings_nest_and_survive_a_panic() {
        let outer = Graph::record(1, 0, |_, y, _| {
            let inner = Graph::record(1, 0, |_, z, _| vec![z[0].exp()]);
            assert_eq!(inner.counts().functions, 1);
            let failed = std::panic::catch_unwind(|| {
                Graph::record(1, 0, |_, _, _| panic!("the recorded function fails"))
            });
            assert!(failed.is_err());
            vec![y[0] + y[0]]
        });
        assert_eq!(outer.counts().flops, 1);
        assert_eq!(outer.counts().functions, 0);
    }
}
