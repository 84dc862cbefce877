//! A program as assignments, for whoever makes other code of it.

use super::program::{Array, Place, Program};
use crate::graph::Op;

/// What an operation reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Constant(f64),
    /// The time.
    Time,
    /// A state.
    State(usize),
    /// A parameter.
    Param(usize),
    /// The result of an assignment before.
    Result(usize),
}

/// `result = op(operands)`, of which there are as many as the operation has.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The operation.
    pub op: Op,
    /// Its operands.
    pub operands: Vec<Value>,
}

impl Program {
    /// The program's operations in their order, each with a result of its own, and what each
    /// output then is.
    pub fn assignments(&self) -> (Vec<Assignment>, Vec<Value>) {
        let mut work: Vec<Value> = self.constants.iter().map(|c| Value::Constant(*c)).collect();
        // Slots after those are written before they are read.
        work.resize(self.workspace().max(work.len()), Value::Time);
        let mut outputs = vec![Value::Time; self.n_outputs()];
        let at = |place: Place, work: &[Value], outputs: &[Value]| match place.array {
            Array::Work => work[place.index()],
            Array::State => Value::State(place.index()),
            Array::Param => Value::Param(place.index()),
            Array::Output => outputs[place.index()],
        };
        let mut assignments = Vec::with_capacity(self.len());
        for (n, instruction) in self.instructions.iter().enumerate() {
            let (op, arity) = (instruction.op, instruction.op.info().arity);
            let operands = (1..=arity).map(|k| at(instruction.place(k), &work, &outputs));
            assignments.push(Assignment { op, operands: operands.collect() });
            let to = instruction.place(0);
            let slots = if to.is_work() { &mut work } else { &mut outputs };
            slots[to.index()] = Value::Result(n);
        }
        for &(to, from) in &self.copies {
            outputs[to.index()] = at(from, &work, &outputs);
        }
        (assignments, outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::{Real, Symbol};

    #[test]
    fn assignments_compute_what_the_graph_says() {
        let graph = Graph::record(3, 1, |t, y, p| {
            let product = y[0] * y[1] + Symbol::lit(3.0);
            let sum = (product * t).sin() - y[0] / y[2];
            vec![product, y[1], sum, sum * p[0] + product, product, Symbol::lit(2.5)]
        });
        let (t, y, p) = (0.7, [0.3, 1.9, -0.4], [1.1]);
        let (assignments, outputs) = Program::new(&graph).assignments();
        let mut results: Vec<f64> = Vec::new();
        let value = |value: &Value, results: &[f64]| match *value {
            Value::Constant(c) => c,
            Value::Time => t,
            Value::State(i) => y[i],
            Value::Param(i) => p[i],
            Value::Result(n) => results[n],
        };
        for Assignment { op, operands } in &assignments {
            let operands: Vec<f64> = operands.iter().map(|o| value(o, &results)).collect();
            results.push(op.eval(&operands));
        }
        let found: Vec<f64> = outputs.iter().map(|output| value(output, &results)).collect();
        for (found, wanted) in found.iter().zip(graph.eval(t, &y, &p)) {
            assert!((found - wanted).abs() < 1e-14, "{found} {wanted}");
        }
    }
}
