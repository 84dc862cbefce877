//! Manufactured solutions in three dimensions: reactions, diffusion, a velocity and sources that
//! change in space and time, at once, between boundaries of every kind.

use crate::common::{advanced, centres};
use odeum_fields::{
    Advection, Boundaries, Boundary, Face, Field, Grid, ModelText, Options, Problem, Quantity,
    Stencil, Velocity,
};
use std::f64::consts::PI;

/// Time at the end; what varies does so on a scale of 1.
const END: f64 = 0.25;
/// Diffusion of u and v, and how they are multiplied with Δt/h².
const DIFFUSION: [f64; 2] = [0.1, 0.07];
/// Δt/h², small beside 1/D.
const RATIO: f64 = 1.0;

/// u = 2 + sin t + X Y Z/2 with X = sin(πx/2), Y = cos(1 − y): both are level at 1, and at 0
/// X is zero and so is Y + cot(1) ∂Y/∂n, with n = −y.
///
/// v = 1 + (1 + t) P Q Z/2 with P = cos(πx/2), Q = cos(πy/2), both zero at 1 and level at 0.
///
/// Z = 1 + sin(2πz)/2, in a box that is periodic along z.
fn exact(s: usize, t: f64, [x, y, z]: [f64; 3]) -> f64 {
    let along_z = 1.0 + 0.5 * (2.0 * PI * z).sin();
    match s {
        0 => 2.0 + t.sin() + 0.5 * (PI * x / 2.0).sin() * (1.0 - y).cos() * along_z,
        _ => 1.0 + 0.5 * (1.0 + t) * (PI * x / 2.0).cos() * (PI * y / 2.0).cos() * along_z,
    }
}

fn boundaries() -> Boundaries {
    let face = |axis, high| Face { axis, high };
    let value = |text: &str| Boundary::Dirichlet(Quantity::from(text));
    let cot = 1.0 / 1.0_f64.tan();
    let leak = Boundary::Robin { value: 1.0, gradient: cot, amount: Quantity::from("2 + sin(t)") };
    Boundaries::all(Boundary::Open)
        .species(face(0, false), "u", value("2 + sin(t)"))
        .species(face(1, false), "u", leak)
        .species(face(0, true), "v", value("1"))
        .species(face(1, true), "v", value("1"))
        .axis(2, Boundary::Periodic)
}

/// The equations for which [`exact`] is the solution, with a velocity (a, b, c) that changes.
fn problem(n: usize, stencil: Stencil, advection: Option<Advection>) -> Problem {
    let velocity = match advection {
        Some(_) => ["0.8", "-0.5 - t", "0.6 * cos(2 * t)"],
        None => ["0"; 3],
    };
    let reactions = ["1.5 - u^2 * v + 0.3 * v", "u^2 * v - 2 * v"];
    // What the reactions are of the solution itself.
    let of_exact = reactions.map(|text| text.replace('u', "U").replace('v', "V"));
    let source = |name: &str, rest: &str, s: usize| {
        format!(
            "{name}t - {} * lap{name} + a * {name}x + b * {name}y + c * {name}z - ({rest})",
            DIFFUSION[s]
        )
    };
    let sources = [source("U", &of_exact[0], 0), source("V", &of_exact[1], 1)];
    let equations = [0, 1].map(|s| {
        format!("{} * lap({}) + {} + source{s}", DIFFUSION[s], ["u", "v"][s], reactions[s])
    });
    let text = ModelText {
        species: vec!["u", "v"],
        definitions: vec![
            ("a", velocity[0]),
            ("b", velocity[1]),
            ("c", velocity[2]),
            ("Z", "1 + 0.5 * sin(2 * pi * z)"),
            ("Zz", "pi * cos(2 * pi * z)"),
            ("Zzz", "-2 * pi^2 * sin(2 * pi * z)"),
            ("X", "sin(pi * x / 2)"),
            ("Y", "cos(1 - y)"),
            ("U", "2 + sin(t) + 0.5 * X * Y * Z"),
            ("Ut", "cos(t)"),
            ("Ux", "pi / 4 * cos(pi * x / 2) * Y * Z"),
            ("Uy", "0.5 * X * sin(1 - y) * Z"),
            ("Uz", "0.5 * X * Y * Zz"),
            ("lapU", "0.5 * X * Y * (Zzz - (pi^2 / 4 + 1) * Z)"),
            ("P", "cos(pi * x / 2)"),
            ("Q", "cos(pi * y / 2)"),
            ("V", "1 + 0.5 * (1 + t) * P * Q * Z"),
            ("Vt", "0.5 * P * Q * Z"),
            ("Vx", "-pi / 4 * (1 + t) * sin(pi * x / 2) * Q * Z"),
            ("Vy", "-pi / 4 * (1 + t) * P * sin(pi * y / 2) * Z"),
            ("Vz", "0.5 * (1 + t) * P * Q * Zz"),
            ("lapV", "0.5 * (1 + t) * P * Q * (Zzz - pi^2 / 2 * Z)"),
            ("source0", &sources[0]),
            ("source1", &sources[1]),
        ],
        equations: vec![("u", &equations[0]), ("v", &equations[1])],
        ..ModelText::default()
    };
    let grid = Grid::new([n; 3], 1.0 / n as f64).unwrap();
    let problem =
        Problem::new(text.read().unwrap().0, grid).stencil(stencil).boundaries(boundaries());
    match advection {
        Some(advection) => {
            problem.velocity(Velocity::Uniform(velocity.map(Quantity::from)), advection)
        }
        None => problem,
    }
}

/// Mean error of each species on n³ cells.
fn errors(n: usize, stencil: Stencil, advection: Option<Advection>) -> [f64; 2] {
    let problem = problem(n, stencil, advection);
    let grid = problem.grid;
    let h = 1.0 / n as f64;
    let start = Field::<f64>::from_fn(&grid, 2, |s, at| exact(s, 0.0, at)).unwrap();
    let end = advanced(&problem, start, &Options::euler(RATIO * h * h), END);
    [0, 1].map(|s| {
        let values = end.to_values(s);
        let pairs = values.iter().zip(centres(&grid));
        let sum: f64 = pairs.map(|(value, at)| (value - exact(s, END, at)).abs()).sum();
        sum / values.len() as f64
    })
}

/// The errors on n³ and on (2n)³ cells: those on the finer grid, and the orders seen, of both species.
fn orders(n: usize, stencil: Stencil, advection: Option<Advection>) -> ([f64; 2], [f64; 2]) {
    let [coarse, fine] = [n, 2 * n].map(|n| errors(n, stencil, advection));
    (fine, [0, 1].map(|s| (coarse[s] / fine[s]).log2()))
}

#[test]
fn reactions_diffusion_and_sources_are_of_second_order() {
    for stencil in [Stencil::Isotropic, Stencil::Star] {
        let (_, orders) = orders(16, stencil, None);
        assert!(orders.iter().all(|order| (order - 2.0).abs() < 0.1), "{stencil:?}: {orders:?}");
    }
}

/// With a velocity the error is that of upwind differences, or a small part of it: Koren's scheme
/// leaves the second order of all else, but for what it cuts off crests, whose share among the
/// cells falls with h.
#[test]
fn velocities_have_the_order_of_their_scheme() {
    let (smeared, orders_of_upwind) = orders(20, Stencil::Isotropic, Some(Advection::Upwind));
    let near = |order: &f64| (order - 1.0).abs() < 0.1;
    assert!(orders_of_upwind.iter().all(near), "upwind: {orders_of_upwind:?}");
    let (sharp, orders_of_koren) = orders(16, Stencil::Isotropic, Some(Advection::Koren));
    let near = |order: &f64| (1.75..2.4).contains(order);
    assert!(orders_of_koren.iter().all(near), "Koren: {orders_of_koren:?}");
    assert!((0..2).all(|s| sharp[s] < smeared[s] / 20.0), "{sharp:?} {smeared:?}");
}
