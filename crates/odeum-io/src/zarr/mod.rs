//! Zarr stores (version 3): written state by state as OME-Zarr, and read as an array of cells.

mod ome;
mod read;
mod write;

pub use read::{HELP, coordinates, read, time};
pub use write::{Zarr, is_ours};
