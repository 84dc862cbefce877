//! Systems that end at a level: what is said of those that start there, and of when the others ended.

use crate::common::{DECAY, Folder, hydrogen};

/// The small case from `{starts}`, until `{level}`.
fn decay(starts: &str, level: &str) -> String {
    let until = format!("span = [0.0, 1.0]\nuntil = {{ a = {{ {level} }} }}");
    DECAY.replace("span = [0.0, 1.0]", &until) + &format!("[ensemble]\nsweep = {{ {starts} }}\n")
}

#[test]
fn systems_that_start_at_their_level_or_beyond_are_told() {
    let folder = Folder::new();
    folder.write("a.toml", decay("a = [3.0, 1.5, 0.5]", "falls_to = 1.5"));
    for command in ["check", "run"] {
        let said = folder.odeum(&[command, "a.toml"]).well();
        for part in [
            "warning: 2 of 3 systems start at or beyond the level of `until`",
            "until a has left it and falls to it again, or to the end of its span",
            "a.toml:9:9",
            "found: system 1 starts from a = 1.5",
            "falls_by",
        ] {
            assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
        }
    }
    let quiet = |case: String| {
        let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]).well();
        assert!(said.err.is_empty(), "{}", said.err);
    };
    quiet(decay("a = [3.0, 1.5, 0.5]", "falls_to = 0.25"));
    quiet(decay("a = [3.0, 1.5, 0.5]", "falls_by = 0.25"));
    quiet(decay("a = [3.0, 1.5, 0.5]", "rises_to = 3.5"));
    folder.write("a.toml", decay("a = [3.0, 1.5, 0.5]", "rises_to = 3.0"));
    let said = folder.odeum(&["check", "a.toml"]).well();
    assert!(said.err.contains("1 of 3 systems") && said.err.contains("rises_by"), "{}", said.err);
    // In single precision these are one number.
    let near = decay("a = [0.7]", "rises_to = 0.70000001");
    quiet(near.clone());
    let single = near.replace("1e-8", "1e-6") + "[run]\nprecision = \"f32\"\n";
    let said = folder.write("a.toml", single).odeum(&["check", "a.toml"]).well();
    assert!(said.err.contains("1 of 1 systems start at or beyond"), "{}", said.err);
    // A distance that vanishes in rounding is none.
    let near = decay("a = [1e-3, 1e6]", "falls_by = 1e-2");
    quiet(near.clone());
    let single = near.replace("1e-8", "1e-6") + "[run]\nprecision = \"f32\"\n";
    let said = folder.write("a.toml", single).odeum(&["check", "a.toml"]).well();
    for part in ["1 of 2 systems start at or beyond", "falls_by more than the rounding of a"] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    // Rows that are no starts are told as such.
    folder.write("t.csv", "a\n0.5\nnan\n3\n");
    let rows = DECAY.replace("[0.0, 1.0]", "[0.0, 1.0]\nuntil = { a = { falls_to = 1.0 } }")
        + "[ensemble]\ntable = \"t.csv\"\nbad_rows = \"status\"\n";
    let said = folder.write("a.toml", rows).odeum(&["check", "a.toml"]).well();
    assert!(said.err.contains("1 of 3 systems start at or beyond"), "{}", said.err);
}

#[test]
fn gases_that_start_at_their_level_or_beyond_are_told() {
    let case = |level: &str| {
        format!(
            "[system]\nmechanism = \"h2.yaml\"\nfuel = {{ H2 = 1 }}\noxidizer = {{ O2 = 1 }}\n\
             [ensemble.sweep]\nT = [1000.0, 1200.0, 1400.0]\n[time]\nspan = [0.0, 1e-3]\n\
             until = {{ T = {{ {level} }} }}\n[method]\nname = \"rodas5p\"\n\
             [tolerance]\nrtol = 1e-6\natol = 1e-15\n"
        )
    };
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("a.toml", case("rises_to = 1200.0"));
    let said = folder.odeum(&["check", "a.toml"]).well();
    for part in ["2 of 3 systems start at or beyond", "system 1 starts from T = 1200", "a.toml:9:9"]
    {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    for level in ["rises_to = 1500.0", "rises_by = 400.0"] {
        let said = folder.write("a.toml", case(level)).odeum(&["check", "a.toml"]).well();
        assert!(said.err.is_empty(), "{}", said.err);
    }
}

/// Times of ln 2 / k, of which the middle ones are 0.1733 and 0.3466.
#[test]
fn the_median_of_an_even_number_lies_between_the_middle_ones() {
    let folder = Folder::new();
    folder.write("a.toml", decay("k = [1.0, 2.0, 4.0, 8.0]", "falls_to = 0.5"));
    let said = folder.odeum(&["run", "a.toml"]).well();
    assert!(said.out.contains("8.664e-2 to 6.931e-1, median 2.599e-1"), "{}", said.out);
    folder.write("a.toml", decay("k = [1.0, 2.0, 4.0]", "falls_to = 0.5"));
    let said = folder.odeum(&["run", "a.toml", "--overwrite"]).well();
    assert!(said.out.contains("median 3.466e-1"), "{}", said.out);
    // Whenever systems start, these are times from there.
    let later = decay("k = [1.0, 2.0, 4.0]", "falls_to = 0.5").replace("[0.0, 1.0]", "[5.0, 6.0]");
    let said = folder.write("a.toml", later).odeum(&["run", "a.toml", "--overwrite"]).well();
    let line = said.out.lines().find(|line| line.contains("events after")).unwrap_or_default();
    assert!(line.contains("median 3.466e-1, from the start"), "{}", said.out);
    // Backward too.
    let back = decay("k = [1.0, 2.0, 4.0]", "rises_to = 2.0").replace("[0.0, 1.0]", "[0.0, -1.0]");
    let said = folder.write("a.toml", back).odeum(&["run", "a.toml", "--overwrite"]).well();
    assert!(said.out.contains("1.733e-1 to 6.931e-1, median 3.466e-1"), "{}", said.out);
}
