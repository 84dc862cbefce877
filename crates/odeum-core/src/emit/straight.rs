//! Recorded systems as what one thread evaluates by itself.

use super::group::MatrixPlaces;
use super::spill::spilled;
use super::{Numbers, Printer, Signature, function};
use crate::graph::{Graph, Node};

/// A small system by one thread, in straight-line code: the functions of [`Grouped`](super::Grouped) for an `OD_WIDTH` of 1.
///
/// ```text
/// void od_group_rhs(const OdGroup &g, real t, const real *y, const OdParams &p, real *f);
/// void od_group_linearise(const OdGroup &g, real t, const real *y, const OdParams &p, real *f, od_entry *matrix);
/// void od_group_time_derivative(const OdGroup &g, real t, const real *y, const OdParams &p, real *dfdt);
/// ```
///
/// the last where f depends on the time. Every index is a number, so that arrays of the thread become registers;
/// parameters are `p[j]`. `places` are those of the pattern that [`Graph::jacobian_of_changing`] gives. Numbers stand
/// in tables, from which instructions take them: in the code they would be most of it. Operations stand in an order that keeps few values alive at once, and a choice between two numbers, which is
/// a read from a table, is read again where its last use is far. The text grows as the graph does ([`straight_cost`]).
///
/// f with its Jacobian keeps more values alive than a thread has registers: as many as `spills` of them lie in memory of
/// the thread meanwhile, to and from which `od_spill(place, value)` and `od_reload(place)` go.
///
/// Beside what [`function`] expects of its surroundings there must be `OD_FN`, `od_entry`, `od_opaque`, `OdGroup` and
/// `OdParams`.
pub fn straight(graph: &Graph, places: &MatrixPlaces, spills: usize) -> String {
    let all = graph.linearised().fused();
    let mut text = evaluate(&all, graph.outputs().len(), places, spills);
    if graph.uses_time() {
        let time = graph.time_derivative().fused();
        text += &function(&time, "od_group_time_derivative", &signature("dfdt"));
    }
    text
}

/// Operations of the text, each as many times an addition as [`Class::cost`](crate::graph::Class::cost) says: those of
/// f, and those of f with its Jacobian.
pub fn straight_cost(graph: &Graph) -> u64 {
    let cost = |node: &Node| match node {
        Node::Op(op, _) => op.info().class.cost(),
        _ => 0,
    };
    let graphs = [graph.fused(), graph.linearised().fused()];
    graphs.iter().flat_map(|graph| graph.nodes()).map(cost).sum()
}

/// Functions that methods call have this form; `output`: where results go.
fn signature(output: &str) -> Signature {
    let argument = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
    Signature {
        qualifiers: "OD_FN void".to_owned(),
        arguments: vec![
            argument("const OdGroup &", "g"),
            argument("real", "t"),
            argument("const real *", "y"),
            argument("const OdParams &", "p"),
            argument("real *", output),
        ],
        output: format!("{output}[{{}}]"),
        ..Signature::arrays()
    }
}

/// The functions of f, which are the first n outputs, and of f and the entries of its Jacobian.
fn evaluate(all: &Graph, n: usize, places: &MatrixPlaces, spills: usize) -> String {
    let takes = |output: usize, value: &str| match output.checked_sub(n).map(|e| places.entries[e])
    {
        None => Some(format!("f[{output}] = {value};")),
        Some(place) => Some(format!("matrix[{place}] = od_entry(-{value});")),
    };
    let signature = signature("f");
    let mut tables = Numbers::default();
    let mut body = |end: usize, spills: usize| {
        let outputs: Vec<usize> = (0..end).collect();
        let wanted = all.subset(&outputs);
        let mut printer = Printer::new(&wanted, &outputs, &signature);
        printer.takes = Some(&takes);
        printer.tables = Some(std::mem::take(&mut tables));
        printer.outputs_at(|node| node.is_leaf());
        let is_free = |id| printer.pair(id).is_some();
        let order = wanted.narrow_schedule_except(is_free);
        let lines = spilled(&wanted, &order, is_free, spills);
        lines.into_iter().for_each(|line| printer.spill_line(line));
        tables = printer.tables.unwrap_or_default();
        printer.text
    };
    let head = "const OdGroup &g, real t, const real *y, const OdParams &p, real *f";
    let text = format!(
        "OD_FN void od_group_rhs({head}) {{\n{}}}\n\
         OD_FN void od_group_linearise({head}, od_entry *matrix) {{\n{}}}\n",
        body(n, 0),
        body(all.outputs().len(), spills)
    );
    tables.text() + &text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Real, Symbol};

    #[test]
    fn text_is_readable_and_stable() {
        let graph = Graph::record(1, 1, |_, y, p| {
            let [low, high] = [0.1, 2.0].map(Symbol::lit);
            vec![Symbol::select(y[0].lt(p[0]), low, high) * y[0] * y[0]]
        });
        let places = MatrixPlaces { entries: vec![1], unused: 2, zero: 2, len: 2 };
        let expected = "\
__constant__ real od_pairs[2] = {R(0.1), R(2.0)};
OD_FN void od_group_rhs(const OdGroup &g, real t, const real *y, const OdParams &p, real *f) {
    const real y0 = y[0];
    const bool v0 = y0 < p[0];
    const real *const of0 = od_pairs + od_opaque(v0 ? 0u : 1u);
    const real v1 = of0[0];
    const real v2 = y0 * v1;
    const real v3 = y0 * v2;
    f[0] = v3;
}
OD_FN void od_group_linearise(const OdGroup &g, real t, const real *y, const OdParams &p, real *f, od_entry *matrix) {
    const real y0 = y[0];
    const bool v0 = y0 < p[0];
    const real *const of0 = od_pairs + od_opaque(v0 ? 0u : 1u);
    const real v1 = of0[0];
    const real v2 = y0 * v1;
    const real v3 = y0 * v2;
    f[0] = v3;
    const real v4 = v2 + v2;
    matrix[1] = od_entry(-v4);
}
";
        assert_eq!(straight(&graph, &places, 0), expected);
    }

    #[test]
    fn choices_between_numbers_are_read_again_after_a_while() {
        // A long chain between two uses of the same choice.
        let graph = Graph::record(1, 1, |_, y, p| {
            let chosen = Symbol::select(y[0].lt(p[0]), Symbol::lit(0.1), Symbol::lit(2.0));
            let chain = |n: usize| (0..n).fold(chosen * y[0], |x, _| x * y[0] + p[0]);
            vec![chain(5) * chosen, chain(50) * chosen]
        });
        let places = MatrixPlaces { entries: vec![0, 1], unused: 2, zero: 2, len: 2 };
        let text = straight(&graph, &places, 0);
        let rhs = text.split("od_group_linearise").next().unwrap_or_default();
        let count = |what: &str| rhs.matches(what).count();
        assert_eq!((count("od_opaque("), count("= of0[0]"), count("= of1[0]")), (2, 1, 1), "{rhs}");
    }

    #[test]
    fn what_f_and_its_jacobian_share_costs_once() {
        // An exponential and a product, which are the entry of the Jacobian, too.
        let graph = Graph::record(1, 1, |_, y, p| vec![p[0] * y[0].exp()]);
        assert_eq!(straight_cost(&graph), 2 * 21);
    }
}
