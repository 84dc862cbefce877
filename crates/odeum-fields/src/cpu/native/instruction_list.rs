//! What is computed at each pack of a row, operation by operation.

use super::{Form, MaskedOutput, StateTerm};
use odeum_core::Program;
use odeum_core::graph::Op;
use odeum_core::tape::Value;

/// Operations beyond which a program is interpreted: registers are given out by looking ahead.
const MOST: usize = 2000;

/// What an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    /// The pack of a row.
    Row(usize),
    /// That before it.
    Before(usize),
    /// That behind it.
    Behind(usize),
    /// A number, the same in all lanes.
    Scalar(usize),
    /// What a line before has computed.
    Result(usize),
}

/// A number that code is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Number(Number),
    Time,
    Rhs,
    Own,
    Factor(usize),
}

/// A number that is the same as another when its bits are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) f64);

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Number {}

/// How a and b compare; false where either is NaN, but for the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    LessOrEqual,
    Equal,
    /// Either is NaN.
    Unordered,
}

/// What one instruction does with a, b and c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// a + b
    Add,
    /// a − b
    Sub,
    /// a b
    Mul,
    /// a / b
    Div,
    /// √a
    Sqrt,
    /// Bits that differ
    Xor,
    /// Bits that are in both
    And,
    /// Bits of b that are not in a
    Without,
    /// Bits that are in either
    Or,
    /// The smaller of a and b; b where either is NaN
    Min,
    /// The larger of a and b; b where either is NaN
    Max,
    /// The largest integer not above a
    Floor,
    /// All bits where it holds, none elsewhere
    Compare(Relation),
    /// a b + c
    MulAdd,
    /// a b − c
    MulSub,
    /// c − a b
    NegMulAdd,
    /// a goes to a row.
    Store { row: usize, streams: bool },
}

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) operands: Vec<Operand>,
}

/// All lines, and the numbers that they read.
#[derive(Debug, Default)]
pub(super) struct InstructionList {
    pub(super) lines: Vec<Line>,
    pub(super) given: Vec<Given>,
    pub(super) states: usize,
    pub(super) outputs: usize,
    /// Of rods the Laplacian of each species, once it is computed.
    laplacians: Vec<Option<Operand>>,
}

impl InstructionList {
    /// The lines of a program without parameters; `None` when it has operations that are not
    /// among [`Kind`]s.
    pub(super) fn new(program: &Program, form: &Form) -> Option<InstructionList> {
        let (assignments, outputs) = program.assignments();
        let states = program.n_states();
        let mut instruction_list =
            InstructionList { states, outputs: outputs.len(), ..InstructionList::default() };
        instruction_list.laplacians = vec![None; outputs.len()];
        // The operand that each result is.
        let mut results = Vec::with_capacity(assignments.len());
        let mut ended = vec![false; outputs.len()];
        for (n, assignment) in assignments.iter().enumerate() {
            let of =
                assignment.operands.iter().map(|v| instruction_list.operand(*v, &results, form));
            let of: Vec<Operand> = of.collect::<Option<_>>()?;
            results.push(instruction_list.compute(assignment.op, &of)?);
            for s in 0..outputs.len() {
                if outputs[s] == Value::Result(n) {
                    instruction_list.end(s, results[n], form);
                    ended[s] = true;
                }
            }
            if instruction_list.lines.len() > MOST {
                return None;
            }
        }
        for s in 0..outputs.len() {
            if !ended[s] {
                let output = instruction_list.operand(outputs[s], &results, form)?;
                instruction_list.end(s, output, form);
            }
        }
        Some(instruction_list)
    }

    /// The rows that are read or written, each once.
    pub(super) fn rows(&self) -> Vec<usize> {
        let mut rows = Vec::new();
        for line in &self.lines {
            rows.extend(line.operands.iter().filter_map(|operand| match operand {
                Operand::Row(row) | Operand::Before(row) | Operand::Behind(row) => Some(*row),
                _ => None,
            }));
            rows.extend(if let Kind::Store { row, .. } = line.kind { Some(row) } else { None });
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    fn operand(&mut self, value: Value, results: &[Operand], form: &Form) -> Option<Operand> {
        Some(match value {
            Value::Constant(number) => self.scalar(Given::Number(Number(number))),
            Value::Time => self.scalar(Given::Time),
            Value::State(i) => match *form {
                Form::Rod { .. } if i >= self.outputs => self.laplacian(i - self.outputs)?,
                _ => Operand::Row(i),
            },
            Value::Param(_) => return None,
            Value::Result(n) => results[n],
        })
    }

    /// Of a rod: what comes after the species, as far as it is read, are their Laplacians. The
    /// operations are those of a sweep.
    fn laplacian(&mut self, s: usize) -> Option<Operand> {
        if let Some(known) = *self.laplacians.get(s)? {
            return Some(known);
        }
        let minus_two = self.scalar(Given::Number(Number(-2.0)));
        let sides = self.line(Kind::Add, &[Operand::Before(s), Operand::Behind(s)]);
        let sum = self.line(Kind::MulAdd, &[minus_two, Operand::Row(s), sides]);
        self.laplacians[s] = Some(sum);
        Some(sum)
    }

    fn scalar(&mut self, given: Given) -> Operand {
        let known = self.given.iter().position(|other| *other == given);
        Operand::Scalar(known.unwrap_or_else(|| {
            self.given.push(given);
            self.given.len() - 1
        }))
    }

    fn line(&mut self, kind: Kind, operands: &[Operand]) -> Operand {
        self.lines.push(Line { kind, operands: operands.to_vec() });
        Operand::Result(self.lines.len() - 1)
    }

    /// The meaning of operations is that of the lanes' functions, to the bit.
    fn compute(&mut self, op: Op, of: &[Operand]) -> Option<Operand> {
        let number = |instruction_list: &mut InstructionList, x: f64| {
            instruction_list.scalar(Given::Number(Number(x)))
        };
        Some(match op {
            Op::Add => self.line(Kind::Add, of),
            Op::Sub => self.line(Kind::Sub, of),
            Op::Mul => self.line(Kind::Mul, of),
            Op::Div => self.line(Kind::Div, of),
            Op::MulAdd => self.line(Kind::MulAdd, of),
            Op::MulSub => self.line(Kind::MulSub, of),
            Op::NegMulAdd => self.line(Kind::NegMulAdd, of),
            Op::Add3 => {
                let sum = self.line(Kind::Add, &of[..2]);
                self.line(Kind::Add, &[sum, of[2]])
            }
            Op::Mul3 => {
                let product = self.line(Kind::Mul, &of[..2]);
                self.line(Kind::Mul, &[product, of[2]])
            }
            Op::Neg => {
                let sign = number(self, -0.0);
                self.line(Kind::Xor, &[of[0], sign])
            }
            Op::Abs => {
                let sign = number(self, -0.0);
                self.line(Kind::Without, &[sign, of[0]])
            }
            Op::Recip => {
                let one = number(self, 1.0);
                self.line(Kind::Div, &[one, of[0]])
            }
            Op::Sqrt => self.line(Kind::Sqrt, of),
            Op::Floor => self.line(Kind::Floor, of),
            // NaN of the second operand is what the instruction gives; that of the first is not.
            Op::Min | Op::Max => {
                let kind = if op == Op::Min { Kind::Min } else { Kind::Max };
                let found = self.line(kind, of);
                let is_nan = self.line(Kind::Compare(Relation::Unordered), &[of[0], of[0]]);
                self.choice(is_nan, of[0], found)
            }
            Op::Lt => self.line(Kind::Compare(Relation::Less), of),
            Op::Le => self.line(Kind::Compare(Relation::LessOrEqual), of),
            Op::Eq => self.line(Kind::Compare(Relation::Equal), of),
            // What holds has all bits here, where an interpreter has the number one.
            Op::And | Op::Or | Op::Not | Op::Select if !self.are_truths(op, of) => return None,
            Op::And => self.line(Kind::And, of),
            Op::Or => self.line(Kind::Or, of),
            Op::Not => {
                let always = number(self, 0.0);
                let always = self.line(Kind::Compare(Relation::Equal), &[always, always]);
                self.line(Kind::Without, &[of[0], always])
            }
            Op::Select => self.choice(of[0], of[1], of[2]),
            _ => return None,
        })
    }

    /// a where all bits of a truth value are set, b elsewhere.
    fn choice(&mut self, holds: Operand, a: Operand, b: Operand) -> Operand {
        let a = self.line(Kind::And, &[a, holds]);
        let b = self.line(Kind::Without, &[holds, b]);
        self.line(Kind::Or, &[a, b])
    }

    /// Whether what an operation takes for truth values are results of comparisons.
    fn are_truths(&self, op: Op, of: &[Operand]) -> bool {
        let truths = if op == Op::Select { &of[..1] } else { of };
        truths.iter().all(|operand| match operand {
            Operand::Result(n) => matches!(
                self.lines[*n].kind,
                Kind::Compare(_) | Kind::And | Kind::Or | Kind::Without
            ),
            _ => false,
        })
    }

    /// What becomes of output `s`: in the order in which a row is summed where programs are
    /// interpreted.
    fn end(&mut self, s: usize, output: Operand, form: &Form) {
        let row = self.states + s * (2 + form.terms());
        let Form::Combined { here, terms, own, gains, streams, masked } = form else {
            let mut value = output;
            if let Form::Rod { .. } = form {
                let factor = self.scalar(Given::Rhs);
                value = self.line(Kind::MulAdd, &[output, factor, Operand::Row(s)]);
            }
            self.line(Kind::Store { row, streams: false }, &[value]);
            return;
        };
        let mut rhs = output;
        if gains[s] {
            rhs = self.line(Kind::Add, &[rhs, Operand::Row(row + 1)]);
        }
        let factor = self.scalar(Given::Rhs);
        let mut sum = match here {
            StateTerm::Whole => self.line(Kind::MulAdd, &[rhs, factor, Operand::Row(s)]),
            StateTerm::No | StateTerm::Scaled => self.line(Kind::Mul, &[rhs, factor]),
        };
        let scaled = (*here == StateTerm::Scaled).then_some(s);
        let begin = usize::from(*here == StateTerm::Whole);
        let rows = scaled.into_iter().chain((0..*terms).map(|k| row + 2 + k));
        for (k, term) in (begin..).zip(rows) {
            let factor = self.scalar(Given::Factor(k));
            sum = self.line(Kind::MulAdd, &[Operand::Row(term), factor, sum]);
        }
        if *own {
            let factor = self.scalar(Given::Own);
            sum = self.line(Kind::MulAdd, &[Operand::Row(row), factor, sum]);
        }
        if let Some(left) = masked {
            let mask = Operand::Row(self.states + self.outputs * (2 + terms));
            sum = self.line(Kind::And, &[sum, mask]);
            if *left == MaskedOutput::State {
                let kept = self.line(Kind::Without, &[mask, Operand::Row(s)]);
                sum = self.line(Kind::Xor, &[sum, kept]);
            }
        }
        self.line(Kind::Store { row, streams: *streams }, &[sum]);
    }
}
