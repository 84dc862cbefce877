//! Reactors as graphs against the same by lanes.

use crate::common::cpu::{by_cpu, gross, sizes, states};
use crate::common::{load, synthetic};
use odeum_core::graph::{Class, Node};
use odeum_core::{Graph, Pattern, System};
use odeum_kinetics::mechanism::{Rate, ThirdBody};
use odeum_kinetics::{Constraint, Energy, JacobianForm, Kinetics, Mechanism, Reactor};
use std::collections::BTreeMap;
use std::sync::Arc;

fn kinetics(mechanism: &Mechanism) -> Arc<Kinetics> {
    Arc::new(Kinetics::new(mechanism).unwrap())
}

fn at_both(mechanism: &Mechanism) -> [Reactor; 2] {
    let kinetics = kinetics(mechanism);
    [Reactor::constant_pressure(Arc::clone(&kinetics)), Reactor::constant_volume(kinetics)]
}

/// f and its Jacobian as they are computed, by the states that change in one graph with f, and the patterns.
struct Recorded {
    both: Graph,
    changing: Pattern,
    entries: Graph,
    pattern: Pattern,
}

impl Recorded {
    fn new(reactor: &Reactor) -> Recorded {
        let graph = reactor.graph();
        let (entries, pattern) = graph.jacobian();
        let changing = graph.jacobian_of_changing().1;
        Recorded { both: graph.linearised().fused(), changing, entries, pattern }
    }

    /// f, and the entries of the reactor's pattern.
    fn at(&self, reactor: &Reactor, y: &[f64], p: f64) -> (Vec<f64>, Vec<f64>) {
        let mut f = self.both.eval(0.0, y, &[p]);
        let (changing, all) = (f.split_off(y.len()), self.entries.eval(0.0, y, &[p]));
        let pattern = reactor.jacobian_pattern().unwrap();
        let value = |(row, column)| {
            let entry = self.changing.find(row, column).map(|k| changing[k]);
            entry.or_else(|| self.pattern.find(row, column).map(|k| all[k])).unwrap_or(0.0)
        };
        (f, pattern.iter().map(value).collect())
    }
}

fn compare(what: &str, reactor: &Reactor) {
    let recorded = Recorded::new(reactor);
    let pattern = reactor.jacobian_pattern().unwrap();
    let names = reactor.state_names();
    for (row, column) in recorded.pattern.iter() {
        assert!(
            pattern.contains(row, column),
            "{what}: ∂{}/∂{} is always zero on the CPU",
            names[row],
            names[column]
        );
    }
    for (y, p) in states(reactor) {
        let (f, jacobian) = by_cpu(reactor, &y, p);
        let (slopes, entries) = recorded.at(reactor, &y, p);
        let here =
            format!("{what}, {:?}, {:?}, T {}", reactor.constraint(), reactor.energy(), y[0]);
        let size = sizes(reactor, &y, &jacobian);
        for i in 0..f.len() {
            assert!(
                (slopes[i] - f[i]).abs() <= 1e-12 * size[i],
                "{here}: f of {} is {:e}, on the CPU {:e} of {:e}",
                names[i],
                slopes[i],
                f[i],
                size[i]
            );
        }
        let gross = gross(reactor, &y, &jacobian);
        for (entry, (row, column)) in pattern.iter().enumerate() {
            let (a, b) = (entries[entry], jacobian[entry]);
            assert!(
                (a - b).abs() <= 1e-9 * b.abs() + 1e-13 * gross[entry],
                "{here}: ∂{}/∂{} is {a:e}, on the CPU {b:e} of {:e}",
                names[row],
                names[column],
                gross[entry]
            );
        }
    }
}

/// Each reaction alone, so that none hides behind larger ones.
#[test]
fn every_rate_law_is_that_of_the_cpu() {
    let all = synthetic::mechanism();
    for (number, reaction) in all.reactions.iter().enumerate() {
        let mechanism = Mechanism { reactions: vec![reaction.clone()], ..all.clone() };
        for reactor in at_both(&mechanism) {
            compare(&format!("{} ({number})", reaction.equation), &reactor);
        }
    }
}

#[test]
fn all_kinds_of_reactors_are_those_of_the_cpu() {
    let kinetics = kinetics(&synthetic::mechanism());
    for constraint in [Constraint::ConstantPressure, Constraint::ConstantVolume] {
        for energy in [Energy::Adiabatic, Energy::Isothermal] {
            let form = JacobianForm::Exact;
            compare("all laws", &Reactor::new(Arc::clone(&kinetics), constraint, energy, form));
        }
    }
}

/// Rates whose laws of mass action are in lists, with colliders: the synthetic mechanism has none.
#[test]
fn colliders_of_any_reaction_count() {
    let all = synthetic::mechanism();
    let third_body = ThirdBody { default_efficiency: 1.0, efficiencies: vec![(5, 6.0)] };
    for reaction in all.reactions.iter().filter(|r| matches!(r.rate, Rate::Arrhenius(_))) {
        let mut reaction = reaction.clone();
        reaction.third_body = Some(third_body.clone());
        let mechanism = Mechanism { reactions: vec![reaction.clone()], ..all.clone() };
        for reactor in at_both(&mechanism) {
            compare(&format!("{} with colliders", reaction.equation), &reactor);
        }
    }
}

/// Where reactions conserve elements nearly, as much as is let through, heat is still that of the enthalpies.
#[test]
fn reactions_that_conserve_elements_nearly_release_their_heat() {
    let mut mechanism = synthetic::mechanism();
    mechanism.reactions.retain(|r| r.equation == "H2O2 => H2O + 0.5 O2");
    mechanism.reactions[0].products[1].1 = 0.49998;
    for reactor in at_both(&mechanism) {
        compare("nearly balanced", &reactor);
    }
}

/// Operations by class, and all with the cost of their class.
fn count(graph: &Graph) -> (BTreeMap<&'static str, usize>, u64) {
    let mut classes = BTreeMap::new();
    let mut cost = 0;
    for node in graph.nodes() {
        let Node::Op(op, _) = node else { continue };
        let class = op.info().class;
        *classes.entry(name(class)).or_default() += 1;
        *classes.entry(op.info().name).or_default() += 1;
        cost += class.cost();
    }
    (classes, cost)
}

fn name(class: Class) -> &'static str {
    match class {
        Class::Arithmetic => "arithmetic",
        Class::Root => "roots",
        Class::Function => "functions",
        Class::Condition => "conditions",
    }
}

#[test]
fn published_mechanisms_are_those_of_the_cpu() {
    for name in ["burke-h2-2012", "grimech30"] {
        let Some(mechanism) = load(name) else { continue };
        for reactor in at_both(&mechanism) {
            compare(name, &reactor);
            let graph = reactor.graph();
            for (what, graph) in [("f", graph.fused()), ("f and J", graph.linearised().fused())] {
                let (classes, cost) = count(&graph);
                println!("{name}, {:?}, {what}: cost {cost}, {classes:?}", reactor.constraint());
            }
        }
    }
}

/// What hydrogen takes. Additions to this are instructions of every step on a GPU.
#[test]
fn hydrogen_is_lean() {
    let Some(mechanism) = load("burke-h2-2012") else { return };
    for reactor in at_both(&mechanism) {
        let graph = reactor.graph();
        let operations = |graph: &Graph| {
            let (classes, _) = count(&graph.fused());
            ["arithmetic", "conditions", "roots", "functions"].map(|class| classes[class])
        };
        let [arithmetic, conditions, roots, functions] = operations(&graph);
        assert!(arithmetic <= 540 && conditions <= 3 && roots <= 17, "{:?}", operations(&graph));
        // Exponentials of eight species that react, of 22 rate constants and two each of two falloff reactions;
        // logarithms of T and of the colliders of these.
        assert_eq!(functions, 8 + 22 + 4 + 3);
        let [more, _, roots, functions] = operations(&graph.linearised());
        assert!(more <= 1900 && roots <= 21, "{:?}", operations(&graph.linearised()));
        assert_eq!(functions, 37, "derivatives take no functions of their own");
        assert_eq!(graph.jacobian().1, *reactor.jacobian_pattern().unwrap());
    }
}

#[test]
fn what_nothing_changes_costs_nothing() {
    let mechanism = Mechanism { reactions: Vec::new(), ..synthetic::mechanism() };
    for reactor in at_both(&mechanism) {
        let graph = reactor.graph();
        assert_eq!(
            graph.eval(0.0, &vec![f64::NAN; reactor.dim()], &[1e5]),
            vec![0.0; reactor.dim()]
        );
        assert_eq!(graph.fused().counts().nodes, 1);
        assert_eq!(graph.jacobian().1.nnz(), 0);
    }
}

/// Reactions that have the same reactants and products are one but for their rate constants.
#[test]
fn duplicates_are_one() {
    let all = synthetic::mechanism();
    let once = Mechanism { reactions: vec![all.reactions[2].clone()], ..all.clone() };
    let mut twice = once.clone();
    twice.reactions.push(once.reactions[0].clone());
    if let Rate::Arrhenius(k) = &mut twice.reactions[1].rate {
        k.ta = 500.0;
    }
    let [once, twice] = [once, twice].map(|mechanism| {
        let graph = Reactor::constant_volume(kinetics(&mechanism)).graph().fused();
        (graph.counts().functions, graph.nodes().iter().filter(|node| !node.is_leaf()).count())
    });
    // Two for the exponent, one for the sum of the constants, and the exponential.
    assert_eq!((twice.0 - once.0, twice.1 - once.1), (1, 4));
}

/// Where a state is none, the slope of the temperature is no number, whatever became of other slopes.
#[test]
fn states_that_are_none_show() {
    for reactor in at_both(&synthetic::mechanism()) {
        let recorded = Recorded::new(&reactor);
        let good = states(&reactor).swap_remove(5);
        let n = reactor.dim();
        let with = |i: usize, value: f64| {
            let mut y = good.0.clone();
            y[i] = value;
            (y, good.1)
        };
        let bad = [
            with(0, f64::NAN),
            with(0, -300.0),
            with(0, f64::INFINITY),
            with(3, f64::NAN),
            with(2, f64::INFINITY),
            with(n - 1, f64::NAN),
            with(n - 1, 0.0),
            (good.0.clone(), f64::NAN),
        ];
        for (y, p) in bad {
            let (slopes, _) = recorded.at(&reactor, &y, p);
            let (f, _) = by_cpu(&reactor, &y, p);
            let shows = f.iter().all(|f| f.is_finite()) || !slopes[0].is_finite();
            assert!(shows, "{slopes:?}, on the CPU {f:?}: {y:?} {p}");
        }
    }
}

/// At states with nothing of most species, of tiny amounts and slightly negative ones, and far from the data,
/// what is a number on the CPU is one here.
#[test]
fn numbers_stay_numbers() {
    for reactor in at_both(&synthetic::mechanism()) {
        let recorded = Recorded::new(&reactor);
        let n = reactor.dim();
        for small in [0.0, 1e-320, 1e-308, 1e-301, 1e-299, 1e-296, 1e-290, 1e-200, 1e-30, -1e-320] {
            for t in [20.0, 250.0, 1100.0, 1e5] {
                for most in [0, 2, 8] {
                    let mut fractions = vec![0.0; n - 2];
                    fractions[most] = 1.0;
                    let (mut y, p) = reactor.state(1100.0, 1e5, &fractions).unwrap();
                    y[0] = t;
                    for k in (0..n - 2).filter(|k| *k != most) {
                        y[1 + k] = small;
                    }
                    let (slopes, entries) = recorded.at(&reactor, &y, p[0]);
                    let (f, jacobian) = by_cpu(&reactor, &y, p[0]);
                    let pairs = f.iter().zip(&slopes).chain(jacobian.iter().zip(&entries));
                    for (number, (cpu, graph)) in pairs.enumerate() {
                        assert!(
                            !cpu.is_finite() || graph.is_finite(),
                            "{number}: {graph:e}, on the CPU {cpu:e}: {y:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn graphs_have_the_names_of_the_reactor() {
    let [reactor, _] = at_both(&synthetic::mechanism());
    let graph = reactor.graph();
    assert_eq!(graph.state_names(), reactor.state_names());
    assert_eq!(graph.param_names(), reactor.param_names());
    assert!(!graph.uses_time());
}
