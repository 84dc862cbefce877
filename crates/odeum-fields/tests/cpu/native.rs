//! Reactions as machine code against the same interpreted, bit for bit: a `min` that takes nothing away has no
//! code, and leaves all before it as it is.

use crate::common::mixed_boundaries;
use odeum_fields::{
    Advection, Boundaries, Boundary, Combination, Engine, Field, Grid, Mask, ModelText, Precision,
    Problem, Quantity, Velocity, noise,
};
use odeum_ode::{Cpu, Isa};

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

/// Some of the cells solid, among them the first of all.
fn porous(problem: Problem) -> Problem {
    let inside = |at: [f64; 3]| at.map(|x| (0.7 * x).cos()).iter().sum::<f64>() < 1.4;
    let mask = Mask::from_fn(&problem.grid, |at| inside(at) || at[0] > 1.0).unwrap();
    problem.mask(mask)
}

/// Sweeps of every form, of the problem and of the same interpreted.
fn check<T: Precision>(problems: &[Problem; 2], cpu: &Cpu) {
    let [u, v, w] = [1, 2, 3].map(|seed| field::<T>(&problems[0], seed));
    let engines = problems.each_ref().map(|problem| Engine::<T>::new(problem, cpu).unwrap());
    for own in [None, Some(-0.7)] {
        for terms in [&[][..], &[(1.0, &u)], &[(0.3, &v)], &[(0.4, &u), (0.6, &v), (-0.2, &w)]] {
            let [coded, interpreted] = engines.each_ref().map(|engine| {
                let mut out = w.clone();
                assert!(engine.sweep(0.4, &u, &Combination { rhs: 0.01, own, terms }, &mut out));
                out
            });
            let shape = problems[0].grid.shape();
            // Solid cells keep what F is taken of, where it is added to anything.
            let mask = problems[0].mask.as_ref();
            let solid = |cell: &[usize; 3]| mask.is_some_and(|mask| !mask.contains(*cell));
            let cells = (0..problems[0].grid.cells()).map(|at| problems[0].grid.cell(at));
            for cell in cells.filter(solid) {
                for s in 0..u.species() {
                    let keeps = own.is_some() || !terms.is_empty();
                    let wanted = if keeps { u.get(s, cell) } else { T::from_f64(0.0) };
                    assert!(coded.get(s, cell) == wanted, "{shape:?} {cell:?} {own:?}");
                }
            }
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
    let velocity = || Velocity::Uniform(["0.4", "-0.2", "0.3*cos(9*t)"].map(Quantity::from));
    for shape in SHAPES {
        let both = |equations| [false, true].map(|without| problem(shape, equations, without));
        let cases = [
            both(&turing[..]),
            both(&turing[..]).map(|problem| problem.boundaries(mixed_boundaries())),
            both(&turing[..]).map(|problem| problem.velocity(velocity(), Advection::Upwind)),
            both(&turing[..])
                .map(|problem| problem.boundaries(Boundaries::all(Boundary::Periodic))),
            both(&front[..]),
            both(&front[..]).map(|problem| problem.boundaries(Boundaries::all(Boundary::Periodic))),
            both(&turing[..]).map(porous),
            both(&turing[..])
                .map(|problem| porous(problem).velocity(velocity(), Advection::Upwind)),
            both(&front[..]).map(porous),
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
