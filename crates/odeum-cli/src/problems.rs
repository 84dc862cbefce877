//! `odeum problems`: the built-in problems.

use crate::args::ProblemsArgs;
use crate::finding::Finding;
use crate::report::{Align, Style, Table, wrap};
use crate::{Exit, show, suggest};
use odeum::problems::{self, Problem};

/// Most components listed of a large problem.
const COMPONENTS: usize = 30;

pub(crate) fn command(args: &ProblemsArgs) -> Exit {
    let all = problems::all();
    let style = Style::stdout();
    let Some(name) = &args.name else {
        print!("{}", list(&all, style));
        println!("\n  `odeum problems NAME` says more of one.");
        return Exit::Success;
    };
    match problems::find(name) {
        Some(problem) => {
            print!("{}", describe(&problem, style));
            Exit::Success
        }
        None => {
            let names = all.iter().map(|p| p.name);
            let finding = Finding::error(format!("there is no built-in problem `{name}`"))
                .help(suggest::remedy(name, "built-in problems", names));
            show(&[finding], Exit::BadInput).unwrap_or(Exit::BadInput)
        }
    }
}

fn list(all: &[Problem], style: Style) -> String {
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("equations", Align::Right),
        ("parameters", Align::Right),
        ("method", Align::Left),
        ("title", Align::Left),
    ]);
    for problem in all {
        table.row([
            problem.name.to_owned(),
            problem.dim().to_string(),
            problem.params.len().to_string(),
            problem.method.unwrap_or("stiff").to_owned(),
            problem.title.to_owned(),
        ]);
    }
    table.render(style)
}

fn describe(problem: &Problem, style: Style) -> String {
    let mut text = format!("{}  {}\n", style.bold(problem.name), problem.title);
    for line in wrap(problem.about, 88) {
        text += &format!("  {line}\n");
    }
    let mut facts = Table::pairs();
    facts.pair("source", problem.source);
    facts.pair("method", problem.method.unwrap_or("an implicit one, with care: it is very stiff"));
    facts.pair("span", format!("{} to {}", problem.span.0, problem.span.1));
    if let Some(size) = problem.size() {
        facts.pair("size", format!("{size} (set with size = … in [system])"));
    }
    text += &format!("\n{}", facts.render(style));
    text += &format!("\n{}", values("state", &problem.state_names(), &problem.y0, style));
    if !problem.params.is_empty() {
        let names = problem.param_names();
        text += &format!("\n{}", values("parameter", &names, &problem.params, style));
    }
    for reference in problem.references {
        let head = format!("Reference at t = {}", reference.t);
        text += &format!("\n{}, {} digits\n", style.bold(&head), reference.digits);
        for line in wrap(reference.source, 88) {
            text += &format!("  {line}\n");
        }
        let mut table = Table::new(&[("state", Align::Left), ("value", Align::Right)]);
        for (name, y) in problem.state_names().iter().zip(reference.y).take(COMPONENTS) {
            table.row([name.clone(), format!("{y:.16e}")]);
        }
        text += &table.render(style);
        text += &more(reference.y.len());
    }
    text
}

fn values(what: &str, names: &[String], values: &[f64], style: Style) -> String {
    let mut table = Table::new(&[(what, Align::Left), ("value", Align::Right)]);
    for (name, value) in names.iter().zip(values).take(COMPONENTS) {
        table.row([name.clone(), value.to_string()]);
    }
    table.render(style) + &more(names.len())
}

fn more(len: usize) -> String {
    match len.saturating_sub(COMPONENTS) {
        0 => String::new(),
        rest => format!("  … {rest} more\n"),
    }
}
