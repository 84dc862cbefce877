//! Recorded systems as what one thread evaluates by itself.

use super::group::MatrixPlaces;
use super::{Signature, function};
use crate::graph::{Graph, Node};
use std::fmt::Write;

/// A small system by one thread, in straight code: the functions of [`Grouped`](super::Grouped) for an `OD_WIDTH` of 1.
///
/// ```text
/// void od_group_rhs(const OdGroup &g, real t, const real *y, const OdParams &p, real *f);
/// void od_group_linearise(const OdGroup &g, real t, const real *y, const OdParams &p, real *f,
///                         od_entry *matrix);
/// void od_group_time_derivative(const OdGroup &g, real t, const real *y, const OdParams &p, real *dfdt);
/// ```
///
/// the last where f depends on the time. Every index is a number, so that arrays of the
/// thread become registers; parameters are `p[j]`. `places` are those of the pattern that [`Graph::jacobian`] gives;
/// all others are set to zero, and entries whose place is `places.len` are left out. The text grows as the graph does ([`straight_cost`]). Beside what [`function`] expects of
/// its surroundings there must be `OD_FN`, `od_entry`, `OdGroup` and `OdParams`.
pub fn straight(graph: &Graph, places: &MatrixPlaces) -> String {
    let time = graph.uses_time().then(|| graph.time_derivative().fused());
    let mut text = function(&graph.fused(), "od_group_rhs", &signature("f"));
    text += &function(&graph.linearised().fused(), "od_straight_linearise", &signature("all"));
    text += &linearise(graph.outputs().len(), places);
    if let Some(time) = time {
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

/// Gives n components of f and the entries of the Jacobian their places.
fn linearise(n: usize, places: &MatrixPlaces) -> String {
    let mut sources = vec![None; places.len as usize];
    let entries = places.entries.iter().zip(n..);
    for (&place, source) in entries.filter(|(place, _)| **place < places.len) {
        sources[place as usize] = Some(source);
    }
    // Writing to a string cannot fail.
    let mut text = String::from(
        "OD_FN void od_group_linearise(\n    const OdGroup &g, real t, const real *y, const OdParams &p, real *f, \
         od_entry *matrix) {\n",
    );
    let _ = writeln!(text, "    real all[{}];", n + places.entries.len());
    text += "    od_straight_linearise(g, t, y, p, all);\n";
    for i in 0..n {
        let _ = writeln!(text, "    f[{i}] = all[{i}];");
    }
    for (place, source) in sources.iter().enumerate() {
        let value = source.map_or("0".to_owned(), |source| format!("-all[{source}]"));
        let _ = writeln!(text, "    matrix[{place}] = od_entry({value});");
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;

    #[test]
    fn text_is_readable_and_stable() {
        let graph = Graph::record(1, 1, |_, y, p| vec![p[0] * y[0] * y[0]]);
        let places = MatrixPlaces { entries: vec![1], unused: 2, zero: 2, len: 2 };
        let expected = "\
OD_FN void od_group_rhs(const OdGroup & g, real t, const real * y, const OdParams & p, real * f) {
    const real y0 = y[0];
    const real v0 = y0 * p[0] * y0;
    f[0] = v0;  // y0
}
OD_FN void od_straight_linearise(const OdGroup & g, real t, const real * y, const OdParams & p, real * all) {
    const real y0 = y[0];
    const real v0 = y0 * p[0];
    const real v1 = y0 * v0;
    all[0] = v1;  // y0
    const real v2 = v0 + v0;
    all[1] = v2;
}
OD_FN void od_group_linearise(
    const OdGroup &g, real t, const real *y, const OdParams &p, real *f, od_entry *matrix) {
    real all[2];
    od_straight_linearise(g, t, y, p, all);
    f[0] = all[0];
    matrix[0] = od_entry(0);
    matrix[1] = od_entry(-all[1]);
}
";
        assert_eq!(straight(&graph, &places), expected);
    }

    #[test]
    fn what_f_and_its_jacobian_share_costs_once() {
        // An exponential and a product, which are the entry of the Jacobian, too.
        let graph = Graph::record(1, 1, |_, y, p| vec![p[0] * y[0].exp()]);
        assert_eq!(straight_cost(&graph), 2 * 21);
    }
}
