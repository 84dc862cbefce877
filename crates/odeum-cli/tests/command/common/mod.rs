//! Runs the binary in a folder of its own, and reads what it writes.

// Each test file uses a part; a helper that cannot go on fails the test.
#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod npz;
pub(crate) mod results;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes with the test.
pub(crate) struct Folder(PathBuf);

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("odeum-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Folder {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Everything in the folder, hidden files included.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// `odeum` with these arguments, in this folder, while the test goes on.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// `odeum` with these arguments, in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_odeum"));
        command.args(args).current_dir(&self.0).env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    pub(crate) fn odeum(&self, args: &[&str]) -> Said {
        Said::of(&mut self.command(args))
    }

    /// As [`odeum`](Folder::odeum), under limits of the shell's `ulimit`: `-f` with blocks of 512
    /// bytes stands for a disk that fills up, `-v` with KiB for a small memory.
    pub(crate) fn limited(&self, limit: &str, args: &str) -> Said {
        let program = env!("CARGO_BIN_EXE_odeum");
        let script = format!("ulimit {limit}; exec '{program}' {args}");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(&self.0).env("NO_COLOR", "1");
        Said::of(&mut command)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Said {
    pub(crate) fn of(command: &mut Command) -> Said {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Fails unless the command ended well.
    #[track_caller]
    pub(crate) fn well(self) -> Said {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self
    }

    /// Fails unless the input was refused, with all of these in what was said.
    #[track_caller]
    pub(crate) fn refused(self, parts: &[&str]) -> Said {
        self.ended(2, parts)
    }

    /// Fails unless the run could not go on, with all of these in what was said.
    #[track_caller]
    pub(crate) fn failed(self, parts: &[&str]) -> Said {
        self.ended(3, parts)
    }

    #[track_caller]
    fn ended(self, code: i32, parts: &[&str]) -> Said {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is not in:\n{}", self.err);
        }
        self
    }
}

/// The folder of the case files.
pub(crate) fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
}

/// A mechanism of hydrogen, 9 species, as text.
pub(crate) fn hydrogen() -> String {
    std::fs::read_to_string(cases().join("../mechanisms/hydrogen-burke-2012.yaml")).unwrap()
}

/// A small case: decay in two compartments.
pub(crate) const DECAY: &str = r#"
[system]
states = { a = 1.0, b = 0.0 }
parameters = { k = 2.0 }
equations = { a = "-k * a", b = "k * a" }

[time]
span = [0.0, 1.0]

[method]
name = "dopri5"

[tolerance]
rtol = 1e-8
atol = 1e-10
"#;

/// Sends a signal, as `-INT`, to a command that was started.
pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}
