//! CSV tables: a header, then one row a system. Lines that start with `#`, after spaces too, are comments, but for rows whose
//! first cell is an error of a spreadsheet, as `#N/A`. Values are separated by commas, semicolons or tabs, as the header has them outside of quotes.
//!
//! Blank lines are skipped. But in a table of one column a blank line between others is a row whose cell is
//! empty: skipped, it would move the rows after it.

use super::RawTable;
use crate::case::reader::SourceSpan;
use odeum_core::{TOO_SMALL, vanishes};
use odeum_io::Finding;
use odeum_io::Source;
use odeum_io::file::read_text;
use odeum_io::number::count;
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
    let form = Form::of(&source);
    let separator = form.separator;
    let Marked { text, mark, comments, doubtful } = marked(source.text(), &form);
    let text: &[u8] = &text;
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(separator as u8)
        .flexible(true)
        // What is in the rows is trimmed where it is read: the reader copies each record for it.
        .trim(::csv::Trim::Headers)
        .comment(Some(mark))
        // A comment that ends with the file would be a row.
        .from_reader(text.chain(&b"\n"[..]));
    let header = reader.headers().map_err(|error| vec![broken(&error, &source)])?.clone();
    let header_at = form.header_at;
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
    let mut columns: Vec<Result<Vec<f64>, Slips>> = names.iter().map(|_| Ok(Vec::new())).collect();
    let mut shape = Slips::default();
    let mut rows = 0;
    let mut record = ::csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                shape.push(|| broken(&error, &source));
                break;
            }
        }
        let from = record.position().map_or(0, |p| p.byte() as usize);
        // It is looked for where a slip is told, or blank lines are.
        let at = || content_start(&source, from, &form);
        if names.len() == 1 {
            for blank in blank_lines(&source, from..at(), &form) {
                let place = || (Arc::clone(&source), blank..blank);
                push(&mut columns[0], "", lenient, place, &names[0]);
                rows += 1;
            }
        }
        if record.len() != names.len() {
            shape.push(|| {
                let at = at();
                let line = source.line_at(at);
                let finding = Finding::error(format!(
                    "the header has {} columns, row {} has {}",
                    names.len(),
                    rows + 1,
                    record.len()
                ));
                finding
                    .at(&source, at..line.0 + line.1.len())
                    .found(line.1)
                    .help("every row must have one value for each column of the header")
            });
        } else if shape.first.is_empty() {
            for (c, text) in record.iter().enumerate() {
                let place = || (Arc::clone(&source), cell(&source, at(), c, separator));
                push(&mut columns[c], text.trim(), lenient, place, &names[c]);
            }
        }
        rows += 1;
    }
    if !shape.first.is_empty() {
        return Err(shape.told(&source, "more rows have another number of values than the header"));
    }
    let told = |slips: Slips| slips.told(&source, "more values of this column are as wrong");
    let columns = columns.into_iter().map(|column| column.map_err(told)).collect();
    let hint = no_names(&source, header_at, &names);
    let warnings = doubtful.map(|(count, at)| doubt(&source, count, at)).into_iter().collect();
    let table = RawTable::new(Some(names), columns, "columns", name_source_spans);
    Ok(RawTable { hint, comments, warnings, ..table })
}

/// What is wrong with a table: the first slips, and how many there are besides.
#[derive(Default)]
struct Slips {
    first: Vec<Finding>,
    more: usize,
}

impl Slips {
    fn push(&mut self, slip: impl FnOnce() -> Finding) {
        match self.first.len() < MOST {
            true => self.first.push(slip()),
            false => self.more += 1,
        }
    }

    /// All of them as findings, the last of which says `what` the others are.
    fn told(mut self, source: &Source, what: &str) -> Vec<Finding> {
        if self.more > 0 {
            let field = self.first[0].field.clone();
            let mut rest = Finding::error(format!("{} {what}", count(self.more as u64)))
                .in_file(source.name());
            rest.field = field;
            self.first.push(rest);
        }
        self.first
    }
}

/// A warning of comments that may be rows, the first of which stands at `at`.
fn doubt(source: &Arc<Source>, comments: usize, at: usize) -> Finding {
    let line = source.line_at(at).1;
    let (are, this) = match comments {
        1 => ("a line that begins with # is a comment, and has the values", ""),
        _ => ("lines that begin with # are comments, and have the values", ", as this one"),
    };
    let number = if comments == 1 { String::new() } else { format!("{} ", count(comments as u64)) };
    Finding::error(format!("{number}{are} of a row{this}"))
        .into_warning()
        .at(source, at..at + line.len())
        .help("to read it as a row, take its # away; nothing to do where it was taken out of the table by that")
}

/// What may separate the values.
const MARKS: [char; 3] = [',', ';', '\t'];

/// What spreadsheets write for a value that they do not have; of other languages German and French.
const ERRORS: [&str; 20] = [
    "#N/A",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
    "#NULL!",
    "#SPILL!",
    "#CALC!",
    "#FIELD!",
    "#BLOCKED!",
    "#BUSY!",
    "#GETTING_DATA",
    "#NV",
    "#WERT!",
    "#BEZUG!",
    "#ZAHL!",
    "#VALEUR!",
    "#NOM?",
    "#NOMBRE!",
];

/// How a table is written.
struct Form {
    separator: char,
    /// Where the header begins.
    header_at: usize,
    columns: usize,
}

impl Form {
    fn of(source: &Source) -> Form {
        let separator = separator(source);
        let mut lines = lines(source, 0);
        let header = lines.find(|(_, line)| Line::of(line, separator) == Line::Values);
        let (header_at, columns) = header.map_or((0, 0), |(at, line)| (at, cells(line, separator)));
        Form { separator, header_at, columns }
    }

    /// What the line holds that begins at a place.
    fn line(&self, at: usize, line: &str) -> Line {
        match Line::of(line, self.separator) {
            Line::Comment if at > self.header_at && self.begins_with_error(line) => Line::Values,
            kind => kind,
        }
    }

    /// Whether a line is a row whose first cell is an error of a spreadsheet.
    fn begins_with_error(&self, line: &str) -> bool {
        let first = line.split(self.separator).next().unwrap_or_default();
        ERRORS.contains(&first.trim())
    }

    /// Whether a comment might be a row: its other cells are numbers, errors, or empty, and where all are empty
    /// its first is a word as errors are.
    fn may_be_row(&self, comment: &str) -> bool {
        let mut cells_of = comment.split(self.separator).map(str::trim);
        let first = cells_of.next().unwrap_or_default();
        let others: Vec<&str> = cells_of.collect();
        let is_value = |cell: &&str| cell.starts_with('#') || self.is_number(cell);
        cells(comment, self.separator) == self.columns
            && others.iter().all(|cell| cell.is_empty() || is_value(cell))
            && (others.iter().any(is_value) || is_like_error(first))
    }

    /// Whether a cell is a number, with a decimal comma too.
    fn is_number(&self, cell: &str) -> bool {
        let point = || cell.replacen(',', ".", 1).parse::<f64>().is_ok();
        cell.parse::<f64>().is_ok() || self.separator != ',' && point()
    }
}

/// Whether a cell is one word in capital letters, as errors of spreadsheets in all languages are.
fn is_like_error(cell: &str) -> bool {
    let word = cell.trim_start_matches(['#', '¡', '¿']).trim_end_matches(['!', '?']);
    word.starts_with(char::is_uppercase)
        && word.chars().all(|c| c.is_uppercase() || ['/', '_', '0'].contains(&c))
}

/// Cells of a line.
fn cells(line: &str, separator: char) -> usize {
    unquoted(line, &[separator], &mut false).matches(separator).count() + 1
}

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
    column: &mut Result<Vec<f64>, Slips>,
    text: &str,
    lenient: bool,
    place: impl Fn() -> (Arc<Source>, Range<usize>),
    name: &str,
) {
    let is_lacking = text.is_empty() || ERRORS.contains(&text);
    let number = if lenient && is_lacking { Ok(f64::NAN) } else { text.parse::<f64>() };
    let help = match &number {
        Ok(0.0) if vanishes(text) => TOO_SMALL,
        Ok(_) => super::BAD_ROWS_HELP,
        Err(_) if is_lacking => super::BAD_ROWS_HELP,
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
    let slip = || {
        let (source, span) = place();
        Finding::error(problem)
            .at(&source, span)
            .field(format!("column {name}"))
            .found(if text.is_empty() { "nothing" } else { text })
            .help(help)
    };
    if column.is_ok() {
        *column = Err(Slips::default());
    }
    if let Err(slips) = column {
        slips.push(slip);
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

/// A text as the reader of CSV takes it.
struct Marked<'a> {
    /// Byte for byte in its place; lines that are no rows begin with the mark.
    text: Cow<'a, [u8]>,
    /// That of comments, or, where rows may begin with it, no byte of a text.
    mark: u8,
    /// Comments after the header.
    comments: usize,
    /// How many of them may be rows, and where the first begins.
    doubtful: Option<(usize, usize)>,
}

/// Marks comments, and blank lines that are not empty: the reader knows the others.
fn marked<'a>(text: &'a str, form: &Form) -> Marked<'a> {
    let is_error = |at: usize| ERRORS.iter().any(|error| text[at..].starts_with(error));
    let mark = if text.match_indices('#').any(|(at, _)| is_error(at)) { 0xff } else { b'#' };
    let bytes = Cow::Borrowed(text.as_bytes());
    let mut marked = Marked { text: bytes, mark, comments: 0, doubtful: None };
    let mut at = 0;
    // A value in quotes may have several lines.
    let (has_quotes, mut inside) = (text.contains('"'), false);
    for line in text.split_inclusive('\n') {
        let inner = line.trim_end_matches(['\n', '\r']);
        let kind = if inside { Line::Values } else { form.line(at, inner) };
        if kind == Line::Comment && at > form.header_at {
            marked.comments += 1;
            if form.may_be_row(inner) {
                marked.doubtful.get_or_insert((0, at)).0 += 1;
            }
        }
        if kind != Line::Values && !inner.is_empty() && text.as_bytes()[at] != mark {
            marked.text.to_mut()[at] = mark;
        }
        if has_quotes && kind == Line::Values {
            unquoted(inner, &[form.separator], &mut inside);
        }
        at += line.len();
    }
    marked
}

/// Skips blank and comment lines, which the reader counts to the record after them.
fn content_start(source: &Source, from: usize, form: &Form) -> usize {
    let lines = lines(source, from);
    let mut content = lines.skip_while(|(at, line)| form.line(*at, line) != Line::Values);
    content.next().map_or(from, |(at, _)| at)
}

/// Where blank lines begin in a part of the text.
fn blank_lines(
    source: &Source,
    Range { start, end }: Range<usize>,
    form: &Form,
) -> impl Iterator<Item = usize> {
    let lines = lines(source, start).take_while(move |(at, _)| *at < end);
    let blank = lines.filter(|(at, line)| form.line(*at, line) == Line::Blank);
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
