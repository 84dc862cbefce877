//! The kernels of the paper: executed on this machine through the host shim, against the
//! processor's sweeps, which share no code with them; and through the run-time compiler.

use crate::{host, nvrtc};
use odeum_fields::gpu::published::inspect;
use odeum_fields::gpu::published::{
    self, Blocks, Generation, Kernel, PublishedSimulation, Variant,
};
use odeum_fields::problems::Builtin;
use odeum_fields::{Boundaries, Boundary, Combination, Engine, Face, Precision, Quantity, rough};
use odeum_ode::Cpu;
use std::fmt::Write;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/published.txt");

const BUILTIN: [Builtin; 4] = [Builtin::Diffusion, Builtin::Turing, Builtin::Front, Builtin::Plume];
const STEPS: u64 = 3;

/// Steps of a variant against the CPU's, on boxes of these shapes.
fn agrees<T: Precision>(builtin: Builtin, variant: Variant, shapes: &[[usize; 3]]) {
    agree::<T>(builtin, variant.blocks(builtin), shapes);
}

fn agree<T: Precision>(builtin: Builtin, blocks: Blocks, shapes: &[[usize; 3]]) {
    if !host::is_available() {
        return;
    }
    let tolerance = if T::NAME == "f32" { 4e-6 } else { 1e-13 };
    for shape in shapes {
        let problem = published::problem(builtin, *shape).unwrap();
        let species = problem.model.species().len();
        let field = rough::<T>(&problem.grid, species).unwrap();
        // Between these times the plume's velocity turns: sin(t/500) has a zero at 500 π.
        let (t, h) = (1565.0, builtin.step());
        let engine = Engine::<T>::new(&problem, &Cpu::default()).unwrap();
        let (mut expected, mut next) = (field.clone(), engine.zeros().unwrap());
        for n in 0..STEPS {
            let terms = [(1.0, &expected)];
            let what = Combination { rhs: h, own: None, terms: &terms };
            engine.sweep(t + n as f64 * h, &expected, &what, &mut next);
            std::mem::swap(&mut expected, &mut next);
        }
        let device = host::device();
        let mut simulation =
            PublishedSimulation::on_device(builtin, blocks, &field, t, device).unwrap();
        simulation.steps(STEPS, h).unwrap();
        let found = simulation.field().unwrap();
        for s in 0..species {
            let (a, b) = (found.to_values(s), expected.to_values(s));
            for (at, (x, y)) in a.iter().zip(&b).enumerate() {
                let (x, y, cell) = (x.to_f64(), y.to_f64(), problem.grid.cell(at));
                assert!(
                    (x - y).abs() <= tolerance * y.abs().max(1.0),
                    "{} {blocks:?} {} {shape:?}: species {s} cell {cell:?}: {x} against {y}",
                    builtin.name(),
                    T::NAME
                );
            }
        }
    }
}

const fn variant(kernel: Kernel, generation: Generation) -> Variant {
    Variant { kernel, generation }
}

/// Boxes that blocks of 8³ threads do and do not divide: the first is 5 by 2 by 3 blocks of 6³
/// points that are computed, and 4 tiles long.
const SHAPES: [[usize; 3]; 3] = [[30, 12, 18], [21, 9, 5], [2, 3, 2]];

#[test]
fn shared_agrees() {
    for builtin in BUILTIN {
        agrees::<f64>(builtin, variant(Kernel::Shared, Generation::Second), &SHAPES);
    }
    agrees::<f32>(Builtin::Front, Variant::ALL[0], &SHAPES[1..]);
    agrees::<f32>(Builtin::Plume, Variant::ALL[0], &SHAPES[1..]);
}

#[test]
fn moving_tiles_agree() {
    for builtin in BUILTIN {
        agrees::<f64>(builtin, variant(Kernel::MovingTiles, Generation::Second), &SHAPES);
    }
    agrees::<f32>(Builtin::Diffusion, Variant::ALL[1], &SHAPES[1..]);
    agrees::<f32>(Builtin::Turing, Variant::ALL[1], &SHAPES[1..]);
}

/// Blocks of three layers and wide tiles. The barrier that three layers need is not tested: fibres
/// take their turns in an order that does without.
#[test]
fn first_generation_agrees() {
    for builtin in [Builtin::Diffusion, Builtin::Front] {
        for kernel in [Kernel::Shared, Kernel::MovingTiles] {
            agrees::<f64>(builtin, variant(kernel, Generation::First), &SHAPES[..2]);
        }
    }
    agrees::<f64>(Builtin::Turing, variant(Kernel::MovingTiles, Generation::First), &SHAPES[1..2]);
}

/// The paper's inflow is the value of the boundary points: Odeum's usual boundary, half a cell further
/// in, has other ghosts, and the test above would see it.
#[test]
fn inflow_is_at_the_boundary_points() {
    let shape = [6, 4, 3];
    let usual = Builtin::Front.problem(shape).unwrap();
    let builtins = published::problem(Builtin::Front, shape).unwrap();
    let field = Builtin::Front.initial::<f64>(&usual.grid, 1).unwrap();
    let first = |problem: &odeum_fields::Problem| {
        let engine = Engine::<f64>::new(problem, &Cpu::default()).unwrap();
        let mut next = engine.zeros().unwrap();
        let what = Combination { rhs: 1.0, own: None, terms: &[] };
        engine.sweep(0.0, &field, &what, &mut next);
        next.get(0, [0, 1, 1])
    };
    // a = 0 inside, so that ∂a/∂t is the ghost's value over h².
    assert!((first(&builtins) - 10.0).abs() < 1e-12);
    assert!((first(&usual) - 20.0).abs() < 1e-12);
    let inflow = Boundary::Dirichlet(Quantity::from(10.0));
    let face = Face { axis: 0, high: false };
    assert!(builtins.boundaries != Boundaries::default().species(face, "a", inflow));
}

#[test]
fn the_mended_front_is_not_of_the_paper() {
    assert!(published::problem(Builtin::MendedFront, [4; 3]).is_err());
    assert!(
        inspect::kernels::<f32>(Builtin::MendedFront, Variant::ALL[0].blocks(Builtin::Front))
            .is_err()
    );
}

#[test]
fn variants_have_names() {
    for variant in Variant::ALL {
        assert_eq!(Variant::named(variant.name()), Some(variant));
        for builtin in BUILTIN {
            // Cards of the first generation had blocks of at most 512 threads.
            assert!(variant.blocks(builtin).threads.iter().product::<usize>() <= 512);
        }
    }
    assert_eq!(Variant::named("naive"), None);
}

/// Blocks that the paper does not have, and some that cannot be.
#[test]
fn other_blocks() {
    let shared = |threads| Blocks { kernel: Kernel::Shared, threads };
    let tiles = |threads| Blocks { kernel: Kernel::MovingTiles, threads };
    agree::<f64>(Builtin::Turing, shared([16, 4, 5]), &SHAPES[1..]);
    agree::<f64>(Builtin::Plume, tiles([32, 4, 3]), &SHAPES[1..]);
    for blocks in [shared([8, 8, 2]), shared([32, 8, 8]), tiles([12, 4, 4]), tiles([0, 4, 4])] {
        assert!(inspect::kernels::<f64>(Builtin::Diffusion, blocks).is_err(), "{blocks:?}");
    }
    // Shared memory: four arrays of doubles.
    assert!(inspect::kernels::<f64>(Builtin::Front, tiles([32, 6, 5])).is_err());
    assert!(inspect::kernels::<f32>(Builtin::Front, tiles([32, 6, 5])).is_ok());
}

#[test]
fn cuts_are_of_equal_size() {
    let cuts = published::cuts();
    assert_eq!(cuts.len(), 21);
    assert!(cuts.iter().all(|points| points.iter().product::<usize>() == 256 * 256 * 256));
    assert_eq!(cuts[0], [256, 2048, 32]);
    assert_eq!(cuts[13], [32, 256, 2048]);
}

fn report() -> Option<String> {
    let mut table = format!("{:36} {:>5} {:>5} {:>7}\n", "kernel", "regs", "stack", "spilled");
    for (builtin, variant) in BUILTIN.into_iter().flat_map(|p| [0, 1].map(|n| (p, Variant::ALL[n])))
    {
        let (single, names) = inspect::kernels::<f32>(builtin, variant.blocks(builtin)).unwrap();
        let (double, _) = inspect::kernels::<f64>(builtin, variant.blocks(builtin)).unwrap();
        // What is said of the kernel's types is said of the whole text.
        let checks: [(_, _, nvrtc::Check); 2] =
            [("f32", &single, nvrtc::single), ("f64", &double, nvrtc::resources)];
        for (precision, text, check) in checks {
            let step = names[6];
            let case = format!("{}, {}, {precision}", builtin.name(), variant.name());
            let found = check(&case, step, text)?;
            let (registers, stack) = (found.registers, found.stack);
            let spilled = found.spill_stores + found.spill_loads;
            writeln!(table, "{case:36} {registers:5} {stack:5} {spilled:7}").unwrap();
        }
    }
    Some(table)
}

/// Kernels for an H200: registers and spills are those of the snapshot, and single precision
/// contains no double arithmetic.
#[test]
fn kernels_compile() {
    nvrtc::assert_is_snapshot(report, SNAPSHOT);
}
