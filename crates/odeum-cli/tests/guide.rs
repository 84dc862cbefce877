//! The guide to case files says what the program does: every value in its tables is tried.

mod common;

use common::{DECAY, Folder};

const GUIDE: &str = include_str!("../../../docs/guide/case-files.md");

/// The code of the first column of the table under a heading.
fn entries(heading: &str) -> Vec<&'static str> {
    let from = GUIDE.find(&format!("\n## `[{heading}]`")).expect("the heading") + 1;
    let section = &GUIDE[from..];
    let section = &section[..section.find("\n## ").unwrap_or(section.len())];
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| &row[..row.find("` |").expect("the end of the cell")]).collect()
}

#[track_caller]
fn checks(case: &str) {
    let folder = Folder::new();
    folder.write("starts.csv", "first column,second,x,k\n1,2,3,4\n");
    let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]);
    assert_eq!(said.code, 0, "{case}\n{}", said.err);
}

const SPRING: &str = "[system]\nstates = { x = 1.0, v = 0.0 }\nparameters = { k = 2.0 }\n\
    equations = { x = \"v\", v = \"-k * x\" }\n";
const METHOD: &str = "[method]\nname = \"rkc\"\n";
const TOLERANCE: &str = "[tolerance]\nrtol = 1e-6\natol = 1e-6\n";
const TIME: &str = "[time]\nspan = [0.0, 10.0]\n";

#[test]
fn the_example_is_a_case() {
    let example = GUIDE.split("```toml\n").nth(1).expect("the example");
    checks(&example[..example.find("```").expect("its end")]);
}

#[test]
fn every_entry_of_the_tables_is_accepted() {
    for entry in entries("time") {
        let span = if entry.starts_with("span") { "" } else { "span = [0.0, 10.0]\n" };
        checks(&format!("{SPRING}{METHOD}{TOLERANCE}[time]\n{span}{entry}\n"));
    }
    for entry in entries("ensemble") {
        let entry = entry.replace(", …", "");
        let table = if entry.starts_with("columns") { "table = \"starts.csv\"\n" } else { "" };
        let columns = if entry.starts_with("table") { "columns = [\"x\"]\n" } else { "" };
        checks(&format!("{SPRING}{METHOD}{TOLERANCE}{TIME}[ensemble]\n{table}{entry}\n{columns}"));
    }
    for entry in entries("method") {
        let name = if entry.starts_with("name") { "" } else { "name = \"rkc\"\n" };
        checks(&format!("{SPRING}{TOLERANCE}{TIME}[method]\n{name}{entry}\n"));
    }
    for entry in entries("run").into_iter().chain(entries("output")) {
        let heading = if entries("run").contains(&entry) { "run" } else { "output" };
        checks(&format!("{SPRING}{METHOD}{TOLERANCE}{TIME}[{heading}]\n{entry}\n"));
    }
    checks(&DECAY.replace("atol = 1e-10", "atol = { a = 1e-10, others = 1e-6 }"));
}

#[test]
fn every_key_the_program_knows_is_in_the_guide() {
    let unknown = "\nunknown = 1\n";
    for heading in ["system", "ensemble", "time", "method", "tolerance", "run", "output"] {
        let folder = Folder::new();
        let sections = ["time", "method", "tolerance", "run", "output", "ensemble"];
        let mut case = SPRING.to_owned() + if heading == "system" { unknown } else { "" };
        for section in sections {
            let body = match section {
                "time" => "span = [0.0, 1.0]",
                "method" => "name = \"rkc\"",
                "tolerance" => "rtol = 1e-6\natol = 1e-6",
                _ => "",
            };
            let more = if section == heading { unknown } else { "" };
            case += &format!("[{section}]\n{body}{more}\n");
        }
        let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]);
        let help = said.err.replace('\n', " ");
        let list = help.split("known keys: ").nth(1).expect("the list of keys");
        for key in list.split(')').next().unwrap_or("").split(',') {
            let key = key.split_whitespace().next().expect("a key");
            assert!(GUIDE.contains(&format!("`{key} = ")), "`{key}` is not in the guide");
        }
    }
}
