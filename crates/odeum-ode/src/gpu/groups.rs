//! Kernels of the loop that integrates by groups of threads (device/integrate.cuh): implicit methods, and explicit ones on
//! systems that are too large for one thread. Who evaluates and solves, how that is laid out, and the complete text.

use super::differences::Differences;
use super::layout::{Layout, WARP};
use super::parts::StepPart;
use super::plan::Kernel;
use super::source::{self, Traits};
use super::system::DeviceSystem;
use crate::controller::Law;
use crate::linalg::{GroupLu, StraightLu};
use crate::method::{JacobianBy, Method, Radau, Rkc, erk, exponential, radau, rkc, rosenbrock};
use odeum_core::emit::{self, Grouped, MatrixPlaces, Tables};
use odeum_core::{Graph, Pattern};
use odeum_cuda::{Limits, Text};

const GROUP: &str = include_str!("device/group.cuh");
const WORK: &str = include_str!("device/work.cuh");
const SYSTEM: &str = include_str!("device/system.cuh");
const LINEARISED: &str = include_str!("device/linearised.cuh");
const STAGES: &str = include_str!("device/stages.cuh");
const INTEGRATE: &str = include_str!("device/integrate.cuh");
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

/// Warps on a multiprocessor at most: with more, their registers do not hold what implicit methods need.
const IMPLICIT_WARPS: usize = 16;
/// The same of explicit methods.
const EXPLICIT_WARPS: usize = 24;

/// Registers that hold the stages of a thread, in numbers, at most.
const STAGE_REGISTERS: usize = 32;

/// What a family of methods is in device code.
struct Family {
    /// Its kernel.
    name: &'static str,
    law: Law,
    /// Order of the error estimate.
    error_order: u32,
    /// Whether it is implicit: there are J and factors of a matrix.
    implicit: bool,
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
    /// Of a method, for n equations in numbers of `word` bytes.
    fn of(method: &Method, n: usize, word: usize) -> Family {
        match method {
            Method::Rosenbrock(rosenbrock) => Family {
                name: "od_rosenbrock",
                law: rosenbrock.controller.law,
                error_order: rosenbrock.tableau.embedded_order,
                implicit: true,
                keeps_jacobian: false,
                complex: false,
                vectors: 8,
                stages: rosenbrock.tableau.stages(),
                scratch: 0,
                part: None,
            },
            Method::Radau(radau) => Family {
                name: "od_radau",
                law: radau.controller.law,
                error_order: Radau::ERROR_ORDER,
                implicit: true,
                keeps_jacobian: true,
                complex: true,
                vectors: 14,
                stages: 0,
                scratch: 0,
                part: None,
            },
            Method::Exponential(method) => Family {
                name: "od_exponential",
                law: method.controller.law,
                error_order: method.tableau.embedded_order,
                implicit: true,
                keeps_jacobian: true,
                complex: false,
                vectors: 12,
                stages: 0,
                scratch: exponential::device::scratch(method, n, word),
                part: None,
            },
            Method::Erk(erk) => {
                Family::explicit("od_erk_groups", erk.controller.law, erk.tableau.embedded_order)
            }
            Method::Rkc(rkc) => {
                Family::explicit("od_rkc_groups", rkc.controller.law, Rkc::ERROR_ORDER)
            }
        }
    }

    fn explicit(name: &'static str, law: Law, error_order: u32) -> Family {
        Family {
            name,
            law,
            error_order,
            implicit: false,
            keeps_jacobian: false,
            complex: false,
            vectors: 0,
            stages: 0,
            scratch: 0,
            part: None,
        }
    }

    /// Bytes of an entry of the largest matrix, and of all entries of one place, where an entry of a real one has `entry`.
    fn bytes(&self, entry: usize) -> (usize, usize) {
        let kept = if self.keeps_jacobian { entry } else { 0 };
        let complex = if self.complex { 2 * entry } else { 0 };
        (if self.complex { 2 * entry } else { entry }, entry + kept + complex)
    }
}

/// Writes what a method is: its numbers for n equations, and its kernel.
fn write(text: &mut Text, method: &Method, system: &DeviceSystem, n: usize, traits: &Traits) {
    match method {
        Method::Erk(method) => {
            erk::device::write(text, method.tableau, true);
            // A stage reads all components.
            text.define("OD_FULL_STAGES", 1);
            text.line(erk::device::ERK);
            text.line(STAGES);
            text.line(INTEGRATE);
            text.line(erk::device::GROUPS);
        }
        Method::Rkc(method) => {
            let graph = system.graph.as_deref();
            let radius = graph.and_then(Graph::spectral_radius);
            rkc::device::write(text, method, radius, source::epsilon(traits));
            if let Some(graph) = graph {
                source::write_radius(text, method, graph);
            }
            text.line(INTEGRATE);
            rkc::device::write_kernel(text, true);
        }
        Method::Rosenbrock(method) => {
            rosenbrock::device::write(text, method.tableau);
            text.line(LINEARISED);
            text.line(STAGES);
            text.line(INTEGRATE);
            text.line(rosenbrock::device::KERNEL);
        }
        Method::Radau(method) => {
            radau::device::write(text, method);
            text.line(LINEARISED);
            text.line(INTEGRATE);
            text.line(radau::device::KERNEL);
        }
        Method::Exponential(method) => {
            exponential::device::write(text, method, n);
            text.line(LINEARISED);
            text.line(INTEGRATE);
            text.line(exponential::device::kernel(method));
        }
    }
}

/// Writes the kernel of a part of a step of a Rosenbrock method.
fn write_part(text: &mut Text, method: &Method, part: StepPart) {
    for other in StepPart::ALL {
        text.define(other.flag(), u8::from(other == part));
    }
    if let Method::Rosenbrock(method) = method {
        rosenbrock::device::write(text, method.tableau);
    }
    text.line(LINEARISED);
    text.line(PART);
}

/// How the text reads a system, and its matrix where there is one.
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

/// The right-hand side alone, by a group of `width` threads.
fn right_hand_side(system: &DeviceSystem, width: usize) -> Linear {
    let group = system.grouped.rhs_text(width);
    Linear {
        text: group.text,
        tables: group.tables,
        matrix: 0,
        jacobian: 0,
        constant: Vec::new(),
        x: 0,
        unused: 0,
        work: group.memory,
        uses_time: false,
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

/// Bytes of the structure `OdMemory` (device/system.cuh) with matrices of so many.
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

/// The kernel of a method with at least so many threads for each system; `None` where not even the vectors of a system fit
/// in shared memory.
pub(super) fn kernel(
    system: &DeviceSystem,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
    least_width: usize,
) -> Option<Kernel> {
    let family = Family::of(method, system.grouped.sizes().0, traits.word());
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
    let family = Family::of(&method, system.grouped.sizes().0, traits.word());
    let family = Family { name: "od_part", part: Some(part), ..family };
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
    let implicit = family.implicit;
    let single = traits.float || implicit && traits.loose && system.grouped.allows_single();
    let entry = if single { 4 } else { 8 };
    let (largest, of_place) = if implicit { family.bytes(entry) } else { (0, 0) };
    let scratch = family.scratch;
    let may_be_alone = implicit && least_width == 1;
    let by =
        if implicit { method.jacobian_by().unwrap_or_default() } else { JacobianBy::default() };
    let alone = if may_be_alone { straight(system, by, of_place / entry) } else { None };
    let (linear, layout, in_global) = if let Some(linear) = alone {
        let changing = dim - linear.constant.len();
        let matrices = linear.matrix * of_place;
        let vectors = family.vectors + vectors_of(by);
        let registers = (matrices + vectors * changing * word) / 4;
        let columns = family.stages * changing * word;
        (linear, Layout::implicit(registers, columns, limits), false)
    } else {
        let width = least_width.max(if dim <= MOST_OF_WARP { WARP } else { WARPS * WARP });
        let warps = if implicit { IMPLICIT_WARPS } else { EXPLICIT_WARPS };
        let linear = if implicit {
            grouped(system, by, width, largest, single)
        } else {
            right_hand_side(system, width)
        };
        let sizes = (dim, word, largest, width);
        let matrices = linear.matrix.next_multiple_of(16) * of_place;
        // What a method has beside its matrices is always in global memory.
        let pointer = if scratch > 0 { POINTER } else { 0 };
        let shared = |matrices: usize| memory(&linear, by, matrices, sizes) + pointer;
        let group = |bytes, global| Layout::group((width, warps), bytes, global, limits);
        match group(shared(matrices), scratch) {
            Some(layout) => (linear, layout, false),
            None if implicit => {
                let layout = group(shared(POINTER), matrices + scratch)?;
                (linear, layout, true)
            }
            None => return None,
        }
    };

    let mut text = Text::default();
    let sizes = (dim, n_params);
    source::head(&mut text, sizes, traits, family.law, family.error_order, &layout);
    text.define("OD_IMPLICIT", u8::from(implicit));
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
    text.line(SYSTEM);
    match family.part {
        Some(part) => write_part(&mut text, method, part),
        None => write(&mut text, method, system, dim, traits),
    }
    let tables = linear.tables.bytes().to_vec();
    Some(Kernel { name: family.name, source: text.finish(), tables, layout })
}
