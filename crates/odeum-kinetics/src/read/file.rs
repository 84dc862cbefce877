//! Mechanism files: which format they are in, and how their bytes are encoded.

use std::io::Read as _;
use std::path::Path;

use super::problem::Log;
use super::{MAX_BYTES, Named, Read, ReadErrors};

/// Reads a mechanism file, Cantera YAML or Chemkin by its content.
///
/// `thermo` is a Chemkin file of thermodynamic data, for a Chemkin mechanism; `phase` chooses a
/// phase of a YAML file.
///
/// # Errors
///
/// All problems of the files, and files that cannot be read.
pub fn from_path(
    path: &Path,
    thermo: Option<&Path>,
    phase: Option<&str>,
) -> Result<Read, ReadErrors> {
    let name = path.display().to_string();
    let mut log = Log::new(&name);
    let text = load(path, &mut log);
    let data = thermo.map(|path| {
        log.enter(&path.display().to_string());
        load(path, &mut log)
    });
    log.enter(&name);
    let Some(text) = text else { return Err(failed(log)) };
    let is_yaml = is_yaml(&text);
    if is_yaml && thermo.is_some() {
        let found = "a file of thermodynamic data for a YAML mechanism, which has its own";
        log.error(0, "", found.to_owned(), "give the mechanism alone");
    }
    if !is_yaml && phase.is_some() {
        let found = "a phase chosen of a Chemkin mechanism, which has only one";
        log.error(0, "", found.to_owned(), "give the mechanism alone");
    }
    if log.has_errors() {
        return Err(failed(log));
    }
    let warned = log.finish()?;
    let mut read = if is_yaml {
        super::yaml(&name, &text, phase)?
    } else {
        let file = thermo.map(|path| path.display().to_string()).unwrap_or_default();
        let data = data.flatten();
        let thermo = data.as_ref().map(|text| Named { file: &file, text });
        super::chemkin(Named { file: &name, text: &text }, thermo)?
    };
    read.warnings.splice(0..0, warned);
    Ok(read)
}

fn failed(log: Log) -> ReadErrors {
    match log.finish() {
        Err(errors) => errors,
        Ok(_) => ReadErrors { problems: Vec::new(), more: 0 },
    }
}

/// The text of a file; `None` with the problem told.
fn load(path: &Path, log: &mut Log) -> Option<String> {
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    let read = std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    if let Err(error) = read {
        log.error(0, "", format!("cannot be read: {error}"), "check the path");
        return None;
    }
    decode(bytes, log)
}

/// UTF-8, or Latin-1 with a warning: old Chemkin files have names of authors in it.
fn decode(bytes: Vec<u8>, log: &mut Log) -> Option<String> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) || bytes.contains(&0) {
        let found = "not text in UTF-8: UTF-16, or a binary file".to_owned();
        log.error(0, "", found, "save it as UTF-8");
        return None;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            let bytes = error.as_bytes();
            let line = 1 + bytes[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|&&b| b == b'\n')
                .count();
            let found = "not UTF-8: read as Latin-1".to_owned();
            log.warn(line, "", found, "save it as UTF-8 if names look wrong");
            Some(bytes.iter().map(|&byte| char::from(byte)).collect())
        }
    }
}

/// Whether a text is YAML: a key at the margin comes before any Chemkin section.
fn is_yaml(text: &str) -> bool {
    for line in text.lines() {
        if line.trim_start().starts_with('!') {
            continue;
        }
        let word = line.split_whitespace().next().unwrap_or("");
        let upper = word.to_ascii_uppercase();
        if line.starts_with(word) && (word.ends_with(':') || word == "---" || word == "%YAML") {
            return true;
        }
        if upper.starts_with("ELEM") || upper.starts_with("SPEC") || upper.starts_with("REAC") {
            return word.ends_with(':');
        }
    }
    text.trim_start().starts_with(['{', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_content() {
        assert!(is_yaml("# note\nphases:\n- name: gas"));
        assert!(is_yaml("\n{phases: []}"));
        assert!(!is_yaml("!phases: none\nELEMENTS H O END"));
        assert!(!is_yaml("   species\nH2"));
    }

    #[test]
    fn encodings() {
        let mut log = Log::new("f");
        assert_eq!(decode(vec![b'a', 0xe9], &mut log).as_deref(), Some("aé"));
        assert_eq!(decode("\u{feff}x".into(), &mut log).as_deref(), Some("x"));
        assert!(!log.has_errors());
        assert!(decode(vec![0xff, 0xfe, b'a', 0], &mut log).is_none());
        assert!(log.has_errors());
    }
}
