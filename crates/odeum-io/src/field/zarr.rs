//! States in a Zarr store.

use super::{Cells, Format, Place, Writer};
use crate::file::Whole;
use crate::finding::Finding;
use crate::zarr::Zarr;
use odeum_fields::{Field, Precision};
use std::path::PathBuf;

/// One store of all states.
pub(super) struct Store;

impl<T: Precision> Format<T> for Store {
    fn key(&self) -> &'static str {
        "zarr"
    }

    fn files(&self, place: &Place) -> Vec<PathBuf> {
        vec![place.target.file("zarr")]
    }

    fn writes_folders(&self) -> bool {
        true
    }

    fn bytes(&self, state: u128) -> u128 {
        state
    }

    fn open(
        &self,
        place: &Place,
        cells: &Cells,
        times: Vec<f64>,
        threads: usize,
    ) -> Box<dyn Writer<T>> {
        let Cells { grid, mask, names } = cells.clone();
        Box::new(Zarr::new(place.target.file("zarr"), (grid, mask), names, times, threads))
    }
}

impl<T: Precision> Writer<T> for Zarr {
    fn append(&mut self, t: f64, field: &Field<T>) -> Result<(), Finding> {
        Zarr::append(self, t, field)
    }

    fn restore(&self) -> Result<(), Finding> {
        Zarr::restore::<T>(self)
    }

    fn files_of(&self, index: usize) -> Vec<Whole> {
        Zarr::files_of::<T>(self, index)
    }

    fn written(&self) -> Vec<PathBuf> {
        vec![self.folder().to_owned()]
    }
}
