//! Steps that the field makes unstable where no judgement looks.

use crate::common::{model, one_thread};
use odeum_fields::{
    Boundaries, Boundary, Face, Field, Grid, Method, Options, Outcome, Problem, Quantity,
    Simulation, Steps, noise,
};

const RKL2: Method = Method::Rkl2 { stages: None };

/// How a row ends that begins with these values, plus or minus noise, and the values it then has.
fn run(
    equations: [(&str, &str); 2],
    (n, values): (usize, [[f64; 2]; 2]),
    (method, steps): (Method, Steps),
    end: f64,
) -> (Outcome, [Vec<f64>; 2]) {
    let problem = Problem::new(model(&equations), Grid::new([n, 1, 1], 1.0).unwrap());
    ended(&problem, values, &Options::new(method, steps), end)
}

fn ended(
    problem: &Problem,
    values: [[f64; 2]; 2],
    options: &Options,
    end: f64,
) -> (Outcome, [Vec<f64>; 2]) {
    let mut cell = 0;
    let field = Field::from_fn(&problem.grid, 2, |s, _| {
        cell += 1;
        values[s][0] + values[s][1] * (2.0 * noise(1, 0, cell) - 1.0)
    });
    let cpu = one_thread();
    let mut simulation = Simulation::new(problem, field.unwrap(), 0.0, options, cpu).unwrap();
    let outcome = simulation.advance_to(end).unwrap();
    let field = simulation.field().unwrap();
    (outcome, [0, 1].map(|s| field.to_values(s)))
}

fn is_unstable((outcome, [_, w]): &(Outcome, [Vec<f64>; 2])) -> bool {
    let is_bounded = w.iter().all(|w| w.abs() < 200.0);
    assert!(is_bounded || *outcome != Outcome::Reached, "{outcome:?} {w:?}");
    matches!(outcome, Outcome::Unstable(_))
}

/// A species that passes a threshold, at which another begins to burn: before, nothing limits the steps. w was 2e16, with success.
#[test]
fn thresholds_that_nothing_announces() {
    let warm = Boundary::Dirichlet(Quantity::from(1.0));
    let boundaries = Boundaries::default().species(Face { axis: 0, high: false }, "T", warm);
    let equations = [("T", "lap(T)"), ("w", "lap(w) - 500*select(T > 0.5, 1, 0)*w")];
    let front = Problem::new(model(&equations), Grid::new([100, 1, 1], 1.0).unwrap());
    let options = Options::new(RKL2, Steps::Fixed(0.05));
    let values = [[0.0, 0.0], [1.0, 0.0]];
    assert!(is_unstable(&ended(&front.boundaries(boundaries), values, &options, 1.0)));

    let equations = [("u", "lap(u) + 1"), ("w", "lap(w) + 3000*select(u > 0.5, 1, 0)*(1 - w)")];
    let values = [[0.0, 0.0], [0.5, 0.1]];
    assert!(is_unstable(&run(equations, (16, values), (RKL2, Steps::Fixed(0.02)), 0.7)));
}
