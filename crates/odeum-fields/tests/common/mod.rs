//! What several tests build their problems from.

use odeum_fields::{Model, ModelText};

/// A model of the species that these equations are of.
pub(crate) fn model(equations: &[(&'static str, &'static str)]) -> Model {
    let text = ModelText {
        species: equations.iter().map(|(name, _)| *name).collect(),
        equations: equations.to_vec(),
        ..ModelText::default()
    };
    text.read().unwrap().0
}
