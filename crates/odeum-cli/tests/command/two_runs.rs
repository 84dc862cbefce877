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
