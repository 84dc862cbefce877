//! File formats of Odeum.
//!
//! This crate reads and writes the files of the command, for any program: NumPy arrays ([`npy`],
//! [`npz`]), Zarr stores ([`zarr`]), VTK ([`vti`]), tables ([`table`]) and checkpoints
//! ([`checkpoint`]). [`mod@file`] makes files safe: they appear whole or not at all, one run
//! at a time writes a result, and a disk that is too small is noticed before a run. Two lists of
//! formats use these modules: for results of ensembles ([`ensemble`]) and for states of fields ([`field`]).
//!
//! An error in a file is a [`Finding`]: one sentence, the place, what was found and what helps.

pub mod cells;
pub mod chart;
pub mod checkpoint;
pub mod ensemble;
pub mod field;
pub mod file;
pub mod finding;
pub mod former;
mod literal;
pub mod npy;
pub mod npz;
pub mod number;
pub mod parallel;
pub mod source;
pub mod table;
mod target;
pub mod vti;
pub mod zarr;

pub use finding::{Finding, Findings, Severity};
pub use source::Source;
pub use target::{Target, refuse_no_file};
