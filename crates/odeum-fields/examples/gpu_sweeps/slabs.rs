//! A field on several GPUs: whether it has the bits of one, and how much faster it is.

use super::{begin, steps};
use odeum_cuda::{Device as _, Gpu, Stream as _};
use odeum_fields::problems::Builtin;
use odeum_fields::{Field, Grid, Method, Options, Precision, Problem, Simulation, Steps, rough};
use odeum_ode::{Cuda, Device, Error};
use std::ops::ControlFlow;
use std::time::Instant;

const BUILTIN: [Builtin; 3] = [Builtin::Diffusion, Builtin::Turing, Builtin::Front];

/// Cells of a cube up to which all bits are compared.
const COMPARED: usize = 1 << 27;

/// Speeds of cubes on 1, 2, 4, … up to `most` GPUs; with `same` all parts share the first one.
pub(super) fn run(edges: &[usize], most: usize, same: bool) {
    let device = |count: usize| {
        let ordinals = (0..count).map(|n| if same { 0 } else { n }).collect();
        Device::Cuda(Cuda { ordinals })
    };
    let mut counts: Vec<usize> = (1..).map(|k| 1 << k).take_while(|n| *n < most).collect();
    counts.extend((most > 1).then_some(most));
    let begun = Instant::now();
    if most > 1 && !same {
        report(connection());
    }
    for builtin in BUILTIN {
        report(bits::<f32>(builtin, &counts, &device));
        report(bits::<f64>(builtin, &counts, &device));
    }
    report(stages(&counts, &device));
    println!("bits after {:.1} s", begun.elapsed().as_secs_f64());
    for &edge in edges {
        for builtin in BUILTIN {
            report(speeds::<f32>(builtin, edge, &counts, &device));
            println!("{edge} {} after {:.1} s", builtin.name(), begun.elapsed().as_secs_f64());
        }
    }
}

/// Bandwidth of a copy from the first GPU to the second.
fn connection() -> Result<(), Error> {
    const BYTES: usize = 1 << 28;
    let (here, there) = (Gpu::open(0)?, Gpu::open(1)?);
    here.enable_peer_access(&there)?;
    let (from, mut to) = (here.memory(BYTES)?, there.memory(BYTES)?);
    let stream = here.stream()?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        stream.record_time(0)?;
        stream.copy_to_peer((&from, 0), (&mut to, 0), BYTES)?;
        stream.record_time(1)?;
        stream.wait()?;
        best = best.min(stream.elapsed_ms(0, 1)? * 1e-3);
    }
    println!("cuda:0 to cuda:1: {:.0} GB/s", BYTES as f64 / best / 1e9);
    Ok(())
}

fn report(done: Result<(), Error>) {
    if let Err(error) = done {
        println!("FAILED: {error}");
    }
}

fn say(what: &str, count: usize, same: bool) {
    println!("bits {what} {count} GPUs: {}", if same { "same" } else { "OTHER BITS" });
}

/// Steps of forward Euler on few cells, whose parts are thin.
fn bits<T: Precision>(
    builtin: Builtin,
    counts: &[usize],
    device: &impl Fn(usize) -> Device,
) -> Result<(), Error> {
    let problem = builtin.problem([130, 77, 37])?;
    let field = rough::<T>(&problem.grid, problem.model.species().len())?;
    let end = |count: usize| -> Result<Field<T>, Error> {
        let mut simulation = begin(&problem, builtin.step(), field.clone(), device(count))?;
        steps(&mut simulation, 301)?;
        Ok(simulation.field()?.into_owned())
    };
    let alone = end(1)?;
    for &count in counts {
        let what = format!("{} {} 130x77x37", builtin.name(), T::NAME);
        say(&what, count, end(count)? == alone);
    }
    Ok(())
}

/// Stages of RKL2.
fn stages(counts: &[usize], device: &impl Fn(usize) -> Device) -> Result<(), Error> {
    let problem = Builtin::Turing.problem([130, 77, 37])?;
    let field = rough::<f64>(&problem.grid, 2)?;
    let method = Method::Rkl2 { stages: Some(5) };
    let fixed = Steps::Fixed(3.0 * Builtin::Turing.step());
    let options = Options { force: true, ..Options::new(method, fixed) };
    let end = |count: usize| -> Result<Field<f64>, Error> {
        let mut simulation =
            Simulation::new(&problem, field.clone(), 0.0, &options, device(count))?;
        simulation.run_steps(40, 0, &mut |_| ControlFlow::Continue(()))?;
        Ok(simulation.field()?.into_owned())
    };
    let alone = end(1)?;
    for &count in counts {
        say("turing rkl2 f64", count, end(count)? == alone);
    }
    Ok(())
}

/// A field without symmetry, sooner than `rough` makes one of 10⁹ cells.
fn shifted<T: Precision>(problem: &Problem) -> Result<Field<T>, Error> {
    let [nx, ny, nz] = problem.grid.shape();
    let species = problem.model.species().len();
    let plane = rough::<T>(&Grid::with_spacing([nx, ny, 1], problem.grid.spacing())?, species)?;
    let mut field = Field::zeros(&problem.grid, species)?;
    for s in 0..species {
        for z in 0..nz {
            for y in 0..ny {
                field.row_mut(s, y, z).copy_from_slice(plane.row(s, (y + 7 * z) % ny, 0));
            }
        }
    }
    Ok(field)
}

/// Cells per second of a cube by one GPU and by several.
fn speeds<T: Precision>(
    builtin: Builtin,
    edge: usize,
    counts: &[usize],
    device: &impl Fn(usize) -> Device,
) -> Result<(), Error> {
    let problem = builtin.problem([edge; 3])?;
    let cells = problem.grid.cells();
    let field = shifted::<T>(&problem)?;
    let (mut alone, mut first) = (f64::NAN, None);
    for count in std::iter::once(1).chain(counts.iter().copied()) {
        let mut simulation = begin(&problem, builtin.step(), field.clone(), device(count))?;
        simulation.retile(simulation.tiling())?;
        let taken = (4_000_000_000 * count / cells).clamp(20, 2000) / 2 * 2;
        steps(&mut simulation, 4)?;
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            best = best.min(steps(&mut simulation, taken)? / taken as f64);
        }
        let speed = cells as f64 / best / 1e9;
        if count == 1 {
            alone = speed;
        }
        println!(
            "{:9} {} {edge}^3 {count} GPUs: {speed:7.1} Gpt/s, {:5.3} of ideal, {:.1} us a step",
            builtin.name(),
            T::NAME,
            speed / alone / count as f64,
            best * 1e6
        );
        drop(simulation);
        if cells <= COMPARED {
            let mut simulation = begin(&problem, builtin.step(), field.clone(), device(count))?;
            steps(&mut simulation, 21)?;
            let end = simulation.field()?.into_owned();
            match &first {
                None => first = Some(end),
                Some(first) => say(&format!("{} {edge}^3", builtin.name()), count, end == *first),
            }
        }
    }
    Ok(())
}
