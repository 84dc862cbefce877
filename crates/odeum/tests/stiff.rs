//! Stiff methods on stiff problems, against references; and their faults on purpose.

// A test that cannot go on fails.
#![allow(clippy::unwrap_used)]

use odeum::core::{Graph, Tape};
use odeum::problems::{self, Problem, WithSystem};
use odeum::{Device, Method, Options, System, Tolerance, solve};

struct Trace;

impl WithSystem for Trace {
    type Output = Tape;
    fn run<S: System>(self, system: &S) -> Tape {
        Tape::new(Graph::trace(system)).unwrap()
    }
}

fn stiff_methods() -> Vec<Method> {
    Method::all().into_iter().filter(|m| m.jacobian_by().is_some()).collect()
}

/// Problems with an absolute tolerance that fits their smallest components, relative to rtol.
///
/// What E5 ends with, 1e-22, is far below the rounding of what it began with (two components of
/// 1.5e-4 whose difference is conserved), so only its size can be asked for.
const PROBLEMS: [(&str, f64); 8] = [
    ("robertson", 1e-5),
    ("hires", 1e-3),
    ("oregonator", 1e-3),
    ("e5", 1e-16),
    ("pollu", 1e-4),
    ("van_der_pol_stiff", 1e-3),
    ("van_der_pol_ring", 1e-3),
    ("brusselator_1d", 1e-2),
];

/// The largest error of a component in units of atol/rtol + |y|.
fn error(problem: &Problem, found: &[f64], floor: f64) -> f64 {
    let reference = problem.reference().unwrap().y;
    let ratio = |(a, b): (&f64, &f64)| (a - b).abs() / (floor + b.abs());
    found.iter().zip(reference).map(ratio).fold(0.0, f64::max)
}

#[test]
fn references_are_reached_at_every_tolerance() {
    for (name, floor) in PROBLEMS {
        let problem = problems::find(name).unwrap();
        let tape = problem.with_system(Trace);
        let ensemble = problem.ensemble::<f64>(1).unwrap();
        for method in stiff_methods() {
            for exponent in [-4, -6, -8] {
                if method.order() == 3 && exponent < -6 {
                    continue;
                }
                let rtol = 10_f64.powi(exponent);
                let options = Options::new(Tolerance::new(rtol, rtol * floor));
                let begun = std::time::Instant::now();
                let solution = solve(&tape, &ensemble, &method, &Device::cpu(), &options).unwrap();
                let error = error(&problem, &solution.y(0), floor);
                let (status, stats) = (solution.status[0], solution.stats[0]);
                println!(
                    "{name:18} {:9} {rtol:.0e}: {error:8.1e} {stats:?} {:?}",
                    method.name(),
                    begun.elapsed()
                );
                assert!(status.is_success(), "{name} {}: {status}", method.name());
                let bound = if name == "e5" { 1e-3 } else { 1e3 * rtol };
                assert!(error < bound, "{name} {} at {rtol:e}: {error:e}", method.name());
            }
        }
    }
}
