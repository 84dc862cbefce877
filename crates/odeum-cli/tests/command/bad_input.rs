//! Every kind of bad input: a clear error with file, line, field, value and remedy, exit code 2,
//! and nothing written.

use crate::common::{DECAY, Folder, Said, hydrogen};
use std::time::{Duration, Instant};

/// Runs a case that must be refused, and looks that it left nothing behind.
#[track_caller]
fn refused(case: impl AsRef<[u8]>, parts: &[&str]) -> Said {
    let folder = Folder::new();
    folder.write("a.toml", case);
    refused_in(&folder, parts)
}

#[track_caller]
fn refused_in(folder: &Folder, parts: &[&str]) -> Said {
    let before = folder.files();
    let said = folder.odeum(&["run", "a.toml"]).refused(parts);
    assert_eq!(folder.files(), before, "something was left behind");
    folder.odeum(&["check", "a.toml"]).refused(parts);
    said
}

/// The small case with one piece replaced.
fn with(from: &str, to: &str) -> String {
    assert!(DECAY.contains(from));
    DECAY.replace(from, to)
}

#[test]
fn a_file_that_is_not_there_or_not_text() {
    let folder = Folder::new();
    let said = folder.odeum(&["run", "none.toml"]);
    said.refused(&["cannot read the case file: no such file", "--> none.toml", "check the path"]);
    folder.odeum(&["run", "."]).refused(&["is a folder"]);
    refused(
        b"[system]\nx = \"\xff\xfe\"\n",
        &["not UTF-8", "--> a.toml:2:6", "byte 0xff at offset 14", "save the file as UTF-8"],
    );
    refused("[system\nx = 1", &["not TOML", "--> a.toml:1:8", "toml.io"]);
    refused("", &["`system` is missing", "`method` is missing", "`tolerance` is missing"]);
}

/// Where a path leads that was taken from the folder of the case file.
#[test]
fn a_file_that_is_not_there_is_told_with_its_place() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("cases")).unwrap();
    let from = |file: &str| format!("{DECAY}[ensemble]\ntable = \"{file}\"\n");
    let whole = std::fs::canonicalize(folder.path("cases")).unwrap().join("t.csv");
    folder.write("cases/a.toml", from("t.csv"));
    let parts = ["check the path; it leads to", &whole.display().to_string()];
    let help = |err: &str| err.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = folder.odeum(&["check", "cases/a.toml"]).refused(&["cases/t.csv"]);
    parts.iter().for_each(|part| assert!(help(&said.err).contains(part), "{}", said.err));
    let field = "[system]\nspecies = [\"u\"]\nequations = { u = \"lap(u)\" }\n[grid]\nshape = [4, 4, 4]\n\
                 spacing = 1.0\n[initial]\nu = { file = \"t.csv\" }\n[time]\nuntil = 1.0\nstep = 0.1\n";
    folder.write("cases/a.toml", field);
    let said = folder.odeum(&["check", "cases/a.toml"]).refused(&["cases/t.csv"]);
    parts.iter().for_each(|part| assert!(help(&said.err).contains(part), "{}", said.err));
    assert!(!said.err.contains("current folder"), "{}", said.err);
}

/// A slip in the name of a key is told by its own name, not by what follows from its absence.
#[test]
fn misspelt_keys_are_told_first() {
    let mechanism = "problem = \"lorenz\"";
    let case = "[system]\nproblem = \"lorenz\"\n[time]\nspan = [0.0, 1.0]\n[method]\nname = \"dopri5\"\n\
                [tolerance]\nrtol = 1e-6\natol = 1e-9\n";
    let said = refused(
        case.replace(mechanism, "mechannism = \"h2.yaml\""),
        &["unknown key `mechannism` in [system]", "did you mean `mechanism`?"],
    );
    assert!(!said.err.contains("which system"), "{}", said.err);
    let field = "[system]\nproblem = \"plume\"\n[grid]\nshape = [8, 8, 8]\n[time]\nuntil = 1.0\n";
    let said = refused(
        field.replace("[grid]", "[gridd]"),
        &["unknown key `gridd` at the top of the case file", "did you mean `grid`?", "1 error"],
    );
    assert!(!said.err.contains("built-in"), "{}", said.err);
    let without = field.replace("[grid]\nshape = [8, 8, 8]\n", "");
    refused(without, &["`plume` is a problem of fields", "a.toml:2:", "add [grid]"]);
    refused(
        format!("{field}methd = \"rkc\"\nstages = 5\n"),
        &["unknown key `methd` in [time]", "did you mean `method`?"],
    );
}

#[test]
fn megabytes_of_nesting_are_answered_at_once() {
    // As large as a case file may be; ten megabytes are refused unread.
    let n = 2_000_000;
    let equation = format!("x = \"{}x{}\"", "(".repeat(n / 2), ")".repeat(n / 2));
    let signs = format!("x = \"{}x\"", "-".repeat(n));
    let functions = format!("x = \"{}x{}\"", "exp(".repeat(n / 5), ")".repeat(n / 5));
    let system =
        |line: &str| format!("[system]\nstates = {{ x = 1.0 }}\n[system.equations]\n{line}\n");
    for (name, text) in [
        ("lists", format!("x = {}{}", "[".repeat(n / 2), "]".repeat(n / 2))),
        ("open lists", format!("x = {}", "[".repeat(n))),
        ("tables", format!("x = {}1{}", "{a=".repeat(n / 4), "}".repeat(n / 4))),
        ("dotted keys", format!("{}a = 1", "a.".repeat(n / 2))),
        ("headers", format!("[{}a]", "a.".repeat(n / 2))),
        ("junk", "= ] }\n".repeat(n / 6)),
        ("parentheses", system(&equation)),
        ("signs", system(&signs)),
        ("functions", system(&functions)),
    ] {
        let start = Instant::now();
        let said = refused(&text, &["a.toml"]);
        assert!(said.err.len() < 20_000, "{name}: {} bytes", said.err.len());
        // A minute is a hang, on the busiest machine.
        assert!(start.elapsed() < Duration::from_secs(60), "{name}: {:?}", start.elapsed());
    }
    refused("[".repeat(10 << 20), &["the case file is too large", "10485760 bytes"]);
}

#[test]
fn initial_values_must_be_finite() {
    refused(
        with("a = 1.0", "a = nan"),
        &[
            "`system.states.a` must be finite",
            "--> a.toml:3:16",
            "found: nan",
            "give a finite number",
        ],
    );
    refused(with("k = 2.0", "k = -inf"), &["`system.parameters.k` must be finite", "found: -inf"]);
    let table = Folder::new();
    table.write("t.csv", "a,k\n1.0,2.0\n1.0,NaN\n3.0,inf\n");
    table.write("a.toml", format!("{DECAY}[ensemble]\ntable = \"t.csv\"\n"));
    refused_in(&table, &["`k` must be finite", "t.csv:3:5", "t.csv:4:5", "found: NaN", "column k"]);
    let perturbed = "[ensemble]\nperturb = { of = \"a\", relative = 1e300 }\n";
    let large = with("a = 1.0", "a = 1e300") + perturbed;
    refused(large, &["`a` may be too large for f64"]);
}

#[test]
fn numbers_that_single_precision_does_not_have_are_told() {
    let single = |from: &str, to: &str| {
        with(from, to).replace("1e-8", "1e-6") + "[run]\nprecision = \"f32\"\n"
    };
    let small = single("k = 2.0", "k = 1e-50");
    refused(small, &["`k` is zero in f32", "found: 1e-50", "use precision = \"f64\""]);
    // A start may vanish, as traces do: a warning tells.
    for (from, to, told) in [
        ("-k * a", "-k * 1e-50 * a", "a number of the equations is zero in f32"),
        ("-k * a", "-k * 1e50 * a", "a number of the equations is infinite in f32"),
        ("a = 1.0", "a = 1e-50", "a start of `a` is zero in f32"),
        ("a = 1.0", "a = 1e-40", ""),
    ] {
        let folder = Folder::new();
        let said = folder.write("a.toml", single(from, to)).odeum(&["check", "a.toml"]).well();
        assert!(said.err.contains(told) && said.err.is_empty() == told.is_empty(), "{}", said.err);
    }
}

#[test]
fn counts_of_evaluations_have_room() {
    let most = |most: &str| with("[tolerance]", &format!("max_evaluations = {most}\n[tolerance]"));
    refused(most("4_000_000_001"), &["`method.max_evaluations` must be between 1 and 4000000000"]);
    Folder::new().write("a.toml", most("4_000_000_000")).odeum(&["check", "a.toml"]).well();
}

#[test]
fn there_must_be_systems() {
    let zero = format!("{DECAY}[ensemble]\ncount = 0\n");
    refused(zero, &["`ensemble.count` must be between 1", "--> a.toml:17:9", "found: 0"]);
    let empty = format!("{DECAY}[ensemble]\nsweep = {{ k = [] }}\n");
    refused(empty, &["`ensemble.sweep.k` is empty", "list at least one"]);
    let folder = Folder::new();
    folder
        .write("t.csv", "a,k\n")
        .write("a.toml", format!("{DECAY}[ensemble]\ntable = \"t.csv\"\n"));
    refused_in(&folder, &["has no rows: zero systems", "--> a.toml:17:9"]);
    let many = format!(
        "{DECAY}[ensemble]\ncount = 4_000_000_000\nsweep = {{ k = {{ from = 0, to = 1, count = 100_000 }} }}\n"
    );
    refused(many, &["the results of 400000000000000 systems need", "take fewer systems"]);
}

#[test]
fn spans_and_times() {
    let zero = with("[0.0, 1.0]", "[1.0, 1.0]");
    refused(zero, &["the time span has no length", "--> a.toml:8:8", "start and end must differ"]);
    refused(with("[0.0, 1.0]", "[0.0]"), &["a time span has two ends, here are 1"]);
    refused(with("span = [0.0, 1.0]", ""), &["over what time span?", "[time] with span"]);
    let infinite = with("[0.0, 1.0]", "[-1e308, 1e308]");
    refused(infinite, &["`time.span` cannot be", "its length is beyond the range of numbers"]);
    let outside = with("[time]", "[time]\nsave = [0.5, 1.5]");
    refused(
        outside,
        &[
            "`time.save[1]` cannot be",
            "--> a.toml:8:14",
            "found: 1.5",
            "must lie inside every span",
        ],
    );
    let unsorted = with("[time]", "[time]\nsave = [0.5, 0.25]");
    refused(unsorted, &["found: 0.25", "strictly in the direction of integration"]);
    let folder = Folder::new();
    folder.write("t.csv", "a,t_end\n1.0,1.0\n2.0,0.0\n");
    folder.write("a.toml", format!("{DECAY}[ensemble]\ntable = \"t.csv\"\n"));
    refused_in(&folder, &["span of table row 1", "t.csv"]);
    // The table's row and its systems, of which a sweep makes several.
    folder.write("t.csv", "a,t_end\n1.0,1.0\n2.0,0.5\n3.0,2.0\n");
    let ensemble = "[ensemble]\ntable = \"t.csv\"\nsweep = { k = [1.0, 2.0, 3.0] }\ncount = 2\n";
    folder.write("a.toml", with("[time]", "[time]\nsave = [0.25, 0.75]") + ensemble);
    let parts = [
        "`time.save[1]` cannot be",
        "--> a.toml:8:15",
        "must lie inside every span; that of table row 1 (systems 6 to 11) goes from 0 to 0.5",
    ];
    refused_in(&folder, &parts);
    folder.write("t.csv", "a,t_end\n1.0,1.0\n2.0,0.0\n");
    let own_spans = with("span = [0.0, 1.0]", "save = { count = 3 }");
    folder.write("a.toml", format!("{own_spans}[ensemble]\ntable = \"t.csv\"\n"));
    refused_in(
        &folder,
        &["number of times, but there is no span", "--> a.toml:8:8", "`from` and `to`"],
    );
    // A span that no system has, and times spaced over it.
    folder.write("t.csv", "a,t_start,t_end\n1.0,0.0,10.0\n2.0,0.0,20.0\n");
    let table = "[ensemble]\ntable = \"t.csv\"\n";
    folder.write("a.toml", format!("{DECAY}{table}"));
    let parts = ["the table gives each system its own span", "--> a.toml:8:8", "leave out `span`;"];
    refused_in(&folder, &parts);
    // It is there also where times are spaced over it.
    let spaced = with("span = [0.0, 1.0]", "span = [0.0, 1.0]\nsave = { count = 3 }");
    folder.write("a.toml", format!("{spaced}{table}"));
    refused_in(&folder, &parts);
    folder.write("a.toml", format!("{own_spans}{table}"));
    refused_in(&folder, &["number of times, but there is no span", "--> a.toml:8:8"]);
    let lorenz = with("[time]\nspan = [0.0, 1.0]\n", "[time]\nsave = { count = 3 }\n");
    let (_, rest) = lorenz.split_once("[time]").unwrap();
    let lorenz = format!("[system]\nproblem = \"lorenz\"\n[time]{rest}{table}");
    folder.write("t.csv", "x,t_start,t_end\n1.0,0.0,0.1\n2.0,0.0,0.2\n").write("a.toml", &lorenz);
    refused_in(&folder, &["number of times, but there is no span"]);
    folder.write("a.toml", lorenz.replace("save = { count = 3 }\n", ""));
    folder.odeum(&["check", "a.toml"]).well();
    folder.write("a.toml", format!("{DECAY}{table}columns = {{ a = \"x\", t_end = \"t_end\" }}\n"));
    folder.odeum(&["check", "a.toml"]).well();
}

#[test]
fn tolerances_and_options() {
    refused(
        with("rtol = 1e-8", "rtol = -1e-8"),
        &["`tolerance.rtol` cannot be", "must lie between 8.9e-16"],
    );
    refused(with("rtol = 1e-8", "rtol = 0"), &["--> a.toml:14:8", "tolerance.rtol"]);
    refused(with("rtol = 1e-8", "rtol = 1e-17"), &["four roundings of f64"]);
    let single = with("rtol = 1e-8", "rtol = 1e-7") + "[run]\nprecision = \"f32\"\n";
    refused(single, &["four roundings of f32"]);
    refused(
        with("atol = 1e-10", "atol = { a = 1e-9 }"),
        &["no absolute tolerance for the state `b`", "add b ="],
    );
    refused(
        with("atol = 1e-10", "atol = { a = 1e-9, b = -1.0 }"),
        &["found: -1", "tolerance.atol.b"],
    );
    refused(
        with("atol = 1e-10", "atol = { c = 1e-9, others = 1.0 }"),
        &["no state `c`", "states: a, b"],
    );
    refused(with("atol = 1e-10", ""), &["`atol` is missing", "as atol = 1e-9"]);
    let by_rate = with("atol = 1e-10", "norm = \"state-and-rate\"");
    for name in ["exp4", "exprb43"] {
        let parts = [
            &*format!("\"state-and-rate\" is not for {name}"),
            "--> a.toml:15",
            "`norm = \"rms\"`",
        ];
        refused(by_rate.replace("dopri5", name), &parts);
    }
    Folder::new().write("a.toml", by_rate).odeum(&["check", "a.toml"]).well();
    let method = "name = \"dopri5\"";
    refused(with(method, "name = \"dopri\""), &["did you mean `dopri5`?"]);
    refused(with(method, "name = \"dopri5\"\nmax_stages = 5"), &["means nothing to dopri5"]);
    refused(
        with(method, "name = \"dopri5\"\nfixed_step = -0.1"),
        &["`method.fixed_step`", "positive and finite"],
    );
    refused(with(method, "name = \"dopri5\"\nmax_steps = 0"), &["must be between 1"]);
    refused(
        with(method, "name = \"dopri5\"\nlargest_step = 0.0"),
        &["`method.largest_step`", "must be positive"],
    );
    let fixed = |largest: &str| {
        with(method, &format!("{method}\nfixed_step = 0.5\nlargest_step = {largest}"))
    };
    refused(
        fixed("0.01"),
        &[
            "`fixed_step` is longer than `largest_step`",
            "--> a.toml:13:16",
            "leave one of them out",
        ],
    );
    let folder = Folder::new();
    folder.write("a.toml", fixed("0.5")).odeum(&["check", "a.toml"]).well();
    let radius = "name = \"rkc\"\nspectral_radius = -1e-300";
    let said = refused(
        with(method, radius),
        &["`method.spectral_radius` cannot be -1e-300", "found: -1e-300"],
    );
    assert!(!said.err.contains("radius_bound"), "{}", said.err);
    let system = |radius: &str| {
        let equations = "equations = { a = \"-k * a\", b = \"k * a\" }";
        with(equations, &format!("{equations}\nspectral_radius = \"{radius}\""))
            .replace("dopri5", "rkc")
    };
    folder.write("a.toml", system("2 * k")).odeum(&["check", "a.toml"]).well();
    refused(system("-5"), &["a spectral radius is not negative", "--> a.toml:6:19"]);
    refused(system("1/0"), &["`system.spectral_radius` must be finite", "--> a.toml:6:19"]);
    let both = system("2 * k").replace("\"rkc\"", "\"rkc\"\nspectral_radius = 4.0");
    refused(
        both,
        &["both in [system] and in [method]", "--> a.toml:13:19", "leave one of them out"],
    );
    let none = with("states = { a = 1.0, b = 0.0 }", "states = {}")
        .replace("equations = { a = \"-k * a\", b = \"k * a\" }", "equations = {}");
    refused(none, &["there are no states", "--> a.toml:3:10", "states = { x = 1.0"]);
}

#[test]
fn factors_and_times_that_lead_nowhere() {
    for (key, value) in [("min_factor", "1.5"), ("max_factor", "0.5")] {
        let controller = format!("controller = {{ law = \"pi\", {key} = {value} }}");
        let name = format!("`method.controller.{key}` cannot be {value}");
        let method = "name = \"dopri5\"";
        refused(with(method, &format!("{method}\n{controller}")), &[&name, "1"]);
    }
    let save = |range: &str| with("[time]", &format!("[time]\nsave = {{ {range}count = 1 }}"));
    refused(save(""), &["the one value of `time.save`", "--> a.toml:8:18", "time.save = [1.0]"]);
    let folder = Folder::new();
    folder.write("a.toml", save("from = 0.5, to = 1.0, ")).odeum(&["check", "a.toml"]).well();
}

#[test]
fn steps_that_do_not_move_the_time() {
    let far = with("span = [0.0, 1.0]", "span = [1e8, 100000001.0]");
    let method = "name = \"dopri5\"";
    let refused_step = |key: &str, case: &str, parts: &[&str]| {
        let said = refused(case.replace(method, &format!("{method}\n{key}")), parts);
        assert!(!said.err.contains("raise method.max_steps"), "{}", said.err);
    };
    for key in ["largest_step", "fixed_step"] {
        let name = format!("`method.{key}` cannot be 1e-12");
        refused_step(&format!("{key} = 1e-12"), &far, &[&name, "rounded by 2.22e-8 in f64"]);
    }
    let single = DECAY.replace("rtol = 1e-8", "rtol = 1e-4") + "[run]\nprecision = \"f32\"\n";
    refused_step("fixed_step = 1e-60", &single, &["`method.fixed_step`", "in f32 this is zero"]);
}

#[test]
fn keys_that_mean_nothing_without_another() {
    let warm = |keys: &str| with("[time]", &format!("[time]\n{keys}"));
    let said =
        ["`warm_start` without `segments`", "--> a.toml:8:14", "give the number of segments"];
    refused(warm("warm_start = true"), &said);
    let seed = DECAY.to_owned() + "[ensemble]\ncount = 2\nseed = 1\n";
    refused(&seed, &["`seed` without `perturb`", "--> a.toml:18:8", "say what is random"]);
    let folder = Folder::new();
    let perturbed = seed + "perturb = { of = \"a\", relative = 0.1 }\n";
    for good in [warm("warm_start = true\nsegments = 1"), warm("warm_start = false"), perturbed] {
        folder.write("a.toml", good).odeum(&["check", "a.toml"]).well();
    }
}

#[test]
fn perturbations_of_nothing() {
    let perturbed = |case: &str, of: &str| {
        format!("{case}[ensemble]\nseed = 1\nperturb = {{ of = {of}, relative = 0.1 }}\n")
    };
    refused(perturbed(DECAY, "[]"), &["nothing is perturbed", "--> a.toml:18:18", "of = "]);
    let without = with("k * ", "").replace("parameters = { k = 2.0 }\n", "");
    for of in ["\"parameters\"", "[\"a\", \"parameters\"]"] {
        let parts = ["the system has no parameters", "--> a.toml:17:", "there are a, b"];
        refused(perturbed(&without, of), &parts);
    }
}

#[test]
fn tables_with_wrong_columns_or_ragged_rows() {
    let table = |csv: &str, more: &str, parts: &[&str]| {
        let folder = Folder::new();
        folder.write("t.csv", csv);
        folder.write("a.toml", format!("{DECAY}[ensemble]\ntable = \"t.csv\"\n{more}\n"));
        refused_in(&folder, parts);
    };
    table("a,kk\n1,2\n", "", &["no state or parameter `kk`", "--> t.csv:1:3", "did you mean `k`?"]);
    table(
        "a,k\n1,2\n1\n1,2,3\n",
        "",
        &[
            "the header has 2 columns, row 2 has 1",
            "--> t.csv:3:1",
            "row 3 has 3",
            "one value for each column",
        ],
    );
    table("a,k\n1,2\n1,x2\n", "", &["`k` is not a number", "--> t.csv:3:3", "found: x2"]);
    table("a,k\n1,\n", "", &["`k` is not a number", "found: nothing"]);
    table("", "", &["the table is empty"]);
    table("a,k\n1,2\n", "columns = [\"a\", \"c\"]", &["no state or parameter `c`"]);
    table(
        "a,k\n1,2\n",
        "columns = { a = \"A\" }",
        &["the table has no column `A`", "did you mean `a`?"],
    );
    // As spreadsheets of half of Europe write them.
    table("a;k\n1;2,5\n", "", &["`k` is not a number", "--> t.csv:2:3", "found: 2,5", "a point"]);
    table("a\tk\n1\tx\n", "", &["`k` is not a number", "--> t.csv:2:3", "found: x"]);
    let small = "is too small for a number";
    table("a,k\n1,1e-400\n0,0e-400\n", "", &[small, "--> t.csv:2:3", "found: 1e-400"]);
    for (number, small) in [("1e-400", small), ("\"-0.001e-400\"", "this number is too small")] {
        let folder = Folder::new();
        folder.write("a.toml", DECAY.replace("k = 2.0", &format!("k = {number}")));
        refused_in(&folder, &[small, "a.toml:4:", "4.9e-324"]);
    }
    // What numpy.savetxt and pandas write.
    for columns in ["", "columns = [\"a\", \"k\"]"] {
        let parts = ["`# a,k` before it is a comment", "numpy.savetxt", "comments=\"\""];
        table("# by me\n# a,k\n1.000e+00,2.000e+00\n", columns, &parts);
        table("# a k\n1.000e+00 2.000e+00\n", columns, &["`# a k` before it", "delimiter=\",\""]);
        table("1,2\n3,4\n", columns, &["the first line has numbers: give a header line"]);
    }
    table(",a\n0,1\n", "", &["column 1 of the table has no name", "index=False", "--> t.csv:1:1"]);
    table("a,k,\n0,1,\n", "", &["column 3 of the table has no name", "at the end of the lines"]);
    let folder = Folder::new();
    folder.write("t.csv", "a;k;;\n1,5;2,5;;\n");
    folder.write("a.toml", format!("{DECAY}[ensemble]\ntable = \"t.csv\"\n"));
    let said = folder.odeum(&["check", "a.toml"]).refused(&["column 3 of the table has no name"]);
    assert!(!said.err.contains("``"), "{}", said.err);
    // A blank line between the rows of one column is a cell, on Windows too.
    let found = "found: nothing";
    table("a\n1\n\n2\n", "", &["`a` is not a number", "--> t.csv:3:1", found]);
    table("a\r\n\r\n2\r\nx\r\n", "", &["--> t.csv:2:1", found, "--> t.csv:4:1", "found: x"]);
    table("a,k\r\n1,2\r\n1,x2\r\n", "", &["--> t.csv:3:3", "found: x2"]);
    table("# a comment\ra,k\r1,2\r1,x2\r", "", &["--> t.csv:4:3", "found: x2"]);
    table("a\r1\r\r2\r", "", &["`a` is not a number", "--> t.csv:3:1", found]);
    table("a,k\n1,2\n", "sweep = { k = [1.0] }", &["both in the table and in the sweep"]);

    let folder = Folder::new();
    let ensemble = |table: &str| format!("{DECAY}[ensemble]\ntable = \"{table}\"\n");
    folder.write("a.toml", ensemble("none.csv"));
    refused_in(&folder, &["cannot read the table: no such file", "none.csv"]);
    folder.write("t.npy", b"not an array").write("a.toml", ensemble("t.npy"));
    refused_in(&folder, &["cannot use the table t.npy", "NPY signature"]);
    folder.write("t.npz", b"not an archive").write("a.toml", ensemble("t.npz"));
    refused_in(&folder, &["cannot use the table t.npz"]);
    // The last byte of the only array does not fit its checksum any more.
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default();
    let stored = stored.compression_method(zip::CompressionMethod::Stored);
    archive.start_file("a.npy", stored).unwrap();
    let dict = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
    let length = (dict.len() as u16).to_le_bytes();
    let array =
        [b"\x93NUMPY\x01\x00", &length[..], dict.as_bytes(), &1.5_f64.to_le_bytes()].concat();
    std::io::Write::write_all(&mut archive, &array).unwrap();
    let mut bytes = archive.finish().unwrap().into_inner();
    folder.write("t.npz", &bytes).odeum(&["check", "a.toml"]).well();
    let at = bytes.windows(array.len()).position(|part| part == array).unwrap() + array.len() - 3;
    bytes[at] ^= 1;
    folder.write("t.npz", bytes);
    let said = folder.odeum(&["check", "a.toml"]).refused(&["the table t.npz: array `a`"]);
    assert!(!said.err.contains("no rows"), "{}", said.err);
    folder.write("a.toml", ensemble("t.xlsx"));
    refused_in(&folder, &["the kind of the table is not known", ".csv"]);
    folder.write("t.csv", b"a,k\n1,\xff\n").write("a.toml", ensemble("t.csv"));
    refused_in(&folder, &["the table is not UTF-8", "t.csv:2:3"]);
}

#[test]
fn unknown_names_get_the_nearest_known() {
    refused(
        with("rtol = ", "rtoll = "),
        &["unknown key `rtoll` in [tolerance]", "did you mean `rtol`?"],
    );
    refused(with("[time]", "[tme]"), &["unknown key `tme` at the top", "did you mean `time`?"]);
    refused(
        with("\"-k * a\"", "\"-kk * a\""),
        &["nothing is called `kk`", "--> a.toml:5:21", "system.equations.a"],
    );
    refused(with("\"-k * a\"", "\"-k * sinn(a)\""), &["sinn", "--> a.toml:5:25"]);
    refused(with(", b = \"k * a\"", ""), &["b", "--> a.toml:3:21"]);
    let problem = "[system]\nproblem = \"lorentz\"\n[method]\nname = \"rkck\"\n[tolerance]\nrtol = 1e-6\natol = 1e-6\n";
    refused(
        problem,
        &["no built-in problem `lorentz`", "did you mean `lorenz`?", "--> a.toml:2:11"],
    );
    let param = problem.replace("lorentz\"", "lorenz\"\nparameters = { roh = 1.0 }");
    refused(param, &["no parameter `roh`", "did you mean `rho`?"]);
    let perturb = format!("{DECAY}[ensemble]\nperturb = {{ of = \"aa\", relative = 0.1 }}\n");
    refused(perturb, &["no state or parameter `aa`", "did you mean `a`?"]);
    let device = format!("{DECAY}[run]\ndevice = \"gpu\"\n");
    refused(device, &["no such kind of device", "cuda:N"]);
    let name = format!("{DECAY}[output]\nname = \"{}\"\n", "n".repeat(240));
    refused(name, &["the name of the result has more than 237 bytes", "--> a.toml:17:8"]);
}

#[test]
fn all_slips_are_reported_at_once_in_order() {
    let case = with("a = 1.0", "a = nan").replace("rtol", "rtoll").replace("dopri5", "dopri6");
    let said = refused(case, &["4 errors"]);
    let at = |part: &str| said.err.find(part).unwrap_or_else(|| panic!("{part}: {}", said.err));
    let places = [at("a.toml:3:"), at("a.toml:11:"), at("a.toml:13:"), at("a.toml:14:")];
    assert!(places.is_sorted(), "{}", said.err);
}

#[test]
fn numbers_that_the_library_refuses_are_reported_with_other_slips() {
    let case = with("rtol = 1e-8", "rtol = 2.0").replace("a = 1.0", "a = nan");
    let case = case.replace("name = \"dopri5\"", "name = \"dopri5\"\nfixed_step = -1.0");
    refused(
        case,
        &[
            "3 errors",
            "`tolerance.rtol` cannot be",
            "`method.fixed_step` cannot be",
            "must be finite",
        ],
    );
}

#[test]
fn a_parameter_that_is_never_used_is_a_warning() {
    let folder = Folder::new();
    folder.write("a.toml", with("k = 2.0", "k = 2.0, unused = 1.0"));
    let said = folder.odeum(&["run", "a.toml"]).well();
    assert!(said.err.contains("warning") && said.err.contains("unused"), "{}", said.err);
}

#[test]
fn arguments_are_checked() {
    let folder = Folder::new();
    folder.write("a.toml", DECAY);
    for (args, part) in [
        (&["run", "a.toml", "--device", "gpu"][..], "cuda:N"),
        (&["run", "a.toml", "--threads", "0"], "from 1 to"),
        (&["run", "a.toml", "--threads", "-1"], "from 1 to"),
        (&["run", "a.toml", "--checkpoint-every", "-1"], "--checkpoint-every"),
        (&["run", "a.toml", "--resume", "--overwrite"], "--resume goes on"),
        (&["run"], "CASE"),
        (&["run", "a.toml", "-o", "-dash"], "as ./-name"),
        (&["run", "-c.toml"], "as ./-name"),
        (&["run", "a.toml", "--output", ".npz"], "the result has no name"),
        (&["run", "a.toml", "--output", "b/.npz"], "give a name before .npz"),
        (&["problems", "lorentz"], "did you mean `lorenz`?"),
        (&["bench", "nothing"], "there is no study `nothing`"),
        (&["bench", "lorenz", "--add", "none.json", "--plot", "a.svg"], "cannot read the document"),
        (&["bench", "lorenz", "--add", "a.toml", "--plot", "a.svg"], "no document of a study"),
    ] {
        folder.odeum(args).refused(&[part]);
    }
    assert_eq!(folder.files(), ["a.toml"]);
}

#[test]
fn an_existing_result_is_not_replaced() {
    let folder = Folder::new();
    folder.write("a.toml", DECAY).odeum(&["run", "a.toml"]).well();
    folder.write("a.npz", "precious");
    folder.odeum(&["run", "a.toml"]).refused(&[
        "the result exists already",
        "a.npz",
        "--overwrite",
    ]);
    assert_eq!(folder.read("a.npz"), b"precious");
    folder.odeum(&["run", "a.toml", "--overwrite"]).well();
    assert_ne!(folder.read("a.npz"), b"precious");
}

#[cfg(unix)]
#[test]
fn an_output_that_cannot_be_written() {
    let folder = Folder::new();
    folder.write("a.toml", DECAY).write("file", "");
    let run = |output: &str, parts: &[&str]| {
        folder.odeum(&["run", "a.toml", "--output", output]).refused(parts);
        assert_eq!(folder.files(), ["a.toml", "file"]);
    };
    // Nobody, not even root, can write there.
    run("/proc/result.npz", &["cannot write the output", "/proc/result.npz", "--output"]);
    run("/proc/none/", &["cannot write the output", "/proc/none", "--output"]);
    run("file/result.npz", &["cannot write the output", "--output"]);

    std::fs::create_dir(folder.path("taken.npz")).unwrap();
    let said = folder.odeum(&["run", "a.toml", "--output", "taken.npz", "--overwrite"]);
    said.refused(&["where a file is to be written there is a folder"]);
    std::fs::remove_dir(folder.path("taken.npz")).unwrap();
}

/// Everything was computed before the path was found to be that of a folder.
#[test]
fn a_single_file_is_not_written_as_a_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("there")).unwrap();
    folder.write("h2.yaml", hydrogen());
    let pasr = ["pasr", "h2.yaml", "--particles", "4", "--residence-times", "0.02", "-o"];
    let bench = |option| ["bench", "lorenz", "--systems", "8", "--threads", "1", option];
    for path in ["new/", "new.npz/", "new/.", "..", ".", "there", "there/"] {
        for (args, option, own) in [
            (&pasr[..], "--output", "npz"),
            (&bench("--json"), "--json", "json"),
            (&bench("--plot"), "--plot", "svg"),
        ] {
            let said = folder.odeum(&[args, &[path]].concat());
            let file = std::path::Path::new(path).join(format!("NAME.{own}"));
            let help = format!("give a file in it, as {}", file.display());
            let said = said.refused(&["this is a folder", option, path, &help]);
            assert!(said.out.is_empty() && !said.err.contains("--overwrite"), "{}", said.err);
            assert_eq!(folder.files(), ["h2.yaml", "there"]);
        }
    }
    // A run has a folder of any name.
    folder.write("a.toml", DECAY).odeum(&["run", "a.toml", "-o", "new.npz/"]).well();
    assert!(folder.has("new.npz/a.npz"));
}

/// Renaming a file to `/dev/null` takes that away from all programs.
#[cfg(unix)]
#[test]
fn devices_pipes_and_sockets_are_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new();
    let case = format!("{DECAY}[output]\nformats = [\"csv\"]\n");
    folder.write("a.toml", case).write("h2.yaml", hydrogen()).write("mine", "mine");
    let pipe = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(pipe.success());
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("b.csv")).unwrap();
    std::os::unix::fs::symlink("pipe", folder.path("c.npz")).unwrap();
    std::os::unix::fs::symlink("pipe", folder.path("d.checkpoint")).unwrap();
    let before = folder.files();
    let pasr = ["pasr", "h2.yaml", "--particles", "4", "--residence-times", "0.02", "-o"];
    let bench = |option| ["bench", "lorenz", "--systems", "8", "--threads", "1", option];
    let run = ["run", "a.toml", "-o"];
    let refused = |args: &[&str], path: &str| {
        let said = folder.odeum(args);
        let parts = ["where a file is to be written there is a device or a stream", path];
        let said = said.refused(&parts);
        assert!(said.err.contains("choose another place with --"), "{}", said.err);
        assert!(said.out.is_empty() && !said.err.contains("--overwrite"), "{}", said.err);
        assert_eq!(folder.files(), before);
    };
    for (args, name, path) in [
        (&pasr[..], "pipe", "pipe"),
        (&pasr, "c.npz", "c.npz"),
        (&bench("--json"), "pipe", "pipe"),
        (&bench("--plot"), "pipe", "pipe"),
        (&run, "b.npz", "b.csv"),
        (&run, "c.npz", "c.npz"),
        (&run, "d.npz", "d.checkpoint"),
    ] {
        refused(&[args, &[name]].concat(), path);
        refused(&[args, &[name, "--overwrite"]].concat(), path);
    }
    refused(&[&pasr[..], &["/dev/null"]].concat(), "/dev/null");
    refused(&["bench", "lorenz", "--json", "/dev/stdout"], "/dev/stdout");
    let is = |name: &str| std::fs::metadata(folder.path(name)).unwrap().file_type();
    assert!(is("pipe").is_fifo() && is("c.npz").is_fifo() && is("b.csv").is_socket());
    // A file that is the standard output is not known by its kind.
    let output = std::fs::File::options().append(true).open(folder.path("mine")).unwrap();
    let mut command = folder.command(&["bench", "lorenz", "--json", "/dev/stdout"]);
    let said = Said::of(command.stdout(output).stderr(std::process::Stdio::piped()));
    said.refused(&["a device or a stream"]);
    assert_eq!(folder.read("mine"), b"mine");
}

/// They are files that somebody waits for.
#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_not_replaced() {
    let folder = Folder::new();
    let case = format!("{DECAY}[output]\nformats = [\"csv\"]\n");
    folder.write("a.toml", case).write("h2.yaml", hydrogen());
    let is_link = |name: &str| folder.path(name).is_symlink();
    let pasr = ["pasr", "h2.yaml", "-o", "p.npz"];
    for (name, args) in [
        ("b.npz", &["run", "a.toml", "-o", "b.npz"][..]),
        ("c.csv", &["run", "a.toml", "-o", "c.npz"]),
        ("c.checkpoint", &["run", "a.toml", "-o", "c.npz"]),
        ("p.npz", &pasr),
    ] {
        std::os::unix::fs::symlink("real", folder.path(name)).unwrap();
        let said = folder.odeum(args);
        said.refused(&[name, "is a symbolic link to real, which is not there", "would replace"]);
        assert!(is_link(name));
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    std::os::unix::fs::symlink("real", folder.path("link")).unwrap();
    let parts = ["link is a symbolic link to real, which is not there", "make what it leads to"];
    folder.odeum(&["run", "a.toml", "-o", "link/x.npz"]).refused(&parts);
    folder.odeum(&["run", "a.toml", "-o", "link/in/x.npz"]).refused(&parts);
    std::os::unix::fs::symlink("real", folder.path("d.npz")).unwrap();
    folder.odeum(&["run", "a.toml", "-o", "d.npz", "--overwrite"]).well();
    assert!(folder.has("d.npz") && !is_link("d.npz"));
}

/// A disk that fills up while the result is written.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full() {
    let folder = Folder::new();
    let case = format!("{DECAY}[ensemble]\ncount = 10_000\n");
    folder.write("a.toml", case);
    let said = folder.limited("-f 64", "run a.toml");
    said.failed(&["cannot write the output: file too large", "a.npz", "ulimit -f"]);
    assert_eq!(folder.files(), ["a.toml"], "nothing half-written may stay");
}

/// Titles, names and values from outside may hold what moves a cursor.
#[test]
fn characters_that_control_terminals_do_not_reach_them() {
    let folder = Folder::new();
    let title = "title = \"a\\u001b[2J\\u0007\\r\\u009b\"\n";
    folder.write("a.toml", format!("{title}{DECAY}[ensemble]\ntable = \"t.csv\"\n"));
    let clean =
        |text: &str| assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    folder.write("t.csv", "a\n1\n");
    let out = folder.odeum(&["check", "a.toml"]).well().out;
    assert!(out.contains("a␛[2J␇␍\u{fffd}"), "{out:?}");
    clean(&out);
    folder.write("t.csv", "a\u{1b}[1m,b\n1\u{1b}]0;x\u{7},2\n");
    let said = folder.odeum(&["check", "a.toml"]).refused(&["␛[1m"]);
    clean(&said.err);
    folder.write("t.csv", "a\n1\u{1b}]0;x\u{7}\n");
    clean(&folder.odeum(&["check", "a.toml"]).refused(&["found: 1␛]0;x␇"]).err);
}

/// Results have names that every program can give back.
#[cfg(unix)]
#[test]
fn names_of_results_are_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    folder.write("a.toml", DECAY);
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    std::fs::write(folder.path("").join(name(b"caf\xe9.toml")), DECAY).unwrap();
    let run = |args: &[&OsStr]| Said::of(folder.command(&["run"]).args(args));
    let parts = ["the name of the result would not be UTF-8", "caf", "--output NAME.npz"];
    run(&[name(b"caf\xe9.toml")]).refused(&parts);
    run(&[name(b"a.toml"), name(b"-o"), name(b"caf\xe9.npz")]).refused(&parts);
    run(&[name(b"caf\xe9.toml"), name(b"-o"), name(b"b.npz")]).well();
    // Folders have any.
    run(&[name(b"a.toml"), name(b"-o"), name(b"d\xe9/")]).well();
    assert!(folder.has("b.npz"));
}

/// Shells make a path of a leading `~`, and nobody else does.
#[test]
fn home_folders_are_not_expanded() {
    let folder = Folder::new();
    let mechanism = "[system]\nmechanism = \"~/h2.yaml\"\nfuel = { H2 = 1 }\noxidizer = { O2 = 1 }\n\
                     [time]\nspan = [0.0, 1.0]\n[method]\nname = \"rodas4\"\n\
                     [tolerance]\nrtol = 1e-6\natol = 1e-9\n";
    for case in [
        format!("{DECAY}[ensemble]\ntable = \"~/t.csv\"\n"),
        format!("{DECAY}[output]\nfolder = \"~\"\n"),
        mechanism.to_owned(),
        mechanism.replace("~/h2.yaml\"", "h2.yaml\"\ninclude = [\"~/x\"]"),
        "[system]\nspecies = [\"u\"]\nequations = { u = \"lap(u)\" }\n[grid]\nshape = [4, 4, 1]\n\
         spacing = 1.0\n[initial]\nu = { file = \"~/u.npy\" }\n[time]\nuntil = 1.0\nstep = 0.1\n"
            .to_owned(),
    ] {
        folder.write("a.toml", &case);
        folder.odeum(&["run", "a.toml"]).refused(&[
            "`~` is not expanded",
            "a.toml:",
            "home folder",
        ]);
    }
    assert_eq!(folder.files(), ["a.toml"]);
}
