//! Results as Parquet.

use super::{EnsembleResult, Extras, Writer, Written, columns};
use crate::finding::Finding;
use crate::table::write_parquet;
use crate::target::Target;
use odeum_ode::Scalar;

/// A table of systems, and one of states kept on the way.
pub(super) struct Parquet;

impl<T: Scalar> Writer<T> for Parquet {
    fn key(&self) -> &'static str {
        "parquet"
    }

    fn ends(&self, extras: Extras) -> Vec<&'static str> {
        let saved = extras.saved.then_some("saved.parquet");
        [Some("parquet"), saved].into_iter().flatten().collect()
    }

    fn bytes(&self, npz: u128) -> u128 {
        npz
    }

    fn memory(&self, results: u128) -> u128 {
        // Columns on their way.
        results
    }

    fn write(&self, result: &EnsembleResult<'_, T>, target: &Target) -> Result<Written, Finding> {
        let ends = ["parquet", "saved.parquet"];
        columns::write(result, target, ends, |table, file| write_parquet(table, file))
    }
}
