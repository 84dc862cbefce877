//! CSV tables: a header, then one row a system. Lines that start with `#`, after spaces too, are comments.
//! Values are separated by commas, semicolons or tabs, as the header has them outside of quotes.
//!
//! Blank lines are skipped. But in a table of one column a blank line between others is a row whose cell is
//! empty: skipped, it would move the rows after it.

use super::RawTable;
use crate::case::reader::{SourceSpan, TOO_SMALL, vanishes};
use odeum_io::Finding;
use odeum_io::Source;
use odeum_io::file::read_text;
use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Most slips reported of one table.
const MOST: usize = 5;

/// Reads a whole file; the error is everything that is wrong with its shape. Numbers may be none
/// where `lenient`, and cells empty.
pub(super) fn read(path: &Path, lenient: bool) -> Result<RawTable, Vec<Finding>> {
    let source = read_text(path, "table", u64::MAX).map_err(|finding| vec![finding])?;
    // Before the header nobody knows whether tabs separate values.
    let separator = separator(&source);
    let text = marked(source.text(), separator);
    let text: &[u8] = &text;
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(separator as u8)
        .flexible(true)
        .trim(::csv::Trim::All)
        .comment(Some(b'#'))
        // A comment that ends with the file would be a row.
        .from_reader(text.chain(&b"\n"[..]));
    let header = reader.headers().map_err(|error| vec![broken(&error, &source)])?.clone();
    let header_at = header.position().map_or(0, |p| p.byte() as usize);
    // The reader's position may lie before comments and blank lines: the header is the next line.
    let header_at = content_start(&source, header_at, separator);
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
        let from = record.position().map_or(0, |p| p.byte() as usize);
        let at = content_start(&source, from, separator);
        if names.len() == 1 {
            for blank in blank_lines(&source, from..at, separator) {
                let text = if lenient { "nan" } else { "" };
                let place = || (Arc::clone(&source), blank..blank);
                push(&mut columns[0], text, lenient, place, &names[0]);
                rows += 1;
            }
        }
        if record.len() != names.len() {
            let line = source.line_at(at);
            let finding = Finding::error(format!(
                "the header has {} columns, row {} has {}",
                names.len(),
                rows + 1,
                record.len()
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
    let hint = no_names(&source, header_at, &names);
    let table = RawTable::new(Some(names), columns, "columns", name_source_spans);
    Ok(RawTable { hint, ..table })
}

/// What may separate the values.
const MARKS: [char; 3] = [',', ';', '\t'];

/// What separates the values: of commas, semicolons and tabs the first that stands in the header outside of quotes; one
/// of which the first row has as many comes before others, which may stand in names.
fn separator(source: &Source) -> char {
    let mut lines = lines(source, 0).filter(|(_, line)| Line::of(line, ',') == Line::Values);
    let [header, row] = [lines.next(), lines.next()]
        .map(|line| unquoted(line.map_or("", |(_, line)| line), &MARKS, &mut false));
    let count = |text: &str, mark: char| text.matches(mark).count();
    let of_header = || MARKS.into_iter().filter(|mark| header.contains(*mark));
    let of_both = of_header().find(|mark| count(&row, *mark) == count(&header, *mark));
    of_both.or(of_header().next()).unwrap_or(',')
}

/// What of a line stands outside of quotes, which open where a value begins: after one of the marks. Whether the end
/// of the line is `inside` is kept from one to the next.
fn unquoted(line: &str, marks: &[char], inside: &mut bool) -> String {
    let mut text = String::new();
    let mut begins = !*inside;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if *inside => *inside = rest.next_if_eq(&'"').is_some(),
            '"' if begins => *inside = true,
            _ if !*inside => text.push(c),
            _ => {}
        }
        begins = !*inside && marks.contains(&c);
    }
    text
}

/// What to do about a header of numbers: it is a row, and the header may be a comment, as `numpy.savetxt` writes it.
fn no_names(source: &Source, header_at: usize, names: &[String]) -> Option<String> {
    // Spaces separate the numbers of `numpy.savetxt` unless it is told otherwise.
    let numbers = |name: &String| name.split_whitespace().all(|word| word.parse::<f64>().is_ok());
    if !names.iter().all(|name| !name.is_empty() && numbers(name)) {
        return None;
    }
    let before = lines(source, 0).take_while(|(at, _)| *at < header_at);
    Some(match before.filter(|(_, line)| line.trim_start().starts_with('#')).last() {
        Some((_, comment)) => format!(
            "the first line has numbers, and `{}` before it is a comment: where it is the header, take its # away \
             (numpy.savetxt does with delimiter=\",\", comments=\"\")",
            comment.trim()
        ),
        None => "the first line has numbers: give a header line with names before it".to_owned(),
    })
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
        Ok(0.0) if vanishes(text) => TOO_SMALL,
        Ok(_) => super::BAD_ROWS_HELP,
        Err(_) => "give a finite number, with a point as decimal sign",
    };
    let problem = match number {
        Ok(0.0) if vanishes(text) => format!("`{name}` is too small for a number"),
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

/// What a line holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Blank,
    Comment,
    Values,
}

impl Line {
    fn of(line: &str, separator: char) -> Line {
        match line.trim_start_matches([' ', '\t']) {
            // Where tabs separate values, a line of tabs has empty cells.
            "" if separator == '\t' && line.contains('\t') => Line::Values,
            "" => Line::Blank,
            rest if rest.starts_with('#') => Line::Comment,
            _ => Line::Values,
        }
    }
}

/// The text as the reader of CSV takes it, byte for byte in its place: it knows comments that begin a line
/// and blank lines that are empty, so all others are marked as comments.
fn marked(text: &str, separator: char) -> Cow<'_, [u8]> {
    let mut marked = Cow::Borrowed(text.as_bytes());
    let mut at = 0;
    // A value in quotes may have several lines.
    let (has_quotes, mut inside) = (text.contains('"'), false);
    for line in text.split_inclusive('\n') {
        let inner = line.trim_end_matches(['\n', '\r']);
        let is_row = inside || Line::of(inner, separator) == Line::Values;
        if inner.starts_with([' ', '\t']) && !is_row {
            marked.to_mut()[at] = b'#';
        }
        if has_quotes && is_row {
            unquoted(inner, &[separator], &mut inside);
        }
        at += line.len();
    }
    marked
}

/// Skips blank and comment lines, which the reader counts to the record after them.
fn content_start(source: &Source, from: usize, separator: char) -> usize {
    let lines = lines(source, from);
    let mut content = lines.skip_while(|(_, line)| Line::of(line, separator) != Line::Values);
    content.next().map_or(from, |(at, _)| at)
}

/// Where blank lines begin in a part of the text.
fn blank_lines(
    source: &Source,
    Range { start, end }: Range<usize>,
    separator: char,
) -> impl Iterator<Item = usize> {
    let lines = lines(source, start).take_while(move |(at, _)| *at < end);
    let blank = lines.filter(move |(_, line)| Line::of(line, separator) == Line::Blank);
    blank.map(|(at, _)| at)
}

/// The lines from a place on, and where they begin. The reader of CSV ends a line before its line feed where
/// that follows a carriage return.
fn lines(source: &Source, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let text = source.text();
    let mut at = match text.as_bytes().get(from) {
        Some(b'\n') if from > 0 && text.as_bytes()[from - 1] == b'\r' => from + 1,
        _ => from,
    };
    let rest = text.get(at..).unwrap_or_default();
    rest.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
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
