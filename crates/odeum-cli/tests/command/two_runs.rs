//! Two runs never write the same result.

#![cfg(unix)]
use crate::common::{Folder, signal};
use std::time::{Duration, Instant};

/// Far more steps than any test waits for.
const ENSEMBLE: &str = r#"
[system]
states = { x = 1.0, v = 0.0 }
equations = { x = "v", v = "-x" }
[time]
span = [0.0, 1e9]
[method]
name = "dopri5"
max_steps = 4_000_000_000
max_evaluations = 4_000_000_000
[tolerance]
rtol = 1e-10
atol = 1e-10
"#;

const FIELD: &str = r#"
[system]
species = ["u"]
equations = { u = "lap(u) - u" }
[grid]
shape = [64, 64, 1]
spacing = 1.0
[initial]
u = 1.0
[time]
until = 1e9
step = 0.01
"#;

#[test]
fn a_second_run_is_refused_while_the_first_lasts() {
    for (case, short) in [
        (ENSEMBLE, ENSEMBLE.replace("1e9", "1.0")),
        (FIELD, FIELD.replace("until = 1e9", "until = 0.1")),
    ] {
        let folder = Folder::new();
        let mut first = folder.write("a.toml", case).start(&["run", "a.toml", "--quiet"]);
        let begun = Instant::now();
        while !folder.has(".a.npz.lock") || folder.read(".a.npz.lock").is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the first run does not begin");
            std::thread::sleep(Duration::from_millis(2));
        }
        for args in [&["run", "a.toml"][..], &["run", "a.toml", "--overwrite"]] {
            let said = folder.odeum(args);
            assert_eq!(said.code, 2, "{}", said.err);
            let first = format!("another run (process {})", first.id());
            for part in [first.as_str(), "a.npz", "--output"] {
                assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
            }
        }
        // Another place is free, and a lock goes with its process, however that ends.
        signal(&first, "-KILL");
        first.wait().unwrap();
        folder.write("a.toml", short).odeum(&["run", "a.toml", "--overwrite"]).well();
        assert!(folder.has("a.npz") && !folder.has(".a.npz.lock"), "{:?}", folder.files());
    }
}

/// Documents and pictures of studies are written by one run at a time too.
#[test]
fn a_study_is_refused_while_another_writes_its_file() {
    let folder = Folder::new();
    for (file, args) in [
        ("b.json", ["bench", "lorenz", "--systems", "8", "--json", "b.json"]),
        ("b.svg", ["bench", "lorenz", "--systems", "8", "--plot", "b.svg"]),
        ("b.npz", ["pasr", "none.yaml", "--phi", "1", "--output", "b.npz"]),
    ] {
        let hidden = format!(".{file}.lock");
        let lock = std::fs::File::create(folder.path(&hidden)).unwrap();
        lock.try_lock().unwrap();
        folder.odeum(&args).refused(&["another run is writing this result", file, "wait for it"]);
        assert_eq!(folder.files(), [hidden.as_str()]);
        drop(lock);
        std::fs::remove_file(folder.path(&hidden)).unwrap();
    }
}

/// Waits until a run has written a file.
fn wait_for(folder: &Folder, name: &str) {
    let begun = Instant::now();
    while !folder.has(name) {
        assert!(begun.elapsed() < Duration::from_secs(60), "there is no {name}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Some thousand steps and states.
fn long_field() -> String {
    FIELD.replace("until = 1e9", "until = 30.0")
        + "[output]\nevery = 0.1\nformats = [\"vti\", \"zarr\"]\nseries = { every = 1 }\n"
}

/// A lock goes with its folder: what the run would write there is of no result, or beside that of another.
#[test]
fn a_run_whose_folder_was_removed_writes_nothing_more() {
    let folder = Folder::new();
    for again in [true, false] {
        folder.write("a.toml", long_field());
        let first = folder.start(&["run", "a.toml", "-o", "D/"]);
        wait_for(&folder, "D/a.frames/00002.vti");
        signal(&first, "-STOP");
        std::fs::remove_dir_all(folder.path("D")).unwrap();
        let names = |of: &str| {
            let all = std::fs::read_dir(folder.path(of)).unwrap();
            let mut all: Vec<_> = all.map(|entry| entry.unwrap().file_name()).collect();
            all.sort();
            all
        };
        let mut before = Vec::new();
        if again {
            folder.write("a.toml", long_field().replace("until = 30.0", "until = 0.2"));
            folder.odeum(&["run", "a.toml", "-o", "D/"]).well();
            before = ["D", "D/a.frames"].map(names).concat();
        }
        signal(&first, "-CONT");
        let said = first.wait_with_output().unwrap();
        let err = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(3), "{err}");
        assert!(err.contains("folder of the result was removed or replaced"), "{err}");
        assert!(!err.contains("is kept"), "{err}");
        if again {
            assert_eq!(["D", "D/a.frames"].map(names).concat(), before);
            std::fs::remove_dir_all(folder.path("D")).unwrap();
        } else {
            assert!(!folder.has("D"));
        }
    }
}

/// Programs that save a file put another into its place: rows that come after would be in none.
#[test]
fn a_table_that_is_replaced_ends_the_run() {
    let folder = Folder::new();
    let case = long_field().replace("[output]", "[run]\ncheckpoint_steps = 50\n[output]");
    folder.write("a.toml", case.replace("until = 30.0", "until = 6.0"));
    folder.odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    let run = folder.start(&["run", "a.toml"]);
    wait_for(&folder, "a.checkpoint");
    // Its rows are those of the last checkpoint, at least.
    signal(&run, "-STOP");
    std::fs::copy(folder.path("a.csv"), folder.path("other.csv")).unwrap();
    std::fs::rename(folder.path("other.csv"), folder.path("a.csv")).unwrap();
    signal(&run, "-CONT");
    let said = run.wait_with_output().unwrap();
    let err = String::from_utf8(said.stderr).unwrap();
    assert_eq!(said.status.code(), Some(3), "{err}");
    for part in ["a.csv", "removed, replaced or changed", "a.checkpoint is kept"] {
        assert!(err.contains(part), "`{part}` is not in:\n{err}");
    }
    folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(folder.read("a.csv") == folder.read("whole.csv"));
    assert!(folder.read("a.npz") == folder.read("whole.npz"));
}

/// Nothing is replaced without a word, at the end neither.
#[test]
fn files_that_come_while_a_run_goes_on_stay() {
    let ensemble = crate::resume::CASE.to_owned() + "[output]\nformats = [\"csv\"]\n";
    let field = FIELD.replace("until = 1e9", "until = 500.0")
        + "[run]\ncheckpoint_steps = 500\n[output]\nformats = [\"vti\"]\n";
    for (case, came) in
        [(&ensemble, "a.csv"), (&ensemble, "a.npz"), (&field, "a.npz"), (&field, "a.vti")]
    {
        let folder = Folder::new();
        folder.write("a.toml", case);
        let run = folder.start(&["run", "a.toml", "--checkpoint-every", "0"]);
        wait_for(&folder, "a.checkpoint");
        folder.write(came, "precious");
        let said = run.wait_with_output().unwrap();
        let err = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(3), "{came}: {err}");
        for part in ["would replace a file that came while it went on", came, "kept"] {
            assert!(err.contains(part), "`{part}` is not in:\n{err}");
        }
        assert!(folder.read(came) == b"precious", "{came} was replaced");
        std::fs::remove_file(folder.path(came)).unwrap();
        folder.odeum(&["run", "a.toml", "--resume"]).well();
        folder.write("a.toml", case).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
        for end in ["npz", came.split_once('.').unwrap().1] {
            let [resumed, whole] = ["a", "whole"].map(|name| folder.read(&format!("{name}.{end}")));
            assert!(resumed == whole, "{end}");
        }
    }
}
