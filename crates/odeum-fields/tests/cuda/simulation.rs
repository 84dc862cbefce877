//! Simulations whose kernels are executed on this machine through the host shim, against those of the
//! processor's sweeps: methods, reductions, failures, interruptions.

use crate::common::{model, some};
use crate::host;
use odeum_fields::problems::Builtin;
use odeum_fields::{
    Advection, Boundaries, Boundary, Checkpoint, Clock, Field, Grid, Method, Options, Outcome,
    Precision, Problem, Quantity, Simulation, Steps, Velocity, gpu, noise, rough,
};
use odeum_ode::{Cpu, Error, Status, Tolerance};
use std::ops::ControlFlow;

/// Two species with time and place in their equations, in a box of three kinds of boundaries.
fn problem(shape: [usize; 3]) -> Problem {
    let model = model(&[
        ("u", "0.2 * lap(u) + u - u^3 - v + 0.1 * x * sin(t)"),
        ("v", "0.1 * lap(v) + 0.3 * (u - v) + 0.02 * y - 0.03 * z"),
    ]);
    let robin = Boundary::Robin { value: 0.7, gradient: 1.3, amount: Quantity::from("0.2 * t") };
    let boundaries = Boundaries::all(robin).axis(1, Boundary::Periodic);
    let boundaries = boundaries.species(odeum_fields::Face::ALL[4], "u", Boundary::NoFlux);
    Problem::new(model, Grid::new(shape, 0.9).unwrap()).boundaries(boundaries)
}

fn start<T: Precision>(problem: &Problem) -> Field<T> {
    rough(&problem.grid, problem.model.species().len()).unwrap()
}

fn cpu() -> Cpu {
    Cpu { threads: Some(1), ..Cpu::default() }
}

/// The same simulation by kernels and by the CPU.
fn both<T: Precision>(problem: &Problem, options: &Options) -> [Simulation<T>; 2] {
    both_from(problem, options, start(problem))
}

fn both_from<T: Precision>(
    problem: &Problem,
    options: &Options,
    field: Field<T>,
) -> [Simulation<T>; 2] {
    let start = Checkpoint { field, clock: Clock::at(0.4) };
    let kernels = Simulation::on_device(problem, start.clone(), options, host::device());
    [kernels.unwrap(), Simulation::resume(problem, start, options, cpu()).unwrap()]
}

fn go_on(_: &Simulation<impl Precision>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn largest_difference<T: Precision>(a: &Field<T>, b: &Field<T>) -> f64 {
    let mut largest: f64 = 0.0;
    for s in 0..a.species() {
        for (x, y) in a.to_values(s).into_iter().zip(b.to_values(s)) {
            let (x, y) = (x.to_f64(), y.to_f64());
            largest = largest.max((x - y).abs() / y.abs().max(1.0));
        }
    }
    largest
}

fn methods() -> Vec<Options> {
    let adaptive = Steps::Adaptive(Tolerance::new(1e-4, 1e-6));
    vec![
        Options::euler(0.02),
        Options::new(Method::Ssprk3, Steps::Fixed(0.03)),
        Options::new(Method::Rkc { stages: Some(4) }, Steps::Fixed(0.05)),
        Options::new(Method::Rkl2 { stages: Some(5) }, Steps::Fixed(0.06)),
        Options::new(Method::Rkc { stages: None }, adaptive),
    ]
}

fn methods_agree<T: Precision>(shape: [usize; 3], tolerance: f64) {
    let problem = problem(shape);
    for options in methods() {
        let options = Options { force: true, ..options };
        let [mut kernels, mut processor] = both::<T>(&problem, &options);
        for simulation in [&mut kernels, &mut processor] {
            let outcome = simulation.advance_to(1.03).unwrap();
            assert_eq!(outcome, Outcome::Reached);
        }
        let name = format!("{shape:?} {} {:?}", T::NAME, options.method);
        assert_eq!(kernels.counts(), processor.counts(), "{name}");
        assert_eq!(kernels.stability(), processor.stability(), "{name}");
        assert_eq!(kernels.t(), processor.t(), "{name}");
        let error = largest_difference(&kernels.field().unwrap(), &processor.field().unwrap());
        assert!(error < tolerance, "{name}: {error:.1e}");
    }
}

#[test]
fn methods_agree_in_all_shapes() {
    if !host::is_available() {
        return;
    }
    methods_agree::<f64>([37, 19, 5], 1e-12);
    methods_agree::<f64>([21, 6, 1], 1e-12);
    methods_agree::<f64>([13, 1, 1], 1e-12);
    methods_agree::<f32>([9, 7, 4], 2e-5);
}

/// Stages of models with potentials go through the kernel with overlapping tiles.
#[test]
fn stages_of_models_with_potentials_agree() {
    if !host::is_available() {
        return;
    }
    for boundaries in [Boundaries::default(), Boundaries::default().axis(0, Boundary::Periodic)] {
        let problem = Builtin::MendedFront.problem([37, 7, 4]).unwrap().boundaries(boundaries);
        let options = Options::new(Method::Rkl2 { stages: Some(3) }, Steps::Fixed(0.02));
        let [mut kernels, mut processor] = both::<f64>(&problem, &options);
        for simulation in [&mut kernels, &mut processor] {
            simulation.run_steps(3, 0, &mut go_on).unwrap();
        }
        let error = largest_difference(&kernels.field().unwrap(), &processor.field().unwrap());
        assert!(error < 1e-13, "{error:.1e}");
    }
}

/// Stages to which a second sweep adds velocities and diffusion that differ from cell to cell.
#[test]
fn stages_of_two_sweeps_agree() {
    if !host::is_available() {
        return;
    }
    let mut problem = problem([13, 7, 4]);
    let values = |seed: u64| -> Vec<f64> {
        (0..problem.grid.cells()).map(|cell| 0.1 + 0.1 * noise(seed, 0, cell)).collect()
    };
    let velocity = Velocity::Cells([1, 2, 3].map(values));
    let coefficients = values(4);
    problem = problem.velocity(velocity, Advection::Koren).diffusion("u", coefficients);
    for options in methods() {
        let options = Options { force: true, ..options };
        let [mut kernels, mut processor] = both::<f64>(&problem, &options);
        for simulation in [&mut kernels, &mut processor] {
            assert_eq!(simulation.advance_to(0.83).unwrap(), Outcome::Reached);
        }
        let error = largest_difference(&kernels.field().unwrap(), &processor.field().unwrap());
        assert!(error < 1e-13, "{:?}: {error:.1e}", options.method);
        assert_eq!(kernels.counts(), processor.counts());
    }
}

/// A driver that refuses launches for a while changes no bit of what comes after: the state is that of the time reached.
#[test]
fn what_a_device_fails_in_is_taken_again() {
    if !host::is_available() {
        return;
    }
    let problem = problem([9, 7, 8]);
    let field = start::<f64>(&problem);
    // By forward Euler, and by stages with steps of a fixed size and with steps that are chosen.
    for options in some(methods(), &[0, 2, 4]) {
        let options = Options { force: true, ..options };
        for devices in [1, 2] {
            let of = || {
                let devices = host::several(&vec![1 << 40; devices], 3);
                let start = Checkpoint { field: field.clone(), clock: Clock::at(0.4) };
                let made = Simulation::on_devices(&problem, start, &options, devices.clone());
                (made.unwrap(), devices)
            };
            let (mut other, _) = of();
            let (mut simulation, devices) = of();
            let mut failed = 0;
            for (k, end) in [0.42, 0.61, 0.7].into_iter().enumerate() {
                assert_eq!(other.advance_to(end).unwrap(), Outcome::Reached);
                for launches in [0, 1, 3] {
                    devices[k % devices.len()].set_launches(launches);
                    let result = simulation.advance_to(end);
                    devices.iter().for_each(|device| device.set_launches(usize::MAX));
                    failed += usize::from(result.is_err());
                }
                assert_eq!(simulation.advance_to(end).unwrap(), Outcome::Reached);
                assert!(simulation.field().unwrap() == other.field().unwrap(), "{options:?} {end}");
                assert_eq!(simulation.counts().steps, other.counts().steps);
            }
            assert!(failed > 6, "{failed}");
        }
    }
}

/// Where the way back fails too nothing is given that would be of another time.
#[test]
fn a_state_that_is_lost_is_told_as_such() {
    if !host::is_available() {
        return;
    }
    let problem = problem([9, 7, 4]);
    let start = Checkpoint { field: start::<f64>(&problem), clock: Clock::at(0.4) };
    let options = Options { force: true, ..Options::euler(0.02) };
    let device = host::device();
    let mut simulation = Simulation::on_device(&problem, start, &options, device.clone()).unwrap();
    simulation.run_steps(5, 0, &mut go_on).unwrap();
    device.set_launches(3);
    let refused = simulation.run_steps(9, 0, &mut go_on).unwrap_err();
    assert!(refused.to_string().contains("no more launches"), "{refused}");
    device.set_launches(usize::MAX);
    let lost = [
        simulation.run_steps(1, 0, &mut go_on).map(drop),
        simulation.field().map(drop),
        simulation.checkpoint().map(drop),
        simulation.snapshot().map(drop),
        simulation.values(0, &mut |_| ()),
        simulation.pick(&[[0, 0, 0]]).map(drop),
        simulation.summaries().map(drop),
        simulation.limits_to(1.0).map(drop),
    ];
    for refused in lost {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("lost at t = 0.5") && refused.contains("checkpoint"), "{refused}");
    }
}

fn sums_agree<T: Precision>(shape: [usize; 3]) {
    let problem = problem(shape);
    let options = Options { force: true, ..Options::euler(0.02) };
    let [kernels, processor] = both::<T>(&problem, &options);
    let pairs = kernels.summaries().unwrap().into_iter().zip(processor.summaries().unwrap());
    for (a, b) in pairs {
        assert_eq!((a.min, a.max), (b.min, b.max));
        assert!((a.sum - b.sum).abs() < 1e-12 * b.sum && (a.mass - b.mass).abs() < 1e-12 * b.mass);
        assert!((a.mean - b.mean).abs() < 1e-13);
    }
    let cells: Vec<_> = (0..problem.grid.cells()).map(|at| problem.grid.cell(at)).collect();
    assert_eq!(kernels.pick(&cells).unwrap(), processor.pick(&cells).unwrap());
    assert!(kernels.pick(&[shape]).is_err());
    // A copy is that of its time, whatever follows; it comes from another thread.
    let mut kernels = kernels;
    let early = [kernels.snapshot().unwrap(), kernels.snapshot().unwrap()];
    kernels.run_steps(3, 0, &mut go_on).unwrap();
    let bring = |copy: odeum_fields::Snapshot<T>| {
        std::thread::spawn(move || copy.field().unwrap()).join().unwrap()
    };
    for copy in early {
        assert!(bring(copy) == *processor.field().unwrap());
    }
    assert!(bring(kernels.snapshot().unwrap()) == *kernels.field().unwrap());
}

#[test]
fn sums_picks_and_copies_agree() {
    if !host::is_available() {
        return;
    }
    sums_agree::<f64>([37, 19, 5]);
    sums_agree::<f32>([70, 3, 2]);
    sums_agree::<f64>([1, 9, 1]);
}

/// A cell whose reaction has a pole from some time on: what fails, where and when is that of the
/// processor, in the midst of many steps too, and the state is the last finite one.
#[test]
fn failures_are_placed_and_the_last_state_is_kept() {
    if !host::is_available() {
        return;
    }
    let grid = Grid::new([20, 5, 6], 1.0).unwrap();
    for (from, stop) in [(0.0_f64, 0), (0.575, 0), (0.785, 0), (0.785, 23)] {
        let rate: &'static str =
            format!("select(c > 0.9, select(t > {from}, 1/(t - t), 1), d)").leak();
        let problem = Problem::new(model(&[("c", "0.001*lap(d)"), ("d", rate)]), grid);
        let cell = [13, 2, 4];
        let start = || {
            Field::<f64>::from_fn(&grid, 2, |s, [x, y, z]| {
                f64::from(s == 0 && (x, y, z) == (13.5, 2.5, 4.5))
            })
            .unwrap()
        };
        let options = Options { force: true, ..Options::euler(0.01) };
        let simulations = both_from(&problem, &options, start());
        let mut ends = Vec::new();
        for mut simulation in simulations {
            let outcome = simulation.run_every(1.3, stop, &mut go_on).unwrap();
            let Outcome::Failed(failure) = outcome else { panic!("{outcome:?}") };
            assert_eq!(failure.status, Status::NonFinite);
            assert_eq!(failure.place, Some(("d".to_owned(), cell)));
            ends.push((failure, simulation.clock(), simulation.field().unwrap().into_owned()));
        }
        assert_eq!(ends[0].0, ends[1].0);
        assert_eq!(ends[0].1, ends[1].1);
        assert!(largest_difference(&ends[0].2, &ends[1].2) < 1e-13);
        // Steps of 0.01 from 0.4 on: the first that begins after the pole is there.
        let steps = ((from - 0.4).max(0.0) * 100.0_f64).ceil() as u64;
        assert_eq!(ends[0].0.steps, steps);
    }
}

#[test]
fn failures_of_stages_are_placed() {
    if !host::is_available() {
        return;
    }
    let grid = Grid::new([20, 5, 6], 1.0).unwrap();
    let problem = Problem::new(
        model(&[("c", "0.001*lap(d)"), ("d", "select(x > 13 && t > 0.6, 1/(t - t), d)")]),
        grid,
    );
    let fixed = Options::new(Method::Rkl2 { stages: Some(3) }, Steps::Fixed(0.05));
    let adaptive =
        Options::new(Method::Rkc { stages: None }, Steps::Adaptive(Tolerance::new(1e-4, 1e-6)));
    for options in [fixed, adaptive] {
        let options = Options { force: true, ..options };
        let ends = both::<f64>(&problem, &options).map(|mut simulation| {
            let Outcome::Failed(failure) = simulation.advance_to(2.0).unwrap() else {
                panic!("{options:?}")
            };
            assert!(simulation.summaries().unwrap().iter().all(|s| s.sum.is_finite()));
            failure
        });
        // How an adaptive simulation comes to a stop before the pole is a matter of rounding.
        if matches!(options.steps, Steps::Fixed(_)) {
            assert_eq!(ends[0], ends[1]);
        }
        assert!(ends.iter().all(|end| end.status == Status::NonFinite && end.t < 0.61));
    }
}

/// Steps are taken by kernels that are there while faster ones are compiled.
#[test]
fn kernels_that_come_late_change_no_bit() {
    if !host::is_available() {
        return;
    }
    let turning = Velocity::Uniform(["0.3", "0.2*cos(60*t)", "-0.1"].map(Quantity::from));
    for problem in [
        problem([24, 5, 3]),
        problem([24, 5, 3]).velocity(turning, Advection::Upwind),
        Builtin::MendedFront.problem([37, 7, 4]).unwrap(),
    ] {
        let rkl = Options::new(Method::Rkl2 { stages: Some(3) }, Steps::Fixed(0.002));
        for options in [Options { force: true, ..Options::euler(0.002) }, rkl] {
            let [found, wanted] = [11, 0].map(|patience| {
                let start = Checkpoint { field: start::<f64>(&problem), clock: Clock::at(0.4) };
                let device = host::slow(patience);
                let mut simulation =
                    Simulation::on_device(&problem, start, &options, device).unwrap();
                // One by one, some at once, and all.
                for steps in [1, 9, 50] {
                    simulation.run_steps(steps, 0, &mut go_on).unwrap();
                }
                simulation.field().unwrap().into_owned()
            });
            assert!(found == wanted, "{:?}", options.method);
        }
    }
}

/// An error whose square is beyond the range of numbers rejects a step as any other does.
#[test]
fn errors_beyond_the_range_of_numbers_reject_steps() {
    if !host::is_available() {
        return;
    }
    let equations = [("u", "1 + 1e170 * max(u - 0.5, 0)")];
    let problem = Problem::new(model(&equations), Grid::new([5, 4, 3], 1.0).unwrap());
    let steps = Steps::Adaptive(Tolerance::new(1e-6, 1e-6));
    let options = Options::new(Method::Rkc { stages: None }, steps);
    let start = Field::<f64>::zeros(&problem.grid, 1).unwrap();
    let clocks = both_from(&problem, &options, start).map(|mut simulation| {
        let mut asked = 0;
        let outcome = simulation.run(1.4, &mut |_| {
            asked += 1;
            if asked == 1 { ControlFlow::Continue(1) } else { ControlFlow::Break(()) }
        });
        assert_eq!(outcome.unwrap(), Outcome::Stopped);
        simulation.clock()
    });
    assert_eq!(clocks[0].counts.rejected, 1);
    assert!(!clocks[1].non_finite && clocks[0] == clocks[1], "{clocks:?}");
}

/// So many that a kernel does not take the numbers of a step: refused before anything is compiled.
#[test]
fn more_species_than_a_kernel_takes_are_refused() {
    let names: Vec<String> = (0..700).map(|n| format!("s{n}")).collect();
    let equations: Vec<_> =
        names.iter().map(|name| format!("0.1 * lap({name}) - {name}")).collect();
    let pairs: Vec<_> =
        names.iter().map(String::as_str).zip(equations.iter().map(String::as_str)).collect();
    let problem = Problem::new(model(&pairs), Grid::new([4; 3], 1.0).unwrap());
    let refused = gpu::bytes::<f64>(&problem, Method::Euler, 1).unwrap_err().to_string();
    let of_double = "574 species that diffuse by themselves in double precision";
    assert!(refused.contains("found 700") && refused.contains(of_double), "{refused}");
    assert!(refused.contains("take single precision or the CPU"), "{refused}");
    assert!(gpu::bytes::<f32>(&problem, Method::Euler, 1).is_ok());
    if host::is_available() {
        let start = Checkpoint { field: start::<f64>(&problem), clock: Clock::at(0.4) };
        let options = Options::euler(0.01);
        let begun = Simulation::on_device(&problem, start, &options, host::device());
        assert_eq!(begun.err().unwrap().to_string(), refused);
    }
}

/// Several steps at once whose kernel does not compile are taken one by one, whether that is seen at once or amid them.
#[test]
fn kernels_that_do_not_compile_are_left_out_where_there_are_others() {
    if !host::is_available() {
        return;
    }
    let problem = problem([24, 5, 3]);
    let options = Options { force: true, ..Options::euler(0.002) };
    let begin = |device| {
        let start = Checkpoint { field: start::<f64>(&problem), clock: Clock::at(0.4) };
        Simulation::on_device(&problem, start, &options, device).unwrap()
    };
    for patience in [0, 3] {
        let ends = [host::slow(patience), host::refusing("od_box", patience)].map(|device| {
            let mut simulation = begin(device);
            assert_eq!(simulation.tiling().unwrap().depth, 3);
            for steps in [1, 9, 40] {
                assert_eq!(simulation.run_steps(steps, 0, &mut go_on).unwrap(), Outcome::Reached);
            }
            (simulation.field().unwrap().into_owned(), simulation.tiling().unwrap().depth)
        });
        assert!(ends[0].0 == ends[1].0 && ends[0].1 == 3 && ends[1].1 == 1, "{patience}");
    }
    // Where all are refused the compiler's word is that of the run.
    let error = begin(host::refusing("od_euler", 0)).run_steps(1, 0, &mut go_on).unwrap_err();
    assert!(matches!(error, Error::Compile { .. }), "{error}");
}

/// A simulation that begins with a single step, as those do that are watched, asks for the kernel of several as
/// soon as it takes several, though that of single steps is there by then.
#[test]
fn the_fastest_kernel_is_asked_for_beside_a_slower_one() {
    if !host::is_available() {
        return;
    }
    let problem = problem([24, 5, 3]);
    let device = host::slow(1);
    let watched = device.clone();
    let start = Checkpoint { field: start::<f32>(&problem), clock: Clock::at(0.4) };
    let options = Options { force: true, ..Options::euler(0.002) };
    let mut simulation = Simulation::on_device(&problem, start, &options, device).unwrap();
    assert!(simulation.tiling().is_some_and(|fastest| fastest.depth > 1));
    for _ in 0..4 {
        simulation.run_steps(1, 0, &mut go_on).unwrap();
    }
    let single = watched.compilations();
    simulation.run_steps(8, 0, &mut go_on).unwrap();
    assert_eq!(watched.compilations(), single + 1);
    simulation.run_steps(8, 0, &mut go_on).unwrap();
    assert_eq!(watched.compilations(), single + 1);
}

/// Where the simulation is looked at, and interrupted, changes no bit.
#[test]
fn interruptions_change_no_bit() {
    if !host::is_available() {
        return;
    }
    let problem = problem([24, 5, 3]);
    for options in methods() {
        let start = Checkpoint { field: start::<f64>(&problem), clock: Clock::at(0.4) };
        let begin = |from: Checkpoint<f64>| {
            Simulation::on_device(&problem, from, &options, host::device()).unwrap()
        };
        let (mut simulation, mut written) = (begin(start.clone()), Vec::new());
        let end = 1.4321;
        let outcome = simulation.run_every(end, 7, &mut |simulation| {
            if simulation.counts().steps == 7 {
                simulation.checkpoint().unwrap().write(&mut written).unwrap();
            }
            ControlFlow::Continue(())
        });
        assert_eq!(outcome.unwrap(), Outcome::Reached);
        let checkpoint =
            Checkpoint::<f64>::read(&problem.grid, 2, &mut written.as_slice()).unwrap();
        for from in [checkpoint.clone(), start] {
            let mut other = begin(from);
            other.advance_to(end).unwrap();
            assert!(other.field().unwrap() == simulation.field().unwrap(), "{:?}", options.method);
            assert_eq!(other.counts().steps, simulation.counts().steps);
        }
        // The CPU takes it up too, and agrees to rounding.
        let mut other = Simulation::resume(&problem, checkpoint, &options, cpu()).unwrap();
        other.advance_to(end).unwrap();
        let error = largest_difference(&other.field().unwrap(), &simulation.field().unwrap());
        assert!(error < 1e-12, "{error:.1e}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_numbers() {
    if !host::is_available() {
        return;
    }
    let problem = problem([16, 5, 3]);
    // Rows of 16 numbers are lines of 128 bytes: 15 of them for each of two species, and 16 before
    // and after a field.
    let field = (2 * 15 + 32) * 128;
    let begin = |bytes: usize| {
        let start = Checkpoint { field: start::<f64>(&problem), clock: Clock::at(0.4) };
        let host = host::with_memory(bytes);
        Simulation::on_device(&problem, start, &Options::euler(0.02), host)
    };
    let Err(error) = begin(3 * field - 1) else { panic!() };
    assert!(matches!(&error, Error::Input { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("23808 bytes") && text.contains("23807 bytes free"), "{text}");
    // Without memory for a copy the field comes into memory at once.
    let mut simulation = begin(3 * field + (1 << 19)).unwrap();
    let copies: Vec<_> = (0..200).map(|_| simulation.snapshot().unwrap()).collect();
    let before = simulation.field().unwrap().into_owned();
    simulation.run_steps(2, 0, &mut go_on).unwrap();
    assert!(copies.into_iter().all(|copy| copy.field().unwrap() == before));
}
