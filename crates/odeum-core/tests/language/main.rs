//! The language of systems: lanes, graphs, tapes, text.

// A helper that cannot go on fails the test.
#![allow(clippy::unwrap_used)]

mod elementary;
mod emit;
mod lanes;
mod parts;
mod systems;
mod tape;
mod text;
