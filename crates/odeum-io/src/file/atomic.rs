//! Files that appear whole or not at all.

use super::lock::{is_at, may_write};
use super::read::{MORE_FILES, is_of_open_files, reason};
use super::room;
use crate::finding::Finding;
use std::error::Error;
use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file beside its place, makes sure it is on the disk, and only then gives it its name.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), Finding> {
    stage(path, write)?.put()
}

/// Writes a file beside its place, and makes sure it is on the disk; its name is given later.
pub fn stage(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<Staged, Finding> {
    stage_into(None, path, |file| {
        let mut buffered = BufWriter::with_capacity(1 << 20, file);
        write(&mut buffered)?;
        buffered.flush()
    })
}

/// The same of a file that is there already, without a name, or of a new one.
pub(crate) fn stage_into(
    unnamed: Option<File>,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<Staged, Finding> {
    may_write(path)?;
    refuse_another_kind(path)?;
    let temporary = temporary(path);
    let cannot = |error| cannot_stage(path, &error);
    let (file, named) = match unnamed {
        Some(file) => (file, false),
        None => (create(&temporary).map_err(cannot)?, true),
    };
    // From here on the file goes if it is not put into its place.
    let mut staged = Staged { temporary, path: path.to_owned(), file };
    let Staged { temporary, file, .. } = &mut staged;
    let fill = || {
        write(file)?;
        file.sync_all()?;
        if !named {
            // What an earlier run may have left there.
            let _ = std::fs::remove_file(&*temporary);
            room::name(file, temporary)?;
        }
        Ok(())
    };
    fill().map_err(cannot)?;
    Ok(staged)
}

/// A file that is whole and on the disk, beside its place; dropped, it is removed.
#[must_use]
pub struct Staged {
    temporary: PathBuf,
    path: PathBuf,
    /// Locked, so that no other run writes under the same hidden name.
    file: File,
}

impl Staged {
    /// The place.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file into its place.
    pub fn put(self) -> Result<(), Finding> {
        self.give_name(|from, to| std::fs::rename(from, to))
    }

    /// Puts the file into its place, where nothing is: a file that came meanwhile stays.
    pub fn put_new(self) -> Result<(), Finding> {
        self.give_name(rename_new)
    }

    fn give_name(self, name: impl FnOnce(&Path, &Path) -> io::Result<()>) -> Result<(), Finding> {
        may_write(&self.path)?;
        name(&self.temporary, &self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => came_meanwhile(&self.path),
            _ => cannot_write(&self.path, &error),
        })?;
        sync_folder(&self.path);
        Ok(())
    }
}

/// Gives a file a name that nothing has. Where the file system knows no second names, another program may take it
/// between the look and the deed.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if is_there(to) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, to),
        Ok(()) => {
            let _ = std::fs::remove_file(from);
            Ok(())
        }
    }
}

/// A file that a run would replace, and that was not there when it began.
pub fn came_meanwhile(path: &Path) -> Finding {
    Finding::error("the run would replace a file that came while it went on")
        .in_file(path.display().to_string())
        .help("move it away")
}

/// Makes a folder for files of a run, and those above it.
pub fn make_folder(folder: &Path) -> Result<(), Finding> {
    may_write(folder)?;
    std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Once the file has its place, the hidden name may be another's.
        if is_at(&self.file, &self.temporary) {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// Refuses the place of a file where there is something else, itself or at the end of a link: a folder cannot be
/// replaced by a file, and a device, a pipe or a socket must not be.
pub fn refuse_another_kind(path: &Path) -> Result<(), Finding> {
    let (there, help) = match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            ("a folder", "move it away, or choose another place with --output")
        }
        Ok(meta) if !meta.is_file() || is_stream(path) => {
            ("a device or a stream", "choose another place with --output")
        }
        _ => return Ok(()),
    };
    Err(Finding::error(format!("where a file is to be written there is {there}"))
        .in_file(path.display().to_string())
        .help(help))
}

/// Whether this is a name of what a process has open, as `/dev/stdout`, though a file may be behind it.
fn is_stream(path: &Path) -> bool {
    std::fs::canonicalize(folder(path)).is_ok_and(|folder| {
        folder == Path::new("/dev") || ["/dev/fd", "/proc"].iter().any(|of| folder.starts_with(of))
    })
}

/// Tries whether a file can be written, before what it is to hold is computed.
pub fn probe(path: &Path) -> Result<(), Finding> {
    let probe = temporary(path);
    let tried = create(&probe).and_then(|mut file| {
        file.write_all(&[0; 4096])?;
        file.sync_all()
    });
    let _ = std::fs::remove_file(&probe);
    tried.map_err(|error| cannot_stage(path, &error))
}

/// Opens a hidden file to be written, in place of what an earlier run may have left there. It is locked, where that can
/// be: a file beside one result may have the name of one beside another.
fn create(temporary: &Path) -> io::Result<File> {
    loop {
        remove_link(temporary);
        let file = File::options().write(true).create(true).truncate(false).open(temporary)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // A run that was killed as it gave it its place has left it both names: that name keeps it.
        if has_other_names(&file)? {
            std::fs::remove_file(temporary)?;
            continue;
        }
        // Another run may have put it into its place meanwhile.
        if is_at(&file, temporary) {
            if file.metadata()?.len() > 0 {
                file.set_len(0)?;
            }
            return Ok(file);
        }
    }
}

/// Whether a file has more names than the one that it was opened by.
fn has_other_names(file: &File) -> io::Result<bool> {
    #[cfg(unix)]
    return Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 1);
    #[cfg(not(unix))]
    file.metadata().map(|_| false)
}

/// Removes what lies under a hidden name if it is a symbolic link: what it leads to is none of ours.
pub(super) fn remove_link(path: &Path) {
    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        let _ = std::fs::remove_file(path);
    }
}

/// A file that could not be written under its hidden name.
fn cannot_stage(path: &Path, error: &io::Error) -> Finding {
    let temporary = temporary(path);
    if temporary.is_dir() {
        return Finding::error("where a file is written until it is complete there is a folder")
            .in_file(temporary.display().to_string())
            .help("move it away");
    }
    if error.kind() == io::ErrorKind::WouldBlock {
        return Finding::error("another run is writing this file")
            .in_file(path.display().to_string())
            .help("wait for it, or choose another place with --output");
    }
    cannot_write(path, error)
}

/// Whether there is something that a file of this name would replace: also a symbolic link that leads nowhere.
pub fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Says of a symbolic link that leads nowhere where it leads to: of a path itself, or of a folder above it.
pub fn broken_link(path: &Path) -> Option<String> {
    let links = path.ancestors().filter_map(|link| Some((link, std::fs::read_link(link).ok()?)));
    let (link, to) = links.into_iter().find(|(link, _)| !link.exists())?;
    Some(format!("{} is a symbolic link to {}, which is not there", link.display(), to.display()))
}

/// The error of the system behind that of a library which writes.
fn of_system(error: &io::Error) -> &io::Error {
    let mut source = error.get_ref().map(|error| error as &(dyn Error + 'static));
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref() {
            return of_system(error);
        }
        // It says of no source.
        if let Some(csv::ErrorKind::Io(error)) = error.downcast_ref().map(csv::Error::kind) {
            return of_system(error);
        }
        source = error.source();
    }
    error
}

/// A file that could not be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> Finding {
    let error = of_system(error);
    if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound)
        && let Some(link) = broken_link(path)
    {
        return Finding::error(format!("cannot write the output: {link}"))
            .in_file(path.display().to_string())
            .help("make what it leads to, or choose another place with --output");
    }
    let help = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a place you may write to with --output"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room on the disk, or choose another with --output"
        }
        io::ErrorKind::FileTooLarge => {
            "raise the limit on the size of a file (ulimit -f), or choose another disk with --output"
        }
        _ if is_of_open_files(error) => MORE_FILES,
        _ => "choose another place with --output",
    };
    Finding::error(format!("cannot write the output: {}", reason(error)))
        .in_file(path.display().to_string())
        .help(help)
}

/// The hidden name a file has until it is complete.
pub fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.part"))
}

/// The folder that a file lies in.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A renamed file survives a crash only when its folder is on the disk too. Not every file system
/// can do this; the rename itself has succeeded.
fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder(path)) {
        let _ = folder.sync_all();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A run that is killed as it gives a file its place leaves it both names: the next one emptied it.
    #[cfg(unix)]
    #[test]
    fn a_file_that_has_its_place_keeps_it() {
        let folder = std::env::temp_dir().join(format!("odeum-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.npz");
        std::fs::write(&path, "whole").unwrap();
        std::fs::hard_link(&path, temporary(&path)).unwrap();
        probe(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_reason_is_that_of_the_system() {
        use parquet::errors::ParquetError;
        let full = || io::Error::from_raw_os_error(nix::libc::ENOSPC);
        for error in [
            io::Error::other(csv::Error::from(full())),
            io::Error::other(ParquetError::from(full())),
            io::Error::other(io::Error::other(full())),
        ] {
            let finding = cannot_write(Path::new("a.csv"), &error);
            assert_eq!(finding.message, "cannot write the output: no space left on device");
            assert!(finding.help.clone().unwrap_or_default().starts_with("make room on the disk"));
        }
    }

    #[test]
    fn a_file_that_came_meanwhile_stays() {
        let folder = std::env::temp_dir().join(format!("odeum-came-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.csv");
        let stage = |text: &'static str| stage(&path, |file| file.write_all(text.as_bytes()));
        let first = stage("first").unwrap();
        // Its hidden name is its own until it has another.
        let finding = stage("second").err().unwrap();
        assert!(finding.message.contains("another run is writing"), "{}", finding.message);
        first.put_new().unwrap();
        let finding = stage("second").unwrap().put_new().unwrap_err();
        assert!(finding.message.contains("came while it went on"), "{}", finding.message);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
        stage("second").unwrap().put().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn another_place_does_not_help_where_too_many_files_are_open() {
        for code in [nix::libc::EMFILE, nix::libc::ENFILE] {
            let error = io::Error::from_raw_os_error(code);
            let help = cannot_write(Path::new("a.png"), &error).help.clone();
            assert_eq!(help.as_deref(), Some(MORE_FILES), "{error}");
        }
    }
}
