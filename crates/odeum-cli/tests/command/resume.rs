//! Runs that are stopped and taken up again give the bits of runs that never stopped.

#![cfg(unix)]
use crate::common::{DECAY, Folder, npz, signal};
use std::time::{Duration, Instant};

/// A run of a second or so in batches of a few milliseconds.
pub(crate) const CASE: &str = r#"
[system]
problem = "pleiades"
[ensemble]
count = 40_000
seed = 3
perturb = { of = "states", relative = 1e-3 }
[time]
span = [0.0, 1.0]
save = [0.25, 0.5]
[method]
name = "rkck"
[tolerance]
rtol = 1e-10
norm = "state-and-rate"
[run]
batch = 500
"#;

/// Waits until the checkpoint has grown beyond its header.
fn wait_for_checkpoint(folder: &Folder, bytes: u64) {
    let start = Instant::now();
    while std::fs::metadata(folder.path("a.checkpoint")).map_or(0, |meta| meta.len()) < bytes {
        assert!(start.elapsed() < Duration::from_secs(60), "there is no checkpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn uninterrupted(folder: &Folder) -> Vec<u8> {
    folder.write("a.toml", CASE).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    folder.read("whole.npz")
}

#[test]
fn killed_at_any_time_and_resumed_is_bitwise_equal() {
    let folder = Folder::new();
    let whole = uninterrupted(&folder);
    let mut kills = 0;
    for (k, bytes) in [1, 3_000_000, 6_000_000, 10_000_000].into_iter().enumerate() {
        let mut args = vec!["run", "a.toml", "--checkpoint-every", "0"];
        if k > 0 {
            args.push("--resume");
        }
        let mut child = folder.start(&args);
        wait_for_checkpoint(&folder, bytes);
        signal(&child, "-KILL");
        kills += u32::from(!child.wait().unwrap().success());
        assert!(!folder.has("a.npz"), "the result must not be there before the end");
    }
    assert_eq!(kills, 4);
    let said = folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(said.err.contains("resuming:"), "{}", said.err);
    assert!(folder.read("a.npz") == whole, "the resumed result differs");
    let mut files = folder.files();
    // What a killed process was just writing may lie about under its hidden name.
    files.retain(|name| !name.starts_with('.'));
    assert_eq!(files, ["a.npz", "a.toml", "whole.npz"]);
}

#[test]
fn ctrl_c_keeps_what_is_finished_and_says_how_to_go_on() {
    let folder = Folder::new();
    uninterrupted(&folder);
    // One batch only, so that the stop comes in the middle of it.
    let one_batch = CASE.replace("batch = 500", "batch = 40_000");
    folder.write("a.toml", &one_batch);
    // The stop must come after the first systems have ended and before the last: how long that
    // takes depends on the machine and its other work.
    let output = [100, 200, 400, 50, 800, 25, 1600]
        .into_iter()
        .find_map(|wait| {
            // One that came to its end leaves a result, which stays beside what is stopped after it.
            let _ = std::fs::remove_file(folder.path("a.npz"));
            let child = folder.start(&["run", "a.toml", "--overwrite"]);
            std::thread::sleep(Duration::from_millis(wait));
            signal(&child, "-INT");
            let asked = Instant::now();
            let output = child.wait_with_output().unwrap();
            assert!(asked.elapsed() < Duration::from_secs(60));
            folder.has("a.partial.npz").then_some(output)
        })
        .expect("a run that is stopped half way");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    for part in [
        "stopped:",
        "of 40000 systems are finished",
        "a.partial.npz",
        "a.checkpoint",
        "odeum run a.toml --resume",
    ] {
        assert!(err.contains(part), "`{part}` is not in:\n{err}");
    }
    let (mut part, mut all) =
        (npz::read(&folder.path("a.partial.npz")), npz::read(&folder.path("whole.npz")));
    let systems = part.remove("system").unwrap().whole();
    assert!(!systems.is_empty() && systems.len() < 40_000);
    let (y, all_y) = (part.remove("y").unwrap().f64(), all.remove("y").unwrap().f64());
    for (row, &system) in systems.iter().enumerate() {
        let system = system as usize;
        assert_eq!(y[28 * row..28 * row + 28], all_y[28 * system..28 * system + 28]);
    }

    let said = folder.odeum(&["run", "a.toml"]);
    said.refused(&["checkpoint of a run that was stopped", "--resume", "--overwrite"]);
    folder.odeum(&["run", "a.toml", "--resume", "--quiet"]).well();
    let (mut resumed, mut all) =
        (npz::read(&folder.path("a.npz")), npz::read(&folder.path("whole.npz")));
    resumed.remove("about");
    all.remove("about");
    assert!(resumed == all, "the resumed result differs");
    assert_eq!(folder.files(), ["a.npz", "a.toml", "whole.npz"]);
}

/// Files of other formats than the run began with are somebody else's.
#[test]
fn a_run_that_goes_on_replaces_what_it_writes_only() {
    let folder = Folder::new();
    let case = |formats: &str| format!("{CASE}[output]\nformats = [{formats}]\n");
    folder.write("a.toml", case("\"csv\"")).write("a.csv", "old").write("a.parquet", "my own data");
    let mut child = folder.start(&["run", "a.toml", "--overwrite", "--checkpoint-every", "0"]);
    wait_for_checkpoint(&folder, 1_000_000);
    signal(&child, "-KILL");
    child.wait().unwrap();
    folder.write("a.toml", case("\"csv\", \"parquet\""));
    let said = folder.odeum(&["run", "a.toml", "--resume"]);
    said.refused(&["a file that it has not written", "a.parquet", "move it away"]);
    assert_eq!(folder.read("a.parquet"), b"my own data");
    std::fs::remove_file(folder.path("a.parquet")).unwrap();
    folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(folder.has("a.parquet") && folder.read("a.csv") != b"old");
}

/// A run that was killed while its files got their names has given some of them theirs, and its result is whole beside its place.
#[test]
fn killed_while_files_get_their_names_and_resumed_is_bitwise_equal() {
    let folder = Folder::new();
    let case = format!("{CASE}[output]\nformats = [\"csv\", \"parquet\"]\n");
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    let ends = ["npz", "csv", "saved.csv", "parquet", "saved.parquet"];
    let whole = ends.map(|end| folder.read(&format!("a.{end}")));
    ends.iter().for_each(|end| std::fs::remove_file(folder.path(&format!("a.{end}"))).unwrap());
    let killed_at = |args: &[&str], bytes: u64| {
        let mut child =
            folder.start(&[&["run", "a.toml", "--checkpoint-every", "0"], args].concat());
        wait_for_checkpoint(&folder, bytes);
        signal(&child, "-KILL");
        child.wait().unwrap();
    };
    killed_at(&[], 3_000_000);
    folder.write("a.csv", &whole[1]).write(".a.npz.part", &whole[0]);
    // Also where the run that goes on is killed too.
    killed_at(&["--resume"], 8_000_000);
    folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(ends.map(|end| folder.read(&format!("a.{end}"))) == whole);
}

/// A checkpoint of a run that was killed half way.
fn half_way() -> (Folder, Vec<u8>) {
    let folder = Folder::new();
    let whole = uninterrupted(&folder);
    let mut child = folder.start(&["run", "a.toml", "--checkpoint-every", "0"]);
    wait_for_checkpoint(&folder, 5_000_000);
    signal(&child, "-KILL");
    child.wait().unwrap();
    (folder, whole)
}

/// What a killed run has put stays where the run that would go on is refused, and so does what it had not put.
#[test]
fn files_stay_where_a_run_that_would_go_on_is_refused() {
    let (folder, _) = half_way();
    let case = format!("{CASE}[output]\nformats = [\"csv\"]\n");
    folder.write("a.toml", &case).odeum(&["run", "a.toml", "-o", "b.npz"]).well();
    let (result, table) = (folder.read("b.npz"), folder.read("b.csv"));
    let resume = || folder.odeum(&["run", "a.toml", "--resume"]);
    // A table that had not come to its place is not the one that is there.
    folder.write(".a.npz.part", &result).write(".a.csv.part", &table);
    folder.write("a.csv", "my own data");
    resume().refused(&["a file that it has not written", "a.csv", "move it away"]);
    assert_eq!(folder.read("a.csv"), b"my own data");
    std::fs::rename(folder.path(".a.csv.part"), folder.path("a.csv")).unwrap();
    folder.write("a.toml", case.replace("seed = 3", "seed = 4"));
    resume().refused(&["the checkpoint is of another run"]);
    assert!(folder.has("a.csv") && folder.has(".a.npz.part"), "{:?}", folder.files());
    folder.write("a.toml", &case);
    resume().well();
    assert!(folder.read("a.csv") == table && folder.read("a.npz") == result);
}

/// `NAME.partial.npz` may be the complete result of another case.
#[test]
fn a_complete_result_with_the_name_of_an_unfinished_one_stays() {
    let (folder, whole) = half_way();
    folder.write("a.partial.npz", &whole);
    let mut child = folder.start(&["run", "a.toml", "--resume", "--checkpoint-every", "0"]);
    wait_for_checkpoint(&folder, 8_000_000);
    signal(&child, "-INT");
    child.wait().unwrap();
    assert!(folder.read("a.partial.npz") == whole, "it was replaced");
    folder.odeum(&["run", "a.toml", "--resume"]);
    assert!(folder.has("a.npz") && folder.read("a.partial.npz") == whole, "it was removed");

    let named = |name: &str| format!("{DECAY}[output]\nname = \"{name}\"\n");
    folder.write("b.toml", named("c.partial")).write("c.toml", named("c"));
    folder.odeum(&["run", "b.toml"]).well();
    let other = folder.read("c.partial.npz");
    folder.odeum(&["run", "c.toml"]).refused(&["the file exists already", "c.partial.npz"]);
    folder.odeum(&["run", "c.toml", "--overwrite"]).well();
    assert!(folder.has("c.npz") && folder.read("c.partial.npz") == other);
}

#[test]
fn damage_is_noticed_and_computed_again() {
    let (folder, whole) = half_way();
    let bytes = folder.read("a.checkpoint");
    // A flipped bit in the third of the batches, and a tail that is cut off.
    let mut damaged = bytes[..bytes.len() - 1000].to_vec();
    let middle = bytes.len() / 3;
    damaged[middle] ^= 4;
    folder.write("a.checkpoint", damaged);
    let said = folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert_eq!(said.err.matches("is damaged or cut off").count(), 2, "{}", said.err);
    assert!(folder.read("a.npz") == whole, "the resumed result differs");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let (folder, _) = half_way();
    let checkpoint = folder.read("a.checkpoint");
    for (from, to, what) in [
        ("1e-10", "1e-9", "options"),
        ("seed = 3", "seed = 4", "ensemble"),
        ("rkck", "tsit5", "method"),
    ] {
        folder.write("a.toml", CASE.replace(from, to));
        let said = folder.odeum(&["run", "a.toml", "--resume"]);
        said.refused(&["the checkpoint is of another run", "it differs in:", what, "--overwrite"]);
    }
    assert_eq!(folder.read("a.checkpoint"), checkpoint);
    // Comments and batches change no result.
    let case = CASE.replace("batch = 500", "batch = 800 # larger");
    folder.write("a.toml", case).odeum(&["run", "a.toml", "--resume"]).well();
    folder.write("b.checkpoint", "hello, I am a letter to my aunt").write("b.toml", CASE);
    folder.odeum(&["run", "b.toml", "--resume"]).refused(&["this is no checkpoint of odeum"]);
}

#[test]
fn resuming_without_a_checkpoint_starts_from_the_beginning() {
    let folder = Folder::new();
    let case = CASE.replace("40_000", "100");
    let said = folder.write("a.toml", case).odeum(&["run", "a.toml", "--resume"]).well();
    assert!(said.err.contains("there is no checkpoint"), "{}", said.err);
}

/// To a later end systems go on from their result, which `--resume` says; the states are those of one
/// run, to the tolerance.
#[test]
fn a_later_end_begins_from_the_result() {
    let folder = Folder::new();
    let ensemble = "[ensemble]\ncount = 20\nperturb = { of = [\"a\", \"k\"], relative = 0.2 }\n";
    let case = DECAY.to_owned() + ensemble;
    let later = case.replace("[0.0, 1.0]", "[0.0, 2.0]");
    folder.write("a.toml", &case).odeum(&["run", "a.toml"]).well();
    folder.write("a.toml", &later);
    let parts =
        ["the result exists already", "to go on to a later", "\"RESULT.npz\" in [ensemble]"];
    folder.odeum(&["run", "a.toml", "--resume"]).refused(&parts);
    let second = DECAY.replace("[0.0, 1.0]", "[1.0, 2.0]");
    folder.write("b.toml", second + "[ensemble]\ntable = \"a.npz\"\n");
    folder.odeum(&["run", "b.toml"]).well();
    folder.odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    let states = |name: &str| npz::read(&folder.path(name)).remove("y").unwrap().f64();
    let (two, one) = (states("b.npz"), states("whole.npz"));
    assert!(two.len() == 40 && two.iter().zip(&one).all(|(x, y)| (x - y).abs() < 1e-7));
}

#[test]
fn a_checkpoint_of_an_earlier_end_says_how_to_go_on() {
    let (folder, _) = half_way();
    let span = CASE.lines().find(|line| line.starts_with("span")).unwrap_or_default();
    assert!(!span.is_empty(), "{CASE}");
    folder.write("a.toml", CASE.replace(span, "span = [0.0, 4.5]"));
    let said = folder.odeum(&["run", "a.toml", "--resume"]);
    said.refused(&["it differs in: time span", "table = \"RESULT.npz\"", "restore the case"]);
}

/// A result of an earlier run does not stand in the way of the checkpoint of a later one.
#[test]
fn a_run_that_replaces_a_result_is_taken_up_too() {
    let folder = Folder::new();
    let whole = uninterrupted(&folder);
    folder.write("a.toml", CASE.replace("40_000", "10")).odeum(&["run", "a.toml"]).well();
    let earlier = folder.read("a.npz");
    folder.write("a.toml", CASE);
    let child = folder.start(&["run", "a.toml", "--overwrite", "--checkpoint-every", "0"]);
    wait_for_checkpoint(&folder, 1);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("odeum run a.toml --resume"));
    assert!(folder.read("a.npz") == earlier);
    folder.odeum(&["run", "a.toml"]).refused(&["the result exists already"]);
    // That of another run replaces nothing.
    folder.write("a.toml", CASE.replace("seed = 3", "seed = 4"));
    folder.odeum(&["run", "a.toml", "--resume"]).refused(&["checkpoint is of another run"]);
    assert!(folder.read("a.npz") == earlier);
    folder.write("a.toml", CASE).odeum(&["run", "a.toml", "--resume"]).well();
    assert!(folder.read("a.npz") == whole, "the resumed result differs");
    assert!(!folder.has("a.checkpoint"));
}

/// The NPZ says that a result is complete: it comes after the other formats, and where one of these cannot
/// be written the run is taken up by the command that is told.
#[test]
fn a_result_that_cannot_be_written_whole_is_written_later() {
    let folder = Folder::new();
    let case = DECAY.to_owned() + "[output]\nformats = [\"csv\", \"parquet\"]\n";
    folder.write("a.toml", &case).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    // A folder lies where the file is written before it has its name.
    std::fs::create_dir(folder.path(".a.parquet.part")).unwrap();
    let said = folder.odeum(&["run", "a.toml", "--overwrite"]);
    said.failed(&["a.parquet", "kept in a.checkpoint", "--resume"]);
    // Nothing is replaced before all are written.
    assert!(!folder.has("a.csv") && !folder.has("a.npz"));
    std::fs::remove_dir(folder.path(".a.parquet.part")).unwrap();
    let said = folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(said.err.contains("1 systems are finished, 0 are left"), "{}", said.err);
    for end in ["npz", "csv", "parquet"] {
        assert!(folder.read(&format!("a.{end}")) == folder.read(&format!("whole.{end}")), "{end}");
    }
    // Without a checkpoint the result stays.
    folder.odeum(&["run", "a.toml", "--resume"]).refused(&["the result exists already", "a.npz"]);
    // The earlier files stay together.
    let files = || ["npz", "csv", "parquet"].map(|end| folder.read(&format!("a.{end}")));
    let earlier = files();
    folder.write("a.toml", case.replace("k = 2.0", "k = 3.0"));
    std::fs::create_dir(folder.path(".a.npz.part")).unwrap();
    let said = folder.odeum(&["run", "a.toml", "--overwrite"]);
    assert_ne!(said.code, 0, "{}", said.err);
    assert!(files() == earlier, "files of two runs lie side by side");
}

/// Where a result cannot be written, and not even what was computed can be kept, both are told.
#[test]
fn a_checkpoint_that_cannot_be_written_either_is_told() {
    let folder = Folder::new();
    let many = "[ensemble]\ncount = 2000\n[output]\nformats = [\"csv\"]\n";
    folder.write("a.toml", DECAY.to_owned() + many);
    folder.limited("-f 64", "run a.toml").failed(&[
        "cannot write the output: file too large",
        "a.csv",
        "ulimit -f",
        "what is computed could not be kept: cannot write the checkpoint: file too large",
    ]);
    assert_eq!(folder.files(), ["a.toml"]);
}

/// Names that a result might have beside it are not its own for that.
#[test]
fn files_that_no_run_has_written_stay() {
    let folder = Folder::new();
    let case = |of: &str| format!("{of}[output]\nformats = [\"csv\", \"parquet\", \"svg\"]\n");
    folder.write("a.toml", case(DECAY)).odeum(&["run", "a.toml"]).well();
    let own = ["a.saved.csv", "a.saved.parquet", "a.svg"];
    let write = || own.iter().for_each(|name| _ = folder.write(name, "mine"));
    let stay = || own.iter().for_each(|name| assert_eq!(folder.read(name), b"mine", "{name}"));
    write();
    folder.odeum(&["run", "a.toml", "--overwrite"]).well();
    stay();
    folder.odeum(&["run", "a.toml", "--overwrite"]).well();
    stay();
    // Nor are those its own that came while it was stopped.
    std::fs::remove_file(folder.path("a.npz")).unwrap();
    folder.write("a.toml", case(&CASE.replace("save = [0.25, 0.5]\n", "")));
    let stopped = |folder: &Folder| {
        let mut child = folder.start(&["run", "a.toml", "--overwrite", "--checkpoint-every", "0"]);
        wait_for_checkpoint(folder, 1_000_000);
        signal(&child, "-KILL");
        child.wait().unwrap();
    };
    stopped(&folder);
    folder.odeum(&["run", "a.toml", "--resume"]).well();
    stay();
    let folder = Folder::new();
    folder.write("a.toml", case(CASE));
    stopped(&folder);
    folder.write("a.saved.csv", "mine");
    let said = folder.odeum(&["run", "a.toml", "--resume"]);
    said.refused(&["a file that it has not written", "a.saved.csv", "move it away"]);
    assert_eq!(folder.read("a.saved.csv"), b"mine");
}

/// What an earlier run wrote is told by its result, wherever its case and what that was read from are now.
#[test]
fn files_of_another_case_do_not_lie_beside_a_new_result() {
    let folder = Folder::new();
    let table = "[ensemble]\ntable = \"t.csv\"\n[output]\nformats = [\"csv\"]\n";
    for name in ["first", "second"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    folder.write("first/t.csv", "a\n1.0\n2.0\n");
    folder.write("first/a.toml", format!("{DECAY}{table}")).write("second/a.toml", DECAY);
    folder.odeum(&["run", "first/a.toml", "-o", "out/"]).well();
    assert!(folder.has("out/a.csv"));
    folder.odeum(&["run", "second/a.toml", "-o", "out/", "--overwrite"]).well();
    assert!(folder.has("out/a.npz") && !folder.has("out/a.csv"));
    // The same case without its table.
    folder.odeum(&["run", "first/a.toml", "-o", "out/", "--overwrite"]).well();
    std::fs::remove_file(folder.path("first/t.csv")).unwrap();
    folder.write("first/a.toml", DECAY);
    folder.odeum(&["run", "first/a.toml", "-o", "out/", "--overwrite"]).well();
    assert!(folder.has("out/a.npz") && !folder.has("out/a.csv"));
}

/// What a link under a hidden name leads to is none of a run's.
#[test]
fn hidden_files_are_not_written_through_links() {
    let folder = Folder::new();
    folder.write("a.toml", DECAY).write("mine", "mine");
    for name in [".a.npz.part", ".a.npz.lock"] {
        std::os::unix::fs::symlink("mine", folder.path(name)).unwrap();
        folder.odeum(&["run", "a.toml", "--overwrite"]).well();
        assert_eq!(folder.read("mine"), b"mine", "{name}");
        assert_eq!(folder.files(), ["a.npz", "a.toml", "mine"]);
    }
}

#[test]
fn folders_in_the_place_of_files_are_told() {
    let folder = Folder::new();
    folder.write("a.toml", DECAY);
    let parts = ["where a file is to be written there is a folder", "a.checkpoint", "move it away"];
    std::fs::create_dir(folder.path("a.checkpoint")).unwrap();
    for options in [&["run", "a.toml"][..], &["run", "a.toml", "--overwrite"]] {
        folder.odeum(options).refused(&parts);
    }
    std::fs::remove_dir(folder.path("a.checkpoint")).unwrap();
    std::fs::create_dir(folder.path(".a.npz.part")).unwrap();
    let parts = ["until it is complete there is a folder", ".a.npz.part", "move it away"];
    folder.odeum(&["run", "a.toml"]).refused(&parts);
}

/// What an earlier run of the case wrote and this one does not is no part of its result; files of others stay.
#[test]
fn files_of_an_earlier_run_do_not_lie_beside_a_new_result() {
    let folder = Folder::new();
    let span = "span = [0.0, 1.0]";
    let level =
        DECAY.replace(span, "span = [0.0, 1.0]\nsave = [0.5]\nuntil = { a = { falls_to = 0.5 } }");
    let with = |case: &str, formats: &str| {
        let sweep = "[ensemble]\nsweep = { k = [1.0, 2.0] }";
        format!("{case}{sweep}\n[output]\nformats = [{formats}]\n")
    };
    let overwrite = |case: &str, files: &[&str]| {
        folder.write("a.toml", case).odeum(&["run", "a.toml", "--overwrite"]).well();
        assert_eq!(folder.files(), files);
    };
    let all = "\"csv\", \"parquet\", \"svg\"";
    let whole =
        ["a.csv", "a.npz", "a.parquet", "a.saved.csv", "a.saved.parquet", "a.svg", "a.toml"];
    overwrite(&with(&level, all), &whole);
    // Nothing crosses, and nothing is saved.
    let none = level.replace("falls_to = 0.5", "falls_to = 0.01").replace("save = [0.5]\n", "");
    overwrite(&with(&none, all), &["a.csv", "a.npz", "a.parquet", "a.toml"]);
    overwrite(&with(&none, "\"csv\""), &["a.csv", "a.npz", "a.toml"]);
    // These are nobody's but the user's.
    folder.write("a.svg", "mine").write("a.saved.parquet", "mine");
    overwrite(DECAY, &["a.npz", "a.saved.parquet", "a.svg", "a.toml"]);
    // What the earlier run wrote is what this one is computed from.
    let with_table = ["a.csv", "a.npz", "a.saved.parquet", "a.svg", "a.toml"];
    overwrite(&with(DECAY, "\"csv\""), &with_table);
    folder.write("a.csv", "a,b\n1.0,0.5\n");
    overwrite(&format!("{DECAY}[ensemble]\ntable = \"a.csv\"\n"), &with_table);
}
