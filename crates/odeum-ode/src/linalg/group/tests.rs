//! Groups of threads on the host device against lanes of the CPU.

use super::super::testing::*;
use super::*;

impl GroupLu {
    /// Row of each unknown in the order of elimination [n].
    pub(crate) fn numbers(&self) -> Vec<usize> {
        self.factors.number.iter().map(|&number| number as usize).collect()
    }
}

#[test]
fn solutions_satisfy_their_equations() {
    let patterns = [1, 2, 5, 20, 32]
        .map(|n| Pattern::dense(n, n))
        .into_iter()
        .chain([sparse(5, 2), sparse(33, 3)]);
    for pattern in patterns.chain([sparse(64, 4), sparse(130, 3), arrow(33), arrow(64), arrow(130)])
    {
        check(&pattern, &KIND, 5);
    }
    check(&mechanism(53, 325), &KIND, 5);
}

#[test]
fn entries_of_each_kind() {
    let pattern = mechanism(53, 325);
    for [single, float, complex, global] in [
        [true, false, false, false],
        [false, true, false, false],
        [false, false, true, false],
        [true, false, true, true],
        [false, true, true, false],
        [false, false, false, true],
    ] {
        check(&pattern, &Kind { single, float, complex, global, ..KIND }, 3);
    }
}

#[test]
fn groups_of_a_block() {
    for width in [64, 128, 256] {
        for pattern in
            [Pattern::dense(5, 5), Pattern::dense(50, 50), sparse(130, 4), mechanism(110, 700)]
        {
            check(&pattern, &Kind { width, ..KIND }, 2);
            check(&pattern, &Kind { width, single: true, complex: true, ..KIND }, 2);
        }
    }
}

/// Several rows for each thread; more of them than registers can hold; more entries than 16 bits can count.
#[test]
fn large_tails() {
    for n in [33, 40, 45, 70] {
        check(&Pattern::dense(n, n), &KIND, 2);
        check(&Pattern::dense(n, n), &Kind { float: true, ..KIND }, 2);
    }
    let row =
        |i: usize| if i < 140 { vec![i, (7 * i) % 140, 150 + i] } else { (130..400).collect() };
    let wide = Pattern::from_rows(400, &(0..400).map(row).collect::<Vec<_>>());
    let kind = Kind { width: 256, global: true, ..KIND };
    let lu = GroupLu::new(&wide, kind.width, kind.entry());
    assert!(lu.tables().defines().contains("#define OD_LU_WIDE 1u") && lu.factors.head() > 50);
    check(&wide, &kind, 1);
}

#[test]
fn pivots_tell_what_they_tell_on_the_processor() {
    check_pivots(&[KIND, Kind { width: 64, ..KIND }, Kind { global: true, ..KIND }]);
}

/// A pivot of the head that grows, one that is missing, and a row that outgrows the matrix.
#[test]
fn pivots_of_the_head_are_watched() {
    let pattern = mechanism(53, 325).with_diagonal();
    let lu = GroupLu::new(&pattern, 32, 8);
    let first = (0..55).find(|&i| lu.factors.number[i] == 0).unwrap();
    let own = pattern.find(first, first).unwrap();
    let mut systems = dominant(&pattern, 4);
    let sigma = systems[0].shift[0];
    systems[1].jacobian[own] = 3.0 * sigma;
    systems[2].jacobian[own] = sigma;
    systems[3].jacobian[own] = sigma * (1.0 - 1e-12);
    let Some(found) = solve(&pattern, &KIND, &systems) else { return };
    assert!(found[0].valid && found[0].growth < 1.0);
    assert!(found[1].valid && (found[1].growth - 3.0).abs() < 1e-6);
    assert!(!found[2].valid && !found[3].valid);
    for (system, found) in systems.iter().zip(found).filter(|(_, found)| found.valid) {
        let (valid, growth) = in_order(&pattern, &KIND, system);
        assert!(valid && (found.growth - growth).abs() < 1e-6 * growth.abs());
    }
}

#[test]
fn an_arrow_has_one_level() {
    let factors = Factors::new(&arrow(130), 32, 8);
    assert_eq!(factors.levels.len(), 1);
    assert_eq!(factors.len as usize - factors.tail.len(32, 8), {
        let own = factors.head() + 2 * factors.head() + 3;
        own.next_multiple_of(4)
    });
    assert!(factors.tail.size <= 4, "{}", factors.tail.size);
}

/// Entries whose squares are no numbers of single precision.
#[test]
fn large_complex_pivots_have_reciprocals() {
    let pattern = mechanism(53, 325);
    let mut systems = dominant(&pattern, 2);
    for system in &mut systems {
        system.jacobian.iter_mut().for_each(|entry| *entry *= 1e24);
        system.shift = system.shift.map(|part| part * 1e24);
    }
    for single in [false, true] {
        let kind = Kind { single, complex: true, ..KIND };
        let Some(found) = solve(&pattern, &kind, &systems) else { return };
        assert!(found.iter().all(|found| found.valid), "{kind:?}");
        for (system, found) in systems.iter().zip(&found) {
            let residual = residual(&pattern, system, true, &found.x);
            assert!(residual < if single { 1e-5 } else { 1e-13 }, "{kind:?}: {residual:e}");
        }
    }
}

/// GRI-Mech 3.0, in three levels before a tail of about a warp.
#[test]
fn a_published_mechanism_has_few_levels() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/mechanisms/grimech30/grimech30.yaml");
    let Ok(text) = std::fs::read_to_string(path) else {
        assert!(std::env::var_os("ODEUM_NEED_DATA").is_none(), "{path} is not there");
        eprintln!("SKIPPED: {path} is not there");
        return;
    };
    let mechanism = odeum_kinetics::read::yaml(path, &text, None).unwrap().mechanism;
    let kinetics = std::sync::Arc::new(odeum_kinetics::Kinetics::new(&mechanism).unwrap());
    let reactor = odeum_kinetics::Reactor::constant_pressure(kinetics);
    let pattern = odeum_core::System::jacobian_pattern(&reactor).unwrap();
    for width in [32, 64, 128] {
        let lu = GroupLu::new(pattern, width, 8);
        let Factors { levels, tail, lower, upper, .. } = &lu.factors;
        let updates = Updates::new(&lu.factors, width, 8);
        let sizes: Vec<usize> = levels.iter().map(|level| level.len()).collect();
        let entries = lu.factors.head() + lower.iter().chain(upper).map(Vec::len).sum::<usize>();
        println!(
            "{width} threads: levels {sizes:?}, tail {}, head {entries} entries, {} products, {} steps, {} solve rounds, \
             tables {} bytes, matrix {}, x {}",
            tail.size,
            updates.products,
            updates.terms.len() / rounds::SIDES / width,
            Solves::new(&lu.factors, width, 8).lengths.len(),
            lu.tables().bytes().len(),
            lu.places().len,
            lu.x_entries(),
        );
        assert!(levels.len() <= 4 && (24..=40).contains(&tail.size) || width > 32);
        assert!(updates.products < 7000 && entries < 900);
        check(pattern, &Kind { width, ..KIND }, 2);
        check(pattern, &Kind { width, single: true, ..KIND }, 2);
    }
}

/// What a thread writes in a round of a solution no other thread reads there, not even times zero.
#[test]
fn no_thread_reads_what_another_writes_in_its_round() {
    for width in [32, 128] {
        let lu = GroupLu::new(&mechanism(53, 325), width, 8);
        let solves = Solves::new(&lu.factors, width, 8);
        let (mut step, mut read) = (0, 0);
        for (length, targets) in solves.lengths.iter().zip(solves.targets.chunks(width)) {
            for _ in 0..length / 2 {
                let terms = &solves.terms[step * width * rounds::SIDES..][..width * rounds::SIDES];
                for (k, [_, place]) in terms.iter().enumerate() {
                    let others =
                        targets.iter().enumerate().filter(|(t, _)| *t != k / rounds::SIDES);
                    let is_written =
                        |[target, _]: &Term| *target != lu.factors.x_unused() && target == place;
                    assert!(!others.map(|(_, target)| target).any(is_written));
                    read += 1;
                }
                step += 1;
            }
        }
        assert!(read == solves.terms.len() && read > 0);
    }
}

/// Machine code for an H200, with rows of the tail in registers and not beside them.
#[test]
fn kernels_compile_and_do_not_spill() {
    let pattern = mechanism(53, 325);
    for (single, complex, width) in
        [(true, false, 32), (false, false, 32), (true, true, 32), (false, false, 128)]
    {
        let kind = Kind { single, complex, width, ..KIND };
        let Some(resources) = kind.resources(&pattern) else { return };
        assert_eq!(resources.spill_stores + resources.spill_loads, 0, "{kind:?}");
    }
}
