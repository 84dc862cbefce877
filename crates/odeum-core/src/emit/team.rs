//! One system on a team of threads: every member computes some of the outputs.

use super::{Signature, part};
use crate::graph::Graph;
use std::fmt::Write;

/// One function per group of outputs, `name_0`, `name_1`, …, and the function
/// `name(const int rank, …)` by which member `rank` of the team computes its group.
///
/// Members of the team share nothing but what they read: an expression that two groups need is
/// computed by both. [`partition`](super::partition()) finds groups that keep this small.
///
/// # Panics
///
/// When a group names an output that does not exist.
pub fn team(graph: &Graph, name: &str, signature: &Signature, groups: &[Vec<usize>]) -> String {
    let mut text = String::new();
    let arguments: Vec<&str> = signature.arguments.iter().map(|(_, name)| name.as_str()).collect();
    let arguments = arguments.join(", ");
    let mut cases = String::new();
    for (rank, outputs) in groups.iter().enumerate().filter(|(_, outputs)| !outputs.is_empty()) {
        text.push_str(&part(graph, outputs, &format!("{name}_{rank}"), signature));
        text.push('\n');
        // Writing to a string cannot fail.
        let _ = writeln!(cases, "    case {rank}: {name}_{rank}({arguments}); break;");
    }
    text.push_str(&signature.open(name, Some("const int rank")));
    let _ = write!(text, "    switch (rank) {{\n{cases}    default: break;\n    }}\n}}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_assigns_its_own_outputs() {
        let graph = Graph::record(3, 0, |_, y, _| vec![y[1], y[0] * y[2], y[1] * y[2]]);
        let text = team(&graph, "f", &Signature::default(), &[vec![2], vec![], vec![0, 1]]);
        let expected = "\
__device__ __forceinline__ void f_0(const real t, const real* y, const real* p, real* dydt) {
    const real v0 = Y(1) * Y(2);
    DYDT(2) = v0;  // y2
}

__device__ __forceinline__ void f_2(const real t, const real* y, const real* p, real* dydt) {
    DYDT(0) = Y(1);  // y0
    const real v0 = Y(0) * Y(2);
    DYDT(1) = v0;  // y1
}

__device__ __forceinline__ void f(const int rank, const real t, const real* y, const real* p, real* dydt) {
    switch (rank) {
    case 0: f_0(t, y, p, dydt); break;
    case 2: f_2(t, y, p, dydt); break;
    default: break;
    }
}
";
        assert_eq!(text, expected);
    }
}
