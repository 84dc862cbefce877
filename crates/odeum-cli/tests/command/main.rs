//! The command, run as a program.

// A helper that cannot go on fails the test.
#![allow(clippy::unwrap_used)]

mod bad_bench;
mod bad_chemistry;
mod bad_input;
mod chemistry;
mod common;
mod drivers;
mod expressions;
mod fields;
mod fields_coordinates;
mod fields_faults;
mod fields_mask;
mod fields_output;
mod fields_resume;
mod fields_stability;
mod fields_structure;
mod fields_words;
mod guide;
mod help;
mod idle_output;
mod levels;
mod limits;
mod mechanism_files;
mod own_results;
mod renamed;
mod resume;
mod run;
mod streams;
mod switches;
mod two_runs;
