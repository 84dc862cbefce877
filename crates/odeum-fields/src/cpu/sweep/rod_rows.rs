//! Rows of a rod in the order of its lanes, in memory.

use crate::field::memory::{LINE, Lined};
use odeum_core::Scalar;

/// Bytes after which addresses look the same to loads that wait for stores.
const PAGE: usize = 4096;

/// Species at most whose rows begin at about the same place of a page, with those that are written half a page from there:
/// the first-level cache holds eight or twelve lines of one place.
const FEW: usize = 4;

/// The rows of both turns, each with a pack before its first and behind its last.
pub(super) struct Rows<T> {
    values: Lined<T>,
    /// From a row to the next of the same turn, and from one turn to the other.
    row: usize,
    turn: usize,
    pack: usize,
    packs: usize,
}

impl<T: Scalar> Rows<T> {
    /// Of so many packs of so many values each.
    pub(super) fn new(packs: usize, pack: usize, species: usize) -> Rows<T> {
        let (row, turn) = distances(size_of::<T>(), (packs + 2) * pack, species);
        let values = Lined::new(T::from_f64(0.0), turn + species * row);
        Rows { values, row, turn, pack, packs }
    }

    /// Where the first pack of a row begins.
    fn begin(&self, turn: usize, s: usize) -> usize {
        turn * self.turn + s * self.row + self.pack
    }

    pub(super) fn cells(&mut self, turn: usize, s: usize) -> &mut [T] {
        let begin = self.begin(turn, s);
        &mut self.values[begin..begin + self.packs * self.pack]
    }

    /// The first packs of the rows of both turns.
    pub(super) fn turns(&mut self, species: usize) -> Turns<T> {
        let first = self.values.as_mut_ptr();
        [0, 1].map(|turn| (0..species).map(|s| first.wrapping_add(self.begin(turn, s))).collect())
    }
}

/// From a row of so many values to the next, and from one turn to the other \[values\]: what is written lies about half a
/// page from what is read, of any two of a few species. Else a step takes up to 2.5 times as long.
fn distances(bytes: usize, values: usize, species: usize) -> (usize, usize) {
    let (line, page) = (LINE / bytes, PAGE / bytes);
    let row = match species {
        2..=FEW => values.next_multiple_of(page) + line,
        _ => values.next_multiple_of(line),
    };
    (row, (species * row).next_multiple_of(page) + page / 2)
}

/// The first packs of all species, of both turns.
pub(super) type Turns<T> = [Vec<*mut T>; 2];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_few_species_no_row_is_written_near_the_place_of_a_page_from_which_another_is_read() {
        for (bytes, species) in [4, 8].into_iter().flat_map(|b| (1..=FEW).map(move |s| (b, s))) {
            for values in (16..3000).step_by(LINE / bytes) {
                let (row, turn) = distances(bytes, values, species);
                assert!(row >= values && turn >= species * row);
                for (read, written) in (0..species * species).map(|k| (k / species, k % species)) {
                    let apart = (turn + written * row - read * row) * bytes % PAGE;
                    assert!(
                        (PAGE / 4..=PAGE / 4 * 3).contains(&apart),
                        "{values} x {bytes}: {apart}"
                    );
                }
            }
        }
    }
}
