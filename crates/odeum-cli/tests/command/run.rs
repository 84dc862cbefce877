//! Runs of small cases, and what they write.

use crate::common::{DECAY, Folder, cases, npz};
use std::process::Command;

#[test]
fn the_solution_is_right_and_every_array_is_there() {
    let folder = Folder::new();
    let case = format!("{DECAY}\n[ensemble]\nsweep = {{ k = [0.5, 1.0, 2.0], a = [1.0, 3.0] }}\n");
    let said = folder.write("decay.toml", case).odeum(&["run", "decay.toml"]).well();
    assert_eq!(folder.files(), ["decay.npz", "decay.toml"]);
    for part in ["success", "6  100 %", "steps", "right-hand sides", "divergence D", "decay.npz"] {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }

    let result = npz::read(&folder.path("decay.npz"));
    let names: Vec<&str> = result.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "about",
            "axes",
            "guarded",
            "nfev",
            "nfev_radius",
            "njev",
            "nlu",
            "outside",
            "param_names",
            "params",
            "rejected",
            "shape",
            "span",
            "state_names",
            "status",
            "status_names",
            "steps",
            "system",
            "t",
            "y",
            "y0"
        ]
    );
    assert_eq!(result["y"].shape, [6, 2]);
    assert_eq!(result["state_names"].texts(), ["a", "b"]);
    assert_eq!(result["param_names"].texts(), ["k"]);
    assert_eq!(result["axes"].texts(), ["k", "a"]);
    assert_eq!(result["shape"].whole(), [3, 2]);
    assert_eq!(result["status"].whole(), [0; 6]);
    assert_eq!(result["status_names"].texts()[0], "success");
    assert_eq!(result["t"].f64(), [1.0; 6]);
    assert_eq!(result["system"].whole(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(result["params"].f64(), [0.5, 0.5, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!(result["span"].f64(), [0.0, 1.0].repeat(6));
    let (y0, y, k) = (result["y0"].f64(), result["y"].f64(), result["params"].f64());
    for s in 0..6 {
        let a = y0[2 * s] * (-k[s]).exp();
        assert!((y[2 * s] - a).abs() < 1e-7, "{s}");
        assert!((y[2 * s + 1] - (y0[2 * s] - a)).abs() < 1e-7, "{s}");
    }
    let about: serde_json::Value = serde_json::from_str(&result["about"].texts()[0]).unwrap();
    assert_eq!(about["method"], "dopri5");
    assert!(about["case"].as_str().unwrap().contains("[ensemble]"));
}

#[test]
fn saved_states_and_other_formats() {
    let folder = Folder::new();
    let case = DECAY.replace("[time]", "[time]\nsave = { count = 5 }")
        + "\n[ensemble]\ncount = 3\nperturb = { of = \"a\", relative = 0.1 }\n\
           [output]\nname = \"out\"\nformats = [\"csv\", \"parquet\"]\n";
    folder.write("a.toml", case).odeum(&["run", "a.toml", "--output", "results/deep"]).well();
    let result = npz::read(&folder.path("results/deep/out.npz"));
    assert_eq!(result["saved"].shape, [3, 5, 2]);
    assert_eq!(result["save_times"].f64(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(result["n_saved"].whole(), [5, 5, 5]);
    let (saved, y, y0) = (result["saved"].f64(), result["y"].f64(), result["y0"].f64());
    for s in 0..3 {
        assert_eq!(saved[s * 10..s * 10 + 2], y0[2 * s..2 * s + 2]);
        assert_eq!(saved[s * 10 + 8..s * 10 + 10], y[2 * s..2 * s + 2]);
        assert!((saved[s * 10 + 4] - y0[2 * s] * (-1.0_f64).exp()).abs() < 1e-7);
    }

    let text = String::from_utf8(folder.read("results/deep/out.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "system,status,t,a,b,k,a_start,b_start,steps,rejected,nfev,nfev_radius,njev,nlu,guarded,outside"
    );
    assert_eq!(lines.len(), 4);
    let cells: Vec<&str> = lines[2].split(',').collect();
    assert_eq!((cells[0], cells[1]), ("1", "success"));
    assert_eq!(cells[3].parse::<f64>().unwrap(), y[2], "numbers read back to the same bits");
    let text = String::from_utf8(folder.read("results/deep/out.saved.csv")).unwrap();
    assert_eq!(text.lines().count(), 1 + 3 * 5);

    let (names, rows) = parquet(&folder.read("results/deep/out.parquet"));
    assert_eq!(names.join(","), lines[0]);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1][3], y[2].to_string());
    let (_, rows) = parquet(&folder.read("results/deep/out.saved.parquet"));
    assert_eq!(rows.len(), 15);
}

/// Names of the columns, and all values as text.
fn parquet(bytes: &[u8]) -> (Vec<String>, Vec<Vec<String>>) {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let path = std::env::temp_dir().join(format!("odeum-{}-{}", std::process::id(), bytes.len()));
    std::fs::write(&path, bytes).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let text = |(_, field): (&String, &parquet::record::Field)| match field {
            parquet::record::Field::Double(x) => x.to_string(),
            other => other.to_string(),
        };
        row.get_column_iter().map(text).collect()
    });
    (names, rows.collect())
}

#[test]
fn tables_of_every_kind_give_the_same_ensemble() {
    let folder = Folder::new();
    folder.write("t.csv", "# starts\na, note, t_end, k\n1.0, 7, 1.0, 0.5\n\n2.0, 8, 0.5, 1.5\n");
    let columns = "columns = [\"a\", \"k\", \"t_end\"]";
    let case = |table: &str, columns: &str| {
        format!("{DECAY}\n[ensemble]\ntable = \"{table}\"\n{columns}\n")
    };
    folder.write("csv.toml", case("t.csv", columns)).odeum(&["run", "csv.toml"]).well();
    let expected = npz::read(&folder.path("csv.npz"));
    assert_eq!(expected["t"].f64(), [1.0, 0.5]);
    assert_eq!(expected["params"].f64(), [0.5, 1.5]);

    folder.write("t.npy", npy("<f8", "(2, 3)", &[1.0, 0.5, 1.0, 2.0, 1.5, 0.5]));
    folder.write("npy.toml", case("t.npy", columns)).odeum(&["run", "npy.toml"]).well();
    let records = "[('a', '<f8'), ('k', '<f8'), ('t_end', '<f8')]";
    folder.write("r.npy", npy(records, "(2,)", &[1.0, 0.5, 1.0, 2.0, 1.5, 0.5]));
    folder.write("records.toml", case("r.npy", "")).odeum(&["run", "records.toml"]).well();
    let arrays = [("start", [1.0, 2.0]), ("k", [0.5, 1.5]), ("t_end", [1.0, 0.5])];
    for (name, deflate) in [("stored", false), ("deflated", true)] {
        folder.write("t.npz", zipped(&arrays, deflate));
        let map = "columns = { a = \"start\", k = \"k\", t_end = \"t_end\" }";
        let file = format!("{name}.toml");
        folder.write(&file, case("t.npz", map)).odeum(&["run", &file]).well();
    }
    for name in ["npy", "records", "stored", "deflated"] {
        let mut result = npz::read(&folder.path(&format!("{name}.npz")));
        result.insert("about".into(), npz::read(&folder.path("csv.npz")).remove("about").unwrap());
        assert_eq!(result, expected, "{name}");
    }
}

fn npy(descr: &str, shape: &str, values: &[f64]) -> Vec<u8> {
    let quoted = if descr.starts_with('[') { descr.to_owned() } else { format!("'{descr}'") };
    let dict = format!("{{'descr': {quoted}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dict.len() as u16).to_le_bytes());
    bytes.extend(dict.as_bytes());
    bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

fn zipped(arrays: &[(&str, [f64; 2])], deflate: bool) -> Vec<u8> {
    use std::io::Write;
    let method =
        if deflate { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, values) in arrays {
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(&npy("<f8", "(2,)", values)).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn every_shipped_case_checks_and_a_small_one_agrees_with_its_reference() {
    let folder = Folder::new();
    for entry in std::fs::read_dir(cases()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let said = folder.odeum(&["check", path.to_str().unwrap()]).well();
            assert!(said.out.contains("nothing is wrong"), "{}", said.out);
            assert!(said.err.is_empty(), "{}", said.err);
        }
    }
    let case = std::fs::read_to_string(cases().join("pleiades.toml")).unwrap();
    let lines: Vec<&str> = case
        .lines()
        .map(|l| if l.starts_with("count") { "count = 4" } else { l })
        .filter(|l| !l.starts_with("perturb") && !l.starts_with("seed"))
        .collect();
    folder.write("p.toml", lines.join("\n")).odeum(&["run", "p.toml"]).well();
    let result = npz::read(&folder.path("p.npz"));
    let problem = odeum_ode::problems::find("pleiades").unwrap();
    let reference = problem.reference_at(1.0).unwrap().y;
    for (s, y) in result["y"].f64().chunks(28).enumerate() {
        for i in 0..28 {
            assert!((y[i] - reference[i]).abs() < 1e-6, "{s} {i}: {} {}", y[i], reference[i]);
        }
    }
}

#[test]
fn the_batch_size_and_threads_do_not_change_a_bit() {
    let folder = Folder::new();
    let run = |name: &str, batch: u32, threads: &str| {
        let case = format!(
            "{DECAY}\n[run]\nbatch = {batch}\n[ensemble]\ncount = 100\n\
             perturb = [{{ of = \"states\", absolute = 0.1, distribution = \"normal\" }}, \
             {{ of = \"k\", relative = 0.5 }}]\n"
        );
        folder.write("a.toml", case);
        let output = format!("{name}.npz");
        folder.odeum(&["run", "a.toml", "-o", &output, "--threads", threads]).well();
        let mut result = npz::read(&folder.path(&output));
        result.remove("about");
        result
    };
    let whole = run("whole", 65_536, "1");
    for (batch, threads) in [(1, "2"), (7, "1"), (100, "3")] {
        assert_eq!(run(&format!("b{batch}"), batch, threads), whole);
    }
}

#[test]
fn systems_that_fail_are_reported_and_disturb_no_other() {
    let folder = Folder::new();
    let case = "[system]\nstates = { x = 1.0 }\nequations = { x = \"x^2\" }\n\
                [ensemble]\nsweep = { x = [0.1, 2.0, 0.2] }\n[time]\nspan = [0.0, 1.0]\n\
                [method]\nname = \"dopri5\"\n[tolerance]\nrtol = 1e-8\natol = 1e-8\n";
    folder.write("blow.toml", case);
    let said = folder.odeum(&["run", "blow.toml"]).well();
    for part in ["success", "2  66.67 %", "1  33.33 %", "first to look at: system 1 (t = 0."] {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }
    let result = npz::read(&folder.path("blow.npz"));
    let status = result["status"].whole();
    assert!(status[0] == 0 && status[1] != 0 && status[2] == 0);
    assert!(result["y"].f64().iter().all(|y| y.is_finite()));
    assert!((result["y"].f64()[2] - 0.25).abs() < 1e-6);
    assert_eq!(folder.odeum(&["run", "blow.toml", "--strict", "--overwrite"]).code, 1);
    let said = folder.odeum(&["run", "blow.toml", "--quiet", "--overwrite"]).well();
    assert!(said.out.is_empty() && said.err.contains("1 of 3 systems failed"), "{said:?}");
}

#[test]
fn single_precision_is_stored_as_such() {
    let folder = Folder::new();
    let case =
        DECAY.replace("1e-8", "1e-4").replace("1e-10", "1e-6") + "[run]\nprecision = \"f32\"\n";
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    let result = npz::read(&folder.path("a.npz"));
    assert_eq!(result["y"].descr, "<f4");
    assert!((result["y"].f64()[0] - (-2.0_f64).exp()).abs() < 1e-4);
}

#[test]
fn numpy_opens_the_result() {
    // The test command names an interpreter that has it.
    let named = std::env::var_os("ODEUM_PYTHON");
    let python = named.clone().unwrap_or_else(|| "python3".into());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if named.is_none() && !has_numpy.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 has no numpy");
        return;
    }
    let folder = Folder::new();
    let case = format!("{DECAY}\n[ensemble]\nsweep = {{ k = [0.5, 1.0, 2.0], a = [1.0, 3.0] }}\n");
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    let script = "import numpy as np; r = np.load('a.npz'); \
                  assert r['y'].reshape(*r['shape'], 2).shape == (3, 2, 2); \
                  assert list(r['state_names']) == ['a', 'b']; \
                  assert r['status_names'][r['status'][0]] == 'success'; \
                  assert 'dopri5' in str(r['about']); \
                  assert np.allclose(r['y'][:, 0], r['y0'][:, 0] * np.exp(-r['params'][:, 0]))";
    let output =
        Command::new(python).args(["-c", script]).current_dir(folder.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// An axis needs a length, or drawing would not come to an end.
#[test]
fn a_sweep_too_wide_for_an_axis_is_not_drawn() {
    let folder = Folder::new();
    let decay = DECAY.replace("[0.0, 1.0]", "[0.0, 1.0]\nuntil = { b = { rises_to = 0.5 } }");
    let case = decay.replace("{ k = 2.0 }", "{ k = 2.0, q = 0.0 }")
        + "[ensemble.sweep]\nq = [-1.7e308, 0.0, 1.7e308]\n[output]\nformats = [\"svg\"]\n";
    let said = folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    assert!(said.err.contains("too far apart for an axis"), "{}", said.err);
    assert!(folder.has("a.npz") && !folder.has("a.svg"));
}

/// The picture of a sweep: its title fits, and only where units are known its time has one.
#[test]
fn pictures_of_sweeps_have_titles_that_fit_and_units_that_are_known() {
    let folder = Folder::new();
    let long = "d/".repeat(60);
    std::fs::create_dir_all(folder.path(&long)).unwrap();
    folder.write(&format!("{long}h2.yaml"), crate::common::hydrogen());
    let output = "[output]\nformats = [\"svg\"]\n";
    let gas = format!(
        "[system]\nmechanism = \"{long}h2.yaml\"\nfuel = {{ H2 = 1 }}\noxidizer = {{ O2 = 1 }}\n\
         [ensemble.sweep]\nT = [1200.0, 1300.0]\n[time]\nspan = [0.0, 0.1]\n\
         until = {{ T = {{ rises_by = 400.0 }} }}\n[method]\nname = \"rodas5p\"\n\
         [tolerance]\nrtol = 1e-5\natol = 1e-14\n{output}"
    );
    let decay = DECAY.replace("[0.0, 1.0]", "[0.0, 1.0]\nuntil = { b = { rises_to = 0.5 } }")
        + "[ensemble.sweep]\na = [1.0, 2.0]\n"
        + output;
    let titled = format!("title = \"{}\"\n{decay}", "long ".repeat(60));
    let marked = format!("title = \"R&D <1>\\u0001\\n2\"\n{decay}");
    for (case, unit, title) in [
        (gas, true, "h2.yaml: "),
        (decay, false, ""),
        (titled, false, "long long"),
        (marked, false, "R&amp;D &lt;1&gt;\u{fffd} 2"),
    ] {
        folder.write("a.toml", case).odeum(&["run", "a.toml", "--overwrite"]).well();
        let svg = String::from_utf8(folder.read("a.svg")).unwrap();
        assert_eq!(svg.contains("time of the event [s]"), unit, "{svg}");
        assert!(svg.contains("time of the event"), "{svg}");
        assert!(svg.lines().any(|line| line.starts_with(title)), "{svg}");
        assert!(svg.lines().all(|line| line.starts_with('<') || line.chars().count() <= 90));
    }
}

/// Names of lines, ticks and titles have as many digits as tell their values apart.
#[test]
fn pictures_of_sweeps_tell_values_apart() {
    let output = "[output]\nformats = [\"svg\"]\n";
    let until = "[0.0, 1.0]\nuntil = { b = { rises_to = 0.5 } }";
    let decay =
        DECAY.replace("[0.0, 1.0]", until).replace("{ k = 2.0 }", "{ k = 2.0, q = 0.0, r = 0.0 }");
    let folder = Folder::new();
    let lines = |sweep: &str| -> Vec<String> {
        folder.write("a.toml", format!("{decay}[ensemble.sweep]\n{sweep}\n{output}"));
        folder.odeum(&["run", "a.toml", "--overwrite"]).well();
        let svg = String::from_utf8(folder.read("a.svg")).unwrap();
        svg.lines().map(|line| line.trim().to_owned()).collect()
    };
    let names = "a = [1.0, 2.0]\nk = [2.0001, 2.0002, 2.0003]\nq = [1e6, 1000001.0, 1000002.0]";
    let found = lines(names);
    for name in ["k = 2.0001", "k = 2.0002", "k = 2.0003"] {
        assert!(found.iter().any(|line| line == name), "{name}: {found:?}");
    }
    assert!(found.iter().any(|line| line.contains("q = 1.000001e6")), "{found:?}");
    let found = lines("q = { from = 2451545.0, to = 2451546.0, count = 5 }");
    let mut ticks: Vec<&String> = found.iter().filter(|line| line.starts_with("2.4515")).collect();
    let all = ticks.len();
    ticks.dedup();
    assert!(all > 5 && ticks.len() == all, "{ticks:?}");
    // Of lists that are in no order too.
    let found = lines("a = [1.0, 2.0]\nk = [2.0, 2.5]\nq = [1.0, 5.0, 1.0001, 3.0]");
    assert!(found.iter().any(|line| line.contains("q = 1.0001")), "{found:?}");
    // Numbers between which there is none.
    lines("q = [0.0, 5e-324]");
    let found = lines("a = [1.0, 2.0]\nk = [2.0, 2.5]");
    assert!(found.iter().any(|line| line == "k = 2.5"), "{found:?}");
}

/// What is drawn of `{ b = k a (q - 2)² }`, which comes to its level unless k is small or q is 2: the title, and the
/// points of lines.
fn drawn(ensemble: &str) -> (String, Vec<Vec<[f64; 2]>>) {
    let folder = Folder::new();
    let case = DECAY
        .replace("{ k = 2.0 }", "{ k = 2.0, q = 0.0 }")
        .replace("b = \"k * a\"", "b = \"k * a * (q - 2)^2\"")
        .replace("[0.0, 1.0]", "[0.0, 1.0]\nuntil = { b = { rises_to = 0.5 } }");
    let output = "[output]\nformats = [\"svg\"]\n";
    folder.write("t.csv", "k\n0.01\n2\n3\n");
    folder.write("a.toml", format!("{case}[ensemble]\n{ensemble}\n{output}"));
    folder.odeum(&["run", "a.toml"]).well();
    let svg = String::from_utf8(folder.read("a.svg")).unwrap();
    let lines =
        svg.lines().filter(|line| line.starts_with("<polyline") && line.contains("#0072B2"));
    let points = |line: &str| {
        let points = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let numbers = |point: &str| {
            let (x, y) = point.split_once(',').unwrap();
            [x, y].map(|number| number.parse().unwrap())
        };
        points.split_whitespace().map(numbers).collect()
    };
    let lines = lines.map(points).collect();
    (svg, lines)
}

#[test]
fn pictures_of_sweeps_follow_their_axes() {
    // No power of ten lies on the axis of times.
    let (svg, lines) = drawn("sweep = { k = [2.1, 3.0] }");
    for tick in ["0.04", "0.06", "0.08"] {
        assert!(svg.lines().any(|line| line == tick), "{tick}: {svg}");
    }
    assert_eq!(lines.len(), 1);
    // In the order of the axis, and broken where a system does not come to its level.
    let (_, lines) = drawn("sweep = { q = [0.0, 4.0, 2.0, 1.0, 3.0] }");
    assert_eq!(lines.len(), 2, "{lines:?}");
    let x: Vec<f64> = lines.iter().flatten().map(|point| point[0]).collect();
    assert!(x.len() == 4 && x.is_sorted(), "{x:?}");
    // By factors.
    let (_, lines) =
        drawn("sweep = { k = { from = 1.0, to = 100.0, count = 3, spacing = \"log\" } }");
    let x: Vec<f64> = lines[0].iter().map(|point| point[0]).collect();
    assert!((x[0] + x[2] - 2.0 * x[1]).abs() <= 2.0, "{x:?}");
    // Of a table and of copies the first that has anything to draw.
    let (svg, _) = drawn("table = \"t.csv\"\nsweep = { q = [0.0, 1.0] }\ncount = 2");
    assert!(svg.contains("; table row 1, copy 0"), "{svg}");
}

/// Threads of the case are those of the CPU, also where the command line says that it is to be that.
#[test]
fn threads_of_a_case_stay_with_the_processor() {
    let folder = Folder::new();
    let field = "[system]\nspecies = [\"u\"]\nequations = { u = \"0.01*lap(u)\" }\n[grid]\nshape = [4, 4, 4]\n\
                 spacing = 0.1\n[initial]\nu = \"x\"\n[time]\nuntil = 0.1\nstep = 0.05\n";
    for case in [DECAY, field] {
        let on = |device: &str| {
            folder.write("a.toml", format!("{case}[run]\nthreads = 3\ndevice = \"{device}\"\n"));
        };
        for (device, args) in [
            ("cpu", &["run", "a.toml", "--overwrite"][..]),
            ("cpu", &["run", "a.toml", "--overwrite", "--device", "cpu"]),
            ("cuda", &["run", "a.toml", "--overwrite", "--device", "cpu"]),
        ] {
            on(device);
            let said = folder.odeum(args).well();
            assert!(said.out.contains("cpu, 3 threads"), "{args:?}: {}", said.out);
            assert!(!said.err.contains("mean nothing"), "{args:?}: {}", said.err);
        }
        let said = folder.odeum(&["check", "a.toml"]).well();
        for part in ["threads mean nothing to cuda:0", "a.toml:", "device = \"cpu\""] {
            assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
        }
    }
}
