//! Where the output of a run goes, and whether it can.

use super::atomic::{cannot_write, temporary};
use super::lock::Lock;
use super::reserve::Room;
use crate::case::OutputSpec;
use crate::finding::Finding;
use crate::report::bytes;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The files of one result: one folder, one name, several extensions.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    folder: PathBuf,
    name: String,
    pub(super) csv: bool,
    pub(super) parquet: bool,
    pub(super) svg: bool,
}

impl Target {
    /// From the command line, else the case file, else the current folder and the name of the
    /// case file. A path that ends in `.npz` is a file, any other a folder.
    ///
    /// # Errors
    /// The path is that of a file of another kind.
    pub(crate) fn new(
        output: Option<&Path>,
        spec: &OutputSpec,
        case: &Path,
    ) -> Result<Target, Finding> {
        let stem = case.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut name = spec.name.clone().unwrap_or(stem);
        let mut folder = spec.folder.clone().unwrap_or_default();
        if let Some(path) = output {
            if path.extension().is_some_and(|e| e == "npz") {
                name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                folder = path.parent().unwrap_or(Path::new("")).to_owned();
            } else {
                let help = "for a folder of this name put a / behind it; other files lie beside \
                            the result and are asked for by `formats` in [output]";
                refuse_other("--output", path, "npz", help)?;
                folder = path.to_owned();
            }
        }
        Ok(Target { folder, name, csv: spec.csv, parquet: spec.parquet, svg: spec.svg })
    }

    /// `NAME.extension` in the folder.
    pub(crate) fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    /// The result.
    pub(crate) fn npz(&self) -> PathBuf {
        self.file("npz")
    }

    /// What a stopped run has finished.
    pub(crate) fn partial(&self) -> PathBuf {
        self.file("partial.npz")
    }

    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.file("checkpoint")
    }

    /// The existing result that a run would replace, if any.
    pub(crate) fn existing(&self) -> Option<PathBuf> {
        let mut files = vec![self.npz()];
        if self.csv {
            files.extend([self.file("csv"), self.file("saved.csv")]);
        }
        if self.parquet {
            files.extend([self.file("parquet"), self.file("saved.parquet")]);
        }
        if self.svg {
            files.push(self.file("svg"));
        }
        files.into_iter().find(|file| file.exists())
    }

    /// The right to write the result, in its folder, which is made if need be.
    ///
    /// # Errors
    /// Another run has it.
    pub(crate) fn lock(&self) -> Result<Option<Lock>, Finding> {
        // Where this fails the probe says why.
        let _ = std::fs::create_dir_all(&self.folder);
        Lock::take(&self.npz())
    }

    /// Begins to make room for a result of about so many bytes.
    pub(crate) fn room(&self, bytes: u128) -> Option<Room> {
        Room::begin(&self.folder, bytes)
    }

    /// Makes the folder if need be, and tries whether files can be written there and fit:
    /// before hours of computing, not after.
    pub(crate) fn probe(&self, need: u128) -> Result<(), Finding> {
        let path = self.npz();
        if !self.folder.as_os_str().is_empty() {
            std::fs::create_dir_all(&self.folder)
                .map_err(|error| cannot_write(&self.folder, &error))?;
        }
        if path.is_dir() {
            return Err(Finding::error("the name of the result is that of a folder")
                .in_file(path.display().to_string())
                .help("choose another name with --output"));
        }
        let probe = temporary(&path);
        let tried = File::create(&probe).and_then(|mut file| {
            file.write_all(&[0; 4096])?;
            file.sync_all()
        });
        let _ = std::fs::remove_file(&probe);
        tried.map_err(|error| cannot_write(&path, &error))?;
        match free_space(&self.folder) {
            Some(free) if free < need => Err(Finding::error("the output does not fit on the disk")
                .in_file(path.display().to_string())
                .found(format!("{} free, about {} needed", bytes(free), bytes(need)))
                .help("make room, choose another disk with --output, or take fewer save times")),
            _ => Ok(()),
        }
    }
}

/// Refuses a path whose name ends as those of files do, but not as that of the `own` kind. A folder
/// that is there, or a path that ends as one, is none.
pub(crate) fn refuse_other(
    option: &str,
    path: &Path,
    own: &str,
    help: &str,
) -> Result<(), Finding> {
    let text = path.to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    // Numbers, as in `run-0.5`, end names of folders too.
    let of_file = extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    if !of_file || extension == own || text.ends_with(std::path::is_separator) || path.is_dir() {
        return Ok(());
    }
    let file = path.with_extension(own).display().to_string();
    Err(Finding::error(format!("no .{extension} file is written here, but an .{own} file"))
        .field(option)
        .found(text)
        .help(format!("give {file}; {help}")))
}

/// Free space for this user where the folder lies [bytes].
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
