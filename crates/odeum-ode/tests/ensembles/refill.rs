//! A lane never waits for a slow neighbour, nor does the answer depend on the threads.

use odeum_ode::{
    Cpu, Device, DynSystem, Ensemble, Isa, Method, Options, Real, Solution, Solver, System,
    Tolerance,
};

/// A rotation whose frequency is a parameter: cost in proportion.
pub(crate) struct Rotor;

impl System for Rotor {
    fn dim(&self) -> usize {
        2
    }
    fn n_params(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        dydt[0] = p[0] * y[1];
        dydt[1] = -(p[0] * y[0]);
    }
}

const SYSTEMS: usize = 4000;

fn run(method: &Method, threads: usize, isa: Isa) -> Solution<f64> {
    // One system in sixteen is a hundred times as costly as the others.
    let frequency = |s: usize| if s % 16 == 5 { 300.0 } else { 3.0 + (s % 7) as f64 / 10.0 };
    let mut states = vec![1.0; SYSTEMS];
    states.extend(vec![0.0; SYSTEMS]);
    let ensemble = Ensemble::new(2, states, (0.0, 3.0))
        .unwrap()
        .with_params((0..SYSTEMS).map(frequency).collect())
        .unwrap();
    let options = Options::new(Tolerance::new(1e-6, 1e-8));
    let device = Device::Cpu(Cpu { threads: Some(threads), isa });
    let solver = Solver::new(DynSystem::new(Rotor), method, &device, &options).unwrap();
    solver.solve(&ensemble).unwrap()
}

#[test]
fn lanes_are_busy_where_lockstep_would_idle() {
    for isa in Isa::available() {
        let solution = run(&Method::dopri5(), 1, isa);
        assert!(solution.all_succeeded());
        let lockstep = solution.divergence();
        assert!(lockstep > 0.5, "the ensemble is no test: D = {lockstep}");
        let busy = solution.busy_lanes.unwrap();
        assert!(busy > 0.95, "{isa}: lanes busy {busy}, lockstep D {lockstep}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for method in [Method::tsit5(), Method::vern7()] {
        let one = run(&method, 1, Isa::best());
        for threads in [2, 7] {
            let many = run(&method, threads, Isa::best());
            assert_eq!(one.states, many.states);
            assert_eq!(one.stats, many.stats);
        }
    }
}
