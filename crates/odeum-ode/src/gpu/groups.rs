//! Kernels of the loop that integrates by groups of threads (device/integrate.cuh): implicit methods, and explicit ones on
//! systems that are too large for one thread. Who evaluates and solves, how that is laid out, and the complete text.

use super::columns::Columns;
use super::differences::Differences;
use super::layout::Layout;
use super::parts::StepPart;
use super::plan::Kernel;
use super::source::{self, Traits};
use super::system::DeviceSystem;
use crate::linalg::{GroupLu, StraightLu};
use crate::method::device::{GroupKernel, Implicit, KeptJacobian, Subject};
use crate::method::{JacobianSource, Method};
use crate::solution::WARP;
use odeum_core::Graph;
use odeum_core::emit::{self, Grouped, Tables};
use odeum_cuda::{Limits, Text, literal};

const GROUP: &str = include_str!("device/group.cuh");
const COLUMNS: &str = include_str!("device/columns.cuh");
const WORK: &str = include_str!("device/work.cuh");
const SYSTEM: &str = include_str!("device/system.cuh");
const LINEARISED: &str = include_str!("device/linearised.cuh");
const STAGES: &str = include_str!("device/stages.cuh");
const INVARIANTS: &str = include_str!("device/invariants.cuh");
const INTEGRATE: &str = include_str!("device/integrate.cuh");
const PART: &str = include_str!("device/part.cuh");
const EXPECT: &str = include_str!("device/expect.cuh");

/// What a kernel does with the systems of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// It integrates them.
    Steps,
    /// A part of a step over and over.
    Part(StepPart),
    /// It says what they will probably cost.
    Costs,
}

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

/// Writes the numbers of a method and its kernel, or what there is in its place.
fn write(
    text: &mut Text,
    method: &Method,
    kernel: &GroupKernel,
    subject: &Subject<'_>,
    content: Content,
) {
    if let Content::Part(part) = content {
        for other in StepPart::ALL {
            text.define(other.flag(), u8::from(other == part));
        }
    }
    method.on_device().write_numbers(text, subject);
    if kernel.implicit.is_some() {
        text.line(LINEARISED);
    }
    match content {
        Content::Steps => {}
        Content::Part(_) => return text.line(PART),
        Content::Costs => {
            let by_stages = kernel.implicit.is_none();
            text.define("OD_COSTS_BY_STAGES", u8::from(by_stages));
            if by_stages {
                text.line(kernel.text);
            }
            return text.line(EXPECT);
        }
    }
    if kernel.keeps_stages {
        text.line(STAGES);
    }
    text.line(INTEGRATE);
    text.line(kernel.text);
}

/// Of a pivot in the equations of the invariants, less than this part of its diagonal is rounding.
const INVARIANT_ROUNDING: f64 = 1e-12;

/// Writes the coefficients of linear invariants, for one thread as numbers, for more as a table.
fn write_invariants(text: &mut Text, rows: &[Vec<f64>], tables: &mut Tables, width: usize) {
    text.define("OD_INVARIANTS", rows.len());
    if rows.is_empty() {
        return;
    }
    text.define("OD_INVARIANT_ROUNDING", literal(INVARIANT_ROUNDING));
    let all = rows.concat();
    if width > 1 {
        return tables.push_f64("OD_INVARIANT_COEFFICIENTS", &all);
    }
    let numbers: Vec<String> = all.into_iter().map(literal).collect();
    text.table("real", "od_invariant_coefficient(int k)", "k", &numbers);
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
    /// Whether f lies where the state does.
    in_place: bool,
    uses_time: bool,
}

/// By a group of `width` threads.
fn grouped(
    system: &DeviceSystem,
    by: JacobianSource,
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
    let differences = (by == JacobianSource::FiniteDifferences)
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
        in_place: group.in_place && by != JacobianSource::FiniteDifferences,
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
        in_place: false,
        uses_time: false,
    }
}

/// States that never change, such as inert species, whatever the method: their slopes and stages are zero. One of a
/// system at rest counts as changing, since a thread has arrays of those that change.
fn constant_states(graph: &Graph) -> Vec<usize> {
    let n = graph.outputs().len();
    let constant: Vec<usize> = (0..n).filter(|&i| graph.never_changes(i)).collect();
    if constant.len() == n { constant[1..].to_vec() } else { constant }
}

/// By one thread, where the system is small and recorded; `entry`: bytes of an entry of the matrix.
fn straight(
    system: &DeviceSystem,
    implicit: &Implicit,
    (word, entry): (usize, usize),
    limits: &Limits,
) -> Option<Planned> {
    let graph = system.graph.as_deref()?;
    let by = implicit.jacobian;
    let (_, of_place, apart) = implicit.bytes(entry);
    let constant = constant_states(graph);
    let pattern = graph.matrix_pattern();
    let lu = StraightLu::new(&pattern, &constant);
    let places = lu.places();
    let matrix = places.len as usize;
    let of_place = of_place + apart;
    let is_small = matrix * of_place <= MOST_OF_THREAD * entry;
    if !is_small || emit::straight_cost(graph) > MOST_STRAIGHT {
        return None;
    }
    let changing = graph.outputs().len() - constant.len();
    let vectors = implicit.vectors + vectors_of(by);
    let registers = (matrix * of_place + vectors * changing * word) / 4;
    let wanted = Columns::wanted(implicit.stages, changing, matrix * entry, word);
    let layout = Layout::implicit(registers, wanted.len() * word, limits);
    let columns = if layout.shared > 0 { wanted } else { Columns::default() };
    let mut text = format!("{}\n{}", lu.text(), emit::straight(graph, places, columns.spills));
    let differences = (by == JacobianSource::FiniteDifferences)
        .then(|| Differences::new(&pattern, places).straight());
    text.extend(differences);
    let linear = Linear {
        text,
        tables: Tables::default(),
        matrix,
        jacobian: lu.jacobian_entries(),
        x: graph.outputs().len(),
        unused: places.unused as usize,
        work: 0,
        in_place: false,
        uses_time: graph.uses_time(),
        constant,
    };
    let scratch = (matrix * apart).next_multiple_of(16) + implicit.scratch;
    Some(Planned { linear, layout, in_global: false, scratch, columns })
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
    by: JacobianSource,
    matrices: usize,
    (dim, word, largest): Sizes,
) -> usize {
    let part = |bytes: usize| bytes.next_multiple_of(16);
    let vectors = 2 + usize::from(linear.uses_time) - usize::from(linear.in_place) + vectors_of(by);
    let shared = part(linear.x * largest).max(part(linear.work.max(1).next_multiple_of(word)));
    vectors * part(dim * word) + part(matrices) + shared + part(CELLS * word + word)
}

/// Vectors that a Jacobian takes while it is evaluated.
fn vectors_of(by: JacobianSource) -> usize {
    if by == JacobianSource::FiniteDifferences { 2 } else { 0 }
}

/// Bytes of a pointer in it.
const POINTER: usize = 16;

/// Equations, bytes of a number and of the largest entry of a matrix.
type Sizes = (usize, usize, usize);

/// Numbers that the threads of a group tell each other at once.
const CELLS: usize = 4;

/// The kernel of a method with at least so many threads for each system, or what there is in its place, laid out as that; `None` where not even the vectors of a system fit in shared memory.
pub(super) fn kernel(
    system: &DeviceSystem,
    method: &Method,
    content: Content,
    traits: &Traits,
    limits: &Limits,
    least_width: usize,
) -> Option<Kernel> {
    let (dim, n_params) = system.grouped.sizes();
    let word = traits.word();
    let subject = Subject { graph: system.graph.as_deref(), dim, word };
    let kernel = method.on_device().group_kernel(&subject);
    let implicit = kernel.implicit.as_ref();
    // In larger mechanisms, matrices of single precision made steps be rejected, and Newton iterations not converge.
    let loose = traits.loose && dim <= MOST_OF_WARP;
    let single = traits.float || loose && system.grouped.allows_single();
    let entry = if single { 4 } else { 8 };
    let Planned { mut linear, layout, in_global, scratch, columns } = match implicit {
        Some(implicit) => linearised(system, implicit, (word, entry, single), limits, least_width)?,
        None => slopes(system, word, limits, least_width)?,
    };
    let by = implicit.map(|implicit| implicit.jacobian).unwrap_or_default();

    let mut text = Text::default();
    source::head(&mut text, (dim, n_params), traits, method, &layout);
    text.define("OD_IMPLICIT", u8::from(implicit.is_some()));
    let is_beside = implicit.is_some_and(|i| i.kept == KeptJacobian::Beside);
    text.define("OD_JACOBIAN_BESIDE", u8::from(is_beside));
    text.define("OD_COMPLEX", u8::from(implicit.is_some_and(|i| i.complex)));
    text.define("OD_BY_DIFFERENCES", u8::from(by == JacobianSource::FiniteDifferences));
    text.define("OD_WIDTH", layout.width);
    text.define("OD_GROUP_USES_TIME", u8::from(linear.uses_time));
    text.define("OD_IN_PLACE", u8::from(linear.in_place));
    text.define("OD_CELLS", CELLS);
    text.define("OD_GROUP_WORK", linear.work.div_ceil(word).max(1));
    text.define("OD_MATRIX_UNUSED", format_args!("{}u", linear.unused));
    text.define("OD_GROUP_BYTES", layout.shared / (layout.block / layout.width));
    text.define("OD_JACOBIAN_ENTRIES", format_args!("{}u", linear.jacobian));
    columns.write(&mut text);
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
    text.line(COLUMNS);
    text.line(WORK);
    let keeps = single && !traits.float && content == Content::Steps;
    let invariants = if keeps { system.grouped.invariants() } else { Vec::new() };
    write_invariants(&mut text, &invariants, &mut linear.tables, layout.width);
    text.line(linear.tables.defines());
    text.line(&linear.text);
    text.line(SYSTEM);
    if !invariants.is_empty() {
        text.line(INVARIANTS);
    }
    write(&mut text, method, &kernel, &subject, content);
    let tables = linear.tables.bytes().to_vec();
    let name = match content {
        Content::Steps => kernel.name,
        Content::Part(_) => "od_part",
        Content::Costs => "od_expect_costs",
    };
    Some(Kernel { name, source: text.finish(), tables, layout })
}

/// Who evaluates and solves, and how that is laid out.
struct Planned {
    linear: Linear,
    layout: Layout,
    /// Whether matrices lie in global memory.
    in_global: bool,
    /// Bytes of a system that its method has beside its matrices.
    scratch: usize,
    columns: Columns,
}

/// Threads of a system of `dim` equations.
fn width(dim: usize, least: usize) -> usize {
    least.max(if dim <= MOST_OF_WARP { WARP } else { WARPS * WARP })
}

/// An explicit method, by groups of threads.
fn slopes(
    system: &DeviceSystem,
    word: usize,
    limits: &Limits,
    least_width: usize,
) -> Option<Planned> {
    let dim = system.grouped.sizes().0;
    let width = width(dim, least_width);
    let linear = right_hand_side(system, width);
    let bytes = memory(&linear, JacobianSource::default(), 0, (dim, word, 0));
    let layout = Layout::group(width, bytes, 0, limits)?;
    Some(Planned { linear, layout, in_global: false, scratch: 0, columns: Columns::default() })
}

/// An implicit method, by one thread for each system where that is small, else by groups.
fn linearised(
    system: &DeviceSystem,
    implicit: &Implicit,
    (word, entry, single): (usize, usize, bool),
    limits: &Limits,
    least_width: usize,
) -> Option<Planned> {
    let dim = system.grouped.sizes().0;
    let by = implicit.jacobian;
    let (largest, of_place, apart) = implicit.bytes(entry);
    let alone = (least_width == 1).then(|| straight(system, implicit, (word, entry), limits));
    if let Some(planned) = alone.flatten() {
        return Some(planned);
    }
    let width = width(dim, least_width);
    let linear = grouped(system, by, width, largest, single);
    let places = linear.matrix.next_multiple_of(16);
    let (matrices, scratch) = (places * of_place, places * apart + implicit.scratch);
    // What a method has beside its matrices is always in global memory.
    let pointer = if scratch > 0 { POINTER } else { 0 };
    let shared = |matrices: usize| memory(&linear, by, matrices, (dim, word, largest)) + pointer;
    let group = |bytes, global| Layout::group(width, bytes, global, limits);
    let (layout, in_global) = match group(shared(matrices), scratch) {
        Some(layout) => (layout, false),
        None => (group(shared(POINTER), matrices + scratch)?, true),
    };
    Some(Planned { linear, layout, in_global, scratch, columns: Columns::default() })
}
