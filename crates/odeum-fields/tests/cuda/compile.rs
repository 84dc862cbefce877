//! Kernels of fields through the run-time compiler, to machine code for an H200, with no GPU:
//! what registers they take and whether they spill is kept as a snapshot.
//!
//! `ODEUM_BLESS=1` writes the snapshot anew. Without the compiler the tests are skipped.

use crate::common::model;
use crate::nvrtc;
use odeum_fields::gpu::Tiling;
use odeum_fields::gpu::inspect::{self, KernelText};
use odeum_fields::problems::Builtin;
use odeum_fields::{Advection, Boundaries, Boundary, Grid, Mask, Problem};
use odeum_ode::Scalar;
use std::fmt::Write;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/ptxas.txt");

/// The problems of the paper at 512³, with the tilings that GPUs get, and those of several steps
/// at once.
fn kernels<T: Scalar>() -> Vec<(String, KernelText)> {
    let mut all = Vec::new();
    for builtin in [Builtin::Diffusion, Builtin::Turing, Builtin::Front, Builtin::Plume] {
        let problem = builtin.problem([512; 3]).unwrap();
        let (species, word) = (problem.model.species().len(), size_of::<T>());
        let potentials = problem.model.potentials().outputs().len();
        let mut tilings = vec![Tiling::of(species, potentials, word)];
        if potentials == 0 {
            tilings.extend(Tiling::twice(species, problem.velocity.is_some(), word, [512; 3]));
        }
        for tiling in tilings {
            let text = inspect::kernel::<T>(&problem, tiling, 1.0).unwrap();
            all.push((format!("{} {}, {}", builtin.name(), tiling.depth, T::NAME), text));
        }
    }
    all
}

/// Two steps of what takes most of them, by groups of warps; compiled for one generation of GPUs.
fn pipelines() -> Vec<(String, KernelText)> {
    let pipeline = |name: &str, problem: &Problem| {
        let text = inspect::kernel::<f32>(problem, Tiling::pipeline(), 1.0).unwrap();
        (format!("{name} pipeline, f32"), text)
    };
    let periodic =
        [0, 1, 2].iter().fold(Boundaries::default(), |w, n| w.axis(*n, Boundary::Periodic));
    let [small, large] = [300, 1024].map(|edge| Builtin::Front.problem([edge; 3]).unwrap());
    let closed = small.clone().boundaries(Boundaries::default());
    vec![
        pipeline("front 300", &small),
        pipeline("closed 300", &closed),
        pipeline("periodic 300", &closed.boundaries(periodic)),
        pipeline("front 1024", &large),
    ]
}

/// Stages of the stabilised methods, and what is the same for all problems.
fn others<T: Scalar>() -> Vec<(String, KernelText)> {
    let mut all = Vec::new();
    for builtin in [Builtin::Turing, Builtin::Front] {
        let problem = builtin.problem([512; 3]).unwrap();
        let potentials = problem.model.potentials().outputs().len();
        let tiling = Tiling::of(problem.model.species().len(), potentials, size_of::<T>());
        let text = inspect::stage::<T>(&problem, tiling, 2).unwrap();
        all.push((format!("{} stage, {}", builtin.name(), T::NAME), text));
    }
    for builtin in [Builtin::Diffusion, Builtin::Turing] {
        for edge in [64, 128] {
            let problem = builtin.problem([edge; 3]).unwrap();
            let species = problem.model.species().len();
            let tiling = Tiling::boxed(species, size_of::<T>(), [edge; 3], 227 << 10).unwrap();
            let text = inspect::kernel::<T>(&problem, tiling, 1.0).unwrap();
            all.push((format!("{} in boxes {edge}, {}", builtin.name(), T::NAME), text));
        }
    }
    let plume = Builtin::Plume.problem([512; 3]).unwrap();
    let problem = odeum_fields::Problem { advection: Advection::Koren, ..plume };
    all.push((format!("transport, {}", T::NAME), inspect::transport::<T>(&problem).unwrap()));
    for builtin in [Builtin::Diffusion, Builtin::Turing, Builtin::Front, Builtin::Plume] {
        let problem = builtin.problem([128; 3]).unwrap();
        let mask = Mask::from_fn(&problem.grid, |at| at[0] > at[1]).unwrap();
        let problem = odeum_fields::Problem { sources: Vec::new(), ..problem }.mask(mask);
        let potentials = problem.model.potentials().outputs().len();
        let tiling = Tiling::of(problem.model.species().len(), potentials, size_of::<T>());
        let source = inspect::stage::<T>(&problem, tiling, 2).unwrap().source;
        if potentials > 0 {
            let text = KernelText { name: "od_boundary_cells_potentials", source: source.clone() };
            all.push((format!("{} potentials, {}", builtin.name(), T::NAME), text));
        }
        let text = KernelText { name: "od_masked", source };
        all.push((format!("{} masked, {}", builtin.name(), T::NAME), text));
        if problem.velocity.is_some() {
            let problem = odeum_fields::Problem { advection: Advection::Koren, ..problem };
            let text = inspect::transport::<T>(&problem).unwrap();
            all.push((format!("transport masked, {}", T::NAME), text));
        }
    }
    let (source, names) = inspect::common::<T>();
    for name in names {
        let text = KernelText { name, source: source.clone() };
        all.push((format!("{name}, {}", T::NAME), text));
    }
    all
}

fn report() -> Option<String> {
    let mut table = format!("{:20} {:>5} {:>5} {:>7}\n", "kernel", "regs", "stack", "spilled");
    let by = |check: nvrtc::Check, kernels: Vec<(String, KernelText)>| {
        kernels.into_iter().map(move |(name, text)| (check, name, text))
    };
    let steps = by(nvrtc::single, kernels::<f32>()).chain(by(nvrtc::resources, kernels::<f64>()));
    // Some of the others sum in double precision.
    let others = others::<f32>().into_iter().chain(others::<f64>()).collect();
    let all = steps.chain(by(nvrtc::resources, others)).chain(by(nvrtc::single, pipelines()));
    for (check, name, text) in all {
        let resources = check(&name, text.name, &text.source)?;
        let spilled = resources.spill_stores + resources.spill_loads;
        let (registers, stack) = (resources.registers, resources.stack);
        writeln!(table, "{name:20} {registers:5} {stack:5} {spilled:7}").unwrap();
    }
    Some(table)
}

/// And single precision contains no double arithmetic.
#[test]
fn registers_and_spills_are_those_of_the_snapshot() {
    nvrtc::assert_is_snapshot(report, SNAPSHOT);
}

/// A step has no numbers for what species do not read of each other: a kernel takes 32,764 bytes as arguments.
#[test]
fn kernels_of_many_species_compile() {
    let names: Vec<String> = (0..64).map(|n| format!("s{n}")).collect();
    let equation = |n: usize| format!("0.1 * lap(s{n}) - s{n} * s{}", (n + 1) % 64);
    let equations: Vec<String> = (0..64).map(equation).collect();
    let pairs = names.iter().map(String::as_str).zip(equations.iter().map(String::as_str));
    let problem = Problem::new(model(&pairs.collect::<Vec<_>>()), Grid::new([64; 3], 1.0).unwrap());
    let tiling = Tiling { pack: 1, rows: 1, inner: false, ..Tiling::of(64, 0, 8) };
    let text = inspect::kernel::<f64>(&problem, tiling, 1.0).unwrap();
    nvrtc::resources("64 species", text.name, &text.source);
}

/// Copies and barriers that tiles are brought by differ from one generation of GPUs to the next.
#[test]
fn kernels_compile_for_all_generations() {
    let boxes = others::<f32>().into_iter().find(|(name, _)| name.contains("in boxes"));
    for (name, text) in kernels::<f32>().into_iter().chain(boxes) {
        for arch in ["sm_75", "sm_80", "sm_120"] {
            if nvrtc::resources_on(arch, &name, text.name, &text.source).is_none() {
                return;
            }
        }
    }
}
