//! Operations of a graph in rows for a group of threads.
//!
//! In a row every thread carries out the same operation, each on operands of its own. Rows come in phases, between
//! which the threads wait for each other: an operation reads what phases before its own have given. There are as many
//! phases as the longest chain of operations has, and an operation may wait for its last possible phase: a row is
//! opened for those that cannot wait, and filled with those that can. Sums, differences and products of two are fused
//! multiply-adds with one and −0 among their operands, which changes no bit of them: so they share rows.

use crate::graph::{Graph, Node, NodeId, Op};
use std::collections::BTreeMap;

/// What a thread of a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// a b + c, with a result in memory.
    Fused,
    /// Another operation of a graph, with a result in memory.
    Compute(Op),
    /// Writes a component of f.
    Slope,
    /// Writes an entry of −∂f/∂y.
    Entry,
}

/// Where an operand lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    /// A place of memory.
    Place(u32),
    /// Minus what is there.
    Negative(u32),
    Constant(f64),
}

/// What one thread does in a row: the operands of a kind, and the place of the result, the component of f, or the
/// place in the matrix.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) operands: Vec<Operand>,
    pub(super) to: u32,
}

/// A row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) kind: Kind,
    /// At most one for each thread.
    pub(super) steps: Vec<Step>,
    /// Threads wait for each other after it.
    pub(super) ends_phase: bool,
}

/// All outputs of a graph, computed and written.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// Places of memory: states, the time, parameters, 1 and −0, results.
    pub(super) places: usize,
}

/// What a task reads.
#[derive(Clone, Copy, Debug)]
enum Source {
    Node(NodeId),
    Negative(NodeId),
    One,
    MinusZero,
}

impl Source {
    fn node(self) -> Option<NodeId> {
        match self {
            Source::Node(id) | Source::Negative(id) => Some(id),
            Source::One | Source::MinusZero => None,
        }
    }
}

/// An operation, or an output to be written.
struct Task {
    kind: Kind,
    operands: Vec<Source>,
    /// The node it computes, or where it writes.
    to: usize,
    /// Phases that must follow it.
    height: usize,
}

impl Rows {
    /// Of a graph without integer powers, for `width` threads. `writes`: for each output, what writes it and where.
    pub(super) fn new(graph: &Graph, writes: &[(Kind, u32)], width: usize) -> Rows {
        let tasks = tasks(graph, writes);
        let phases = phases(&tasks, graph.nodes().len(), width);
        let mut places = Places::new(graph);
        // The last phase that reads each node.
        let mut last = vec![0; graph.nodes().len()];
        for (phase, rows) in phases.iter().enumerate() {
            for &task in rows.iter().flat_map(|(_, row)| row) {
                tasks[task].nodes().for_each(|id| last[id.index()] = phase);
            }
        }
        let mut done: Vec<Vec<NodeId>> = vec![Vec::new(); phases.len()];
        let mut rows = Vec::new();
        for (phase, of_phase) in phases.iter().enumerate() {
            if let Some(before) = phase.checked_sub(1) {
                done[before].iter().for_each(|&id| places.free(id));
            }
            for (number, (kind, row)) in of_phase.iter().enumerate() {
                let step = |&task: &usize| {
                    let Task { operands, to, .. } = &tasks[task];
                    let operand = |&source: &Source| places.operand(graph, source);
                    let operands = operands.iter().map(operand).collect();
                    let computes = kind.computes();
                    if computes {
                        done[last[*to]].push(NodeId::new(*to));
                    }
                    let to = if computes { places.take(NodeId::new(*to)) } else { *to as u32 };
                    Step { operands, to }
                };
                let steps = row.iter().map(step).collect();
                let ends_phase = number + 1 == of_phase.len();
                rows.push(Row { kind: *kind, steps, ends_phase });
            }
        }
        Rows { rows, places: places.len }
    }
}

impl Kind {
    /// Whether it has a result in memory.
    fn computes(self) -> bool {
        matches!(self, Kind::Fused | Kind::Compute(_))
    }
}

impl Task {
    fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.operands.iter().filter_map(|source| source.node())
    }
}

/// What a thread does for an operation.
fn task_of(op: Op, args: &[NodeId]) -> (Kind, Vec<Source>) {
    use Source::{MinusZero, Negative, Node, One};
    let fused = match (op, args) {
        (Op::Add, &[a, b]) => [Node(a), One, Node(b)],
        (Op::Sub, &[a, b]) => [Negative(b), One, Node(a)],
        (Op::Mul, &[a, b]) => [Node(a), Node(b), MinusZero],
        (Op::MulAdd, &[a, b, c]) => [Node(a), Node(b), Node(c)],
        (Op::MulSub, &[a, b, c]) => [Node(a), Node(b), Negative(c)],
        (Op::NegMulAdd, &[a, b, c]) => [Negative(a), Node(b), Node(c)],
        (Op::Neg, &[a]) => [Negative(a), One, MinusZero],
        _ => return (Kind::Compute(op), args.iter().copied().map(Node).collect()),
    };
    (Kind::Fused, fused.to_vec())
}

fn tasks(graph: &Graph, writes: &[(Kind, u32)]) -> Vec<Task> {
    let mut heights = vec![0; graph.nodes().len()];
    graph.outputs().iter().for_each(|id| heights[id.index()] = 1);
    let mut tasks = Vec::new();
    for (index, node) in graph.nodes().iter().enumerate().rev() {
        let height = heights[index];
        let Node::Op(op, _) = node else { continue };
        for id in node.args() {
            heights[id.index()] = heights[id.index()].max(height + 1);
        }
        let (kind, operands) = task_of(*op, node.args());
        tasks.push(Task { kind, operands, to: index, height });
    }
    let outputs = graph.outputs().iter().zip(writes);
    tasks.extend(outputs.map(|(&id, &(kind, to))| Task {
        kind,
        operands: vec![Source::Node(id)],
        to: to as usize,
        height: 0,
    }));
    tasks
}

/// Tasks of each row of each phase.
fn phases(tasks: &[Task], nodes: usize, width: usize) -> Vec<Vec<(Kind, Vec<usize>)>> {
    let count = tasks.iter().map(|task| task.height + 1).max().unwrap_or(0);
    let mut missing: Vec<usize> = vec![0; tasks.len()];
    let mut computed_by = vec![None; nodes];
    let mut users = vec![Vec::new(); tasks.len()];
    for (number, task) in tasks.iter().enumerate() {
        if task.kind.computes() {
            computed_by[task.to] = Some(number);
        }
    }
    for (number, task) in tasks.iter().enumerate() {
        for by in task.nodes().filter_map(|id| computed_by[id.index()]) {
            users[by].push(number);
            missing[number] += 1;
        }
    }
    // By kind, by height from the largest: what can be carried out.
    let mut ready: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
    let all = tasks.iter().enumerate();
    for (number, task) in all.filter(|&(number, _)| missing[number] == 0) {
        ready.entry(task.kind).or_default().push(number);
    }
    let mut phases = Vec::new();
    for phase in 0..count {
        let mut rows = Vec::new();
        for (&kind, of_kind) in &mut ready {
            of_kind.sort_by_key(|&task| std::cmp::Reverse(tasks[task].height));
            let must =
                of_kind.iter().take_while(|&&t| phase + tasks[t].height + 1 >= count).count();
            let full = match kind {
                Kind::Fused | Kind::Compute(_) => must.div_ceil(width),
                // What is written need not be kept any longer.
                Kind::Slope | Kind::Entry => (of_kind.len() / width).max(must.div_ceil(width)),
            };
            let now: Vec<usize> = of_kind.drain(..of_kind.len().min(full * width)).collect();
            rows.extend(now.chunks(width).map(|row| (kind, row.to_vec())));
        }
        for &user in rows.iter().flat_map(|(_, row)| row).flat_map(|&task| &users[task]) {
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.entry(tasks[user].kind).or_default().push(user);
            }
        }
        phases.push(rows);
    }
    phases
}

/// Places of memory.
struct Places {
    of: Vec<Option<u32>>,
    free: Vec<u32>,
    /// That of 1; −0 comes after it.
    one: u32,
    len: usize,
}

impl Places {
    /// States, the time, parameters, 1 and −0 have their places.
    fn new(graph: &Graph) -> Places {
        let n = graph.n_states();
        let of = graph.nodes().iter().map(|node| match *node {
            Node::State(i) => Some(i),
            Node::Time => Some(n as u32),
            Node::Param(j) => Some((n + 1) as u32 + j),
            _ => None,
        });
        let one = (n + 1 + graph.n_params()) as u32;
        Places { of: of.collect(), free: Vec::new(), one, len: one as usize + 2 }
    }

    fn operand(&self, graph: &Graph, source: Source) -> Operand {
        // Every node that is no number is an input, or was computed in a phase before.
        let place = |id: NodeId| self.of[id.index()].unwrap_or(self.one);
        let number = |id: NodeId| graph.node(id).constant();
        match source {
            Source::Node(id) => number(id).map_or(Operand::Place(place(id)), Operand::Constant),
            Source::Negative(id) => {
                number(id).map_or(Operand::Negative(place(id)), |x| Operand::Constant(-x))
            }
            Source::One => Operand::Place(self.one),
            Source::MinusZero => Operand::Place(self.one + 1),
        }
    }

    fn take(&mut self, id: NodeId) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.len += 1;
            (self.len - 1) as u32
        });
        self.of[id.index()] = Some(place);
        place
    }

    fn free(&mut self, id: NodeId) {
        self.free.extend(self.of[id.index()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;

    /// What the rows compute.
    fn run(rows: &Rows, y: &[f64], n_outputs: usize) -> Vec<f64> {
        let mut memory = vec![f64::NAN; rows.places];
        memory[..y.len()].copy_from_slice(y);
        memory[y.len() + 1..y.len() + 3].copy_from_slice(&[1.0, -0.0]);
        let mut outputs = vec![f64::NAN; n_outputs];
        let mut written = Vec::new();
        for row in &rows.rows {
            for step in &row.steps {
                let of = |operand: &Operand| match *operand {
                    Operand::Place(place) => memory[place as usize],
                    Operand::Negative(place) => -memory[place as usize],
                    Operand::Constant(constant) => constant,
                };
                let operands: Vec<f64> = step.operands.iter().map(of).collect();
                match row.kind {
                    Kind::Fused => {
                        let [a, b, c] = operands[..] else { panic!("three operands") };
                        written.push((step.to as usize, a.mul_add(b, c)));
                    }
                    Kind::Compute(op) => written.push((step.to as usize, op.eval(&operands))),
                    _ => outputs[step.to as usize] = operands[0],
                }
            }
            // What a phase computes is there after it, whatever the order within it.
            if row.ends_phase {
                written.drain(..).for_each(|(place, value)| memory[place] = value);
            }
        }
        outputs
    }

    #[test]
    fn rows_compute_what_the_graph_says() {
        let graph = Graph::record(40, 0, |_, y, _| {
            (0..40).map(|i| (y[i] * y[(i + 1) % 40]).exp() - y[i].sin()).collect()
        });
        let y: Vec<f64> = (0..40).map(|i| 0.02 * f64::from(i) - 0.3).collect();
        let writes: Vec<(Kind, u32)> = (0..40).map(|i| (Kind::Slope, i)).collect();
        for width in [1, 32, 64] {
            let rows = Rows::new(&graph, &writes, width);
            assert_eq!(run(&rows, &y, 40), graph.eval(0.0, &y, &[]));
            assert!(rows.rows.iter().all(|row| (1..=width).contains(&row.steps.len())));
        }
        // Three operations and writing, two rows of each but the last.
        let rows = Rows::new(&graph, &writes, 32);
        assert_eq!(rows.rows.iter().filter(|row| row.ends_phase).count(), 4);
        assert_eq!(rows.rows.len(), 10);
        // Differences take the places of the arguments of exponentials.
        assert_eq!(rows.places, 43 + 120);
    }
}
