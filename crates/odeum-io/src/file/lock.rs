//! One run at a time writes a result.
//!
//! The lock is the operating system's, on a hidden file beside the result, and so goes with the
//! process however that ends; a file left by one that was killed locks nothing.

use super::atomic::remove_link;
use super::read::reason;
use crate::finding::Finding;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The right to write a result and all that lies beside it, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of a result. `None` where no file can be made or locked: what cannot be
    /// written is refused by those who write it, and not every file system can lock, which `tell` hears.
    ///
    /// # Errors
    /// Another run has it.
    pub fn take(result: &Path, tell: impl FnOnce(Finding)) -> Result<Option<Lock>, Finding> {
        match Lock::by(result, File::try_lock)? {
            Taken::Lock(lock) => Ok(Some(lock)),
            Taken::NoFile => Ok(None),
            Taken::CannotLock(warning) => {
                tell(warning);
                Ok(None)
            }
        }
    }

    fn by(
        result: &Path,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Taken, Finding> {
        let name = result.file_name().unwrap_or_default().to_string_lossy();
        let path = result.with_file_name(format!(".{name}.lock"));
        loop {
            remove_link(&path);
            let opened =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let Ok(mut file) = opened else { return Ok(Taken::NoFile) };
            match lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(taken(result, &mut file)),
                Err(TryLockError::Error(error)) => {
                    let _ = std::fs::remove_file(&path);
                    return Ok(Taken::CannotLock(cannot_lock(result, &error)));
                }
            }
            // Another run may have removed the file since it was opened: then the lock is of a
            // file that nobody else will find.
            if is_at(&file, &path) {
                let _ = file.set_len(0);
                let _ = write!(file, "{}", std::process::id());
                return Ok(Taken::Lock(Lock { path, _file: file }));
            }
        }
    }
}

/// What became of taking a lock that no other run has.
enum Taken {
    Lock(Lock),
    /// Nothing can be written here.
    NoFile,
    /// The file system does not know locks.
    CannotLock(Finding),
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While the lock is still held, so that no other run loses its own.
        let _ = std::fs::remove_file(&self.path);
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
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same =
        |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().is_ok_and(|a| std::fs::metadata(path).is_ok_and(|b| same(a, b)))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_told_of() {
        let result = std::env::temp_dir().join(format!("odeum-nolock-{}.npz", std::process::id()));
        let unsupported = |_: &File| Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        let Ok(Taken::CannotLock(warning)) = Lock::by(&result, unsupported) else {
            panic!("nothing is told")
        };
        assert!(warning.message.contains("cannot be locked here"), "{}", warning.message);
        let name = result.file_name().unwrap_or_default().to_string_lossy();
        assert!(!result.with_file_name(format!(".{name}.lock")).exists());
    }
}
