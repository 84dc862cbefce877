//! Parts of a step by themselves, and how busy the groups of a launch are.

use crate::host;
use odeum_ode::gpu::StepPart;
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::problems::Robertson;
use odeum_ode::{DynSystem, Ensemble, FirstStep, Method, Options, Tolerance};

const SYSTEMS: usize = 20;
/// The span of the ensemble, which is the step whose matrix is factored.
const STEP: f64 = 1e-2;

/// Robertson's problem from states of which each is another.
fn ensemble() -> Ensemble<f64> {
    let at = |k: usize| 1.0 + k as f64;
    let a = (0..SYSTEMS).map(|s| 1.0 - 1e-3 * at(s));
    let b = (0..SYSTEMS).map(|s| 1e-6 * at(s));
    let c = (0..SYSTEMS).map(|s| 1e-3 * at(s));
    Ensemble::new(3, a.chain(b).chain(c).collect(), (0.0, STEP))
        .and_then(|ensemble| ensemble.with_shared_params(Robertson::problem().params.to_vec()))
        .unwrap()
}

/// f and J of Robertson's problem.
fn linearised(y: [f64; 3], k: &[f64]) -> ([f64; 3], [[f64; 3]; 3]) {
    let (lost, back, formed) = (k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] * y[1]);
    let f = [back - lost, lost - back - formed, formed];
    let (by_b, by_c, twice) = (k[1] * y[2], k[1] * y[1], 2.0 * k[2] * y[1]);
    (f, [[-k[0], by_b, by_c], [k[0], -by_b - twice, -by_c], [0.0, twice, 0.0]])
}

#[test]
fn each_part_gives_what_it_is() {
    if !host::is_available() {
        return;
    }
    let (problem, ensemble) = (Robertson::problem(), ensemble());
    let system = DynSystem::from(&problem);
    let tolerance = Tolerance::new(1e-6, 1e-10);
    let gamma = match Method::rodas4() {
        Method::Rosenbrock(method) => method.tableau.gamma,
        _ => unreachable!("Rodas4 is a Rosenbrock method"),
    };
    for width in [1, 32, 128] {
        let devices = Devices::new(vec![host::setup().device()]).threads_at_least(width);
        for part in StepPart::ALL {
            let found = devices.part(part, &system, &ensemble, &tolerance).unwrap();
            for s in 0..SYSTEMS {
                let of = |values: &[f64]| [0, 1, 2].map(|i| values[i * SYSTEMS + s]);
                let (f, jacobian) = linearised(of(ensemble.states()), &problem.params);
                let value = of(&found);
                for i in 0..3 {
                    // Of a solution what the matrix makes of it.
                    let (mut is, mut size) = (value[i], f[i].abs());
                    if part == StepPart::Solve {
                        let product = |j: usize| jacobian[i][j] * value[j];
                        is = value[i] / (gamma * STEP) - (0..3).map(product).sum::<f64>();
                        size += (0..3).map(|j| product(j).abs()).sum::<f64>();
                    }
                    let error = (is - f[i]).abs();
                    assert!(error <= 1e-12 * size, "{part:?}, {width}: {is} of {f:?} at {i}");
                }
            }
        }
    }
}

#[test]
fn a_session_says_how_busy_its_groups_were() {
    if !host::is_available() {
        return;
    }
    let options = Options::new(Tolerance::new(1e-6, 1e-10)).first_step(FirstStep::Fraction(1e-3));
    for width in [1, 32, 128] {
        let devices = Devices::new(vec![host::setup().device()]).threads_at_least(width);
        let busy_after = |method: Method| {
            let mut session = devices.session(&Robertson, &ensemble(), &method, &options).unwrap();
            session.advance((0.0, STEP)).unwrap();
            session.solution().unwrap().busy_lanes
        };
        let busy = busy_after(Method::rodas4()).unwrap();
        assert!(busy > 0.0 && busy <= 1.0, "{width} threads: {busy}");
        // Kernels of one thread per system that take explicit steps do not count them.
        assert_eq!(busy_after(Method::rkck()).is_some(), width > 1);
    }
}
