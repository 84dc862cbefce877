//! The Laplacian against its symbol: every product of cosines is an eigenvector of a closed box.

use odeum_fields::{
    Boundaries, Boundary, Engine, Field, Grid, ModelText, Precision, Problem, Stencil,
};
use odeum_ode::{Cpu, Isa};
use std::f64::consts::PI;

fn diffusion(shape: [usize; 3], h: f64) -> Problem {
    let text =
        ModelText { species: vec!["c"], equations: vec![("c", "lap(c)")], ..ModelText::default() };
    Problem::new(text.read().unwrap().0, Grid::new(shape, h).unwrap())
}

fn one(isa: Isa) -> Cpu {
    Cpu { threads: Some(1), isa }
}

/// The largest |F − λ u| over the largest |λ|, for u the product of the cosines of angles
/// `theta` per cell.
fn defect<T: Precision>(problem: &Problem, isa: Isa, theta: [f64; 3], shift: f64) -> f64 {
    let engine = Engine::<T>::new(problem, &one(isa)).unwrap();
    let spacing = problem.grid.spacing();
    let u = Field::<T>::from_fn(&problem.grid, 1, |_, at| {
        (0..3).map(|axis| (theta[axis] * (at[axis] / spacing[axis] + shift)).cos()).product()
    })
    .unwrap();
    let mut f = engine.zeros().unwrap();
    assert!(engine.rhs(0.0, &u, &mut f));
    let lambda = problem.stencil.symbol(&problem.grid, theta);
    let pairs = u.to_values(0).into_iter().zip(f.to_values(0));
    let worst = pairs.map(|(u, f)| (f.to_f64() - lambda * u.to_f64()).abs()).fold(0.0, f64::max);
    worst / problem.stencil.largest_eigenvalue(&problem.grid)
}

#[test]
fn cosines_are_eigenvectors_of_closed_boxes() {
    for shape in [[7, 5, 6], [70, 3, 4], [16, 9, 1], [33, 1, 1], [1, 1, 9], [1, 4, 1], [2, 2, 2]] {
        for stencil in [Stencil::Isotropic, Stencil::Star] {
            let problem = diffusion(shape, 0.3).stencil(stencil);
            for isa in Isa::available() {
                for mode in [[0, 0, 0], [1, 2, 3], [3, 0, 1], [6, 4, 5]] {
                    let theta =
                        [0, 1, 2].map(|k| PI * (mode[k] % shape[k]) as f64 / shape[k] as f64);
                    let f64s = defect::<f64>(&problem, isa, theta, 0.0);
                    assert!(f64s < 1e-14, "{shape:?} {stencil:?} {isa} {mode:?}: {f64s}");
                    let f32s = defect::<f32>(&problem, isa, theta, 0.0);
                    assert!(f32s < 1e-6, "{shape:?} {stencil:?} {isa} {mode:?}: {f32s}");
                }
            }
        }
    }
}

#[test]
fn waves_are_eigenvectors_of_periodic_boxes() {
    for (shape, stencil) in [([12, 5, 6], Stencil::Isotropic), ([5, 8, 3], Stencil::Star)] {
        let problem =
            diffusion(shape, 2.0).stencil(stencil).boundaries(Boundaries::all(Boundary::Periodic));
        for mode in [[1, 0, 0], [1, 2, 1], [2, 1, 0]] {
            let theta = [0, 1, 2].map(|k| 2.0 * PI * mode[k] as f64 / shape[k] as f64);
            assert!(defect::<f64>(&problem, Isa::best(), theta, 0.2) < 1e-14);
        }
    }
}

#[test]
fn unequal_spacings_have_their_own_weights() {
    let mut problem = diffusion([6, 7, 8], 1.0).stencil(Stencil::Star);
    problem.grid = Grid::with_spacing([6, 7, 8], [0.5, 1.0, 3.0]).unwrap();
    let theta = [PI / 6.0, 2.0 * PI / 7.0, 3.0 * PI / 8.0];
    assert!(defect::<f64>(&problem, Isa::best(), theta, 0.0) < 1e-14);
}

/// Of values that are the same everywhere the Laplacian is zero, to the last bit.
#[test]
fn uniform_fields_have_no_laplacian() {
    let shapes = [[19, 4, 5], [19, 7, 1], [19, 1, 1]];
    for (shape, stencil) in
        shapes.into_iter().flat_map(|shape| [(shape, Stencil::Isotropic), (shape, Stencil::Star)])
    {
        let problem = diffusion(shape, 0.7).stencil(stencil);
        for isa in Isa::available() {
            let engine = Engine::<f32>::new(&problem, &one(isa)).unwrap();
            for k in 1..200 {
                let value = f64::from((k as f32 * 0.7371).sin());
                let u = Field::from_fn(&problem.grid, 1, |_, _| value).unwrap();
                let mut f = engine.zeros().unwrap();
                engine.rhs(0.0, &u, &mut f);
                assert!(
                    f.to_values(0).iter().all(|x| *x == 0.0),
                    "{shape:?} {stencil:?} {isa} {value}"
                );
            }
        }
    }
}

/// Random values reflected along any axis give the reflected result, bit for bit.
#[test]
fn reflections_commute_with_the_sweep() {
    for shape in [[21, 6, 5], [21, 6, 1]] {
        compare_with_reflections(shape);
    }
}

fn compare_with_reflections(shape: [usize; 3]) {
    let problem = diffusion(shape, 1.0);
    let engine = Engine::<f64>::new(&problem, &one(Isa::best())).unwrap();
    let value = |[i, j, k]: [usize; 3]| odeum_fields::noise(3, 0, (k * 100 + j) * 100 + i);
    let slope = |axis: usize| {
        let mut u = engine.zeros().unwrap();
        for index in 0..problem.grid.cells() {
            let cell = problem.grid.cell(index);
            let mut image = cell;
            if axis < 3 {
                image[axis] = shape[axis] - 1 - cell[axis];
            }
            u.set(0, cell, value(image));
        }
        let mut f = engine.zeros().unwrap();
        engine.rhs(0.0, &u, &mut f);
        f
    };
    let straight = slope(3);
    for axis in 0..3 {
        let reflected = slope(axis);
        for index in 0..problem.grid.cells() {
            let cell = problem.grid.cell(index);
            let mut image = cell;
            image[axis] = shape[axis] - 1 - cell[axis];
            assert_eq!(straight.get(0, cell), reflected.get(0, image), "axis {axis}, {cell:?}");
        }
    }
}

/// A tape that computes the same as the built-in diffusion gives the same values.
#[test]
fn tapes_and_built_in_diffusion_agree() {
    let built_in = diffusion([40, 5, 6], 1.0);
    let text = ModelText {
        species: vec!["c"],
        equations: vec![("c", "lap(c) + 0 * c^2")],
        ..ModelText::default()
    };
    let tape = Problem::new(text.read().unwrap().0, built_in.grid);
    let u = Field::<f64>::from_fn(&tape.grid, 1, |_, [x, y, z]| (x * 0.3).sin() + y * z).unwrap();
    let slope = |problem: &Problem| {
        let engine = Engine::<f64>::new(problem, &Cpu::default()).unwrap();
        let mut f = engine.zeros().unwrap();
        engine.rhs(0.0, &u, &mut f);
        f.to_values(0)
    };
    for (a, b) in slope(&built_in).into_iter().zip(slope(&tape)) {
        assert!((a - b).abs() <= 1e-13 * (1.0 + a.abs()), "{a} {b}");
    }
}
