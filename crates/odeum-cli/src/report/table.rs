//! Small tables for the terminal.

use super::Style;
use odeum_core::with_exponents;

/// How the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Columns of the value of a pair.
const VALUE: usize = 80;

/// Rows of text cells under an optional heading.
#[derive(Debug, Default)]
pub(crate) struct Table {
    heading: Vec<String>,
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column headings.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Table {
        Table {
            heading: columns.iter().map(|(name, _)| (*name).to_owned()).collect(),
            align: columns.iter().map(|&(_, align)| align).collect(),
            rows: Vec::new(),
        }
    }

    /// A table of names and values, without headings.
    pub(crate) fn pairs() -> Table {
        Table { heading: Vec::new(), align: vec![Align::Left, Align::Left], rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// A name and its value; a long value goes on in the next line.
    pub(crate) fn pair(&mut self, name: &str, value: impl AsRef<str>) {
        for (k, line) in wrap(value.as_ref(), VALUE).into_iter().enumerate() {
            self.row([if k == 0 { name } else { "" }.to_owned(), line]);
        }
    }

    /// The table, every line indented by two spaces and ended.
    pub(crate) fn render(&self, style: Style) -> String {
        let columns = self.align.len();
        let widths: Vec<usize> = (0..columns)
            .map(|c| {
                let cells = self.rows.iter().chain(Some(&self.heading));
                cells.filter_map(|row| row.get(c)).map(|cell| width(cell)).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        if !self.heading.is_empty() {
            text += &style.bold(&self.line(&self.heading, &widths));
            text.push('\n');
            let rule: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
            text += &style.dim(&format!("  {}", rule.join("  ")));
            text.push('\n');
        }
        for row in &self.rows {
            let line = self.line(row, &widths);
            if self.heading.is_empty() {
                // Names are dim, so that the values stand out.
                let end = 2 + row.first().map_or(0, String::len);
                text += &style.dim(&line[..end]);
                text += &line[end..];
            } else {
                text += &line;
            }
            text.push('\n');
        }
        text
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::from(" ");
        for (c, cell) in cells.iter().enumerate() {
            let gap = " ".repeat(widths[c].saturating_sub(width(cell)));
            line += if c == 0 { " " } else { "  " };
            match self.align[c] {
                Align::Left => line += &format!("{cell}{gap}"),
                Align::Right => line += &format!("{gap}{cell}"),
            }
        }
        line.trim_end().to_owned()
    }
}

/// Width in a terminal; names and numbers here are one cell per character.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// Breaks a text into lines of at most `columns` characters, at spaces.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in with_exponents(text).split_whitespace() {
        let line = lines.last_mut();
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&[("status", Align::Left), ("systems", Align::Right)]);
        table.row(["success", "1 000"]).row(["non-finite", "3"]);
        let lines: Vec<String> = table.render(Style::plain()).lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "  status      systems");
        assert_eq!(lines[2], "  success       1 000");
        assert_eq!(lines[3], "  non-finite        3");
    }

    #[test]
    fn wrapping_keeps_every_word() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("", 7), [""]);
    }
}
