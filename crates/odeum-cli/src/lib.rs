//! The `odeum` command: integrates ensembles of ODE systems, and fields, described in case files.
//!
//! A program of its own, and part of the Python package, which calls [`run()`] with its arguments, and [`pasr`].

mod args;
mod bench;
mod check;
mod devices;
mod exit;
mod fields;
mod gpus;
mod job;
mod mechanism;
pub mod pasr;
mod problems;
mod report;
mod run;
mod stop;

use args::{Args, Command};
use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use exit::Exit;
use odeum_core::IS_UNOPTIMISED;
use odeum_io::Finding;
use odeum_io::file::outlive_size_limit;
use report::{ended, heard, show, tell};
use std::ffi::OsString;

/// Runs the command with these arguments, the name it was called by first, and gives its exit status. It
/// speaks to the streams of the process, and listens to its signals.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let args = match Args::try_parse_from(arguments) {
        Ok(args) => args,
        Err(told) => return ended(answer(&with_dashes(told))) as u8,
    };
    outlive_size_limit();
    if let Err(finding) = odeum_case::available::prepare() {
        let exit = show(&[finding], Exit::BadInput).unwrap_or(Exit::BadInput);
        return ended(exit) as u8;
    }
    if IS_UNOPTIMISED
        && matches!(args.command, Command::Run(_) | Command::Pasr(_) | Command::Bench(_))
    {
        let slow = Finding::warning(
            "this program was compiled without optimisation: it takes many times as long",
        );
        tell(
            slow.help("compile it with `cargo build --release`, or run `cargo run --release -- …`"),
        );
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
    ended(exit) as u8
}

/// With a tip on paths that begin with a dash that holds for values of options too; that of clap, to put `--` before, does not.
fn with_dashes(mut told: clap::Error) -> clap::Error {
    let is_short = |arg: &ContextValue| match arg {
        ContextValue::String(arg) => arg.starts_with('-') && !arg.starts_with("--"),
        _ => false,
    };
    if told.get(ContextKind::InvalidArg).is_some_and(is_short)
        && told.get(ContextKind::Suggested).is_some()
    {
        let tip = "write ./ before a path that begins with a dash, as ./-name".into();
        told.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    told
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
