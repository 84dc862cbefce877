//! The built-in problems: their data and their references.

use odeum_core::{Graph, Tape};
use odeum_ode::problems::{self, Problem, WithSystem};
use odeum_ode::{DynSystem, Method, System};
use serde_json::Value;

const COMPUTED: &str = include_str!("../../../../validation/references.json");

fn computed() -> Value {
    serde_json::from_str(COMPUTED).unwrap()
}

/// The doubles of a JSON array; numbers of more than 17 digits stand there as text.
fn numbers(list: &Value) -> Vec<f64> {
    let number = |v: &Value| v.as_f64().unwrap_or_else(|| v.as_str().unwrap().parse().unwrap());
    list.as_array().unwrap().iter().map(number).collect()
}

struct Slope<'a>(&'a Problem);

impl WithSystem for Slope<'_> {
    type Output = Vec<f64>;
    fn run<S: System>(self, system: &S) -> Vec<f64> {
        let mut dydt = vec![f64::NAN; system.dim()];
        system.rhs(0.0, &self.0.y0, &self.0.params, &mut dydt);
        dydt
    }
}

struct Trace;

impl WithSystem for Trace {
    type Output = Tape;
    fn run<S: System>(self, system: &S) -> Tape {
        Tape::new(Graph::trace(system)).unwrap()
    }
}

#[test]
fn data_and_references_are_the_computed_ones() {
    let computed = computed();
    assert_eq!(computed.as_object().unwrap().len(), problems::all().len());
    for problem in problems::all() {
        let name = problem.name;
        let entry = &computed[name];
        assert_eq!(numbers(&entry["params"]), problem.params, "{name}");
        for (i, (ours, theirs)) in problem.y0.iter().zip(numbers(&entry["y0"])).enumerate() {
            // The sines of the Brusselator may differ in the last place.
            assert!((ours - theirs).abs() <= 5e-16 * theirs.abs(), "{name}[{i}]: {ours}, {theirs}");
        }
        let references = entry["references"].as_array().unwrap();
        assert_eq!(references.len(), problem.references.len(), "{name}");
        for (theirs, ours) in references.iter().zip(problem.references) {
            assert_eq!(theirs["t"].as_f64().unwrap(), ours.t, "{name}");
            assert_eq!(theirs["digits"].as_u64().unwrap(), u64::from(ours.digits), "{name}");
            assert_eq!(numbers(&theirs["y"]), ours.y, "{name} at {}", ours.t);
        }
    }
}

#[test]
fn problems_are_complete() {
    let all = problems::all();
    for problem in &all {
        let name = problem.name;
        assert_eq!(all.iter().filter(|p| p.name == name).count(), 1, "{name} twice");
        assert_eq!(problems::find(name).as_ref(), Some(problem));
        assert_eq!(problem.state_names().len(), problem.dim(), "{name}");
        assert_eq!(problem.param_names().len(), problem.params.len(), "{name}");
        assert!(Method::from_name(problem.method).is_some(), "{name}");
        assert!(problem.references.windows(2).all(|pair| pair[0].t < pair[1].t), "{name}");
        let end = problem.reference().expect("a reference at the end of the span");
        assert_eq!(end.y.len(), problem.dim(), "{name}");
        assert!(end.digits >= 12, "{name}: {} digits", end.digits);
        assert_eq!(problem.ensemble::<f32>(3).unwrap().len(), 3);
    }
    assert!(problems::find("no such problem").is_none());
}

#[test]
fn traced_problems_have_the_same_slopes() {
    for problem in problems::all() {
        let tape = problem.with_system(Trace);
        let mut dydt = vec![f64::NAN; tape.dim()];
        let mut work = vec![f64::NAN; tape.workspace()];
        tape.rhs_in(0.0, &problem.y0, &problem.params, &mut dydt, &mut work);
        for (a, b) in dydt.iter().zip(problem.with_system(Slope(&problem))) {
            assert!((a - b).abs() <= 1e-14 * b.abs().max(1.0), "{}: {a} {b}", problem.name);
        }
    }
}

#[test]
fn few_problems_are_compiled_into_programs() {
    let is_compiled = |p: &Problem| !DynSystem::from(p).is_interpreted();
    let mut compiled: Vec<_> =
        problems::all().into_iter().filter(is_compiled).map(|p| p.name).collect();
    compiled.sort_unstable();
    let expected = ["brusselator_1d", "lorenz", "pleiades", "van_der_pol", "van_der_pol_stiff"];
    assert_eq!(compiled, expected);
}

#[test]
fn sizes_can_be_chosen_where_there_are_sizes() {
    let large = problems::find("brusselator_1d").unwrap().resized(500).unwrap();
    assert_eq!((large.dim(), large.size()), (1000, Some(500)));
    assert!(large.references.is_empty() && large.state_names()[999] == "v500");
    let ring = problems::find("van_der_pol_ring").unwrap();
    assert_eq!(ring.resized(8).unwrap(), ring);
    assert!(ring.resized(2).is_err() && problems::find("lorenz").unwrap().resized(4).is_err());
}

/// Bounds the largest eigenvalue of the difference quotients by power iteration.
#[test]
fn spectral_radius_of_the_diffusive_brusselator_is_bounded() {
    let problem = problems::find("brusselator_1d").unwrap();
    let tape = problem.with_system(Trace);
    for y in [&problem.y0[..], problem.reference().unwrap().y] {
        let slope = |y: &[f64]| {
            let mut dydt = vec![0.0; y.len()];
            tape.rhs(0.0, y, &problem.params, &mut dydt);
            dydt
        };
        let base = slope(y);
        let mut v: Vec<f64> = (0..y.len()).map(|i| 1.0 + (i as f64 * 7.3).sin()).collect();
        let mut radius = 0.0;
        for _ in 0..300 {
            let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let moved: Vec<f64> = y.iter().zip(&v).map(|(y, v)| y + 1e-7 * v / size).collect();
            v = slope(&moved).iter().zip(&base).map(|(a, b)| (a - b) / 1e-7).collect();
            radius = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        }
        let bound = tape.spectral_radius(0.0, y, &problem.params).unwrap();
        assert!(radius <= bound && bound < 1.5 * radius, "{radius} against {bound}");
    }
}
