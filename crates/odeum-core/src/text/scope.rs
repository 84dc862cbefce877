//! What names mean.

use super::TextSource;
use super::diagnostic::{Diagnostic, Part};
use super::token::is_name;
use super::vocabulary::{Variable, Vocabulary};
use crate::graph::Op;
use crate::spelling::distance;
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    State(usize),
    Param(usize),
    Definition(usize),
    Time,
    /// A variable of the vocabulary: the state of the graph it stands for, and its kind.
    Variable(usize, &'static str),
    Constant(f64),
    Function(Function),
}

/// What a call computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Function {
    /// An operation of the graph on numbers.
    Op(Op),
    Log10,
    /// `a^b` with the name of a function.
    Power,
    /// The second argument where the first holds, the third elsewhere.
    Choice,
    /// A function of the vocabulary, by its number.
    Added(usize),
}

impl Function {
    pub(super) fn arity(self) -> usize {
        match self {
            Function::Op(op) => op.info().arity,
            Function::Log10 | Function::Added(_) => 1,
            Function::Power => 2,
            Function::Choice => 3,
        }
    }
}

/// The name of no function, because it may mean two.
pub(super) const AMBIGUOUS: &str = "log";

/// The names that every system has.
const BUILT_IN: [(&str, Meaning); 24] = {
    use Function::{Choice, Log10, Power};
    use Meaning::Function as F;
    const fn op(op: Op) -> Meaning {
        F(Function::Op(op))
    }
    [
        ("t", Meaning::Time),
        ("pi", Meaning::Constant(std::f64::consts::PI)),
        ("exp", op(Op::Exp)),
        ("ln", op(Op::Ln)),
        ("log10", F(Log10)),
        ("sqrt", op(Op::Sqrt)),
        ("cbrt", op(Op::Cbrt)),
        ("abs", op(Op::Abs)),
        ("floor", op(Op::Floor)),
        ("sin", op(Op::Sin)),
        ("cos", op(Op::Cos)),
        ("tan", op(Op::Tan)),
        ("asin", op(Op::Asin)),
        ("acos", op(Op::Acos)),
        ("atan", op(Op::Atan)),
        ("sinh", op(Op::Sinh)),
        ("cosh", op(Op::Cosh)),
        ("tanh", op(Op::Tanh)),
        ("min", op(Op::Min)),
        ("max", op(Op::Max)),
        ("pow", F(Power)),
        ("select", F(Choice)),
        ("if", F(Choice)),
        // Known so that it is not given another meaning; using it is an error with advice.
        (AMBIGUOUS, F(Log10)),
    ]
};

/// All names of a source.
pub(super) struct Scope<'a> {
    names: HashMap<&'a str, Meaning>,
}

impl<'a> Scope<'a> {
    /// Collects the names, and what is wrong with them.
    pub(super) fn new(
        source: &TextSource<'a>,
        vocabulary: &dyn Vocabulary,
        errors: &mut Vec<Diagnostic>,
    ) -> Scope<'a> {
        let mut names: HashMap<&'a str, Meaning> = BUILT_IN.into_iter().collect();
        let variables = vocabulary.variables().into_iter();
        names.extend(
            variables.map(|Variable { name, state, kind }| (name, Meaning::Variable(state, kind))),
        );
        let functions = vocabulary.functions().into_iter().enumerate();
        names.extend(functions.map(|(k, name)| (name, Meaning::Function(Function::Added(k)))));
        let states = (0..source.states.len()).map(|i| (Part::StateName(i), Meaning::State(i)));
        let params = (0..source.params.len()).map(|j| (Part::ParamName(j), Meaning::Param(j)));
        let definitions = (0..source.definitions.len())
            .map(|k| (Part::DefinitionName(k), Meaning::Definition(k)));
        for (part, meaning) in states.chain(params).chain(definitions) {
            let name = part.text(source);
            let mut report = |message: String, help: Option<String>| {
                errors.push(Diagnostic::new(source, part, (0, name.len()), message, help));
            };
            if !is_name(name) {
                let help = "a name is letters, digits and `_`, not starting with a digit";
                let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
                report(format!("`{shown}` is not a name"), Some(help.to_owned()));
                continue;
            }
            match names.get(name) {
                None => {
                    names.insert(name, meaning);
                }
                Some(other) => report(clash(name, *other), Some("choose another name".to_owned())),
            }
        }
        Scope { names }
    }

    pub(super) fn get(&self, name: &str) -> Option<Meaning> {
        self.names.get(name).copied()
    }

    /// The names of all functions, in alphabetical order.
    pub(super) fn functions(&self) -> Vec<&'a str> {
        let functions = self.names.iter().filter(|(name, meaning)| {
            matches!(meaning, Meaning::Function(_)) && **name != AMBIGUOUS
        });
        let mut functions: Vec<&str> = functions.map(|(name, _)| *name).collect();
        functions.sort_unstable();
        functions
    }

    /// The name most like `name` among those with a suitable meaning, if one is like it at all.
    pub(super) fn similar(&self, name: &str, suitable: fn(Meaning) -> bool) -> Option<String> {
        let length = name.chars().count();
        if length > 64 {
            return None;
        }
        // A third of the letters may be wrong; of short names, one.
        let allowed = (length / 3).max(1);
        self.names
            .iter()
            .filter(|(other, meaning)| suitable(**meaning) && **other != AMBIGUOUS)
            .filter(|(other, _)| other.chars().count().abs_diff(length) <= allowed)
            .map(|(other, _)| (distance(name, other), *other))
            .filter(|(distance, other)| *distance <= allowed && *distance < other.chars().count())
            .min()
            .map(|(_, other)| format!("did you mean `{other}`?"))
    }
}

fn clash(name: &str, other: Meaning) -> String {
    match other {
        Meaning::Time => format!("`{name}` is the time"),
        Meaning::Variable(_, kind) => format!("`{name}` is a {kind}"),
        Meaning::Constant(_) => format!("`{name}` is a constant"),
        Meaning::Function(_) => format!("`{name}` is a function"),
        Meaning::State(_) => format!("there is a state called `{name}` already"),
        Meaning::Param(_) => format!("there is a parameter called `{name}` already"),
        Meaning::Definition(_) => format!("there is a definition of `{name}` already"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::NoVocabulary;
    use super::*;

    #[test]
    fn names_of_functions_and_of_each_other_are_taken() {
        let source = TextSource {
            states: vec!["x", "t", "x", "2y"],
            params: vec!["exp", "log", "x"],
            definitions: vec![("pi", "1"), ("x", "2"), ("fine", "3")],
            ..TextSource::default()
        };
        let mut errors = Vec::new();
        Scope::new(&source, &NoVocabulary, &mut errors);
        let parts: Vec<Part> = errors.iter().map(|error| error.part).collect();
        use Part::*;
        let expected = [
            StateName(1),
            StateName(2),
            StateName(3),
            ParamName(0),
            ParamName(1),
            ParamName(2),
            DefinitionName(0),
            DefinitionName(1),
        ];
        assert_eq!(parts, expected);
    }
}
