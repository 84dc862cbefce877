//! What is wrong, and where.

use super::TextSource;
use std::fmt;

/// A piece of a [`TextSource`], by its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The name of a state.
    StateName(usize),
    /// The name of a parameter.
    ParamName(usize),
    /// The name of a definition.
    DefinitionName(usize),
    /// The expression of a definition.
    Definition(usize),
    /// The name of the state that an equation is for.
    EquationName(usize),
    /// The expression of an equation.
    Equation(usize),
    /// The expression of the spectral radius.
    SpectralRadius,
}

impl Part {
    /// The text of the part.
    pub(super) fn text<'a>(self, source: &TextSource<'a>) -> &'a str {
        match self {
            Part::StateName(i) => source.states[i],
            Part::ParamName(j) => source.params[j],
            Part::DefinitionName(k) => source.definitions[k].0,
            Part::Definition(k) => source.definitions[k].1,
            Part::EquationName(k) => source.equations[k].0,
            Part::Equation(k) => source.equations[k].1,
            Part::SpectralRadius => source.spectral_radius.unwrap_or(""),
        }
    }

    /// The part in words.
    fn describe(self, name: &str) -> String {
        match self {
            Part::StateName(_) => format!("state {name}"),
            Part::ParamName(_) => format!("parameter {name}"),
            Part::DefinitionName(_) | Part::Definition(_) => format!("definition of {name}"),
            Part::EquationName(_) | Part::Equation(_) => format!("equation of {name}"),
            Part::SpectralRadius => "spectral radius".to_owned(),
        }
    }
}

/// An error or a warning at a place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The text it is about.
    pub part: Part,
    /// The name that goes with the part; empty for the spectral radius.
    pub name: String,
    /// First byte within the text.
    pub offset: usize,
    /// Length in bytes; zero at the end of the text.
    pub len: usize,
    /// Line within the text, from 1.
    pub line: usize,
    /// Column within the line, in characters from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A message about `len` bytes of a part from `offset` on.
    pub(super) fn new(
        source: &TextSource<'_>,
        part: Part,
        (offset, len): (usize, usize),
        message: String,
        help: Option<String>,
    ) -> Diagnostic {
        let text = part.text(source);
        let name = match part {
            Part::Definition(k) => source.definitions[k].0,
            Part::Equation(k) => source.equations[k].0,
            Part::SpectralRadius => "",
            name => name.text(source),
        };
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Diagnostic {
            part,
            name: name.to_owned(),
            offset,
            len,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
            help,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.part.describe(&self.name))?;
        if matches!(self.part, Part::Definition(_) | Part::Equation(_) | Part::SpectralRadius) {
            write!(f, ", line {}, column {}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// All errors in a [`TextSource`]; at most twenty for each of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextErrors(pub Vec<Diagnostic>);

impl fmt::Display for TextErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Diagnostic::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for TextErrors {}
