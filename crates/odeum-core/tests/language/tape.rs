//! A tape computes what the system it was traced from computes, bit for bit over f64.

use crate::systems::{Everything, Pleiades, same};
use odeum_core::lanes::LaneWork;
use odeum_core::{Graph, Isa, Lanes, Program, Real, System, Tape};

fn compare(system: &impl System, tape: &Tape, t: f64, y: &[f64], p: &[f64]) {
    let (mut direct, mut taped) = (vec![0.0; y.len()], vec![0.0; y.len()]);
    let mut work = vec![f64::NAN; tape.workspace()];
    system.rhs(t, y, p, &mut direct);
    tape.rhs_in(t, y, p, &mut taped, &mut work);
    let interpreted = tape.graph().eval(t, y, p);
    for i in 0..y.len() {
        assert!(same(direct[i], taped[i]), "{i}: {} {} at {y:?}", direct[i], taped[i]);
        assert!(same(direct[i], interpreted[i]), "{i} at {y:?}");
    }
    tape.rhs(t, y, p, &mut taped);
    assert!(direct.iter().zip(&taped).all(|(a, b)| same(*a, *b)));
    match (system.spectral_radius(t, y, p), tape.spectral_radius(t, y, p)) {
        (Some(a), Some(b)) => assert!(same(a, b)),
        (None, None) => {}
        _ => panic!("the spectral radius got lost"),
    }
}

#[test]
fn pleiades_is_the_same_on_tape() {
    let tape = Tape::trace(&Pleiades);
    compare(&Pleiades, &tape, 0.0, &Pleiades::START, &[]);
    assert_eq!(tape.graph().output_is_state(3), Some(17));
    assert!(tape.graph().output_is_state(14).is_none());
    // Per pair: 2 differences, 1 + 1 for r², 1 root, 1 for r³, 2 masses, 4 accumulations.
    assert!(tape.program().len() <= 21 * 12, "{} instructions", tape.program().len());
    assert!(tape.workspace() <= 40, "{} values of workspace", tape.workspace());
}

#[test]
fn every_operation_is_the_same_on_tape() {
    let tape = Tape::trace(&Everything);
    for (t, y, p) in Everything::points() {
        compare(&Everything, &tape, t, &y, &p);
    }
}

#[test]
fn a_tape_can_be_traced_again() {
    let first = Tape::trace(&Everything);
    let second = Tape::trace(&first);
    for (t, y, p) in Everything::points() {
        compare(&first, &second, t, &y, &p);
    }
}

#[test]
fn single_precision_runs_the_same_tape() {
    let tape = Tape::trace(&Pleiades);
    let y = Pleiades::START.map(|x| x as f32);
    let (mut direct, mut taped) = ([0.0_f32; 28], [0.0_f32; 28]);
    Pleiades.rhs(0.0, &y, &[], &mut direct);
    tape.rhs(0.0, &y, &[], &mut taped);
    assert_eq!(direct, taped);
}

/// The tape over a pack, a different point in every lane, against one point at a time.
struct EveryLane<'a>(&'a Tape);

impl LaneWork<f64> for EveryLane<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) {
        let points = Everything::points();
        let at = |lane: usize| &points[lane % points.len()];
        let pack = |value: &dyn Fn(usize) -> f64| {
            let mut pack = L::splat(0.0);
            (0..L::WIDTH).for_each(|lane| pack.set_lane(lane, value(lane)));
            pack
        };
        let t = pack(&|lane| at(lane).0);
        let y: Vec<L> = (0..6).map(|i| pack(&|lane| at(lane).1[i])).collect();
        let p: Vec<L> = (0..3).map(|j| pack(&|lane| at(lane).2[j])).collect();
        let mut dydt = vec![L::splat(0.0); 6];
        let mut work = vec![L::splat(f64::NAN); self.0.workspace()];
        self.0.rhs_in(t, &y, &p, &mut dydt, &mut work);
        for lane in 0..L::WIDTH {
            let (t, y, p) = at(lane);
            for (i, expected) in self.0.graph().eval(*t, y, p).into_iter().enumerate() {
                let found = dydt[i].lane(lane);
                let close = (found - expected).abs() <= 1e-13 * expected.abs().max(1.0);
                assert!(close || same(found, expected), "{i}: {found} {expected} at {y:?}");
            }
        }
    }
}

#[test]
fn every_lane_computes_its_own_point() {
    let tape = Tape::trace(&Everything);
    for isa in [Isa::Avx512, Isa::Avx2, Isa::Scalar].into_iter().filter(|isa| isa.is_available()) {
        isa.dispatch(EveryLane(&tape));
        isa.dispatch_wide(EveryLane(&tape));
    }
}

#[test]
fn outputs_may_be_inputs_constants_and_repeated() {
    let graph = Graph::record(2, 1, |t, y, p| {
        let sum = y[0] + y[1];
        vec![sum, y[1], p[0], t, sum, Real::lit(2.5), y[1], sum * sum]
    });
    let program = Program::new(&graph);
    let mut out = [0.0; 8];
    program.run_alone(7.0, &[1.0, 2.0], &[4.0], &mut out);
    assert_eq!(out, [3.0, 2.0, 4.0, 7.0, 3.0, 2.5, 2.0, 9.0]);
    assert_eq!(program.n_outputs(), 8);
}

#[test]
fn jacobian_programs_match_their_graphs() {
    let (entries, _) = Graph::trace(&Everything).jacobian();
    let program = Program::new(&entries);
    for (t, y, p) in Everything::points() {
        let mut out = vec![0.0; program.n_outputs()];
        program.run_alone(t, &y, &p, &mut out);
        for (a, b) in out.iter().zip(entries.eval(t, &y, &p)) {
            assert!(same(*a, b));
        }
    }
}

#[test]
fn a_sum_of_a_hundred_thousand_terms_needs_few_slots() {
    let graph = Graph::record(3, 0, |t, y, _| {
        let mut term = y[0];
        let sum = (0..100_000).fold(t, |sum, k| {
            term = term * y[k % 3];
            sum - term
        });
        vec![sum, y[1], y[2]]
    });
    let tape = Tape::new(graph).expect("three derivatives of three states");
    assert!(tape.workspace() <= 10);
    let mut dydt = [0.0; 3];
    tape.rhs(0.0, &[1.0, 1.0, 1.0], &[], &mut dydt);
    assert_eq!(dydt, [-1e5, 1.0, 1.0]);
    assert_eq!(tape.graph().jacobian().1.nnz(), 5);
}

#[test]
fn a_graph_that_is_no_system_is_refused() {
    let refused = Tape::new(Graph::record(2, 0, |_, y, _| vec![y[0]]));
    let message = refused.map(|_| ()).expect_err("one output for two states").to_string();
    assert!(message.contains("1 for 2"), "{message}");
}
