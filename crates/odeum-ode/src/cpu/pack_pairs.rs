//! When a system that goes through tables runs over two packs at a time.
//!
//! An index that is read, and an address that is computed from it, then serves twice the lanes, and operations that
//! do not wait for each other fill the pipelines. Each lane does what it does in a single pack, so results are the same to
//! the bit.

use super::Job;
use crate::method::Method;
use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes, Scalar, System};

/// Memory that stays near \[bytes\]: half of a second-level cache of 1 MiB, which two threads may share. Beyond it a
/// step was measured at up to four times the time.
const NEAR: usize = 512 << 10;
/// Vectors of n numbers that a method keeps: some twenty.
const VECTORS: usize = 20;
/// Systems for each lane from which on it counts little that lanes run empty at the end.
const TURNS: usize = 8;

/// Whether a job goes over pairs.
pub(super) fn pay<T: Scalar>(isa: Isa, job: &Job<'_, T>, system: &impl System) -> bool {
    let Job::Integrate { method, plan, task } = *job else { return false };
    let matrices = plan.map_or(0, |plan| plan.nnz() + plan.symbolic().len());
    let lanes = isa.dispatch_pair::<T, _>(Width);
    same_work_in_all_lanes(method)
        && stays_near(lanes, system.workspace() + matrices + VECTORS * system.dim(), size_of::<T>())
        && lasts(lanes, task.systems, task.threads)
}

/// Whether all lanes do the same in an attempt; elsewhere they wait for the last one, and the more there are the
/// longer.
fn same_work_in_all_lanes(method: &Method) -> bool {
    matches!(method, Method::Erk(_) | Method::Rosenbrock(_))
}

/// `numbers`: of each lane; `word`: bytes of a number.
fn stays_near(lanes: usize, numbers: usize, word: usize) -> bool {
    lanes * numbers * word <= NEAR
}

fn lasts(lanes: usize, systems: usize, threads: usize) -> bool {
    systems / threads >= TURNS * lanes
}

/// The lanes of a pair.
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
        assert!(stays_near(16, 1000, 8) && !stays_near(16, 7729, 8) && stays_near(8, 7729, 8));
        assert!(lasts(16, 256, 2) && !lasts(16, 255, 2) && !lasts(16, 1, 1));
    }
}
