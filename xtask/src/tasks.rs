//! The plans behind the tasks.

use crate::book as pages;
use crate::layering as rules;
use crate::package;
use crate::python;
use crate::steps::{Outcome, Step, call, cargo, root};
use crate::wheel;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// The tests: all targets but examples, which are type-checked with the lints; to link them too would take a fifth
/// of the time.
const TESTS: &str = "test --workspace --tests";
/// Builds the same, and the extension of the Python package with it: of the same artefacts, because Cargo unites
/// the features of packages that are built together.
const BUILD: &str = "build --workspace --profile test --lib --tests";

/// Everything a change must pass.
pub(crate) fn test() -> Vec<Step> {
    let mut plan = check();
    plan.push(environment());
    plan.push(Step::new("build", || call(&mut cargo(BUILD))));
    plan.push(Step::new("tests", || {
        // With the run-time compiler at hand the tests translate every CUDA kernel, and fail
        // rather than skip when they cannot.
        let python = python::tests();
        let mut command = cargo(TESTS);
        command.env("LD_LIBRARY_PATH", python.libraries()?).env("ODEUM_NEED_NVRTC", "1");
        command.env("ODEUM_PYTHON", python.interpreter());
        counted(command)
    }));
    plan.extend(package());
    plan.push(Step::new("documentation tests", || counted(cargo("test --workspace --doc"))));
    plan.push(documentation());
    plan
}

/// The Python package alone.
pub(crate) fn python() -> Vec<Step> {
    let mut plan = vec![environment(), extension()];
    plan.extend(package());
    plan
}

/// The site in `target/docs`: the book, Python's reference and notebooks, Rust's documentation.
pub(crate) fn site() -> Vec<Step> {
    vec![
        environment(),
        Step::new("site environment", || python::site().prepare()),
        extension(),
        Step::new("python package", wheel::for_site),
        Step::new("documentation", public_documentation),
        Step::new("site", || package::site(&python::site())),
    ]
}

/// As [`test()`], without what takes long or downloads something.
pub(crate) fn quick_test() -> Vec<Step> {
    let mut plan = check();
    plan.push(Step::new("tests", || counted(cargo(TESTS))));
    plan
}

/// The wheels for others, tested in each of these interpreters.
pub(crate) fn release(interpreters: &[&str]) -> Vec<Step> {
    let interpreters: Vec<_> = interpreters.iter().map(OsString::from).collect();
    let named = interpreters.clone();
    let mut plan = vec![Step::new("wheel", move || wheel::for_release(&named))];
    for (number, base) in interpreters.into_iter().enumerate() {
        let name = format!("xtask-python-{}", number + 1);
        plan.push(Step::new("wheel tested", move || {
            let python = python::tests_of(base, name);
            wheel::install_release(&python)?;
            package::tests(&python)
        }));
    }
    plan
}

/// Format, layering, book, lints.
pub(crate) fn check() -> Vec<Step> {
    vec![
        Step::new("rustfmt", || call(&mut cargo("fmt --all --check"))),
        layering(),
        book(),
        Step::new("clippy", || {
            call(&mut cargo("clippy --quiet --workspace --all-targets -- -D warnings"))
        }),
    ]
}

/// Imports point down, rooms are small.
pub(crate) fn layering() -> Step {
    Step::new("layering", || {
        let report = rules::check(&root())?;
        nothing_found(&report.findings)?;
        Ok(format!("{} files, {} imports", report.files, report.imports))
    })
}

/// The book lists all its pages, and links lead somewhere.
pub(crate) fn book() -> Step {
    Step::new("book", || {
        let report = pages::check(&root())?;
        nothing_found(&report.findings)?;
        Ok(format!("{} pages, {} links", report.pages, report.links))
    })
}

fn environment() -> Step {
    Step::new("python environment", || python::tests().prepare())
}

/// The extension without the tests of all crates; what it is built from they are not.
fn extension() -> Step {
    Step::new("build", || call(&mut cargo("build --profile test -p odeum-python")))
}

/// The Python package of the extension that was built before.
fn package() -> Vec<Step> {
    vec![
        Step::new("python package", wheel::for_tests),
        Step::new("python style", || package::style(&python::tests())),
        Step::new("python types and tests", || package::types_and_tests(&python::tests())),
    ]
}

fn nothing_found(findings: &[String]) -> Result<(), String> {
    if findings.is_empty() {
        return Ok(());
    }
    Err(format!("{} findings\n{}", findings.len(), findings.join("\n")))
}

/// What users of the crates read, in a folder that holds nothing else.
fn public_documentation() -> Outcome {
    let folder = root().join("target/doc");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .map_err(|reason| format!("{}: {reason}", folder.display()))?;
    }
    let crates = "-p odeum -p odeum-core -p odeum-kinetics -p odeum-ode -p odeum-fields -p odeum-io -p odeum-case";
    let mut command = cargo(&format!("doc --quiet --no-deps {crates}"));
    call(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn documentation() -> Step {
    Step::new("documentation", || {
        let mut command = cargo("doc --quiet --workspace --no-deps --document-private-items");
        call(command.env("RUSTDOCFLAGS", "-D warnings"))
    })
}

/// Runs tests, passing their output on, and adds up the result lines.
fn counted(mut command: std::process::Command) -> Outcome {
    let shown = crate::steps::words(&command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|reason| format!("`{shown}` could not be started: {reason}"))?;
    let mut totals = [0_u64; 3];
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Passed tests one by one would bury what matters.
            let passed = line.starts_with("test ") && line.ends_with("... ok");
            if !passed && !line.is_empty() {
                println!("{line}");
            }
            for (total, what) in totals.iter_mut().zip(["passed", "failed", "ignored"]) {
                *total += count_of(&line, what);
            }
        }
    }
    let status = child.wait().map_err(|reason| reason.to_string())?;
    let [passed, failed, ignored] = totals;
    let summary = format!("{passed} tests passed; {failed} failed; {ignored} ignored");
    match status.success() {
        true if passed > 0 => Ok(summary),
        true => Err(format!("`{shown}` ran no test")),
        false => Err(format!("{summary} (`{shown}` ended with {status})")),
    }
}

/// The number before `what` in a line `test result: ok. 3 passed; 0 failed; …`.
fn count_of(line: &str, what: &str) -> u64 {
    let number = || {
        let counts = line.strip_prefix("test result: ")?;
        let before = counts.split(';').find_map(|part| part.trim().strip_suffix(what))?;
        before.trim().rsplit(' ').next()?.parse().ok()
    };
    number().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::count_of;

    #[test]
    fn result_lines_are_counted() {
        let line =
            "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out";
        assert_eq!(["passed", "failed", "ignored"].map(|what| count_of(line, what)), [12, 3, 1]);
        assert_eq!(count_of("test a::passed ... ok", "passed"), 0);
    }
}
