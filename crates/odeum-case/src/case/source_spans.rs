//! Where the values of a case stand, by the names the library calls them in its errors.

use super::reader::SourceSpan;
use odeum_core::Argument;
use odeum_io::Finding;

/// Offsets by argument.
#[derive(Clone, Debug, Default)]
pub struct SourceSpans(Vec<(Argument, SourceSpan)>);

impl SourceSpans {
    /// Adds the place of an argument.
    pub fn put(&mut self, field: impl Into<Argument>, source_span: SourceSpan) {
        self.0.push((field.into(), source_span));
    }

    /// The place of an argument, or of the one it is a part of: `atol[3]` lies in `atol`.
    pub fn find(&self, field: impl Into<Argument>) -> Option<&SourceSpan> {
        let field = field.into();
        let fitting = self.0.iter().filter(|(whole, _)| field.is_within(whole));
        fitting.max_by_key(|(whole, _)| whole.parts().len()).map(|(_, source_span)| source_span)
    }

    /// An error of the library, at the place in the case file it is about and by its name there.
    pub fn place(&self, error: odeum_ode::Error) -> Finding {
        let odeum_ode::Error::Input { field, found, remedy } = error else {
            return Finding::from(error);
        };
        let Some(source_span) = self.find(&field) else {
            return Finding::from(odeum_ode::Error::Input { field, found, remedy });
        };
        let finding = source_span.error(format!("`{}` cannot be {found}", source_span.field));
        finding.found(found).help(remedy)
    }
}
