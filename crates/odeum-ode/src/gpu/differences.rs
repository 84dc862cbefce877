//! Jacobians by finite differences in device code.

use crate::method::linearised::{LEAST_EPSILONS, LEAST_SIZE, column_groups};
use odeum_core::Pattern;
use odeum_core::emit::{MatrixPlaces, Tables};
use odeum_cuda::{Text, literal};
use std::fmt::Write;

const DEVICE: &str = include_str!("device/differences.cuh");

/// The group of a column without entries: it is never moved.
const NO_GROUP: i32 = -1;

/// An entry: its place in the matrix, its row and its column.
type Entry = (u32, usize, usize);

/// The entries of a Jacobian by groups of columns that share no row.
pub(super) struct Differences {
    /// Group of each column \[n\].
    group_of: Vec<i32>,
    groups: Vec<Vec<Entry>>,
}

impl Differences {
    pub(super) fn new(pattern: &Pattern, places: &MatrixPlaces) -> Differences {
        let entries = pattern.iter().zip(&places.entries);
        let columns = column_groups(pattern);
        let mut group_of = vec![NO_GROUP; pattern.cols()];
        for (k, group) in columns.iter().enumerate() {
            for &column in group {
                group_of[column] = k as i32;
            }
        }
        let mut groups = vec![Vec::new(); columns.len()];
        for ((row, column), place) in entries {
            groups[group_of[column] as usize].push((*place, row, column));
        }
        Differences { group_of, groups }
    }

    /// For one thread: every index is a number.
    pub(super) fn straight(&self) -> String {
        let mut text = Text::default();
        self.head(&mut text);
        let groups: Vec<String> = self.group_of.iter().map(i32::to_string).collect();
        text.table("int", "od_column_group(const OdGroup &, int i)", "i", &groups);
        let mut keep = String::from(
            "OD_FN void od_keep_quotients(const OdGroup &, int k, const real *f, const real *changed,\n    \
             const real *inverse, od_entry *matrix) {\n    switch (k) {\n",
        );
        for (k, group) in self.groups.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(keep, "    case {k}:");
            for (place, row, column) in group {
                let _ = writeln!(
                    keep,
                    "        matrix[{place}] = od_entry((f[{row}] - changed[{row}]) * inverse[{column}]);"
                );
            }
            keep += "        break;\n";
        }
        text.line(keep + "    }\n}");
        text.line(DEVICE);
        text.finish()
    }

    /// For a group of threads, which read what they write from tables.
    pub(super) fn grouped(&self, tables: &mut Tables) -> String {
        let mut text = Text::default();
        self.head(&mut text);
        text.line(DEVICE);
        let groups: Vec<u32> = self.group_of.iter().map(|&k| k as u32).collect();
        tables.push_u32("OD_GROUP_OF_COLUMN", &groups);
        let mut starts = vec![0];
        starts.extend(self.groups.iter().scan(0, |end, group| {
            *end += group.len() as u32;
            Some(*end)
        }));
        tables.push_u32("OD_QUOTIENT_STARTS", &starts);
        let entries = self.groups.iter().flatten();
        let words: Vec<u32> = entries
            .flat_map(|&(place, row, column)| [place, row as u32, column as u32, 0])
            .collect();
        tables.push_u32("OD_QUOTIENTS", &words);
        text.finish()
    }

    fn head(&self, text: &mut Text) {
        text.define("OD_COLUMN_GROUPS", self.groups.len());
        text.define("OD_LEAST_MOVED", literal(LEAST_SIZE));
        text.define("OD_LEAST_EPSILONS", literal(LEAST_EPSILONS));
    }
}
