//! Steps of fields on CPUs, timed there.

use super::{Measured, Timed};
use odeum_case::available::{Working, available_memory};
use odeum_fields::problems::Builtin;
use odeum_fields::{Combination, Engine, Field, Precision};
use odeum_ode::{Cpu, Error};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Time for which passes are repeated, at least, and their least number.
const TIME: Duration = Duration::from_millis(400);
const PASSES: usize = 5;
/// Bytes of each array of the copy.
const COPIED: usize = 128 << 20;

/// One step for each time that the field is read and written.
const SINGLE: &str = "cpu";
/// As many steps in one pass as simulations take where that is faster.
const SEVERAL: &str = "cpu, 2 steps at once";
const AT_ONCE: usize = 2;

/// Steps of forward Euler; those of several in one pass only where there are such.
pub(super) fn steps<T: Precision>(
    builtin: Builtin,
    shape: [usize; 3],
    cpu: &Cpu,
) -> Result<Measured, Error> {
    let problem = builtin.problem(shape)?;
    let need = 2 * Field::<T>::bytes(&problem.grid, problem.model.species().len())? as u128;
    let working = Working { threads: cpu.thread_count(), bytes: 0 };
    if let Some(free) = available_memory(working).filter(|free| need > free.bytes) {
        return Ok(Measured::without_memory(need, free.bytes, ""));
    }
    let engine = Engine::<T>::new(&problem, cpu)?;
    let mut fields = [builtin.initial::<T>(&problem.grid, 0)?, engine.zeros()?];
    let h = builtin.step();
    let single = passes(&mut fields, |n, u, next| {
        let terms = [(1.0, u)];
        engine.sweep(n as f64 * h, u, &Combination { rhs: h, own: None, terms: &terms }, next);
    });
    let mut timed = vec![named(SINGLE, 1, single)];
    if engine.most_steps() >= AT_ONCE {
        let several = passes(&mut fields, |n, u, next| {
            let times = [0, 1].map(|k| (AT_ONCE * n + k) as f64 * h);
            engine.steps(&times, h, u, next);
        });
        timed.push(named(SEVERAL, AT_ONCE, several));
    }
    Ok(Measured { timed, left_out: None })
}

/// The median of a step, from times of passes of so many.
fn named(name: &str, steps: usize, mut times: Vec<f64>) -> Timed {
    times.sort_by(f64::total_cmp);
    (name.to_owned(), times[times.len() / 2] / steps as f64, times.len() * steps)
}

/// Times of passes from one field to the other \[s\], the number of each told.
fn passes<T: Precision>(
    [u, next]: &mut [Field<T>; 2],
    pass: impl Fn(usize, &Field<T>, &mut Field<T>),
) -> Vec<f64> {
    let (mut times, begun) = (Vec::new(), Instant::now());
    while times.len() <= PASSES || begun.elapsed() < TIME {
        let start = Instant::now();
        pass(times.len(), u, next);
        times.push(start.elapsed().as_secs_f64());
        std::mem::swap(u, next);
    }
    // The first also fetches the pages.
    times.remove(0);
    times
}

/// Bandwidth of a copy by so many threads: read and written \[GB/s\].
pub(super) fn roof(threads: usize) -> f64 {
    let from = vec![1.0_f64; COPIED / 8];
    let mut to = vec![0.0_f64; COPIED / 8];
    let part = from.len().div_ceil(threads);
    let mut best = 0.0_f64;
    for _ in 0..7 {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
                scope.spawn(move || to.copy_from_slice(black_box(from)));
            }
        });
        black_box(&mut to);
        best = best.max(2.0 * COPIED as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    best
}
