//! One run at a time writes a result.
//!
//! The lock is the operating system's, on a hidden file beside the result, and so goes with the
//! process however that ends; a file left by one that was killed locks nothing. It goes with its file too, which anyone
//! may remove: before a file gets its name the locks of the process are asked whether they still stand.

use super::atomic::{folder, is_there, remove_link};
use super::read::reason;
use crate::finding::Finding;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The right to write a result and all that lies beside it, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
}

/// A lock that this process has.
struct Held {
    result: PathBuf,
    path: PathBuf,
    file: File,
    /// The folder of the result, where the system opens folders: no other gets its number meanwhile.
    folder: Option<File>,
}

/// All of them.
static HELD: Mutex<Vec<Held>> = Mutex::new(Vec::new());

fn held() -> MutexGuard<'static, Vec<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process may still write a file: an error where it lies in the folder of a locked result, and that was
/// removed or replaced since. A hidden file that alone was removed is made again, unless another run has the lock now.
pub fn may_write(path: &Path) -> Result<(), Finding> {
    let mut held = held();
    let is_beside = |held: &&mut Held| held.path.parent().is_some_and(|of| path.starts_with(of));
    held.iter_mut().filter(is_beside).try_for_each(Held::still_stands)
}

impl Held {
    fn still_stands(&mut self) -> Result<(), Finding> {
        if is_at(&self.file, &self.path) {
            return Ok(());
        }
        let folder = folder(&self.path);
        if self.folder.as_ref().is_some_and(|file| !is_at(file, folder)) {
            let message = "the folder of the result was removed or replaced while the run went on";
            return Err(Finding::error(message)
                .in_file(folder.display().to_string())
                .help("nothing more is written there: run the case anew"));
        }
        let Taken::Lock(file) = take(&self.result, &self.path, File::try_lock)? else {
            return Err(Finding::error("the lock of the result was removed while the run went on")
                .in_file(self.path.display().to_string())
                .help("allow this user to write to the folder, and run the case anew"));
        };
        self.file = file;
        Ok(())
    }
}

impl Lock {
    /// Takes the lock of a result. `None` where no file can be made or locked: what cannot be
    /// written is refused by those who write it, and not every file system can lock, which `tell` hears.
    ///
    /// # Errors
    /// Another run has it.
    pub fn take(result: &Path, tell: impl FnOnce(Finding)) -> Result<Option<Lock>, Finding> {
        let name = result.file_name().unwrap_or_default().to_string_lossy();
        let path = result.with_file_name(format!(".{name}.lock"));
        match take(result, &path, File::try_lock)? {
            Taken::Lock(file) => {
                let folder = File::open(folder(&path)).ok();
                held().push(Held { result: result.to_owned(), path: path.clone(), file, folder });
                Ok(Some(Lock { path }))
            }
            Taken::NoFile => Ok(None),
            Taken::CannotLock(warning) => {
                tell(warning);
                Ok(None)
            }
        }
    }
}

/// Takes the lock of a result, on the file of this path.
fn take(
    result: &Path,
    path: &Path,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<Taken, Finding> {
    loop {
        remove_link(path);
        let opened =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        // That of another user, whose run was killed, is locked as well if it can only be read.
        let mut file = match opened.or_else(|error| File::open(path).map_err(|_| error)) {
            Ok(file) => file,
            Err(error) if is_there(path) => {
                return Ok(Taken::CannotLock(cannot_lock(result, &error)));
            }
            Err(_) => return Ok(Taken::NoFile),
        };
        match lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(taken(result, &mut file)),
            Err(TryLockError::Error(error)) => {
                let _ = std::fs::remove_file(path);
                return Ok(Taken::CannotLock(cannot_lock(result, &error)));
            }
        }
        // Another run may have removed the file since it was opened: then the lock is of a
        // file that nobody else will find.
        if is_at(&file, path) {
            let _ = file.set_len(0);
            let _ = write!(file, "{}", std::process::id());
            return Ok(Taken::Lock(file));
        }
    }
}

/// What became of taking a lock that no other run has.
enum Taken {
    Lock(File),
    /// Nothing can be written here.
    NoFile,
    /// The file system does not know locks.
    CannotLock(Finding),
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut all = held();
        let Some(at) = all.iter().position(|held| held.path == self.path) else { return };
        let held = all.swap_remove(at);
        // While the lock is still held, and only its own file, so that no other run loses its own.
        if is_at(&held.file, &held.path) {
            let _ = std::fs::remove_file(&held.path);
        }
    }
}

fn taken(result: &Path, file: &mut File) -> Finding {
    let mut process = String::new();
    let _ = file.read_to_string(&mut process);
    let who = match process.trim() {
        "" => String::new(),
        number => format!(" (process {number})"),
    };
    Finding::error(format!("another run{who} is writing this result"))
        .in_file(result.display().to_string())
        .help("wait for it, or choose another place with --output")
}

fn cannot_lock(result: &Path, error: &io::Error) -> Finding {
    let reason = reason(error);
    Finding::warning(format!("files cannot be locked here ({reason}): two runs would go unnoticed"))
        .in_file(result.display().to_string())
        .help("let no other run write this result meanwhile")
}

/// Whether the file is still the one of this name.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same =
        |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().is_ok_and(|a| std::fs::metadata(path).is_ok_and(|b| same(a, b)))
}

#[cfg(not(unix))]
pub(crate) fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(name: &str) -> [PathBuf; 3] {
        let folder = std::env::temp_dir().join(format!("odeum-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [result, lock] = ["a.npz", ".a.npz.lock"].map(|name| folder.join(name));
        [folder, result, lock]
    }

    fn locked(result: &Path) -> Lock {
        Lock::take(result, |warning| panic!("{}", warning.message)).unwrap().unwrap()
    }

    #[test]
    fn a_file_system_without_locks_is_told_of() {
        let [folder, result, path] = in_folder("nolock");
        let unsupported = |_: &File| Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        let Ok(Taken::CannotLock(warning)) = take(&result, &path, unsupported) else {
            panic!("nothing is told")
        };
        assert!(warning.message.contains("cannot be locked here"), "{}", warning.message);
        assert!(!path.exists());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_stands_as_long_as_its_folder() {
        let [folder, result, path] = in_folder("removed");
        let lock = locked(&result);
        may_write(&result).unwrap();
        // Without its file it is taken again, where no other run has done so.
        std::fs::remove_file(&path).unwrap();
        may_write(&result).unwrap();
        std::fs::remove_file(&path).unwrap();
        let other = File::create(&path).unwrap();
        other.try_lock().unwrap();
        let finding = may_write(&result).unwrap_err();
        assert!(finding.message.contains("another run"), "{}", finding.message);
        // The other's is left to it.
        drop(lock);
        assert!(path.exists());
        drop(other);
        let lock = locked(&result);
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        let finding = may_write(&result).unwrap_err();
        assert!(finding.message.contains("removed or replaced"), "{}", finding.message);
        drop(lock);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_hidden_file_that_can_only_be_read_is_locked_too() {
        use std::os::unix::fs::PermissionsExt;
        let [folder, result, path] = in_folder("of-another");
        File::create(&path).unwrap().set_permissions(PermissionsExt::from_mode(0o444)).unwrap();
        let lock = locked(&result);
        assert!(Lock::take(&result, |_| {}).is_err());
        drop(lock);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
