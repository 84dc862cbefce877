//! Instructions and the loop that runs them.

use crate::graph::{Op, Operands};
use crate::real::Real;
use std::mem::MaybeUninit;

/// Where a value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) array: Array,
    index: u32,
}

/// The arrays an instruction reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Array {
    /// Constants, then the time if it is used, then slots for intermediate values.
    Work = 0,
    State = 1,
    Param = 2,
    Output = 3,
}

impl Place {
    /// # Panics
    ///
    /// When a tape has more than 2³² values of a kind.
    pub(super) fn new(array: Array, index: usize) -> Place {
        assert!(u32::try_from(index).is_ok(), "a tape has at most 2^32 values of a kind");
        Place { array, index: index as u32 }
    }

    pub(super) fn is_work(self) -> bool {
        self.array == Array::Work
    }

    #[inline(always)]
    pub(super) fn array(self) -> usize {
        self.array as usize
    }

    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.index as usize
    }
}

/// `result = op(operands)`. Offsets beyond the operation's arity repeat the first.
///
/// Arrays and indices lie apart: that packs them into 24 bytes, and an address then takes two
/// loads and a shift to find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) op: Op,
    /// Of the result, then of the operands.
    arrays: [Array; 4],
    indices: [u32; 4],
}

impl Instruction {
    pub(super) fn new(op: Op, result: Place, operands: [Place; 3]) -> Instruction {
        let [a, b, c] = operands;
        let places = [result, a, b, c];
        Instruction { op, arrays: places.map(|p| p.array), indices: places.map(|p| p.index) }
    }

    /// The result (0) or operand `k - 1`.
    #[inline(always)]
    pub(super) fn place(&self, k: usize) -> Place {
        Place { array: self.arrays[k], index: self.indices[k] }
    }
}

/// A compiled graph with any number of outputs: right-hand side, Jacobian entries, …
///
/// Conditions are held as the numbers 1 and 0.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) constants: Vec<f64>,
    pub(super) uses_time: bool,
    pub(super) instructions: Vec<Instruction>,
    /// Outputs that no instruction writes: plain inputs and repeated values. (to, from)
    pub(super) copies: Vec<(Place, Place)>,
    /// Lengths of the four arrays, in the order of [`Array`].
    pub(super) lengths: [usize; 4],
}

impl Program {
    /// Number of states.
    pub fn n_states(&self) -> usize {
        self.lengths[Array::State as usize]
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.lengths[Array::Output as usize]
    }

    /// Whether an output depends on the time.
    pub fn uses_time(&self) -> bool {
        self.uses_time
    }

    /// Number of instructions; an output that is a plain input costs a copy and no instruction.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// True when every output is a plain input.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// How many values of workspace [`run`](Program::run) wants.
    pub fn workspace(&self) -> usize {
        self.lengths[Array::Work as usize]
    }

    /// Checks what [`execute`](Program::execute) relies on: every place lies within its array,
    /// inputs are never written, and nothing is read before it is written.
    ///
    /// # Panics
    ///
    /// When a place is wrong, which the compilation rules out.
    pub(super) fn validate(&self) {
        let within = |place: Place| place.index() < self.lengths[place.array()];
        let writable = |place: Place| place.array() == 0 || place.array() == 3;
        let given = self.constants.len() + usize::from(self.uses_time);
        assert!(given <= self.workspace(), "constants lie in the workspace");
        let mut written = self.lengths.map(|length| vec![false; length]);
        written[0][..given].fill(true);
        written[1].fill(true);
        written[2].fill(true);
        for instruction in &self.instructions {
            for place in (1..4).map(|k| instruction.place(k)) {
                assert!(within(place) && written[place.array()][place.index()]);
            }
            let result = instruction.place(0);
            assert!(within(result) && writable(result));
            written[result.array()][result.index()] = true;
        }
        for (to, from) in &self.copies {
            assert!(within(*from) && written[from.array()][from.index()]);
            assert!(within(*to) && to.array() == 3);
            written[3][to.index()] = true;
        }
        assert!(written[3].iter().all(|&written| written), "every output is written");
    }

    /// Computes all outputs from the time `t`, states `y` and parameters `p`, with a workspace
    /// of [`workspace`](Program::workspace) values whose content means nothing.
    ///
    /// # Panics
    ///
    /// When a slice is too short.
    #[inline(always)]
    pub fn run<R: Real>(&self, t: R, y: &[R], p: &[R], out: &mut [R], work: &mut [R]) {
        assert!(work.len() >= self.lengths[0], "workspace too short");
        // SAFETY: the workspace is long enough, and the method checks the others.
        unsafe { self.run_in(t, y, p, out, work.as_mut_ptr()) }
    }

    /// As [`run`](Program::run), with a workspace on the stack, or on the heap when more than 32
    /// values are needed.
    #[inline(always)]
    pub fn run_alone<R: Real>(&self, t: R, y: &[R], p: &[R], out: &mut [R]) {
        if self.workspace() <= 32 {
            let mut work = [const { MaybeUninit::<R>::uninit() }; 32];
            // SAFETY: the array is long enough; uninitialised values are written before read.
            unsafe { self.run_in(t, y, p, out, work.as_mut_ptr().cast()) }
        } else {
            let mut work: Vec<R> = Vec::with_capacity(self.workspace());
            // SAFETY: the capacity is long enough; uninitialised values are written before read.
            unsafe { self.run_in(t, y, p, out, work.as_mut_ptr()) }
        }
    }

    /// # Safety
    ///
    /// `work` must be valid for reads and writes of [`workspace`](Program::workspace) values; it
    /// may be uninitialised.
    #[inline(always)]
    unsafe fn run_in<R: Real>(&self, t: R, y: &[R], p: &[R], out: &mut [R], work: *mut R) {
        assert!(y.len() >= self.lengths[1], "too few states");
        assert!(p.len() >= self.lengths[2], "too few parameters");
        assert!(out.len() >= self.lengths[3], "too few outputs");
        // The tape never writes through the pointers to states and parameters.
        let arrays = [work, y.as_ptr().cast_mut(), p.as_ptr().cast_mut(), out.as_mut_ptr()];
        // SAFETY: all four arrays are as long as the tape says; `validate` has checked that
        // every place lies within them, that only workspace and outputs are written, and that
        // values are written before they are read.
        unsafe { self.execute(t, arrays) }
    }

    /// # Safety
    ///
    /// The arrays must have the lengths the tape says, and must not overlap where written.
    #[inline(always)]
    unsafe fn execute<R: Real>(&self, t: R, arrays: [*mut R; 4]) {
        let arrays = Arrays(arrays);
        for (k, &constant) in self.constants.iter().enumerate() {
            // SAFETY: constants lie at the front of the workspace.
            unsafe { arrays.0[0].add(k).write(R::lit(constant)) };
        }
        if self.uses_time {
            // SAFETY: the time follows the constants.
            unsafe { arrays.0[0].add(self.constants.len()).write(t) };
        }
        for instruction in &self.instructions {
            instruction.op.run(Step { arrays: &arrays, instruction });
        }
        for &(to, from) in &self.copies {
            // SAFETY: checked by `validate`.
            unsafe { arrays.at(to).write(arrays.at(from).read()) };
        }
    }
}

/// The arrays of a run, in the order of [`Array`].
struct Arrays<R>([*mut R; 4]);

impl<R> Arrays<R> {
    /// # Safety
    ///
    /// The place must lie within its array.
    #[inline(always)]
    unsafe fn at(&self, place: Place) -> *mut R {
        // SAFETY: the caller's promise; an array is one of four.
        unsafe { self.0.get_unchecked(place.array()).add(place.index()) }
    }
}

/// One instruction of a run. Made only by [`Program::execute`], whose promises it relies on.
struct Step<'a, R> {
    arrays: &'a Arrays<R>,
    instruction: &'a Instruction,
}

impl<R: Real> Operands<R> for Step<'_, R> {
    #[inline(always)]
    fn operand(&self, k: usize) -> R {
        // SAFETY: operands lie within their arrays and are written before they are read.
        unsafe { self.arrays.at(self.instruction.place(k + 1)).read() }
    }

    #[inline(always)]
    fn result(&mut self, value: R) {
        // SAFETY: results lie within the workspace or the outputs.
        unsafe { self.arrays.at(self.instruction.place(0)).write(value) }
    }
}
