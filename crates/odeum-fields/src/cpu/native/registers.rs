//! Which register holds what, and when.
//!
//! A pack is computed by straight-line code, so it is known when each value is read next. Results stay
//! in registers until they have been read for the last time; of packs of rows and numbers, which
//! can be loaded again, those are given up that are wanted last. Code that has more results at a
//! time than registers is not made.

use super::instruction_list::{InstructionList, Kind, Line, Operand};
use std::collections::HashMap;

/// One instruction, with registers by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// The pack of a row, or that so many packs on.
    Load {
        to: usize,
        row: usize,
        on: i8,
    },
    /// A number in all lanes.
    Broadcast {
        to: usize,
        scalar: usize,
    },
    Move {
        to: usize,
        from: usize,
    },
    /// Of one operand or two.
    Compute {
        kind: Kind,
        to: usize,
        a: usize,
        b: usize,
    },
    /// A [`Kind`] of three operands, of which the first is overwritten: a by a b ± c.
    Onto {
        kind: Kind,
        a: usize,
        b: usize,
        c: usize,
    },
    /// The same where c is overwritten.
    OntoSum {
        kind: Kind,
        a: usize,
        b: usize,
        c: usize,
    },
    Store {
        row: usize,
        from: usize,
        streams: bool,
    },
}

/// All instructions of a pack, and what lies in registers before the first.
#[derive(Debug, Default)]
pub(super) struct Allocated {
    /// Numbers that stay in registers: (scalar, register).
    pub(super) kept: Vec<(usize, usize)>,
    /// Zero in all lanes.
    pub(super) zero: usize,
    /// Two sums of zero times what is stored, in turn, so that none waits for the last.
    pub(super) checks: [usize; 2],
    pub(super) acts: Vec<Act>,
}

/// Gives out registers, with as many numbers kept as there is room for; `None` when results alone
/// want more than there are.
pub(super) fn allocate(
    instruction_list: &InstructionList,
    registers: usize,
    looks: bool,
) -> Option<Allocated> {
    let mut uses: HashMap<Operand, Vec<usize>> = HashMap::new();
    for (n, line) in instruction_list.lines.iter().enumerate() {
        line.operands.iter().for_each(|operand| uses.entry(*operand).or_default().push(n));
    }
    let mut kept = instruction_list.given.len().min(registers - 3);
    loop {
        if let Some(allocated) = Allocator::new(instruction_list, &uses, registers, kept).run(looks)
        {
            return Some(allocated);
        }
        kept = kept.checked_sub(1)?;
    }
}

struct Allocator<'a> {
    lines: &'a [Line],
    /// The lines that read an operand, in their order.
    uses: &'a HashMap<Operand, Vec<usize>>,
    /// What lies in each register that is not reserved.
    holds: Vec<Option<Operand>>,
    allocated: Allocated,
}

impl<'a> Allocator<'a> {
    fn new(
        instruction_list: &'a InstructionList,
        uses: &'a HashMap<Operand, Vec<usize>>,
        registers: usize,
        kept: usize,
    ) -> Allocator<'a> {
        // The last registers are reserved.
        let free = registers - 3 - kept;
        let allocated = Allocated {
            kept: (0..kept).map(|scalar| (scalar, free + scalar)).collect(),
            zero: registers - 1,
            checks: [registers - 2, registers - 3],
            acts: Vec::new(),
        };
        Allocator { lines: &instruction_list.lines, uses, holds: vec![None; free], allocated }
    }

    fn run(mut self, looks: bool) -> Option<Allocated> {
        let mut stores = 0;
        for (n, line) in self.lines.iter().enumerate() {
            let mut at = [0; 3];
            for k in 0..line.operands.len() {
                at[k] = self.register(line.operands[k], n)?;
            }
            if let Kind::Store { row, streams } = line.kind {
                if looks {
                    let (b, c) = (self.allocated.zero, self.allocated.checks[stores % 2]);
                    self.act(Act::OntoSum { kind: Kind::MulAdd, a: at[0], b, c });
                }
                stores += 1;
                self.act(Act::Store { row, from: at[0], streams });
                self.release(n);
                continue;
            }
            let to = match line.kind {
                Kind::MulAdd | Kind::MulSub | Kind::NegMulAdd => self.fused(n, line, at)?,
                kind => {
                    self.release(n);
                    let to = self.vacant(n, &[])?;
                    self.act(Act::Compute { kind, to, a: at[0], b: at[1] });
                    to
                }
            };
            self.holds[to] = Some(Operand::Result(n));
        }
        Some(self.allocated)
    }

    fn act(&mut self, act: Act) {
        self.allocated.acts.push(act);
    }

    /// The next line from `n` on that reads an operand.
    fn next_use(&self, operand: Operand, n: usize) -> Option<usize> {
        let lines = self.uses.get(&operand)?;
        lines.get(lines.partition_point(|&line| line < n)).copied()
    }

    /// The register of an operand of line `n`, which is loaded if need be.
    fn register(&mut self, operand: Operand, n: usize) -> Option<usize> {
        if let Operand::Scalar(scalar) = operand
            && let Some(&(_, register)) = self.allocated.kept.get(scalar)
        {
            return Some(register);
        }
        if let Some(found) = self.holds.iter().position(|held| *held == Some(operand)) {
            return Some(found);
        }
        let to = self.vacant(n, &self.lines[n].operands)?;
        match operand {
            Operand::Row(row) => self.act(Act::Load { to, row, on: 0 }),
            Operand::Before(row) => self.act(Act::Load { to, row, on: -1 }),
            Operand::Behind(row) => self.act(Act::Load { to, row, on: 1 }),
            Operand::Scalar(scalar) => self.act(Act::Broadcast { to, scalar }),
            Operand::Result(_) => return None,
        }
        self.holds[to] = Some(operand);
        Some(to)
    }

    /// A register that holds nothing, at line `n`, where these operands must stay.
    fn vacant(&mut self, n: usize, staying: &[Operand]) -> Option<usize> {
        if let Some(vacant) = self.holds.iter().position(Option::is_none) {
            return Some(vacant);
        }
        let again = |held: &Option<Operand>| match held {
            Some(operand) if staying.contains(operand) => None,
            Some(Operand::Result(_)) | None => None,
            Some(operand) => Some(self.next_use(*operand, n).unwrap_or(usize::MAX)),
        };
        let given_up = (0..self.holds.len())
            .filter_map(|register| Some((again(&self.holds[register])?, register)))
            .max()?;
        self.holds[given_up.1] = None;
        Some(given_up.1)
    }

    /// Empties registers whose content no line after `n` reads.
    fn release(&mut self, n: usize) {
        for register in 0..self.holds.len() {
            if let Some(operand) = self.holds[register]
                && self.next_use(operand, n + 1).is_none()
            {
                self.holds[register] = None;
            }
        }
    }

    /// Whether no line after `n` wants what lies in a register.
    fn ends(&self, register: usize, n: usize) -> bool {
        let held = self.holds.get(register).copied().flatten();
        held.is_some_and(|operand| self.next_use(operand, n + 1).is_none())
    }

    /// A fused operation, onto an operand that is not read again or else a copy; gives the
    /// register of its result.
    fn fused(&mut self, n: usize, line: &Line, [a, b, c]: [usize; 3]) -> Option<usize> {
        let kind = line.kind;
        let to = if self.ends(c, n) && c != a && c != b {
            self.act(Act::OntoSum { kind, a, b, c });
            c
        } else if self.ends(a, n) {
            self.act(Act::Onto { kind, a, b, c });
            a
        } else if self.ends(b, n) {
            self.act(Act::Onto { kind, a: b, b: a, c });
            b
        } else {
            let to = self.vacant(n, &line.operands)?;
            self.act(Act::Move { to, from: a });
            self.act(Act::Onto { kind, a: to, b, c });
            to
        };
        self.release(n);
        Some(to)
    }
}
