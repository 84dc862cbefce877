//! The compiled solvers.

// A helper that cannot go on fails the test.
#![allow(clippy::unwrap_used)]

mod chemistry;
mod problems;
mod stiff;
