//! Machine code of programs along rows, made when a problem is prepared.
//!
//! An interpreter reads and writes memory at every operation; where a reaction is computed for each
//! cell that takes longer than all the rest of a sweep. The code made here keeps what it computes in
//! registers, and goes on from F to what the sweep makes of it: own · out + Σ cₖ Vₖ + rhs · F. Its
//! operations are those of the interpreter in the same order, and so are the bits of its results.
//!
//! There is code for x86-64 with AVX2 or AVX-512, of programs without elementary functions but roots.
//! Elsewhere, and where the system grants no executable memory, programs are
//! interpreted.

#[cfg(target_arch = "x86_64")]
mod encode;
#[cfg(target_arch = "x86_64")]
mod instruction_list;
#[cfg(target_arch = "x86_64")]
mod registers;

#[cfg(target_arch = "x86_64")]
use instruction_list::{Given, InstructionList};
use odeum_core::{Isa, Program, Scalar};

/// What is made of the outputs of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// They are written as they are.
    Plain,
    /// own · out + Σ cₖ Vₖ + right-hand side · (F + gains)
    Combined {
        /// Whether the first term is of the states themselves: outputs are then the first states.
        here: StateTerm,
        /// Rows that are added, beside those states.
        terms: usize,
        /// Whether the old content of the output is added.
        own: bool,
        /// Which outputs gain something that is computed elsewhere.
        gains: Vec<bool>,
        /// Whether the output is written past the caches.
        streams: bool,
        /// Whether a row of masks leaves out lanes, and what they get.
        masked: Option<MaskedOutput>,
    },
    /// A step of forward Euler along a rod, out = u + rhs · F, where each lane has a stretch of its
    /// own: neighbours of a pack are the packs beside it. Second differences are computed from them, in
    /// place of rows that are read. Not all code looks whether what it writes is finite.
    Rod { looks: bool },
}

/// How the states themselves are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateTerm {
    No,
    /// Times the first factor.
    Scaled,
    /// As they are: the first factor is one.
    Whole,
}

/// What lanes get that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskedOutput {
    Zero,
    /// Outputs are the first states: of each that one.
    State,
}

impl Form {
    /// Rows that are added to each output, states not counted.
    fn terms(&self) -> usize {
        if let Form::Combined { terms, .. } = self { *terms } else { 0 }
    }

    /// Whether code looks if what it writes is finite.
    #[cfg(target_arch = "x86_64")]
    fn looks(&self) -> bool {
        !matches!(self, Form::Rod { looks: false, .. })
    }

    /// Whether the first of what is added is the states themselves.
    pub(crate) fn adds_states(&self) -> bool {
        matches!(self, Form::Combined { here: StateTerm::Scaled | StateTerm::Whole, .. })
    }

    /// Whether there is a row of masks: bits of a cell that counts are all ones, others are zero.
    pub(crate) fn is_masked(&self) -> bool {
        matches!(self, Form::Combined { masked: Some(_), .. })
    }
}

/// The factors of a [combination](Form::Combined).
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) struct Factors<'a> {
    pub(crate) rhs: f64,
    pub(crate) own: f64,
    /// Of the terms, that of the states first where they are one.
    pub(crate) terms: &'a [f64],
}

/// Machine code for one precision and one instruction set.
#[derive(Debug)]
pub(crate) struct Code {
    #[cfg(target_arch = "x86_64")]
    memory: memmap2::Mmap,
    #[cfg(target_arch = "x86_64")]
    given: Vec<Given>,
    states: usize,
    outputs: usize,
    form: Form,
    /// The rows that are read or written.
    used: Vec<usize>,
}

impl Code {
    /// The code of a program for scalars of type `T`; `None` where there can be none.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn new<T: Scalar>(program: &Program, form: &Form, isa: Isa) -> Option<Code> {
        let target = encode::Target::new(isa, size_of::<T>())?;
        let instruction_list = InstructionList::new(program, form)?;
        let acts = registers::allocate(&instruction_list, target.registers(), form.looks())?;
        let used = instruction_list.rows();
        let bytes = encode::encode(&target, &used, &acts)?;
        let mut memory = memmap2::MmapMut::map_anon(bytes.len()).ok()?;
        memory.copy_from_slice(&bytes);
        let memory = memory.make_exec().ok()?;
        let InstructionList { given, states, outputs, .. } = instruction_list;
        Some(Code { memory, given, states, outputs, form: form.clone(), used })
    }

    /// There is none for this CPU.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn new<T: Scalar>(_: &Program, _: &Form, _: Isa) -> Option<Code> {
        None
    }

    /// The numbers that the code reads.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn scalars<T: Scalar>(
        &self,
        t: f64,
        factors: &Factors<'_>,
    ) -> impl Iterator<Item = T> {
        let number = move |given: &Given| match *given {
            Given::Number(number) => number.0,
            Given::Time => t,
            Given::Rhs => factors.rhs,
            Given::Own => factors.own,
            Given::Factor(k) => factors.terms[k],
        };
        self.given.iter().map(move |given| T::from_f64(number(given)))
    }

    /// The numbers that the code reads.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn scalars<T: Scalar>(&self, _: f64, _: &Factors<'_>) -> impl Iterator<Item = T> {
        std::iter::empty()
    }

    /// Rows that [`run`](Code::run) is given: the states, then for each output the output itself,
    /// its gains, and the rows that are added, and last that of masks.
    pub(crate) fn rows(&self) -> usize {
        let masks = usize::from(self.form.is_masked());
        self.states + self.outputs * (2 + self.form.terms()) + masks
    }

    /// How many of these are states.
    pub(crate) fn states(&self) -> usize {
        self.states
    }

    /// What is made of the outputs.
    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// Computes the outputs from byte `begin` to before byte `end` of the rows, whole packs, at
    /// least one. Zero times what is written is added to the pack `non_finite`, where the code looks.
    ///
    /// # Safety
    ///
    /// There must be [`rows`](Code::rows) pointers, of which those that the program reads lead to
    /// so many bytes, along rods to a pack before and behind them too, and
    /// [`scalars`](Code::scalars) as this code gives them; a pack must lie at `non_finite`. Outputs
    /// must be the caller's to write, and overlap no row that is read but where an output is read at
    /// the place that is written next. What is written past the caches begins on cache lines. The
    /// processor must have the instructions.
    pub(crate) unsafe fn run<T: Scalar>(
        &self,
        rows: &[*mut T],
        scalars: &[T],
        [begin, end]: [usize; 2],
        non_finite: *mut T,
    ) {
        debug_assert!(rows.len() == self.rows() && begin < end);
        debug_assert!(self.used.iter().all(|row| !rows[*row].is_null()));
        #[cfg(target_arch = "x86_64")]
        {
            type Run<T> = unsafe extern "sysv64" fn(*const *mut T, *const T, usize, usize, *mut T);
            // SAFETY: the memory holds a function of this type for this precision, as `encode` writes it.
            let run: Run<T> = unsafe { std::mem::transmute(self.memory.as_ptr()) };
            // SAFETY: the caller's promise.
            unsafe { run(rows.as_ptr(), scalars.as_ptr(), begin, end, non_finite) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (rows, scalars, begin, end, non_finite);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
