//! Where the output of a run goes, and whether it can.

use crate::file::{Lock, Room, cannot_write, probe};
use crate::finding::Finding;
use crate::number::bytes;
use std::path::{Path, PathBuf};

/// The files of one result: one folder, one name, several extensions.
#[derive(Clone, Debug)]
pub struct Target {
    folder: PathBuf,
    name: String,
}

impl Target {
    /// From the command line, else what the case file names, else the current folder and the name of
    /// the case file. A path that ends in `.npz` is a file, any other a folder, `a.npz/` too.
    ///
    /// # Errors
    /// The path is that of a file of another kind, has no name before `.npz`, or a name that is no text.
    pub fn new(
        output: Option<&Path>,
        (name, folder): (Option<&str>, Option<&Path>),
        case: &Path,
    ) -> Result<Target, Finding> {
        let stem = |path: &Path| {
            let stem = path.file_stem().unwrap_or_default();
            stem.to_str().map(str::to_owned).ok_or_else(|| {
                Finding::error("the name of the result would not be UTF-8")
                    .found(stem.display())
                    .help("give one in UTF-8: by `name` in [output], or --output NAME.npz")
            })
        };
        let mut name = name.map(str::to_owned);
        let mut folder = folder.map(Path::to_owned).unwrap_or_default();
        if let Some(path) = output {
            if path.extension().is_some_and(|e| e == "npz") && !ends_as_folder(path) {
                name = Some(stem(path)?);
                folder = path.parent().unwrap_or(Path::new("")).to_owned();
            } else if path.file_name().is_some_and(|name| name == ".npz") && !is_folder(path) {
                return Err(Finding::error("the result has no name")
                    .field("--output")
                    .found(path.display())
                    .help("give a name before .npz; for a folder of this name put a / behind it"));
            } else {
                let help = "for a folder of this name put a / behind it; other files lie beside \
                            the result and are asked for by `formats` in [output]";
                refuse_other("--output", path, "npz", help)?;
                folder = path.to_owned();
            }
        }
        Ok(Target { folder, name: name.map_or_else(|| stem(case), Ok)? })
    }

    /// `NAME.extension` in the folder.
    pub fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    /// How a file of this folder and name ends, as [`file`](Target::file) takes it.
    pub fn extension(&self, path: &Path) -> Option<String> {
        let name = path.strip_prefix(&self.folder).ok()?.to_str()?;
        Some(name.strip_prefix(&self.name)?.strip_prefix('.')?.to_owned())
    }

    /// The result.
    pub fn npz(&self) -> PathBuf {
        self.file("npz")
    }

    /// What a stopped run has finished.
    pub fn partial(&self) -> PathBuf {
        self.file("partial.npz")
    }

    /// What a run that was stopped goes on from.
    pub fn checkpoint(&self) -> PathBuf {
        self.file("checkpoint")
    }

    /// The right to write the result, in its folder, which is made if need be. Where files cannot be
    /// locked, `tell` is called with a warning.
    ///
    /// # Errors
    /// Another run has it.
    pub fn lock(&self, tell: impl FnOnce(Finding)) -> Result<Option<Lock>, Finding> {
        // Where this fails the probe says why.
        let _ = std::fs::create_dir_all(&self.folder);
        Lock::take(&self.npz(), tell)
    }

    /// Begins to make room for a result of about so many bytes.
    pub fn room(&self, bytes: u128) -> Option<Room> {
        Room::begin(&self.folder, bytes)
    }

    /// Makes the folder if need be, and tries whether files can be written there and fit:
    /// before hours of computing, not after.
    pub fn probe(&self, need: u128) -> Result<(), Finding> {
        let path = self.npz();
        if !self.folder.as_os_str().is_empty() {
            std::fs::create_dir_all(&self.folder)
                .map_err(|error| cannot_write(&self.folder, &error))?;
        }
        probe(&path)?;
        match free_space(&self.folder) {
            Some(free) if free < need => Err(Finding::error("the output does not fit on the disk")
                .in_file(path.display().to_string())
                .found(format!("{} free, about {} needed", bytes(free), bytes(need)))
                .help("make room, choose another disk with --output, or write fewer states")),
            _ => Ok(()),
        }
    }
}

/// Refuses a path that is none of a single file of the `own` kind: that of a folder, or one whose name ends
/// as those of other files do.
pub fn refuse_no_file(option: &str, path: &Path, own: &str, help: &str) -> Result<(), Finding> {
    if is_folder(path) {
        let file = path.join(format!("NAME.{own}"));
        return Err(Finding::error("a single file is written here, and this is a folder")
            .field(option)
            .found(path.display())
            .help(format!("give a file in it, as {}", file.display())));
    }
    refuse_other(option, path, own, help)
}

/// Whether a path is that of a folder: one that is there, or one by its end.
fn is_folder(path: &Path) -> bool {
    ends_as_folder(path) || path.is_dir()
}

/// Whether a path ends in a separator, `.` or `..`.
fn ends_as_folder(path: &Path) -> bool {
    let text = path.to_string_lossy();
    matches!(text.rsplit(std::path::is_separator).next(), Some("" | "." | ".."))
}

/// Refuses a path whose name ends as those of files do, but not as that of the `own` kind. That of a folder
/// does not.
fn refuse_other(option: &str, path: &Path, own: &str, help: &str) -> Result<(), Finding> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    // Numbers, as in `run-0.5`, end names of folders too.
    let of_file = extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    if !of_file || extension == own || is_folder(path) {
        return Ok(());
    }
    let file = path.with_extension(own).display().to_string();
    Err(Finding::error(format!("no .{extension} file is written here, only .{own} files"))
        .field(option)
        .found(path.display())
        .help(format!("give {file}; {help}")))
}

/// Free space for this user where the folder lies \[bytes\].
#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u128> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let status = nix::sys::statvfs::statvfs(folder).ok()?;
    #[allow(clippy::useless_conversion)] // The sizes of these types differ between systems.
    Some(u128::from(status.blocks_available()) * u128::from(status.fragment_size()))
}

#[cfg(not(unix))]
fn free_space(_folder: &Path) -> Option<u128> {
    None
}
