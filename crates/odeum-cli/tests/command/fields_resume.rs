//! Runs of fields that are stopped and taken up again give the bits of runs that never stopped.

#![cfg(unix)]
use crate::common::results::assert_same;
use crate::common::{Folder, npz, signal};
use crate::resume::CASE as ENSEMBLE;
use std::process::Command;
use std::time::{Duration, Instant};

const CASE: &str = r#"
[system]
problem = "turing"
[grid]
shape = [13, 12, 11]
[time]
until = 0.6
step = "stable"
[output]
every = 0.15
formats = ["vti", "zarr", "png"]
series = { every = 7, lines = [{ along = "x", through = [0.01, 0.01, 0.01] }] }
"#;

/// The same with steps by tolerance, and states every so many steps.
fn adaptive() -> String {
    CASE.replace("step = \"stable\"", "method = \"rkc\"\ntolerance = { rtol = 1e-6, atol = 1e-8 }")
        .replace("every = 0.15", "every = { steps = 5 }")
        .replace("every = 7", "every = 2")
}

/// Waits until there is a checkpoint that differs from the one before.
fn wait_for_checkpoint(folder: &Folder, before: &[u8]) -> Vec<u8> {
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < Duration::from_secs(60), "there is no checkpoint");
        match std::fs::read(folder.path("a.checkpoint")) {
            Ok(bytes) if bytes != before => return bytes,
            _ => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

#[test]
fn killed_and_resumed_is_bitwise_equal() {
    for case in [CASE.to_owned(), adaptive()] {
        let folder = Folder::new();
        folder.write("a.toml", &case).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
        let mut before = Vec::new();
        for k in 0..3 {
            let mut args = vec!["run", "a.toml", "--checkpoint-every", "0"];
            if k > 0 {
                args.push("--resume");
            }
            let mut child = folder.start(&args);
            before = wait_for_checkpoint(&folder, &before);
            std::thread::sleep(Duration::from_millis(10 * k));
            signal(&child, "-KILL");
            child.wait().unwrap();
            assert!(!folder.has("a.npz"), "the result must not be there before the end");
        }
        let said = folder.odeum(&["run", "a.toml", "--resume"]).well();
        assert!(said.err.contains("resuming:"), "{}", said.err);
        assert_same(&folder, "a", "whole");
        assert!(!folder.has("a.checkpoint"));
    }
}

/// What `max_steps` ended kept no checkpoint, though raising it and `--resume` is the advice.
#[test]
fn a_run_that_max_steps_ends_goes_on_with_more() {
    for case in [CASE.replace("[13, 12, 11]", "[7, 6, 5]"), adaptive()] {
        let folder = Folder::new();
        folder.write("a.toml", &case).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
        let few = case.replace("until = 0.6", "until = 0.6\nmax_steps = 9");
        let parts = ["too many steps", "a.checkpoint is kept"];
        folder.write("a.toml", few).odeum(&["run", "a.toml"]).failed(&parts);
        let said = folder.write("a.toml", &case).odeum(&["run", "a.toml", "--resume"]).well();
        assert!(said.err.contains("resuming: from t = "), "{}", said.err);
        assert_same(&folder, "a", "whole");
    }
}

/// A run to an end that is put off leaves what one to the later end does: states, rows, stores, result.
#[test]
fn a_later_end_goes_on_from_the_result() {
    // Steps of given size and by tolerance, to ends at which states and rows are due, and not.
    let small = |case: &str| case.replace("[13, 12, 11]", "[7, 6, 5]");
    let fixed = small(CASE).replace("\"stable\"", "0.0025");
    let by_steps = fixed.replace("every = 0.15", "every = { steps = 40 }");
    let single = by_steps.clone() + "[run]\nprecision = \"f32\"\n";
    // Steps, or their stages, that follow a limit.
    let following = |equation: &str, step: &str| {
        small(CASE)
            .replace(
                "problem = \"turing\"",
                &format!("species = [\"u\"]\nequations = {{ u = \"{equation}\" }}"),
            )
            .replace("[grid]", "[initial]\nu = { value = 0.5, noise = 0.4 }\n[grid]\nspacing = 0.1")
            .replace("step = \"stable\"", step)
    };
    let (by_value, by_time) = ("0.2 * exp(u) * lap(u) + 5", "(0.1 + 0.5 * t) * lap(u) + u - u^3");
    for (case, ends) in [
        (following(by_value, "step = \"stable\""), ["0.15", "0.3"]),
        (following(by_value, "method = \"rkl2\"\nstages = 4\nstep = \"stable\""), ["0.15", "0.3"]),
        (following(by_value, "method = \"rkc\"\nstep = 0.01"), ["0.07", "0.45"]),
        (following(by_time, "method = \"rkc\"\nstep = 0.01"), ["0.07", "0.45"]),
        (fixed, ["0.3", "0.375"]),
        (small(&adaptive()).replace("every = { steps = 5 }", "every = 0.15"), ["0.15", "0.3"]),
        (by_steps, ["0.05", "0.3"]),
        (single, ["0.2", "0.21"]),
    ] {
        let folder = Folder::new();
        let to = |end: &str| case.replace("until = 0.6", &format!("until = {end}"));
        folder.write("a.toml", &case).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
        folder.write("a.toml", to(ends[0])).odeum(&["run", "a.toml"]).well();
        for end in [ends[1], "0.6"] {
            folder.write("a.toml", to(end));
            folder.odeum(&["run", "a.toml"]).refused(&["the result exists already"]);
            let said = folder.odeum(&["run", "a.toml", "--resume"]).well();
            assert!(said.err.contains("resuming: from t = "), "{}", said.err);
        }
        assert_same(&folder, "a", "whole");
        // An end that is no later is no reason to compute.
        let before = folder.read("a.npz");
        folder.odeum(&["run", "a.toml", "--resume"]).refused(&[
            "the result exists already",
            "it ends at t = 0.6",
            "later time.until",
        ]);
        let other = to("0.7").replace("turing", "gray_scott").replace("lap(u)", "2 * lap(u)");
        folder.write("a.toml", other);
        assert!(folder.odeum(&["run", "a.toml", "--resume"]).code == 2);
        assert!(folder.read("a.npz") == before);
    }
}

/// Between the ends of two runs the bits of the field are those of the checkpoint of the second.
#[test]
fn a_run_to_a_later_end_can_be_killed_too() {
    let folder = Folder::new();
    folder.write("a.toml", CASE).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    folder.write("a.toml", CASE.replace("until = 0.6", "until = 0.15"));
    folder.odeum(&["run", "a.toml"]).well();
    folder.write("a.toml", CASE);
    let mut child = folder.start(&["run", "a.toml", "--checkpoint-every", "0", "--resume"]);
    wait_for_checkpoint(&folder, &[]);
    signal(&child, "-KILL");
    child.wait().unwrap();
    // What the checkpoint is ahead of cannot be its end.
    folder.write("a.toml", CASE.replace("until = 0.6", "until = 0.1"));
    folder.odeum(&["run", "a.toml", "--resume"]).refused(&["has gone on to t = ", "a.toml:7:9"]);
    folder.write("a.toml", CASE).odeum(&["run", "a.toml", "--resume"]).well();
    assert_same(&folder, "a", "whole");
}

/// Names that begin with a dash were taken for options, and without `--strict` the exit code is another.
#[test]
fn the_command_to_go_on_is_one_that_does() {
    let folder = Folder::new();
    folder.write("-c.toml", CASE).odeum(&["run", "-o", "whole.npz", "--", "-c.toml"]).well();
    let args = ["--strict", "--threads", "1", "--checkpoint-every", "0", "--output=-out/a b.npz"];
    let child = folder.start(&[&["run"], &args[..], &["--", "-c.toml"]].concat());
    wait_for(&folder, "-out/a b.checkpoint");
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    let command = err.lines().find_map(|line| line.trim().strip_prefix("to go on from it: "));
    let expected = "odeum run ./-c.toml --output './-out/a b.npz' --threads 1 --strict --resume";
    assert_eq!(command, Some(expected), "{err}");
    let parts = expected.strip_prefix("odeum ").unwrap();
    folder.limited("-n 64", parts).well();
    assert_same(&folder, "-out/a b", "whole");
}

#[test]
fn ctrl_c_keeps_a_checkpoint_and_says_how_to_go_on() {
    let folder = Folder::new();
    folder.write("a.toml", CASE).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    let child = folder.start(&["run", "a.toml", "--checkpoint-every", "0"]);
    wait_for_checkpoint(&folder, &[]);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    for part in ["stopped: at t = ", "a.checkpoint", "odeum run a.toml --resume"] {
        assert!(err.contains(part), "`{part}` is not in:\n{err}");
    }
    folder.odeum(&["run", "a.toml"]).refused(&["of a run that was stopped", "--overwrite"]);
    folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert_same(&folder, "a", "whole");
}

/// What the checkpoint counts as written and is gone is named; what follows from the case is
/// written again.
#[test]
fn files_of_states_that_got_lost_are_told() {
    let folder = Folder::new();
    let case = CASE.replace("[time]", "mask = \"0.07 - x\"\n[time]");
    folder.write("a.toml", &case).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    let mut child = folder.start(&["run", "a.toml", "--checkpoint-every", "0"]);
    let checkpoint = wait_for_checkpoint(&folder, &[]);
    signal(&child, "-KILL");
    child.wait().unwrap();
    folder.write("a.checkpoint", checkpoint);
    let away = |name: &str| std::fs::rename(folder.path(name), folder.path("away")).unwrap();
    let back = |name: &str| std::fs::rename(folder.path("away"), folder.path(name)).unwrap();
    for (name, first) in [
        ("a.frames/u_z5_00000.png", "a.frames/u_z5_00000.png"),
        ("a.frames/00000.vti", "a.frames/00000.vti"),
        ("a.frames", "a.frames/u_z5_00000.png"),
        ("a.zarr", "a.zarr/u/c/0/0/0/0"),
        ("a.zarr/v/c/0", "a.zarr/v/c/0/0/0/0"),
    ] {
        away(name);
        let said = folder.odeum(&["run", "a.toml", "--resume"]);
        said.refused(&["states before the checkpoint", first, "put them back", "--allow-missing"]);
        assert!(!folder.has(name) && folder.has("a.checkpoint"));
        back(name);
    }
    for name in ["a.zarr/zarr.json", "a.zarr/x/c/0", "a.zarr/mask/c/0/0/0", "a.zarr/t/c/0", "a.pvd"]
    {
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    // Who does without a store says so, and is told; it holds the states from then on.
    std::fs::write(folder.path("kept"), folder.read("a.checkpoint")).unwrap();
    folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert_same(&folder, "a", "whole");
    std::fs::remove_file(folder.path("a.npz")).unwrap();
    std::fs::rename(folder.path("kept"), folder.path("a.checkpoint")).unwrap();
    std::fs::remove_dir_all(folder.path("a.zarr")).unwrap();
    let said = folder.odeum(&["run", "a.toml", "--resume", "--allow-missing"]).well();
    assert!(said.err.contains("warning") && said.err.contains("a.zarr/u/c/0"), "{}", said.err);
    assert!(folder.read("a.npz") == folder.read("whole.npz"));
    for name in ["zarr.json", "x/c/0", "mask/c/0/0/0", "t/c/0", "v/c/4/0/0/0"] {
        let [one, other] = ["a", "whole"].map(|it| folder.read(&format!("{it}.zarr/{name}")));
        assert!(one == other, "{name}");
    }
}

#[test]
fn checkpoints_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    folder.write("a.toml", CASE);
    let mut child = folder.start(&["run", "a.toml", "--checkpoint-every", "0"]);
    let checkpoint = wait_for_checkpoint(&folder, &[]);
    signal(&child, "-KILL");
    child.wait().unwrap();
    folder.write("a.checkpoint", &checkpoint);

    let resume = || folder.odeum(&["run", "a.toml", "--resume"]);
    for (at, bit) in [(checkpoint.len() / 2, 1), (checkpoint.len() - 5, 8), (60, 2)] {
        let mut damaged = checkpoint.clone();
        damaged[at] ^= bit;
        folder.write("a.checkpoint", damaged);
        let said = resume();
        assert_eq!(said.code, 2, "{}", said.err);
        let clear = ["checkpoint is damaged", "checkpoint is of another run"];
        assert!(clear.iter().any(|part| said.err.contains(part)), "{}", said.err);
        assert!(said.err.contains("--overwrite"), "{}", said.err);
    }
    folder.write("a.checkpoint", &checkpoint[..checkpoint.len() - 100]);
    resume().refused(&["the checkpoint is damaged", "a.checkpoint", "--overwrite"]);
    folder.write("a.checkpoint", "hello, I am a letter to my aunt");
    resume().refused(&["this is no checkpoint of a field"]);

    folder.write("a.checkpoint", &checkpoint);
    for (from, to, what) in [
        ("[13, 12, 11]", "[13, 12, 10]", "system, grid and boundaries"),
        ("step = \"stable\"", "step = { stable = 0.7 }", "time"),
        ("every = 0.15", "every = 0.2", "output"),
        ("\"png\"]\n", "\"png\"]\npng = { range = [0.0, 9.0] }\n", "pictures"),
        ("[time]", "[initial]\nseed = 3\n[time]", "initial values"),
        ("[time]", "[run]\nprecision = \"f32\"\n[time]", "precision"),
    ] {
        folder.write("a.toml", CASE.replace(from, to));
        resume().refused(&["the checkpoint is of another run", "it differs in:", what]);
    }
    assert_eq!(folder.read("a.checkpoint"), checkpoint);
    folder.write("a.toml", CASE).odeum(&["run", "a.toml", "--overwrite"]).well();
    assert!(!folder.has("a.checkpoint"));
}

/// Where there is nothing to go on from, files of this name are somebody else's.
#[test]
fn nothing_is_replaced_where_there_is_nothing_to_go_on_from() {
    let folder = Folder::new();
    let case = CASE.replace("[13, 12, 11]", "[4, 3, 2]").replace("until = 0.6", "until = 0.3");
    folder.write("a.toml", case);
    let resume = || folder.odeum(&["run", "a.toml", "--resume"]);
    for (name, inside) in [
        ("a.frames", "a.frames/00077.vti"),
        ("a.pvd", "a.pvd"),
        ("a.zarr", "a.zarr/zarr.json"),
        ("a.csv", "a.csv"),
        ("a.lines.csv", "a.lines.csv"),
    ] {
        if name != inside {
            std::fs::create_dir(folder.path(name)).unwrap();
        }
        folder.write(inside, "my own data");
        resume().refused(&["there is nothing to resume from", name, "--overwrite"]);
        folder.odeum(&["run", "a.toml"]).refused(&[
            "the file exists already",
            name,
            "ended before its first checkpoint",
            "--overwrite",
        ]);
        assert_eq!(folder.read(inside), b"my own data");
        assert!(!folder.has("a.npz"));
        if name == inside {
            std::fs::remove_file(folder.path(name)).unwrap();
        } else {
            std::fs::remove_dir_all(folder.path(name)).unwrap();
        }
    }
    assert!(resume().well().err.contains("there is no checkpoint"));
}

/// Files of other formats than the run began with are somebody else's.
#[test]
fn a_run_that_goes_on_replaces_what_it_writes_only() {
    let folder = Folder::new();
    let case = |until: &str, formats: &str| {
        let case = CASE.replace("[13, 12, 11]", "[4, 3, 2]").replace("0.6", until);
        case.replace("[\"vti\", \"zarr\", \"png\"]", formats)
    };
    folder.write("a.toml", case("0.3", "[\"vti\"]")).odeum(&["run", "a.toml"]).well();
    std::fs::create_dir(folder.path("a.zarr")).unwrap();
    folder.write("a.zarr/mine", "my own data");
    let resumed = |until: &str| {
        folder.write("a.toml", case(until, "[\"vti\", \"zarr\"]"));
        folder.odeum(&["run", "a.toml", "--resume", "--allow-missing"])
    };
    resumed("0.6").refused(&["a file that it has not written", "a.zarr", "move it away"]);
    assert_eq!(folder.read("a.zarr/mine"), b"my own data");
    std::fs::remove_dir_all(folder.path("a.zarr")).unwrap();
    resumed("0.6").well();
    // What it has written since is its own.
    resumed("0.9").well();
}

/// Files that a run has begun and its case asks for no more end early: they are told, and none of the result's.
#[test]
fn files_that_are_asked_for_no_more_are_told() {
    let folder = Folder::new();
    let case = CASE
        .replace("[13, 12, 11]", "[4, 3, 2]")
        .replace("[\"vti\", \"zarr\", \"png\"]", "FORMATS");
    let case = |until: &str, formats: &str, structure: &str| {
        case.replace("0.6", until).replace("FORMATS", formats) + structure
    };
    let structure = "structure = { every = 7 }\n";
    let all = case("0.30000000000000004", "[\"vti\", \"zarr\"]", structure);
    folder.write("a.toml", all).odeum(&["run", "a.toml"]).well();
    let less = case("0.6", "[]", "");
    let said = folder.write("a.toml", less).odeum(&["run", "a.toml", "--resume"]).well();
    let gone = ["a.frames", "a.pvd", "a.structure.csv", "a.zarr"];
    for name in gone {
        assert!(said.err.contains(&format!("--> {name}\n")), "{name} is not in:\n{}", said.err);
    }
    for part in [
        "goes on without a file that it has begun, which [output] has no more",
        "ends at about t = 0.30000000000000004\n",
        "remove it",
    ] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    let about = npz::read(&folder.path("a.npz")).remove("about").unwrap().texts().remove(0);
    assert!(about.contains(r#""files":["csv","lines.csv"]"#), "{about}");
    // Once.
    folder.write("a.toml", case("0.9", "[]", ""));
    let said = folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(!said.err.contains("goes on without"), "{}", said.err);
    let said =
        folder.write("a.toml", case("1.2", "[\"zarr\"]", "")).odeum(&["run", "a.toml", "--resume"]);
    said.refused(&["replace a file that it has not written, or not to the end", "a.zarr"]);
}

/// A result is gone on from only beside its own states: a run that replaced them and failed leaves none.
#[test]
fn no_run_goes_on_beside_states_of_another() {
    let folder = Folder::new();
    let case = "[system]\nspecies = [\"u\"]\nparameters = { r = 0.1 }\n\
                equations = { u = \"lap(u) + r * u^2\" }\n[grid]\nshape = [8, 8, 1]\nspacing = 1.0\n\
                [initial]\nu = 0.1\n[time]\nuntil = 20.0\nstep = 0.1\n[output]\nevery = 5.0\n";
    for formats in ["formats = [\"vti\"]\n", "formats = [\"zarr\"]\n", "png = {}\n"] {
        let case = format!("{case}{formats}");
        folder.write("a.toml", &case).odeum(&["run", "a.toml", "--overwrite"]).well();
        let fails = case.replace("r = 0.1", "r = 1.0").replace("20.0", "100.0");
        let said = folder.write("a.toml", fails).odeum(&["run", "a.toml", "--overwrite"]);
        assert_eq!(said.code, 3, "{}", said.err);
        folder.write("a.toml", case.replace("20.0", "40.0"));
        folder
            .odeum(&["run", "a.toml", "--resume"])
            .refused(&["nothing to resume from", "--overwrite"]);
        assert!(!folder.has("a.npz"));
    }
    // A result that nothing lies beside stays until another is there.
    let bare = case.replace("every = 5.0\n", "");
    folder.write("a.toml", &bare).odeum(&["run", "a.toml", "--overwrite"]).well();
    folder.odeum(&["run", "a.toml", "--overwrite"]).well();
    let result = folder.read("a.npz");
    let fails = bare.replace("r = 0.1", "r = 1.0").replace("20.0", "100.0");
    folder.write("a.toml", fails).odeum(&["run", "a.toml", "--overwrite"]).failed(&["a.toml"]);
    assert!(folder.read("a.npz") == result);
    folder.write("a.toml", bare.replace("20.0", "40.0"));
    folder.odeum(&["run", "a.toml", "--resume"]).well();
}

/// What an earlier run of the case wrote and this one does not is no part of its result; files of others stay.
#[test]
fn files_of_an_earlier_run_do_not_lie_beside_a_new_result() {
    let folder = Folder::new();
    let case = CASE.replace("[13, 12, 11]", "[4, 3, 2]").replace("until = 0.6", "until = 0.3")
        + "structure = { every = 7 }\n";
    let (bare, _) = case.split_once("[output]").unwrap();
    let once = case.replace("every = 0.15", "");
    let overwrite = |case: &str, files: &[&str]| {
        folder.write("a.toml", case).odeum(&["run", "a.toml", "--overwrite"]).well();
        assert_eq!(folder.files(), files);
    };
    let tables = ["a.csv", "a.lines.csv", "a.structure.csv"];
    let states = ["a.frames", "a.npz", "a.pvd", "a.toml", "a.zarr"];
    let sorted = |lists: &[&[&'static str]]| {
        let mut all = lists.concat();
        all.sort_unstable();
        all
    };
    let whole = sorted(&[&tables, &states]);
    overwrite(&case, &whole);
    overwrite(bare, &["a.npz", "a.toml"]);
    let pictures = ["a.npz", "a.toml", "a.u_z1.png", "a.v_z1.png", "a.vti", "a.zarr"];
    overwrite(&once, &sorted(&[&tables, &pictures]));
    overwrite(&case, &whole);
    // What others have put there stays, and what this run is computed from.
    folder.write("a.frames/notes.txt", "mine").write("a.frames/figure1.png", "mine");
    let from = bare.replace("[time]", "[initial]\nu = { file = \"a.zarr/u\" }\n[time]");
    overwrite(&from, &["a.frames", "a.npz", "a.toml", "a.zarr"]);
    assert_eq!(std::fs::read_dir(folder.path("a.frames")).unwrap().count(), 2);
    folder.write("a.zarr/zarr.json", "{}").write("a.csv", "mine");
    overwrite(bare, &["a.csv", "a.frames", "a.npz", "a.toml", "a.zarr"]);
    // The states of a result that is kept elsewhere are none of the one that lies here.
    overwrite(&case, &whole);
    std::fs::rename(folder.path("a.npz"), folder.path("kept.npz")).unwrap();
    folder.write("a.toml", bare).odeum(&["run", "a.toml"]).well();
    folder.odeum(&["run", "a.toml", "--overwrite"]).well();
    assert!(folder.has("a.frames/00000.vti") && folder.has("a.csv") && folder.has("a.zarr"));
}

/// Every file counts, and so does every byte at its end.
#[test]
fn files_of_states_that_are_cut_off_are_told() {
    let folder = Folder::new();
    let case = CASE.replace("[13, 12, 11]", "[14, 4, 3]").replace("until = 0.6", "until = 0.3");
    let case = case.replace("[time]", "mask = \"0.13 - x\"\n[time]");
    folder.write("a.toml", &case).odeum(&["run", "a.toml"]).well();
    folder.write("a.toml", case.replace("until = 0.3", "until = 0.45"));
    let resume = || folder.odeum(&["run", "a.toml", "--resume"]);
    for name in ["a.zarr/v/c/1/0/0/0", "a.frames/00001.vti", "a.frames/v_z1_00001.png"] {
        let whole = folder.read(name);
        let parts = ["missing or cut off", name, "1 of ", "--allow-missing"];
        for kept in [0, 7, whole.len() / 2, whole.len() - 1] {
            folder.write(name, &whole[..kept]);
            resume().refused(&parts);
        }
        std::fs::remove_file(folder.path(name)).unwrap();
        resume().refused(&parts);
        folder.write(name, whole);
    }
    resume().well();
}

/// States that a killed run wrote after its checkpoint are no part of a run to an earlier end, nor of its movie.
#[test]
fn states_after_a_checkpoint_do_not_outlive_it() {
    let folder = Folder::new();
    let to = |end: &str| {
        let case = CASE.replace("[13, 12, 11]", "[4, 3, 2]");
        case.replace("until = 0.6", &format!("until = {end}"))
    };
    folder.write("a.toml", to("0.3")).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    folder.write("a.toml", to("0.15")).odeum(&["run", "a.toml"]).well();
    for index in 2..5 {
        folder.write(&format!("a.frames/{index:05}.vti"), "of later");
        folder.write(&format!("a.frames/u_z1_{index:05}.png"), "of later");
    }
    folder.write("a.frames/notes.png", "mine");
    folder.write("a.toml", to("0.3")).odeum(&["run", "a.toml", "--resume"]).well();
    std::fs::remove_file(folder.path("a.frames/notes.png")).unwrap();
    assert_same(&folder, "a", "whole");
}

/// Steps, sweeps, time and rate of a summary are of one run.
#[test]
fn a_summary_counts_what_this_run_did() {
    let folder = Folder::new();
    let to = |end: &str| {
        let case = CASE.replace("[13, 12, 11]", "[4, 3, 2]").replace("\"stable\"", "0.001");
        case.replace("until = 0.6", &format!("until = {end}"))
    };
    let pair = |out: &str, name: &str| {
        let line = out.lines().find_map(|line| line.trim().strip_prefix(name));
        line.map(|rest| rest.trim().to_owned())
    };
    let said = folder.write("a.toml", to("0.01")).odeum(&["run", "a.toml"]).well();
    let counts = ["steps", "sweeps"].map(|name| pair(&said.out, name));
    assert_eq!(counts, ["10", "10"].map(|count| Some(count.to_owned())));
    let said = folder.write("a.toml", to("0.03")).odeum(&["run", "a.toml", "--resume"]).well();
    let counts = ["steps", "sweeps"].map(|name| pair(&said.out, name));
    assert_eq!(counts, ["20; 30 with those before", "20"].map(|count| Some(count.to_owned())));
}

/// A run of far more steps than any test waits for, with everything that it can write beside its result.
fn endless() -> String {
    CASE.replace("until = 0.6", "until = 1e3").replace("step = \"stable\"", "step = 1e-3")
}

/// `timeout` and terminals that are closed send several signals at once.
#[test]
fn signals_at_once_are_one_request() {
    for name in ["TERM", "HUP", "INT"] {
        let folder = Folder::new();
        folder.write("a.toml", endless());
        let child = folder.start(&["run", "a.toml", "-q", "--checkpoint-every", "1e9"]);
        wait_for(&folder, "a.frames/00000.vti");
        let kill = format!("kill -{name} {id}; kill -{name} {id}", id = child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{err}");
        assert!(folder.has("a.checkpoint") && err.contains("stopped: at t = "), "{name}: {err}");
    }
}

#[test]
fn a_later_ctrl_c_leaves_at_once_and_says_so() {
    let folder = Folder::new();
    folder.write("a.toml", endless());
    // A pipe that nobody reads takes no checkpoint.
    let pipe = folder.path(".a.checkpoint.part");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let child = folder.start(&["run", "a.toml", "-q", "--checkpoint-every", "1e9"]);
    wait_for(&folder, "a.frames/00000.vti");
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_millis(1200));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("left at once"), "{err}");
}

/// What a stopped run has written beside its checkpoint is no part of another's result.
#[test]
fn files_of_a_stopped_run_do_not_lie_beside_a_new_result() {
    let folder = Folder::new();
    let stopped = || {
        folder.write("a.toml", endless() + "structure = { every = 7 }\n");
        let child = folder.start(&["run", "a.toml", "-q", "--overwrite"]);
        wait_for(&folder, "a.frames/00001.vti");
        signal(&child, "-INT");
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
        for name in ["a.checkpoint", "a.csv", "a.structure.csv", "a.pvd", "a.zarr"] {
            assert!(folder.has(name), "{name} is not there");
        }
        assert!(!folder.has("a.npz"));
    };
    stopped();
    let (bare, _) = CASE.split_once("[output]").unwrap();
    folder.write("a.toml", bare).odeum(&["run", "a.toml", "--overwrite"]).well();
    assert_eq!(folder.files(), ["a.npz", "a.toml"]);
    // An ensemble in its place that is killed after its own checkpoint, and goes on.
    stopped();
    folder.write("a.toml", ENSEMBLE);
    let before = folder.read("a.checkpoint");
    let mut child =
        folder.start(&["run", "a.toml", "-q", "--overwrite", "--checkpoint-every", "0"]);
    wait_for_checkpoint(&folder, &before);
    signal(&child, "-KILL");
    child.wait().unwrap();
    folder.odeum(&["run", "a.toml", "-q", "--resume"]).well();
    let mut files = folder.files();
    files.retain(|name| !name.starts_with('.'));
    assert_eq!(files, ["a.npz", "a.toml"]);
}

fn wait_for(folder: &Folder, name: &str) {
    let start = Instant::now();
    while !folder.has(name) {
        assert!(start.elapsed() < Duration::from_secs(60), "there is no {name}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Results are equal files, so what they say of others is in one order.
#[test]
fn a_result_lists_the_files_beside_it_in_order() {
    let folder = Folder::new();
    folder.write("a.toml", CASE).odeum(&["run", "a.toml"]).well();
    let mut arrays = npz::read(&folder.path("a.npz"));
    let about = arrays.remove("about").unwrap().texts().remove(0);
    let files = r#""files":["csv","frames","lines.csv","pvd","zarr"]"#;
    assert!(about.contains(files), "{about}");
}
