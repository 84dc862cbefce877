//! Grids of one and of two dimensions: what is left out there makes no difference.

use crate::common::{mixed_boundaries, model, one_thread};
use odeum_fields::{
    Advection, Boundaries, Boundary, Combination, Engine, Face, Field, Grid, Mask, Options,
    PointSource, Precision, Problem, Quantity, Stencil, Summary, Velocity, noise, stability,
};
use odeum_ode::{Cpu, Isa};

const TURING: [(&str, &str); 2] =
    [("u", "0.3*lap(u) + u - u^3 - v"), ("v", "0.5*lap(v) + 2*(u - 0.5*v)")];

fn rough<T: Precision>(grid: &Grid, species: usize) -> Field<T> {
    // The same in all planes, and where there is one row in that.
    let [nx, ny, _] = grid.shape();
    let value = |s: usize, at: [f64; 3]| {
        let [i, j] = [0, 1].map(|axis| (at[axis] / grid.spacing()[axis]) as usize);
        0.5 + 0.3 * noise(7, s, (j % ny) * nx + i)
    };
    Field::from_fn(grid, species, value).unwrap()
}

fn slope<T: Precision>(problem: &Problem, isa: Isa, u: &Field<T>) -> Field<T> {
    let engine = Engine::<T>::new(problem, &Cpu { threads: Some(1), isa }).unwrap();
    let mut out = engine.zeros().unwrap();
    assert!(engine.rhs(0.3, u, &mut out));
    out
}

fn compare_a_layer_with_a_plane<T: Precision>(isa: Isa, boundaries: &Boundaries) {
    for nx in [1, 2, 7, 16, 37] {
        let layer = Grid::new([nx, 11, 1], 0.8).unwrap();
        let deep = Grid::new([nx, 11, 3], 0.8).unwrap();
        let problem =
            |grid: Grid| Problem::new(model(&TURING), grid).boundaries(boundaries.clone());
        let (thin, thick) = (
            slope::<T>(&problem(layer), isa, &rough(&layer, 2)),
            slope::<T>(&problem(deep), isa, &rough(&deep, 2)),
        );
        for (s, y) in (0..2).flat_map(|s| (0..11).map(move |y| (s, y))) {
            // The sums over nine points and over nineteen are taken in different orders.
            for (a, b) in thin.row(s, y, 0).iter().zip(thick.row(s, y, 1)) {
                let apart = (a.to_f64() - b.to_f64()).abs();
                assert!(apart <= 60.0 * T::EPSILON, "{isa} {nx} {s} {y}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_layer_is_a_plane_of_a_box() {
    let given = Boundary::Dirichlet(Quantity::from("0.2 + t"));
    for isa in Isa::available() {
        for boundaries in [
            Boundaries::default(),
            Boundaries::all(Boundary::Periodic),
            Boundaries::default().axis(0, given.clone()),
        ] {
            compare_a_layer_with_a_plane::<f64>(isa, &boundaries);
            compare_a_layer_with_a_plane::<f32>(isa, &boundaries);
        }
    }
}

#[test]
fn a_rod_is_a_row_of_a_layer() {
    let boundaries = Boundaries::default().axis(0, Boundary::Dirichlet(Quantity::from("0.2 + t")));
    for (stencil, boundaries) in [
        (Stencil::Isotropic, boundaries.clone()),
        (Stencil::Star, boundaries),
        (Stencil::Isotropic, Boundaries::all(Boundary::Periodic)),
    ] {
        for nx in [2, 7, 16, 41] {
            let found = [1, 4].map(|ny| {
                let grid = Grid::new([nx, ny, 1], 0.8).unwrap();
                let problem = Problem::new(model(&TURING), grid)
                    .stencil(stencil)
                    .boundaries(boundaries.clone());
                // Rows are the same.
                let row = Grid::new([nx, 1, 1], 0.8).unwrap();
                let one = rough::<f64>(&row, 2);
                let value = |s: usize, at: [f64; 3]| one.get(s, [(at[0] / 0.8) as usize, 0, 0]);
                let start = Field::<f64>::from_fn(&grid, 2, value).unwrap();
                let out = slope(&problem, Isa::best(), &start);
                [0, 1].map(|s| out.row(s, ny / 2, 0).to_vec())
            });
            for (a, b) in found[0].iter().flatten().zip(found[1].iter().flatten()) {
                assert!((a - b).abs() < 1e-14, "{stencil:?} {nx}: {a} {b}");
            }
        }
    }
}

/// Problems of one dimension: what steps of a batch share, and what they do not.
fn rods(nx: usize) -> Vec<Problem> {
    let grid = Grid::new([nx, 1, 1], 0.8).unwrap();
    let of = |equations: &[(&'static str, &'static str)]| Problem::new(model(equations), grid);
    let diffusion = [("a", "0.3*lap(a)"), ("b", "0.2*lap(b)")];
    let source =
        PointSource { species: "a".into(), cell: [nx / 2, 0, 0], rate: Quantity::from(1.5) };
    let velocity = Velocity::Uniform([0.2, 0.0, 0.0].map(Quantity::from));
    vec![
        of(&diffusion),
        of(&diffusion).boundaries(Boundaries::all(Boundary::Periodic)),
        of(&diffusion)
            .boundaries(Boundaries::default().axis(0, Boundary::Dirichlet(Quantity::from(0.4)))),
        of(&diffusion).boundaries(mixed_boundaries()),
        of(&diffusion).source(source),
        of(&diffusion).velocity(velocity, odeum_fields::Advection::Upwind),
        of(&TURING),
        of(&TURING).boundaries(Boundaries::all(Boundary::Periodic)),
        of(&[("u", "0.3*lap(u) + sin(u)"), ("v", "0.5*lap(v) - u*v + t")]),
        // Not finite where there are no cells.
        of(&[("u", "0.3*lap(u) + 0.1/u"), ("v", "sqrt(u) - v")]),
        of(&[("u", "0.3*lap(u) - x*u"), ("v", "u - v")]),
        of(&[("c", "0.1*lap(c^3 - c - 0.2*lap(c))")]),
    ]
}

fn steps_agree<T: Precision>(problem: &Problem, isa: Isa, n: usize) {
    let engine = Engine::<T>::new(problem, &Cpu { threads: Some(1), isa }).unwrap();
    let (h, count) = (0.01, 19_u64);
    let species = problem.model.species().len();
    let start = rough::<T>(&problem.grid, species);
    let (mut one, mut other) = (start.clone(), engine.zeros().unwrap());
    for k in 0..count {
        let what = Combination { rhs: h, own: None, terms: &[(1.0, &one)] };
        assert!(engine.sweep(k as f64 * h, &one, &what, &mut other));
        std::mem::swap(&mut one, &mut other);
    }
    let (mut now, mut next) = (start, engine.zeros().unwrap());
    let taken = engine.advance((&|k| k as f64 * h, h), count, &mut now, &mut next);
    assert_eq!(taken, count);
    assert!(now == one, "problem {n} {isa} {} of {:?}", T::NAME, problem.grid.shape());
}

#[test]
fn steps_of_a_batch_have_the_bits_of_single_steps() {
    for isa in Isa::available() {
        for nx in [1, 2, 3, 15, 16, 33, 50, 64, 1100] {
            for (n, problem) in rods(nx).iter().enumerate() {
                steps_agree::<f64>(problem, isa, n);
                steps_agree::<f32>(problem, isa, n);
            }
        }
    }
    // More than one thread, and pairs of steps.
    let grid = Grid::new([700, 90, 30], 1.0).unwrap();
    let problem = Problem::new(model(&TURING), grid);
    let start = rough::<f64>(&grid, 2);
    let after = [1, 2, 3].map(|threads| {
        let cpu = Cpu { threads: Some(threads), ..Cpu::default() };
        let engine = Engine::<f64>::new(&problem, &cpu).unwrap();
        let (mut now, mut next) = (start.clone(), engine.zeros().unwrap());
        assert_eq!(engine.advance((&|_| 0.0, 0.01), 3, &mut now, &mut next), 3);
        now
    });
    assert!(after[0] != start && after[0] == after[1] && after[1] == after[2]);
}

#[test]
fn a_batch_ends_before_the_first_value_that_is_not_finite() {
    for (equations, nx) in [
        ([("u", "lap(u) + 1e150*u^3")], 40),
        ([("u", "1e300*lap(u)")], 40),
        ([("u", "lap(u) + 1e150*u^3 + sin(t)")], 40),
        ([("u", "lap(u) + 1e150*u^3")], 41),
        ([("u", "1e300*lap(u)")], 3),
    ] {
        let grid = Grid::new([nx, 1, 1], 1.0).unwrap();
        let problem = Problem::new(model(&equations), grid);
        let engine = Engine::<f64>::new(&problem, &one_thread()).unwrap();
        // Batches that are looked at in their midst, too.
        let ends = [50, 200].map(|count| {
            let (mut now, mut next) = (rough::<f64>(&grid, 1), engine.zeros().unwrap());
            let taken = engine.advance((&|_| 0.5, 1.0), count, &mut now, &mut next);
            assert!((1..50).contains(&taken), "{taken}");
            let finite = |field: &Field<f64>| field.row(0, 0, 0).iter().all(|x| x.is_finite());
            assert!(finite(&now) && !finite(&next));
            (taken, now)
        });
        assert!(ends[0] == ends[1]);
    }
}

#[test]
fn sums_and_masks_know_where_cells_are() {
    let grid = Grid::new([1, 40, 30], 0.5).unwrap();
    let u = rough::<f64>(&grid, 2);
    let mask = Mask::from_fn(&grid, |[_, y, z]| y + 0.3 * z > 4.0).unwrap();
    let problem = Problem::new(model(&TURING), grid).mask(mask.clone());
    let engine = Engine::<f64>::new(&problem, &one_thread()).unwrap();
    for (s, Summary { sum, mean, min, max, .. }) in engine.summaries(&u).into_iter().enumerate() {
        let cells = (0..grid.cells()).map(|n| grid.cell(n)).filter(|cell| mask.contains(*cell));
        let values: Vec<f64> = cells.map(|cell| u.get(s, cell)).collect();
        let expected: f64 = values.iter().sum();
        assert!((sum - expected).abs() < 1e-10 && values.len() == mask.cells());
        assert!((mean - expected / values.len() as f64).abs() < 1e-12);
        assert_eq!(min, values.iter().copied().fold(f64::INFINITY, f64::min));
        assert_eq!(max, values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    }
    let after = slope(&problem, Isa::best(), &u);
    let solid = (0..grid.cells()).map(|n| grid.cell(n)).filter(|cell| !mask.contains(*cell));
    assert!(solid.into_iter().all(|cell| after.get(0, cell) == 0.0));
    // Sides of different axes and coordinates stay where they are.
    let tilted = Problem::new(model(&[("u", "10*y + 1000*z + x")]), grid);
    let found = slope(&tilted, Isa::best(), &engine_zeros(&tilted));
    assert_eq!(found.get(0, [0, 3, 7]), 10.0 * 1.75 + 1000.0 * 3.75 + 0.25);
}

fn engine_zeros(problem: &Problem) -> Field<f64> {
    Field::zeros(&problem.grid, problem.model.species().len()).unwrap()
}

/// The isotropic stencil has one edge for all axes along which a cell meets others, or ghosts that differ from it.
#[test]
fn a_single_cell_between_values_has_its_own_edge() {
    let zero = || Boundary::Dirichlet(Quantity::from(0.0));
    let face = Face { axis: 1, high: true };
    let both = Boundaries::default().axis(1, zero());
    let one = Boundaries::default().species(face, "u", zero());
    let equations = [("u", "lap(u)"), ("v", "lap(v)")];
    let problem = |shape, boundaries: &Boundaries, stencil| {
        let grid = Grid::with_spacing(shape, [1.0, 0.1, 1.0]).unwrap();
        Problem::new(model(&equations), grid).boundaries(boundaries.clone()).stencil(stencil)
    };
    for shape in [[8, 1, 1], [1, 1, 8], [8, 1, 6], [1, 1, 1]] {
        for boundaries in [&both, &one] {
            let error = problem(shape, boundaries, Stencil::Isotropic).check().unwrap_err();
            assert!(error.to_string().contains("star stencil"), "{error}");
            assert!(problem(shape, boundaries, Stencil::Star).check().is_ok());
        }
        let closed = problem(shape, &Boundaries::default(), Stencil::Isotropic);
        assert!(closed.check().is_ok());
    }
    let problem = problem([8, 1, 1], &both, Stencil::Star);
    let ones = Field::<f64>::from_fn(&problem.grid, 2, |_, _| 1.0).unwrap();
    let end = crate::common::advanced(&problem, ones, &Options::euler(1e-4), 0.01);
    assert!((end.get(0, [3, 0, 0]) - 0.96_f64.powi(100)).abs() < 1e-12);
}

/// Steps up to the limit make nothing grow that does not grow by itself, and that no faster: by boundaries of every kind, on
/// grids down to a single cell.
#[test]
fn limits_hold_between_boundaries_of_every_kind() {
    let robin = |value, gradient| Boundary::Robin { value, gradient, amount: Quantity::from(0.0) };
    let zero = || Boundary::Dirichlet(Quantity::from(0.0));
    // By the last two more enters where there is more: the row grows.
    let kinds = [Boundary::NoFlux, zero(), robin(1.0, 0.3), robin(1.0, -0.7), robin(-0.2, 1.0)];
    let norm = |u: &Field<f64>| u.to_values(0).iter().map(|x| x * x).sum::<f64>().sqrt();
    for shape in [[1, 1, 1], [2, 1, 1], [5, 1, 1], [1, 1, 3], [3, 1, 4], [4, 3, 1], [2, 3, 2]] {
        for (low, high) in (0..5).flat_map(|low| (0..5).map(move |high| (low, high))) {
            for stencil in [Stencil::Star, Stencil::Isotropic] {
                let boundaries = (0..3).fold(Boundaries::default(), |all, axis| {
                    let [low, high] = if axis == 2 { [high, low] } else { [low, high] };
                    all.face(Face { axis, high: false }, kinds[low].clone())
                        .face(Face { axis, high: true }, kinds[high].clone())
                });
                let problem =
                    Problem::new(model(&[("u", "lap(u)")]), Grid::new(shape, 1.0).unwrap())
                        .boundaries(boundaries)
                        .stencil(stencil);
                let mut cell = 0;
                let start = Field::<f64>::from_fn(&problem.grid, 1, |_, _| {
                    cell += 1;
                    noise(3, 0, cell)
                });
                let start = start.unwrap();
                let limits = stability(&problem, &start, (0.0, 1.0)).unwrap();
                let (h, steps) = (limits.euler.min(1.0), 60.0);
                let end =
                    crate::common::advanced(&problem, start.clone(), &Options::euler(h), steps * h);
                let (grown, most) =
                    (norm(&end) / norm(&start), (1.0 + h * limits.growth).powf(steps));
                let held = grown <= most * (1.0 + 1e-9);
                assert!(
                    held,
                    "{shape:?} {low} {high} {stencil:?}: {grown:e} over {most:e}, {limits:?}"
                );
                // What grows does so about as fast as limits say, which for sums of axes are sharp.
                let sharp = stencil == Stencil::Star && limits.growth > 0.1;
                let found = !sharp || grown.ln() > 0.3 * most.ln() - 2.0;
                assert!(
                    found,
                    "{shape:?} {low} {high} {stencil:?}: {grown:e} {most:e}, {limits:?}"
                );
            }
        }
    }
}

/// A velocity out of an open boundary empties a layer of one cell, by whichever face.
#[test]
fn limits_hold_where_a_velocity_empties_a_layer() {
    let largest = |u: &Field<f64>| u.to_values(0).iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    for (shape, axis) in [([1, 1, 1], 0), ([5, 1, 1], 1), ([5, 4, 1], 2), ([1, 3, 4], 0)] {
        for (high, advection) in
            [(false, Advection::Upwind), (true, Advection::Upwind), (true, Advection::Koren)]
        {
            let mut velocity = [0.0; 3];
            velocity[axis] = if high { 1.5 } else { -1.5 };
            let problem =
                Problem::new(model(&[("u", "1e-3*lap(u)")]), Grid::new(shape, 1.0).unwrap())
                    .boundaries(Boundaries::default().face(Face { axis, high }, Boundary::Open))
                    .velocity(Velocity::Uniform(velocity.map(Quantity::from)), advection);
            let start =
                Field::<f64>::from_fn(&problem.grid, 1, |_, [x, y, z]| (x + 2.0 * y + z).sin());
            let start = start.unwrap();
            let h = stability(&problem, &start, (0.0, 1e3)).unwrap().euler;
            let end =
                crate::common::advanced(&problem, start.clone(), &Options::euler(h), 60.0 * h);
            let grown = largest(&end) / largest(&start);
            assert!(
                grown <= 1.0 + 1e-9,
                "{shape:?} {high} {advection:?}: {grown:e} by steps of {h}"
            );
        }
    }
}

/// Ghosts that would be larger than the cells that they mirror, and of the other sign.
#[test]
fn cells_that_are_too_large_for_a_boundary_are_refused() {
    let problem = |value, gradient| {
        let robin = Boundary::Robin { value, gradient, amount: Quantity::from(0.0) };
        let grid = Grid::new([8, 1, 1], 1.0).unwrap();
        Problem::new(model(&[("u", "lap(u)")]), grid)
            .boundaries(Boundaries::default().face(Face { axis: 0, high: false }, robin))
    };
    for (a, b) in [(1.0, -0.3), (-1.0, 0.3), (2.0, -0.9)] {
        let error = problem(a, b).check().unwrap_err().to_string();
        assert!(error.contains("boundary.x_low.u") && error.contains("opposite signs"), "{error}");
    }
    for (a, b) in [(1.0, 0.3), (1.0, -0.7), (-1.0, 3.0), (1.0, 0.0)] {
        assert!(problem(a, b).check().is_ok(), "{a} {b}");
    }
}

/// Rules of boundaries whose data do not agree at edges are applied along y, then z, then x, whichever axes have one cell.
#[test]
fn edges_do_not_depend_on_which_axes_have_one_cell() {
    let h = 0.8;
    // a u + b ∂u/∂n = g beyond both ends of x, y and z.
    let rules: [[(f64, f64, f64); 2]; 3] = [
        [(1.0, 0.0, 3.0), (0.5, 1.0, -2.0)],
        [(0.0, 1.0, 1.5), (1.0, 0.0, -1.0)],
        [(1.0, 0.0, 2.0), (1.0, 0.7, 0.4)],
    ];
    let mut boundaries = Boundaries::default();
    for (axis, ends) in rules.iter().enumerate() {
        for (high, &(value, gradient, amount)) in [false, true].into_iter().zip(ends) {
            let amount = Quantity::from(amount);
            let rule = Boundary::Robin { value, gradient, amount };
            boundaries = boundaries.face(Face { axis, high }, rule);
        }
    }
    let shapes = [[1, 5, 7], [1, 1, 6], [1, 6, 1], [6, 1, 1], [5, 1, 7], [19, 7, 1], [4, 5, 6]];
    for (shape, has_solid) in shapes.into_iter().flat_map(|shape| [(shape, false), (shape, true)]) {
        let grid = Grid::new(shape, h).unwrap();
        let problem = Problem::new(model(&[("c", "lap(c)")]), grid).boundaries(boundaries.clone());
        let solid = shape.map(|n| n / 2);
        let problem = match has_solid {
            true => problem.mask(
                Mask::from_fn(&grid, |at| {
                    (0..3).any(|axis| (at[axis] / h) as usize != solid[axis])
                })
                .unwrap(),
            ),
            false => problem,
        };
        let u = Field::<f64>::from_fn(&grid, 1, |_, at| {
            let [i, j, k] = at.map(|x| (x / h) as usize);
            noise(3, 0, (k * 31 + j) * 31 + i)
        })
        .unwrap();
        let value = |place: [isize; 3]| -> f64 {
            let mut inside = place;
            let mut beyond = Vec::new();
            for axis in [1, 2, 0] {
                let n = shape[axis] as isize;
                if !(0..n).contains(&place[axis]) {
                    let high = place[axis] >= n;
                    beyond.push(rules[axis][usize::from(high)]);
                    inside[axis] = if high { n - 1 } else { 0 };
                }
            }
            let own = u.get(0, inside.map(|i| i as usize));
            let ghost = |u: f64, (a, b, g): (f64, f64, f64)| {
                (g - (a / 2.0 - b / h) * u) / (a / 2.0 + b / h)
            };
            beyond.into_iter().fold(own, ghost)
        };
        let f = slope::<f64>(&problem, Isa::best(), &u);
        for cell in (0..grid.cells()).map(|n| grid.cell(n)) {
            let far = (0..3).any(|axis| cell[axis].abs_diff(solid[axis]) > 1);
            if has_solid && !far {
                continue;
            }
            let at = cell.map(|i| i as isize);
            let mut sum = -24.0 * value(at);
            for n in 0..27 {
                let by = [n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1];
                let weight = [0.0, 2.0, 1.0, 0.0][by.iter().filter(|d| **d != 0).count()];
                sum += weight * value([0, 1, 2].map(|axis| at[axis] + by[axis]));
            }
            let (found, expected) = (f.get(0, cell), sum / (6.0 * h * h));
            assert!(
                (found - expected).abs() < 1e-12,
                "{shape:?} {has_solid} {cell:?}: {found} {expected}"
            );
        }
    }
}

/// Spacings along axes of one cell do not count, however they compare with the others; of the others the squares of ratios are numbers.
#[test]
fn spacings_of_one_cell_do_not_matter() {
    let model = || model(&[("u", "lap(u)")]);
    let isa = Isa::best();
    for shape in [[1, 9, 7], [9, 1, 7], [9, 7, 1]] {
        let spaced = |one: f64| {
            let grid = Grid::with_spacing(shape, shape.map(|n| if n == 1 { one } else { 100.0 }));
            Problem::new(model(), grid.unwrap()).stencil(Stencil::Star)
        };
        let field = |problem: &Problem| {
            let value = |_: usize, at: [f64; 3]| (0.01 * (at[0] + 2.0 * at[1] + 3.0 * at[2])).sin();
            let field = Field::<f32>::from_fn(&spaced(100.0).grid, 1, value).unwrap();
            Field::from_values(&problem.grid, 1, &field.to_values(0)).unwrap()
        };
        let own = slope(&spaced(100.0), isa, &field(&spaced(100.0)));
        for one in [1e-18, 1.0, 1e18] {
            let other = slope(&spaced(one), isa, &field(&spaced(one)));
            assert!(own.to_values(0) == other.to_values(0), "{shape:?} {one:e}");
        }
        assert!(own.to_values(0).iter().all(|value| value.is_finite()));
    }
    let grid = Grid::with_spacing([9, 7, 2], [1e15, 1e-6, 1.0]).unwrap();
    let problem = Problem::new(model(), grid).stencil(Stencil::Star);
    let cpu = Cpu { threads: Some(1), isa };
    let error = Engine::<f32>::new(&problem, &cpu).map(drop).unwrap_err().to_string();
    assert!(error.starts_with("spacing: found [1000000000000000.0, 1e-6, 1.0]"), "{error}");
    assert!(Engine::<f64>::new(&problem, &cpu).is_ok());
}
