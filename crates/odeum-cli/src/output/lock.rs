//! One run at a time writes a result.
//!
//! The lock is the operating system's, on a hidden file beside the result, and so goes with the
//! process however that ends; a file left by one that was killed locks nothing.

use crate::finding::Finding;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The right to write a result and all that lies beside it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of a result. `None` where no file can be made or locked: what cannot be
    /// written is refused by those who write it, and not every file system can lock.
    ///
    /// # Errors
    /// Another run has it.
    pub(crate) fn take(result: &Path) -> Result<Option<Lock>, Finding> {
        let name = result.file_name().unwrap_or_default().to_string_lossy();
        let path = result.with_file_name(format!(".{name}.lock"));
        loop {
            let opened =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let Ok(mut file) = opened else { return Ok(None) };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(taken(result, &mut file)),
                Err(TryLockError::Error(_)) => return Ok(None),
            }
            // Another run may have removed the file since it was opened: then the lock is of a
            // file that nobody else will find.
            if is_at(&file, &path) {
                let _ = file.set_len(0);
                let _ = write!(file, "{}", std::process::id());
                return Ok(Some(Lock { path, _file: file }));
            }
        }
    }
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
