//! Which argument an error is about.

use std::borrow::Cow;
use std::fmt;

/// An argument, or a part of one, from the outside in: `save_at[3]`, `diffusion.u`.
///
/// ```
/// use odeum_core::Argument;
///
/// let time = Argument::new("save_at").at(3);
/// assert_eq!(time.to_string(), "save_at[3]");
/// assert!(time.is_within(&Argument::new("save_at")));
/// assert_eq!(Argument::new("diffusion").key("u").to_string(), "diffusion.u");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument(Vec<ArgumentPart>);

/// A step from an argument to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArgumentPart {
    /// The part of this name.
    Key(Cow<'static, str>),
    /// The element at this place, from 0.
    Index(usize),
}

impl Argument {
    /// The argument of this name, as the interface has it.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Argument {
        Argument(vec![ArgumentPart::Key(name.into())])
    }

    /// The part of this name.
    #[must_use]
    pub fn key(mut self, name: impl Into<Cow<'static, str>>) -> Argument {
        self.0.push(ArgumentPart::Key(name.into()));
        self
    }

    /// The element at this place, from 0.
    #[must_use]
    pub fn at(mut self, index: usize) -> Argument {
        self.0.push(ArgumentPart::Index(index));
        self
    }

    /// From the outside in.
    pub fn parts(&self) -> &[ArgumentPart] {
        &self.0
    }

    /// The first place of an element in it.
    pub fn index(&self) -> Option<usize> {
        self.0.iter().find_map(|part| match part {
            ArgumentPart::Index(i) => Some(*i),
            ArgumentPart::Key(_) => None,
        })
    }

    /// Whether this is `whole`, or a part of it.
    pub fn is_within(&self, whole: &Argument) -> bool {
        self.0.starts_with(&whole.0)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, part) in self.0.iter().enumerate() {
            match part {
                ArgumentPart::Key(name) if n == 0 => f.write_str(name)?,
                ArgumentPart::Key(name) => write!(f, ".{name}")?,
                ArgumentPart::Index(i) => write!(f, "[{i}]")?,
            }
        }
        Ok(())
    }
}

impl From<&'static str> for Argument {
    fn from(name: &'static str) -> Argument {
        Argument::new(name)
    }
}

impl From<&Argument> for Argument {
    fn from(argument: &Argument) -> Argument {
        argument.clone()
    }
}
