//! The Python package as wheels: one for the tests, and those for others.
//!
//! The wheel for the tests holds the extension that the build of the tests made. Cargo unites the features of what
//! is built together, so `maturin`, which builds `odeum-python` alone, would compile the whole engine again; here
//! it writes the metadata only.

use crate::python::{Environment, release, site, tests};
use crate::steps::{Outcome, call, root, words};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the extension of the tests' build lies.
const EXTENSION: &str = "target/debug/lib_odeum.so";

/// Packs what the tests' build made, and installs it into their environment.
pub(crate) fn for_tests() -> Outcome {
    let wheel = pack(&tests())?;
    install(&tests(), &wheel)?;
    sized(&wheel)
}

/// The same into the environment of the site.
pub(crate) fn for_site() -> Outcome {
    let wheel = pack(&tests())?;
    install(&site(), &wheel)?;
    sized(&wheel)
}

/// A wheel of the extension that was built last, packed with the tools of an environment.
fn pack(python: &Environment) -> Result<PathBuf, String> {
    let folder = root().join("target/wheel-of-tests");
    let content = folder.join("content");
    let told = |reason: std::io::Error| format!("{}: {reason}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(told)?;
    }
    fs::create_dir_all(&content).map_err(told)?;
    copy(&root().join("python"), &content)?;
    let extension = content.join("odeum/_odeum.abi3.so");
    fs::copy(root().join(EXTENSION), extension)
        .map_err(|reason| format!("{EXTENSION}: {reason}"))?;
    let mut describe = python.module("maturin");
    describe.args(["pep517", "write-dist-info", "--interpreter"]).arg(python.interpreter());
    quiet(describe.arg("--metadata-directory").arg(&content))?;
    quiet(python.module("wheel").arg("pack").arg(&content).arg("--dest-dir").arg(&folder))?;
    only_wheel(&folder)
}

/// Builds what is given to others: one wheel for all versions of Python, and one for each of these interpreters that
/// has not its stable ABI, as those without a global lock.
pub(crate) fn for_release(interpreters: &[OsString]) -> Outcome {
    let python = release();
    python.prepare()?;
    let folder = root().join("target/wheels");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|reason| format!("{}: {reason}", folder.display()))?;
    }
    let mut build = python.module("maturin");
    build.args(["build", "--release", "--zig", "--compatibility", "manylinux_2_28", "--out"]);
    build.arg(&folder).arg("--interpreter").arg(python.interpreter());
    call(build.args(interpreters))?;
    let told: Result<Vec<_>, _> = wheels(&folder)?.iter().map(|wheel| sized(wheel)).collect();
    Ok(told?.join("; "))
}

/// Installs into an environment for tests what fits it of the wheels that [`for_release`] built.
pub(crate) fn install_release(python: &Environment) -> Outcome {
    python.prepare()?;
    let folder = root().join("target/wheels");
    let alone = ["--no-deps", "--reinstall", "--no-index", "--find-links"];
    python.install(|command| command.args(alone).arg(&folder).arg("odeum"))
}

/// Installs a wheel in place of the one before.
fn install(python: &Environment, wheel: &Path) -> Outcome {
    python.install(|command| command.args(["--no-deps", "--reinstall"]).arg(wheel))
}

/// The one wheel of a folder.
fn only_wheel(folder: &Path) -> Result<PathBuf, String> {
    let mut wheels = wheels(folder)?;
    match (wheels.pop(), wheels.is_empty()) {
        (Some(wheel), true) => Ok(wheel),
        (None, _) => Err(format!("{}: no wheel", folder.display())),
        _ => Err(format!("{}: more than one wheel", folder.display())),
    }
}

/// The wheels of a folder, by their names.
fn wheels(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        fs::read_dir(folder).map_err(|reason| format!("{}: {reason}", folder.display()))?;
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut wheels: Vec<_> = paths.filter(is_wheel).collect();
    wheels.sort();
    Ok(wheels)
}

/// A wheel's name and size.
fn sized(wheel: &Path) -> Outcome {
    let bytes =
        fs::metadata(wheel).map_err(|reason| format!("{}: {reason}", wheel.display()))?.len();
    let name = wheel.file_name().unwrap_or_default();
    Ok(format!("{}, {:.1} MB", name.display(), bytes as f64 / 1e6))
}

/// The files of a folder, without what Python and `cargo` leave there.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let told = |reason: std::io::Error| format!("{}: {reason}", from.display());
    fs::create_dir_all(to).map_err(told)?;
    for entry in fs::read_dir(from).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() && name != "__pycache__" {
            copy(&path, &to.join(name))?;
        } else if path.is_file() && path.extension().is_none_or(|extension| extension != "so") {
            fs::copy(&path, to.join(name)).map_err(told)?;
        }
    }
    Ok(())
}

/// Runs a command whose words count only where it fails.
fn quiet(command: &mut Command) -> Outcome {
    let shown = words(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|reason| format!("`{shown}` could not be started: {reason}"))?;
    if output.status.success() {
        return Ok(String::new());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("`{shown}` ended with {}\n{}", output.status, String::from_utf8_lossy(&said)))
}
