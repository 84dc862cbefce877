//! What an earlier run has left where a new one writes.

use crate::checkpoint;
use crate::file::{is_at, is_there, temporary};
use crate::npy;
use crate::target::Target;
use crate::zarr;
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// How the names of the files and folders end that an earlier run has written, or was to write when it was stopped; `None` where
/// neither its result nor its checkpoint says so.
pub fn ends(target: &Target) -> Option<Vec<String>> {
    let lists = [checkpoint::files(&target.checkpoint()), of_result(&target.npz())];
    let mut ends = lists.into_iter().flatten().reduce(|one, other| [one, other].concat())?;
    // What lies in other folders is none of its files, whatever a file says.
    ends.retain(|end| !end.contains(['/', '\\']));
    Some(ends)
}

/// How the names of the files end to which a run had given them when it was killed before its result, which comes last and lists them, had
/// its own. A file that is still beside its place has not come there, unless it has both names.
pub fn put(target: &Target) -> Vec<String> {
    let mut ends = of_result(&temporary(&target.npz())).unwrap_or_default();
    ends.retain(|end| {
        let (place, hidden) = (target.file(end), temporary(&target.file(end)));
        !is_there(&hidden) || File::open(&hidden).is_ok_and(|file| is_at(&file, &place))
    });
    ends
}

/// Removes those of the `files` of an ensemble to which a killed run had given their names, but for those that its checkpoint `listed`, which
/// it was to replace. The run that goes on writes them anew; were it killed too, nothing would say whose they are.
pub fn take_back(target: &Target, files: &[PathBuf], listed: &[String]) {
    let put = put(target);
    let is_put = |end: &String| put.contains(end) && !listed.contains(end);
    for path in files {
        if target.extension(path).as_ref().is_some_and(is_put) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// What a result says of the files beside it.
fn of_result(result: &Path) -> Option<Vec<String>> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(result).ok()?)).ok()?;
    // Where a species is called `about`, the text has a longer name.
    let is_about = |name: &str| name.trim_end_matches('_') == "about";
    let names = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned()));
    let names = names.filter(|name| name.strip_suffix(".npy").is_some_and(is_about));
    let names: Vec<String> = names.collect();
    names.iter().find_map(|name| {
        let mut bytes = Vec::new();
        archive.by_name(name).ok()?.read_to_end(&mut bytes).ok()?;
        let about: Value = serde_json::from_str(npy::read_texts(&bytes).ok()?.first()?).ok()?;
        Vec::deserialize(about.get("files")?).ok()
    })
}

/// Whether a file is the result of an ensemble that lacks some of its systems.
pub fn is_unfinished(result: &Path) -> bool {
    let of = || {
        let mut archive = ZipArchive::new(BufReader::new(File::open(result).ok()?)).ok()?;
        let rows = npy::Head::read(&mut archive.by_name("system.npy").ok()?).ok()?.shape;
        let mut shape = archive.by_name("shape.npy").ok()?;
        let shape = npy::Head::read(&mut shape).ok()?.values::<f64>(shape).ok()?;
        Some((*rows.first()? as f64) < shape.iter().product())
    };
    of().unwrap_or(false)
}

/// Removes files and folders of an earlier run; of a folder what runs write there, and no folder of another program.
pub fn remove<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) {
    for path in paths {
        if !path.is_dir() {
            let _ = std::fs::remove_file(path);
        } else if zarr::is_ours(path) {
            let _ = std::fs::remove_dir_all(path);
        } else if path.extension().is_some_and(|extension| extension == "frames") {
            remove_states(path);
        }
    }
}

/// Empties a folder of states, which goes with them unless it holds other things too.
fn remove_states(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_state) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(folder);
}

/// Whether a file has the name of a state: `00003.vti`, or of a picture of it: `u_z16_00003.png`, `u_surface0_00003.png`.
fn is_state(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_index = |text: &str| text.len() >= 5 && is_number(text);
    if let Some(index) = name.strip_suffix(".vti") {
        return is_index(index);
    }
    let of_picture = || {
        let (stem, index) = name.strip_suffix(".png")?.rsplit_once('_')?;
        let (_, cut) = stem.rsplit_once('_')?;
        let number = ["x", "y", "z", "surface"].iter().find_map(|kind| cut.strip_prefix(kind))?;
        Some(is_index(index) && is_number(number))
    };
    of_picture().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::is_state;

    #[test]
    fn names_of_states_are_told_from_others() {
        for name in ["00003.vti", "u_z16_00003.png", "a_b_surface0_100000.png"] {
            assert!(is_state(name), "{name}");
        }
        for name in ["figure1.png", "u_00003.png", "u_z_00003.png", "u_z16_3.png", "mine.vti"] {
            assert!(!is_state(name), "{name}");
        }
    }
}
