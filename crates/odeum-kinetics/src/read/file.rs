//! Mechanism files: which format they are in, and how their bytes are encoded.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use odeum_core::line_feeds;

use super::problem::Log;
use super::{Finder, MAX_BYTES, Named, Read, ReadErrors};

/// What of a mechanism is said beside its file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// A Chemkin file of thermodynamic data, for a Chemkin mechanism.
    pub thermo: Option<&'a Path>,
    /// A phase of a YAML file; the first of an ideal gas unless said.
    pub phase: Option<&'a str>,
    /// Folders in which other files are looked for of which a YAML file takes sections, after the
    /// folder of the file itself.
    pub include: &'a [PathBuf],
}

/// Reads a mechanism file, Cantera YAML or Chemkin by its content: [`from_selection`] without
/// folders to look for other files in.
///
/// # Errors
///
/// All problems of the files, and files that cannot be read.
pub fn from_path(
    path: &Path,
    thermo: Option<&Path>,
    phase: Option<&str>,
) -> Result<Read, ReadErrors> {
    from_selection(path, &Selection { thermo, phase, include: &[] })
}

/// Reads a mechanism file, Cantera YAML or Chemkin by its content.
///
/// A phase may take sections of other files (`gri30.yaml/species`), which are looked for in the
/// folder of the file, then in those of the selection.
///
/// # Errors
///
/// All problems of the files, and files that cannot be read.
pub fn from_selection(path: &Path, selection: &Selection<'_>) -> Result<Read, ReadErrors> {
    let Selection { thermo, phase, include } = *selection;
    let name = path.display().to_string();
    let mut log = Log::new(&name);
    let text = load(path, &mut log);
    let data = thermo.map(|path| {
        log.enter(&path.display().to_string());
        load(path, &mut log)
    });
    log.enter(&name);
    let Some(text) = text else { return Err(failed(log)) };
    let file = thermo.map(|path| path.display().to_string()).unwrap_or_default();
    // Data that could not be read are told, and end the reading, but they were given.
    let data = data.as_ref().map(|text| text.as_deref().unwrap_or_default());
    let thermo = data.map(|text| Named { file: &file, text });
    let find = |name: &str| find(path, include, name);
    by_format(Named { file: &name, text: &text }, thermo, phase, &find, log)
}

/// Reads a mechanism from texts, Cantera YAML or Chemkin by their content, as [`from_selection`] does from files.
///
/// # Errors
///
/// All problems of the texts.
pub fn from_text(
    mechanism: Named<'_>,
    thermo: Option<Named<'_>>,
    phase: Option<&str>,
) -> Result<Read, ReadErrors> {
    let text = line_feeds(unmarked(mechanism.text));
    let data = thermo.map(|thermo| line_feeds(unmarked(thermo.text)));
    let mechanism = Named { text: &text, ..mechanism };
    let thermo = thermo.zip(data.as_deref()).map(|(thermo, text)| Named { text, ..thermo });
    by_format(mechanism, thermo, phase, &super::alone, Log::new(mechanism.file))
}

/// Reads texts by their format; `log` has the problems of reading them from files.
fn by_format(
    mechanism: Named<'_>,
    thermo: Option<Named<'_>>,
    phase: Option<&str>,
    find: &Finder<'_>,
    mut log: Log,
) -> Result<Read, ReadErrors> {
    let is_yaml = match format(Path::new(mechanism.file), mechanism.text) {
        Ok(format) => format == Format::Yaml,
        Err((found, remedy)) => {
            log.error(0, "", found.to_owned(), remedy);
            return Err(failed(log));
        }
    };
    if is_yaml && thermo.is_some() {
        let found = "thermodynamic data beside a YAML mechanism, which has its own";
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
        super::yaml_with(mechanism.file, mechanism.text, phase, find)?
    } else {
        super::chemkin(mechanism, thermo)?
    };
    read.warnings.splice(0..0, warned);
    Ok(read)
}

/// The path of a file that the mechanism at `own` names, or (found, remedy).
fn find(own: &Path, include: &[PathBuf], name: &str) -> Result<PathBuf, (String, &'static str)> {
    let beside = own.parent().unwrap_or(Path::new(""));
    let folders = || std::iter::once(beside).chain(include.iter().map(PathBuf::as_path));
    // An absolute name replaces the folder.
    if let Some(path) = folders().map(|folder| folder.join(name)).find(|path| path.is_file()) {
        return Ok(path);
    }
    let shown = |folder: &Path| match folder.as_os_str().is_empty() {
        true => "the current folder".to_owned(),
        false => folder.display().to_string(),
    };
    let looked: Vec<String> = folders().map(shown).collect();
    let found = format!("no such file in {}", looked.join(", "));
    Err((found, "put it beside the mechanism, or name its folder among those to include"))
}

fn failed(log: Log) -> ReadErrors {
    match log.finish() {
        Err(errors) => errors,
        Ok(_) => ReadErrors { problems: Vec::new(), more: 0 },
    }
}

/// The text of a file; `None` with the problem told.
pub(super) fn load(path: &Path, log: &mut Log) -> Option<String> {
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
        Ok(text) => Some(line_feeds(unmarked(&text)).into_owned()),
        Err(error) => {
            let bytes = error.as_bytes();
            let line = 1 + bytes[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|&&b| b == b'\n')
                .count();
            let found = "not UTF-8: read as Latin-1".to_owned();
            log.warn(line, "", found, "save it as UTF-8 if names look wrong");
            let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
            Some(line_feeds(&text).into_owned())
        }
    }
}

/// A text without the mark that some editors put before it.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Yaml,
    Chemkin,
}

/// What a file is, by its content, and by the ending of its name where the content leaves it open;
/// or (found, remedy).
fn format(path: &Path, text: &str) -> Result<Format, (&'static str, &'static str)> {
    let comment =
        |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with(['#', '!']);
    if !text.lines().any(|line| comment(&line)) {
        let found = if text.trim().is_empty() { "an empty file" } else { "nothing but comments" };
        return Err((found, "give a mechanism"));
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let old = |name: &str| ending.as_deref() == Some(name);
    if old("cti") || text.lines().any(is_cti) {
        let found = "Cantera's old CTI format, which is not read";
        return Err((found, "convert it to YAML with cti2yaml, which comes with Cantera"));
    }
    if old("ctml") || text.trim_start().starts_with('<') {
        let found = "XML, which is not read";
        return Err((found, "convert it to YAML with ctml2yaml, which comes with Cantera"));
    }
    match by_content(text) {
        Some(format) => Ok(format),
        None if old("yaml") || old("yml") => Ok(Format::Yaml),
        None => Err((
            "neither Cantera YAML nor Chemkin: there is no section of either",
            "give a file with 'phases:', or with SPECIES and REACTIONS",
        )),
    }
}

/// A line that only a CTI file, which is a Python program, has.
fn is_cti(line: &str) -> bool {
    const CALLS: [&str; 4] =
        ["ideal_gas(", "reaction(", "three_body_reaction(", "falloff_reaction("];
    CALLS.iter().any(|call| line.starts_with(call))
}

/// YAML where a key or an item at the margin comes before any Chemkin section.
fn by_content(text: &str) -> Option<Format> {
    if text.trim_start().starts_with(['{', '[']) {
        return Some(Format::Yaml);
    }
    for line in text.lines().filter(|line| !line.trim_start().starts_with('!')) {
        let word = line.split_whitespace().next().unwrap_or("");
        let mark = word.ends_with(':') || matches!(word, "-" | "---" | "%YAML");
        if line.starts_with(word) && mark {
            return Some(Format::Yaml);
        }
        let upper = word.to_ascii_uppercase();
        if ["ELEM", "SPEC", "REAC", "THER"].iter().any(|section| upper.starts_with(section)) {
            return Some(if word.ends_with(':') { Format::Yaml } else { Format::Chemkin });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let of = |name: &str, text: &str| format(Path::new(name), text).map_err(|error| error.0);
        let (yaml, chemkin) = (Ok(Format::Yaml), Ok(Format::Chemkin));
        assert_eq!(of("f", "# note\nphases:\n- name: gas"), yaml);
        assert_eq!(of("f", "\n{phases: []}"), yaml);
        assert_eq!(of("f", "- a\n- b"), yaml);
        assert_eq!(of("f.yaml", "name"), yaml);
        assert_eq!(of("f", "!phases: none\nELEMENTS H O END"), chemkin);
        assert_eq!(of("f.yaml", "   species\nH2"), chemkin);
        assert_eq!(of("f", "THERMO ALL\n"), chemkin);
        for (name, text, found) in [
            ("f.yaml", "", "empty"),
            ("f.inp", " \n\r\n", "empty"),
            ("f.yaml", "# a\n", "comments"),
            ("f.inp", "! a\n!b", "comments"),
            ("f.cti", "units(length='cm')", "CTI"),
            ("f", "# a\nideal_gas(name='gas',\n species='H2')", "CTI"),
            ("f.xml", "<?xml version='1.0'?>", "XML"),
            ("f", "Dear reader,\nno", "neither"),
        ] {
            assert!(of(name, text).unwrap_err().contains(found), "{name}: {text}");
        }
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
