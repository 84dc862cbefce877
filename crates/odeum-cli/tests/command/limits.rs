//! What a run cannot do is said before it begins: numbers that do not fit into memory, steps and
//! evaluations that are not enough.

use crate::common::{DECAY, Folder, Said, npz};

/// The small case with one piece replaced and sections added; `check` says the same of it as `run`.
#[track_caller]
fn both(from: &str, to: &str, sections: &str) -> [Said; 2] {
    assert!(DECAY.contains(from));
    let folder = Folder::new();
    folder.write("a.toml", DECAY.replace(from, to) + sections);
    [folder.odeum(&["check", "a.toml"]), folder.odeum(&["run", "a.toml"])]
}

/// Values of ranges are made after they were counted: these would take gigabytes, and a shell that
/// allows none of them ends other programs by a signal.
#[cfg(target_os = "linux")]
#[test]
fn ranges_are_counted_before_they_are_made() {
    let range = "{ from = 0.0, to = 1.0, count = 100_000_000 }";
    let sweeps = format!("[ensemble]\nsweep = {{ a = {range}, b = {range}, k = {range} }}\n");
    let save = DECAY.replace("[time]", &format!("[time]\nsave = {range}"));
    let many = save.replace("\"dopri5\"", "\"dopri5\"\nmax_steps = 4_000_000_000");
    for (case, parts) in [
        (
            DECAY.to_owned() + &sweeps,
            &[
                "the results of 1e24 systems need",
                "--> a.toml:17:",
                "ensemble.sweep.",
                "take fewer",
            ][..],
        ),
        (
            save,
            &[
                "there are 100 000 000 times to save at, but a system takes 100 000 steps at most",
                "--> a.toml:8:8",
                "time.save",
                "raise method.max_steps",
            ],
        ),
        (
            many + "[ensemble]\ncount = 1000\n",
            &["the results of 1000 systems need", "--> a.toml:8:8", "time.save"],
        ),
    ] {
        let folder = Folder::new();
        folder.write("a.toml", case);
        for command in ["check", "run"] {
            folder.limited("-v 600000", &format!("{command} a.toml")).refused(parts);
        }
        assert_eq!(folder.files(), ["a.toml"]);
    }
}

/// Threads whose stacks no memory holds are not to be had.
#[test]
fn many_systems_are_integrated_without_more_threads() {
    let folder = Folder::new();
    folder.write("a.toml", DECAY.to_owned() + "[ensemble]\ncount = 200_000\n");
    let mut command = folder.command(&["run", "a.toml", "--threads", "1"]);
    Said::of(command.env("RUST_MIN_STACK", (1_u64 << 60).to_string())).well();
}

#[test]
fn a_step_ends_at_every_time_to_save_at() {
    let limit = |said: [Said; 2], steps: u32| {
        let case = format!("a system takes {steps} steps at most");
        for said in said {
            said.refused(&[&case, "time.save"]);
        }
    };
    // Stops beside the start, and the end where it is not among them.
    let limited = |case: &str, steps: u32| {
        let name = "name = \"dopri5\"";
        let folder = Folder::new();
        let text = DECAY.replace(name, &format!("{name}\nmax_steps = {steps}"));
        folder.write("a.toml", text.replace("[time]", &format!("[time]\n{case}")));
        [folder.odeum(&["check", "a.toml"]), folder.odeum(&["run", "a.toml"])]
    };
    let ten = "save = { from = 0.0, to = 1.0, count = 11 }";
    limit(limited(ten, 9), 9);
    for said in limited(ten, 10) {
        assert!(!said.well().err.contains("steps at most"));
    }
    limit(limited("save = [0.25, 0.5]", 2), 2);
    // A system that ends before needs fewer.
    let until = format!("{ten}\nuntil = {{ a = {{ falls_to = 0.95 }} }}");
    for said in limited(&until, 9) {
        let said = said.well();
        assert!(said.err.contains("warning") && said.err.contains("steps at most"), "{}", said.err);
    }
    let said = limited("segments = 12", 11);
    for said in said {
        said.refused(&["there are 12 segments", "time.segments"]);
    }
}

/// States are not saved at other times than those asked for.
#[test]
fn times_that_single_precision_moves_are_refused() {
    let case = |span: &str, save: &str| {
        DECAY
            .replace("span = [0.0, 1.0]", &format!("span = {span}\nsave = {save}"))
            .replace("1e-8", "1e-5")
    };
    let (far, single) = ("[1e6, 1000001.0]", "[run]\nprecision = \"f32\"\n");
    let folder = Folder::new();
    for (span, save, parts) in [
        (
            far,
            "[1000000.51, 1000000.52]",
            [
                "`time.save[1]`",
                "a.toml:9:21",
                "1000000.52, after 1000000.51",
                "1000000.5 and 1000000.5",
            ],
        ),
        (
            far,
            "[1000000.01, 1000000.5]",
            [
                "`time.save[0]`",
                "a.toml:9:9",
                "1000000.01, after the start at 1000000",
                "1000000 and 1000000",
            ],
        ),
        (
            far,
            "[1000000.99]",
            ["`time.save[0]`", "a.toml:9:9", "before the end at 1000001", "1000001 and 1000001"],
        ),
        (
            "[0.0, 1.0]",
            "{ from = 0.5, to = 0.5000001, count = 60 }",
            ["`time.save`", "a.toml:9:8", "after 0.5", "compute in f64"],
        ),
        (
            "[1e6, 1000000.01]",
            "[1e6]",
            ["`time.span`", "a.toml:8:8", "1000000 to 1000000.01", "count times from zero"],
        ),
    ] {
        folder.write("a.toml", case(span, save)).odeum(&["check", "a.toml"]).well();
        folder.write("a.toml", case(span, save) + single);
        folder.odeum(&["check", "a.toml"]).refused(&parts);
    }
    folder.write("a.toml", case(far, "[1e6, 1000000.3, 1000001.0]") + single);
    folder.odeum(&["run", "a.toml"]).well();
    let csv = "a,t_start,t_end\n1,0,1\n1,1e6,1000000.01\n";
    let table = format!("{DECAY}[ensemble]\ntable = \"t.csv\"\n{single}").replace("1e-8", "1e-5");
    folder.write("t.csv", csv).write("a.toml", table);
    folder.odeum(&["check", "a.toml"]).refused(&["span of table row 1", "in f32 these are"]);
}

#[test]
fn steps_that_are_too_small_for_their_number_are_told() {
    let name = "name = \"dopri5\"";
    for (option, place) in
        [("fixed_step = 1e-6", "a.toml:12:14"), ("largest_step = 1e-6", "a.toml:12:16")]
    {
        for said in both(name, &format!("{name}\n{option}"), "") {
            let err = said.well().err;
            assert!(
                err.contains("do not reach the end within 100000") && err.contains(place),
                "{err}"
            );
        }
    }
}

/// The number that is told is enough, and the warning stays until it is there.
#[test]
fn the_steps_that_are_told_reach_the_end() {
    let folder = Folder::new();
    let name = "name = \"dopri5\"";
    let statuses = |file: &str| npz::read(&folder.path(file))["status"].whole();
    for (case, step, steps) in [
        ("", "fixed_step = 1e-3", 1000),
        ("", "largest_step = 1e-3", 1000),
        ("segments = 3", "fixed_step = 1e-3", 1002),
        ("save = [0.0, 0.1011, 0.3, 1.0]", "fixed_step = 1e-1", 11),
        ("save = [0.15, 0.5]\nsegments = 4", "fixed_step = 1e-1", 12),
    ] {
        let limited = |steps: u32| {
            let method = format!("{name}\n{step}\nmax_steps = {steps}");
            let text = DECAY.replace(name, &method).replace("[time]", &format!("[time]\n{case}"));
            folder.write("a.toml", text).odeum(&["run", "a.toml", "--overwrite"]).well().err
        };
        let err = limited(steps - 1);
        let raise = format!("raise method.max_steps to {steps} or more");
        assert!(err.contains(&raise), "{step}, {case}: {err}");
        assert_ne!(statuses("a.npz"), [0], "{step}, {case}");
        assert!(!limited(steps).contains("do not reach"), "{step}, {case}");
        if step.starts_with("fixed") {
            assert_eq!(statuses("a.npz"), [0], "{step}, {case}");
        }
    }
}

#[test]
fn rows_that_steps_do_not_take_to_their_ends_are_counted() {
    let folder = Folder::new();
    let case = DECAY.replace("[tolerance]", "largest_step = 0.1\nmax_steps = 50\n[tolerance]")
        + "[ensemble]\ntable = \"t.csv\"\n";
    folder.write("a.toml", case).write("t.csv", "a,t_end\n1.0,1.0\n2.0,5.0\n");
    assert_eq!(folder.odeum(&["check", "a.toml"]).well().err, "");
    folder.write("t.csv", "a,t_end\n1.0,1.0\n2.0,100.0\n2.0,200.0\n");
    let said = folder.odeum(&["check", "a.toml"]).well();
    for part in [
        "do not reach the end within 50 in 2 of 3 rows of the table, the first of which is row 1",
        "raise method.max_steps to 2000 or more",
    ] {
        assert!(said.err.contains(part), "{}", said.err);
    }
}

/// The times of fields are as many as the span holds, and each ends a step.
#[test]
fn fields_say_how_many_states_they_cannot_have() {
    let case = |every: &str, max_steps: &str| {
        format!(
            "[system]\nspecies = [\"u\"]\nequations = {{ u = \"lap(u)\" }}\n[grid]\nshape = [8, 8, 1]\n\
             spacing = 1.0\n[initial]\nu = \"x\"\n[time]\nuntil = 1.0\nstep = 0.1\n{max_steps}\n\
             [output]\nevery = {every}\n"
        )
    };
    let folder = Folder::new();
    for (every, max_steps) in [("1e-30", ""), ("0.05", "max_steps = 10")] {
        folder.write("a.toml", case(every, max_steps));
        for command in ["check", "run"] {
            let said = folder.odeum(&[command, "a.toml"]);
            said.refused(&["states, more than", "--> a.toml:14:9", "output.every"]);
        }
    }
    folder.write("a.toml", case("0.1", "max_steps = 10")).odeum(&["run", "a.toml"]).well();
}

/// A run under a limit on its addresses is planned inside it or refused: no limit ends it by a signal or
/// a panic. What a run needs is near the limits tried.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_addresses_is_planned_for() {
    let ensemble = format!(
        "{DECAY}[ensemble]\ncount = 150_000\nperturb = {{ of = \"a\", relative = 0.1 }}\n\
         [run]\nbatch = 20_000\n[output]\nformats = [\"npz\", \"parquet\"]\n"
    );
    let field = "[system]\nspecies = [\"u\"]\nequations = { u = \"lap(u) - u^3\" }\n\
                 [grid]\nshape = [96, 96, 96]\nspacing = 1.0\n[initial]\nu = \"cos(x)\"\n\
                 [time]\nuntil = 0.5\n[output]\nevery = 0.25\nformats = [\"zarr\", \"png\"]\n";
    let mut ended = [0, 0];
    for (case, help) in [(ensemble.as_str(), "split the case"), (field, "take fewer cells")] {
        let folder = Folder::new();
        folder.write("a.toml", case);
        for limit in [40_000, 80_000, 110_000, 160_000, 240_000] {
            for kind in ["-v", "-d"] {
                let said = folder.limited(
                    &format!("{kind} {limit}"),
                    "run a.toml --overwrite --quiet --checkpoint-every 0",
                );
                match said.code {
                    0 => ended[0] += 1,
                    2 => {
                        ended[1] += 1;
                        let said = said
                            .refused(&["free within the limit on ", &format!("(ulimit {kind})")]);
                        let known = said.err.contains(help) || said.err.contains("raise the limit");
                        assert!(known, "{}", said.err);
                    }
                    code => panic!("{kind} {limit}: exit {code}\n{}", said.err),
                }
            }
        }
    }
    assert!(ended.iter().all(|n| *n > 3), "{ended:?}");
}

/// Robertson's problem is not stiff before its fast component is there.
#[test]
fn check_says_that_rkc_will_not_come_to_the_end() {
    let case = |start: &str, end: &str, method: &str| {
        format!(
            "[system]\nproblem = \"robertson\"\n{start}\n[time]\nspan = [0.0, {end}]\n\
             [method]\nname = \"rkc\"\n{method}\n[tolerance]\nrtol = 1e-4\natol = 1e-8\n"
        )
    };
    let check = |text: String| {
        let folder = Folder::new();
        folder.write("a.toml", text).odeum(&["check", "a.toml"]).well().err
    };
    let err = check(case("", "1e11", ""));
    for part in [
        "warning",
        "rkc needs about",
        "evaluations, from the spectral radius",
        "rodas5p",
        "a.toml:7:8",
    ] {
        assert!(err.contains(part), "`{part}` is not in:\n{err}");
    }
    assert!(check(case("", "10.0", "")).is_empty());
    // The same span in short steps is more work.
    assert!(check(case("", "1e5", "")).is_empty());
    assert!(check(case("", "1e5", "max_stages = 20")).contains("rkc needs about"));
    assert!(check(case("", "1e5", "max_stages = 20\nmax_evaluations = 4_000_000_000")).is_empty());
}
