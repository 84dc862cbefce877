//! The standard output and the standard error: all text of the command goes through here.
//!
//! No stream ends a run: what is computed is worth more than what is said of it. The first
//! failure of the standard output is kept, and nothing more is written to it; [`ended`] makes the
//! exit code of it. Text on the standard error has nowhere else to go, so its failures count for
//! nothing.

use super::Style;
use crate::exit::Exit;
use odeum_io::file::reason;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::sync::{Mutex, PoisonError};

/// The first failure of the standard output.
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

/// Writes to the standard output.
pub(crate) fn say(text: &str) {
    if is_heard() {
        let mut out = io::stdout().lock();
        let text = harmless(text, Style::stdout());
        heard(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }
}

/// Writes a line to the standard error.
pub(crate) fn note(line: &str) {
    let line = harmless(line, Style::stderr());
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// A text without control characters but ends of lines, tabs and the colours of a style: names and values come from outside, and
/// would move the cursor, or change the terminal. They are shown by their pictures, as ␛.
fn harmless(text: &str, style: Style) -> Cow<'_, str> {
    let is_active = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\u{7f}' => '␡',
        c if is_active(c) => {
            char::from_u32(0x2400 + c as u32).filter(|_| c < ' ').unwrap_or('\u{fffd}')
        }
        c => c,
    };
    let mut parts = text.split('\x1b');
    let mut safe: String = parts.next().unwrap_or_default().chars().map(shown).collect();
    for part in parts {
        let is_ours = style.codes().iter().any(|code| part.starts_with(code));
        safe.push(if is_ours { '\x1b' } else { '␛' });
        safe.extend(part.chars().map(shown));
    }
    Cow::Owned(safe)
}

/// Takes what became of a text for the standard output.
pub(crate) fn heard(written: io::Result<()>) {
    if let Err(error) = written {
        FAILURE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// False once the standard output has failed.
pub(crate) fn is_heard() -> bool {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).is_none()
}

/// The exit code of a command that ended with `exit`. Where the reader of a pipe has gone, that of
/// the shell for it, without a word; of any other failure of the standard output one line is said.
pub(crate) fn ended(exit: Exit) -> Exit {
    let failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(error) = failure else { return exit };
    if error.kind() == ErrorKind::BrokenPipe {
        return worse(exit, Exit::Unheard);
    }
    note(&format!("error: cannot write to the standard output: {}", reason(&error)));
    worse(exit, Exit::Broken)
}

/// What went wrong before goes before what went wrong with its report.
fn worse(exit: Exit, unsaid: Exit) -> Exit {
    if matches!(exit, Exit::Success | Exit::SystemsFailed) { unsaid } else { exit }
}
