//! Options of output that would have no effect are told of, by `check` and `run` alike.

use crate::common::{DECAY, Folder, Said};

const FIELD: &str = r#"
[system]
species = ["c"]
equations = { c = "lap(c)" }
[grid]
shape = [9, 8, 1]
spacing = 1.0
[initial]
c = "sin(x)"
[time]
until = 0.2
step = 0.05
[output]
"#;

#[track_caller]
fn both(case: &str) -> [Said; 2] {
    let folder = Folder::new();
    folder.write("a.toml", case);
    [folder.odeum(&["check", "a.toml"]).well(), folder.odeum(&["run", "a.toml"]).well()]
}

/// A warning at the last line of a case, which both commands give.
#[track_caller]
fn warned(case: &str, field: &str, parts: &[&str]) {
    let place = format!("a.toml:{}:", case.trim_end().lines().count());
    for said in both(case) {
        for part in [&["warning", &place, field][..], parts].concat() {
            assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
        }
    }
}

#[track_caller]
fn silent(case: &str) {
    for said in both(case) {
        assert!(!said.err.contains("warning"), "{}", said.err);
    }
}

#[test]
fn of_fields() {
    let with = |output: &str| format!("{FIELD}{output}\n");
    let every = "nothing is written of these states";
    warned(&with("every = 0.1"), "output.every", &[every, "leave `every` out"]);
    warned(&with("series = { every = 1 }\nevery = 0.1"), "output.every", &[every]);
    silent(&with("formats = [\"vti\"]\nevery = 0.1"));
    silent(&with("png = {}\nevery = 0.1"));
    warned(&with("formats = [\"movie\"]"), "output.formats", &["a single picture", "every = 1.0"]);
    warned(&with("png = []"), "output.png", &["no picture is asked for"]);
    warned(
        &with("png = [{ range = [0.0, 1.0] }, { colours = \"magma\" }]"),
        "output.png",
        &["of two pictures of one plane", "`at` or `normal`"],
    );
    warned(
        &with("png = { normal = \"y\", colours = \"magma\" }"),
        "output.png.colours",
        &["one row of cells", "a line"],
    );
    let folder = Folder::new();
    folder.write("a.toml", with("structure = { every = 1, species = [] }"));
    folder.odeum(&["check", "a.toml"]).refused(&["there is no species", "structure.species"]);
}

#[test]
fn of_ensembles() {
    let case = DECAY.replace("[0.0, 1.0]", "[0.0, 1.0]\nUNTIL")
        + "[ensemble.sweep]\na = [1.0, 2.0]\n[output]\nformats = [\"csv\", \"svg\"]\n";
    let until = |until: &str| case.replace("UNTIL", until);
    let level = "until = { b = { rises_to = 0.5 } }";
    warned(&until(""), "output.formats[1]", &["there will be no picture", "until = "]);
    let alone = until(level).replace("[ensemble.sweep]\na = [1.0, 2.0]\n", "");
    warned(&alone, "output.formats[1]", &["there will be no picture", "[ensemble.sweep]"]);
    silent(&until(level));
    // That no system comes to its level is known at the end alone.
    let [check, run] = both(&until("until = { b = { rises_to = 7.0 } }"));
    assert!(!check.err.contains("warning"), "{}", check.err);
    for part in ["warning", "nothing is drawn", "a.svg"] {
        assert!(run.err.contains(part), "`{part}` is not in:\n{}", run.err);
    }
}

#[test]
fn names_of_files_that_are_not_written_are_no_folders() {
    let folder = Folder::new();
    folder.write("a.toml", DECAY).write("f.toml", FIELD);
    for name in ["out.txt", "deep/out.csv", "out.zarr"] {
        for case in ["a.toml", "f.toml"] {
            let said = folder.odeum(&["run", case, "-o", name]);
            let npz = format!("give {}.npz", name.rsplit_once('.').unwrap_or_default().0);
            said.refused(&["--output", name, &npz, "put a / behind it", "`formats`"]);
        }
    }
    let said = folder.odeum(&["bench", "lorenz", "--plot", "a.png"]);
    said.refused(&["no .png file is written here", "--plot", "give a.svg"]);
    assert_eq!(folder.files(), ["a.toml", "f.toml"]);
    for name in ["out", "run-0.5", "out.txt/", "out.txt", "deep/out.npz"] {
        folder.odeum(&["run", "a.toml", "-o", name, "--overwrite"]).well();
    }
    assert_eq!(folder.files(), ["a.toml", "deep", "f.toml", "out", "out.txt", "run-0.5"]);
}
