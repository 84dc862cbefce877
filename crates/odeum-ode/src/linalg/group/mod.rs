//! Sparse LU of σI − J by a group of GPU threads, from tables.
//!
//! The order of elimination, the places of all entries and what each thread does are found once for a pattern, on the
//! host. Levels of independent pivots are eliminated one after the other until a dense tail is left; the tail is
//! inverted by Gauss–Jordan elimination, so that a solve is a few phases instead of as many as there are unknowns.
//! Pivots come from the diagonal. They are watched as on the CPU ([`Pivots`](super::Pivots)): each thread sums
//! the sizes of the entries of its rows before the elimination, and those of the same rows of U after it, which a head
//! keeps in place and a tail has told all threads as pivot rows. Both sums are those of the CPU, up to
//! rounding.
//!
//! Device text: `entry.cuh` (numbers), `tail.cuh` (Gauss–Jordan), `lu.cuh` and `product.cuh` (what methods call). It
//! expects of its surroundings `real`, `od_entry`, `OdGroup`, `OD_WIDTH`, `OD_EACH` (components of a thread, the most),
//! `OD_GROUP_BARRIER`, `od_group_any`, and the defines of [`GroupLu::tables`].

mod factors;
mod rounds;
mod sets;
mod tail;
#[cfg(test)]
mod tests;

use super::lu::PIVOT_EPSILONS;
use factors::Factors;
use odeum_core::Pattern;
use odeum_core::emit::{MatrixPlaces, Tables, with_ahead};
use rounds::{Solves, Term, Updates};

/// Device text, for entries of either kind and precision.
pub(crate) const GROUP_LU: &str = concat!(
    include_str!("../entry.cuh"),
    include_str!("tail.cuh"),
    include_str!("lu.cuh"),
    include_str!("product.cuh")
);

/// Places beyond these need 32 bits in tables.
const MOST_NARROW: u32 = u16::MAX as u32;

/// The plan of an LU factorisation of σI − J by a group of threads.
pub(crate) struct GroupLu {
    factors: Factors,
    width: usize,
    /// Bytes of an entry.
    entry: usize,
    places: MatrixPlaces,
    jacobian: Pattern,
}

impl GroupLu {
    /// Of the Jacobian pattern of a system, for groups of `width` threads, whole warps, and entries of `entry` bytes:
    /// the largest where one plan serves matrices of several types.
    ///
    /// # Panics
    ///
    /// When the factors have 2³¹ entries or more.
    pub(crate) fn new(jacobian: &Pattern, width: usize, entry: usize) -> GroupLu {
        let factors = Factors::new(jacobian, width, entry);
        let place = |i: usize, j: usize| factors.place(factors.number[i], factors.number[j]);
        // Entries of J are what the elimination starts from: all have places.
        let entries = jacobian.iter().map(|(i, j)| place(i, j).unwrap_or(factors.unused()));
        let places = MatrixPlaces {
            entries: entries.collect(),
            unused: factors.unused(),
            zero: factors.zero(),
            len: factors.len,
        };
        GroupLu { factors, width, entry, places, jacobian: jacobian.clone() }
    }

    /// Where the entries of −J go.
    pub(crate) fn places(&self) -> &MatrixPlaces {
        &self.places
    }

    /// Entries of the vector that holds right-hand side and solution: `OD_X_ENTRIES` of the text.
    pub(crate) fn x_entries(&self) -> usize {
        self.factors.x_unused() as usize + 1
    }

    /// What the text reads, with its defines.
    pub(crate) fn tables(&self) -> Tables {
        let Factors { tail, levels, .. } = &self.factors;
        let (updates, solves) = (
            Updates::new(&self.factors, self.width, self.entry),
            Solves::new(&self.factors, self.width, self.entry),
        );
        let wide = self.factors.len.max(self.factors.x_unused()) > MOST_NARROW;
        let mut tables = Tables::default();
        tables.count("OD_LU_WIDE", usize::from(wide));
        tables.count("OD_LU_HEAD", self.factors.head());
        tables.count("OD_LU_LEVELS", levels.len());
        tables.count("OD_LU_ONE", self.factors.one() as usize);
        tables.count("OD_LU_UNUSED", self.factors.unused() as usize);
        tables.count("OD_PIVOT_EPSILONS", PIVOT_EPSILONS as usize);
        tables.count("OD_MATRIX_ENTRIES", self.factors.len as usize);
        tables.count("OD_TAIL_REGISTERS", tail::REGISTERS);
        tables.count("OD_TAIL", tail.size);
        tables.count("OD_TAIL_AT", self.factors.tail_at as usize);
        tables.count("OD_TAIL_LEADING", tail.leading());
        tables.count("OD_TAIL_ROWS", tail.rows);
        tables.count("OD_TAIL_PARTS", tail.parts);
        tables.count("OD_TAIL_ROW_THREADS", tail.row_threads);
        tables.count("OD_TAIL_COLUMNS", tail.columns);
        tables.count("OD_TAIL_STRIDE", tail.stride());
        tables.count("OD_X_TAIL", self.factors.x_tail() as usize);
        tables.count("OD_X_ENTRIES", self.x_entries());
        let mut push = |name: &'static str, values: &[u32]| {
            if wide {
                tables.push_u32(name, values);
            } else {
                // All values are places or count places, of which there are few enough.
                tables.push_u16(name, &values.iter().map(|&x| x as u16).collect::<Vec<_>>());
            }
        };
        let rhs: Vec<u32> = self.factors.number.iter().map(|&i| self.factors.rhs(i)).collect();
        push("OD_LU_RHS", &rhs);
        push("OD_LU_LOWER", &self.factors.lower_starts);
        push("OD_LU_UPPER", &self.factors.upper_starts);
        push("OD_LU_SCALED", updates.scaled.as_flattened());
        let width = self.width;
        // Loads run ahead by a step, a round or a level.
        push("OD_LU_TARGETS", &with_ahead(&updates.targets, rounds::SIDES * width));
        push("OD_LU_TERMS", with_ahead(&updates.terms, rounds::SIDES * width).as_flattened());
        push("OD_LU_SOLVE_TARGETS", with_ahead(&solves.targets, width).as_flattened());
        push("OD_LU_SOLVE_TERMS", with_ahead(&solves.terms, rounds::SIDES * width).as_flattened());
        let starts = (0..self.jacobian.rows()).map(|i| self.jacobian.row_start(i));
        let starts = starts.chain([self.jacobian.nnz()]);
        push("OD_PRODUCT_ROWS", &starts.map(|start| start as u32).collect::<Vec<_>>());
        let columns = self.jacobian.iter().map(|(_, column)| column as u32);
        let terms: Vec<Term> = self
            .places
            .entries
            .iter()
            .zip(columns)
            .map(|(&place, column)| [place, column])
            .collect();
        push("OD_PRODUCT_TERMS", terms.as_flattened());
        let ends: Vec<u32> = updates.levels.iter().flat_map(|&[a, b, c]| [a, b, c, 0]).collect();
        tables.push_u32("OD_LU_LEVEL_ENDS", &with_ahead(&ends, 4));
        tables.push_u32("OD_LU_LENGTHS", &with_ahead(&updates.lengths, 1));
        tables.push_u32("OD_LU_SOLVE_LENGTHS", &with_ahead(&solves.lengths, 1));
        tables.count("OD_LU_FORWARD", solves.forward);
        tables.count("OD_LU_ROUNDS", solves.lengths.len());
        tables
    }
}
