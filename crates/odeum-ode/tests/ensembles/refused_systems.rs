//! Systems that contradict themselves are refused before a run.

use odeum_core::{RangeKind, ValidRange};
use odeum_ode::{
    Device, DynSystem, Ensemble, Error, Method, Monitor, Options, Part, Real, Series, Solution,
    Solver, System, Tolerance, solve,
};

/// A pendulum whose second slope is forgotten.
struct Forgets;

impl System for Forgets {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = y[1];
    }
    fn state_names(&self) -> Vec<String> {
        vec!["angle".to_owned(), "speed".to_owned()]
    }
}

/// A pendulum whose first slope is added to what was there.
struct Adds;

impl System for Adds {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = dydt[0] + y[1];
        dydt[1] = -y[0];
    }
}

/// y' = -y, of which the model holds there.
struct Ranged(ValidRange);

impl System for Ranged {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        dydt[0] = -y[0];
    }
    fn ranges(&self) -> Vec<ValidRange> {
        vec![self.0]
    }
}

fn options() -> Options {
    Options::new(Tolerance::new(1e-6, 1e-9))
}

fn start() -> Ensemble<f64> {
    Ensemble::new(2, vec![1.0, 0.0], (0.0, 1.0)).unwrap()
}

/// One part.
struct One(Option<Ensemble<f64>>);

impl Series<f64> for One {
    fn systems(&self) -> usize {
        1
    }
    fn next(&mut self) -> Result<Option<Part<f64>>, Error> {
        Ok(self.0.take().map(Part::from))
    }
    fn ended(&mut self, _number: usize, _solution: Solution<f64>) {
        panic!("a part of a series that is refused ended");
    }
}

/// They ended with success: the one with a constant speed, the other with numbers of other steps and systems.
#[test]
fn slopes_that_are_not_all_set_are_refused() {
    let forgets = "found a right-hand side that does not set component 1 (speed) of dydt";
    let adds = "found a right-hand side that does not set component 0 (y0) of dydt";
    let text = |error: Error| error.to_string();
    let device = Device::cpu();
    for method in Method::all() {
        let mut found = vec![
            (text(solve(&Forgets, &start(), &method, &device, &options()).unwrap_err()), forgets),
            (text(solve(&Adds, &start(), &method, &device, &options()).unwrap_err()), adds),
        ];
        let systems = [(DynSystem::new(Forgets), forgets), (DynSystem::new(Adds), adds)];
        for (system, words) in systems {
            let solver = Solver::new(system, &method, &device, &options()).unwrap();
            let single = Ensemble::new(2, vec![1.0_f32, 0.0], (0.0, 1.0)).unwrap();
            let monitor = Monitor::new();
            let errors = [
                solver.solve(&start()).map(drop),
                solver.solve(&single).map(drop),
                solver.session(&start()).map(drop),
                solver.solve_series(&mut One(Some(start())), &monitor).map(drop),
            ];
            found.extend(errors.map(|error| (text(error.unwrap_err()), words)));
        }
        for (found, words) in found {
            assert!(found.contains(words), "{}: {words}: {found}", method.name());
        }
    }
}

/// The first of these panicked in a thread, the others made every end one beyond its bounds, or counted for nothing.
#[test]
fn ranges_that_fit_no_component_are_refused() {
    let kind = RangeKind::Physical;
    let cases = [
        (ValidRange { component: 1, lower: 0.0, upper: 1.0, kind }, "ranges[0].component: found 1"),
        (ValidRange { component: 0, lower: 2.0, upper: 1.0, kind }, "ranges[0]: found 2 to 1"),
        (ValidRange { component: 0, lower: f64::NAN, upper: 1.0, kind }, "found NaN to 1"),
    ];
    let (method, device) = (Method::dopri5(), Device::cpu());
    let one = Ensemble::new(1, vec![1.0], (0.0, 1.0)).unwrap();
    for (range, words) in cases {
        let found = [
            solve(&Ranged(range), &one, &method, &device, &options()).map(drop),
            Solver::new(DynSystem::new(Ranged(range)), &method, &device, &options()).map(drop),
        ];
        for found in found.map(|found| found.unwrap_err().to_string()) {
            assert!(found.contains(words), "{words}: {found}");
        }
    }
}
