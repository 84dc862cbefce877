//! Text files, with the way from an offset back to line and column.

use std::ops::Range;
use std::sync::Arc;

/// A text that was read, under the name it is called by in messages.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
}

/// A place in a text: line and column, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: usize,
    /// Characters from the start of the line, counted from 1.
    pub column: usize,
}

impl Source {
    /// A text that is already here.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }

    /// The name it is shown with: that of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All of the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span, cut to the bounds of the file.
    pub fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.start.min(self.text.len())..span.end.min(self.text.len())).unwrap_or("")
    }

    /// Line and column of a byte offset.
    pub fn place(&self, offset: usize) -> Place {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let line = bytes[..offset].iter().filter(|&&b| b == b'\n').count() + 1;
        let start = self.line_start(offset);
        let column = String::from_utf8_lossy(&bytes[start..offset]).chars().count() + 1;
        Place { line, column }
    }

    /// The line that holds an offset, without its end, and where it starts.
    pub fn line_at(&self, offset: usize) -> (usize, &str) {
        let start = self.line_start(offset.min(self.text.len()));
        let rest = &self.text[start..];
        let line = rest.split('\n').next().unwrap_or("");
        (start, line.strip_suffix('\r').unwrap_or(line))
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text.as_bytes()[..offset].iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_become_lines_and_columns() {
        let source = Source::new("a", "x = 1\r\nμ = 2\nz");
        assert_eq!(source.place(0), Place { line: 1, column: 1 });
        assert_eq!(source.place(source.text().find('2').unwrap()), Place { line: 2, column: 5 });
        assert_eq!(source.place(9999), Place { line: 3, column: 2 });
        assert_eq!(source.line_at(8).1, "μ = 2");
        assert_eq!(source.line_at(2).1, "x = 1");
    }
}
