//! What is wrong with a mechanism file: every problem at once, each with its place and a remedy.

use std::fmt;

/// One thing wrong with, or doubtful in, a mechanism file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the file.
    pub file: String,
    /// Line, from 1; 0 where the problem is of the file as a whole.
    pub line: usize,
    /// The reaction, species or section, or nothing.
    pub subject: String,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": ")?;
        if !self.subject.is_empty() {
            write!(f, "{}: ", self.subject)?;
        }
        write!(f, "{}", self.found)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

/// All problems of a mechanism file; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadErrors {
    /// The problems in the order of the file.
    pub problems: Vec<Problem>,
    /// Problems beyond those listed.
    pub more: usize,
}

impl fmt::Display for ReadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.problems.len() + self.more;
        write!(f, "{total} problem{} in the mechanism", if total == 1 { "" } else { "s" })?;
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        if self.more > 0 {
            write!(f, "\n  and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadErrors {}

/// Problems listed in full; the rest of a hopeless file is only counted.
const LISTED: usize = 200;

/// Longest piece of a file repeated in a message \[characters\].
const QUOTED: usize = 120;

/// Collects the problems and warnings of one file.
#[derive(Debug, Default)]
pub(crate) struct Log {
    file: String,
    problems: Vec<Problem>,
    more: usize,
    warnings: Vec<Problem>,
    warnings_left_out: usize,
}

/// At most [`QUOTED`] characters of `text`, on one line.
pub(crate) fn quote(text: &str) -> String {
    let mut short: String =
        text.chars().take(QUOTED).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(QUOTED).is_some() {
        short.push('…');
    }
    short
}

impl Log {
    pub(crate) fn new(file: &str) -> Self {
        Log { file: file.to_owned(), ..Log::default() }
    }

    fn problem(&self, line: usize, subject: &str, found: String, remedy: &str) -> Problem {
        Problem {
            file: self.file.clone(),
            line,
            subject: quote(subject),
            found,
            remedy: remedy.to_owned(),
        }
    }

    /// The file that the problems to come belong to.
    pub(crate) fn enter(&mut self, file: &str) {
        file.clone_into(&mut self.file);
    }

    /// True where more problems were found than are listed: reading on would tell nothing.
    pub(crate) fn is_full(&self) -> bool {
        self.more > 0
    }

    pub(crate) fn error(&mut self, line: usize, subject: &str, found: String, remedy: &str) {
        if self.problems.len() < LISTED {
            let problem = self.problem(line, subject, found, remedy);
            self.problems.push(problem);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn warn(&mut self, line: usize, subject: &str, found: String, remedy: &str) {
        if self.warnings.len() < LISTED {
            let problem = self.problem(line, subject, found, remedy);
            self.warnings.push(problem);
        } else {
            self.warnings_left_out += 1;
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        !self.problems.is_empty()
    }

    /// The warnings, or the problems where there are any.
    pub(crate) fn finish(mut self) -> Result<Vec<Problem>, ReadErrors> {
        if self.problems.is_empty() {
            if self.warnings_left_out > 0 {
                let found = format!("{} more warnings", self.warnings_left_out);
                let last = self.problem(0, "", found, "");
                self.warnings.push(last);
            }
            return Ok(self.warnings);
        }
        // Stable: problems of one line stay in the order in which they were found.
        self.problems.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        Err(ReadErrors { problems: self.problems, more: self.more })
    }
}
