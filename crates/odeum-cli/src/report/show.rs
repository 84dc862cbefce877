//! Findings, shown.

use super::{Style, note, report};
use crate::exit::Exit;
use odeum_io::{Finding, Severity};

/// Shows findings; the exit code they deserve, if any is an error.
pub(crate) fn show(findings: &[Finding], exit: Exit) -> Option<Exit> {
    if !findings.is_empty() {
        note(report(findings, Style::stderr()).trim_end_matches('\n'));
    }
    findings.iter().any(|f| f.severity == Severity::Error).then_some(exit)
}

/// Shows a warning on the way.
pub(crate) fn tell(warning: Finding) {
    show(&[warning], Exit::Broken);
}
