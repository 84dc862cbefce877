//! Which values straight-line code keeps in memory while it does not need them.
//!
//! A compiler spills what its registers do not hold to memory behind a small cache. Where there is better memory, the
//! text itself says what lies there.

use crate::graph::{Class, Graph, Node, NodeId};

/// Values that registers hold beside what the caller keeps there: a thread of a GPU has 127 pairs.
const IN_REGISTERS: usize = 100;

/// Lines after which a value is used again that is worth no spill.
const SOON: usize = 30;

/// What a text does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// An operation.
    Compute(NodeId),
    /// A value goes to this place.
    Spill(NodeId, usize),
    /// It comes back.
    Reload(NodeId, usize),
}

/// Where a value is, and when it is wanted.
#[derive(Clone, Default)]
struct Value {
    /// Places in the order of its users, the last one first.
    uses: Vec<usize>,
    place: Option<usize>,
    is_in_register: bool,
}

/// The operations in the order given. Where more than [`IN_REGISTERS`] are alive, that one goes to memory which is wanted
/// last (Belady, IBM Systems J. 5 (1966) 78), as long as one of so many `places` is free; it stays there until its last use. What is
/// free (`is_free`) takes no register.
pub(super) fn spilled(
    graph: &Graph,
    order: &[NodeId],
    is_free: impl Fn(NodeId) -> bool,
    places: usize,
) -> Vec<Line> {
    let mut values = vec![Value::default(); graph.nodes().len()];
    for (at, &id) in order.iter().enumerate().rev() {
        for operand in graph.node(id).args() {
            let uses = &mut values[operand.index()].uses;
            if uses.last() != Some(&at) {
                uses.push(at);
            }
        }
    }
    // Conditions are predicates.
    let takes_register = |id: NodeId| match graph.node(id) {
        Node::Op(op, _) => op.info().class != Class::Condition && !is_free(id),
        _ => false,
    };
    let mut free: Vec<usize> = (0..places).rev().collect();
    let mut held: Vec<NodeId> = Vec::new();
    let mut lines = Vec::with_capacity(order.len());
    for (at, &id) in order.iter().enumerate() {
        let operands: Vec<NodeId> =
            graph.node(id).args().iter().copied().filter(|&id| takes_register(id)).collect();
        for &operand in &operands {
            let value = &mut values[operand.index()];
            if let (false, Some(place)) = (value.is_in_register, value.place) {
                value.is_in_register = true;
                held.push(operand);
                lines.push(Line::Reload(operand, place));
            }
        }
        lines.push(Line::Compute(id));
        for &operand in &operands {
            let value = &mut values[operand.index()];
            value.uses.pop_if(|used| *used == at);
            if value.uses.is_empty() {
                value.is_in_register = false;
                free.extend(value.place.take());
            }
        }
        if takes_register(id) && !values[id.index()].uses.is_empty() {
            values[id.index()].is_in_register = true;
            held.push(id);
        }
        held.retain(|id| values[id.index()].is_in_register);
        while held.len() > IN_REGISTERS {
            let wanted = |id: &NodeId| values[id.index()].uses.last().copied().unwrap_or(at);
            // Of those without a place none can go where all places are taken.
            let can_go = |id: &&NodeId| !free.is_empty() || values[id.index()].place.is_some();
            let Some(&last) = held.iter().filter(can_go).max_by_key(|id| (wanted(id), id.index()))
            else {
                break;
            };
            if wanted(&last) < at + SOON {
                break;
            }
            let value = &mut values[last.index()];
            value.is_in_register = false;
            held.retain(|id| *id != last);
            if value.place.is_none()
                && let Some(place) = free.pop()
            {
                value.place = Some(place);
                lines.push(Line::Spill(last, place));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;
    use std::collections::HashMap;

    /// As many exponentials as this, whose sum begins with the last one.
    fn wide(n: usize) -> Graph {
        Graph::record(1, 1, |_, y, p| {
            let terms: Vec<_> = (0..n).map(|k| (y[0] * Real::lit(k as f64) + p[0]).exp()).collect();
            let product = terms.iter().fold(y[0], |x, &term| x * term);
            vec![terms.iter().rev().fold(product, |x, &term| x + term)]
        })
    }

    /// Follows the lines; the most values in registers, and places.
    fn follow(graph: &Graph, lines: &[Line]) -> (usize, usize) {
        let mut memory: HashMap<usize, NodeId> = HashMap::new();
        let mut made: Vec<NodeId> = Vec::new();
        let (mut most, mut places) = (0, 0);
        let uses = |line: &Line, id: NodeId| matches!(line, Line::Compute(user) if graph.node(*user).args().contains(&id));
        for (k, line) in lines.iter().enumerate() {
            let rest = &lines[k + 1..];
            match *line {
                Line::Compute(id) => made.push(id),
                Line::Spill(id, place) => {
                    places = places.max(place + 1);
                    let old = memory.insert(place, id);
                    let is_over = |old| !rest.iter().any(|line| uses(line, old));
                    assert!(old.is_none_or(is_over), "place {place} is taken");
                }
                Line::Reload(id, place) => assert_eq!(memory.get(&place), Some(&id)),
            }
            // A value is in a register where a line uses it before it is reloaded.
            let is_next = |id: NodeId| {
                let mut next = rest.iter().filter(|line| {
                    uses(line, id) || matches!(line, Line::Reload(x, _) if *x == id)
                });
                next.next().is_some_and(|line| uses(line, id))
            };
            most = most.max(made.iter().filter(|&&id| is_next(id)).count());
        }
        (most, places)
    }

    #[test]
    fn every_value_is_there_when_it_is_used() {
        let graph = wide(160);
        let order = graph.narrow_schedule();
        let lines = spilled(&graph, &order, |_| false, 80);
        let (most, places) = follow(&graph, &lines);
        let reloads = lines.iter().filter(|line| matches!(line, Line::Reload(..))).count();
        // Beside them the operands of an operation and its result.
        assert!(
            most <= IN_REGISTERS + 4 && places > 50 && reloads >= places,
            "{most} {places} {reloads}"
        );
        let computed: Vec<NodeId> = lines
            .iter()
            .filter_map(|line| if let Line::Compute(id) = line { Some(*id) } else { None })
            .collect();
        assert_eq!(computed, order);
    }

    #[test]
    fn few_places_hold_what_they_can() {
        let graph = wide(160);
        let order = graph.narrow_schedule();
        let lines = spilled(&graph, &order, |_| false, 10);
        assert_eq!(follow(&graph, &lines).1, 10);
        let of_none = spilled(&graph, &order, |_| false, 0);
        assert!(of_none.iter().all(|line| matches!(line, Line::Compute(_))));
    }

    #[test]
    fn what_registers_hold_is_not_spilled() {
        let graph = wide(80);
        let lines = spilled(&graph, &graph.narrow_schedule(), |_| false, 80);
        assert!(lines.iter().all(|line| matches!(line, Line::Compute(_))));
    }
}
