//! Room on the disk for a large result, made while the result is computed.
//!
//! To find room for new bytes takes a memory disk more than a third of the time of a write. The file has no name until it is whole, so nothing is left of a run that is
//! killed.

use super::mapped::Mapped;
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread::JoinHandle;

/// Bytes from which on a result is worth it.
const LARGE: u128 = 64 << 20;

/// A file without a name, that is being given room.
pub struct Room(JoinHandle<Option<Made>>);

/// A file without a name that has room; on a memory disk, its bytes as memory.
pub(crate) type Made = (File, Option<Mapped>);

impl Room {
    /// Begins to make room for about so many bytes in a folder, by a thread of its own. `None` where that
    /// is not worth it, or cannot be done.
    pub fn begin(folder: &Path, bytes: u128) -> Option<Room> {
        let length = i64::try_from(bytes).ok().filter(|_| bytes >= LARGE)?;
        let file = unnamed(folder)?;
        let make = move || {
            let mapped = reserve(&file, length).then(|| Mapped::of(&file, length))?;
            Some((file, mapped))
        };
        std::thread::Builder::new().spawn(make).ok().map(Room)
    }

    /// The file, once it has its room. `None` where the file system gives none ahead.
    pub(crate) fn made(self) -> Option<Made> {
        self.0.join().ok().flatten()
    }
}

/// Gives a file that has no name this one, which nothing has.
#[cfg(target_os = "linux")]
pub(super) fn name(file: &File, path: &Path) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, AtFlags};
    use std::os::fd::AsRawFd;
    // The way that needs no privilege (open(2), O_TMPFILE).
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    nix::unistd::linkat(AT_FDCWD, from.as_str(), AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW)
        .map_err(io::Error::from)
}

#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let unnamed = nix::fcntl::OFlag::O_TMPFILE.bits();
    File::options().read(true).write(true).mode(0o666).custom_flags(unnamed).open(folder).ok()
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, length: i64) -> bool {
    use nix::fcntl::{FallocateFlags, fallocate};
    fallocate(file, FallocateFlags::empty(), 0, length).is_ok()
}

// Elsewhere room is made as a file is written.

#[cfg(not(target_os = "linux"))]
pub(super) fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: i64) -> bool {
    false
}
