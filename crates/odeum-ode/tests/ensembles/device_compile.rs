//! Every kernel through the run-time compiler, to machine code for an H200, with no GPU: what
//! registers it takes and whether it spills is kept as a snapshot.
//!
//! `ODEUM_BLESS=1` writes the snapshot anew. The compiler comes as a wheel, see the error message
//! of the library; without it the tests are skipped.

#[path = "../device/nvrtc.rs"]
pub(crate) mod nvrtc;

use odeum_core::{Graph, Real, Symbol};
use odeum_kinetics::{Constraint, Energy, JacobianForm, Kinetics, Reactor, read};
use odeum_ode::gpu::StepPart;
use odeum_ode::gpu::inspect::{self, KernelText};
use odeum_ode::method::JacobianSource;
use odeum_ode::problems::{Brusselator1d, Lorenz, Pleiades, VanDerPol};
use odeum_ode::{
    DynSystem, Error, FirstStep, Method, Options, Rosenbrock, Scalar, Tolerance, problems,
};
use std::fmt::Write;
use std::sync::Arc;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/ptxas.txt");

fn kernels<T: Scalar>() -> Vec<(String, KernelText)> {
    let automatic = Options::new(Tolerance::new(1e-6, 1e-9));
    let saves = automatic.clone().save_at(vec![1.0]);
    let published =
        Options::new(Tolerance::state_and_rate(1e-6)).first_step(FirstStep::Fraction(0.5));
    let pleiades = Graph::trace(&Pleiades);
    let lorenz = Graph::trace(&Lorenz);
    let van_der_pol = Graph::trace(&VanDerPol);
    let brusselator = Graph::trace(&Brusselator1d::default());
    let cases = [
        ("pleiades paper", &pleiades, Method::rkck(), &published),
        ("pleiades automatic", &pleiades, Method::dopri5(), &automatic),
        ("pleiades saved", &pleiades, Method::vern7(), &saves),
        ("lorenz automatic", &lorenz, Method::tsit5(), &automatic),
        ("lorenz saved", &lorenz, Method::vern7(), &saves),
        ("van der pol", &van_der_pol, Method::rkck(), &automatic),
        ("van der pol", &van_der_pol, Method::rkc(), &automatic),
        ("brusselator", &brusselator, Method::rkc(), &automatic),
        ("brusselator", &brusselator, Method::dopri5(), &automatic),
    ];
    let mut all = Vec::new();
    for (name, graph, method, options) in cases {
        for kernel in inspect::kernels::<T>(graph, &method, options, false) {
            all.push((format!("{name}, {}, {}", method.name(), T::NAME), kernel));
        }
    }
    all
}

/// Those of implicit methods, small systems by one thread, others by groups; and those of explicit methods by groups.
fn integrating_kernels() -> Vec<(String, KernelText)> {
    let options = Options::new(Tolerance::new(1e-6, 1e-9));
    let problem = |name: &str| DynSystem::from(&problems::find(name).unwrap());
    let systems = [
        ("robertson", problem("robertson")),
        ("pollu", problem("pollu")),
        ("brusselator", problem("brusselator_1d")),
        ("hydrogen", DynSystem::from(Reactor::constant_pressure(hydrogen()))),
    ];
    let mut all = Vec::new();
    for (name, system) in &systems {
        for method in [Method::rodas4(), Method::radau()] {
            let kernel = inspect::planned(system, &method, &options, 1).unwrap();
            all.push((format!("{name}, {}, f64", method.name()), kernel));
        }
    }
    let (name, system) = &systems[3];
    let level = options.clone().end_when_rises(0, vec![1500.0]);
    for method in [Method::rodas4(), Method::radau(), Method::exp4()] {
        let kernel = inspect::planned(system, &method, &level, 1).unwrap();
        all.push((format!("{name} to a level, {}, f64", method.name()), kernel));
    }
    let Method::Rosenbrock(rodas4) = Method::rodas4() else { unreachable!() };
    let by =
        Method::Rosenbrock(Rosenbrock { jacobian: JacobianSource::FiniteDifferences, ..rodas4 });
    let kernel = inspect::planned(system, &by, &options, 1).unwrap();
    all.push((format!("{name}, rodas4 by finite differences, f64"), kernel));
    for part in StepPart::ALL {
        let kernel = inspect::part(system, part, &options).unwrap();
        all.push((format!("{name}, {part:?}, f64"), kernel));
    }
    for method in [Method::rodas4(), Method::rkc()] {
        let kernel = inspect::costs(system, &method, &options).unwrap();
        all.push((format!("{name}, costs of {}, f64", method.name()), kernel));
    }
    for method in [Method::rkc(), Method::rkck(), Method::vern7()] {
        for (name, system) in &systems[2..] {
            let kernel = inspect::planned(system, &method, &options, 32).unwrap();
            all.push((format!("{name}, {}, f64", method.name()), kernel));
        }
    }
    let (constraint, energy) = (Constraint::ConstantPressure, Energy::Adiabatic);
    let reactor = Reactor::new(hydrogen(), constraint, energy, JacobianForm::Approximate);
    let system = DynSystem::from(reactor);
    let kernel = inspect::planned(&system, &Method::rkc(), &options, 1).unwrap();
    all.push(("hydrogen interleaved, rkc, f64".to_owned(), kernel));
    all
}

fn hydrogen() -> Arc<Kinetics> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../mechanisms/hydrogen-burke-2012.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let mechanism = read::yaml(path, &text, None).unwrap().mechanism;
    Arc::new(Kinetics::new(&mechanism).unwrap())
}

fn report() -> Option<String> {
    let mut table = format!(
        "{:36} {:14} {:>5} {:>3} {:>7} {:>5} {:>5} {:>7}\n",
        "case", "kernel", "block", "/SM", "shared", "regs", "stack", "spilled"
    );
    let by = |check: nvrtc::Check, kernels: Vec<(String, KernelText)>| {
        kernels.into_iter().map(move |(case, kernel)| (check, case, kernel))
    };
    let explicit =
        by(nvrtc::resources, kernels::<f64>()).chain(by(nvrtc::single, kernels::<f32>()));
    for (check, case, kernel) in explicit.chain(by(nvrtc::resources, integrating_kernels())) {
        let resources = check(&case, kernel.name, &kernel.source)?;
        let (block, blocks, shared) = (kernel.block, kernel.blocks_per_sm, kernel.shared);
        let spilled = resources.spill_stores + resources.spill_loads;
        writeln!(
            table,
            "{case:36} {:14} {block:5} {blocks:3} {shared:7} {:5} {:5} {spilled:7}",
            kernel.name, resources.registers, resources.stack
        )
        .unwrap();
    }
    Some(table)
}

/// And single precision contains no double arithmetic.
#[test]
fn registers_and_spills_are_those_of_the_snapshot() {
    nvrtc::assert_is_snapshot(report, SNAPSHOT);
}

/// NVRTC refuses decimals that single precision has not; compilers of the host device take them.
#[test]
fn numbers_that_single_precision_has_not_compile() {
    let options = Options::new(Tolerance::new(1e-4, 1e-6));
    let graph = Graph::record(3, 1, |t, y, p| {
        let beyond = Symbol::lit(1e300).min(y[1]) - Symbol::lit(-3.5e38).max(p[0]);
        let least = y[0] / (y[0] + Symbol::lit(1e-50)) + Symbol::lit(-1e-46) * t;
        let chosen = Real::select(y[0].lt(p[0]), Symbol::lit(1e-60), Symbol::lit(1e60));
        vec![beyond, least, chosen * y[2]]
    });
    for method in [Method::dopri5(), Method::vern7(), Method::rkc()] {
        for kernel in inspect::kernels::<f32>(&graph, &method, &options, false) {
            if nvrtc::single(method.name(), kernel.name, &kernel.source).is_none() {
                return;
            }
        }
    }
}

#[test]
fn a_refused_text_comes_back_with_the_log() {
    match odeum_cuda::check("od_none", "__global__ void od_none( {}", "sm_90") {
        Err(Error::Compile { kernel, log, source_text }) => {
            assert_eq!(kernel, "od_none");
            assert!(log.contains("od_none.cu(1)"), "{log}");
            assert!(source_text.contains("__global__"));
        }
        Err(error) if nvrtc::skipped(&error) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn methods_that_run_on_the_processor_alone_have_no_kernels() {
    let (graph, options) = (Graph::trace(&Lorenz), Options::new(Tolerance::new(1e-6, 1e-9)));
    for method in [Method::exp4(), Method::exprb43()] {
        assert!(inspect::kernels::<f64>(&graph, &method, &options, false).is_empty());
    }
}
