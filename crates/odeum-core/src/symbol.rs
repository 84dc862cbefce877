//! The recording scalar: computing with it writes a graph.

use crate::graph::{Builder, Node, NodeId, Op};
use crate::real::{Mask, Real};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

thread_local! {
    static RECORDINGS: RefCell<Recordings> =
        const { RefCell::new(Recordings { begun: 0, under_way: Vec::new() }) };
}

/// The recordings of a thread.
struct Recordings {
    /// How many have begun, which is the number of the last.
    begun: u64,
    /// Those under way, each with its number, innermost last.
    under_way: Vec<(u64, Builder)>,
}

/// A number that stands for a node of the graph being recorded.
///
/// Symbols exist inside [`Graph::record`](crate::Graph::record) and
/// [`Graph::trace`](crate::Graph::trace), on the thread that records.
///
/// # Panics
///
/// Making a symbol where nothing is recorded, as by [`Real::lit`], and computing with one, or returning it, in another
/// recording than its own: a later one, one within its own, or none.
#[derive(Clone, Copy, Debug)]
pub struct Symbol(Recorded);

/// A truth value that stands for a node of the graph being recorded.
///
/// # Panics
///
/// As [`Symbol`].
#[derive(Clone, Copy, Debug)]
pub struct SymbolMask(Recorded);

/// A node of a recording.
#[derive(Clone, Copy, Debug)]
struct Recorded {
    node: NodeId,
    /// The number of its recording: other recordings have other nodes in its place.
    recording: u64,
    /// Keeps it on the thread that records.
    thread: PhantomData<*const ()>,
}

impl Recorded {
    /// The node that `make` makes of others in the innermost recording.
    fn of<const N: usize>(
        operands: [Recorded; N],
        make: impl FnOnce(&mut Builder, [NodeId; N]) -> NodeId,
    ) -> Recorded {
        RECORDINGS.with_borrow_mut(|recordings| {
            // Arithmetic has no errors to return, and any value would be a wrong result.
            let Some((recording, builder)) = recordings.under_way.last_mut() else {
                panic!(
                    "a Symbol where nothing is recorded: Symbols exist only inside the closure that is recorded; \
                     make constants there too"
                )
            };
            if operands.iter().any(|operand| operand.recording != *recording) {
                panic!(
                    "a Symbol of another recording: Symbols exist only inside the closure that is recorded; \
                     compute its value again in this one, or make it a state or parameter of this one"
                )
            }
            let node = make(builder, operands.map(|operand| operand.node));
            Recorded { node, recording: *recording, thread: PhantomData }
        })
    }
}

/// Ends the innermost recording also when the recorded function panics.
struct Recording;

impl Recording {
    fn start(builder: Builder) -> Recording {
        RECORDINGS.with_borrow_mut(|recordings| {
            recordings.begun += 1;
            recordings.under_way.push((recordings.begun, builder));
        });
        Recording
    }

    fn pop() -> Option<Builder> {
        RECORDINGS
            .with_borrow_mut(|recordings| recordings.under_way.pop())
            .map(|(_, builder)| builder)
    }

    fn finish(self) -> Builder {
        std::mem::forget(self);
        Recording::pop().unwrap_or_default()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        Recording::pop();
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
    let leaf = |node| Symbol(Recorded::of([], |builder, []| builder.intern(node)));
    let time = leaf(Node::Time);
    let states = (0..n).map(|i| leaf(Node::State(i as u32))).collect();
    let params = (0..m).map(|j| leaf(Node::Param(j as u32))).collect();
    (time, states, params)
}

impl Symbol {
    /// A node of the innermost recording.
    pub(crate) fn new(id: NodeId) -> Symbol {
        Symbol(Recorded::of([], |_, []| id))
    }

    /// Where it is in the innermost recording, which must be its own.
    pub(crate) fn id(self) -> NodeId {
        Recorded::of([self.0], |_, [node]| node).node
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
        Symbol(Recorded::of([self.0], |builder, [node]| {
            builder.mark_intermediate(node);
            node
        }))
    }

    fn apply<const N: usize>(op: Op, operands: [Recorded; N]) -> Symbol {
        Symbol(Recorded::of(operands, |builder, nodes| builder.apply(op, &nodes)))
    }

    fn unary(self, op: Op) -> Symbol {
        Symbol::apply(op, [self.0])
    }

    fn binary(self, op: Op, other: Symbol) -> Symbol {
        Symbol::apply(op, [self.0, other.0])
    }

    fn compare(self, op: Op, other: Symbol) -> SymbolMask {
        SymbolMask::apply(op, [self.0, other.0])
    }
}

impl SymbolMask {
    /// The truth value that a symbol of a node with one stands for.
    pub(crate) fn of(symbol: Symbol) -> SymbolMask {
        SymbolMask(symbol.0)
    }

    fn apply<const N: usize>(op: Op, operands: [Recorded; N]) -> SymbolMask {
        SymbolMask(Recorded::of(operands, |builder, nodes| builder.apply(op, &nodes)))
    }
}

impl Mask for SymbolMask {}

impl BitAnd for SymbolMask {
    type Output = SymbolMask;
    fn bitand(self, other: SymbolMask) -> SymbolMask {
        SymbolMask::apply(Op::And, [self.0, other.0])
    }
}

impl BitOr for SymbolMask {
    type Output = SymbolMask;
    fn bitor(self, other: SymbolMask) -> SymbolMask {
        SymbolMask::apply(Op::Or, [self.0, other.0])
    }
}

impl Not for SymbolMask {
    type Output = SymbolMask;
    fn not(self) -> SymbolMask {
        SymbolMask::apply(Op::Not, [self.0])
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
        Symbol(Recorded::of([], |builder, []| builder.constant(x)))
    }

    record! {
        recip Recip; rsqrt Rsqrt; sqrt Sqrt; cbrt Cbrt; abs Abs; floor Floor; exp Exp; ln Ln;
        sin Sin; cos Cos; tan Tan; asin Asin; acos Acos; atan Atan;
        sinh Sinh; cosh Cosh; tanh Tanh;
    }

    fn mul_add(self, a: Symbol, b: Symbol) -> Symbol {
        Symbol::apply(Op::MulAdd, [self.0, a.0, b.0])
    }

    fn powf(self, exponent: Symbol) -> Symbol {
        self.binary(Op::Powf, exponent)
    }

    fn powi(self, exponent: i32) -> Symbol {
        Symbol(Recorded::of([self.0], |builder, [node]| builder.powi(node, exponent)))
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
        Symbol::apply(Op::Select, [mask.0, a.0, b.0])
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

    /// What a function that panics says.
    fn panics(f: impl FnOnce()) -> String {
        let said = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_err();
        let owned = said.downcast_ref::<String>().cloned();
        owned.or_else(|| said.downcast_ref::<&str>().map(|&said| said.to_owned())).unwrap()
    }

    #[test]
    fn symbols_of_other_recordings_are_refused() {
        let kept = std::cell::Cell::new(None);
        let first = Graph::record(2, 0, |_, y, _| {
            kept.set(Some((y[0] * y[1], y[0].lt(y[1]))));
            y.to_vec()
        });
        let (symbol, mask) = kept.get().unwrap();
        // Each gives another formula where symbols are but places.
        let uses: [fn(Symbol, SymbolMask, Symbol) -> Symbol; 9] = [
            |old, _, y| y.exp() + old,
            |old, _, y| old.mul_add(y, y),
            |old, _, _| old.sin(),
            |old, _, _| old.powi(3),
            |old, _, _| old.intermediate(),
            |old, _, _| old,
            |old, _, y| Symbol::select(y.lt(old), y, -y),
            |_, old, y| Symbol::select(old, y, -y),
            |_, old, y| Symbol::select(!old | y.lt(-y), y, -y),
        ];
        for of in uses {
            let said = panics(|| {
                Graph::record(2, 0, |_, y, _| vec![y[0].exp(), of(symbol, mask, y[1].sin())]);
            });
            assert!(said.contains("of another recording") && said.contains("compute"), "{said}");
        }
        // A recording within another has nodes of its own.
        let said = panics(|| {
            Graph::record(2, 0, |_, y, _| {
                Graph::record(1, 0, |_, z, _| vec![z[0] * y[1]]);
                vec![y[0]]
            });
        });
        assert!(said.contains("of another recording"), "{said}");
        // What another recording made of its own is to be had by its graph.
        let outer = Graph::record(2, 0, |t, y, _| vec![first.eval(t, y, &[])[1], y[0].exp()]);
        assert_eq!(outer.eval(0.0, &[0.0, 3.0], &[]), [3.0, 1.0]);
    }

    #[test]
    fn symbols_where_nothing_is_recorded_are_refused() {
        let kept = std::cell::Cell::new(None);
        Graph::record(1, 0, |_, y, _| {
            kept.set(Some(y[0]));
            y.to_vec()
        });
        let old = kept.get().unwrap();
        let made = || {
            let _ = Symbol::lit(0.2);
        };
        let used = || {
            let _ = old + old;
        };
        for said in [panics(made), panics(used)] {
            assert!(said.contains("make constants there too"), "{said}");
        }
    }
}
