//! Odeum's own tasks, run as `cargo xtask TASK`.

mod book;
mod layering;
mod package;
mod python;
mod source;
mod steps;
mod tasks;
mod wheel;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask TASK

  test           every check and test; needs Rust, gcc and Python only
  test --quick   the same without documentation, Python and CUDA kernels
  check          format, lints, layering, book: what a commit must pass
  python         the Python package alone: built, installed under target, checked and tested
  wheel [PYTHON …]
                 the Python package for others in target/wheels, tested in the interpreters named; a
                 free-threaded one (python3.14t) has a wheel of its own
  docs           the site in target/docs, its notebooks executed
  layering       which module imports which, as CONTRIBUTING.md says
  book           every page is in the table of contents, every link leads somewhere
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let plan = match words[..] {
        ["test"] => tasks::test(),
        ["test", "--quick"] => tasks::quick_test(),
        ["check"] => tasks::check(),
        ["layering"] => vec![tasks::layering()],
        ["book"] => vec![tasks::book()],
        ["python"] => tasks::python(),
        ["docs"] => tasks::site(),
        ["wheel", ref interpreters @ ..] => tasks::release(interpreters),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("cargo xtask: what is to be done?\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    steps::run(plan)
}
