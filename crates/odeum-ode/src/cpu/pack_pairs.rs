//! When systems run over two packs at a time, by methods that call them through a pointer.
//!
//! A call, an index that is read, and an address that is computed from it, then serve twice the lanes, and operations that
//! do not wait for each other fill the pipelines: Rodas4 takes 0.7 of the time for Lorenz's system, of three equations. Each lane does what it does in a single pack, so results are the same to
//! the bit.

use super::Job;
use crate::method::Method;
use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes, Scalar, System};
use std::sync::OnceLock;

/// Where Linux tells the size of a core's second-level cache, as `2048K`.
const SECOND_LEVEL_CACHE: &str = "/sys/devices/system/cpu/cpu0/cache/index2/size";
/// Its size where that is not told \[bytes\].
const USUAL_CACHE: usize = 1 << 20;
/// Vectors of n numbers that a method keeps: some twenty.
const VECTORS: usize = 20;
/// Systems for each lane from which on it counts little that lanes run empty at the end.
const TURNS: usize = 8;

/// Whether a job goes over pairs.
pub(super) fn pay<T: Scalar>(isa: Isa, job: &Job<'_, T>, system: &impl System) -> bool {
    let Job::Integrate { method, plan, task } = *job else { return false };
    let matrices = plan.map_or(0, |plan| plan.nnz() + plan.symbolic().len());
    let lanes = isa.dispatch_pair::<T, _>(Width);
    lanes > isa.dispatch::<T, _>(Width)
        && same_work_in_all_lanes(method)
        && stays_near(
            lanes,
            system.workspace() + matrices + VECTORS * system.dim(),
            size_of::<T>(),
            cache(),
        )
        && lasts(lanes, task.systems, task.threads)
}

/// Whether each thread can take its systems in one pack: in a block of several most lanes would be empty.
pub(super) fn fit_in_packs<T: Scalar>(isa: Isa, job: &Job<'_, T>) -> bool {
    let Job::Integrate { task, .. } = *job else { return false };
    task.systems <= task.threads * isa.dispatch::<T, _>(Width)
}

/// Whether all lanes do the same in an attempt; elsewhere they wait for the last one, and the more there are the
/// longer.
fn same_work_in_all_lanes(method: &Method) -> bool {
    matches!(method, Method::Erk(_) | Method::Rosenbrock(_))
}

/// The second-level cache of a core \[bytes\].
fn cache() -> usize {
    static CACHE: OnceLock<usize> = OnceLock::new();
    let told = || std::fs::read_to_string(SECOND_LEVEL_CACHE).ok();
    *CACHE.get_or_init(|| told().and_then(|size| bytes(&size)).unwrap_or(USUAL_CACHE))
}

/// A size as it is told.
fn bytes(told: &str) -> Option<usize> {
    told.trim().strip_suffix('K')?.parse::<usize>().ok()?.checked_mul(1024)
}

/// Half of the cache is for others: two threads may share it. Beyond that a step was measured at up to four times the time. `numbers`: of each
/// lane; `word`: bytes of a number.
fn stays_near(lanes: usize, numbers: usize, word: usize, cache: usize) -> bool {
    lanes * numbers * word <= cache / 2
}

fn lasts(lanes: usize, systems: usize, threads: usize) -> bool {
    systems / threads >= TURNS * lanes
}

/// The lanes of a pack, or of several.
struct Width;

impl<T: Scalar> LaneWork<T> for Width {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> usize {
        L::WIDTH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_for_what_stays_near_and_lasts() {
        for method in Method::all() {
            let waits =
                matches!(method, Method::Rkc(_) | Method::Radau(_) | Method::Exponential(_));
            assert_eq!(same_work_in_all_lanes(&method), !waits, "{}", method.name());
        }
        // Hydrogen has 1000 numbers for each lane, GRI-Mech 3.0 has 7729.
        let near = |lanes, numbers, told| stays_near(lanes, numbers, 8, bytes(told).unwrap());
        assert!(near(16, 1000, "1024K\n") && !near(16, 7729, "1024K\n") && near(8, 7729, "1024K"));
        assert!(near(16, 7729, "2048K\n") && !near(16, 8193, "2048K\n"));
        assert_eq!([bytes("2M"), bytes(""), bytes("-1K")], [None; 3]);
        assert!(lasts(16, 256, 2) && !lasts(16, 255, 2) && !lasts(16, 1, 1));
    }
}
