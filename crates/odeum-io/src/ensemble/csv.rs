//! Results as CSV.

use super::columns::{self, Form};
use super::{EnsembleResult, Extras, Writer, Written};
use crate::finding::Finding;
use crate::table::{Columns, write_csv};
use crate::target::Target;
use odeum_ode::Scalar;
use std::fs::File;
use std::io::{self, BufWriter};

/// A table of systems, and one of states kept on the way.
pub(super) struct Csv;

impl<T: Scalar> Writer<T> for Csv {
    fn key(&self) -> &'static str {
        "csv"
    }

    fn ends(&self, extras: Extras) -> Vec<&'static str> {
        let saved = extras.saved.then_some("saved.csv");
        [Some("csv"), saved].into_iter().flatten().collect()
    }

    fn bytes(&self, npz: u128) -> u128 {
        // A number takes about 20 characters as text.
        5 * npz / 2
    }

    fn write(&self, result: &EnsembleResult<'_, T>, target: &Target) -> Result<Written, Finding> {
        columns::write::<T, Csv>(result, target, ["csv", "saved.csv"])
    }
}

impl Form for Csv {
    fn write<R: Sync>(
        table: &Columns<'_, R>,
        threads: usize,
        file: &mut BufWriter<&mut File>,
    ) -> io::Result<()> {
        write_csv(table, threads, file)
    }
}
