//! Rows of the output, or of potentials, by machine code.

use super::combine::Goal;
use super::gather::At;
use super::masked;
use super::nine;
use super::program;
use super::row::PAD;
use super::scratch::{self, Origin, Scratch, gains, has_gains};
use crate::cpu::native::{Code, Form, MaskedOutput, StateTerm};
use crate::field::Layout;
use crate::plan::{Inputs, Kernel, Plan, Tape};
use odeum_core::real::Outlined;
use odeum_core::{Isa, Lanes, Scalar};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The most lanes of a pack that code computes.
const PACK: usize = 16;

/// The code of a problem, made when it is first asked for.
pub(crate) struct Codes {
    isa: Isa,
    /// What was asked for; `None` stands for what has to be interpreted.
    outputs: Mutex<Vec<(CodeKey, Option<Arc<Code>>)>>,
    potentials: Option<Code>,
    rod: OnceLock<Option<[Code; 2]>>,
}

/// Which code of outputs is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeKey {
    /// How the states themselves are added, how many other rows, and whether the old output is.
    pub(super) here: StateTerm,
    pub(super) terms: usize,
    pub(super) own: bool,
    /// Whether the output is written past the caches.
    pub(super) streams: bool,
    /// Near solids outputs keep their states where F is added to anything.
    pub(super) near_solids: bool,
}

impl Codes {
    pub(crate) fn new<T: Scalar>(plan: &Plan<T>, isa: Isa) -> Codes {
        let potentials = match &plan.kernel {
            Kernel::Tape(tape) if tape.n_potentials > 0 => {
                Code::new::<T>(&tape.potentials, &Form::Plain, isa)
            }
            _ => None,
        };
        Codes { isa, outputs: Mutex::default(), potentials, rod: OnceLock::new() }
    }

    /// The code of the potentials.
    pub(super) fn potentials(&self) -> Option<&Code> {
        self.potentials.as_ref()
    }

    /// The codes of a step of forward Euler along a rod with reactions, without and with a look whether
    /// values are finite.
    pub(super) fn rod<T: Scalar>(&self, plan: &Plan<T>) -> Option<&[Code; 2]> {
        let Kernel::Tape(tape) = &plan.kernel else { return None };
        let code = |looks: bool| Code::new::<T>(&tape.rhs, &Form::Rod { looks }, self.isa);
        self.rod.get_or_init(|| Some([code(false)?, code(true)?])).as_ref()
    }

    /// The code that makes rows of the output.
    pub(super) fn outputs<T: Scalar>(&self, plan: &Plan<T>, asked: CodeKey) -> Option<Arc<Code>> {
        let Kernel::Tape(tape) = &plan.kernel else { return None };
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = outputs.iter().find(|(known, _)| *known == asked) {
            return code.clone();
        }
        let CodeKey { here, terms, own, streams, near_solids } = asked;
        let gains = (0..plan.layout.species).map(|s| has_gains(plan, s)).collect();
        let masked = match near_solids {
            true if here != StateTerm::No || terms > 0 || own => Some(MaskedOutput::State),
            true => Some(MaskedOutput::Zero),
            // Cache lines are whole packs, of which rows have whole ones.
            false => {
                (plan.layout.wide::<T>() != plan.layout.shape[0]).then_some(MaskedOutput::Zero)
            }
        };
        let form = Form::Combined { here, terms, own, gains, streams, masked };
        let code = Code::new::<T>(&tape.rhs, &form, self.isa).map(Arc::new);
        outputs.push((asked, code.clone()));
        code
    }
}

/// Computes the output along rows of all species; NaN in a lane when a value is not finite.
#[inline(always)]
pub(super) fn outputs<L: Lanes>(
    code: &Code,
    tape: &Tape,
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
    goal: Goal<'_, L::Scalar>,
) -> L {
    let mut non_finite = L::lit(0.0);
    L::outline(Outputs { code, tape, origin, scratch, at, goal, non_finite: &mut non_finite });
    non_finite
}

/// Pointers to the rows that a program reads, in the order of its states.
#[inline(never)]
fn inputs<T: Scalar>(
    code: &Code,
    inputs: &Inputs,
    origin: &Origin<'_, T>,
    scratch: &mut Scratch<T>,
    at: At,
) {
    let (species, stride) = (origin.plan.layout.species, scratch.stride);
    program::fill_places(origin.plan, inputs, stride, &mut scratch.offsets, at);
    // Rows that the program does not read stay without memory.
    scratch.pointers.clear();
    scratch.pointers.resize(code.states(), std::ptr::null_mut());
    let Scratch { pointers, laplacians, offsets, .. } = scratch;
    let padded = |rows: &mut [T], n: usize| rows[n * stride + PAD..].as_mut_ptr();
    for s in 0..species {
        // Whether the program reads it or not: the code may add it. Code writes outputs alone.
        pointers[s] = origin.around(s).rows(at).as_ptr().cast_mut();
    }
    for &s in &inputs.laplacians {
        pointers[species + s] = padded(laplacians, s);
    }
    for axis in (0..3).filter(|axis| inputs.coordinates[*axis]) {
        pointers[2 * species + axis] = padded(offsets, axis);
    }
    for &k in &inputs.beyond {
        pointers[2 * species + 3 + k] = padded(laplacians, species + k);
    }
}

/// Potentials along rows, of which the Laplacians that they are made of are prepared, to where
/// those of the first begin, and from one potential to the next, with room for whole cache lines.
#[inline(always)]
pub(super) fn potentials<L: Lanes>(
    code: &Code,
    tape: &Tape,
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
    (first, volume): (*mut L::Scalar, usize),
) {
    inputs(code, &tape.potential_inputs, origin, scratch, at);
    for k in 0..tape.n_potentials {
        // Nothing is gained.
        scratch.pointers.extend([first.wrapping_add(k * volume), std::ptr::null_mut()]);
    }
    let Layout { row, .. } = origin.plan.layout;
    let wide = (at.rows - 1) * row + origin.plan.layout.wide::<L::Scalar>();
    let bytes = [0, wide * size_of::<L::Scalar>()];
    let mut non_finite = [L::Scalar::from_f64(0.0); PACK];
    let numbers = &origin.moment.numbers[1];
    // SAFETY: inputs and potentials are rows of whole cache lines, each of which is a pack or more, of
    // this thread's own memory but for the states, which nobody writes; codes are made for
    // the instructions that the CPU was asked for.
    unsafe { code.run(&scratch.pointers, numbers, bytes, non_finite.as_mut_ptr()) };
}

/// Rows of outputs out of line: they are most of what a sweep does.
struct Outputs<'a, 'o, L: Lanes> {
    code: &'a Code,
    tape: &'a Tape,
    origin: &'a Origin<'o, L::Scalar>,
    scratch: &'a mut Scratch<L::Scalar>,
    at: At,
    goal: Goal<'a, L::Scalar>,
    non_finite: &'a mut L,
}

impl<L: Lanes> Outlined for Outputs<'_, '_, L> {
    #[inline(always)]
    fn run(self) {
        let Outputs { code, tape, origin, scratch, at, goal, non_finite } = self;
        let species = origin.plan.layout.species;
        for s in 0..species {
            gains::<L>(origin, scratch, s, at);
        }
        nine::laplacians::<L>(origin, &tape.rhs_inputs, scratch, at);
        inputs(code, &tape.rhs_inputs, origin, scratch, at);
        for s in 0..species {
            let gains = scratch.gains[s * scratch.stride + PAD..].as_mut_ptr();
            scratch.pointers.extend([goal.out(s), gains]);
            let others = goal.terms(s, usize::from(code.form().adds_states()));
            scratch.pointers.extend(others.map(|row| row.as_ptr().cast_mut()));
        }
        if let Some(domain) = origin.plan.domain_near((at.y, at.z), at.rows) {
            let Layout { row, shape: [nx, ..], .. } = origin.plan.layout;
            let ones = L::splat(scratch::ones());
            masked::masks((domain, at), (nx, row), ones, &mut scratch.solid_masks);
            scratch.pointers.push(scratch.solid_masks.as_mut_ptr());
        } else if code.form().is_masked() {
            scratch.pointers.push(scratch.masks.as_mut_ptr());
        }
        along(code, origin, scratch, at, non_finite);
    }
}

/// Runs code along rows, of which the pointers are there.
#[inline(always)]
fn along<L: Lanes>(
    code: &Code,
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
    non_finite: &mut L,
) {
    let Layout { row, shape: [nx, ..], .. } = origin.plan.layout;
    let wide = (at.rows - 1) * row + origin.plan.layout.wide::<L::Scalar>();
    // Rows without a gap between them, or whose gaps are masked, are as one.
    let (rows, cells) = match row == nx || code.form().is_masked() {
        true => (1, wide),
        false => (at.rows, nx),
    };
    let word = size_of::<L::Scalar>();
    let mut sums = [L::Scalar::from_f64(0.0); PACK];
    for begin in (0..rows).map(|n| n * row) {
        let bytes = [begin * word, (begin + cells) * word];
        let numbers = &origin.moment.numbers[0];
        // SAFETY: all rows that the program reads, and those of the output, reach over these cells, whole
        // packs; what is written is this tile's. Codes are made for instructions that there are.
        unsafe { code.run(&scratch.pointers, numbers, bytes, sums.as_mut_ptr()) };
    }
    *non_finite = L::load(&sums[..L::WIDTH]);
}
