//! Reading files, and saying why they cannot be read.

use crate::finding::Finding;
use crate::source::Source;
use odeum_core::line_feeds;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Reads a UTF-8 file of at most `limit` bytes; a byte-order mark is skipped, and lines may end in carriage returns alone.
pub fn read_text(path: &Path, what: &str, limit: u64) -> Result<Arc<Source>, Finding> {
    text_of(path, what, limit, read_bytes(path, what, limit)?)
}

/// As [`read_text`] of a file whose bytes were read, of a larger one more than `limit` of them.
pub fn text_of(
    path: &Path,
    what: &str,
    limit: u64,
    bytes: Vec<u8>,
) -> Result<Arc<Source>, Finding> {
    refuse_more(path, what, limit, &bytes)?;
    let name = path.display().to_string();
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
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(Source::new(name, line_feeds(text)))
}

/// Reads a file of at most `limit` bytes.
pub fn read_bytes(path: &Path, what: &str, limit: u64) -> Result<Vec<u8>, Finding> {
    let (file, bytes) = open(path, what)?;
    if bytes > limit {
        return Err(too_large(path, what, limit, format!("{bytes} bytes")));
    }
    let mut all = Vec::new();
    // A pipe, and a file that grows meanwhile, have more than they said.
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut all);
    read.map_err(|error| cannot_read(path, what, &error))?;
    refuse_more(path, what, limit, &all)?;
    Ok(all)
}

/// Refuses bytes of which reading stopped beyond the limit: how many there are is not known.
fn refuse_more(path: &Path, what: &str, limit: u64, bytes: &[u8]) -> Result<(), Finding> {
    if bytes.len() as u64 <= limit {
        return Ok(());
    }
    Err(too_large(path, what, limit, format!("more than {limit} bytes")))
}

fn too_large(path: &Path, what: &str, limit: u64, found: String) -> Finding {
    Finding::error(format!("the {what} is too large"))
        .in_file(path.display().to_string())
        .found(found)
        .help(format!("at most {limit} bytes are read; put data into a table file"))
}

/// Opens a file to be read; and the bytes it has.
pub fn open(path: &Path, what: &str) -> Result<(File, u64), Finding> {
    let fail = |error: io::Error| cannot_read(path, what, &error);
    let meta = std::fs::metadata(path).map_err(fail)?;
    if meta.is_dir() {
        return Err(Finding::error(format!("the {what} is a folder"))
            .in_file(path.display().to_string())
            .help("name a file inside it"));
    }
    Ok((File::open(path).map_err(fail)?, meta.len()))
}

fn cannot_read(path: &Path, what: &str, error: &io::Error) -> Finding {
    let help = match error.kind() {
        io::ErrorKind::NotFound => match std::path::absolute(path) {
            // Paths are taken from the current folder, or from that of the case file: where one leads says which.
            Ok(whole) if whole != path => {
                format!("check the path; it leads to {}", whole.display())
            }
            _ => "check the path".to_owned(),
        },
        io::ErrorKind::PermissionDenied => "allow this user to read the file".to_owned(),
        _ if is_of_open_files(error) => MORE_FILES.to_owned(),
        _ => "check that this is a readable file".to_owned(),
    };
    Finding::error(format!("cannot read the {what}: {}", reason(error)))
        .in_file(path.display().to_string())
        .help(help)
}

/// What to do where no file can be opened any more.
pub(super) const MORE_FILES: &str =
    "raise the limit on open files (ulimit -n), or close other programs";

/// Whether too many files are open, in this process or altogether.
pub(super) fn is_of_open_files(error: &io::Error) -> bool {
    #[cfg(unix)]
    let limits = [nix::libc::EMFILE, nix::libc::ENFILE];
    #[cfg(not(unix))]
    let limits = [];
    error.raw_os_error().is_some_and(|code| limits.contains(&code))
}

/// The operating system's own words, without its error number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
