//! Models written in Rust are those written as text.

use crate::common::advanced;
use odeum_fields::{Field, Grid, Local, Model, ModelText, Options, Problem, noise};
use odeum_ode::Real;

/// Two equations with parameters, both Laplacians and potentials, and what follows in each.
fn text_with(more: [&str; 2]) -> Model {
    let a = format!("D * lap(a) - k * a * c {}", more[0]);
    let c = format!("k * a * c - lap(c^3 - c - D * lap(c)) + lap(a * c) {}", more[1]);
    let text = ModelText {
        species: vec!["a", "c"],
        params: vec![("D", 0.3), ("k", 0.2)],
        equations: vec![("a", &a), ("c", &c)],
        ..ModelText::default()
    };
    text.read().unwrap().0
}

/// Offsets and the time too.
fn text() -> Model {
    text_with(["+ t * y", "- z"])
}

fn recorded() -> Model {
    Model::record_with_potentials(
        &["a", "c"],
        &[("D", 0.3), ("k", 0.2)],
        |cell| {
            let (d, [a, c]) = (cell.p[0], [cell.u[0], cell.u[1]]);
            vec![c.powi(3) - c - d * cell.lap[1], a * c]
        },
        |cell| {
            let ([d, k], [a, c]) = ([cell.p[0], cell.p[1]], [cell.u[0], cell.u[1]]);
            let met = k * a * c;
            let [_, y, z] = cell.at;
            vec![
                d * cell.lap[0] - met + cell.t * y,
                met - cell.lap_potentials[0] + cell.lap_potentials[1] - z,
            ]
        },
    )
    .unwrap()
}

/// The same with what depends on time and place added afterwards.
fn with_sources() -> Model {
    let model = text_with([""; 2]).with_source(0, |cell| cell.t * cell.at[1]).unwrap();
    model.with_source(1, |cell| -cell.at[2]).unwrap()
}

#[test]
fn rust_and_text_have_the_same_bits() {
    let grid = Grid::new([19, 7, 6], 0.9).unwrap();
    let ends = [text(), recorded(), with_sources()].map(|model| {
        let mut cell = 0;
        let start = Field::<f64>::from_fn(&grid, 2, |s, _| {
            cell += 1;
            0.4 + 0.3 * noise(2, s, cell)
        });
        let problem = Problem::new(model, grid);
        advanced(&problem, start.unwrap(), &Options::euler(0.01), 0.2)
    });
    assert!(ends[0] == ends[1] && ends[0] == ends[2]);
}

#[test]
fn the_number_of_equations_is_that_of_the_species() {
    let few = Model::record(&["a", "c"], &[], |cell| vec![cell.lap[0]]);
    assert!(few.unwrap_err().to_string().contains("2 outputs"));
    let third = text().with_source(2, |cell| cell.t);
    assert!(third.unwrap_err().to_string().contains("the model has 2 species"));
    let non_finite = Model::record(&["a"], &[("k", f64::NAN)], |cell| vec![cell.p[0]]);
    assert!(non_finite.unwrap_err().to_string().contains("must be finite"));
}

#[test]
fn names_are_given_once() {
    let model = |species: &[&str], params: &[(&str, f64)]| {
        let model = Model::record(species, params, |cell| cell.lap.to_vec());
        model.unwrap_err().to_string()
    };
    for (said, name) in [
        (model(&["a", "a"], &[("k", 1.0)]), "species"),
        (model(&["a", "b"], &[("k", 1.0), ("k", 2.0)]), "params"),
        (model(&["a", "b"], &[("b", 1.0)]), "params"),
    ] {
        assert!(said.contains("is given twice") && said.contains(name), "{said}");
    }
}

/// What expressions at boundaries and in sources read would be something else.
#[test]
fn names_that_mean_something_are_refused() {
    let said = |species: &str, param: &str| {
        let model = Model::record(&[species], &[(param, 1.0)], |cell| cell.lap.to_vec());
        model.map(|_| String::new()).unwrap_or_else(|error| error.to_string())
    };
    for name in ["", "t", "pi", "x", "lap"] {
        assert!(said(name, "k").contains("species"), "{name}");
        assert!(said("u", name).contains("params"), "{name}");
    }
    // No expression can read these: they are nothing but names.
    for name in ["CH2(S)", "2-butanol", "u"] {
        assert_eq!(said(name, "k"), "");
    }
}

#[test]
fn each_closure_has_symbols_of_its_own() {
    let kept = std::cell::Cell::new(None);
    let potential = |cell: &Local<'_>| {
        let c = cell.u[0];
        kept.set(Some(c.powi(3) - c));
        vec![c.powi(3) - c]
    };
    let rhs = |cell: &Local<'_>| vec![cell.lap_potentials[0] - kept.get().unwrap()];
    let made = || Model::record_with_potentials(&["c"], &[], potential, rhs).is_ok();
    let said = std::panic::catch_unwind(std::panic::AssertUnwindSafe(made)).unwrap_err();
    assert!(said.downcast_ref::<&str>().unwrap().contains("a Symbol of another recording"));
}
