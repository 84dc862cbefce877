//! Fields where the machine gives out: no memory, a full disk, an end in the midst of a file.

#![cfg(unix)]
use crate::common::results::assert_same;
use crate::common::{Folder, signal};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A state has more bytes than a pipe holds.
const CASE: &str = r#"
[system]
problem = "turing"
[grid]
shape = [24, 20, 16]
[time]
until = 0.1
step = "stable"
[run]
checkpoint_steps = 9
[output]
every = 0.025
formats = ["vti", "zarr", "png"]
series = { every = 7, lines = [{ along = "x", through = [0.01, 0.01, 0.01] }] }
"#;

/// The same without states and tables.
fn bare() -> String {
    CASE[..CASE.find("[output]").unwrap()].to_owned()
}

/// Names of files below a folder that are not complete.
fn parts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(parts(&path));
        } else if path.extension().is_some_and(|e| e == "part") {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Runs until a file is being written, and kills the run in the midst of it. In the file's place
/// stands a pipe, which is full before the file is complete.
fn kill_in(folder: &Folder, part: &str, args: &[&str]) {
    let path = folder.path(part);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let mut child = folder.start(args);
    let (tell, told) = channel();
    let pipe = path.clone();
    std::thread::spawn(move || {
        let mut file = File::open(pipe).unwrap();
        let mut bytes = [0; 100];
        let read = file.read_exact(&mut bytes);
        // The pipe stays open, or the run would find out.
        tell.send(read.map(|()| file)).unwrap();
    });
    // The time only ends a test that fails.
    let open = told.recv_timeout(Duration::from_secs(120)).unwrap().unwrap();
    signal(&child, "-KILL");
    child.wait().unwrap();
    drop(open);
    // As a file that is half there.
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, [0; 100]).unwrap();
}

#[test]
fn a_grid_larger_than_memory_is_refused_before_anything_of_its_size() {
    let case = r#"
[system]
species = ["c"]
equations = { c = "lap(c)" }
[grid]
shape = [20_000, 20_000, 2_000]
spacing = 1.0
[initial]
c = 1.0
[time]
until = 1.0
step = 0.1
"#;
    let ball = "{ value = 0.0, balls = [{ centre = [1, 1, 1], radius = 3, value = 1.0 }] }";
    let with = |from: &str, to: &str| {
        let case = case.replace(from, to);
        let folder = Folder::new();
        folder.write("a.toml", case).write("c.npy", "junk");
        let parts = ["the fields need", "are free", "a.toml:6:9", "grid.shape", "bytes of"];
        for command in ["check", "run"] {
            let said = folder.odeum(&[command, "a.toml"]).refused(&parts);
            // Whatever has that many numbers is not looked at.
            assert!(!said.err.contains("NPY") && !said.err.contains("errors"), "{}", said.err);
        }
        assert_eq!(folder.files(), ["a.toml", "c.npy"]);
    };
    with("c = 1.0", &format!("c = {ball}"));
    with("c = 1.0", "c = { file = \"c.npy\" }");
    let spacing = "spacing = 1.0";
    with(spacing, "spacing = 1.0\nmask = \"x - 9\"");
    with(spacing, &format!("spacing = 1.0\nmask = {ball}"));
    with(spacing, "spacing = 1.0\nmask = { file = \"c.npy\" }");
    with("[initial]", "[velocity]\ncells = [\"c.npy\", \"c.npy\", \"c.npy\"]\n[initial]");
    with("[initial]", "[diffusion]\nc = \"c.npy\"\n[initial]");
    // With it, all that can be known without its cells.
    let folder = Folder::new();
    folder
        .write("a.toml", case.replace("1.0\n[time]", "\"y + k\"\n[time]").replace("until", "untl"));
    folder.odeum(&["check", "a.toml"]).refused(&["are free", "called `k`", "`untl`", "4 errors"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_study_says_which_grids_do_not_fit_into_memory() {
    let folder = Folder::new();
    let args = ["bench", "fields", "--sizes", "16000", "--threads", "1", "--json"];
    let said = folder.odeum(&args).well();
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["rows"].as_array().unwrap().len(), 0);
    // Four cubes and six cuts in two precisions.
    let left_out = document["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), (4 + 6) * 2);
    let first = left_out[0].as_str().unwrap();
    for part in ["diffusion, f32, 16000×16000×16000: it needs ", " TiB, and ", " are free"] {
        assert!(first.contains(part), "`{part}` is not in: {first}");
    }
}

#[test]
fn an_end_in_the_midst_of_a_file_loses_no_more_than_what_came_after_a_checkpoint() {
    let folder = Folder::new();
    folder.write("a.toml", CASE).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    // A state: there were checkpoints before it.
    kill_in(&folder, "a.frames/.00001.vti.part", &["run", "a.toml", "--overwrite"]);
    assert!(folder.has("a.frames/00000.vti") && !folder.has("a.frames/00001.vti"));
    let first = folder.read("a.checkpoint");
    // The checkpoint that would take the place of the one that is there.
    kill_in(&folder, ".a.checkpoint.part", &["run", "a.toml", "--resume"]);
    assert!(folder.read("a.checkpoint") == first, "the last good checkpoint was touched");
    let said = folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(said.err.contains("resuming:"), "{}", said.err);
    assert_same(&folder, "a", "whole");
    assert_eq!(parts(&folder.path("")), [""; 0]);
}

#[test]
fn a_disk_that_is_full_keeps_the_checkpoint() {
    let folder = Folder::new();
    folder.write("a.toml", CASE).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    kill_in(&folder, "a.frames/.00001.vti.part", &["run", "a.toml", "--overwrite"]);
    let kept = folder.read("a.checkpoint");
    // Tables fit, states do not.
    folder.limited("-f 160", "run a.toml --resume").failed(&[
        "cannot write the output: file too large",
        "a.frames/00001.vti",
        "ulimit -f",
        "a.checkpoint is kept",
    ]);
    assert!(folder.read("a.checkpoint") == kept, "the last good checkpoint was touched");
    assert!(!folder.has("a.npz"));
    assert_eq!(parts(&folder.path("")), [""; 0]);
    folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert_same(&folder, "a", "whole");
}

#[test]
fn a_disk_that_is_full_at_the_end_keeps_the_checkpoint() {
    let folder = Folder::new();
    // The result holds the case, a checkpoint does not.
    let case = format!("{}# {}\n", bare(), "long ".repeat(20_000));
    folder.write("a.toml", case).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    let said = folder.limited("-f 320", "run a.toml");
    let said =
        said.failed(&["cannot write the output: file too large", "a.npz", "a.checkpoint is kept"]);
    assert!(!said.err.contains("warning"), "{}", said.err);
    assert_eq!(folder.files(), ["a.checkpoint", "a.toml", "whole.npz"]);
    folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(folder.read("a.npz") == folder.read("whole.npz"));
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_no_end() {
    let folder = Folder::new();
    folder.write("a.toml", bare()).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    // A file of this name cannot be made.
    std::fs::create_dir(folder.path(".a.checkpoint.part")).unwrap();
    let said = folder.odeum(&["run", "a.toml"]).well();
    assert!(said.err.contains("warning") && said.err.contains("a.checkpoint"), "{}", said.err);
    assert_eq!(said.err.matches("went on without a checkpoint").count(), 1, "{}", said.err);
    assert!(folder.read("a.npz") == folder.read("whole.npz"));
}

#[test]
fn a_table_that_cannot_grow_ends_the_run_with_whole_rows() {
    let folder = Folder::new();
    let case = bare().replace("[24, 20, 16]", "[4, 3, 2]").replace("until = 0.1", "until = 1.0");
    let case = case.replace("checkpoint_steps = 9", "") + "[output]\nseries = { every = 1 }\n";
    folder.write("a.toml", case);
    let said = folder.limited("-f 16", "run a.toml");
    said.failed(&["cannot write the output: file too large", "a.csv", "ulimit -f"]);
    assert_eq!(folder.files(), ["a.csv", "a.toml"]);
    let table = String::from_utf8(folder.read("a.csv")).unwrap();
    let columns = table.lines().next().unwrap().split(',').count();
    assert!(table.len() > 7000 && table.ends_with('\n'), "{} bytes", table.len());
    assert!(table.lines().all(|line| line.split(',').count() == columns), "rows are cut");
}
