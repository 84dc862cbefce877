//! Kernels of fields through the run-time compiler, to machine code for an H200, with no GPU:
//! what registers they take and whether they spill is kept as a snapshot.
//!
//! `ODEUM_BLESS=1` writes the snapshot anew. Without the compiler the tests are skipped.

#![allow(clippy::unwrap_used)]

use odeum::Error;
use odeum::Scalar;
use odeum::backend::cuda::inspect::{assembly, check};
use odeum_fields::cuda::Tiling;
use odeum_fields::cuda::inspect::{self, KernelText};
use odeum_fields::problems::Paper;
use std::fmt::Write;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/ptxas.txt");
const ARCH: &str = "sm_90";

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
            tilings.push(Tiling::twice(species, word));
        }
        for tiling in tilings {
            let text = inspect::kernel::<T>(&problem, tiling, 1.0).unwrap();
            all.push((format!("{} {}, {}", paper.name(), tiling.depth, T::NAME), text));
        }
    }
    all
}

/// True when there is no compiler, which is then said; where there must be one
/// (`ODEUM_NEED_NVRTC`) that is a failure.
fn skipped(error: &Error) -> bool {
    let absent = matches!(error, Error::Device { .. });
    if absent {
        assert!(std::env::var_os("ODEUM_NEED_NVRTC").is_none(), "{error}");
        eprintln!("SKIPPED: {error}");
    }
    absent
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
    let (source, names) = inspect::common::<T>();
    for name in names {
        let text = KernelText { name, source: source.clone() };
        all.push((format!("{name}, {}", T::NAME), text));
    }
    all
}

#[test]
fn registers_and_spills_are_those_of_the_snapshot() {
    let mut table = format!("{:20} {:>5} {:>5} {:>7}\n", "kernel", "regs", "stack", "spilled");
    let steps = kernels::<f32>().into_iter().chain(kernels::<f64>());
    for (name, text) in steps.chain(others::<f32>()).chain(others::<f64>()) {
        let resources = match check(text.name, &text.source, ARCH) {
            Ok((resources, _)) => resources,
            Err(error) if skipped(&error) => return,
            Err(error) => panic!("{name}: {error}"),
        };
        let spilled = resources.spill_stores + resources.spill_loads;
        let (registers, stack) = (resources.registers, resources.stack);
        writeln!(table, "{name:20} {registers:5} {stack:5} {spilled:7}").unwrap();
    }
    if std::env::var_os("ODEUM_BLESS").is_some() {
        std::fs::write(SNAPSHOT, &table).unwrap();
    }
    let kept = std::fs::read_to_string(SNAPSHOT).unwrap_or_default();
    assert_eq!(table, kept, "the compiler's report has changed; ODEUM_BLESS=1 keeps the new one");
}

#[test]
fn single_precision_contains_no_double_arithmetic() {
    for (name, text) in kernels::<f32>() {
        match assembly(text.name, &text.source) {
            Ok(text) => {
                let doubles: Vec<_> = text.lines().filter(|l| l.contains(".f64")).take(5).collect();
                assert!(doubles.is_empty(), "{name}: {doubles:#?}");
            }
            Err(error) if skipped(&error) => return,
            Err(error) => panic!("{name}: {error}"),
        }
    }
}
