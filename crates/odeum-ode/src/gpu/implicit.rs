//! Kernels of implicit methods: who evaluates and solves, how that is laid out, and the complete text.

use super::differences::Differences;
use super::layout::{Layout, WARP};
use super::parts::StepPart;
use super::plan::Kernel;
use super::source::{self, Traits};
use super::system::DeviceSystem;
use crate::controller::Law;
use crate::linalg::{GroupLu, StraightLu};
use crate::method::{JacobianBy, Method, Radau, exponential, radau, rosenbrock};
use odeum_core::emit::{self, Grouped, MatrixPlaces, Tables};
use odeum_core::{Graph, Pattern};
use odeum_cuda::{Limits, Text};

const GROUP: &str = include_str!("device/group.cuh");
const WORK: &str = include_str!("device/work.cuh");
const LINEARISED: &str = include_str!("device/linearised.cuh");
const PART: &str = include_str!("device/part.cuh");

/// Entries of the matrix and its factors, in those of a real matrix, up to which a thread has a system: what its
/// registers do not hold is then a small part.
const MOST_OF_THREAD: usize = 260;
/// Operations of such a system, in additions: more do not stay in the cache of instructions.
const MOST_STRAIGHT: u64 = 12_000;
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
    /// Vectors of a system that are alive at once, about, and of these the stages that wait for the end of the step.
    vectors: usize,
    stages: usize,
    /// More memory of a group \[bytes\].
    scratch: usize,
    /// What the kernel does, where that is not a whole integration.
    part: Option<StepPart>,
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
                vectors: 8,
                stages: rosenbrock.tableau.stages(),
                scratch: 0,
                part: None,
            }),
            Method::Radau(radau) => Some(Family {
                name: "od_radau",
                text: radau::device::KERNEL,
                law: radau.controller.law,
                error_order: Radau::ERROR_ORDER,
                keeps_jacobian: true,
                complex: true,
                vectors: 14,
                stages: 0,
                scratch: 0,
                part: None,
            }),
            Method::Exponential(method) => Some(Family {
                name: "od_exponential",
                text: exponential::device::kernel(method),
                law: method.controller.law,
                error_order: method.tableau.embedded_order,
                keeps_jacobian: true,
                complex: false,
                vectors: 12,
                stages: 0,
                scratch: exponential::device::scratch(method, n, word),
                part: None,
            }),
            Method::Erk(_) | Method::Rkc(_) => None,
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
        Method::Radau(radau) => radau::device::write(text, radau),
        Method::Exponential(method) => exponential::device::write(text, method, n),
        Method::Erk(_) | Method::Rkc(_) => {}
    }
}

/// How the text reads a system and its matrix.
struct Linear {
    /// Functions that evaluate, linearise, factor and solve.
    text: String,
    tables: Tables,
    /// Entries of the matrix, of these the first ones that may be entries of J, those of a right-hand side, and the entry
    /// of the matrix that nobody reads.
    matrix: usize,
    jacobian: usize,
    x: usize,
    unused: usize,
    /// States that never change, of those that one thread integrates.
    constant: Vec<usize>,
    /// Memory of what evaluates the system \[bytes\].
    work: usize,
    uses_time: bool,
}

/// By a group of `width` threads.
fn grouped(
    system: &DeviceSystem,
    by: JacobianBy,
    width: usize,
    entry: usize,
    single: bool,
) -> Linear {
    let grouped = &*system.grouped;
    let lu = GroupLu::new(&grouped.matrix_pattern(), width, entry);
    let places = lu.places();
    let group = grouped.group_text(width, places, single);
    let mut tables = lu.tables();
    tables.append(group.tables);
    let mut text = format!("{}\n{}", crate::linalg::GROUP_LU, group.text);
    let differences = (by == JacobianBy::Differences)
        .then(|| Differences::new(&grouped.matrix_pattern(), places).grouped(&mut tables));
    text.extend(differences);
    Linear {
        text,
        tables,
        matrix: places.len as usize,
        jacobian: places.len as usize,
        constant: Vec::new(),
        x: lu.x_entries(),
        unused: places.unused as usize,
        work: group.memory,
        uses_time: grouped.uses_time(),
    }
}

/// States that never change, such as inert species, whatever the method: their slopes and stages are zero.
fn constant_states(graph: &Graph) -> Vec<usize> {
    let slope = |i: &usize| graph.node(graph.outputs()[*i]).constant();
    (0..graph.outputs().len()).filter(|i| slope(i) == Some(0.0)).collect()
}

/// The plan of elimination, and the places of all entries of the Jacobian, without what belongs to constant states.
fn without(graph: &Graph, constant: &[usize]) -> (StraightLu, MatrixPlaces) {
    let is_constant = |j: usize| constant.contains(&j);
    let pattern = graph.matrix_pattern();
    let rows: Vec<Vec<usize>> = (0..pattern.rows())
        .map(|i| pattern.row(i).iter().copied().filter(|&j| !is_constant(j)).collect())
        .collect();
    let lu = StraightLu::new(&Pattern::from_rows(pattern.cols(), &rows), constant);
    let kept = lu.places();
    let mut next = kept.entries.iter();
    let place = |(_, j): (usize, usize)| {
        let kept_place = if is_constant(j) { None } else { next.next() };
        kept_place.copied().unwrap_or(kept.len)
    };
    let entries = pattern.iter().map(place).collect();
    let places = MatrixPlaces { entries, ..kept.clone() };
    (lu, places)
}

/// By one thread, where the system is small and recorded; `each`: entries that the matrices have for each place.
fn straight(system: &DeviceSystem, by: JacobianBy, each: usize) -> Option<Linear> {
    let graph = system.graph.as_deref()?;
    let constant = constant_states(graph);
    let (lu, places) = without(graph, &constant);
    if places.len as usize * each > MOST_OF_THREAD || emit::straight_cost(graph) > MOST_STRAIGHT {
        return None;
    }
    let mut text = format!("{}\n{}", lu.text(), emit::straight(graph, &places));
    let differences = (by == JacobianBy::Differences)
        .then(|| Differences::new(&graph.matrix_pattern(), &places).straight());
    text.extend(differences);
    Some(Linear {
        text,
        tables: Tables::default(),
        matrix: places.len as usize,
        jacobian: lu.jacobian_entries(),
        x: graph.outputs().len(),
        unused: places.unused as usize,
        work: 0,
        uses_time: graph.uses_time(),
        constant,
    })
}

/// Which states of n one thread integrates, and which never change.
fn write_states(text: &mut Text, n: usize, constant: &[usize]) {
    let is_constant = |i: &usize| constant.contains(i);
    let numbers = |wanted: bool| -> Vec<String> {
        (0..n).filter(|i| is_constant(i) == wanted).map(|i| i.to_string()).collect()
    };
    text.define("OD_CHANGING", n - constant.len());
    text.table("int", "od_changing(int e)", "e", &numbers(false));
    text.table("int", "od_constant_state(int k)", "k", &numbers(true));
}

/// Bytes of the structure `OdMemory` (device/linearised.cuh) with matrices of so many.
fn memory(
    linear: &Linear,
    by: JacobianBy,
    matrices: usize,
    (dim, word, largest, width): Sizes,
) -> usize {
    let part = |bytes: usize| bytes.next_multiple_of(16);
    let vectors = if linear.uses_time { 3 } else { 2 } + vectors_of(by);
    let shared = part(linear.x * largest).max(part(linear.work.max(1).next_multiple_of(word)));
    vectors * part(dim * word) + part(matrices) + shared + part(width * word + word)
}

/// Vectors that a Jacobian takes while it is evaluated.
fn vectors_of(by: JacobianBy) -> usize {
    if by == JacobianBy::Differences { 2 } else { 0 }
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
    least_width: usize,
) -> Option<Kernel> {
    let family = Family::of(method, system.grouped.sizes().0, traits.word())?;
    kernel_of(&family, system, method, traits, limits, least_width)
}

/// The kernel that does one part of a step of Rodas4 over and over, laid out as that of Rodas4.
pub(super) fn kernel_of_part(
    part: StepPart,
    system: &DeviceSystem,
    traits: &Traits,
    limits: &Limits,
    least_width: usize,
) -> Option<Kernel> {
    let method = Method::rodas4();
    let family = Family::of(&method, system.grouped.sizes().0, traits.word())?;
    let family = Family { name: "od_part", text: PART, part: Some(part), ..family };
    kernel_of(&family, system, &method, traits, limits, least_width)
}

fn kernel_of(
    family: &Family,
    system: &DeviceSystem,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
    least_width: usize,
) -> Option<Kernel> {
    let (dim, n_params) = system.grouped.sizes();
    let word = traits.word();
    let single = traits.float || traits.loose && system.grouped.allows_single();
    let entry = if single { 4 } else { 8 };
    let (largest, of_place) = family.bytes(entry);
    let scratch = family.scratch;
    let by = method.jacobian_by().unwrap_or_default();
    let alone = if least_width == 1 { straight(system, by, of_place / entry) } else { None };
    let (linear, layout, in_global) = if let Some(linear) = alone {
        let changing = dim - linear.constant.len();
        let matrices = linear.matrix * of_place;
        let vectors = family.vectors + vectors_of(by);
        let registers = (matrices + vectors * changing * word) / 4;
        let columns = family.stages * changing * word;
        (linear, Layout::implicit(registers, columns, limits), false)
    } else {
        let width = least_width.max(if dim <= MOST_OF_WARP { WARP } else { WARPS * WARP });
        let linear = grouped(system, by, width, largest, single);
        let sizes = (dim, word, largest, width);
        let matrices = linear.matrix.next_multiple_of(16) * of_place;
        // What a method has beside its matrices is always in global memory.
        let pointer = if scratch > 0 { POINTER } else { 0 };
        let shared = |matrices: usize| memory(&linear, by, matrices, sizes) + pointer;
        match Layout::group(width, shared(matrices), scratch, limits) {
            Some(layout) => (linear, layout, false),
            None => {
                let layout = Layout::group(width, shared(POINTER), matrices + scratch, limits)?;
                (linear, layout, true)
            }
        }
    };

    let mut text = Text::default();
    let sizes = (dim, n_params);
    source::head(&mut text, sizes, traits, family.law, family.error_order, &layout);
    text.define("OD_IMPLICIT", 1);
    text.define("OD_KEEPS_JACOBIAN", u8::from(family.keeps_jacobian));
    text.define("OD_COMPLEX", u8::from(family.complex));
    text.define("OD_BY_DIFFERENCES", u8::from(by == JacobianBy::Differences));
    text.define("OD_WIDTH", layout.width);
    text.define("OD_GROUP_USES_TIME", u8::from(linear.uses_time));
    text.define("OD_GROUP_WORK", linear.work.div_ceil(word).max(1));
    text.define("OD_MATRIX_UNUSED", format_args!("{}u", linear.unused));
    text.define("OD_GROUP_BYTES", layout.shared / (layout.block / layout.width));
    text.define("OD_JACOBIAN_ENTRIES", format_args!("{}u", linear.jacobian));
    let changing = dim - linear.constant.len();
    let has_columns = layout.width == 1 && layout.shared > 0;
    text.define("OD_STAGE_COLUMNS", if has_columns { family.stages * changing } else { 0 });
    text.define("OD_MATRIX_IN_GLOBAL", u8::from(in_global));
    text.define("OD_SCRATCH_BYTES", scratch);
    text.define("OD_GLOBAL_BYTES", layout.global / (layout.block / layout.width));
    text.define("OD_MOST_STAGE_REGISTERS", STAGE_REGISTERS);
    source::common(&mut text, traits);
    text.line(format_args!("typedef {} od_entry;", if single { "float" } else { "double" }));
    if layout.width == 1 {
        write_states(&mut text, dim, &linear.constant);
    }
    text.line(GROUP);
    text.line(WORK);
    text.line(linear.tables.defines());
    text.line(&linear.text);
    write_numbers(&mut text, method, dim);
    if let Some(part) = family.part {
        for other in StepPart::ALL {
            text.define(other.flag(), u8::from(other == part));
        }
    }
    text.line(LINEARISED);
    text.line(family.text);
    let tables = linear.tables.bytes().to_vec();
    Some(Kernel { name: family.name, source: text.finish(), tables, layout })
}
