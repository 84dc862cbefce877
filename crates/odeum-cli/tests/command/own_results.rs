//! Compositions of tables, and results of Odeum as tables of what systems start from.

use crate::common::{DECAY, Folder, hydrogen, npz};

/// Hydrogen in air by what `{gas}` says, for a time, from what `{ensemble}` says.
fn burning(gas: &str, ensemble: &str) -> String {
    format!(
        "[system]\nmechanism = \"h2.yaml\"\n{gas}\n[ensemble]\n{ensemble}\n\
         [time]\nspan = [0.0, 2e-5]\n[method]\nname = \"rodas4\"\n\
         [tolerance]\nrtol = 1e-6\natol = 1e-12\n"
    )
}

const AIR: &str = "pressure = 1e6\nfuel = { H2 = 1 }\noxidizer = { O2 = 1, N2 = 3.76 }";
const TABLE: &str = "table = \"t.csv\"";

/// What `odeum check` says of a gas and the rows of a table.
#[track_caller]
fn check(gas: &str, csv: &str) -> crate::common::Said {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("t.csv", csv);
    folder.write("a.toml", burning(gas, TABLE)).odeum(&["check", "a.toml"])
}

#[test]
fn fractions_sum_to_one_and_amounts_are_scaled() {
    let good = "mole_fractions = { H2 = 0.3, O2 = 0.15, N2 = 0.55 }";
    let said = check(good, "T\n1000\n").well();
    assert!(!said.err.contains("warning"), "{}", said.err);
    // A sum that is off by the tolerance, but for its rounding.
    check("mole_fractions = { H2 = 0.499, O2 = 0.5 }", "T\n1000\n").well();
    check("mole_fractions = { H2 = 0.501, O2 = 0.5 }", "T\n1000\n").well();
    check("mole_fractions = { H2 = 0.4989, O2 = 0.5 }", "T\n1000\n").refused(&["sum to 0.9989"]);
    // Three digits of a published table.
    check("mole_fractions = { H2 = 0.333, O2 = 0.667 }", "T\n1000\n").well();
    for (key, kind) in [("mole_fractions", "mole fractions"), ("mass_fractions", "mass fractions")]
    {
        let sum = |text: &str| format!("{key} = {{ {text} }}");
        check(&sum("H2 = 2, O2 = 1"), "T\n1000\n").refused(&[
            &format!("its {kind} sum to 3, not to one"),
            "a.toml:3:",
            "found: a sum of 3",
            "within 0.001",
            "`moles` or `masses`",
        ]);
        let base = sum("N2 = 1");
        let rows = "T,H2,O2,N2\n1000,0.25,0.25,0.5\n1000,0.125,0.125,0.25\n1000,0.5,0.5,1\n";
        check(&base, rows).refused(&[
            "system 1 (table row 1, from 0)",
            &format!("its {kind} sum to 0.5, not to one"),
            "a.toml:5:",
            "1 more system has none either",
        ]);
        // What the table has no column of is counted too, and named.
        check(&base, "T,H2,O2\n1000,0.5,0.5\n").refused(&["sum to 2", "N2 = 1 is counted too"]);
        let half = sum("H2 = 0.3, O2 = 0.2, N2 = 0.5");
        check(&half, "T,H2,O2\n1000,0.1,0.4\n1000,0.2,0.3\n").well();
    }
    for key in ["moles", "masses"] {
        let base = format!("{key} = {{ H2 = 2, O2 = 1, N2 = 3.76 }}");
        let said = check(&base, "T,H2,O2,N2\n1000,0.5,0.5,1\n1000,5,5,10\n").well();
        assert!(!said.err.contains("warning"), "{}", said.err);
        let said = check(&base, "T,H2,O2\n1000,0.5,0.5\n").well();
        for part in
            ["warning", "no column of N2", "found: N2 = 3.76", "as in [system]", "a.toml:5:"]
        {
            assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
        }
    }
    check("", "T,p,H2\n1000,1e5,0\n").refused(&["sum to 0", "say what the gas is made of"]);
    let said = check("", "T,p\n1000,1e5\n").well();
    assert!(said.out.contains("From the state of the phase: composition\n"), "{}", said.out);
}

/// What the numbers of a table of species are is said where the case does not say it.
#[test]
fn tables_of_species_are_told_what_they_are_of() {
    let rows = "T,H2,O2\n1000,0.5,0.5\n";
    let out = check("", rows).well().out;
    assert!(out.contains("composition: mass fractions, from the table"), "{out}");
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("t.csv", rows);
    let start = |of: &str| {
        folder.write("a.toml", burning(of, TABLE));
        let out = folder.odeum(&["run", "a.toml", "--overwrite"]).well().out;
        let result = npz::read(&folder.path("a.npz"));
        let at = result["state_names"].texts().iter().position(|name| name == "H2").unwrap();
        (out, result["y0"].f64()[at])
    };
    let (out, y) = start("");
    assert!(out.contains("composition: mass") && y == 0.5, "{out}");
    // An empty composition says it, and leaves the numbers to the table.
    for (key, expected) in [
        ("mass_fractions", 0.5),
        ("masses", 0.5),
        ("mole_fractions", 2.016 / (2.016 + 31.998)),
        ("moles", 2.016 / (2.016 + 31.998)),
    ] {
        let (out, y) = start(&format!("{key} = {{}}"));
        assert!(!out.contains("composition:"), "{out}");
        assert!((y - expected).abs() < 1e-4, "{key}: {y}");
    }
    check("moles = {}", "T\n1000\n").refused(&["sum to 0", "say what the gas is made of"]);
    let alone = burning("mole_fractions = {}", "count = 2");
    folder.write("a.toml", alone);
    folder.odeum(&["check", "a.toml"]).refused(&["there is nothing in it"]);
    // Results say what they are of themselves.
    folder
        .write("a.toml", burning(AIR, "count = 2"))
        .odeum(&["run", "a.toml", "--overwrite"])
        .well();
    folder.write("b.toml", burning("", "table = \"a.npz\""));
    let out = folder.odeum(&["check", "b.toml"]).well().out;
    assert!(!out.contains("composition:"), "{out}");
}

#[test]
fn fractions_a_little_below_zero_count_as_zero_and_are_told() {
    let base = "mass_fractions = { N2 = 1 }";
    let said = check(base, "H2,O2,N2\n-1e-9,0.5,0.5\n0.1,0.5,0.4\n0.2,-2e-11,0.8\n").well();
    for part in
        ["of 2 systems fractions below zero count as zero", "found: -0.000000001", "a.toml:5:"]
    {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    check(base, "H2,O2,N2\n0.5,0.5,0\n-1e-6,0.5,0.5\n").refused(&[
        "system 1",
        "fraction -0.000001 of H2",
        "H2 = -0.000001",
    ]);
    // A run with a coarse tolerance may end further below.
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("t.csv", "H2,O2,N2\n-1e-6,0.5,0.5\n");
    folder.write("a.toml", burning(base, TABLE).replace("1e-12", "{ OH = 1e-12, others = 1e-7 }"));
    folder.odeum(&["check", "a.toml"]).well();
    // In the case itself as well.
    for of in [
        "mass_fractions = { H2 = -1e-9, O2 = 0.5, N2 = 0.5 }",
        "masses = { H2 = -1e-6, O2 = 500, N2 = 500 }",
    ] {
        let said = check(of, "T\n1000\n1100\n").well();
        let part = "of 2 systems fractions below zero count as zero";
        assert!(said.err.contains(part), "{}", said.err);
    }
    let ratio = "fuel = { H2 = 1, OH = -1e-17 }\noxidizer = { O2 = 1, N2 = 3.76 }";
    check(ratio, "T\n1000\n").well();
    let ratio = ratio.replace("e-17", "e-6");
    check(&ratio, "T\n1000\n").refused(&["cannot be negative", "fuel.OH", "a.toml:"]);
    let of = "mass_fractions = { H2 = -1e-6, O2 = 0.5, N2 = 0.5 }";
    check(of, "T\n1000\n").refused(&["cannot be negative", "mass_fractions.H2", "a.toml:"]);
}

#[test]
fn a_run_begins_where_another_ended() {
    let folder = Folder::new();
    let sweep = "sweep = { T = [900.0, 1100.0, 1250.0, 1400.0], phi = [0.5, 1.5] }";
    folder.write("h2.yaml", hydrogen()).write("a.toml", burning(AIR, sweep));
    for (reactor, parameter) in [("volume", "density"), ("pressure", "pressure")] {
        let case = burning(&format!("{AIR}\nreactor = \"constant {reactor}\""), sweep);
        folder.write("a.toml", case).odeum(&["run", "a.toml", "--overwrite"]).well();
        // The same reactor goes on, and a reactor of the other kind starts from the same gas.
        let next = burning("reactor = \"constant volume\"", "table = \"a.npz\"");
        folder.write("b.toml", &next).odeum(&["run", "b.toml", "--overwrite"]).well();
        let [first, second] = ["a.npz", "b.npz"].map(|name| npz::read(&folder.path(name)));
        assert_eq!(first["param_names"].texts(), [parameter]);
        let (ends, starts) = (first["y"].f64(), second["y0"].f64());
        let n = first["y"].shape[1];
        for (end, start) in ends.chunks(n).zip(starts.chunks(n)) {
            for (e, s) in end.iter().zip(start) {
                assert!(*s >= 0.0 && (e - s).abs() <= 1e-9 * e.abs() + 1e-10, "{e} {s}");
            }
        }
        let density = |y: &[f64], p: f64| match parameter {
            "density" => p,
            _ => p / (8_314.462_618_153_24 * y[0] * y[n - 1]),
        };
        let params = [first["params"].f64(), second["params"].f64()];
        for ((end, p), found) in ends.chunks(n).zip(&params[0]).zip(&params[1]) {
            let expected = density(end, *p);
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
        assert_eq!(second["axes"].texts(), ["table"]);
    }
    let moles = burning("mole_fractions = { N2 = 1 }", "table = \"a.npz\"");
    folder.write("c.toml", moles);
    folder.odeum(&["check", "c.toml"]).refused(&["the table holds mass fractions", "c.toml:5:"]);
    folder.write("c.toml", burning(AIR, "table = \"a.npz\""));
    folder.odeum(&["check", "c.toml"]).refused(&["the table holds mass fractions"]);
    // Temperatures and pressures alone are no fractions.
    let hot = "table = \"a.npz\"\ncolumns = [\"T\", \"p\"]";
    for gas in [AIR, "mole_fractions = { N2 = 1 }"] {
        folder.write("c.toml", burning(gas, hot)).odeum(&["check", "c.toml"]).well();
    }
    let some = "table = \"a.npz\"\ncolumns = [\"T\", \"N2\"]";
    folder.write("c.toml", burning("mole_fractions = { N2 = 1 }", some));
    folder.odeum(&["check", "c.toml"]).refused(&["the table holds mass fractions"]);
}

/// Of two columns of one name nobody knows which is the temperature.
#[test]
fn a_species_called_as_a_variable_is_no_column() {
    let folder = Folder::new();
    for name in ["T", "p"] {
        folder.write("h2.yaml", hydrogen().replace("AR", name));
        folder.write("a.toml", burning(AIR, "count = 1"));
        folder.odeum(&["run", "a.toml", "--overwrite"]).well();
        folder
            .write("b.toml", burning("", "table = \"a.npz\""))
            .odeum(&["check", "b.toml"])
            .refused(&[
                &format!("gases with a species `{name}`"),
                "b.toml:5:",
                "rename the species",
            ]);
        let columns = "table = \"a.npz\"\ncolumns = [\"H2\", \"O2\", \"N2\"]";
        folder.write("b.toml", burning("temperature = 1100", columns));
        folder.odeum(&["check", "b.toml"]).well();
    }
}

#[test]
fn states_of_a_stirred_reactor_are_a_table() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let args = ["pasr", "h2.yaml", "--temperature", "800", "--pressure", "10", "--particles", "4"];
    folder.odeum(&[&args[..], &["--residence-times", "0.02", "-o", "s.npz"]].concat()).well();
    folder.write("a.toml", burning("", "table = \"s.npz\"")).odeum(&["run", "a.toml"]).well();
    let [states, run] = ["s.npz", "a.npz"].map(|name| npz::read(&folder.path(name)));
    let (t, y0, n) = (states["T"].f64(), run["y0"].f64(), run["y0"].shape[1]);
    assert_eq!(y0.iter().step_by(n).copied().collect::<Vec<_>>(), t);
    let fractions = states["Y"].f64();
    for (given, start) in fractions.chunks(n - 2).zip(y0.chunks(n)) {
        for (y, s) in given.iter().zip(&start[1..]) {
            assert!((y - s).abs() < 1e-9, "{y} {s}");
        }
    }
}

#[test]
fn states_and_swept_parameters_of_a_result_are_a_table() {
    let folder = Folder::new();
    let swept = "[ensemble]\nsweep = { k = [1.0, 2.0, 3.0] }\n";
    folder.write("a.toml", format!("{DECAY}{swept}")).odeum(&["run", "a.toml"]).well();
    folder.write("b.toml", DECAY).odeum(&["run", "b.toml"]).well();
    let start = |table: &str, more: &str| {
        let case = DECAY.replace("k = 2.0", "k = 7.0");
        format!("{case}[ensemble]\ntable = \"{table}\"\n{more}\n")
    };
    let y0 = |name: &str| npz::read(&folder.path(name))["y0"].f64();
    let params = |name: &str| npz::read(&folder.path(name))["params"].f64();
    folder.write("c.toml", start("a.npz", "")).odeum(&["run", "c.toml"]).well();
    assert_eq!(y0("c.npz"), npz::read(&folder.path("a.npz"))["y"].f64());
    assert_eq!(params("c.npz"), [1.0, 2.0, 3.0], "each system keeps its own");
    // What all share is the case's to say: another value is taken only where the case means it.
    let parts =
        ["computed with k = 2.0, and the case has 7.0", "d.toml:17:9", "give k = 2.0 in [system]"];
    folder.write("d.toml", start("b.npz", "")).odeum(&["check", "d.toml"]).refused(&parts);
    for (more, k) in [
        ("sweep = { k = [7.0] }", 7.0),
        ("columns = [\"a\", \"b\"]", 7.0),
        ("columns = [\"a\", \"b\", \"k\"]", 2.0),
    ] {
        folder
            .write("d.toml", start("b.npz", more))
            .odeum(&["run", "d.toml", "--overwrite"])
            .well();
        assert_eq!(y0("d.npz"), npz::read(&folder.path("b.npz"))["y"].f64());
        assert_eq!(params("d.npz"), [k], "{more}");
    }
    folder.write("d.toml", start("b.npz", "").replace("k = 7.0", "k = 2.0"));
    folder.odeum(&["run", "d.toml", "--overwrite"]).well();
    assert_eq!(params("d.npz"), [2.0]);
    // A result of single precision has the case's value as that has it.
    let tenth = |case: String| case.replace("k = 7.0", "k = 0.1").replace("k = 2.0", "k = 0.1");
    let single = tenth(DECAY.to_owned()).replace("1e-8", "1e-4") + "[run]\nprecision = \"f32\"\n";
    folder.write("i.toml", single).odeum(&["run", "i.toml"]).well();
    folder.write("j.toml", tenth(start("i.npz", ""))).odeum(&["run", "j.toml"]).well();
    assert_eq!(params("j.npz"), [0.1]);
    let more = "columns = { a = \"b\", t_start = \"t\" }";
    let later = start("a.npz", more).replace("[0.0, 1.0]", "[0.0, 4.0]");
    folder.write("e.toml", later).odeum(&["run", "e.toml"]).well();
    let spans = npz::read(&folder.path("e.npz"))["span"].f64();
    assert_eq!(spans, [1.0, 4.0, 1.0, 4.0, 1.0, 4.0]);
    // A system that has come to the end has nothing left to do; the others stopped at their level.
    let until = "[0.0, 1.0]\nuntil = { a = { falls_to = 0.3 } }";
    let stopped = format!("{DECAY}{swept}").replace("[0.0, 1.0]", until);
    folder.write("s.toml", stopped).odeum(&["run", "s.toml"]).well();
    folder
        .write("r.toml", start("s.npz", more))
        .odeum(&["check", "r.toml"])
        .refused(&["span of table row 0: found 1 to 1", "nothing left to do: leave such rows out"]);
    // Where the run before could not go on, its systems are not at the end.
    let blown = start("a.npz", "").replace("\"dopri5\"", "\"dopri5\"\nmax_steps = 1");
    folder.write("f.toml", blown).odeum(&["run", "f.toml"]).well();
    folder.write("g.toml", start("f.npz", ""));
    let said = folder.odeum(&["check", "g.toml"]).well();
    for part in ["3 of 3 systems of the table failed", "last good state", "g.toml:17:"] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    // Semicolons, as spreadsheets of half of Europe write them.
    folder.write("t.csv", "a;k\n0.5;1\n0.25;2\n").write("h.toml", start("t.csv", ""));
    folder.odeum(&["run", "h.toml"]).well();
    assert_eq!(params("h.npz"), [1.0, 2.0]);
}

/// Systems that ended early have states of other times than that at which a next span begins.
#[test]
fn states_of_other_times_than_the_start_are_told() {
    let folder = Folder::new();
    let case = |span: &str, ensemble: &str| {
        format!(
            "[system]\nstates = {{ x = 0.0 }}\nparameters = {{ k = 1.0 }}\nequations = {{ x = \"k\" }}\n\
             [ensemble]\n{ensemble}\n[time]\nspan = {span}\n[method]\nname = \"dopri5\"\n\
             [tolerance]\nrtol = 1e-8\natol = 1e-8\n"
        )
    };
    let until = "[0.0, 10.0]\nuntil = { x = { rises_to = 5.0 } }";
    let files = [
        ("early", case(until, "sweep = { k = [1.0, 2.0, 0.1] }")),
        ("one", case(until, "count = 1")),
        ("whole", case("[0.0, 10.0]", "sweep = { k = [1.0, 2.0, 0.1] }")),
    ];
    for (name, text) in files {
        let file = format!("{name}.toml");
        folder.write(&file, text).odeum(&["run", &file]).well();
    }
    let said = |name: &str, span: &str, columns: &str| {
        folder.write("n.toml", case(span, &format!("table = \"{name}.npz\"\n{columns}")));
        let err = folder.odeum(&["check", "n.toml"]).well().err;
        // Lines are wrapped.
        err.split_whitespace().collect::<Vec<&str>>().join(" ")
    };
    let columns = "columns = { x = \"x\", k = \"k\", t_start = \"t\" }";
    for (name, span, found) in [
        (
            "early",
            "[10.0, 20.0]",
            ["2 of 3 systems start at another time", "row 0 (from 0) the first"],
        ),
        (
            "early",
            "[0.0, 10.0]",
            ["3 of 3 systems start at another time", "ended at t = 5, starts at t = 0"],
        ),
        ("one", "[10.0, 20.0]", ["1 of 1 systems start at another time", "starts at t = 10"]),
    ] {
        let err = said(name, span, "");
        // What differs between its systems is read with their states.
        let columns =
            if name == "one" { columns.replace("k = \"k\", ", "") } else { columns.to_owned() };
        for part in found.into_iter().chain([&columns, "n.toml:6:"]) {
            assert!(err.contains(part), "`{part}` is not in:\n{err}");
        }
    }
    for (name, span, more) in [
        ("early", "[0.0, 20.0]", columns),
        ("one", "[0.0, 10.0]", ""),
        ("whole", "[10.0, 20.0]", ""),
        ("whole", "[0.0, 10.0]", ""),
    ] {
        let err = said(name, span, more);
        assert!(!err.contains("warning"), "{name} {span}: {err}");
    }
    // The advice keeps what is read.
    let err = said("early", "[10.0, 20.0]", "columns = [\"x\"]\nsweep = { k = [2.0] }");
    assert!(err.contains("columns = { x = \"x\", t_start = \"t\" }"), "{err}");
    // Times without what the systems had come to by then.
    for (more, unread) in [
        ("columns = { t_start = \"t\" }", Some("x and k")),
        ("columns = { x = \"x\", t_start = \"t\" }", Some("k")),
        ("columns = { x = \"x\", t_end = \"t\" }", Some("k")),
        ("columns = { x = \"x\", t_start = \"t\" }\nsweep = { k = [2.0] }", None),
        ("columns = [\"k\"]", None),
    ] {
        let err = said("early", "[0.0, 20.0]", more);
        let found = err.contains("times of the result are read, but not its ");
        assert_eq!(found, unread.is_some(), "{more}: {err}");
        if let Some(unread) = unread {
            for part in [format!("but not its {unread} -->"), "k = \"k\" }".to_owned()] {
                assert!(err.contains(&part), "`{part}` is not in:\n{err}");
            }
        }
    }
}

/// Of columns of one name nobody knows which is meant.
#[test]
fn a_column_is_asked_for_by_a_name_of_its_own() {
    let folder = Folder::new();
    folder.write("t.csv", "a,k,a\n1,2,3\n");
    let case = |columns: &str| format!("{DECAY}[ensemble]\ntable = \"t.csv\"\n{columns}\n");
    for columns in ["columns = [\"a\", \"k\"]", "columns = { b = \"a\" }"] {
        let said = folder.write("a.toml", case(columns)).odeum(&["check", "a.toml"]);
        said.refused(&["the table has several columns `a`", "a.toml:18:", "rename"]);
    }
    folder.write("a.toml", case("")).odeum(&["check", "a.toml"]).refused(&["given twice"]);
    folder.write("a.toml", case("columns = [\"k\"]")).odeum(&["check", "a.toml"]).well();
}

/// The arrays of an archive that are used have one length; others may have any.
#[test]
fn arrays_that_nobody_asks_for_may_have_any_length() {
    let folder = Folder::new();
    let grid: &[f64] = &[1.0, 2.0, 3.0];
    folder.write("t.npz", npz::archive(&[("grid", grid), ("a", &[4.0, 5.0]), ("k", &[1.0, 2.0])]));
    let case = |columns: &str| format!("{DECAY}[ensemble]\ntable = \"t.npz\"\n{columns}\n");
    folder.write("a.toml", case("columns = [\"a\", \"k\"]")).odeum(&["run", "a.toml"]).well();
    assert_eq!(npz::read(&folder.path("a.npz"))["y0"].f64(), [4.0, 0.0, 5.0, 0.0]);
    folder.write("a.toml", case("columns = { a = \"a\", b = \"grid\" }"));
    let parts = ["the table t.npz: array `grid` has 3 values, but `a` has 2"];
    folder.odeum(&["check", "a.toml"]).refused(&parts);
    folder.write("t.npz", npz::archive(&[("a", &[])])).write("a.toml", case(""));
    folder.odeum(&["check", "a.toml"]).refused(&["no rows: zero systems"]);
}

/// Names of records may hold what the header of NPY is written with.
#[test]
fn fields_of_records_have_any_names() {
    let folder = Folder::new();
    let dict = |names: [&str; 2]| {
        let fields = names.map(|name| format!("({name}, '<f8')")).join(", ");
        format!("{{'descr': [{fields}], 'fortran_order': False, 'shape': (1,), }}")
    };
    for (names, columns) in [
        (["'k[1/s]'", "'a (m)'"], ["k[1/s]", "a (m)"]),
        (["'shape'", "'fortran_order'"], ["shape", "fortran_order"]),
        (["\"k's\"", "'a'"], ["k's", "a"]),
        (["'\u{b5}'", "'a'"], ["\u{b5}", "a"]),
    ] {
        let latin: Vec<u8> =
            dict(names).chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        for bytes in
            [npz::npy(1, &latin, &[2.5, 1.5]), npz::npy(3, dict(names).as_bytes(), &[2.5, 1.5])]
        {
            folder.write("t.npy", bytes);
            let [k, a] = columns;
            let table = format!("table = \"t.npy\"\ncolumns = {{ k = \"{k}\", a = \"{a}\" }}\n");
            folder.write("a.toml", format!("{DECAY}[ensemble]\n{table}"));
            folder.odeum(&["run", "a.toml", "--overwrite"]).well();
            let result = npz::read(&folder.path("a.npz"));
            assert_eq!((result["params"].f64(), result["y0"].f64()), (vec![2.5], vec![1.5, 0.0]));
        }
    }
}

/// The statuses of a result, by name.
fn statuses(folder: &Folder, name: &str) -> Vec<String> {
    let result = npz::read(&folder.path(name));
    let names = result["status_names"].texts();
    result["status"].whole().iter().map(|status| names[*status as usize].clone()).collect()
}

#[test]
fn bad_rows_are_errors_or_end_as_their_systems() {
    let folder = Folder::new();
    let ensemble = "[ensemble]\ntable = \"t.csv\"\n";
    folder.write("t.csv", "a,k\n1,1\nnan,2\n3,\n4,inf\n5,5\n").write("g.csv", "a,k\n1,1\n5,5\n");
    folder.write("a.toml", format!("{DECAY}{ensemble}"));
    folder.odeum(&["run", "a.toml"]).refused(&[
        "`a` must be finite",
        "`k` is not a number",
        "bad_rows",
    ]);
    let lenient = format!("{DECAY}{ensemble}bad_rows = \"status\"\n");
    folder.write("a.toml", &lenient);
    let said = folder.odeum(&["run", "a.toml"]).well();
    for part in [
        "warning: system 1 (table row 1, from 0) has no state to start from: `a` is no number",
        "found: a = NaN",
        "ends as `invalid start`",
        "2 more systems have none either",
    ] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    let expected = ["success", "invalid start", "invalid start", "invalid start", "success"];
    assert_eq!(statuses(&folder, "a.npz"), expected);
    folder.write("g.toml", format!("{DECAY}{ensemble}").replace("t.csv", "g.csv"));
    folder.odeum(&["run", "g.toml"]).well();
    let [all, good] = ["a.npz", "g.npz"].map(|name| npz::read(&folder.path(name)));
    let (y, t) = (all["y"].f64(), all["t"].f64());
    assert_eq!([&y[..2], &y[8..]].concat(), good["y"].f64(), "the others have their bits");
    assert!(y[2].is_nan() && y[4..8] == [3.0, 0.0, 4.0, 0.0], "{y:?}");
    assert_eq!(t, [1.0, 0.0, 0.0, 0.0, 1.0]);
    // As a table: who had no start has neither a last state nor another time than the others.
    let on = lenient.replace("t.csv", "a.npz").replace("[0.0, 1.0]", "[1.0, 2.0]");
    let said = folder.write("n.toml", on).odeum(&["check", "n.toml"]).well();
    assert!(said.err.contains("system 1 (table row 1, from 0) has no state"), "{}", said.err);
    for part in ["failed in the run", "another time"] {
        assert!(!said.err.contains(part), "{}", said.err);
    }
    // What is perturbed was no number before.
    let perturbed = format!("{lenient}perturb = {{ of = \"a\", absolute = 0.1 }}\n");
    let said = folder.write("p.toml", perturbed).odeum(&["check", "p.toml"]).well();
    assert!(said.err.contains("field: ensemble.table"), "{}", said.err);
    // Systems of several a row, a word in a number's place, times that are none, and no good row.
    let copies = format!("{lenient}count = 2\n");
    folder.write("c.toml", copies).odeum(&["run", "c.toml"]).well();
    assert_eq!(
        statuses(&folder, "c.npz")[1..5],
        ["success", "invalid start", "invalid start", "invalid start"]
    );
    folder.write("t.csv", "a,k\n1,1\nx,2\n");
    folder.odeum(&["check", "a.toml"]).refused(&["`a` is not a number", "found: x"]);
    folder.write("t.csv", "a,t_end\n1,1\n1,nan\n");
    folder.odeum(&["check", "a.toml"]).refused(&[
        "`t_end` must be finite",
        "t.csv:3:3",
        "found: nan",
        "give every row its times",
    ]);
    // No other help for times, lenient or not.
    for case in [format!("{DECAY}{ensemble}"), lenient] {
        folder.write("a.toml", case);
        for cell in ["inf", "#N/A", ""] {
            folder.write("t.csv", format!("a,t_end\n1,1\n1,{cell}\n"));
            let said = folder.odeum(&["check", "a.toml"]).refused(&["t.csv:3:3", "its times"]);
            assert!(!said.err.contains("bad_rows"), "{}", said.err);
        }
    }
    folder.write("t.csv", "a,k\n1,nan\n");
    folder.odeum(&["check", "a.toml"]).refused(&["`k` is no number"]);
}

#[test]
fn gases_without_a_start_end_as_their_systems() {
    let folder = Folder::new();
    let rows = "T,H2,O2\n1200,0.1,0.9\n12000,0.1,0.9\n1300,0.1,0.5\n1300,-0.1,1.1\n,0.1,0.9\n1300,0.1,0.9\n";
    folder.write("h2.yaml", hydrogen()).write("t.csv", rows);
    let case = burning("", "table = \"t.csv\"\nbad_rows = \"status\"");
    let until = case.replace("[method]", "until = { T = { rises_by = 4000.0 } }\n[method]");
    folder.write("a.toml", until);
    let said = folder.odeum(&["run", "a.toml"]).well();
    for part in ["system 1 (table row 1, from 0)", "temperature 12000 K", "3 more systems"] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    let bad = "invalid start";
    assert_eq!(statuses(&folder, "a.npz"), ["success", bad, bad, bad, bad, "success"]);
    folder.write("t.csv", "T,H2,O2\n,0.1,0.9\n1300,0.1,0.9\n").write("e.toml", &case);
    let said = folder.odeum(&["check", "e.toml"]).well();
    for part in ["`T` is no number", "give a finite number"] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    let result = npz::read(&folder.path("a.npz"));
    let n = result["y"].shape[1];
    for array in ["y", "y0"] {
        let rows = result[array].f64();
        assert!(rows[n..5 * n].iter().all(|x| x.is_nan()), "{array}");
        assert!(rows[5 * n..].iter().all(|x| x.is_finite()), "{array}");
    }
}

/// What a run is computed from is not replaced by its results, whatever the flags.
#[test]
fn results_do_not_replace_what_they_are_computed_from() {
    let folder = Folder::new();
    let parts = ["would replace what it is computed from", "`name` in [output]", "--output"];
    let refused = |args: &[&str], path: &str, content: &[u8]| {
        for flag in [&[][..], &["--overwrite"], &["--resume"]] {
            folder.odeum(&[args, flag].concat()).refused(&parts).refused(&[path]);
            assert_eq!(folder.read(path), content);
        }
    };
    let table = |file: &str, rest: &str| {
        format!("{DECAY}[ensemble]\ntable = \"{file}\"\n[output]\nformats = [\"csv\"]\n{rest}")
    };
    let rows = b"a,b\n1.0,0.5\n";
    for (file, name) in [("a.csv", "a"), ("b.saved.csv", "b"), ("c.d.csv", "c.d")] {
        folder.write(file, rows);
        let case = table(&format!("./{file}"), &format!("name = \"{name}\"\n"));
        folder.write("a.toml", case.replace("1.0]\n\n[m", "1.0]\nsave = [0.5]\n\n[m"));
        refused(&["run", "a.toml"], file, rows);
    }
    // By another way to the same file.
    std::fs::create_dir(folder.path("sub")).unwrap();
    folder.write("sub/e.toml", table("../a.csv", ""));
    refused(&["run", "sub/e.toml", "-o", "sub/../a.npz"], "a.csv", rows);
    folder.odeum(&["run", "sub/e.toml", "-o", "other/"]).well();
    // A result, what is left of one that was stopped, and the case itself.
    folder.write("f.toml", DECAY).odeum(&["run", "f.toml", "-o", "f.npz"]).well();
    let whole = folder.read("f.npz");
    folder.write("f.partial.npz", &whole);
    for file in ["f.npz", "f.partial.npz"] {
        folder.write("f.toml", table(file, ""));
        refused(&["run", "f.toml"], file, &whole);
    }
    let case = DECAY.to_owned() + "[output]\nformats = [\"csv\"]\n";
    folder.write("g.csv", &case);
    refused(&["run", "g.csv"], "g.csv", case.as_bytes());
    folder.write("mechanism", hydrogen());
    let said = folder.odeum(&["pasr", "mechanism", "-o", "./mechanism", "--overwrite"]);
    said.refused(&["would replace what it is computed from", "mechanism"]);
}

/// The same of fields, which begin from arrays and stores.
#[test]
fn fields_do_not_replace_what_they_are_computed_from() {
    let folder = Folder::new();
    let case = |start: &str, rest: &str| {
        format!(
            "[system]\nspecies = [\"u\"]\nequations = {{ u = \"lap(u)\" }}\n[grid]\nshape = [4, 3, 2]\n\
             spacing = 1.0\n{rest}\n[initial]\nu = {start}\n[time]\nuntil = 0.2\nstep = 0.04\n\
             [output]\nformats = [\"zarr\"]\n"
        )
    };
    folder.write("a.toml", case("\"x\"", "mask = \"3 - x\"")).odeum(&["run", "a.toml"]).well();
    let (result, store) = (folder.read("a.npz"), folder.read("a.zarr/u/c/0/0/0/0"));
    for (start, rest, path) in [
        ("{ file = \"a.npz\" }", "", "a.npz"),
        ("1.0", "mask = { file = \"./a.npz\" }", "a.npz"),
        ("1.0", "[diffusion]\nu = \"a.npz\"", "a.npz"),
        ("{ file = \"a.zarr\" }", "", "a.zarr"),
        ("{ file = \"a.zarr/u\" }", "", "a.zarr"),
    ] {
        folder.write("b.toml", case(start, rest));
        for flag in [&[][..], &["--overwrite"], &["--resume"]] {
            let args = [&["run", "b.toml", "-o", "a.npz"], flag].concat();
            folder.odeum(&args).refused(&["would replace what it is computed from", path]);
        }
        assert!(folder.read("a.npz") == result && folder.read("a.zarr/u/c/0/0/0/0") == store);
        folder.odeum(&["run", "b.toml", "--overwrite"]).well();
    }
}

/// Lines that are no rows move no other: comments, after spaces too, and blank lines. But in one column a blank
/// line between others is an empty cell.
#[test]
fn blank_lines_and_comments_are_no_rows_but_empty_cells_are() {
    let folder = Folder::new();
    let case = format!("{DECAY}[ensemble]\ntable = \"t.csv\"\nbad_rows = \"status\"\n");
    folder.write("a.toml", case);
    let none = f64::NAN;
    for (csv, column, expected) in [
        ("a\n1\n\n3\n\n\n", 0, vec![1.0, none, 3.0]),
        ("\n# of a\n\na\r\n\r\n  \r\n  # three\r\n4\r\n  \r\n", 0, vec![none, none, 4.0]),
        ("a\n1\n\"\"\n3", 0, vec![1.0, none, 3.0]),
        ("  # starts\na,b\n1,2\n\n   \n \t# more, here\n  3,4\n", 0, vec![1.0, 3.0]),
        (" \t#\na\tb\n1\t2\n\t\n  \n3\t4\n  # end", 1, vec![2.0, none, 4.0]),
    ] {
        folder.write("t.csv", csv).odeum(&["run", "a.toml", "--overwrite"]).well();
        let result = npz::read(&folder.path("a.npz"));
        let start: Vec<f64> = result["y0"].f64().chunks(2).map(|y| y[column]).collect();
        let equal = start.iter().zip(&expected).all(|(x, y)| x.to_bits() == y.to_bits());
        assert!(equal && start.len() == expected.len(), "{csv:?}: {start:?}");
        let statuses = result["status"].whole();
        let bad = |(status, start): (&i64, &f64)| (*status != 0) == start.is_nan();
        assert!(statuses.iter().zip(&expected).all(bad), "{csv:?}: {statuses:?}");
    }
}

/// What spreadsheets write for a value that they do not have begins as comments do.
#[test]
fn errors_of_spreadsheets_are_cells() {
    let folder = Folder::new();
    let case =
        |rows: &str| format!("{DECAY}[ensemble]\ntable = \"t.csv\"\nbad_rows = \"{rows}\"\n");
    for error in
        ["#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#NV", "#GETTING_DATA"]
    {
        for (table, place) in [
            (format!("a,k\n1,1\n{error},2\n3,{error}\n"), "t.csv:3:1"),
            (format!("# of a\na;k\n1;1\n  {error} ;2\n3;{error}\n"), "t.csv:4:3"),
        ] {
            folder.write("t.csv", table).write("a.toml", case("error"));
            let found = format!("found: {error}");
            folder.odeum(&["check", "a.toml"]).refused(&[
                "`a` is not a number",
                "`k` is not a number",
                place,
                &found,
                "bad_rows",
            ]);
            folder.write("a.toml", case("status"));
            folder.odeum(&["run", "a.toml", "--overwrite"]).well();
            let expected = ["success", "invalid start", "invalid start"];
            assert_eq!(statuses(&folder, "a.npz"), expected);
        }
    }
    folder.write("t.csv", "a\n1\n#N/A\n2\n").odeum(&["run", "a.toml", "--overwrite"]).well();
    assert_eq!(statuses(&folder, "a.npz"), ["success", "invalid start", "success"]);
    for (table, parts) in [
        ("a,k\n1,2\n#NV,\n", ["`a` is not a number", "t.csv:3:1"]),
        ("a\n1\n#WERT!\n2\n", ["`a` is not a number", "t.csv:3:1"]),
        ("a;k\n1;2\n#NV;0,5\n2;1\n", ["found: 0,5", "t.csv:3:5"]),
        ("a,k\n1,2\n#N/A,3,\n", ["the header has 2 columns, row 2 has 3", "t.csv:3:1"]),
        ("a,k\n1,2\n#N/A\n", ["the header has 2 columns, row 2 has 1", "t.csv:3:1"]),
    ] {
        folder.write("t.csv", table).write("a.toml", case("error"));
        folder.odeum(&["check", "a.toml"]).refused(&parts);
    }
    // What may be an error in another language is told, and no other comment.
    for (table, is_told) in [
        ("a,k\n1,2\n#ARG!,\n", true),
        ("a,k\n1,2\n#¡DIV/0!,3\n", true),
        ("a;k\n1;2\n#old;0,5\n", true),
        ("a;k\n1;2\n#old;#ARG!\n", true),
        ("a\n1\n#DZIEL/0!\n", true),
        ("a,k\n1,2\n# made by hand,\n", false),
        ("a,k\n1,2\n#ARG!,x\n", false),
        ("a,k\n1,2\n#ARG!\n", false),
        ("a\n1\n# Second part\n#\n", false),
    ] {
        let said = folder.write("t.csv", table).odeum(&["check", "a.toml"]).well();
        let told = said.err.contains("has the values of a row") && said.err.contains("t.csv:3:1");
        assert_eq!(told, is_told, "{table}: {}", said.err);
    }
    folder.write("a.toml", case("status"));
    // Rows that are taken out by a mark are comments, and told.
    folder.write("t.csv", "a,k\n1,1\n#2,2\n#of a, and k\n#3,3\n#,4\n# 5\n");
    let said = folder.odeum(&["check", "a.toml"]).well();
    for part in ["3 lines that begin with #", "t.csv:3:1", "take its # away"] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    folder.write("t.csv", "a,k\n# 1,1\n # 2,2\n");
    let parts = ["zero systems", "2 lines after the header begin with #"];
    folder.odeum(&["check", "a.toml"]).refused(&parts);
}

/// All slips of a table are counted, the first are shown.
#[test]
fn slips_beyond_those_shown_are_counted() {
    let folder = Folder::new();
    folder.write("a.toml", format!("{DECAY}[ensemble]\ntable = \"t.csv\"\n"));
    let rows = |row: &str| format!("a,k\n{}", format!("{row}\n").repeat(30));
    for (row, parts) in [
        ("x,1", ["25 more values of this column are as wrong", "field: column a", "6 errors"]),
        (
            "1",
            ["25 more rows have another number of values than the header", "t.csv:6:1", "6 errors"],
        ),
    ] {
        folder.write("t.csv", rows(row)).odeum(&["check", "a.toml"]).refused(&parts);
    }
}

/// Separators in quotes, or in names alone, separate nothing, and a name of several lines has them all.
#[test]
fn names_of_columns_may_hold_marks_of_csv() {
    let folder = Folder::new();
    for (csv, k) in [
        ("\"a\";\"k,unit\"\n1;2\n", "k,unit"),
        ("a\tk,unit\n1\t2\n", "k,unit"),
        ("a,\"k\t;\"\"\"\n1,2\n", "k\\t;\\\""),
        ("a,k\"\n  # comment\n1,2\n", "k\\\""),
        ("a,\"k\n # unit\"\n1,2\n", "k\\n # unit"),
    ] {
        let table = format!("table = \"t.csv\"\ncolumns = {{ a = \"a\", k = \"{k}\" }}\n");
        folder.write("t.csv", csv).write("a.toml", format!("{DECAY}[ensemble]\n{table}"));
        folder.odeum(&["run", "a.toml", "--overwrite"]).well();
        let result = npz::read(&folder.path("a.npz"));
        assert_eq!(
            (result["params"].f64(), result["y0"].f64()),
            (vec![2.0], vec![1.0, 0.0]),
            "{csv}"
        );
    }
}

/// No two axes have one name: those of the table and of copies stand aside.
#[test]
fn axes_have_names_of_their_own() {
    let folder = Folder::new();
    let case = DECAY.replace("{ k = 2.0 }", "{ k = 2.0, table = 1.0, copy = 1.0 }")
        + "[ensemble]\ntable = \"t.csv\"\ncount = 2\nsweep = { copy = [1.0, 2.0, 3.0], table = [1.0] }\n";
    folder.write("t.csv", "a\n1\n2\n").write("a.toml", case).odeum(&["run", "a.toml"]).well();
    let result = npz::read(&folder.path("a.npz"));
    assert_eq!(result["axes"].texts(), ["table_", "copy", "table", "copy_"]);
    assert_eq!(result["shape"].whole(), [2, 3, 1, 2]);
}
