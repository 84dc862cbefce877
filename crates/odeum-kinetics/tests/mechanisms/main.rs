//! Mechanisms: what is read, and what is computed of it.

// A helper that cannot go on fails the test.
#![allow(clippy::unwrap_used)]

mod cantera;
mod common;
mod device;
mod equilibrium;
mod jacobian;
mod large;
mod mixtures;
mod nearly_balanced;
mod pasr;
mod read_cantera;
mod read_causes;
mod read_chemkin;
mod read_commas;
mod read_files;
mod read_hostile;
mod read_hydrogen;
mod read_mutated;
mod read_shared;
mod read_state;
mod read_written;
mod read_yaml;
mod recorded;
mod states;
