//! `odeum problems`: the built-in problems.

use crate::args::ProblemsArgs;
use crate::exit::Exit;
use crate::report::{Align, Style, Table, say, show, wrap};
use odeum_case::suggest;
use odeum_fields::problems::Builtin;
use odeum_io::Finding;
use odeum_ode::problems::{self, Problem};

/// Most components listed of a large problem.
const COMPONENTS: usize = 30;

pub(crate) fn command(args: &ProblemsArgs) -> Exit {
    let all = problems::all();
    let style = Style::stdout();
    let Some(name) = &args.name else {
        let (all, fields) = (list(&all, style), fields(style));
        say(&format!("{all}\n{fields}\n  `odeum problems NAME` says more of one.\n"));
        return Exit::Success;
    };
    match problems::find(name) {
        Some(problem) => {
            say(&describe(&problem, style));
            Exit::Success
        }
        None if Builtin::named(name).is_some() => {
            if let Some(Ok(text)) =
                Builtin::named(name).map(|builtin| describe_field(builtin, style))
            {
                say(&text);
            }
            Exit::Success
        }
        None => {
            let names = all.iter().map(|p| p.name).chain(Builtin::ALL.map(Builtin::name));
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
            problem.method.to_owned(),
            problem.title.to_owned(),
        ]);
    }
    table.render(style)
}

/// What a problem of fields is about.
fn about(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::Diffusion => "diffusion of a ball",
        Builtin::Turing => "Turing pattern formation",
        Builtin::Front => "phase separation behind a chemical front, as printed",
        Builtin::MendedFront => "the same with a redissolution that is a sink everywhere",
        Builtin::Plume => "advection and diffusion from a point source",
    }
}

/// The problems of fields: for case files with a `[grid]`.
fn fields(style: Style) -> String {
    let mut table = Table::new(&[
        ("fields", Align::Left),
        ("species", Align::Right),
        ("spacing", Align::Right),
        ("step", Align::Right),
        ("title", Align::Left),
    ]);
    for builtin in Builtin::ALL {
        let species = builtin.model().map_or(0, |model| model.species().len());
        table.row([
            builtin.name().to_owned(),
            species.to_string(),
            builtin.spacing().to_string(),
            builtin.step().to_string(),
            about(builtin).to_owned(),
        ]);
    }
    table.render(style)
}

fn describe_field(builtin: Builtin, style: Style) -> Result<String, odeum_ode::Error> {
    let model = builtin.model()?;
    let mut text = format!("{}  {}\n", style.bold(builtin.name()), about(builtin));
    let mut facts = Table::pairs();
    facts.pair(
        "source",
        "Molnár, Izsák, Mészáros & Lagzi, Chemom. Intell. Lab. Syst. 108 (2011) 76–85, Table 1",
    );
    facts.pair("species", model.species().join(", "));
    facts.pair("spacing", format!("{} (set with spacing = … in [grid])", builtin.spacing()));
    facts.pair("step", format!("{} (the paper's; euler)", builtin.step()));
    text += &format!("\n{}", facts.render(style));
    let (names, numbers): (Vec<String>, Vec<f64>) = model.params().iter().cloned().unzip();
    text += &format!("\n{}", values("parameter", &names, &numbers, style));
    Ok(text)
}

fn describe(problem: &Problem, style: Style) -> String {
    let mut text = format!("{}  {}\n", style.bold(problem.name), problem.title);
    for line in wrap(problem.about, 88) {
        text += &format!("  {line}\n");
    }
    let mut facts = Table::pairs();
    facts.pair("source", problem.source);
    facts.pair("method", problem.method);
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
