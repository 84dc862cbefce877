//! The result as CSV: numbers in the shortest form that reads back to the same bits.

use super::{Columns, Values};
use crate::number::Exact;
use crate::parallel;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Values of a piece that a thread makes text of at once, about.
const PIECE: usize = 1 << 16;

/// Writes a table, with a line of names. Up to `threads` threads make text of the next rows while the last are written.
pub fn write<R>(table: &Columns<'_, R>, threads: usize, file: &mut impl Write) -> io::Result<()> {
    let mut heading = ::csv::Writer::from_writer(&mut *file);
    heading.write_record(table.columns.iter().map(|column| &column.name))?;
    heading.flush()?;
    drop(heading);
    let rows = (PIECE / table.columns.len().max(1)).max(1);
    let firsts: Vec<usize> = (0..table.rows).step_by(rows).collect();
    let text = |first: &usize| text(table, *first, (first + rows).min(table.rows));
    let mut write =
        |pieces: Vec<String>| pieces.iter().try_for_each(|piece| file.write_all(piece.as_bytes()));
    let mut ready = Vec::new();
    for next in firsts.chunks(2 * threads.max(1)) {
        let (made, written) =
            parallel::beside(|| parallel::map(threads, 1, next, text), || write(ready));
        written?;
        ready = made;
    }
    write(ready)
}

/// The text of some rows.
fn text<R>(table: &Columns<'_, R>, first: usize, end: usize) -> String {
    let mut text = String::new();
    for r in first..end {
        let row = (table.row)(r);
        for (c, column) in table.columns.iter().enumerate() {
            if c > 0 {
                text.push(',');
            }
            // Nothing fails that writes to memory.
            let _ = match &column.values {
                Values::Whole(value) => write!(text, "{}", value(&row)),
                Values::Real(value) => write!(text, "{}", Exact(value(&row))),
                Values::Single(value) => write!(text, "{}", Exact(value(&row))),
                Values::Word(value) => text.write_str(value(&row)),
            };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_threads_write_the_text_of_one_writer() {
        let rows = 3 * PIECE + 7;
        let mut table = Columns::new(rows, |r| r as f64);
        table.whole("row, by number", |r| *r as i64);
        table.number("real", |r| (r / 7.0).exp());
        table.number("single", |r| (*r as f32).sqrt());
        table.word("word", |r| if *r > 9.0 { "many steps" } else { "few" });
        let mut expected = ::csv::Writer::from_writer(Vec::new());
        expected.write_record(["row, by number", "real", "single", "word"]).unwrap();
        for r in 0..rows {
            let x = r as f64;
            let numbers = [format!("{r}"), format!("{:?}", (x / 7.0).exp())];
            let others = [format!("{:?}", (x as f32).sqrt()), "many steps".to_owned()];
            let word = if r > 9 { others[1].as_str() } else { "few" };
            expected.write_record([&numbers[0], &numbers[1], &others[0], word]).unwrap();
        }
        let expected = expected.into_inner().unwrap();
        for threads in [1, 4] {
            let mut file = Vec::new();
            write(&table, threads, &mut file).unwrap();
            assert!(file == expected, "{threads} threads");
        }
    }
}
