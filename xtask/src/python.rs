//! Python environments under `target/`, each with the packages of a list in `xtask/python`.

use crate::steps::{Outcome, call, root};
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The installer: it takes seconds where `pip` takes a minute.
const INSTALLER: &str = "uv==0.13.9";

/// An environment: its folder, the interpreter it is of, and its packages.
pub(crate) struct Environment {
    folder: String,
    base: OsString,
    packages: &'static str,
}

/// For the tests: the package's own needs, oracles, checkers, and NVIDIA's run-time compiler, which translates
/// CUDA kernels to machine code on machines without a GPU.
pub(crate) fn tests() -> Environment {
    tests_of("python3".into(), "xtask-python".into())
}

/// As [`tests`], in `target/NAME` and of another interpreter.
pub(crate) fn tests_of(base: OsString, name: String) -> Environment {
    let packages = include_str!("../python/tests.txt");
    Environment { folder: name, base, packages }
}

/// For the site.
pub(crate) fn site() -> Environment {
    let packages = include_str!("../python/site.txt");
    Environment { folder: "xtask-site".into(), base: "python3".into(), packages }
}

/// For the wheel that is given to others.
pub(crate) fn release() -> Environment {
    let packages = include_str!("../python/release.txt");
    Environment { folder: "xtask-release".into(), base: "python3".into(), packages }
}

impl Environment {
    fn folder(&self) -> PathBuf {
        root().join("target").join(&self.folder)
    }

    /// The environment's interpreter.
    pub(crate) fn interpreter(&self) -> PathBuf {
        self.folder().join("bin/python")
    }

    /// The interpreter, about to run a module; it finds the programs of its environment first, and packages there
    /// alone.
    pub(crate) fn module(&self, name: &str) -> Command {
        let mut paths = vec![self.folder().join("bin")];
        paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let mut command = Command::new(self.interpreter());
        command.args(["-m", name]).env_remove("PYTHONPATH").current_dir(root());
        if let Ok(paths) = std::env::join_paths(paths) {
            command.env("PATH", paths);
        }
        command
    }

    /// Makes the environment unless it is there with just these packages.
    pub(crate) fn prepare(&self) -> Outcome {
        let wanted = format!("{}\n{INSTALLER}\n{}", self.base.display(), self.packages);
        let lines = self.packages.lines().filter(|line| !line.starts_with('#')).count();
        let stamp = self.folder().join("packages.txt");
        if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            return Ok(format!("{lines} packages, as before"));
        }
        let mut make = installer()?;
        call(
            make.args(["venv", "--quiet", "--clear", "--python"])
                .arg(&self.base)
                .arg(self.folder()),
        )?;
        let list = self.folder().join("wanted.txt");
        fs::write(&list, self.packages)
            .map_err(|reason| format!("{}: {reason}", list.display()))?;
        self.install(|command| command.args(["--no-deps", "--requirements"]).arg(&list))?;
        fs::write(&stamp, wanted).map_err(|reason| format!("{}: {reason}", stamp.display()))?;
        Ok(format!("{lines} packages"))
    }

    /// Installs what the arguments name.
    pub(crate) fn install(&self, arguments: impl Fn(&mut Command) -> &mut Command) -> Outcome {
        let mut command = installer()?;
        command.args(["pip", "install", "--quiet", "--python"]).arg(self.interpreter());
        call(arguments(&mut command))
    }

    /// `LD_LIBRARY_PATH` with the folder of the run-time compiler in front.
    pub(crate) fn libraries(&self) -> Result<String, String> {
        let lib = self.folder().join("lib");
        let versions =
            fs::read_dir(&lib).map_err(|reason| format!("{}: {reason}", lib.display()))?;
        let compiler = versions
            .filter_map(Result::ok)
            .map(|version| version.path().join("site-packages/nvidia/cu13/lib"))
            .find(|path| path.is_dir())
            .ok_or_else(|| format!("no nvidia/cu13/lib under {}", lib.display()))?;
        let before = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
        let separator = if before.is_empty() { "" } else { ":" };
        Ok(format!("{}{separator}{before}", compiler.display()))
    }
}

/// The installer, fetched where it is not there; it never downloads interpreters.
fn installer() -> Result<Command, String> {
    let folder = root().join("target/xtask-installer");
    let stamp = folder.join("packages.txt");
    if !fs::read_to_string(&stamp).is_ok_and(|found| found == INSTALLER) {
        call(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let install =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
        call(Command::new(folder.join("bin/python")).args(install).arg(INSTALLER))?;
        fs::write(&stamp, INSTALLER).map_err(|reason| format!("{}: {reason}", stamp.display()))?;
    }
    let mut command = Command::new(folder.join("bin/uv"));
    command.env("UV_PYTHON_DOWNLOADS", "never").env_remove("VIRTUAL_ENV").current_dir(root());
    Ok(command)
}
