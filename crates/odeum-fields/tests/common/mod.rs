//! What several tests build their problems from.
#![allow(dead_code, reason = "each test takes what it needs")]

use odeum_fields::{Face, Model, ModelText, Quantity, Wall, Walls};

/// A model of the species that these equations are of.
pub(crate) fn model(equations: &[(&'static str, &'static str)]) -> Model {
    let text = ModelText {
        species: equations.iter().map(|(name, _)| *name).collect(),
        equations: equations.to_vec(),
        ..ModelText::default()
    };
    text.read().unwrap().0
}

/// Walls of every kind but the periodic: two that warm, one that leaks, and no flux through the others.
pub(crate) fn mixed_walls() -> Walls {
    let warm = Wall::Dirichlet(Quantity::from("0.3 + t"));
    let leak = Wall::Robin { value: 1.0, slope: 0.5, amount: Quantity::from(0.2) };
    Walls::default()
        .face(Face { axis: 2, high: false }, warm.clone())
        .face(Face { axis: 1, high: true }, leak)
        .face(Face { axis: 0, high: false }, warm)
}
