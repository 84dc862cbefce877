//! Sparsity patterns of matrices.

use std::fmt;

/// Which entries of a matrix may differ from zero, row by row with columns ascending.
///
/// Entry numbers count along the rows; values of a matrix with this pattern are stored in that
/// order.
///
/// ```
/// use odeum_core::Pattern;
///
/// let pattern = Pattern::from_rows(3, &[vec![0, 2], vec![1]]);
/// assert_eq!((pattern.rows(), pattern.cols(), pattern.nnz()), (2, 3, 3));
/// assert_eq!(pattern.find(0, 2), Some(1));
/// assert!(!pattern.contains(1, 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    cols: usize,
    /// Entry numbers where rows start, and the number of entries. [rows + 1]
    starts: Vec<usize>,
    /// Column of each entry. \[nnz\]
    columns: Vec<usize>,
}

impl Pattern {
    /// A pattern of `cols` columns from the columns of the entries of each row, which may come
    /// in any order and repeat.
    ///
    /// # Panics
    ///
    /// When a column is not below `cols`.
    pub fn from_rows(cols: usize, rows: &[Vec<usize>]) -> Pattern {
        let mut starts = vec![0];
        let mut columns = Vec::new();
        for row in rows {
            let mut row = row.clone();
            row.sort_unstable();
            row.dedup();
            assert!(row.last().is_none_or(|&last| last < cols), "a column beyond the last");
            columns.extend(row);
            starts.push(columns.len());
        }
        Pattern { cols, starts, columns }
    }

    /// The pattern in which every entry may differ from zero.
    pub fn dense(rows: usize, cols: usize) -> Pattern {
        Pattern::from_rows(cols, &vec![(0..cols).collect(); rows])
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of entries that may differ from zero.
    pub fn nnz(&self) -> usize {
        self.columns.len()
    }

    /// Columns of the entries of a row, ascending.
    pub fn row(&self, row: usize) -> &[usize] {
        &self.columns[self.starts[row]..self.starts[row + 1]]
    }

    /// Number of the first entry of a row.
    pub fn row_start(&self, row: usize) -> usize {
        self.starts[row]
    }

    /// Number of the entry at a row and column.
    pub fn find(&self, row: usize, col: usize) -> Option<usize> {
        self.row(row).binary_search(&col).ok().map(|k| self.starts[row] + k)
    }

    /// True when the entry may differ from zero.
    pub fn contains(&self, row: usize, col: usize) -> bool {
        self.find(row, col).is_some()
    }

    /// Row and column of every entry, in the order of the entry numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.rows()).flat_map(|row| self.row(row).iter().map(move |&col| (row, col)))
    }

    /// The pattern with the whole diagonal, as I − h γ J has it.
    pub fn with_diagonal(&self) -> Pattern {
        let rows: Vec<Vec<usize>> = (0..self.rows())
            .map(|row| {
                let diagonal = (row < self.cols).then_some(row);
                self.row(row).iter().copied().chain(diagonal).collect()
            })
            .collect();
        Pattern::from_rows(self.cols, &rows)
    }
}

/// A picture: `x` for an entry, `.` for a zero.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in 0..self.rows() {
            let line: String =
                (0..self.cols).map(|col| if self.contains(row, col) { 'x' } else { '.' }).collect();
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_without_repeats() {
        let pattern = Pattern::from_rows(4, &[vec![3, 0, 3], vec![], vec![2]]);
        assert_eq!(pattern.to_string(), "x..x\n....\n..x.\n");
        assert_eq!(pattern.iter().collect::<Vec<_>>(), [(0, 0), (0, 3), (2, 2)]);
        assert_eq!(
            (pattern.row_start(2), pattern.find(2, 2), pattern.find(1, 1)),
            (2, Some(2), None)
        );
        assert_eq!(pattern.with_diagonal().nnz(), 4);
        assert_eq!(Pattern::dense(2, 3).nnz(), 6);
    }
}
