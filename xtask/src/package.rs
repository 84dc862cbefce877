//! What is checked of the Python package, as it is installed in an environment.

use crate::python::Environment;
use crate::steps::{Outcome, call, root, words};
use crate::wheel;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;

/// What `ruff` checks: the package, its tests, and what configures the site.
const SOURCES: [&str; 3] = ["python", "tests/python", "docs/conf.py"];

/// Format and lints.
pub(crate) fn style(python: &Environment) -> Outcome {
    call(python.module("ruff").args(["format", "--check", "--quiet"]).args(SOURCES))?;
    call(python.module("ruff").args(["check", "--quiet"]).args(SOURCES))
}

/// Types and tests at once: each of them keeps little more than one core busy.
pub(crate) fn types_and_tests(python: &Environment) -> Outcome {
    let (types, tests) = thread::scope(|scope| {
        let types = scope.spawn(|| types(python));
        let tests = tests(python);
        (types.join().unwrap_or_else(|_| Err("the check of types panicked".into())), tests)
    });
    match (types, tests) {
        (Ok(_), tests) => tests,
        (types, Ok(_)) => types,
        (Err(types), Err(tests)) => Err(format!("{types}\n{tests}")),
    }
}

/// The package is typed, and what the extension has is what its stubs say.
fn types(python: &Environment) -> Outcome {
    call(python.module("mypy").arg("--strict"))?;
    let mut compare = python.module("mypy.stubtest");
    told(compare.args(["odeum._odeum", "--mypy-config-file", "pyproject.toml"]))
}

/// The tests, on the package that is installed: the sources lie where no path of Python leads.
pub(crate) fn tests(python: &Environment) -> Outcome {
    let mut command = python.module("pytest");
    command.arg("--quiet").env("ODEUM_NEED_WHEEL", "1");
    command.env("HYPOTHESIS_STORAGE_DIRECTORY", root().join("target/hypothesis"));
    told(&mut command)
}

/// Builds the site, where warnings are errors, and puts Rust's documentation beside it.
pub(crate) fn site(python: &Environment) -> Outcome {
    let target = root().join("target");
    let mut build = python.module("sphinx");
    build.args([
        "--fail-on-warning",
        "--keep-going",
        "--fresh-env",
        "--quiet",
        "--conf-dir",
        "docs",
    ]);
    build.arg("--doctree-dir").arg(target.join("doctrees"));
    call(build.arg("docs/src").arg(target.join("docs")))?;
    wheel::copy(&target.join("doc"), &target.join("docs/rust"))?;
    Ok("target/docs/index.html".into())
}

/// Runs a command, passes on what it says, and takes its last line for the result.
fn told(command: &mut Command) -> Outcome {
    let shown = words(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|reason| format!("`{shown}` could not be started: {reason}"))?;
    let mut last = String::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            if !line.is_empty() {
                last = line;
            }
        }
    }
    let status = child.wait().map_err(|reason| reason.to_string())?;
    if status.success() { Ok(last) } else { Err(format!("{last} (`{shown}` ended with {status})")) }
}
