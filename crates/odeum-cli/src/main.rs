//! The `odeum` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    odeum_cli::run(std::env::args_os()).into()
}
