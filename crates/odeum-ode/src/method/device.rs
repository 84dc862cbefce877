//! The device half of a family of methods: its kernels, the constants in their texts, and the quantities that determine their
//! layout.
//!
//! `gpu` reads this and knows no family. Each family has its own in `device.rs` of its folder, beside its headers.

use super::JacobianSource;
use odeum_core::Graph;
use odeum_core::emit::Signature;
use odeum_cuda::Text;

/// Where a kernel keeps the slopes of its stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Registers, everything unrolled: small systems.
    Registers,
    /// Shared memory, stages in a loop.
    Shared,
    /// Local memory: systems too large for the others.
    Local,
    /// Registers of several lanes for every system, which meet in shared memory.
    Lanes,
    /// Registers of the threads of a group and shared memory.
    Group,
    /// The same of interleaved systems.
    Interleaved,
}

/// What the text of a kernel is written for.
pub(crate) struct Subject<'a> {
    /// The right-hand side, where it is recorded.
    pub(crate) graph: Option<&'a Graph>,
    /// Equations n.
    pub(crate) dim: usize,
    /// Size of a number \[bytes\].
    pub(crate) word: usize,
}

/// A family of methods on devices.
pub(crate) trait OnDevice {
    /// Its kernel of the loop that integrates by groups of threads, or by straight-line code (gpu/device/integrate.cuh).
    fn group_kernel(&self, subject: &Subject<'_>) -> GroupKernel;

    /// Name and text of its kernel of interleaved systems (gpu/device/interleaved.cuh), where there is one.
    fn interleaved_kernel(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// The least relative tolerance at which matrices of single precision cost no accuracy, where a system allows them: measured
    /// (docs/src/performance/stiff-gpu.md).
    fn single_from(&self) -> f64 {
        f64::INFINITY
    }

    /// Writes the numbers of these kernels.
    fn write_numbers(&self, text: &mut Text, subject: &Subject<'_>);

    /// Its kernels by which one thread, or several lanes of a warp, have a system: for this right-hand side, in numbers of so
    /// many bytes.
    fn thread_kernels<'a>(
        &'a self,
        _graph: &'a Graph,
        _word: usize,
    ) -> Option<Box<dyn ThreadKernels + 'a>> {
        None
    }

    /// Its numbers that may differ from call to call, so that a compiled kernel serves them all: `of_method` of a task.
    /// `epsilon` is that of the precision.
    fn numbers(&self, _rtol: f64, _epsilon: f64) -> [f64; NUMBERS] {
        [0.0; NUMBERS]
    }
}

/// Numbers of a method in a task.
pub(crate) const NUMBERS: usize = 2;

/// The kernel of a family in the loop for groups of threads.
pub(crate) struct GroupKernel {
    pub(crate) name: &'static str,
    /// Its text, after the headers of the loop.
    pub(crate) text: &'static str,
    /// Whether it keeps the stages of a step (gpu/device/stages.cuh).
    pub(crate) keeps_stages: bool,
    /// What an implicit method needs; `None` of explicit ones.
    pub(crate) implicit: Option<Implicit>,
}

/// What the kernel of an implicit method needs.
pub(crate) struct Implicit {
    pub(crate) jacobian: JacobianSource,
    /// Where −J stays when the matrix has become factors.
    pub(crate) kept: KeptJacobian,
    /// Whether there are factors of a complex matrix, too.
    pub(crate) complex: bool,
    /// Vectors of a system that are alive at once, about.
    pub(crate) vectors: usize,
    /// Of these the stages that wait for the end of the step.
    pub(crate) stages: usize,
    /// Memory of a system beside vectors and matrices \[bytes\].
    pub(crate) scratch: usize,
}

impl Implicit {
    /// Bytes of an entry of the largest matrix, of all entries of one place, and of what that place has apart, where an entry of a
    /// real matrix has `entry`.
    pub(crate) fn bytes(&self, entry: usize) -> (usize, usize, usize) {
        let (kept, apart) = match self.kept {
            KeptJacobian::No => (0, 0),
            KeptJacobian::Beside => (entry, 0),
            KeptJacobian::Apart => (0, entry),
        };
        let complex = if self.complex { 2 * entry } else { 0 };
        (if self.complex { 2 * entry } else { entry }, entry + kept + complex, apart)
    }
}

/// Where −J stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptJacobian {
    /// Nowhere: it is evaluated for each matrix.
    No,
    /// Beside the matrices, for products with it.
    Beside,
    /// In the method's own memory, which is global where several threads have a system: read for each matrix alone.
    Apart,
}

/// Kernels of a family for one recorded system, of which a thread or some lanes of a warp have all.
pub(crate) trait ThreadKernels {
    /// The name of the kernel with this storage.
    fn name(&self, storage: Storage) -> &'static str;

    /// What a thread needs.
    fn thread(&self) -> ThreadNeeds;

    /// What several lanes for each system need, where there is such a kernel: it gives the bits of that of threads, and
    /// looks neither for terminal events nor at ranges.
    fn lanes(&self) -> Option<LanesNeeds> {
        None
    }

    /// Writes numbers, right-hand side and kernel.
    fn write(&self, text: &mut Text, storage: Storage);
}

/// What one thread needs for a system.
pub(crate) struct ThreadNeeds {
    /// Everything unrolled in registers; `None` where that is too much code.
    pub(crate) registers: Option<Registers>,
    /// Where stages are in a loop: their shared memory \[bytes\], and registers besides.
    pub(crate) stages: (usize, usize),
    /// Whether a group of threads is better than one whose stages lie in local memory.
    pub(crate) prefers_groups: bool,
}

/// Registers of a thread that keeps everything in them.
pub(crate) struct Registers {
    /// What it takes at least.
    pub(crate) least: usize,
    /// What it works best with.
    pub(crate) wanted: usize,
    /// Warps on a multiprocessor, at most.
    pub(crate) warps: usize,
}

/// What several lanes need for a system.
pub(crate) struct LanesNeeds {
    /// Lanes of a system, a power of two.
    pub(crate) width: usize,
    /// Their shared memory \[bytes\].
    pub(crate) bytes: usize,
}

/// How right-hand sides reach their data: by `[]`, whatever holds it.
pub(crate) fn signature() -> Signature {
    let argument = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
    Signature {
        qualifiers: "template <class OdY, class OdP, class OdF> OD_FN void".to_owned(),
        arguments: vec![
            argument("const real", "t"),
            argument("const OdY &", "y"),
            argument("const OdP &", "p"),
            argument("OdF &", "dydt"),
        ],
        ..Signature::arrays()
    }
}

/// Distance from 1 to the next larger number, of numbers of this size \[bytes\].
pub(crate) fn epsilon(word: usize) -> f64 {
    if word == size_of::<f32>() { f64::from(f32::EPSILON) } else { f64::EPSILON }
}
