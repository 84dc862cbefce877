//! One thread for each system on the host device against lanes of the CPU.

use super::super::testing::*;
use super::*;

const THREAD: Kind = Kind { width: 1, ..KIND };

impl StraightLu {
    /// Row of each unknown in the order of elimination [n].
    pub(crate) fn numbers(&self) -> Vec<usize> {
        let mut numbers = vec![0; self.pivots.len()];
        self.pivots.iter().enumerate().for_each(|(k, pivot)| numbers[pivot.unknown] = k);
        numbers
    }
}

/// Small systems: dense, without any entry of J, sparse with fill and without some of the diagonal, and as mechanisms.
fn patterns() -> Vec<Pattern> {
    let dense = [1, 2, 3, 7, 16].map(|n| Pattern::dense(n, n));
    let sparse = [(2, 1), (6, 2), (11, 2), (17, 3), (24, 3)].map(|(n, per_row)| sparse(n, per_row));
    let others = [Pattern::from_rows(3, &vec![vec![]; 3]), arrow(12), mechanism(10, 12)];
    dense.into_iter().chain(sparse).chain(others).collect()
}

#[test]
fn solutions_satisfy_their_equations() {
    for pattern in patterns() {
        check(&pattern, &THREAD, 5);
    }
}

#[test]
fn entries_of_each_kind() {
    for pattern in [sparse(11, 2), mechanism(10, 12)] {
        for [single, float, complex] in [
            [true, false, false],
            [false, true, false],
            [false, false, true],
            [true, false, true],
            [false, true, true],
        ] {
            check(&pattern, &Kind { single, float, complex, ..THREAD }, 3);
        }
    }
}

#[test]
fn pivots_tell_what_they_tell_on_the_processor() {
    check_pivots(&[THREAD]);
}

/// Each pivot in turn: one that grows, and one so small that what comes after it may outgrow the matrix.
#[test]
fn every_pivot_is_watched() {
    let pattern = sparse(11, 3).with_diagonal();
    let sound = dominant(&pattern, 1).remove(0);
    let sigma = sound.shift[0];
    // A pivot changes as its entry of the diagonal does.
    let with_pivot = |i: usize, pivot: f64| {
        let mut system = sound.clone();
        let own = pattern.find(i, i).unwrap();
        system.jacobian[own] += rows_in_order(&pattern, &THREAD, &sound)[i].pivot - pivot;
        system
    };
    let systems: Vec<System> =
        (0..11).flat_map(|i| [with_pivot(i, -2.0 * sigma), with_pivot(i, 1e-12 * sigma)]).collect();
    let Some(found) = solve(&pattern, &THREAD, &systems) else { return };
    let expected: Vec<_> = systems.iter().map(|s| in_order(&pattern, &THREAD, s)).collect();
    for (found, expected) in found.iter().zip(&expected).step_by(2) {
        assert!(found.valid && expected.0);
        assert!((found.growth - 3.0).abs() < 1e-6 && (expected.1 - 3.0).abs() < 1e-6);
    }
    let small = || found.iter().zip(&expected).skip(1).step_by(2);
    assert!(small().all(|(found, expected)| found.valid == expected.0));
    assert!(small().filter(|(found, _)| !found.valid).count() >= 6);
}

#[test]
fn every_index_is_a_number() {
    for pattern in patterns() {
        let text = StraightLu::new(&pattern, &[]).text();
        let (_, device) = text.split_once("od_rhs_place").unwrap();
        let indices = device.split('[').skip(1).map(|rest| rest.split(']').next().unwrap());
        for index in indices {
            assert!(index.parse::<u32>().is_ok(), "{index}");
        }
    }
}

/// Machine code for an H200, in which no array has an address.
#[test]
fn arrays_become_registers() {
    for (pattern, kind) in [
        (Pattern::dense(3, 3), THREAD),
        (Pattern::dense(3, 3), Kind { complex: true, ..THREAD }),
        (sparse(11, 2), THREAD),
        (sparse(11, 2), Kind { single: true, complex: true, ..THREAD }),
    ] {
        let Some(resources) = kind.resources(&pattern) else { return };
        assert_eq!(resources.stack + resources.spill_stores + resources.spill_loads, 0);
    }
}
