//! CUDA C from a graph: straight-line functions.
//!
//! # What the text expects of its surroundings
//!
//! - a type `real`, `double` or `float`, and a macro `R(x)` that gives a decimal literal the
//!   suffix of that type, so that single precision contains no double arithmetic; and a macro
//!   `OD_PAST(single, x)` that gives the first in single precision, else the decimal: for numbers that
//!   single precision has not;
//! - the accessors of the [`Signature`]: by default macros `Y(i)`, `P(j)` and `DYDT(i)` with
//!   literal indices. States and parameters are read where first needed and outputs written as
//!   soon as they are known, so what is written must not overlap what is read;
//! - functions of `real` with the meaning of the methods of [`Real`](crate::Real):
//!   `od_abs od_floor od_min od_max od_fma od_recip od_sqrt od_rsqrt od_cbrt od_exp od_ln
//!   od_sin od_cos od_tan od_asin od_acos od_atan od_sinh od_cosh od_tanh od_pow`, and
//!   `od_inf()` and `od_nan()` ([`helpers`] lists all);
//! - for every elementary function a twin that is not inlined: `od_exp_call`, `od_pow_call`, …
//!   A function with more than [`INLINE_CALLS`] elementary functions calls the twins.
//!
//! Names of the form `v0`, `y0`, `p0` and `at0` belong to the function: accessors must not expand to
//! them. Everything else is `+ - * /`, comparisons, `&& || !` and `?:`. Integer powers are written as
//! the multiplications of [`Real::powi`](crate::Real::powi). Every value has a name of its own
//! and is assigned once, in an order that keeps few alive. Equal graphs give equal text.

mod banks;
mod group;
mod partition;
mod recorded;
mod rows;
mod spill;
mod straight;
mod tables;

pub use banks::spread;
pub use group::{GroupText, Grouped, MatrixPlaces};
pub use partition::partition;
pub use straight::{straight, straight_cost};
pub use tables::{Tables, with_ahead};

use crate::graph::{Class, Graph, Node, NodeId, Op};
use spill::Line;
use std::collections::HashMap;
use std::fmt::Write;

/// Elementary functions a function may contain inline.
///
/// Inlined, a hundred of them cost minutes of compilation and overflow the instruction cache;
/// called, they cost a jump each.
pub const INLINE_CALLS: usize = 50;

/// Lines after which a number from a table is read again: that costs less than a register all the while.
const READ_AGAIN: usize = 40;

/// How an emitted function looks from outside, and how it reaches its data.
///
/// In the spellings of states, parameters and outputs `{}` stands for the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What stands before the name.
    pub qualifiers: String,
    /// Type and name of each argument.
    pub arguments: Vec<(String, String)>,
    /// The time.
    pub time: String,
    /// A state, to read.
    pub state: String,
    /// A parameter, to read.
    pub param: String,
    /// An output, to assign to.
    pub output: String,
}

/// Arguments `t, y, p, dydt`, reached through the macros `Y(i)`, `P(j)` and `DYDT(i)`.
impl Default for Signature {
    fn default() -> Signature {
        let argument = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
        Signature {
            qualifiers: "__device__ __forceinline__ void".to_owned(),
            arguments: vec![
                argument("const real", "t"),
                argument("const real*", "y"),
                argument("const real*", "p"),
                argument("real*", "dydt"),
            ],
            time: "t".to_owned(),
            state: "Y({})".to_owned(),
            param: "P({})".to_owned(),
            output: "DYDT({})".to_owned(),
        }
    }
}

impl Signature {
    /// Arguments `t, y, p, dydt`, reached as plain arrays: text that needs no macros.
    pub fn arrays() -> Signature {
        Signature {
            state: "y[{}]".to_owned(),
            param: "p[{}]".to_owned(),
            output: "dydt[{}]".to_owned(),
            ..Signature::default()
        }
    }

    /// The line that opens a function.
    fn open(&self, name: &str) -> String {
        let arguments: Vec<String> =
            self.arguments.iter().map(|(kind, name)| format!("{kind} {name}")).collect();
        format!("{} {name}({}) {{\n", self.qualifiers, arguments.join(", "))
    }
}

/// The whole graph as one function.
///
/// ```
/// use odeum_core::emit::{self, Signature};
/// use odeum_core::Graph;
///
/// let graph = Graph::record(1, 1, |_t, y, p| vec![-p[0] * y[0]]);
/// let text = emit::function(&graph, "rhs", &Signature::arrays());
/// assert!(text.ends_with("    dydt[0] = v1;  // y0\n}\n"));
/// ```
pub fn function(graph: &Graph, name: &str, signature: &Signature) -> String {
    let all: Vec<usize> = (0..graph.outputs().len()).collect();
    part(graph, &all, name, signature)
}

/// Names of all functions of `real` that emitted text may call, without the `_call` twins of
/// the elementary functions; the second part tells whether there is a twin.
pub fn helpers() -> Vec<(&'static str, bool)> {
    let operations = Op::ALL.iter().filter_map(|op| {
        let (name, _) = op.info().c.strip_prefix("od_")?.split_once('(')?;
        let full = &op.info().c[..name.len() + "od_".len()];
        Some((full, op.info().class == Class::Function))
    });
    let mut helpers: Vec<_> = operations.chain([("od_inf", false), ("od_nan", false)]).collect();
    helpers.sort_unstable();
    helpers.dedup();
    helpers
}

/// Some outputs of a graph as one function.
fn part(graph: &Graph, outputs: &[usize], name: &str, signature: &Signature) -> String {
    let wanted = graph.subset(outputs).expand_powers();
    let mut printer = Printer::new(&wanted, outputs, signature);
    let mut text = signature.open(name);
    printer.outputs_at(|node| node.is_leaf());
    wanted.narrow_schedule().into_iter().for_each(|id| printer.operation(id));
    text.push_str(&printer.text);
    text.push_str("}\n");
    text
}

/// The statement, if there is one, that takes an output, by its index, from its value.
type Takes<'a> = dyn Fn(usize, &str) -> Option<String> + 'a;

struct Printer<'a> {
    graph: &'a Graph,
    signature: &'a Signature,
    text: String,
    /// What each node is called, once it has a name.
    names: Vec<Option<String>>,
    uses: Vec<u32>,
    n_values: usize,
    /// The outputs each node gives, by their index in the whole graph.
    gives: HashMap<NodeId, Vec<usize>>,
    /// Whether elementary functions are called out of line.
    out_of_line: bool,
    /// Statements that take an output from its value, where that is not an assignment to the signature's.
    takes: Option<&'a Takes<'a>>,
    /// What the text reads from tables, where it does.
    tables: Option<Numbers>,
    /// Of choices between two numbers the numbers, and of their conditions the addresses, as they were read.
    reads: HashMap<NodeId, Read>,
    n_addresses: usize,
    n_lines: usize,
}

/// What is called so was read from a table, and used last at this line.
struct Read {
    name: String,
    line: usize,
}

/// Numbers of a text that it reads from tables, by their bits.
#[derive(Default)]
struct Numbers {
    single: Vec<u64>,
    /// What a choice gives where its condition holds, and where not.
    pairs: Vec<[u64; 2]>,
}

impl Numbers {
    /// The place of an entry in a table, at its end if it is new.
    fn place<T: PartialEq>(table: &mut Vec<T>, entry: T) -> usize {
        table.iter().position(|other| *other == entry).unwrap_or_else(|| {
            table.push(entry);
            table.len() - 1
        })
    }

    /// The tables `od_numbers` and `od_pairs`, as far as there are any.
    fn text(&self) -> String {
        let table = |name: &str, bits: &[u64]| {
            let numbers: Vec<String> =
                bits.iter().map(|bits| literal(f64::from_bits(*bits))).collect();
            let (len, list) = (numbers.len(), numbers.join(", "));
            if len == 0 {
                String::new()
            } else {
                format!("__constant__ real {name}[{len}] = {{{list}}};\n")
            }
        };
        table("od_numbers", &self.single) + &table("od_pairs", self.pairs.as_flattened())
    }
}

impl<'a> Printer<'a> {
    fn new(graph: &'a Graph, outputs: &[usize], signature: &'a Signature) -> Printer<'a> {
        let mut gives: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for (&id, &output) in graph.outputs().iter().zip(outputs) {
            gives.entry(id).or_default().push(output);
        }
        Printer {
            graph,
            signature,
            text: String::new(),
            names: vec![None; graph.nodes().len()],
            uses: graph.use_counts(),
            n_values: 0,
            gives,
            out_of_line: graph.counts().functions > INLINE_CALLS,
            takes: None,
            tables: None,
            reads: HashMap::new(),
            n_addresses: 0,
            n_lines: 0,
        }
    }

    fn line(&mut self, line: &str) {
        self.n_lines += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "    {line}");
    }

    /// The line that computes a node, and those that assign the outputs it gives. A choice between two numbers is read
    /// where it is used.
    fn operation(&mut self, id: NodeId) {
        let Node::Op(op, _) = self.graph.node(id) else { return };
        if self.pair(id).is_some() {
            return self.assign(id);
        }
        let info = op.info();
        let mut expression = info.c.to_owned();
        if self.out_of_line && info.class == Class::Function {
            expression = expression.replacen('(', "_call(", 1);
        }
        for (k, &operand) in self.graph.node(id).args().iter().enumerate() {
            let name = self.name(operand);
            expression = expression.replace(&format!("{{{k}}}"), &name);
        }
        let kind = if info.class == Class::Condition { "bool" } else { "real" };
        let name = self.value(kind, &expression);
        self.names[id.index()] = Some(name);
        self.assign(id);
    }

    /// The line that does what `spill` says.
    fn spill_line(&mut self, line: Line) {
        match line {
            Line::Compute(id) => self.operation(id),
            Line::Spill(id, place) => {
                let name = self.name(id);
                self.line(&format!("od_spill({place}, {name});"));
            }
            Line::Reload(id, place) => {
                let name = self.value("real", &format!("od_reload({place})"));
                self.names[id.index()] = Some(name);
            }
        }
    }

    /// The name of a new value.
    fn value(&mut self, kind: &str, expression: &str) -> String {
        let name = format!("v{}", self.n_values);
        self.n_values += 1;
        self.line(&format!("const {kind} {name} = {expression};"));
        name
    }

    /// Assigns the outputs that come from nodes of one kind.
    fn outputs_at(&mut self, kind: impl Fn(&Node) -> bool) {
        let outputs: Vec<NodeId> = self.graph.outputs().to_vec();
        for id in outputs.into_iter().filter(|&id| kind(&self.graph.node(id))) {
            self.assign(id);
        }
    }

    /// Assigns the outputs that a node gives, once.
    fn assign(&mut self, id: NodeId) {
        for output in self.gives.remove(&id).unwrap_or_default() {
            let value = self.name(id);
            if let Some(takes) = self.takes {
                takes(output, &value).into_iter().for_each(|statement| self.line(&statement));
                continue;
            }
            let place = spell(&self.signature.output, output);
            let comment = match self.graph.state_names().get(output) {
                Some(name) => format!("  // {}", printable(name)),
                None => String::new(),
            };
            self.line(&format!("{place} = {value};{comment}"));
        }
    }

    /// A number: by its place in the table if there is one, unless an instruction holds it, of which the lower half of
    /// the bits is zero.
    fn number(&mut self, bits: u64) -> String {
        let x = f64::from_bits(bits);
        let Some(tables) = &mut self.tables else { return literal(x) };
        if !single_has(x) || bits as u32 == 0 {
            return literal(x);
        }
        format!("od_numbers[{}]", Numbers::place(&mut tables.single, bits))
    }

    /// The condition of a choice between two numbers, and these, where text reads them from a table.
    fn pair(&self, id: NodeId) -> Option<(NodeId, [u64; 2])> {
        self.tables.as_ref()?;
        let Node::Op(Op::Select, [condition, a, b]) = self.graph.node(id) else { return None };
        let number = |id: NodeId| match self.graph.node(id) {
            Node::Const(bits) if single_has(f64::from_bits(bits)) => Some(bits),
            _ => None,
        };
        Some((condition, [number(a)?, number(b)?]))
    }

    /// A choice between two numbers: an entry of the table of pairs, whose index depends on the condition.
    fn chosen(&mut self, id: NodeId) -> Option<String> {
        let (condition, pair) = self.pair(id)?;
        if let Some(name) = self.read_lately(id) {
            return Some(name);
        }
        let first = 2 * Numbers::place(&mut self.tables.as_mut()?.pairs, pair);
        let address = self.read_lately(condition).unwrap_or_else(|| {
            let holds = self.name(condition);
            let name = format!("of{}", self.n_addresses);
            self.n_addresses += 1;
            // One address for all pairs, which the compiler would else compute for each.
            let index = format!("od_opaque({holds} ? 0u : 1u)");
            self.line(&format!("const real *const {name} = od_pairs + {index};"));
            self.reads.insert(condition, Read { name: name.clone(), line: self.n_lines });
            name
        });
        let name = self.value("real", &format!("{address}[{first}]"));
        self.reads.insert(id, Read { name: name.clone(), line: self.n_lines });
        Some(name)
    }

    /// What was read of a node, unless its last use is too long ago.
    fn read_lately(&mut self, id: NodeId) -> Option<String> {
        let now = self.n_lines;
        let read = self.reads.get_mut(&id).filter(|read| now - read.line <= READ_AGAIN)?;
        read.line = now;
        Some(read.name.clone())
    }

    /// What a node is called. A state or parameter that is used more than once is read into a
    /// variable the first time.
    fn name(&mut self, id: NodeId) -> String {
        if let Some(name) = self.chosen(id) {
            return name;
        }
        if let Some(name) = &self.names[id.index()] {
            return name.clone();
        }
        let (read, variable) = match self.graph.node(id) {
            Node::Const(bits) => return self.number(bits),
            Node::Time => return self.signature.time.clone(),
            Node::State(i) => (spell(&self.signature.state, i as usize), format!("y{i}")),
            Node::Param(j) => (spell(&self.signature.param, j as usize), format!("p{j}")),
            // `expand_powers` has left no integer power, and the schedule lists every operation
            // after its operands, each of which `operation` has then named.
            Node::Powi(..) | Node::Op(..) => unreachable!("operands are emitted before users"),
        };
        if self.uses[id.index()] < 2 {
            return read;
        }
        self.line(&format!("const real {variable} = {read};"));
        self.names[id.index()] = Some(variable.clone());
        variable
    }
}

fn spell(template: &str, index: usize) -> String {
    template.replace("{}", &index.to_string())
}

/// A number that reads back to the same bits: the shortest decimal that does. One that single precision has not is zero or infinite there,
/// where compilers refuse the decimal. What is not finite is a call, which cannot stand in a table of constant memory.
pub fn literal(x: f64) -> String {
    if x.is_nan() {
        "od_nan()".to_owned()
    } else if x.is_infinite() {
        if x > 0.0 { "od_inf()".to_owned() } else { "-od_inf()".to_owned() }
    } else if single_has(x) {
        format!("R({x:?})")
    } else {
        format!("OD_PAST({}, {x:?})", literal(f64::from(x as f32)))
    }
}

/// Whether a number is finite in single precision, and zero there only if it is.
pub fn single_has(x: f64) -> bool {
    let single = x as f32;
    single.is_finite() && (single != 0.0 || x == 0.0)
}

/// A name as it may stand in a C comment: nothing that could end it or continue the line.
fn printable(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_graphic() && c != '\\' && c != '?' { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Real, Symbol};

    #[test]
    fn text_is_readable_and_stable() {
        let graph = Graph::record(2, 2, |t, y, p| {
            let wave = (p[0] * t).sin();
            let low = y[0].lt(p[1]);
            vec![y[1], Real::select(low, wave, y[0].powi(3)) - Symbol::lit(0.1) * y[1]]
        });
        let expected = "\
__device__ __forceinline__ void rhs(const real t, const real* y, const real* p, real* dydt) {
    const real y1 = Y(1);
    DYDT(0) = y1;  // y0
    const real v0 = t * P(0);
    const real v1 = od_sin(v0);
    const real y0 = Y(0);
    const bool v2 = y0 < P(1);
    const real v3 = y0 * y0;
    const real v4 = y0 * v3;
    const real v5 = v2 ? v1 : v4;
    const real v6 = y1 * R(0.1);
    const real v7 = v5 - v6;
    DYDT(1) = v7;  // y1
}
";
        assert_eq!(function(&graph, "rhs", &Signature::default()), expected);
    }

    #[test]
    fn many_elementary_functions_are_called_out_of_line() {
        let functions = |n: usize| {
            let graph =
                Graph::record(1, 0, |_, y, _| vec![(0..n).fold(y[0], |x, _| x.exp().sqrt())]);
            function(&graph, "rhs", &Signature::default())
        };
        assert!(!functions(INLINE_CALLS).contains("_call("));
        let text = functions(INLINE_CALLS + 1);
        assert!(text.contains("od_exp_call(") && !text.contains("od_exp("));
        assert!(text.contains("od_sqrt("));
    }

    #[test]
    fn literals_read_back_exactly() {
        for x in [0.1, 1.0 / 3.0, 6.02214076e23, 1e-45, -0.0, f64::from(f32::MAX)] {
            let text = literal(x);
            let digits = text.trim_start_matches("R(").trim_end_matches(')');
            assert_eq!(digits.parse::<f64>().map(f64::to_bits), Ok(x.to_bits()));
            assert!(digits.contains(['.', 'e']), "{digits} would be an integer");
        }
        assert_eq!(literal(f64::NEG_INFINITY), "-od_inf()");
        assert_eq!(literal(-5e-324), "OD_PAST(R(-0.0), -5e-324)");
        assert_eq!(literal(-1e39), "OD_PAST(-od_inf(), -1e39)");
    }

    #[test]
    fn names_cannot_leave_their_comment() {
        assert_eq!(printable("CH4 + O2\\\n*/??/"), "CH4_+_O2__*/__/");
    }

    #[test]
    fn helpers_are_listed_once() {
        let helpers = helpers();
        assert!(helpers.contains(&("od_fma", false)) && helpers.contains(&("od_pow", true)));
        assert_eq!(helpers.len(), 23);
    }
}
