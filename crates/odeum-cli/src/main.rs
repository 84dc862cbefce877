//! The `odeum` command: integrates ensembles of ODE systems described in case files.

mod args;
mod bench;
mod check;
mod devices;
mod exit;
mod fields;
mod gpus;
mod job;
mod mechanism;
mod pasr;
mod problems;
mod report;
mod run;
mod stop;

use args::{Args, Command};
use clap::Parser;
use exit::Exit;
use report::{ended, heard, show};
use std::process::ExitCode;

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

/// Shows the help or the version that was asked for, or what is wrong with the arguments.
fn answer(told: &clap::Error) -> Exit {
    let written = told.print();
    if told.use_stderr() {
        return Exit::BadInput;
    }
    heard(written);
    Exit::Success
}
