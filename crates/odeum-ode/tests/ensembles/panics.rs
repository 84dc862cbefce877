//! A panic in what a caller gave reaches the caller as it is.

use odeum_ode::{
    Cpu, Device, DynSystem, Ensemble, Error, Isa, Method, Monitor, Options, Part, Real, Series,
    Solution, Solver, System, Tolerance, solve,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// y' = -y, until it is told to break.
struct Fragile(&'static AtomicBool);

impl System for Fragile {
    fn dim(&self) -> usize {
        1
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        assert!(!self.0.load(Ordering::Relaxed), "no rate of reaction 7");
        dydt[0] = -y[0];
    }
}

/// Ever more parts of a hundred systems; their solutions, too, break where that is wanted.
struct Endless {
    breaks_at_end: bool,
}

impl Series<f64> for Endless {
    fn systems(&self) -> usize {
        1000
    }

    fn next(&mut self) -> Result<Option<Part<f64>>, Error> {
        Ok(Some(ensemble().into()))
    }

    fn ended(&mut self, _number: usize, _solution: Solution<f64>) {
        assert!(!self.breaks_at_end, "no place for a solution");
    }
}

fn ensemble() -> Ensemble<f64> {
    Ensemble::repeated(&[1.0], 100, (0.0, 1.0)).unwrap()
}

fn message(work: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
    panic.downcast_ref::<&str>().map_or_else(
        || panic.downcast_ref::<String>().expect("a panic has a message").clone(),
        |message| message.to_string(),
    )
}

#[test]
fn panics_of_a_right_hand_side_and_of_a_series_have_their_own_messages() {
    static BREAKS: AtomicBool = AtomicBool::new(false);
    let options = Options::new(Tolerance::new(1e-6, 1e-9));
    let method = Method::tsit5();
    for threads in [1, 3] {
        let device = Device::Cpu(Cpu { threads: Some(threads), isa: Isa::best() });
        BREAKS.store(false, Ordering::Relaxed);
        let solver = Solver::new(DynSystem::new(Fragile(&BREAKS)), &method, &device, &options);
        let solver = solver.unwrap();
        let series = |breaks_at_end| {
            let mut series = Endless { breaks_at_end };
            message(|| drop(solver.solve_series(&mut series, &Monitor::new())))
        };
        assert_eq!(series(true), "no place for a solution");
        BREAKS.store(true, Ordering::Relaxed);
        assert_eq!(series(false), "no rate of reaction 7");
        let called = || drop(solve(&Fragile(&BREAKS), &ensemble(), &method, &device, &options));
        assert_eq!(message(called), "no rate of reaction 7");
    }
}
