//! Results as Parquet.

use super::columns::{self, Form};
use super::{EnsembleResult, Extras, Writer, Written};
use crate::finding::Finding;
use crate::table::{Columns, write_parquet};
use crate::target::Target;
use odeum_ode::Scalar;
use std::fs::File;
use std::io::{self, BufWriter};

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
        columns::write::<T, Parquet>(result, target, ["parquet", "saved.parquet"])
    }
}

impl Form for Parquet {
    fn write<R: Sync>(
        table: &Columns<'_, R>,
        threads: usize,
        file: &mut BufWriter<&mut File>,
    ) -> io::Result<()> {
        write_parquet(table, threads, file)
    }
}
