//! Expressions of the place.

use crate::case::reader::Field;
use odeum::core::Graph;
use odeum::core::text::TextSource;
use odeum_fields::{AXES, Model};

/// The graph of an expression, of no states; its parameters are the model's, then x, y and z. `None`
/// after reporting what is wrong with it.
pub(super) fn read(field: &Field<'_>, model: &Model) -> Option<Graph> {
    let text = field.text()?;
    let mut names: Vec<&str> = model.params().iter().map(|(name, _)| name.as_str()).collect();
    names.extend(AXES);
    let source =
        TextSource { params: names, definitions: vec![("value", text)], ..TextSource::default() };
    match source.read_definitions() {
        Ok(graph) => Some(graph),
        Err(errors) => {
            for error in &errors.0 {
                let help = error.help.as_deref();
                let help = help.unwrap_or("it knows t, the parameters, x, y and z");
                field.report(&error.message, error, help);
            }
            None
        }
    }
}
