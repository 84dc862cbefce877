//! The `odeum` command: integrates ensembles of ODE systems described in case files.

mod args;
mod bench;
mod check;
mod devices;
mod fields;
mod gpus;
mod mechanism;
mod output;
mod pasr;
mod problems;
mod report;
mod results;
mod run;
mod stop;

use args::{Args, Command};
use clap::Parser;
use odeum_io::{Finding, Severity};
use report::{Style, ended, heard, note, report};
use std::process::ExitCode;

/// How a command ended, as the exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All done.
    Success = 0,
    /// The run is complete, but systems failed, and `--strict` was given.
    SystemsFailed = 1,
    /// Something the user gave cannot be used; nothing was computed.
    BadInput = 2,
    /// The run broke: the device failed, or the result could not be written.
    Broken = 3,
    /// Stopped by Ctrl-C (128 + SIGINT).
    Interrupted = 130,
    /// The reader of the standard output has gone (128 + SIGPIPE).
    Unheard = 141,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(told) => return ended(answer(&told)).into(),
    };
    if let Err(finding) = odeum_case::available::prepare() {
        let exit = show(&[finding], Exit::BadInput).unwrap_or(Exit::BadInput);
        return ended(exit).into();
    }
    let exit = match args.command {
        Command::Run(args) => run::command(&args),
        Command::Check(args) => check::command(&args),
        Command::Devices => devices::command(),
        Command::Problems(args) => problems::command(&args),
        Command::Mechanism(args) => mechanism::command(&args),
        Command::Pasr(args) => pasr::command(&args),
        Command::Bench(args) => bench::command(&args),
    };
    ended(exit).into()
}

/// Shows a warning on the way.
pub(crate) fn tell(warning: Finding) {
    show(&[warning], Exit::Broken);
}

/// Shows the help or the version that was asked for, or what is wrong with the arguments.
fn answer(told: &clap::Error) -> Exit {
    let written = told.print();
    if told.use_stderr() {
        return Exit::BadInput;
    }
    heard(written);
    Exit::Success
}

/// Shows findings; the exit code they deserve, if any is an error.
pub(crate) fn show(findings: &[Finding], exit: Exit) -> Option<Exit> {
    if !findings.is_empty() {
        note(report(findings, Style::stderr()).trim_end_matches('\n'));
    }
    findings.iter().any(|f| f.severity == Severity::Error).then_some(exit)
}
