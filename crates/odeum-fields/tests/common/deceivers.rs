//! Problems that have deceived: each is a class of its own, for every method and every backend.

use super::{methods, model, some};
use odeum_fields::{
    Advection, Boundaries, Boundary, Checkpoint, Clock, Face, Field, Grid, Mask, Method, Options,
    Outcome, PointSource, Problem, Quantity, Simulation, Stencil, Steps, Summary, Velocity, noise,
    stability,
};
use odeum_ode::Status;
use std::ops::ControlFlow;

/// Makes a test of each of these for a machine; none fails where the machine is not available.
macro_rules! test_deceivers {
    ($machine:expr, $is_available:expr) => {
        test_deceivers! {
            $machine, $is_available;
            closed_boxes_keep_their_mass,
            inflow_keeps_bounds,
            channels_fill_with_what_comes_in,
            sources_that_spoil_are_found,
            rates_that_jump_count,
            single_cells_between_boundaries_are_stable,
            fractions_follow_the_field,
            fixed_steps_end_where_they_are_too_large,
            phases_part_within_their_limit,
            fractions_go_on_with_the_same_bits,
            waves_that_never_fade_do_not_grow,
            limits_are_those_of_all_cells,
            limits_are_those_of_the_least_diffusion,
        }
    };
    ($machine:expr, $is_available:expr; $($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            if $is_available {
                crate::common::deceivers::$name($machine);
            }
        })*
    };
}
pub(crate) use test_deceivers;

/// What simulations run on.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// How it begins one, or takes it up.
    pub(crate) begin: fn(&Problem, Checkpoint<f64>, &Options) -> Simulation<f64>,
    /// Whether it compiles kernels for each, so that [some](super::some) variants have to do.
    pub(crate) compiles: bool,
}

impl Machine {
    fn begin(
        self,
        problem: &Problem,
        start: Checkpoint<f64>,
        options: &Options,
    ) -> Simulation<f64> {
        (self.begin)(problem, start, options)
    }

    fn some<V>(self, all: impl IntoIterator<Item = V>, places: &[usize]) -> Vec<V> {
        if self.compiles { some(all, places) } else { all.into_iter().collect() }
    }
}

/// A field at time 0.
fn start(field: &Field<f64>) -> Checkpoint<f64> {
    Checkpoint { field: field.clone(), clock: Clock::at(0.0) }
}

/// Advances on to `end`.
fn until(simulation: &mut Simulation<f64>, end: f64) -> Outcome {
    simulation.advance_to(end).unwrap()
}

/// Values between zero and one, rough.
fn between_zero_and_one(grid: &Grid) -> Field<f64> {
    let mut cell = 0;
    Field::from_fn(grid, 1, |_, _| {
        cell += 1;
        0.5 + 0.5 * noise(5, 0, cell)
    })
    .unwrap()
}

/// Velocities through every boundary, from both sides: uniform, turning, and of every cell.
fn velocities(grid: &Grid) -> Vec<Velocity> {
    let uniform = |parts: [&str; 3]| Velocity::Uniform(parts.map(Quantity::from));
    let cells = |seed| (0..grid.cells()).map(|n| noise(seed, 1, n)).collect();
    vec![
        uniform(["0.7", "-0.4", "0.3"]),
        uniform(["-0.5", "cos(9 * t)", "0"]),
        Velocity::Cells([1, 2, 3].map(cells)),
    ]
}

/// Problems of one species that a velocity carries: with all schemes, with and without a reaction term
/// (which decides how rows are computed), with coefficients of diffusion that vary, and with a mask.
fn advected(boundaries: &Boundaries, machine: Machine) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (shape, kinds) in [([13, 1, 1], 0..1), ([11, 7, 1], 1..2), ([9, 6, 5], 0..3)] {
        let grid = Grid::new(shape, 0.2).unwrap();
        for (n, velocity) in
            velocities(&grid).into_iter().enumerate().filter(|(n, _)| kinds.contains(n))
        {
            for (m, scheme) in [Advection::Upwind, Advection::Koren].into_iter().enumerate() {
                let equation = if n == 1 { "0.01 * lap(u) + 0 * t" } else { "0.01 * lap(u)" };
                let problem = Problem::new(model(&[("u", equation)]), grid)
                    .boundaries(boundaries.clone())
                    .velocity(velocity.clone(), scheme);
                let varying = (0..grid.cells()).map(|k| 0.01 + 0.01 * noise(8, 0, k)).collect();
                let problem = if n == 2 { problem.diffusion("u", varying) } else { problem };
                let holes = |k| if k % 17 == 3 { 0.0 } else { 1.0 };
                let holes: Vec<f64> = (0..grid.cells()).map(holes).collect();
                let mask = Mask::from_values(&grid, &holes).unwrap();
                let mut both = vec![problem.clone()];
                both.extend((shape[2] > 1).then(|| problem.mask(mask)));
                // Masked by one of the schemes, and not by the other.
                let place = if both.len() > 1 { (n + m) % 2 } else { 0 };
                problems.extend(machine.some(both, &[place]));
            }
        }
    }
    problems
}

fn summary(simulation: &Simulation<f64>) -> Summary {
    simulation.summaries().unwrap()[0]
}

/// Steps of a size by which nothing becomes negative by forward Euler.
fn positive_steps(problem: &Problem, field: &Field<f64>, end: f64) -> [Options; 5] {
    let limits = stability(problem, field, (0.0, end)).unwrap();
    methods(0.9 * limits.positive.unwrap())
}

/// Whether a method keeps what forward Euler keeps.
fn is_monotone(options: &Options) -> bool {
    matches!(options.method, Method::Euler | Method::Ssprk3)
}

/// Nothing passes closed boundaries, whatever the velocity is at them.
pub(crate) fn closed_boxes_keep_their_mass(machine: Machine) {
    for problem in advected(&Boundaries::default(), machine) {
        let field = between_zero_and_one(&problem.grid);
        for options in positive_steps(&problem, &field, 0.3) {
            let mut simulation = machine.begin(&problem, start(&field), &options);
            let before = summary(&simulation);
            assert_eq!(until(&mut simulation, 0.3), Outcome::Reached);
            let after = summary(&simulation);
            let change = (after.mass / before.mass - 1.0).abs();
            assert!(change < 1e-13, "{options:?}: {change:e} in {problem:?}");
            let kept = !is_monotone(&options) || after.min >= -1e-14;
            assert!(kept, "{options:?}: {} in {problem:?}", after.min);
        }
    }
}

/// What a velocity brings in at boundaries with values lies between these, and all else between what was there.
pub(crate) fn inflow_keeps_bounds(machine: Machine) {
    let given = Boundary::Dirichlet(Quantity::from("0.5 + 0.5 * sin(20 * t)"));
    let through = |low: &Boundary, high: &Boundary| {
        let face = |axis, high| Face { axis, high };
        let boundaries = Boundaries::all(Boundary::Open);
        (0..3).fold(boundaries, |boundaries, axis| {
            boundaries.face(face(axis, false), low.clone()).face(face(axis, true), high.clone())
        })
    };
    for boundaries in [through(&given, &given), through(&given, &Boundary::Open)] {
        for problem in advected(&boundaries, machine) {
            // A velocity that differs from cell to cell has a divergence, which makes new extrema.
            if matches!(problem.velocity, Some(Velocity::Cells(_))) || problem.mask.is_some() {
                continue;
            }
            let field = between_zero_and_one(&problem.grid);
            for options in positive_steps(&problem, &field, 0.5).iter().filter(|o| is_monotone(o)) {
                let mut simulation = machine.begin(&problem, start(&field), options);
                let mut bounds = (0.0_f64, 1.0_f64);
                let outcome = simulation.run_every(0.5, 1, &mut |simulation| {
                    let now = summary(simulation);
                    bounds = (bounds.0.min(now.min), bounds.1.max(now.max));
                    ControlFlow::Continue(())
                });
                assert_eq!(outcome.unwrap(), Outcome::Reached);
                let within = bounds.0 >= -1e-13 && bounds.1 <= 1.0 + 1e-13;
                assert!(within, "{options:?}: {bounds:?} in {problem:?}");
            }
        }
    }
}

/// A channel fills with what comes in, and leaves by its open end; its sides are closed.
pub(crate) fn channels_fill_with_what_comes_in(machine: Machine) {
    let sides = [(0, false), (0, true), (1, true), (2, false)];
    for (n, (axis, from_high)) in sides.into_iter().enumerate() {
        let mut shape = [6, 5, 4];
        shape[axis] = 9;
        let grid = Grid::new(shape, 0.1).unwrap();
        let mut parts = [0.0; 3];
        parts[axis] = if from_high { -1.0 } else { 1.0 };
        let leak = Boundary::Robin { value: 2.0, gradient: 0.0, amount: Quantity::from(1.4) };
        let inlets = [Boundary::Dirichlet(Quantity::from(0.7)), leak];
        for inlet in machine.some(inlets, &[n / 2]) {
            let boundaries = Boundaries::default()
                .face(Face { axis, high: from_high }, inlet)
                .face(Face { axis, high: !from_high }, Boundary::Open);
            for (m, scheme) in [Advection::Upwind, Advection::Koren].into_iter().enumerate() {
                let problem = Problem::new(model(&[("u", "0.001 * lap(u)")]), grid)
                    .boundaries(boundaries.clone())
                    .velocity(Velocity::Uniform(parts.map(Quantity::from)), scheme);
                let field = Field::<f64>::zeros(&grid, 1).unwrap();
                let steps = positive_steps(&problem, &field, 4.0);
                let fixed = steps.iter().filter(|o| matches!(o.steps, Steps::Fixed(_)));
                for options in machine.some(fixed, &[(n + m) % 2, 2 + (n + m) % 2]) {
                    let mut simulation = machine.begin(&problem, start(&field), options);
                    assert_eq!(until(&mut simulation, 4.0), Outcome::Reached);
                    let Summary { min, max, .. } = summary(&simulation);
                    let filled = (min - 0.7).abs() < 1e-7 && (max - 0.7).abs() < 1e-7;
                    assert!(filled, "{axis} {from_high} {options:?}: {min} {max}");
                }
            }
        }
    }
}

/// A source that is no number from some time on is found in the step that meets it first, the last
/// one too, in its own cell, and the field is that of the step before.
pub(crate) fn sources_that_spoil_are_found(machine: Machine) {
    let cell = [4, 2, 1];
    // The first spoils nothing before the last step.
    for (rate, end) in [("sqrt(0.185 - t)", 0.2), ("ln(0.1 - t)", 0.3), ("sqrt(0.1 - t)", 0.3)] {
        let grid = Grid::new([9, 5, 3], 1.0).unwrap();
        let source = PointSource { species: "v".to_owned(), cell, rate: Quantity::from(rate) };
        let equations = [("u", "lap(u) - u * v"), ("v", "0.1 * lap(v)")];
        let problem = Problem::new(model(&equations), grid).source(source);
        let field = Field::from_fn(&grid, 2, |_, [x, y, z]| x + y * z).unwrap();
        for options in methods(0.01) {
            let mut simulation = machine.begin(&problem, start(&field), &options);
            let mut seen = true;
            let outcome = simulation.run_every(end, 1, &mut |simulation| {
                seen &= simulation.summaries().unwrap().iter().all(|all| all.sum.is_finite());
                ControlFlow::Continue(())
            });
            let Outcome::Failed(failure) = outcome.unwrap() else { panic!("{rate} {options:?}") };
            assert_eq!(failure.status, Status::NonFinite, "{rate} {options:?}");
            assert_eq!(failure.place, Some(("v".to_owned(), cell)), "{rate} {options:?}");
            assert!(seen && failure.t < 0.2, "{rate} {options:?} {failure:?}");
            let values = simulation.field().unwrap().to_values(1);
            assert!(values.iter().all(|v| v.is_finite()), "{rate} {options:?}");
        }
    }
}

/// Rates that jump have the derivative zero, and are rates all the same: of the state, of the place, of the time and of a
/// Laplacian.
pub(crate) fn rates_that_jump_count(machine: Machine) {
    let grid = Grid::new([16; 3], 1.0).unwrap();
    let ball = "0.15 * lap(u) + select((x - 8)^2 + (y - 8)^2 + (z - 8)^2 < 9, 2, 0)";
    let middle = [8, 7, 6];
    // Equations, and what they give a cell in a step of 1 where u is 1/2, but 100 in one cell.
    type Rate = fn([f64; 3], bool) -> f64;
    let equations: [(&'static str, Rate); 10] = [
        ("select(lap(u) > -1, 0, 1)", |_, spike| f64::from(u8::from(spike))),
        ("select(lap(u) > -1, 0, u)", |_, spike| if spike { 100.0 } else { 0.0 }),
        ("0 * lap(u) + select(u > 0.25, 1, 0)", |_, _| 1.0),
        ("floor(lap(u) / 1000)", |_, spike| -f64::from(u8::from(spike))),
        ("0 * lap(u) + floor(x)", |[x, ..], _| x.floor()),
        ("floor(u + 0.6)", |_, spike| if spike { 100.0 } else { 1.0 }),
        ("-floor(-y / 4)", |[_, y, _], _| (y / 4.0).ceil()),
        ("select(z > 3, 1, 0)", |[.., z], _| f64::from(u8::from(z > 3.0))),
        ("select(t < 5, 1, 0)", |_, _| 1.0),
        (
            "select(u > 50, lap(u) + 400, lap(u)) - lap(u)",
            |_, spike| if spike { 400.0 } else { 0.0 },
        ),
    ];
    for (equation, rate) in machine.some(equations, &[1, 4]) {
        let problem = Problem::new(model(&[("u", equation)]), grid);
        let here = |[x, y, z]: [f64; 3]| [x, y, z].map(|x| x as usize) == middle;
        let value = |at| if here(at) { 100.0 } else { 0.5 };
        let field = Field::from_fn(&grid, 1, |_, at| value(at)).unwrap();
        let options = Options { force: true, ..Options::euler(1.0) };
        let mut simulation = machine.begin(&problem, start(&field), &options);
        assert_eq!(until(&mut simulation, 1.0), Outcome::Reached);
        let wanted = |at| value(at) + rate(at, here(at));
        let wanted = Field::<f64>::from_fn(&grid, 1, |_, at| wanted(at)).unwrap();
        for (found, wanted) in
            simulation.field().unwrap().to_values(0).iter().zip(wanted.to_values(0))
        {
            assert!((found - wanted).abs() < 1e-9, "{equation}: {found}, not {wanted}");
        }
    }
    // 136 cells lie in the ball.
    let problem = Problem::new(model(&[("u", ball)]), grid);
    let field = Field::zeros(&grid, 1).unwrap();
    let mut simulation = machine.begin(&problem, start(&field), &Options::euler(0.5));
    assert_eq!(until(&mut simulation, 10.0), Outcome::Reached);
    let Summary { mass, .. } = summary(&simulation);
    assert!((mass - 2720.0).abs() < 1e-9, "{mass}");
}

/// Steps that follow the limit, by every method that has one.
fn fractions() -> [Options; 4] {
    let fraction = |method| Options::new(method, Steps::Fraction(0.8));
    [
        fraction(Method::Euler),
        fraction(Method::Ssprk3),
        fraction(Method::Rkc { stages: Some(4) }),
        fraction(Method::Rkl2 { stages: Some(5) }),
    ]
}

/// What a single cell exchanges with boundaries that are given, by diffusion and by a velocity, limits steps as neighbours
/// do.
pub(crate) fn single_cells_between_boundaries_are_stable(machine: Machine) {
    let value = |g: f64| Boundary::Dirichlet(Quantity::from(g));
    let leak = Boundary::Robin { value: 1.0, gradient: 0.02, amount: Quantity::from(0.5) };
    let low =
        |boundary| Boundaries::all(Boundary::Open).face(Face { axis: 1, high: false }, boundary);
    let both = |boundary| Boundaries::all(Boundary::Open).axis(1, boundary);
    let plain = |shape, boundaries| {
        let grid = Grid::with_spacing(shape, [1.0, 0.1, 1.0]).unwrap();
        let (stencil, model) = (Stencil::Star, model(&[("u", "lap(u)"), ("v", "0.2 * lap(v)")]));
        Problem::new(model, grid).stencil(stencil).boundaries(boundaries)
    };
    let varying = {
        let grid = Grid::with_spacing([5, 1, 4], [1.0, 0.1, 1.0]).unwrap();
        Problem::new(model(&[("u", "0")]), grid)
            .stencil(Stencil::Star)
            .boundaries(both(value(0.5)))
            .diffusion("u", (0..20).map(|n| 0.5 + 0.02 * f64::from(n)).collect())
    };
    let advected = |scheme| {
        let velocity = Velocity::Uniform(["0.1", "3", "0"].map(Quantity::from));
        plain([8, 1, 1], both(value(0.5))).velocity(velocity, scheme)
    };
    let slow = |mut problem: Problem| {
        problem.model = model(&[("u", "1e-4 * lap(u)")]);
        problem
    };
    let equal = Problem::new(model(&[("u", "lap(u)")]), Grid::new([6, 1, 3], 0.1).unwrap());
    let problems = [
        plain([8, 1, 1], both(value(0.0))),
        slow(advected(Advection::Upwind)),
        plain([8, 1, 6], low(value(0.5))),
        plain([1, 1, 1], both(leak.clone())),
        plain([1, 1, 5], low(leak)),
        advected(Advection::Upwind),
        advected(Advection::Koren),
        slow(advected(Advection::Koren)),
        varying,
        equal.boundaries(both(value(1.0))),
    ];
    for problem in machine.some(problems, &[0, 1]) {
        let species = problem.model.species().len();
        let mut cell = 0;
        let field = Field::from_fn(&problem.grid, species, |_, _| {
            cell += 1;
            0.5 + 0.5 * noise(5, 0, cell)
        });
        let field = field.unwrap();
        for options in fractions() {
            let mut simulation = machine.begin(&problem, start(&field), &options);
            assert_eq!(until(&mut simulation, 2.0), Outcome::Reached, "{options:?}");
            for Summary { min, max, .. } in simulation.summaries().unwrap() {
                let within = min > -0.01 && max < 1.01;
                assert!(within, "{options:?}: {min} {max} in {problem:?}");
            }
        }
    }
}

/// The same with a size that is stable for the field at the start.
fn fixed(problem: &Problem, field: &Field<f64>, end: f64) -> [Options; 4] {
    let limits = stability(problem, field, (0.0, end)).unwrap();
    fractions().map(|options| {
        let steps = Steps::Fixed(0.9 * limits.largest_step(options.method));
        Options { steps, ..options }
    })
}

/// What eats a until nothing is left: at the start no step is too long but for diffusion.
fn autocatalysis() -> Vec<Problem> {
    let model = model(&[("a", "lap(a) - 2 * a * b"), ("b", "lap(b) + 2 * a * b")]);
    let strip = Problem::new(model.clone(), Grid::new([40, 1, 1], 1.0).unwrap());
    let grid = Grid::new([12, 9, 4], 1.0).unwrap();
    let holes: Vec<f64> = (0..grid.cells()).map(|k| f64::from(k % 11 != 5)).collect();
    let mask = Mask::from_values(&grid, &holes).unwrap();
    vec![strip, Problem::new(model, grid).mask(mask)]
}

/// Steps of a fraction follow a limit that falls to a fifth, and end where the equations do.
pub(crate) fn fractions_follow_the_field(machine: Machine) {
    for problem in autocatalysis() {
        let field = Field::from_fn(&problem.grid, 2, |s, _| [10.0, 0.5][s]).unwrap();
        for options in fractions() {
            let mut simulation = machine.begin(&problem, start(&field), &options);
            let mut least = 0.0_f64;
            let outcome = simulation.run_every(4.0, 1, &mut |simulation| {
                least = least.min(summary(simulation).min);
                ControlFlow::Continue(())
            });
            assert_eq!(outcome.unwrap(), Outcome::Reached, "{options:?}");
            let all = simulation.summaries().unwrap();
            // Solid cells keep what they have, and do not count.
            let ended = all[0].max.abs() < 1e-6 && (all[1].mean - 10.5).abs() < 1e-6;
            assert!(ended && least > -0.2, "{options:?}: {least} {all:?}");
        }
    }
}

/// Steps of a fixed size that the field has become too stiff for are no success.
pub(crate) fn fixed_steps_end_where_they_are_too_large(machine: Machine) {
    for problem in autocatalysis() {
        let field = Field::from_fn(&problem.grid, 2, |s, _| [10.0, 0.5][s]).unwrap();
        for options in fixed(&problem, &field, 4.0) {
            let mut simulation = machine.begin(&problem, start(&field), &options);
            let outcome = until(&mut simulation, 4.0);
            match outcome {
                Outcome::Unstable(it) => assert!(it.largest < it.step, "{it:?}"),
                Outcome::Failed(it) => assert_eq!(it.status, Status::NonFinite),
                // Methods with stages may be stable to the end.
                outcome => {
                    let all = simulation.summaries().unwrap();
                    let ended = all[0].max.abs() < 0.1 && all[0].min.abs() < 0.1;
                    assert!(ended && options.method != Method::Euler, "{options:?}: {outcome:?}");
                }
            }
            // Whoever means it may go on.
            let forced = Options { force: true, ..options };
            let outcome = until(&mut machine.begin(&problem, start(&field), &forced), 0.5);
            assert!(!matches!(outcome, Outcome::Unstable(_)), "{forced:?}");
        }
    }
}

/// Phases that part: their limit is half of that of what they part from.
pub(crate) fn phases_part_within_their_limit(machine: Machine) {
    let grid = Grid::new([20, 16, 1], 1.0).unwrap();
    let problem = Problem::new(model(&[("c", "lap(c^3 - c - lap(c))")]), grid);
    let mut cell = 0;
    let field = Field::from_fn(&grid, 1, |_, _| {
        cell += 1;
        0.1 * noise(3, 0, cell)
    });
    let field = field.unwrap();
    for options in fractions() {
        let mut simulation = machine.begin(&problem, start(&field), &options);
        let before = summary(&simulation);
        assert_eq!(until(&mut simulation, 40.0), Outcome::Reached, "{options:?}");
        let after = summary(&simulation);
        let parted = after.min < -0.7 && after.max > 0.7;
        let finite =
            after.min > -1.2 && after.max < 1.2 && (after.mean - before.mean).abs() < 1e-12;
        assert!(parted && finite, "{options:?}: {after:?}");
    }
    let euler = &fixed(&problem, &field, 40.0)[0];
    let outcome = until(&mut machine.begin(&problem, start(&field), euler), 40.0);
    assert!(matches!(outcome, Outcome::Unstable(_)), "{outcome:?}");
}

/// Interruptions change no bit of steps that follow the field.
pub(crate) fn fractions_go_on_with_the_same_bits(machine: Machine) {
    let problem = &autocatalysis()[0];
    let field = Field::from_fn(&problem.grid, 2, |s, [x, ..]| [10.0, 0.5 + 0.01 * x][s]).unwrap();
    for options in fractions() {
        let mut simulation = machine.begin(problem, start(&field), &options);
        let mut kept = None;
        let outcome = simulation.run_every(2.0, 5, &mut |simulation| {
            if simulation.counts().steps == 15 {
                kept = Some(simulation.checkpoint().unwrap());
            }
            ControlFlow::Continue(())
        });
        assert_eq!(outcome.unwrap(), Outcome::Reached);
        let mut other = machine.begin(problem, kept.unwrap(), &options);
        assert_eq!(until(&mut other, 2.0), Outcome::Reached);
        assert!(simulation.checkpoint().unwrap() == other.checkpoint().unwrap(), "{options:?}");
    }
}

/// Waves that never decay: no method may make more of them than a tenth, and forward Euler none at all
/// over an endless time.
pub(crate) fn waves_that_never_fade_do_not_grow(machine: Machine) {
    let (n, end) = (32, 6.0);
    let grid = Grid::new([n, 1, 1], 1.0).unwrap();
    // In space, of which the shortest are the fastest; and a reaction that oscillates everywhere.
    for (equations, squared) in [
        ([("u", "v"), ("v", "lap(u)")], 4.0),
        ([("u", "v"), ("v", "lap(u) - u^3")], 4.0),
        ([("u", "2 * v"), ("v", "0 - 2 * u")], 4.0),
    ] {
        let problem = Problem::new(model(&equations), grid);
        // The shortest wave, so that energy is of u² and v² in these parts.
        let field = Field::from_fn(&grid, 2, |s, [x, ..]| {
            let sign = if (x as usize).is_multiple_of(2) { 0.01 } else { -0.01 };
            if s == 0 { sign * std::f64::consts::SQRT_2 } else { 0.0 }
        });
        let field = field.unwrap();
        let energy = |field: &Field<f64>| {
            let of = |s| field.to_values(s).iter().map(|x| x * x).sum::<f64>();
            squared * of(0) + of(1) * if equations[0].1 == "2 * v" { squared } else { 1.0 }
        };
        for options in fractions() {
            let mut simulation = machine.begin(&problem, start(&field), &options);
            assert_eq!(until(&mut simulation, end), Outcome::Reached, "{equations:?} {options:?}");
            let change = energy(&simulation.field().unwrap()) / energy(&field);
            // SSPRK3 damps so short a wave.
            assert!((0.2..1.3).contains(&change), "{equations:?} {options:?}: {change}");
        }
        let limits = stability(&problem, &field, (0.0, f64::INFINITY)).unwrap();
        assert!(limits.largest_step(Method::Euler) == 0.0, "{limits:?}");
        let largest = limits.largest_step(Method::Ssprk3) * 2.0;
        assert!((1.6..1.74).contains(&largest), "{largest}");
        // A wave is resolved by such steps, and grows in each of them.
        let mut simulation = machine.begin(&problem, start(&field), &Options::euler(0.1));
        let error = simulation.advance_to(end).unwrap_err();
        assert!(error.to_string().contains("ssprk3"), "{error}");
    }
}

/// Limits of a reaction that oscillates do not depend on the noise that it starts from.
pub(crate) fn limits_do_not_depend_on_noise() {
    for b in ["1.9", "2.05", "3"] {
        let u = format!("0.02 * lap(u) + 1 - ({b} + 1) * u + u^2 * v");
        let v = format!("0.02 * lap(v) + {b} * u - u^2 * v");
        let text = odeum_fields::ModelText {
            species: vec!["u", "v"],
            equations: vec![("u", &u), ("v", &v)],
            ..odeum_fields::ModelText::default()
        };
        let grid = Grid::new([24, 16, 1], 0.5).unwrap();
        let problem = Problem::new(text.read().unwrap().0, grid);
        let b: f64 = b.parse().unwrap();
        let limit = |seed: u64| {
            let mut cell = 0;
            let field = Field::<f64>::from_fn(&grid, 2, |s, _| {
                cell += 1;
                [1.0, b][s] + 1e-3 * noise(seed, s, cell)
            });
            stability(&problem, &field.unwrap(), (0.0, 50.0)).unwrap().euler
        };
        let all: Vec<f64> = (0..12).map(limit).collect();
        let (least, most) =
            all.iter().fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
        assert!(most < 1.05 * least && least > 0.02, "{b}: {all:?}");
    }
}

/// What limits steps may be in a few cells alone: stiff rods, balls and films, a sink, a layer that damps waves, a slope.
pub(crate) fn limits_are_those_of_all_cells(machine: Machine) {
    fn diffusion(text: &str) -> odeum_fields::Model {
        let text = odeum_fields::ModelText {
            species: vec!["u"],
            equations: vec![("u", text)],
            ..odeum_fields::ModelText::default()
        };
        text.read().unwrap().0
    }
    let (plane, layer) = (Grid::new([64, 64, 1], 1.0 / 64.0).unwrap(), "abs(x - 0.5) < 0.1");
    let ball = "(x-0.5)^2 + (y-0.5)^2 + (z-0.5)^2 < 0.04";
    let fine = Grid::new([2001, 1, 1], 1.0 / 2001.0).unwrap();
    let columns = (0..plane.cells()).map(|n| if n % 64 == 37 { 1.0 } else { 0.01 }).collect();
    let problems = [
        Problem::new(diffusion(&format!("select({layer}, 1, 0.01) * lap(u)")), plane),
        Problem::new(diffusion("(0.01 + 4*x*(1 - x)) * lap(u)"), plane),
        Problem::new(diffusion(&format!("0.01*lap(u) - select({layer}, 2000*u, 0)")), plane),
        Problem::new(
            diffusion(&format!("select({ball}, 1, 0.01) * lap(u)")),
            Grid::new([48; 3], 1.0 / 48.0).unwrap(),
        ),
        Problem::new(diffusion("select(x > 0.3 && x < 0.301, 1, 0.01) * lap(u)"), fine),
        Problem::new(diffusion("select(x > 0.3 && x < 0.301, u, 0.01) * lap(u)"), fine),
        Problem::new(diffusion("select(t*x > 0.03 && t*x < 0.031, 1, 0.01) * lap(u)"), fine),
        Problem::new(diffusion("0 * u"), plane).diffusion("u", columns),
        Problem::new(
            diffusion("0.01*lap(u) + lap(u)^3/(1 + lap(u)^2)"),
            Grid::new([40, 1, 1], 1.0 / 40.0).unwrap(),
        ),
    ];
    for (n, problem) in machine.some(problems, &[0, 7]).into_iter().enumerate() {
        let field = Field::from_fn(&problem.grid, 1, |_, [x, ..]| {
            (std::f64::consts::PI * problem.grid.centre(0, x as usize)).cos()
        });
        let field = field.unwrap();
        for options in machine.some(fractions(), &[0, 3]) {
            // A hundred steps at least of each.
            let limits = stability(&problem, &field, (0.1, 0.2)).unwrap();
            let end = 0.1 + 100.0 * limits.largest_step(options.method);
            let limits = stability(&problem, &field, (0.1, end)).unwrap();
            let begin = Checkpoint { clock: Clock::at(0.1), ..start(&field) };
            let mut simulation = machine.begin(&problem, begin, &options);
            simulation.set_stability(limits, end);
            assert_eq!(until(&mut simulation, end), Outcome::Reached, "{n}: {options:?}");
            let of = summary(&simulation);
            assert!(of.max < 2.0 && of.min > -2.0, "{n}: {options:?}: {of:?}");
        }
    }
}

/// Less diffusion may mean shorter steps: beside an absorbing layer waves do not decay.
pub(crate) fn limits_are_those_of_the_least_diffusion(machine: Machine) {
    let n = 40;
    let grid = Grid::new([n, 1, 1], 1.0 / n as f64).unwrap();
    let layer = (0..n).map(|i| if i > 3 * n / 4 { 0.05 } else { 0.0 }).collect();
    let problem = Problem::new(model(&[("u", "v"), ("v", "lap(u)")]), grid).diffusion("v", layer);
    let field = Field::from_fn(&grid, 2, |s, [x, ..]| {
        if s == 0 { (-((x / n as f64 - 0.3) / 0.1).powi(2)).exp() } else { 0.0 }
    });
    let field = field.unwrap();
    for options in machine.some(fractions(), &[1, 3]) {
        // Forward Euler alone may make such waves grow, by a tenth; its steps would be a million.
        if options.method == Method::Euler {
            continue;
        }
        let mut simulation = machine.begin(&problem, start(&field), &options);
        assert_eq!(until(&mut simulation, 2.0), Outcome::Reached, "{options:?}");
        let of = summary(&simulation);
        assert!(of.max < 1.2 && of.min > -1.2, "{options:?}: {of:?}");
    }
    let limits = stability(&problem, &field, (0.0, f64::INFINITY)).unwrap();
    assert!(limits.largest_step(Method::Euler) == 0.0, "{limits:?}");
}
