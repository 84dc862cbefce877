//! Graphs from arrays of operations.

use crate::systems::{Everything, Pleiades};
use odeum_core::graph::{Node, Op, Part, PartsError};
use odeum_core::{Graph, Real, System};

/// Names y0, y1, ... of states and p0, p1, ... of parameters.
fn names(states: usize, params: usize) -> (Vec<String>, Vec<String>) {
    let of = |letter: char, count: usize| (0..count).map(|i| format!("{letter}{i}")).collect();
    (of('y', states), of('p', params))
}

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
    let names = (graph.state_names().to_vec(), graph.param_names().to_vec());
    Graph::from_parts(names, &parts, &outputs, None).unwrap()
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
    let of =
        |parts: &[Part], outputs: &[usize]| Graph::from_parts(names(2, 1), parts, outputs, None);
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
    let radius = |part: usize| {
        let parts = [y, Part::Op(Op::Lt, &[0, 0])];
        Graph::from_parts(names(2, 1), &parts, &[0, 0], Some(part))
    };
    assert!(radius(0).is_ok());
    for part in [1, 2] {
        assert_eq!(radius(part), Err(PartsError::Radius { part }));
    }
    let named = |states: [&str; 2], param: &str| {
        let names = (states.map(str::to_owned).to_vec(), vec![param.to_owned()]);
        Graph::from_parts(names, &[y], &[0, 0], None)
    };
    assert_eq!(named(["u", "v"], "u"), Err(PartsError::SameName { first: 0, second: 2 }));
    assert_eq!(named(["u", "u"], "k"), Err(PartsError::SameName { first: 0, second: 1 }));
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
    let graph = Graph::from_parts(names(1, 0), &parts, &[4, 5, 6], None).unwrap();
    assert_eq!(graph.nodes().len(), 3);
    assert!(graph.outputs().windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(graph.eval(0.0, &[1.5], &[]), [7.5; 3]);
}

/// What a foreign front end hands over is all that a recorded system has.
#[test]
fn names_and_spectral_radius_come_with_the_parts() {
    struct Decay;

    impl System for Decay {
        fn dim(&self) -> usize {
            2
        }
        fn n_params(&self) -> usize {
            1
        }
        fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
            dydt[0] = p[0] * y[0];
            dydt[1] = p[0] * y[1];
        }
        fn spectral_radius<R: Real>(&self, _t: R, _y: &[R], p: &[R]) -> Option<R> {
            Some(p[0].abs())
        }
        fn state_names(&self) -> Vec<String> {
            vec!["u".to_owned(), "v".to_owned()]
        }
        fn param_names(&self) -> Vec<String> {
            vec!["k".to_owned()]
        }
    }

    let parts = [
        Part::State(0),
        Part::State(1),
        Part::Param(0),
        Part::Op(Op::Mul, &[2, 0]),
        Part::Op(Op::Mul, &[2, 1]),
        Part::Op(Op::Abs, &[2]),
    ];
    let names = (Decay.state_names(), Decay.param_names());
    let graph = Graph::from_parts(names, &parts, &[3, 4], Some(5)).unwrap();
    assert_eq!(graph, Graph::trace(&Decay));
    assert_eq!(graph.spectral_radius().unwrap().eval(0.0, &[0.0; 2], &[-3.0]), [3.0]);
}
