//! Reactions as machine code against the same interpreted, bit for bit: a `min` that takes nothing away has no
//! code, and leaves all before it as it is.
#![allow(clippy::unwrap_used)]

mod common;

use common::mixed_walls;
use odeum::{Cpu, Isa};
use odeum_fields::{
    Advection, Combination, Engine, Field, Grid, ModelText, Precision, Problem, Quantity, Wall,
    Walls, Wind, noise,
};

fn problem(shape: [usize; 3], equations: &[(&str, &str)], interpreted: bool) -> Problem {
    let given = |equation: &str| match interpreted {
        true => format!("min({equation}, 1e30)"),
        false => equation.to_owned(),
    };
    let texts: Vec<String> = equations.iter().map(|(_, equation)| given(equation)).collect();
    let species: Vec<&str> = equations.iter().map(|(name, _)| *name).collect();
    let equations = species.iter().copied().zip(texts.iter().map(String::as_str)).collect();
    let text = ModelText { species, equations, ..ModelText::default() };
    Problem::new(text.read().unwrap().0, Grid::new(shape, 0.8).unwrap())
}

fn field<T: Precision>(problem: &Problem, seed: u64) -> Field<T> {
    let mut cell = 0;
    let value = |s: usize, _: [f64; 3]| {
        cell += 1;
        0.5 + 0.3 * noise(seed, s, cell)
    };
    Field::from_fn(&problem.grid, problem.model.species().len(), value).unwrap()
}

/// Sweeps of every form, of the problem and of the same interpreted.
fn check<T: Precision>(problems: &[Problem; 2], cpu: &Cpu) {
    let [u, v, w] = [1, 2, 3].map(|seed| field::<T>(&problems[0], seed));
    let engines = problems.each_ref().map(|problem| Engine::<T>::new(problem, cpu).unwrap());
    for own in [None, Some(-0.7)] {
        for terms in [&[][..], &[(1.0, &u)], &[(0.3, &v)], &[(0.4, &u), (0.6, &v), (-0.2, &w)]] {
            let [coded, interpreted] = engines.each_ref().map(|engine| {
                let mut out = w.clone();
                assert!(engine.sweep(0.4, &u, &Combination { slope: 0.01, own, terms }, &mut out));
                out
            });
            let shape = problems[0].grid.shape();
            assert!(coded == interpreted, "{shape:?} {} {cpu:?} {own:?} {}", T::NAME, terms.len());
        }
    }
}

const SHAPES: [[usize; 3]; 7] =
    [[37, 19, 5], [64, 9, 6], [5, 40, 3], [272, 12, 4], [129, 1, 1], [3, 1, 21], [1, 6, 1]];

#[test]
fn code_and_interpreter_give_the_same_bits() {
    let turing = [
        ("u", "0.3*lap(u) + u - u^3 - v/(1 + u*u)"),
        ("v", "0.5*lap(v) + 2*(u - 0.5*v*x*y*z - t)"),
        ("w", "lap(u) - sqrt(abs(w))"),
    ];
    let front = [("a", "lap(a) - 0.2*a*b"), ("b", "0.2*a*b - lap(b - b^3 + lap(b))")];
    let wind = || Wind::Uniform(["0.4", "-0.2", "0.3*cos(9*t)"].map(Quantity::from));
    for shape in SHAPES {
        let both = |equations| [false, true].map(|without| problem(shape, equations, without));
        let cases = [
            both(&turing[..]),
            both(&turing[..]).map(|problem| problem.walls(mixed_walls())),
            both(&turing[..]).map(|problem| problem.wind(wind(), Advection::Upwind)),
            both(&turing[..]).map(|problem| problem.walls(Walls::all(Wall::Periodic))),
            both(&front[..]),
            both(&front[..]).map(|problem| problem.walls(Walls::all(Wall::Periodic))),
        ];
        for problems in &cases {
            for isa in Isa::available() {
                for threads in [1, 3] {
                    let cpu = Cpu { threads: Some(threads), isa };
                    check::<f32>(problems, &cpu);
                    check::<f64>(problems, &cpu);
                }
            }
        }
    }
}
