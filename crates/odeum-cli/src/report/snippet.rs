//! A finding with the line of the file it is about.

use super::Style;
use super::table::wrap;
use odeum_io::finding::{Finding, Severity};
use odeum_io::source::{Place, Source};
use std::fmt::Write;
use std::ops::Range;

/// Most findings shown in full; a file that is broken throughout need not fill the terminal.
const MOST: usize = 20;
/// Characters of a source line that are shown.
const LINE: usize = 96;
/// Columns of the remedy text.
const WRAP: usize = 88;

/// All findings as text, with a last line that counts them.
pub(crate) fn report(findings: &[Finding], style: Style) -> String {
    let mut text = String::new();
    for finding in findings.iter().take(MOST) {
        text += &one(finding, style);
        text.push('\n');
    }
    if findings.len() > MOST {
        let _ = writeln!(text, "… and {} more\n", findings.len() - MOST);
    }
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    if errors > 0 {
        let and =
            if warnings > 0 { format!(", {}", plural(warnings, "warning")) } else { String::new() };
        let _ = writeln!(text, "{}", style.red(&format!("{}{and}", plural(errors, "error"))));
    } else if warnings > 0 {
        let _ = writeln!(text, "{}", style.yellow(&plural(warnings, "warning")));
    }
    text
}

fn one(finding: &Finding, style: Style) -> String {
    let head = match finding.severity {
        Severity::Error => style.red("error"),
        Severity::Warning => style.yellow("warning"),
    };
    let mut text = format!("{head}{} {}\n", style.bold(":"), style.bold(&finding.message));
    let margin = match &finding.span {
        Some((source, span)) => {
            let number = source.place(span.start).line.to_string();
            text += &excerpt(source, span, &number, finding.severity, style);
            number.len()
        }
        None => {
            if let Some(file) = &finding.file {
                let _ = writeln!(text, " {} {file}", style.blue("-->"));
            }
            1
        }
    };
    let notes = [("field", &finding.field), ("found", &finding.found), ("help", &finding.help)];
    for (name, note) in notes {
        let Some(note) = note else { continue };
        let mut lines = wrap(note, WRAP).into_iter();
        let indent = " ".repeat(margin + 1);
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(text, "{indent}{} {}: {first}", style.blue("="), style.bold(name));
        for line in lines {
            let _ = writeln!(text, "{indent}  {}  {line}", " ".repeat(name.len()));
        }
    }
    text
}

/// The place, and the line with the span underlined.
fn excerpt(
    source: &Source,
    span: &Range<usize>,
    number: &str,
    severity: Severity,
    style: Style,
) -> String {
    let (start, line) = source.line_at(span.start);
    let before = boundary(line, span.start.saturating_sub(start));
    let end = boundary(line, span.end.saturating_sub(start)).max(before);
    // A very long line is shown around the span only.
    let skip = line[..before].chars().count().saturating_sub(LINE * 2 / 3);
    let shown: String = line.chars().skip(skip).take(LINE).map(plain).collect();
    let lead: String = if skip > 0 { "…".into() } else { String::new() };
    let tail = if line.chars().count() > skip + LINE { "…" } else { "" };
    let indent = line[..before].chars().count() - skip + lead.chars().count();
    let marked = line[before..end].chars().count().clamp(1, LINE - indent.min(LINE - 1));
    let marks = "^".repeat(marked);
    let marks = match severity {
        Severity::Error => style.red(&marks),
        Severity::Warning => style.yellow(&marks),
    };
    let gutter = " ".repeat(number.len());
    let bar = style.blue("|");
    let mut text = String::new();
    let (name, Place { line, column }) = (source.name(), source.place(span.start));
    let _ = writeln!(text, "{gutter}{} {name}:{line}:{column}", style.blue("-->"));
    let _ = writeln!(text, "{gutter} {bar}");
    let _ = writeln!(text, "{} {bar} {lead}{shown}{tail}", style.blue(number));
    let _ = writeln!(text, "{gutter} {bar} {}{marks}", " ".repeat(indent));
    text
}

/// The nearest start of a character at or before an offset.
fn boundary(line: &str, offset: usize) -> usize {
    let offset = offset.min(line.len());
    (0..=offset).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0)
}

/// Tabs and control characters take one column, so that the marks stand under the span.
fn plain(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_is_underlined() {
        let source = Source::new("a.toml", "[tolerance]\nrtoll = 1e-6\n");
        let finding = Finding::error("unknown key `rtoll`")
            .at(&source, 12..17)
            .field("tolerance.rtoll")
            .help("did you mean `rtol`?");
        let expected = "\
error: unknown key `rtoll`
 --> a.toml:2:1
  |
2 | rtoll = 1e-6
  | ^^^^^
  = field: tolerance.rtoll
  = help: did you mean `rtol`?

1 error
";
        assert_eq!(report(&[finding], Style::plain()), expected);
    }

    #[test]
    fn long_lines_and_ends_of_files_are_no_trouble() {
        let source = Source::new("a", "é".repeat(100_000));
        for span in [0..0, 100_000..100_002, 200_000..200_000, 500_000..600_000] {
            let text = report(&[Finding::error("x").at(&source, span)], Style::plain());
            assert!(text.lines().all(|line| line.chars().count() < 2 * LINE));
        }
    }
}
