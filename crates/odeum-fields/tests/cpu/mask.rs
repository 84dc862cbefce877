//! Domains that are a part of the box: against smaller boxes and channels, by what is kept, and by
//! what solid cells must not do.

use crate::common::{methods, model};
use odeum_fields::{
    Advection, Boundaries, Boundary, Engine, Field, Grid, Mask, Method, Options, Outcome,
    PointSource, Precision, Problem, Quantity, Simulation, Stencil, Steps, Velocity, noise, rough,
    stability,
};
use odeum_ode::{Cpu, Isa, Tolerance};

fn cpu(threads: usize) -> Cpu {
    Cpu { threads: Some(threads), isa: Isa::best() }
}

fn simulation<T: Precision>(
    problem: &Problem,
    u: Field<T>,
    options: &Options,
    steps: u64,
) -> Field<T> {
    // Steps that become ever smaller are an error, not a long test.
    let options = Options { force: true, max_steps: 10_000, ..options.clone() };
    let mut simulation = Simulation::new(problem, u, 0.0, &options, cpu(1)).unwrap();
    let end = match options.steps {
        Steps::Fixed(h) => steps as f64 * h,
        Steps::Fraction(_) | Steps::Adaptive(_) => 0.3,
    };
    let outcome = simulation.advance_to(end).unwrap();
    assert_eq!(outcome, Outcome::Reached);
    simulation.field().unwrap().into_owned()
}

/// Grains of some cells and single ones: every kind of corner that solid cells can have.
fn grains(grid: &Grid) -> Mask {
    let values: Vec<f64> = (0..grid.cells())
        .map(|at| {
            let cell = grid.cell(at).map(|i| i / 3);
            noise(5, 0, grid.index(cell)) + 0.6 * noise(6, 0, at) + 0.3
        })
        .collect();
    Mask::from_values(grid, &values).unwrap()
}

/// A field whose solid cells have values far from all others.
fn with_solids<T: Precision>(problem: &Problem, solid: f64) -> Field<T> {
    let mut u = rough::<T>(&problem.grid, problem.model.species().len()).unwrap();
    let mask = problem.mask.as_ref().unwrap();
    for at in 0..problem.grid.cells() {
        let cell = problem.grid.cell(at);
        for s in (0..u.species()).filter(|_| !mask.contains(cell)) {
            u.set(s, cell, T::from_f64(solid * (1.0 + 0.1 * noise(9, s, at))));
        }
    }
    u
}

/// Velocities and diffusion that differ from cell to cell beside a constant part.
fn transported(shape: [usize; 3], advection: Advection) -> Problem {
    let grid = Grid::new(shape, 0.9).unwrap();
    let values = |seed: u64, least: f64| -> Vec<f64> {
        (0..grid.cells()).map(|cell| noise(seed, 0, cell).max(least)).collect()
    };
    let velocity = Velocity::Cells([1, 2, 3].map(|seed| values(seed, -1.0)));
    Problem::new(model(&[("u", "0.3 * lap(u)"), ("v", "0.2 * lap(u + v)")]), grid)
        .boundaries(Boundaries::all(Boundary::Periodic))
        .velocity(velocity, advection)
        .diffusion("v", values(4, 0.0))
        .mask(grains(&grid))
}

#[test]
fn mass_is_kept_and_solid_cells_keep_their_bits() {
    for (n, shape) in [[21, 13, 9], [30, 17, 1], [67, 1, 1], [9, 8, 7]].into_iter().enumerate() {
        let advection = [Advection::Upwind, Advection::Koren][n % 2];
        let stencil = [Stencil::Isotropic, Stencil::Star][n / 2];
        let mut problem = transported(shape, advection).stencil(stencil);
        if n == 3 {
            problem.velocity = Some(Velocity::Uniform([0.4, -0.3, 0.2].map(Quantity::from)));
        }
        for options in methods(0.02) {
            let start = with_solids::<f64>(&problem, 1e7);
            let end = simulation(&problem, start.clone(), &options, 40);
            let engine = Engine::new(&problem, &cpu(1)).unwrap();
            let sums = [&start, &end].map(|field| engine.summaries(field));
            for (before, after) in sums[0].iter().zip(&sums[1]) {
                let change = (after.mass / before.mass - 1.0).abs();
                assert!(change < 1e-13, "{shape:?} {:?}: {change:.1e}", options.method);
            }
            assert!(start != end);
            let mask = problem.mask.as_ref().unwrap();
            for cell in (0..problem.grid.cells()).map(|at| problem.grid.cell(at)) {
                for s in (0..2).filter(|_| !mask.contains(cell)) {
                    assert_eq!(start.get(s, cell).to_bits(), end.get(s, cell).to_bits());
                }
            }
        }
    }
}

/// What stands in solid cells changes no bit of the others; threads, which cut other tiles, change
/// none at all.
#[test]
fn the_domain_knows_neither_solid_values_nor_threads() {
    let fine = Advection::Koren;
    let front = Problem { mask: None, ..transported([14, 30, 9], Advection::Upwind) };
    let grid = front.grid;
    let potential = Problem::new(model(&[("c", "-lap(c - c^3 + lap(c))")]), grid);
    let problems = [transported([70, 26, 6], fine), potential.mask(grains(&grid))];
    for problem in problems {
        let mask = problem.mask.clone().unwrap();
        for options in methods(0.01) {
            let end = simulation(&problem, with_solids::<f64>(&problem, 1e7), &options, 5);
            let other = simulation(&problem, with_solids::<f64>(&problem, -1.0), &options, 5);
            for cell in (0..problem.grid.cells()).map(|at| problem.grid.cell(at)) {
                for s in (0..end.species()).filter(|_| mask.contains(cell)) {
                    assert_eq!(
                        end.get(s, cell).to_bits(),
                        other.get(s, cell).to_bits(),
                        "{cell:?}"
                    );
                }
            }
            let options = Options { force: true, ..options };
            let start = with_solids::<f64>(&problem, -1.0);
            let mut several = Simulation::new(&problem, start, 0.0, &options, cpu(3)).unwrap();
            let end = match options.steps {
                Steps::Fixed(h) => 5.0 * h,
                Steps::Fraction(_) | Steps::Adaptive(_) => 0.3,
            };
            several.advance_to(end).unwrap();
            assert!(*several.field().unwrap() == other, "{:?}", options.method);
        }
    }
}

/// Of values near zero sweeps keep no more than a zero; with no absolute tolerance that is a large error.
#[test]
fn the_error_of_solid_cells_does_not_count() {
    let grid = Grid::new([20, 9, 3], 1.0).unwrap();
    let problem = Problem::new(model(&[("u", "0.1 * lap(u)")]), grid).mask(grains(&grid));
    let steps = Steps::Adaptive(Tolerance::new(1e-4, 0.0));
    let options = Options::new(Method::Rkc { stages: None }, steps);
    let mask = problem.mask.clone().unwrap();
    let of_domain = |solid: f64| -> Vec<u64> {
        let end = simulation(&problem, with_solids::<f64>(&problem, solid), &options, 0);
        let cells = (0..grid.cells()).map(|at| grid.cell(at)).filter(|cell| mask.contains(*cell));
        cells.map(|cell| end.get(0, cell).to_bits()).collect()
    };
    let own = of_domain(1e7);
    for solid in [0.0, -0.0, 1e-310] {
        assert!(of_domain(solid) == own, "{solid:e}");
    }
}

/// Steps have the limits of what diffuses and is advected in the domain.
#[test]
fn diffusion_and_velocity_of_solid_cells_limit_no_step() {
    let grid = Grid::new([12, 10, 1], 1.0).unwrap();
    let mask = grains(&grid);
    let field = rough::<f64>(&grid, 1).unwrap();
    let of = |solid: f64| {
        let all = |own: f64| -> Vec<f64> {
            let cells = (0..grid.cells()).map(|at| mask.contains(grid.cell(at)));
            cells.map(|is_open| if is_open { own } else { solid }).collect()
        };
        let velocity = Velocity::Cells([all(0.3), all(-0.2), all(0.1)]);
        let problem = Problem::new(model(&[("u", "0 * u")]), grid).mask(mask.clone());
        let problem = problem.diffusion("u", all(0.5)).velocity(velocity, Advection::Koren);
        stability(&problem, &field, (0.0, 1.0)).unwrap()
    };
    assert_eq!(of(1000.0), of(0.0));
}

/// Cells that are solid in larger pieces: groups of cells without any beside such with one.
fn pores(grid: &Grid) -> Mask {
    let wave = |at: [f64; 3]| at.map(|x| (0.3 * x).sin()).iter().sum::<f64>();
    let near = Mask::from_fn(grid, |at| wave(at) > 0.0).unwrap();
    // And some single ones.
    let values: Vec<f64> = (0..grid.cells())
        .map(|at| f64::from(u8::from(near.contains(grid.cell(at)) && noise(3, 0, at) > -0.98)))
        .collect();
    Mask::from_values(grid, &values).unwrap()
}

/// 6h² (of the star h²) times the Laplacian of a cell, pair by pair, by the rule for four cells that
/// meet at an edge.
fn by_pairs(
    u: &Field<f64>,
    mask: &Mask,
    cell: [usize; 3],
    periodic: bool,
    stencil: Stencil,
) -> f64 {
    let shape = mask.shape();
    let at = |by: [isize; 3]| {
        [0, 1, 2].map(|k| {
            let (i, n) = (cell[k] as isize + by[k], shape[k] as isize);
            if periodic { i.rem_euclid(n) as usize } else { i.clamp(0, n - 1) as usize }
        })
    };
    let open = |by| mask.contains(at(by));
    let more = |by| u.get(0, at(by)) - u.get(0, cell);
    let step = |axis: usize, side: isize| {
        let mut by = [0; 3];
        by[axis] = side;
        by
    };
    let face = if stencil == Stencil::Isotropic { 2.0 } else { 1.0 };
    let mut sum = 0.0;
    for (axis, side) in (0..3).flat_map(|axis| [(axis, -1), (axis, 1)]) {
        sum += if open(step(axis, side)) { face * more(step(axis, side)) } else { 0.0 };
        for (other, turn) in (axis + 1..3).flat_map(|axis| [(axis, -1), (axis, 1)]) {
            let (a, b) = (step(axis, side), step(other, turn));
            let across = [0, 1, 2].map(|k| a[k] + b[k]);
            sum += match (open(across), open(a), open(b)) {
                _ if stencil == Stencil::Star => 0.0,
                (true, true, _) | (true, _, true) => more(across),
                (false, true, false) => more(a),
                (false, false, true) => more(b),
                _ => 0.0,
            };
        }
    }
    sum
}

/// Slopes are those of the rule, and the same bits by lanes of different widths that round alike.
#[test]
fn exchange_follows_the_rule() {
    for shape in [[150, 9, 7], [64, 12, 6], [33, 14, 1], [16, 5, 5], [7, 9, 6], [90, 1, 1]] {
        for (periodic, stencil) in [
            (false, Stencil::Isotropic),
            (true, Stencil::Isotropic),
            (false, Stencil::Star),
            (true, Stencil::Star),
        ] {
            let grid = Grid::new(shape, 1.0).unwrap();
            for mask in [pores(&grid), grains(&grid)] {
                let problem = Problem::new(model(&[("c", "lap(c)")]), grid).stencil(stencil);
                let problem = problem.mask(mask.clone());
                let boundaries = if periodic { Boundary::Periodic } else { Boundary::NoFlux };
                let problem = problem.boundaries(Boundaries::all(boundaries));
                let u = with_solids::<f64>(&problem, 1e7);
                let slopes: Vec<(Isa, Field<f64>)> = Isa::available()
                    .into_iter()
                    .map(|isa| {
                        let cpu = Cpu { threads: Some(1), isa };
                        let engine = Engine::new(&problem, &cpu).unwrap();
                        let mut slope = engine.zeros().unwrap();
                        assert!(engine.rhs(0.0, &u, &mut slope));
                        (isa, slope)
                    })
                    .collect();
                let weight = if stencil == Stencil::Isotropic { 6.0 } else { 1.0 };
                for cell in (0..grid.cells()).map(|at| grid.cell(at)) {
                    let inside = mask.contains(cell);
                    let wanted = match inside {
                        true => by_pairs(&u, &mask, cell, periodic, stencil) / weight,
                        false => 0.0,
                    };
                    for (isa, slope) in &slopes {
                        let found = slope.get(0, cell);
                        assert!(
                            (found - wanted).abs() < 1e-14 && (inside || found == 0.0),
                            "{shape:?} {isa} {stencil:?} {cell:?}: {found} {wanted}"
                        );
                    }
                }
                let fused = slopes.iter().filter(|(isa, _)| *isa != Isa::Scalar);
                let fields: Vec<&Field<f64>> = fused.map(|(_, slope)| slope).collect();
                assert!(fields.windows(2).all(|pair| pair[0] == pair[1]), "{shape:?}");
            }
        }
    }
}

/// Lanes of all widths agree to rounding, in rows that are no whole number of packs.
#[test]
fn every_instruction_set_agrees() {
    for advection in [Advection::Upwind, Advection::Koren] {
        let problem = transported([67, 7, 5], advection);
        let u = with_solids::<f64>(&problem, 1e7);
        let slopes: Vec<Field<f64>> = Isa::available()
            .into_iter()
            .map(|isa| {
                let engine = Engine::new(&problem, &Cpu { threads: Some(1), isa }).unwrap();
                let mut slope = engine.zeros().unwrap();
                assert!(engine.rhs(0.0, &u, &mut slope));
                slope
            })
            .collect();
        for other in &slopes[1..] {
            for s in 0..2 {
                let pairs = slopes[0].to_values(s).into_iter().zip(other.to_values(s));
                assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-13));
            }
        }
    }
}

/// Where the outer layers of a box are solid, what is left is a smaller box without flux.
fn box_in_box(equations: &[(&'static str, &'static str)], shape: [usize; 3], stencil: Stencil) {
    let species = equations.len();
    let wide = |k: usize| shape[k] > 1;
    let shift = [0, 1, 2].map(|k| if wide(k) { [2, 1, 3][k] } else { 0 });
    let outer_shape = [0, 1, 2].map(|k| shape[k] + if wide(k) { 4 } else { 0 });
    let h = 0.8;
    let inner = Grid::new(shape, h).unwrap();
    let outer = Grid::new(outer_shape, h).unwrap().at(shift.map(|n| -h * n as f64)).unwrap();
    let inside =
        |at: [f64; 3]| (0..3).all(|k| !wide(k) || at[k] > 0.0 && at[k] < h * shape[k] as f64);
    let mask = Mask::from_fn(&outer, inside).unwrap();
    let problem = |grid: &Grid| {
        let at = |n: usize| 0.2 + grid.centre(0, grid.cell(n)[0]).cos().abs();
        let coefficients = (0..grid.cells()).map(at).collect();
        let problem = Problem::new(model(equations), *grid).stencil(stencil);
        if species > 1 { problem.diffusion("v", coefficients) } else { problem }
    };
    let start = rough::<f64>(&inner, species).unwrap();
    let mut around = Field::<f64>::from_fn(&outer, species, |_, _| 1e6).unwrap();
    let cells: Vec<_> = (0..inner.cells()).map(|at| inner.cell(at)).collect();
    let place = |cell: [usize; 3]| [0, 1, 2].map(|k| cell[k] + shift[k]);
    for cell in &cells {
        for s in 0..species {
            around.set(s, place(*cell), start.get(s, *cell));
        }
    }
    for options in methods(0.004) {
        let small = simulation(&problem(&inner), start.clone(), &options, 5);
        let large = simulation(&problem(&outer).mask(mask.clone()), around.clone(), &options, 5);
        for cell in &cells {
            for s in 0..species {
                let (a, b) = (small.get(s, *cell), large.get(s, place(*cell)));
                assert!((a - b).abs() < 1e-12, "{shape:?} {stencil:?} {cell:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_box_in_a_box_is_a_box() {
    let equations = [
        &[("u", "0.3 * lap(u)")][..],
        &[("u", "0.2 * lap(u) + u - u^3 + 0.1 * x - 0.2 * y * z"), ("v", "lap(u) * v")],
        &[("u", "-0.1 * lap(u - u^3 + lap(u))")],
    ];
    for equations in equations {
        for shape in [[12, 9, 7], [12, 9, 1], [12, 1, 1], [70, 2, 3]] {
            box_in_box(equations, shape, Stencil::Isotropic);
            box_in_box(equations, shape, Stencil::Star);
        }
    }
}

/// Along channels of any width, in the plane and in space, nothing changes across: they are lines.
#[test]
fn channels_are_lines() {
    let line = Grid::new([40, 1, 1], 0.5).unwrap();
    let wave = |x: f64| (-x * x / 9.0).exp();
    let equation = [("u", "0.4 * lap(u) + u * (1 - u)")];
    let start = Field::<f64>::from_fn(&line, 1, |_, at| wave(at[0])).unwrap();
    let options = Options::euler(0.05);
    let expected = simulation(&Problem::new(model(&equation), line), start, &options, 60);
    for axis in 0..3 {
        for (width, depth) in [(1, 0), (3, 0), (1, 1), (2, 3)] {
            let mut shape = [7; 3];
            shape[axis] = 40;
            let others = [(axis + 1) % 3, (axis + 2) % 3];
            if depth == 0 {
                shape[others[1]] = 1;
            }
            let grid = Grid::new(shape, 0.5).unwrap();
            let inside = |at: [f64; 3]| {
                let cell = at.map(|x| (x / 0.5) as usize);
                (2..2 + width).contains(&cell[others[0]])
                    && (depth == 0 || (3..3 + depth).contains(&cell[others[1]]))
            };
            let mask = Mask::from_fn(&grid, inside).unwrap();
            let value = |at: [f64; 3]| if inside(at) { wave(at[axis]) } else { 33.0 };
            let start = Field::<f64>::from_fn(&grid, 1, |_, at| value(at)).unwrap();
            for stencil in [Stencil::Isotropic, Stencil::Star] {
                let problem = Problem::new(model(&equation), grid).stencil(stencil);
                let end = simulation(&problem.mask(mask.clone()), start.clone(), &options, 60);
                for cell in (0..grid.cells()).map(|at| grid.cell(at)) {
                    let found = end.get(0, cell);
                    let line = if mask.contains(cell) {
                        expected.get(0, [cell[axis], 0, 0])
                    } else {
                        33.0
                    };
                    assert!(
                        (found - line).abs() < 1e-13,
                        "{axis} {width} {depth} {stencil:?} {cell:?}"
                    );
                }
            }
        }
    }
}

/// A shell between two spheres, with a start of the same symmetry.
#[test]
fn symmetric_domains_keep_symmetric_fields() {
    let n = 15;
    let grid = Grid::new([n; 3], 1.0).unwrap();
    let radius = |at: [f64; 3]| at.map(|x| (x - 7.5).powi(2)).iter().sum::<f64>().sqrt();
    let mask = Mask::from_fn(&grid, |at| (2.4..6.9).contains(&radius(at))).unwrap();
    let shape = |at: [f64; 3]| {
        // All axes and directions alike, but not all angles.
        let [x, y, z] = at.map(|x| (x - 7.5).powi(2));
        0.1 * radius(at) + 0.003 * (x * y + y * z + z * x)
    };
    let start = Field::<f64>::from_fn(&grid, 1, |_, at| shape(at)).unwrap();
    for equation in ["0.3 * lap(c) + c * (1 - c)", "-0.2 * lap(c - c^3 + lap(c))"] {
        let problem = Problem::new(model(&[("c", equation)]), grid).mask(mask.clone());
        let end = simulation(&problem, start.clone(), &Options::euler(0.02), 60);
        for cell in (0..grid.cells()).map(|at| grid.cell(at)) {
            let [i, j, k] = cell;
            for other in
                [[n - 1 - i, j, k], [i, n - 1 - j, k], [i, j, n - 1 - k], [j, i, k], [k, j, i]]
            {
                let (a, b) = (end.get(0, cell), end.get(0, other));
                assert!((a - b).abs() < 1e-13, "{equation} {cell:?} {other:?}: {a} {b}");
            }
        }
    }
}

/// On which side of a boundary a place is; zero within it.
type Side = fn([f64; 3]) -> f64;

/// Neither velocity nor diffusion gets to the other side of a boundary, straight or of cells that touch
/// at edges only.
#[test]
fn nothing_passes_boundaries() {
    let grid = Grid::new([24, 20, 5], 1.0).unwrap();
    let sides: [(&str, Side); 2] =
        [("straight", |at| at[0] - 9.5), ("staircase", |at| at[0].floor() - at[1].floor())];
    for (name, side) in sides {
        let mask = Mask::from_fn(&grid, |at| side(at) != 0.0).unwrap();
        let begin = |at: [f64; 3]| if side(at) > 0.0 { 0.0 } else { 1.0 };
        let start = Field::<f64>::from_fn(&grid, 1, |_, at| begin(at)).unwrap();
        let speed = [0.9, -0.4, 0.3];
        let uniform = Velocity::Uniform(speed.map(Quantity::from));
        let cells = Velocity::Cells(speed.map(|w| vec![w; grid.cells()]));
        for (velocity, advection) in [
            (uniform.clone(), Advection::Upwind),
            (uniform, Advection::Koren),
            (cells, Advection::Koren),
        ] {
            let problem = Problem::new(model(&[("c", "0.1 * lap(c)")]), grid)
                .velocity(velocity, advection)
                .diffusion("c", vec![0.1; grid.cells()])
                .mask(mask.clone());
            let end = simulation(&problem, start.clone(), &Options::euler(0.1), 100);
            for cell in (0..grid.cells()).map(|at| grid.cell(at)) {
                let at = [0, 1, 2].map(|axis| grid.centre(axis, cell[axis]));
                assert!(
                    side(at) <= 0.0 || end.get(0, cell) == 0.0,
                    "{name} {advection:?} {cell:?}"
                );
            }
            assert!(end != start);
        }
    }
}

/// A reaction without a value in solid cells spoils nothing; one in the domain is placed.
#[test]
fn reactions_of_solid_cells_do_not_matter() {
    let grid = Grid::new([11, 6, 3], 1.0).unwrap();
    let mask = Mask::from_fn(&grid, |at| at[0] > 2.0).unwrap();
    let start =
        |solid: f64| Field::<f64>::from_fn(&grid, 1, |_, at| if at[0] > 2.0 { 1.0 } else { solid });
    for options in methods(0.05) {
        let problem = Problem::new(model(&[("c", "lap(c) - ln(c)")]), grid);
        let end = simulation(&problem.mask(mask.clone()), start(-4.0).unwrap(), &options, 5);
        assert!(end.get(0, [1, 1, 1]) == -4.0 && (end.get(0, [2, 1, 1]) - 1.0).abs() < 1e-14);
        let problem =
            Problem::new(model(&[("c", "lap(c) + select(t > 0.1 && x > 4, 1/(t - t), 0)")]), grid);
        let options = Options { force: true, ..options };
        let problem = problem.mask(mask.clone());
        let mut simulation =
            Simulation::new(&problem, start(7.0).unwrap(), 0.0, &options, cpu(1)).unwrap();
        let outcome = simulation.advance_to(1.0).unwrap();
        let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
        // By stages it spreads.
        if options.method == Method::Euler {
            assert_eq!(failure.place, Some(("c".to_owned(), [4, 0, 0])));
        }
    }
}

#[test]
fn reductions_and_limits_know_the_domain_only() {
    let problem = {
        let grid = Grid::new([70, 5, 4], 0.5).unwrap();
        Problem::new(model(&[("u", "0.1 * lap(u) - 3 * u^2"), ("v", "0")]), grid)
            .mask(grains(&grid))
    };
    let mask = problem.mask.clone().unwrap();
    let u = with_solids::<f64>(&problem, 1e7);
    let engine = Engine::new(&problem, &cpu(2)).unwrap();
    assert_eq!(engine.most_steps(), 1);
    for (s, all) in engine.summaries(&u).iter().enumerate() {
        let cells = (0..problem.grid.cells()).map(|at| problem.grid.cell(at));
        let values: Vec<f64> = cells.filter(|c| mask.contains(*c)).map(|c| u.get(s, c)).collect();
        let sum: f64 = values.iter().sum();
        assert_eq!((values.len(), problem.cells()), (mask.cells(), mask.cells()));
        assert!(
            (all.sum / sum - 1.0).abs() < 1e-14 && (all.mass / (sum * 0.125) - 1.0).abs() < 1e-14
        );
        assert!((all.mean / (sum / values.len() as f64) - 1.0).abs() < 1e-14);
        assert_eq!(all.min, values.iter().copied().fold(f64::INFINITY, f64::min));
        assert_eq!(all.max, values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    }
    // The reaction of what solid cells hold would allow no step.
    let limits = stability(&problem, &u, (0.0, 1.0)).unwrap();
    assert!(limits.euler > 0.1, "{limits:?}");
}

/// The largest eigenvalue of the Laplacian, by powers of it; the step limits presume that no
/// domain has a larger one than the box.
#[test]
fn no_domain_has_larger_eigenvalues_than_the_box() {
    for stencil in [Stencil::Isotropic, Stencil::Star] {
        for seed in 0..24 {
            let shape = [[7, 6, 5], [9, 8, 1], [6, 6, 2]][seed as usize % 3];
            let grid = Grid::new(shape, 1.0).unwrap();
            let fraction = [-0.7, -0.3, 0.2, 0.8][seed as usize / 3 % 4];
            let values: Vec<f64> =
                (0..grid.cells()).map(|n| noise(seed, 0, n) + fraction).collect();
            let mask = Mask::from_values(&grid, &values).unwrap();
            let problem =
                Problem::new(model(&[("c", "-lap(c)")]), grid).stencil(stencil).mask(mask);
            let engine = Engine::<f64>::new(&problem, &cpu(1)).unwrap();
            let mut u = rough::<f64>(&grid, 1).unwrap();
            let mut next = engine.zeros().unwrap();
            let mut largest = 0.0;
            for _ in 0..400 {
                engine.rhs(0.0, &u, &mut next);
                let size = next.to_values(0).iter().map(|x| x * x).sum::<f64>().sqrt();
                largest = size;
                if size == 0.0 {
                    break;
                }
                u = Field::from_values(
                    &grid,
                    1,
                    &next.to_values(0).iter().map(|x| x / size).collect::<Vec<_>>(),
                )
                .unwrap();
            }
            let bound = stencil.largest_eigenvalue(&grid);
            assert!(
                largest <= bound * (1.0 + 1e-12),
                "{stencil:?} {shape:?} {seed}: {largest} {bound}"
            );
        }
    }
}

#[test]
fn single_precision_keeps_what_it_should() {
    let problem = transported([21, 13, 9], Advection::Koren);
    for options in methods(0.02) {
        let start = with_solids::<f32>(&problem, 1e3);
        let end = simulation(&problem, start.clone(), &options, 40);
        let engine = Engine::new(&problem, &cpu(1)).unwrap();
        let sums = [&start, &end].map(|field| engine.summaries(field));
        for (before, after) in sums[0].iter().zip(&sums[1]) {
            let change = (after.mass / before.mass - 1.0).abs();
            // The factors of a stage, rounded, add up to one with an error.
            let most = if options.method == Method::Euler { 1e-6 } else { 1e-4 };
            assert!(change < most, "{:?}: {change:.1e}", options.method);
        }
        let mask = problem.mask.as_ref().unwrap();
        for cell in (0..problem.grid.cells()).map(|at| problem.grid.cell(at)) {
            assert!(mask.contains(cell) || start.get(0, cell) == end.get(0, cell));
        }
    }
}

#[test]
fn masks_that_do_not_fit_are_refused() {
    let grid = Grid::new([4, 3, 2], 1.0).unwrap();
    let other = Grid::new([3, 4, 2], 1.0).unwrap();
    let problem = Problem::new(model(&[("c", "lap(c)")]), grid);
    let refused = |problem: Problem| problem.check().unwrap_err().to_string();
    let error = refused(problem.clone().mask(Mask::from_fn(&other, |_| true).unwrap()));
    assert!(error.contains("mask of [3, 4, 2] cells") && error.contains("[4, 3, 2]"), "{error}");
    let mask = Mask::from_fn(&grid, |at| at[0] > 1.0).unwrap();
    let source = |cell| PointSource { species: "c".to_owned(), cell, rate: Quantity::from(1.0) };
    let error = refused(problem.clone().mask(mask.clone()).source(source([0, 1, 1])));
    assert!(error.contains("cell [0, 1, 1]") && error.contains("solid"), "{error}");
    let inside = problem.mask(mask).source(source([1, 1, 1]));
    assert!(inside.check().is_ok());
    let end = simulation(&inside, Field::<f64>::zeros(&grid, 1).unwrap(), &Options::euler(0.1), 10);
    let sum = Engine::new(&inside, &cpu(1)).unwrap().summaries(&end)[0].sum;
    assert!((sum - 1.0).abs() < 1e-13);
}
