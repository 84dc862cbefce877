//! CSV tables: a header, then one row a system. Lines that start with `#` are comments.
//! Values are separated by commas, semicolons or tabs, as the header has them.

use super::RawTable;
use crate::case::reader::SourceSpan;
use odeum_io::Finding;
use odeum_io::Source;
use odeum_io::file::read_text;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Most slips reported of one table.
const MOST: usize = 5;

/// Reads a whole file; the error is everything that is wrong with its shape. Numbers may be none
/// where `lenient`, and cells empty.
pub(super) fn read(path: &Path, lenient: bool) -> Result<RawTable, Vec<Finding>> {
    let source = read_text(path, "table", u64::MAX).map_err(|finding| vec![finding])?;
    let header_line = source.line_at(content_start(&source, 0)).1;
    let separator = separator(header_line);
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(separator as u8)
        .flexible(true)
        .trim(::csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(source.text().as_bytes());
    let header = reader.headers().map_err(|error| vec![broken(&error, &source)])?.clone();
    let header_at = header.position().map_or(0, |p| p.byte() as usize);
    // The reader's position may lie before comments and blank lines: the header is the next line.
    let header_at = content_start(&source, header_at);
    if header.is_empty() {
        let finding = Finding::error("the table is empty").in_file(source.name());
        return Err(vec![finding.help("give a header line with names, then one line a system")]);
    }
    let names: Vec<String> = header.iter().map(str::to_owned).collect();
    let name_source_spans = (0..names.len())
        .map(|c| SourceSpan {
            source: Arc::clone(&source),
            span: cell(&source, header_at, c, separator),
            field: "header".into(),
        })
        .collect();
    let mut columns: Vec<Result<Vec<f64>, Vec<Finding>>> = vec![Ok(Vec::new()); names.len()];
    let mut shape = Vec::new();
    let mut rows = 0;
    let mut record = ::csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                shape.push(broken(&error, &source));
                break;
            }
        }
        let at = content_start(&source, record.position().map_or(0, |p| p.byte() as usize));
        if record.len() != names.len() {
            let line = source.line_at(at);
            let finding = Finding::error(format!(
                "row {} has {} values, the header has {}",
                rows + 1,
                record.len(),
                names.len()
            ));
            shape.push(
                finding
                    .at(&source, at..line.0 + line.1.len())
                    .found(line.1)
                    .help("every row must have one value for each column of the header"),
            );
            if shape.len() == MOST {
                break;
            }
        } else if shape.is_empty() {
            for (c, text) in record.iter().enumerate() {
                push(
                    &mut columns[c],
                    if lenient && text.is_empty() { "nan" } else { text },
                    lenient,
                    || (Arc::clone(&source), cell(&source, at, c, separator)),
                    &names[c],
                );
            }
        }
        rows += 1;
    }
    if !shape.is_empty() {
        return Err(shape);
    }
    Ok(RawTable::new(rows, Some(names), columns, "columns", name_source_spans))
}

/// What separates the values: a comma, unless the header has none but semicolons or tabs.
fn separator(header: &str) -> char {
    [',', ';', '\t'].into_iter().find(|&mark| header.contains(mark)).unwrap_or(',')
}

fn push(
    column: &mut Result<Vec<f64>, Vec<Finding>>,
    text: &str,
    lenient: bool,
    place: impl Fn() -> (Arc<Source>, Range<usize>),
    name: &str,
) {
    let number = text.parse::<f64>();
    let help = match &number {
        Ok(_) => super::BAD_ROWS_HELP,
        Err(_) => "give a finite number, with a point as decimal sign",
    };
    let problem = match number {
        Ok(value) if value.is_finite() || lenient => {
            if let Ok(values) = column {
                values.push(value);
            }
            return;
        }
        Ok(_) => format!("`{name}` must be finite"),
        Err(_) => format!("`{name}` is not a number"),
    };
    let (source, span) = place();
    let finding = Finding::error(problem)
        .at(&source, span)
        .field(format!("column {name}"))
        .found(if text.is_empty() { "nothing" } else { text })
        .help(help);
    match column {
        Ok(_) => *column = Err(vec![finding]),
        Err(list) if list.len() < MOST => list.push(finding),
        Err(_) => {}
    }
}

/// Skips blank and comment lines, which the reader counts to the record after them.
fn content_start(source: &Source, mut at: usize) -> usize {
    let text = source.text();
    while let Some(rest) = text.get(at..) {
        let (start, line) = source.line_at(at);
        let is_content = !(line.trim().is_empty() || line.starts_with('#'));
        if is_content || rest.is_empty() {
            break;
        }
        match text[start..].find('\n') {
            Some(end) => at = start + end + 1,
            None => break,
        }
    }
    at
}

/// The span of the `c`-th cell of a line; the whole line when cells are quoted.
fn cell(source: &Source, at: usize, c: usize, separator: char) -> Range<usize> {
    let (start, line) = source.line_at(at);
    if line.contains('"') {
        return start..start + line.len();
    }
    let mut from = start;
    for (k, text) in line.split(separator).enumerate() {
        if k == c {
            let lead = text.len() - text.trim_start().len();
            return from + lead..from + lead + text.trim().len();
        }
        from += text.len() + 1;
    }
    start..start + line.len()
}

fn broken(error: &::csv::Error, source: &Arc<Source>) -> Finding {
    let at = error.position().map_or(0, |p| p.byte() as usize);
    Finding::error(format!("the table is not CSV: {error}"))
        .at(source, at..at)
        .help("give a header line with names, then one line of numbers a system")
}
