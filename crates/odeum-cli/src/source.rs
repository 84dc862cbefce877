//! Text files, with the way from an offset back to line and column.

use crate::finding::Finding;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// A text that was read, under the name it is called by in messages.
#[derive(Debug)]
pub(crate) struct Source {
    name: String,
    text: String,
}

/// A place in a text: line and column, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Source {
    /// A text that is already here.
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Rc<Source> {
        Rc::new(Source { name: name.into(), text: text.into() })
    }

    /// Reads a UTF-8 file of at most `limit` bytes; a byte-order mark is skipped.
    pub(crate) fn read(path: &Path, what: &str, limit: u64) -> Result<Rc<Source>, Finding> {
        let name = path.display().to_string();
        let bytes = read_bytes(path, what, limit)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let byte = error.as_bytes().get(at).copied().unwrap_or_default();
            let before = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
            let end = before.len();
            Finding::error(format!("the {what} is not UTF-8 text"))
                .at(&Source::new(&name, before), end..end)
                .found(format!("byte 0x{byte:02x} at offset {at}"))
                .help("save the file as UTF-8 (in most editors: Save with encoding)")
        })?;
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        Ok(Source::new(name, text))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span, cut to the bounds of the file.
    pub(crate) fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.start.min(self.text.len())..span.end.min(self.text.len())).unwrap_or("")
    }

    /// Line and column of a byte offset.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let line = bytes[..offset].iter().filter(|&&b| b == b'\n').count() + 1;
        let start = self.line_start(offset);
        let column = String::from_utf8_lossy(&bytes[start..offset]).chars().count() + 1;
        Place { line, column }
    }

    /// The line that holds an offset, without its end, and where it starts.
    pub(crate) fn line_at(&self, offset: usize) -> (usize, &str) {
        let start = self.line_start(offset.min(self.text.len()));
        let rest = &self.text[start..];
        let line = rest.split('\n').next().unwrap_or("");
        (start, line.strip_suffix('\r').unwrap_or(line))
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text.as_bytes()[..offset].iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1)
    }
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_bytes(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, Finding> {
    let name = path.display().to_string();
    let fail = |error: std::io::Error| {
        let help = match error.kind() {
            std::io::ErrorKind::NotFound => {
                "check the path; it is taken from the current folder \
                                             (tables: from the folder of the case file)"
            }
            std::io::ErrorKind::PermissionDenied => "allow this user to read the file",
            _ => "check that this is a readable file",
        };
        Finding::error(format!("cannot read the {what}: {}", reason(&error)))
            .in_file(&name)
            .help(help)
    };
    let meta = std::fs::metadata(path).map_err(fail)?;
    if meta.is_dir() {
        return Err(Finding::error(format!("the {what} is a folder"))
            .in_file(&name)
            .help("name a file inside it"));
    }
    if meta.len() > limit {
        return Err(Finding::error(format!("the {what} is too large"))
            .in_file(&name)
            .found(format!("{} bytes", meta.len()))
            .help(format!("at most {limit} bytes are read; put data into a table file")));
    }
    std::fs::read(path).map_err(fail)
}

/// The operating system's own words, without its error number.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
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
