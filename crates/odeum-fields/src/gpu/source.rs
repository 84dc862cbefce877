//! The complete text of a kernel.

use super::pipeline;
use super::shape::{Shape, mask_words};
use super::step;
use super::variant::Variant;
use crate::plan::{BoundVelocity, Plan};
use crate::problem::boundaries::{End, Ghost};
use crate::problem::{Advection, Problem};
use crate::tiling::{Kind, Tiling};
use odeum_core::Graph;
use odeum_core::emit::{self, Signature};
use odeum_cuda::{REAL, Text, literal};
use odeum_ode::{Rkc, Scalar};

const SPAN: &str = include_str!("device/span.cuh");
const VECTOR: &str = include_str!("device/vector.cuh");
const PATCH: &str = include_str!("device/patch.cuh");
const FLOW: &str = include_str!("device/flow.cuh");
const STAGE: &str = include_str!("device/stage.cuh");
const EULER: &str = include_str!("device/euler.cuh");
const BLOCK: &str = include_str!("device/block.cuh");
const BOX: &str = include_str!("device/box.cuh");
const TILE: &str = include_str!("device/tile.cuh");
const PAIR: &str = include_str!("device/pair.cuh");
const POTENTIAL: &str = include_str!("device/potential.cuh");
const PIPELINE: [&str; 5] = [
    include_str!("device/pipeline/barrier.cuh"),
    include_str!("device/pipeline/stream.cuh"),
    include_str!("device/pipeline/tile.cuh"),
    include_str!("device/pipeline/planes.cuh"),
    include_str!("device/pipeline/pipeline.cuh"),
];
const TRANSPORT: &str = include_str!("device/transport.cuh");
const MASK: &str = include_str!("device/mask.cuh");
const CODE: &str = include_str!("device/code.cuh");
const CODES: &str = include_str!("device/codes.cuh");
const MASKED: &str = include_str!("device/masked.cuh");
const REDUCE: &str = include_str!("device/reduce.cuh");

/// Bytes of a field from which on it is not kept in the second-level cache from one step to the
/// next: half of an H200's.
pub(super) const STREAM: usize = 24 << 20;

/// Kernels that are the same for all problems: reductions, and combinations of fields.
pub(super) fn common<T: Scalar>() -> String {
    let mut text = Text::default();
    text.define("OD_FLOAT", i32::from(T::NAME == "f32"));
    // Errors are summed in double precision.
    let [of_states, of_rates] = Rkc::ERROR_WEIGHTS;
    text.define("OD_ERROR_OF_STATES", format_args!("{of_states:?}"));
    text.define("OD_ERROR_OF_SLOPES", format_args!("{of_rates:?}"));
    text.line(REAL);
    text.line(REDUCE);
    text.finish()
}

/// The kernel of what else carries species.
pub(super) fn transport<T: Scalar>(plan: &Plan<T>, shape: &Shape) -> String {
    let mut text = Text::default();
    let tiling = Tiling::of(shape.species, 0, size_of::<T>());
    sizes::<T>(&mut text, plan, shape, &tiling);
    text.define("OD_CARRIES", i32::from(plan.leaves_velocity()));
    text.define(
        "OD_VELOCITY_CELLS",
        i32::from(matches!(plan.velocity, Some(BoundVelocity::Cells(_)))),
    );
    text.define("OD_KOREN", i32::from(plan.advection == Advection::Koren));
    text.line(REAL);
    boundaries(&mut text, plan);
    offsets(&mut text, plan);
    let spreads: Vec<_> =
        plan.diffusion.iter().map(|d| i32::from(d.is_some()).to_string()).collect();
    text.table("bool", "od_spreads(int s)", "s", &spreads);
    let ends = plan.boundaries.iter().flat_map(|boundaries| boundaries.ends().concat());
    let shut: Vec<_> = ends.map(|end| i32::from(end == End::Shut).to_string()).collect();
    text.table("bool", "od_shut(int s, int face)", "6 * s + face", &shut);
    let per_area = plan.grid.spacing().map(|h| literal(1.0 / (h * h))).to_vec();
    text.table("real", "od_per_area(int axis)", "axis", &per_area);
    text.line(SPAN);
    if plan.domain.is_some() {
        text.line(MASK);
    }
    text.line(TRANSPORT);
    text.finish()
}

/// The kernel that writes down what cells near solid ones exchange.
pub(super) fn codes<T: Scalar>(plan: &Plan<T>, shape: &Shape) -> String {
    let mut text = Text::default();
    let tiling = Tiling::of(shape.species, 0, size_of::<T>());
    sizes::<T>(&mut text, plan, shape, &tiling);
    text.line(REAL);
    stencil(&mut text, plan);
    boundaries(&mut text, plan);
    [MASK, CODE, CODES].into_iter().for_each(|header| text.line(header));
    text.finish()
}

/// The text of the kernel of a tiling, for velocities that come from these sides.
pub(super) fn text<T: Scalar>(
    problem: &Problem,
    plan: &Plan<T>,
    shape: &Shape,
    tiling: &Tiling,
    variant: &Variant,
) -> String {
    let mut text = Text::default();
    let flag = |x: bool| i32::from(x);
    sizes::<T>(&mut text, plan, shape, tiling);
    let velocity = plan.velocity.is_some() && !plan.leaves_velocity();
    text.define("OD_VELOCITY", flag(velocity));
    let blend = variant.blend.unwrap_or_default();
    text.define("OD_BLEND", flag(variant.blend.is_some()));
    text.define("OD_ITSELF", flag(blend.itself));
    text.define("OD_TERMS", blend.terms);
    text.define("OD_OWN", flag(blend.own));
    for (axis, name) in ["X", "Y", "Z"].into_iter().enumerate() {
        text.define(&format!("OD_VELOCITY_LOW_{name}"), flag(velocity && variant.sides[axis]));
    }
    text.line(REAL);
    stencil(&mut text, plan);
    boundaries(&mut text, plan);
    offsets(&mut text, plan);
    equations(&mut text, problem, plan);
    let kernel: &[&str] = match tiling.kernel(plan.n_potentials()) {
        Kind::Potential => &[FLOW, STAGE, BLOCK, TILE, POTENTIAL],
        Kind::Box => &[FLOW, STAGE, BLOCK, BOX],
        Kind::Pair => &[FLOW, STAGE, BLOCK, TILE, PAIR],
        Kind::Euler => &[FLOW, STAGE, EULER],
        Kind::Pipeline => {
            pipeline::tables(&mut text, plan, tiling);
            &PIPELINE
        }
    };
    [SPAN, VECTOR, PATCH].into_iter().for_each(|header| text.line(header));
    kernel.iter().for_each(|header| text.line(header));
    if plan.domain.is_some() {
        let (rhs, potentials) = problem.model.bound();
        for (name, graph) in [("od_masked_rhs", rhs), ("od_masked_potentials", potentials)] {
            text.line(emit::function(&graph.fused(), name, &signature()));
        }
        text.line(CODE);
        text.line(MASKED);
    }
    text.finish()
}

/// F and the potentials, whole or taken apart.
fn equations<T: Scalar>(text: &mut Text, problem: &Problem, plan: &Plan<T>) {
    let mut function = |name: &str, graph: &Graph| {
        text.line(emit::function(&graph.fused(), name, &signature()));
    };
    let (rhs, potentials) = problem.model.bound();
    match &plan.linear {
        Some([rhs, potentials]) => {
            function("od_local", &rhs.local);
            function("od_local_potentials", &potentials.local);
        }
        None => {
            function("od_rhs", &rhs);
            function("od_potentials", &potentials);
        }
    }
    text.define("OD_LINEAR", i32::from(plan.linear.is_some()));
    let (species, laplacians) = (plan.layout.species, plan.layout.species + plan.n_potentials());
    let (mut spreads, mut reacts, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_diagonal = false;
    if let Some([rhs, potentials]) = &plan.linear {
        is_diagonal = rhs.is_diagonal();
        spreads.extend(step::factors(rhs).iter().map(|k| i32::from(*k != 0.0).to_string()));
        reacts.extend(rhs.reacts.iter().map(|r| i32::from(*r).to_string()));
        let scaled = |k: &f64| literal(k * plan.weights.scale);
        parts.extend(potentials.parts.iter().flatten().map(scaled));
    }
    // Of very many species a table of all pairs would take the compiler long, wherever it is read.
    let (index, others) = match is_diagonal {
        true => ("s".to_owned(), "s == n && "),
        false => (format!("{laplacians} * s + n"), ""),
    };
    text.define("OD_SPREADS", spreads.len());
    text.table("bool", "od_contains(int s, int n)", &index, &spreads);
    text.line(format_args!(
        "OD_FN bool od_spreads(int s, int n) {{ return {others}od_contains(s, n); }}\n\
         OD_FN int od_spread(int s, int n) {{ return {index}; }}"
    ));
    text.table("bool", "od_reacts(int s)", "s", &reacts);
    text.table("real", "od_potential_part(int n, int s)", &format!("{species} * n + s"), &parts);
    // Species that the potentials read.
    let inputs = plan.potential_inputs();
    let feeds = |s: usize| inputs.is_some_and(|inputs| inputs.depend_on(s));
    let feeds: Vec<_> = (0..species).map(|s| i32::from(feeds(s)).to_string()).collect();
    text.table("bool", "od_feeds(int s)", "s", &feeds);
}

fn sizes<T: Scalar>(text: &mut Text, plan: &Plan<T>, shape: &Shape, tiling: &Tiling) {
    text.define("OD_FLOAT", i32::from(T::NAME == "f32"));
    for (axis, name) in ["OD_NX", "OD_NY", "OD_NZ"].into_iter().enumerate() {
        text.define(name, shape.cells[axis]);
    }
    // Slabs that differ by their place alone have one text.
    let first = if plan.asks_for_planes() { plan.slab.offset() } else { 0 };
    text.define("OD_FIRST_Z", first);
    text.define("OD_WHOLE_Z", plan.slab.of);
    text.define("OD_SLAB", i32::from(!plan.slab.is_whole()));
    text.define("OD_ROUND_Z", i32::from(plan.slab.round));
    text.define("OD_S", shape.species);
    text.define("OD_ROW", shape.row);
    text.define("OD_PLANE", shape.plane);
    text.define("OD_VOLUME", format_args!("{}ll", shape.volume));
    text.define("OD_SOURCES", plan.sources.len());
    let potentials = plan.n_potentials();
    text.define("OD_POTENTIALS", potentials);
    text.define("OD_DEPTH", tiling.depth);
    text.define("OD_VEC", tiling.pack);
    text.define("OD_ROWS", tiling.rows);
    text.define("OD_BX", tiling.block[0]);
    text.define("OD_BY", tiling.block[1]);
    text.define("OD_AHEAD", tiling.ahead);
    // Edges of slabs are other planes than what is between them.
    let unrolled = if plan.slab.is_whole() { tiling.unrolled(shape.cells[2]) } else { 0 };
    text.define("OD_PLANES", unrolled);
    text.define("OD_INNER", i32::from(tiling.inner));
    text.define("OD_BLOCKS_PER_SM", tiling.blocks_per_sm);
    text.define("OD_TILED", i32::from(tiling.kernel(potentials).is_tiled()));
    let [rows, planes] = tiling.boxes.unwrap_or_default();
    text.define("OD_BOX_ROWS", rows);
    text.define("OD_BOX_PLANES", planes);
    text.define("OD_MASKED", i32::from(plan.domain.is_some()));
    text.define("OD_MASK_WORDS", mask_words(shape.cells[0]));
    text.define("OD_STREAMS", i32::from(shape.len() * size_of::<T>() > STREAM));
}

fn stencil<T: Scalar>(text: &mut Text, plan: &Plan<T>) {
    let weights = &plan.weights;
    text.define("OD_EDGES", i32::from(weights.edges));
    text.define("OD_SCALE", literal(weights.scale));
    text.define("OD_WEIGHT_Y", literal(weights.axes[1]));
    text.define("OD_WEIGHT_Z", literal(weights.axes[2]));
}

fn boundaries<T: Scalar>(text: &mut Text, plan: &Plan<T>) {
    let (mut kinds, mut scales) = (Vec::new(), Vec::new());
    for boundaries in &plan.boundaries {
        for ghost in boundaries.at::<T>(0.0).iter().flatten() {
            let (kind, scale) = match ghost {
                Ghost::Mirror => ("0", 1.0),
                Ghost::Wrap => ("1", 1.0),
                Ghost::Affine { scale, .. } => ("2", scale.to_f64()),
            };
            kinds.push(kind.to_owned());
            scales.push(literal(scale));
        }
    }
    // A periodic axis is so for all species.
    for (axis, name) in ["X", "Y", "Z"].into_iter().enumerate() {
        text.define(&format!("OD_WRAP_{name}"), i32::from(kinds[2 * axis] == "1"));
    }
    text.table("int", "od_boundary(int s, int face)", "6 * s + face", &kinds);
    text.table("real", "od_boundary_scale(int s, int face)", "6 * s + face", &scales);
}

/// Coordinates, species that are advected, and cells with sources.
fn offsets<T: Scalar>(text: &mut Text, plan: &Plan<T>) {
    // Rounded as `Grid::centre` is, in double precision too: places in equations are those of cells to the bit.
    let numbers = |values: [f64; 3]| values.map(|x| format!("{x:?}")).to_vec();
    text.table("double", "od_origin(int axis)", "axis", &numbers(plan.grid.origin()));
    text.table("double", "od_edge(int axis)", "axis", &numbers(plan.grid.spacing()));
    text.line(
        "OD_FN real od_centre(int axis, int i) {\n    \
         return (real)(od_origin(axis) + ((double)i + 0.5) * od_edge(axis));\n}",
    );
    let advected: Vec<_> = plan.advected.iter().map(|&c| i32::from(c).to_string()).collect();
    text.table("bool", "od_advected(int s)", "s", &advected);
    let species: Vec<_> = plan.sources.iter().map(|s| s.species.to_string()).collect();
    text.table("int", "od_source_species(int n)", "n", &species);
    let cells: Vec<_> = plan.sources.iter().flat_map(|s| s.cell.map(|i| i.to_string())).collect();
    text.table("int", "od_source_cell(int n, int axis)", "3 * n + axis", &cells);
}

/// Right-hand sides reach their data by `[]`.
fn signature() -> Signature {
    let argument = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
    Signature {
        qualifiers: "OD_FN void".to_owned(),
        arguments: vec![
            argument("const real", "t"),
            argument("const real *", "y"),
            argument("const real *", "p"),
            argument("real *", "dydt"),
        ],
        ..Signature::arrays()
    }
}
