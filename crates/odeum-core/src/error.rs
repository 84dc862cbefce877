//! What can be wrong with a call. A system that fails is not an error but a status.

use crate::argument::Argument;
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
    /// An argument that cannot be used: which, what was found, what would be accepted.
    pub fn input(
        field: impl Into<Argument>,
        found: impl std::fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Error::Input { field: field.into(), found: found.to_string(), remedy: remedy.into() }
    }
}
