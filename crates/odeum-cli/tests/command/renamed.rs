//! Keys and words of earlier versions: the error names the new ones.

use crate::common::{DECAY, Folder};

const FIELD: &str = r#"
[system]
species = ["u"]
equations = { u = "lap(u)" }

[grid]
shape = [8, 1, 1]
spacing = 0.5

[boundary]
x_low = { gradient = 0.5 }

[velocity]
uniform = [0.1, 0.0, 0.0]

[initial]
u = 1.0

[time]
until = 0.01
step = 1e-3
"#;

#[track_caller]
fn tells(case: &str, now: &str, before: &str, name: &str) {
    assert!(case.contains(now), "{now}");
    let folder = Folder::new();
    folder.write("a.toml", case).odeum(&["check", "a.toml"]).well();
    let said = folder.write("a.toml", case.replacen(now, before, 1)).odeum(&["check", "a.toml"]);
    let said = said.refused(&["another name now", name]);
    assert_eq!(said.err.matches("error:").count(), 1, "{}", said.err);
}

#[test]
fn old_keys_are_told_by_their_new_names() {
    tells(FIELD, "[boundary]", "[walls]", "write `boundary`");
    tells(FIELD, "gradient", "slope", "write `gradient`");
    tells(FIELD, "[velocity]", "[wind]", "write `velocity`");
    tells(FIELD, "uniform", "velocity", "write `uniform`");
    let segments = DECAY.replace("[time]", "[time]\nsegments = 2");
    tells(&segments, "segments", "restarts", "write `segments`");
    let first = DECAY.replace("[method]", "[method]\nfirst_step = { fraction = 0.5 }");
    tells(&first, "fraction", "share", "write `fraction`");
    let law = DECAY.replace("[method]", "[method]\ncontroller = \"integral\"");
    tells(&law, "integral", "elementary", "\"integral\"");
    let norm = "[tolerance]\nrtol = 1e-6\nnorm = \"state-and-rate\"\n";
    let (head, _) = DECAY.split_once("[tolerance]").expect("the section");
    tells(&format!("{head}{norm}"), "state-and-rate", "state-and-slope", "\"state-and-rate\"");
}
