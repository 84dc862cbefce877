//! How many of the GPUs that the user allows are worth opening.
//!
//! A second GPU takes the driver a quarter of a second to open, in which one integrates millions of systems.
//! The CPU integrates some of the systems first, which says how long they take at most.

use odeum_case::Plan;
use odeum_ode::cpu::Cpu;
use odeum_ode::{Compiled, Device, Monitor, Solver};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Systems that are integrated to see what one costs, after as many again have shown what does not depend on
/// their number.
const SAMPLE: usize = 256;

/// The longest that this may take.
const PATIENCE: Duration = Duration::from_millis(40);

/// Threads of a CPU that a GPU is as fast as: 300 of them in double precision where it has many units
/// for that, 25 where it has few.
const THREADS: f64 = 100.0;

/// Work of one GPU, by these threads, from which on it is worth to open others.
const WORTH: Duration = Duration::from_millis(1200);

/// Whether the first of several GPUs is as fast as all of them.
pub(super) fn first_will_do<T: Compiled>(plan: &Plan<'_>) -> bool {
    let several = matches!(&plan.device, Device::Cuda(cuda) if cuda.ordinals.len() > 1);
    several && on_a_thread::<T>(plan).is_some_and(|time| time.div_f64(THREADS) < WORTH)
}

/// How long one thread would take for the whole ensemble; `None` where that is too long to be found out.
fn on_a_thread<T: Compiled>(plan: &Plan<'_>) -> Option<Duration> {
    let all = plan.members.len();
    if all < 2 * SAMPLE {
        // So few are one batch of one GPU.
        return Some(Duration::ZERO);
    }
    let begun = Instant::now();
    let mut times = [Duration::ZERO; 2];
    for (time, count) in times.iter_mut().zip([SAMPLE, 2 * SAMPLE]) {
        let systems: Vec<usize> = (0..count).map(|k| k * (all / count)).collect();
        let ensemble = plan.members.ensemble::<T>(&systems, 1).ok()?;
        let options = plan.options_of(&systems);
        let one = Device::Cpu(Cpu { threads: Some(1), ..Cpu::default() });
        let (monitor, started) = (Monitor::new(), Instant::now());
        let left = PATIENCE.checked_sub(begun.elapsed())?;
        let case = plan.case;
        let ended = at_most(left, &monitor, || {
            Solver::new(&case.model.rhs, &case.method.method, &one, &options)?
                .solve_monitored(&ensemble, &monitor)
        });
        ended.ok().filter(|_| !monitor.is_stopped())?;
        *time = started.elapsed();
    }
    let each = times[1].saturating_sub(times[0]).div_f64(SAMPLE as f64);
    Some(each.mul_f64(all as f64))
}

/// Does some work, which the monitor stops after a time.
fn at_most<R>(time: Duration, monitor: &Monitor, work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let begun = Instant::now();
            while !done.load(Ordering::Relaxed) {
                let Some(left) = time.checked_sub(begun.elapsed()) else {
                    monitor.stop();
                    break;
                };
                std::thread::park_timeout(left);
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}
