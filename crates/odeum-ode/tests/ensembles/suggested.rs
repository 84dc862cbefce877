//! Whether the methods that the built-in problems suggest solve them.

use odeum_ode::problems;
use odeum_ode::{Device, Method, Options, Solver, Tolerance};

/// Largest error over the largest component: the problems have components of all sizes.
fn error(found: &[f64], reference: &[f64]) -> f64 {
    let size = reference.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
    found.iter().zip(reference).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max)
}

#[test]
fn suggested_methods_reach_the_references() {
    for problem in problems::all() {
        let method = Method::from_name(problem.method).unwrap();
        let stabilised = method.name() == "rkc";
        let (rtol, floor, bound) = match method.jacobian_source() {
            // It ends with 9e-23.
            Some(_) if problem.name == "e5" => (1e-8, 1e-17, 1e-3),
            Some(_) => (1e-8, 1e-14, 1e-5),
            None if stabilised => (1e-7, 1e-4, 1e-3),
            None => (1e-11, 1e-4, 1e-5),
        };
        let options = Options::new(Tolerance::new(rtol, rtol * floor)).max_steps(10_000_000);
        let ensemble = problem.ensemble::<f64>(1).unwrap();
        let solver = Solver::new(&problem, &method, &Device::cpu(), &options).unwrap();
        let began = std::time::Instant::now();
        let solution = solver.solve(&ensemble).unwrap();
        let status = solution.status[0];
        assert!(status.is_success(), "{}: {status} at {}", problem.name, solution.t[0]);
        let error = error(&solution.y(0), problem.reference().unwrap().y);
        println!("{}: {error:.1e} {:?} {:?}", problem.name, solution.stats[0], began.elapsed());
        assert!(error < bound, "{}: {error:e}", problem.name);
    }
}
