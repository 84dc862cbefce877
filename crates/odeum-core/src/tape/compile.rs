//! From graph to instructions: lowering, order, and places for the values.

use super::program::{Array, Instruction, Place, Program};
use crate::graph::{Graph, Node, NodeId};

impl Program {
    /// Compiles a graph: integer powers are written out, operands used once are fused into what
    /// uses them, and values share slots as soon as one is no longer needed.
    pub fn new(graph: &Graph) -> Program {
        let graph = graph.expand_powers().fuse();
        let mut compiler = Compiler::new(&graph);
        for id in graph.schedule() {
            compiler.emit(id);
        }
        let program = compiler.finish();
        program.validate();
        program
    }
}

struct Compiler<'a> {
    graph: &'a Graph,
    /// Where each node lies, once it does.
    places: Vec<Option<Place>>,
    /// Instructions yet to read each node.
    uses: Vec<u32>,
    free: Vec<Place>,
    n_work: usize,
    constants: Vec<f64>,
    uses_time: bool,
    instructions: Vec<Instruction>,
}

impl<'a> Compiler<'a> {
    /// Offsets for the inputs, the constants and the outputs.
    fn new(graph: &'a Graph) -> Compiler<'a> {
        let constants: Vec<f64> = graph.nodes().iter().filter_map(Node::constant).collect();
        let uses_time = graph.uses_time();
        let mut seen = 0;
        let mut places: Vec<Option<Place>> = graph
            .nodes()
            .iter()
            .map(|node| match node {
                Node::Const(_) => {
                    seen += 1;
                    Some(Place::new(Array::Work, seen - 1))
                }
                Node::Time => Some(Place::new(Array::Work, constants.len())),
                Node::State(i) => Some(Place::new(Array::State, *i as usize)),
                Node::Param(j) => Some(Place::new(Array::Param, *j as usize)),
                _ => None,
            })
            .collect();
        for (i, id) in graph.outputs().iter().enumerate() {
            let place = &mut places[id.index()];
            *place = place.or(Some(Place::new(Array::Output, i)));
        }
        let mut uses = vec![0; graph.nodes().len()];
        graph.nodes().iter().flat_map(Node::args).for_each(|id| uses[id.index()] += 1);
        let n_work = constants.len() + usize::from(uses_time);
        Compiler {
            graph,
            places,
            uses,
            free: Vec::new(),
            n_work,
            constants,
            uses_time,
            instructions: Vec::new(),
        }
    }

    /// Appends the instruction of one node. Its result may take the slot of an operand that is
    /// not read again: operands are loaded before the result is stored.
    fn emit(&mut self, id: NodeId) {
        let Node::Op(op, args) = self.graph.node(id) else { return };
        let operands = args.map(|arg| self.places.get(arg.index()).copied().flatten());
        let first = operands[0].unwrap_or(Place::new(Array::Work, 0));
        for &arg in self.graph.node(id).args() {
            let uses = &mut self.uses[arg.index()];
            *uses -= 1;
            if *uses == 0
                && !self.graph.node(arg).is_leaf()
                && let Some(place) = self.places[arg.index()]
                && place.is_work()
            {
                self.free.push(place);
            }
        }
        let result = match self.places[id.index()] {
            Some(output) => output,
            None => self.free.pop().unwrap_or_else(|| {
                self.n_work += 1;
                Place::new(Array::Work, self.n_work - 1)
            }),
        };
        self.places[id.index()] = Some(result);
        let operands = operands.map(|place| place.unwrap_or(first));
        self.instructions.push(Instruction::new(op, result, operands));
    }

    fn finish(self) -> Program {
        let outputs = self.graph.outputs();
        let copies = outputs
            .iter()
            .enumerate()
            .filter_map(|(i, id)| {
                let to = Place::new(Array::Output, i);
                self.places[id.index()].filter(|&from| from != to).map(|from| (to, from))
            })
            .collect();
        Program {
            constants: self.constants,
            uses_time: self.uses_time,
            instructions: self.instructions,
            copies,
            lengths: [self.n_work, self.graph.n_states(), self.graph.n_params(), outputs.len()],
        }
    }
}
