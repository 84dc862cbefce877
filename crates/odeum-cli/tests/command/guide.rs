//! The guide to case files says what the program does: every value in its tables is tried.

use crate::common::{DECAY, Folder};

const GUIDE: &str = concat!(
    include_str!("../../../../docs/src/case-files/index.md"),
    include_str!("../../../../docs/src/case-files/ensembles.md"),
    include_str!("../../../../docs/src/case-files/fields.md"),
    include_str!("../../../../docs/src/case-files/output.md"),
    include_str!("../../../../docs/src/case-files/gases.md"),
);

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
        let segments = if entry.starts_with("warm_start") { "segments = 2\n" } else { "" };
        checks(&format!("{SPRING}{METHOD}{TOLERANCE}[time]\n{span}{segments}{entry}\n"));
    }
    for entry in entries("ensemble") {
        let entry = entry.replace(", …", "");
        let reads = |key: &str| entry.starts_with(key);
        let table =
            if reads("columns") || reads("bad_rows") { "table = \"starts.csv\"\n" } else { "" };
        let columns = if reads("table") || reads("bad_rows") { "columns = [\"x\"]\n" } else { "" };
        let perturb =
            if reads("seed") { "perturb = { of = \"states\", relative = 1e-3 }\n" } else { "" };
        let rest = format!("{table}{entry}\n{columns}{perturb}");
        checks(&format!("{SPRING}{METHOD}{TOLERANCE}{TIME}[ensemble]\n{rest}"));
    }
    for entry in entries("method") {
        let name = match entry.split(' ').next() {
            Some("name") => "",
            Some("growth_limit") => "name = \"rodas5p\"\n",
            _ => "name = \"rkc\"\n",
        };
        checks(&format!("{SPRING}{TOLERANCE}{TIME}[method]\n{name}{entry}\n"));
    }
    for entry in entries("run").into_iter().chain(entries("output")) {
        let heading = if entries("run").contains(&entry) { "run" } else { "output" };
        checks(&format!("{SPRING}{METHOD}{TOLERANCE}{TIME}[{heading}]\n{entry}\n"));
    }
    checks(&DECAY.replace("atol = 1e-10", "atol = { a = 1e-10, others = 1e-6 }"));
}

/// The code of the first column of the table under a heading of fields.
fn field_entries(heading: &str) -> Vec<&'static str> {
    let from = GUIDE.find(&format!("\n## {heading}")).expect("the heading") + 1;
    let section = &GUIDE[from..];
    let end = section.find("\n## ").unwrap_or(section.len());
    let rows = section[..end].lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| &row[..row.find("` |").expect("the end of the cell")]).collect()
}

/// A case of a field with one section replaced.
fn field_case(heading: &str, body: &str) -> String {
    let usual = [
        (
            "system",
            "species = [\"u\"]\nparameters = { Du = 1.0 }\nequations = { u = \"Du * lap(u)\" }",
        ),
        ("grid", "shape = [5, 5, 5]\nspacing = 0.1"),
        ("initial", "u = 1.0"),
        ("time", "until = 0.01\nstep = 1e-3"),
    ];
    let mut case = String::new();
    for (name, text) in usual {
        let text = if name == heading { body } else { text };
        case += &format!("[{name}]\n{text}\n");
    }
    if !usual.iter().any(|(name, _)| *name == heading) {
        let (open, close) = if heading == "sources" { ("[[", "]]") } else { ("[", "]") };
        case += &format!("{open}{heading}{close}\n{body}\n");
    }
    case
}

/// A plain array of one number for the grid of [`field_case`].
fn array(number: u8) -> Vec<u8> {
    let mut dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (5, 5, 5), }".to_owned();
    dict += &" ".repeat(128 - 11 - dict.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dict.len() as u16 + 1).to_le_bytes());
    bytes.extend(dict.as_bytes());
    bytes.push(b'\n');
    bytes.extend([number; 125]);
    bytes
}

#[track_caller]
fn field_checks(case: &str) {
    let folder = Folder::new();
    for name in ["u.npy", "D.npy", "wx.npy", "wy.npy", "wz.npy"] {
        folder.write(name, array(0));
    }
    folder.write("mask.npy", array(1));
    let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]);
    assert_eq!(said.code, 0, "{case}\n{}", said.err);
}

#[test]
fn the_example_of_a_field_is_a_case() {
    let example = GUIDE.split("```toml\n").nth(2).expect("the example");
    field_checks(&example[..example.find("```").expect("its end")]);
}

#[test]
fn every_entry_of_the_tables_of_fields_is_accepted() {
    for entry in field_entries("`[system]` of a field") {
        let entry = entry
            .replace("[\"u\", \"v\"]", "[\"u\"]")
            .replace("u * v", "u")
            .replace(", v = \"0\"", "")
            .replace("- r", "");
        let base =
            [("species", "species = [\"u\"]\n"), ("equations", "equations = { u = \"0\" }\n")];
        let others: String = base
            .iter()
            .filter(|(key, _)| !entry.starts_with(key) && !entry.starts_with("problem"))
            .map(|(_, text)| *text)
            .collect();
        let case = field_case("system", &format!("{others}{entry}"));
        let case = if entry.starts_with("problem") {
            case.replace("[initial]\nu = 1.0\n", "").replace("step = 1e-3", "")
        } else {
            case
        };
        field_checks(&case);
    }
    for entry in field_entries("`[grid]`") {
        let key = entry.split(' ').next().expect("a key");
        let base = [("shape", "shape = [5, 5, 5]"), ("spacing", "spacing = 10.0")];
        let others = base.iter().filter(|(name, _)| *name != key).map(|(_, text)| *text);
        // Of cells of that size the first one's centre is at 5.
        let entry = entry.replace("1 - x^2", "100 - x^2");
        let body = others.chain([entry.as_str()]).collect::<Vec<_>>().join("\n");
        field_checks(&field_case("grid", &body).replace("0.01", "0.1"));
    }
    for entry in field_entries("`[boundary]`") {
        field_checks(&field_case("boundary", entry));
    }
    for entry in field_entries("`[velocity]`") {
        let velocity = if entry.starts_with("uniform") || entry.starts_with("cells") {
            ""
        } else {
            "uniform = [1.0, 0.0, 0.0]\n"
        };
        field_checks(&field_case("velocity", &format!("{velocity}{entry}")));
    }
    field_checks(&field_case("sources", "species = \"u\"\ncell = [4, 4, 4]\nrate = 1.0"));
    field_checks(&field_case("sources", "species = \"u\"\nat = [0.1, 0.1, 0.1]\nrate = \"t\""));
    for place in ["ball = { centre = [0.1, 0.1, 0.1], radius = 0.05 }", "everywhere = true"] {
        field_checks(&field_case(
            "sources",
            &format!("species = \"u\"\n{place}\nrate = \"x * t\""),
        ));
    }
    let place = "box = { from = [0, 0, 0], to = [0.1, 0.1, 0.1] }";
    field_checks(&field_case("sources", &format!("species = \"u\"\n{place}\nrate = \"Du * y\"")));
    field_checks(&field_case("diffusion", "u = \"D.npy\""));
    for entry in field_entries("`[initial]`") {
        let more = if entry.starts_with("seed") { "\nu = 1.0" } else { "" };
        field_checks(&field_case("initial", &format!("{entry}{more}")));
    }
    for entry in field_entries("`[time]` of a field") {
        let until = if entry.starts_with("until") { "" } else { "until = 0.01\n" };
        let more = match entry.split(' ').next().expect("a key") {
            "stages" => "method = \"rkl2\"\nstep = 1e-3\n",
            "tolerance" => "method = \"rkc\"\n",
            "step" => "force = true\n",
            _ => "step = 1e-3\n",
        };
        field_checks(&field_case("time", &format!("{until}{more}{entry}")));
    }
    for (heading, name) in [("`[run]` of a field", "run"), ("`[output]` of a field", "output")] {
        for entry in field_entries(heading) {
            field_checks(&field_case(name, entry));
        }
    }
}

#[test]
fn every_key_of_fields_is_in_the_guide() {
    let cases = [
        ("system", "species = [\"u\"]\nequations = { u = \"0\" }\nunknown = 1"),
        ("grid", "shape = [5, 5, 5]\nspacing = 0.1\nunknown = 1"),
        ("boundary", "unknown = 1"),
        ("boundary", "x_low = { value = 1.0, unknown = 1 }"),
        ("velocity", "unknown = 1"),
        ("sources", "unknown = 1"),
        ("initial", "u = { value = 1.0, unknown = 1 }"),
        ("time", "until = 1.0\nunknown = 1"),
        ("run", "unknown = 1"),
        ("output", "unknown = 1"),
        ("output", "png = { unknown = 1 }"),
        ("output", "isosurface = { unknown = 1 }"),
        ("output", "series = { unknown = 1 }"),
    ];
    for (heading, body) in cases {
        let folder = Folder::new();
        let case = field_case(heading, body);
        let said = folder.write("a.toml", &case).odeum(&["check", "a.toml"]);
        let help = said.err.replace('\n', " ");
        let list = help.split("known keys: ").nth(1).expect("the list of keys");
        for key in list.split(')').next().unwrap_or("").split(',') {
            let key = key.split_whitespace().next().expect("a key");
            let known =
                ["", "{ "].iter().any(|before| GUIDE.contains(&format!("{before}{key} = ")));
            assert!(known, "`{key}` of [{heading}] is not in the guide");
        }
    }
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
