//! A plan is a list of steps; running it prints each with its time and sums up.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// What a step found, or why it failed.
pub(crate) type Outcome = Result<String, String>;

/// One thing to do.
pub(crate) struct Step {
    name: &'static str,
    work: Box<dyn FnOnce() -> Outcome>,
}

impl Step {
    pub(crate) fn new(name: &'static str, work: impl FnOnce() -> Outcome + 'static) -> Self {
        Step { name, work: Box::new(work) }
    }
}

/// Runs all steps, those after a failed one too, so that one run shows everything.
pub(crate) fn run(plan: Vec<Step>) -> ExitCode {
    let start = Instant::now();
    let mut lines = Vec::new();
    let mut failed = 0;
    for step in plan {
        println!("\n==> {}", step.name);
        let began = Instant::now();
        let outcome = (step.work)();
        let time = seconds(began.elapsed());
        let (verdict, remark) = match outcome {
            Ok(remark) => ("ok", remark),
            Err(reason) => {
                failed += 1;
                ("FAILED", reason)
            }
        };
        let first_line = remark.lines().next().unwrap_or_default();
        println!("    {verdict}, {time}{}{remark}", if remark.is_empty() { "" } else { ": " });
        lines.push(format!("{:<28} {verdict:<6} {time:>8}  {first_line}", step.name));
    }
    println!("\n{}", lines.join("\n"));
    let passed = lines.len() - failed;
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\nxtask result: {verdict}. {passed} steps passed; {failed} failed; finished in {}",
        seconds(start.elapsed())
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// `cargo` with these arguments, in the root.
pub(crate) fn cargo(arguments: &str) -> Command {
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    command.args(arguments.split_whitespace()).current_dir(root());
    command
}

/// Runs a command whose output goes to the terminal.
pub(crate) fn call(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Ok(String::new()),
        Ok(status) => Err(format!("`{}` ended with {status}", words(command))),
        Err(reason) => Err(format!("`{}` could not be started: {reason}", words(command))),
    }
}

/// A command as one would type it.
pub(crate) fn words(command: &Command) -> String {
    let arguments = command.get_args().map(|word| word.to_string_lossy());
    let program = command.get_program().to_string_lossy();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    std::iter::once(program.into()).chain(arguments).collect::<Vec<_>>().join(" ")
}
