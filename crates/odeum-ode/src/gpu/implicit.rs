//! Kernels of implicit methods: who evaluates and solves, how that is laid out, and the complete text.

use super::layout::{Layout, WARP};
use super::plan::Kernel;
use super::source::{self, Traits};
use super::system::DeviceSystem;
use crate::controller::Law;
use crate::linalg::GroupLu;
use crate::method::{Method, exponential, rosenbrock};
use odeum_core::emit::Tables;
use odeum_cuda::{Limits, Text};

const GROUP: &str = include_str!("device/group.cuh");
const LINEARISED: &str = include_str!("device/linearised.cuh");

/// Equations up to which a warp has a system; a block of several warps has larger ones.
const MOST_OF_WARP: usize = 128;
/// Warps of such a block.
const WARPS: usize = 4;

/// Registers that hold the stages of a thread, in numbers, at most.
const STAGE_REGISTERS: usize = 32;

/// What a family of methods is in device code.
struct Family {
    /// Its kernel, and the text of it.
    name: &'static str,
    text: &'static str,
    law: Law,
    /// Order of the error estimate.
    error_order: u32,
    /// Whether −J stays beside its factors.
    keeps_jacobian: bool,
    /// Whether there are factors of a complex matrix, too.
    complex: bool,
    /// More memory of a group \[bytes\].
    scratch: usize,
}

impl Family {
    /// Of a method, for n equations in numbers of `word` bytes; `None` of methods without a kernel.
    fn of(method: &Method, n: usize, word: usize) -> Option<Family> {
        match method {
            Method::Rosenbrock(rosenbrock) => Some(Family {
                name: "od_rosenbrock",
                text: rosenbrock::device::KERNEL,
                law: rosenbrock.controller.law,
                error_order: rosenbrock.tableau.embedded_order,
                keeps_jacobian: false,
                complex: false,
                scratch: 0,
            }),
            Method::Exponential(method) => Some(Family {
                name: "od_exponential",
                text: exponential::device::kernel(method),
                law: method.controller.law,
                error_order: method.tableau.embedded_order,
                keeps_jacobian: true,
                complex: false,
                scratch: exponential::device::scratch(method, n, word),
            }),
            Method::Erk(_) | Method::Rkc(_) | Method::Radau(_) => None,
        }
    }

    /// Bytes of an entry of the largest matrix, and of all entries of one place, where an entry of a real one has `entry`.
    fn bytes(&self, entry: usize) -> (usize, usize) {
        let kept = if self.keeps_jacobian { entry } else { 0 };
        let complex = if self.complex { 2 * entry } else { 0 };
        (if self.complex { 2 * entry } else { entry }, entry + kept + complex)
    }
}

/// Writes the numbers of a method for n equations.
fn write_numbers(text: &mut Text, method: &Method, n: usize) {
    match method {
        Method::Rosenbrock(rosenbrock) => rosenbrock::device::write(text, rosenbrock.tableau),
        Method::Exponential(method) => exponential::device::write(text, method, n),
        Method::Erk(_) | Method::Rkc(_) | Method::Radau(_) => {}
    }
}

/// How the text reads a system and its matrix.
struct Linear {
    /// Functions that evaluate, linearise, factor and solve.
    text: String,
    tables: Tables,
    /// Entries of the matrix, of a right-hand side, and the entry of the matrix that nobody reads.
    matrix: usize,
    x: usize,
    unused: usize,
    /// Memory of what evaluates the system \[bytes\].
    work: usize,
    uses_time: bool,
}

/// By a group of `width` threads.
fn grouped(system: &DeviceSystem, width: usize, entry: usize) -> Linear {
    let grouped = &*system.grouped;
    let lu = GroupLu::new(&grouped.jacobian_pattern(), width, entry);
    let places = lu.places();
    let group = grouped.group_text(width, places, entry == 4);
    let mut tables = lu.tables();
    tables.append(group.tables);
    Linear {
        text: format!("{}\n{}", crate::linalg::GROUP_LU, group.text),
        tables,
        matrix: places.len as usize,
        x: lu.x_entries(),
        unused: places.unused as usize,
        work: group.memory,
        uses_time: grouped.uses_time(),
    }
}

/// Bytes of the structure `OdMemory` (device/linearised.cuh) with matrices of so many.
fn memory(linear: &Linear, matrices: usize, (dim, word, largest, width): Sizes) -> usize {
    let part = |bytes: usize| bytes.next_multiple_of(16);
    let vectors = if linear.uses_time { 3 } else { 2 };
    let shared = part(linear.x * largest).max(part(linear.work.max(1).next_multiple_of(word)));
    vectors * part(dim * word) + part(matrices) + shared + part(width * word + word)
}

/// Bytes of a pointer in it.
const POINTER: usize = 16;

/// Equations, bytes of a number and of the largest entry of a matrix, threads of a group.
type Sizes = (usize, usize, usize, usize);

/// The kernel of an implicit method; `None` of methods without one, and where not even the vectors of a system fit in
/// shared memory.
pub(super) fn kernel(
    system: &DeviceSystem,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
) -> Option<Kernel> {
    let (dim, n_params) = system.grouped.sizes();
    let (word, entry) = (traits.word(), traits.word());
    let family = Family::of(method, dim, word)?;
    let width = if dim <= MOST_OF_WARP { WARP } else { WARPS * WARP };
    let (largest, of_place) = family.bytes(entry);
    let linear = grouped(system, width, largest);
    let sizes = (dim, word, largest, width);
    let matrices = linear.matrix.next_multiple_of(16) * of_place;
    // What a method has beside its matrices is always in global memory.
    let scratch = family.scratch;
    let pointer = if scratch > 0 { POINTER } else { 0 };
    let shared = memory(&linear, matrices, sizes) + pointer;
    let (layout, in_global) = match Layout::group(width, shared, scratch, limits) {
        Some(layout) => (layout, false),
        None => {
            let shared = memory(&linear, POINTER, sizes) + pointer;
            (Layout::group(width, shared, matrices + scratch, limits)?, true)
        }
    };

    let mut text = Text::default();
    let sizes = (dim, n_params);
    source::head(&mut text, sizes, traits, family.law, family.error_order, &layout);
    text.define("OD_IMPLICIT", 1);
    text.define("OD_KEEPS_JACOBIAN", u8::from(family.keeps_jacobian));
    text.define("OD_COMPLEX", u8::from(family.complex));
    text.define("OD_WIDTH", width);
    text.define("OD_GROUP_USES_TIME", u8::from(linear.uses_time));
    text.define("OD_GROUP_WORK", linear.work.div_ceil(word).max(1));
    text.define("OD_MATRIX_UNUSED", format_args!("{}u", linear.unused));
    text.define("OD_GROUP_BYTES", layout.shared / (layout.block / width));
    text.define("OD_MATRIX_IN_GLOBAL", u8::from(in_global));
    text.define("OD_SCRATCH_BYTES", scratch);
    text.define("OD_GLOBAL_BYTES", layout.global / (layout.block / width));
    text.define("OD_MOST_STAGE_REGISTERS", STAGE_REGISTERS);
    source::common(&mut text);
    text.line("typedef real od_entry;");
    text.line(GROUP);
    text.line(linear.tables.defines());
    text.line(&linear.text);
    write_numbers(&mut text, method, dim);
    text.line(LINEARISED);
    text.line(family.text);
    let tables = linear.tables.bytes().to_vec();
    Some(Kernel { name: family.name, source: text.finish(), tables, layout })
}
