//! Files of Odeum.
//!
//! What is read and written by the command, and may be by any program: arrays of NumPy ([`npy`],
//! [`npz`]), stores of Zarr ([`zarr`]), VTK ([`vti`]), tables ([`table`]) and checkpoints
//! ([`checkpoint`]); and what makes files safe ([`mod@file`]): they appear whole or not at all, one run
//! at a time writes a result, and a disk that is too small is noticed before a run. On these stand
//! two lists of formats, of results of ensembles ([`ensemble`]) and of states of fields ([`field`]).
//!
//! What is wrong with a file is a [`Finding`]: one sentence, the place, what was found and what helps.

pub mod cells;
pub mod chart;
pub mod checkpoint;
pub mod ensemble;
pub mod field;
pub mod file;
pub mod finding;
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
pub use target::{Target, refuse_other};
