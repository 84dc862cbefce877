//! `odeum bench`: speed on built-in problems, as a table and as one JSON document.

mod document;
mod machine;

pub(crate) use machine::Machine;

use crate::args::BenchArgs;
use crate::finding::Finding;
use crate::{Exit, show, suggest};

/// A benchmark by its name.
struct Bench {
    name: &'static str,
    run: fn(&BenchArgs) -> Exit,
}

/// Every benchmark.
const ALL: &[Bench] = &[];

pub(crate) fn command(args: &BenchArgs) -> Exit {
    match ALL.iter().find(|bench| bench.name == args.name) {
        Some(bench) => (bench.run)(args),
        None => {
            let names = ALL.iter().map(|bench| bench.name);
            let finding = Finding::error(format!("there is no benchmark `{}`", args.name))
                .help(suggest::remedy(&args.name, "benchmarks", names));
            show(&[finding], Exit::BadInput).unwrap_or(Exit::BadInput)
        }
    }
}
