//! What can be wrong with a call. A system that fails is not an error but a status.

use crate::argument::Argument;
use crate::number::with_exponents;
use thiserror::Error as ThisError;

/// Why a call could not be carried out.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An argument cannot be used.
    #[error("{field}: found {found}; {remedy}")]
    Input {
        /// Which argument, and which part of it.
        field: Argument,
        /// The value that was found.
        found: String,
        /// What would be accepted.
        remedy: String,
    },
    /// The device asked for is not to be had.
    #[error("{device}: {reason}\n  {remedy}")]
    Device {
        /// The device, as `cuda:0`.
        device: String,
        /// What is missing, and where it was looked for.
        reason: String,
        /// How to get it.
        remedy: String,
    },
    /// Device code did not compile.
    #[error("the device code of {kernel} does not compile:\n{log}")]
    Compile {
        /// The kernel.
        kernel: String,
        /// The compiler's own words.
        log: String,
        /// The whole source that was given to the compiler.
        source_text: String,
    },
    /// A call of the CUDA driver failed.
    #[error("CUDA, while {doing}: {reason}")]
    Cuda {
        /// What was being done.
        doing: String,
        /// The driver's own words.
        reason: String,
    },
}

impl Error {
    /// An argument that cannot be used: which, what was found, what would be accepted. Long numbers have exponents.
    pub fn input(
        field: impl Into<Argument>,
        found: impl std::fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        let (found, remedy) = (with_exponents(&found.to_string()), with_exponents(&remedy.into()));
        Error::Input { field: field.into(), found, remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_have_exponents() {
        let error = Error::input("span", 1e300, format!("must end before {}", 1e301)).to_string();
        assert_eq!(error, "span: found 1e300; must end before 1e301");
    }
}
