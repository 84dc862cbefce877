//! Systems written as text.
//!
//! An equation is an expression of the states, the parameters, the time `t`, the constant `pi`
//! and named definitions:
//!
//! | | |
//! |---|---|
//! | numbers | `2`, `0.5`, `.5`, `6.02e23` |
//! | arithmetic | `+ - * /`, and `^` for powers, from right to left |
//! | sign | binds looser than a power: `-x^2` is −(x²); `x^-2` is allowed |
//! | comparisons | `< <= > >= == !=` |
//! | logic | <code>&& \|\| !</code> |
//! | choice | `select(condition, a, b)` or `if(condition, a, b)` |
//! | functions of one argument | `exp ln log10 sqrt cbrt abs floor sin cos tan asin acos atan sinh cosh tanh` |
//! | functions of two arguments | `min max pow` |
//!
//! A power with an integer constant from −16 to 16 as exponent is computed by multiplications
//! ([`Real::powi`](crate::Real::powi)), any other by `powf`.
//!
//! ```
//! use odeum_core::text::TextSource;
//!
//! let source = TextSource {
//!     states: vec!["x", "v"],
//!     params: vec!["omega", "damping"],
//!     definitions: vec![("force", "-omega^2 * sin(x)")],
//!     equations: vec![("x", "v"), ("v", "force - damping * v")],
//!     spectral_radius: None,
//! };
//! let pendulum = source.read()?;
//! assert_eq!(pendulum.graph().eval(0.0, &[0.0, 2.0], &[3.0, 0.5]), [2.0, -1.0]);
//! # Ok::<(), odeum_core::text::TextErrors>(())
//! ```
//!
//! All errors are reported, each with its place:
//!
//! ```
//! # use odeum_core::text::TextSource;
//! let source = TextSource {
//!     states: vec!["x"],
//!     params: vec!["rate"],
//!     equations: vec![("x", "-rte * x + exp(1, 2)")],
//!     ..TextSource::default()
//! };
//! let errors = source.read().map(|_| ()).unwrap_err();
//! assert_eq!(errors.to_string(), "\
//! equation of x, line 1, column 2: nothing is called `rte` (did you mean `rate`?)
//! equation of x, line 1, column 12: `exp` takes 1 argument, not 2");
//! ```

mod diagnostic;
mod parse;
mod resolve;
mod scope;
mod token;
mod vocabulary;

pub use diagnostic::{Diagnostic, Part, TextErrors};
pub use vocabulary::{Refusal, TextGraphs, Variable, Vocabulary};

use crate::graph::Graph;
use crate::tape::Tape;

/// A system as text: names, and expressions for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSource<'a> {
    /// Names of the states, in order.
    pub states: Vec<&'a str>,
    /// Names of the parameters, in order.
    pub params: Vec<&'a str>,
    /// Names for expressions that equations and other definitions use, in any order.
    pub definitions: Vec<(&'a str, &'a str)>,
    /// The derivative of each state by its name, in any order.
    pub equations: Vec<(&'a str, &'a str)>,
    /// A bound of the spectral radius of ∂f/∂y, for stabilised methods.
    pub spectral_radius: Option<&'a str>,
}

impl TextSource<'_> {
    /// Reads the system.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn read(&self) -> Result<TextSystem, TextErrors> {
        resolve::resolve(self)
    }

    /// Reads equations in which names of a vocabulary stand, too.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn read_with(&self, vocabulary: &mut dyn Vocabulary) -> Result<TextGraphs, TextErrors> {
        resolve::resolve_with(self, vocabulary)
    }

    /// Reads the definitions alone, as the outputs of a graph in their order: expressions that
    /// belong to no equation.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn read_definitions(&self) -> Result<Graph, TextErrors> {
        resolve::resolve_definitions(self)
    }
}

/// The number that an expression of numbers, `pi` and functions comes to.
///
/// ```
/// use odeum_core::text;
///
/// assert_eq!(text::constant("1/144 + 2^3"), Ok(1.0 / 144.0 + 8.0));
/// assert_eq!(text::constant("sqrt(2) * pi"), Ok(2f64.sqrt() * std::f64::consts::PI));
/// assert!(text::constant("2 * t").is_err());
/// ```
///
/// # Errors
///
/// [`TextErrors`] of the text as the definition of `value`, where it is no expression, names
/// something or depends on the time.
pub fn constant(text: &str) -> Result<f64, TextErrors> {
    resolve::resolve_constant(text)
}

/// The names in a text, those of functions among them, in the order written; what is no
/// expression has names too.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut tokens = token::Tokens::new(text);
    let all = std::iter::from_fn(move || Some(tokens.next().0));
    all.take_while(|token| *token != token::Token::End).filter_map(|token| match token {
        token::Token::Name(name) => Some(name),
        _ => None,
    })
}

/// A system read from text.
#[derive(Clone, Debug)]
pub struct TextSystem {
    graph: Graph,
    warnings: Vec<Diagnostic>,
}

impl TextSystem {
    /// The system as a graph, with its names.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The system, ready to run.
    pub fn tape(&self) -> Tape {
        Tape::compile(self.graph.clone())
    }

    /// What looks like a slip but is no error: parameters and definitions never used.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}
