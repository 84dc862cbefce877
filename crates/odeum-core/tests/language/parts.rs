//! Graphs from arrays of operations.

use crate::systems::{Everything, Pleiades};
use odeum_core::Graph;
use odeum_core::graph::{Node, Op, Part, PartsError};

/// The parts of a graph, and the places of its outputs.
fn taken_apart(graph: &Graph) -> Graph {
    let places: Vec<Vec<usize>> =
        graph.nodes().iter().map(|n| n.args().iter().map(|id| id.index()).collect()).collect();
    let parts: Vec<Part> = graph
        .nodes()
        .iter()
        .zip(&places)
        .map(|(node, places)| match *node {
            Node::Const(bits) => Part::Const(f64::from_bits(bits)),
            Node::Time => Part::Time,
            Node::State(i) => Part::State(i as usize),
            Node::Param(j) => Part::Param(j as usize),
            Node::Powi(_, exponent) => Part::Powi(places[0], exponent),
            Node::Op(op, _) => Part::Op(op, places),
        })
        .collect();
    let outputs: Vec<usize> = graph.outputs().iter().map(|id| id.index()).collect();
    let sizes = (graph.n_states(), graph.n_params());
    Graph::from_parts(sizes, &parts, &outputs).unwrap()
}

#[test]
fn a_graph_taken_apart_is_put_together_again() {
    for graph in [Graph::trace(&Pleiades), Graph::trace(&Everything)] {
        let again = taken_apart(&graph);
        assert_eq!((again.nodes(), again.outputs()), (graph.nodes(), graph.outputs()));
    }
    let (jacobian, _) = Graph::trace(&Everything).jacobian();
    let again = taken_apart(&jacobian);
    assert_eq!((again.nodes(), again.outputs()), (jacobian.nodes(), jacobian.outputs()));
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let of = |parts: &[Part], outputs: &[usize]| Graph::from_parts((2, 1), parts, outputs);
    let y = Part::State(0);
    for (parts, outputs, expected) in [
        (&[Part::State(2)][..], &[0][..], PartsError::NoState { part: 0, state: 2, states: 2 }),
        (&[y, Part::Param(1)], &[0], PartsError::NoParam { part: 1, param: 1, params: 1 }),
        (&[y, Part::Op(Op::Add, &[0])], &[1], PartsError::Arity { part: 1, op: Op::Add, found: 1 }),
        (
            &[y, Part::Op(Op::Neg, &[0, 0])],
            &[1],
            PartsError::Arity { part: 1, op: Op::Neg, found: 2 },
        ),
        (&[y, Part::Op(Op::Mul, &[0, 1])], &[1], PartsError::NotBefore { part: 1, operand: 1 }),
        (&[Part::Powi(7, 2)], &[0], PartsError::NotBefore { part: 0, operand: 7 }),
        (
            &[y, Part::Op(Op::Not, &[0])],
            &[0],
            PartsError::Kind { part: 1, operand: 0, wants_condition: true },
        ),
        (
            &[y, Part::Op(Op::Lt, &[0, 0]), Part::Op(Op::Exp, &[1])],
            &[2],
            PartsError::Kind { part: 2, operand: 1, wants_condition: false },
        ),
        (&[y, Part::Op(Op::Lt, &[0, 0])], &[1], PartsError::Output { output: 0, part: 1 }),
        (&[y], &[0, 1], PartsError::Output { output: 1, part: 1 }),
    ] {
        assert_eq!(of(parts, outputs), Err(expected), "{parts:?}");
        assert!(!expected.to_string().is_empty());
    }
    let too_many = Graph::from_parts((usize::MAX, 0), &[], &[]);
    assert_eq!(too_many, Err(PartsError::TooMany(usize::MAX)));
}

#[test]
fn parts_are_simplified_as_what_is_recorded() {
    let parts = [
        Part::State(0),
        Part::Const(2.0),
        Part::Const(3.0),
        Part::Op(Op::Mul, &[1, 2]),
        Part::Op(Op::Add, &[3, 0]),
        Part::Op(Op::Add, &[0, 3]),
        Part::Powi(4, 1),
        // Nobody uses this.
        Part::Op(Op::Sin, &[0]),
    ];
    let graph = Graph::from_parts((1, 0), &parts, &[4, 5, 6]).unwrap();
    assert_eq!(graph.nodes().len(), 3);
    assert!(graph.outputs().windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(graph.eval(0.0, &[1.5], &[]), [7.5; 3]);
}
