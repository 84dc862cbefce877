//! Kernels of fields through the run-time compiler, to machine code for an H200, with no GPU:
//! what registers they take and whether they spill is kept as a snapshot.
//!
//! `ODEUM_BLESS=1` writes the snapshot anew. Without the compiler the tests are skipped.

use crate::nvrtc;
use odeum_fields::cuda::Tiling;
use odeum_fields::cuda::inspect::{self, KernelText};
use odeum_fields::problems::Paper;
use odeum_fields::{Advection, Mask, Problem, Wall, Walls};
use odeum_ode::Scalar;
use std::fmt::Write;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/ptxas.txt");

/// The problems of the paper at 512³, with the tilings that GPUs get, and those of several steps
/// at once.
fn kernels<T: Scalar>() -> Vec<(String, KernelText)> {
    let mut all = Vec::new();
    for paper in [Paper::Diffusion, Paper::Turing, Paper::Front, Paper::Plume] {
        let problem = paper.problem([512; 3]).unwrap();
        let (species, word) = (problem.model.species().len(), size_of::<T>());
        let potentials = problem.model.potentials().outputs().len();
        let mut tilings = vec![Tiling::of(species, potentials, word)];
        if potentials == 0 {
            tilings.extend(Tiling::twice(species, problem.wind.is_some(), word, [512; 3]));
        }
        for tiling in tilings {
            let text = inspect::kernel::<T>(&problem, tiling, 1.0).unwrap();
            all.push((format!("{} {}, {}", paper.name(), tiling.depth, T::NAME), text));
        }
    }
    all
}

/// Two steps of what takes most of them, by groups of warps; compiled for one generation of GPUs.
fn relays() -> Vec<(String, KernelText)> {
    let relay = |name: &str, problem: &Problem| {
        let text = inspect::kernel::<f32>(problem, Tiling::relay(), 1.0).unwrap();
        (format!("{name} relay, f32"), text)
    };
    let periodic = [0, 1, 2].iter().fold(Walls::default(), |w, n| w.axis(*n, Wall::Periodic));
    let mut all = Vec::new();
    for edge in [256, 300, 512, 1024] {
        let problem = Paper::Front.problem([edge; 3]).unwrap();
        all.push(relay(&format!("front {edge}"), &problem));
        let closed = problem.walls(Walls::default());
        all.push(relay(&format!("closed {edge}"), &closed));
        all.push(relay(&format!("periodic {edge}"), &closed.walls(periodic.clone())));
    }
    all
}

/// Stages of the stabilised methods, and what is the same for all problems.
fn others<T: Scalar>() -> Vec<(String, KernelText)> {
    let mut all = Vec::new();
    for paper in [Paper::Turing, Paper::Front] {
        let problem = paper.problem([512; 3]).unwrap();
        let potentials = problem.model.potentials().outputs().len();
        let tiling = Tiling::of(problem.model.species().len(), potentials, size_of::<T>());
        let text = inspect::stage::<T>(&problem, tiling, 2).unwrap();
        all.push((format!("{} stage, {}", paper.name(), T::NAME), text));
    }
    for paper in [Paper::Diffusion, Paper::Turing] {
        for edge in [64, 128] {
            let problem = paper.problem([edge; 3]).unwrap();
            let species = problem.model.species().len();
            let tiling = Tiling::boxed(species, size_of::<T>(), [edge; 3], 227 << 10).unwrap();
            let text = inspect::kernel::<T>(&problem, tiling, 1.0).unwrap();
            all.push((format!("{} in boxes {edge}, {}", paper.name(), T::NAME), text));
        }
    }
    let plume = Paper::Plume.problem([512; 3]).unwrap();
    let problem = odeum_fields::Problem { advection: Advection::Koren, ..plume };
    all.push((format!("transport, {}", T::NAME), inspect::transport::<T>(&problem).unwrap()));
    for paper in [Paper::Diffusion, Paper::Turing, Paper::Front, Paper::Plume] {
        let problem = paper.problem([128; 3]).unwrap();
        let mask = Mask::from_fn(&problem.grid, |at| at[0] > at[1]).unwrap();
        let problem = odeum_fields::Problem { sources: Vec::new(), ..problem }.mask(mask);
        let potentials = problem.model.potentials().outputs().len();
        let tiling = Tiling::of(problem.model.species().len(), potentials, size_of::<T>());
        let source = inspect::stage::<T>(&problem, tiling, 2).unwrap().source;
        if potentials > 0 {
            let text = KernelText { name: "od_near_potentials", source: source.clone() };
            all.push((format!("{} potentials, {}", paper.name(), T::NAME), text));
        }
        let text = KernelText { name: "od_masked", source };
        all.push((format!("{} masked, {}", paper.name(), T::NAME), text));
        if problem.wind.is_some() {
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
    let steps = kernels::<f32>().into_iter().chain(kernels::<f64>());
    let others = others::<f32>().into_iter().chain(others::<f64>()).chain(relays());
    for (name, text) in steps.chain(others) {
        let resources = nvrtc::resources(&name, text.name, &text.source)?;
        let spilled = resources.spill_stores + resources.spill_loads;
        let (registers, stack) = (resources.registers, resources.stack);
        writeln!(table, "{name:20} {registers:5} {stack:5} {spilled:7}").unwrap();
    }
    Some(table)
}

#[test]
fn registers_and_spills_are_those_of_the_snapshot() {
    nvrtc::assert_is_snapshot(report, SNAPSHOT);
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

#[test]
fn single_precision_contains_no_double_arithmetic() {
    for (name, text) in kernels::<f32>().into_iter().chain(relays()) {
        if !nvrtc::assert_no_doubles(&name, text.name, &text.source) {
            return;
        }
    }
}
