//! What runs of fields write for other programs, and take up again.

use crate::common::{Folder, npz};
use serde_json::Value;

const TURING: &str = r#"
[system]
problem = "turing"
[grid]
shape = [11, 9, 7]
origin = [1.0, 0.0, -2.0]
[time]
until = 0.06
step = "stable"
[output]
every = 0.02
formats = ["zarr"]
"#;

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.read(name)).unwrap()
}

/// The numbers of a JSON list.
fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The rules of OME-Zarr 0.5 for multiscale images, in so far as they concern images of one
/// resolution.
#[test]
fn stores_are_images_too() {
    let folder = Folder::new();
    folder.write("a.toml", TURING).odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    let group = json(&folder, "a.zarr/zarr.json");
    let ome = &group["attributes"]["ome"];
    assert_eq!(ome["version"], "0.5");
    let images = ome["multiscales"].as_array().unwrap();
    let names: Vec<&str> = images.iter().map(|image| image["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["u", "v"]);
    for image in images {
        let axes = image["axes"].as_array().unwrap();
        let of = |key: &str| axes.iter().map(|axis| axis[key].clone()).collect::<Value>();
        assert_eq!(of("type"), serde_json::json!(["time", "space", "space", "space"]));
        let [set] = &image["datasets"].as_array().unwrap()[..] else { panic!("one resolution") };
        let array = json(&folder, &format!("a.zarr/{}/zarr.json", set["path"].as_str().unwrap()));
        assert_eq!(array["dimension_names"], of("name"));
        assert_eq!(numbers(&array["shape"]), [4.0, 7.0, 9.0, 11.0]);
        let [scale, shift] = &set["coordinateTransformations"].as_array().unwrap()[..] else {
            panic!("a scale, then a translation")
        };
        assert_eq!((&scale["type"], &shift["type"]), (&"scale".into(), &"translation".into()));
        let (scale, shift) = (numbers(&scale["scale"]), numbers(&shift["translation"]));
        assert!((scale[0] - 0.02).abs() < 1e-12 && shift[0] == 0.0, "{scale:?}, {shift:?}");
        for (axis, name) in ["z", "y", "x"].into_iter().enumerate() {
            for (cell, centre) in end[name].f64().iter().enumerate() {
                let at = shift[axis + 1] + cell as f64 * scale[axis + 1];
                assert!((at - centre).abs() < 1e-12, "{name} {cell}: {at} and {centre}");
            }
        }
    }
    // What xarray reads is where it was.
    let inline = &group["consolidated_metadata"]["metadata"];
    assert_eq!(inline["u"]["dimension_names"], serde_json::json!(["t", "z", "y", "x"]));
    // With coordinates alone the edge of an axis with one cell would be lost.
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        for key in ["spacing", "origin"] {
            let own = &inline[name]["attributes"][key];
            assert_eq!(*own, group["attributes"][key][axis], "{name} {key}");
        }
    }
}

/// Diffusion with a table that has a row for each step.
const TABLE: &str = r#"
[system]
species = ["c"]
equations = { c = "lap(c)" }
[grid]
shape = [9, 8, 7]
spacing = 1.0
[initial]
c = "sin(x)"
[time]
until = 100.0
step = 0.01
[output]
series = { every = 1, lines = [{ along = "x", through = [1.0, 1.0, 1.0] }] }
"#;

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

/// A run of [`TABLE`] that was stopped on its way.
#[cfg(unix)]
fn stopped() -> Folder {
    let folder = Folder::new();
    folder.write("a.toml", TABLE);
    let mut child = folder.start(&["run", "a.toml", "--checkpoint-every", "0"]);
    let begun = std::time::Instant::now();
    let rows = || std::fs::read(folder.path("a.csv")).map_or(0, |table| table.len() / 100);
    while !folder.has("a.checkpoint") || rows() < 10 {
        assert!(begun.elapsed().as_secs() < 60, "there is no checkpoint");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    crate::common::signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    folder
}

#[cfg(unix)]
#[test]
fn rows_that_are_missing_are_spoken_of() {
    let folder = stopped();
    let before = text(&folder, "a.csv");
    let heading = before.lines().next().unwrap();
    let rows = before.lines().count() - 1;
    assert!(rows > 4, "{before}");
    // Half of the rows, and a part of another.
    let half: usize = before.lines().take(1 + rows / 2).map(|line| line.len() + 1).sum();
    folder.write("a.csv", &before[..half + 3]);
    std::fs::remove_file(folder.path("a.lines.csv")).unwrap();
    let found = format!("{} rows, {half} of {} bytes", rows / 2, before.len());
    let parts = ["are missing", "a.csv", "a.lines.csv", &found, "no table", "from a copy"];
    folder.odeum(&["run", "a.toml", "--resume"]).refused(&parts).refused(&["--allow-missing"]);
    assert_eq!(folder.read("a.csv"), before.as_bytes()[..half + 3]);
    assert!(folder.has("a.checkpoint") && !folder.has("a.lines.csv"));
    let said = folder.odeum(&["run", "a.toml", "--resume", "--allow-missing"]).well();
    for part in parts.into_iter().chain(["warning"]) {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    let after = text(&folder, "a.csv");
    assert!(after.starts_with(&before[..half]));
    let steps: Vec<usize> = after
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().parse().unwrap())
        .collect();
    let expected: Vec<usize> = (0..rows / 2).chain(rows..=10_000).collect();
    assert!(steps == expected, "{:?}", &steps[..rows]);
    let lines = text(&folder, "a.lines.csv");
    assert_eq!(lines.lines().count(), 1 + 9 * (10_001 - rows));
    assert!(lines.starts_with("step,t,line,position,c\n") && after.starts_with(heading));
}

#[cfg(unix)]
#[test]
fn a_table_of_another_kind_is_left_alone() {
    let folder = stopped();
    folder.write("a.csv", "my own notes, longer than any heading of a table would be\n".repeat(99));
    let before = folder.read("a.csv");
    let said = folder.odeum(&["run", "a.toml", "--resume"]);
    said.refused(&["not the table of the run", "a.csv", "move this file away"]);
    assert_eq!(folder.read("a.csv"), before);
    std::fs::remove_file(folder.path("a.csv")).unwrap();
    folder.odeum(&["run", "a.toml", "--resume"]).refused(&["are missing", "a.csv"]);
    folder.odeum(&["run", "a.toml", "--resume", "--allow-missing"]).well();
}

/// An archive with one array that says it is of the grid of [`TABLE`], and has more bytes.
#[test]
fn arrays_that_unpack_to_more_than_they_say_are_refused() {
    use std::io::Write;
    let folder = Folder::new();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (7, 8, 9), }";
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    let archive = |zeros: usize| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        zip.start_file("c.npy", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&array).unwrap();
        let block = vec![0; 1 << 20];
        for from in (0..zeros).step_by(block.len()) {
            zip.write_all(&block[..block.len().min(zeros - from)]).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    let case = TABLE.replace("\"sin(x)\"", "{ file = \"c.npz\" }");
    folder.write("a.toml", case).write("c.npz", archive(504 * 8));
    folder.odeum(&["check", "a.toml"]).well();
    // In the memory this may take that has no place.
    folder.write("c.npz", archive(1 << 28));
    let said = folder.limited("-v 250000", "check a.toml");
    said.refused(&["c.npz", "more than the 4032 bytes", "a.toml:9"]);
    folder.write("c.npz", archive(100));
    folder.odeum(&["check", "a.toml"]).refused(&["does not fit its 100 bytes", "it needs 4032"]);
}

/// From the state that another run ended with a run goes on, in either precision and from either
/// kind of result.
#[test]
fn a_run_begins_from_the_store_of_another() {
    let folder = Folder::new();
    // Chunks of 64 cells: two along x.
    let first = |precision: &str| {
        let end = format!(
            "[output]\nformats = [\"zarr\"]\nevery = 0.5\n[run]\nprecision = \"{precision}\""
        );
        let case = TABLE.replace("[9, 8, 7]", "[70, 8, 7]").replace("100.0", "1.0");
        case.replace("\"sin(x)\"", "\"sin(x) + y * z\"")
            .split("[output]")
            .next()
            .unwrap()
            .to_owned()
            + &end
    };
    for precision in ["f64", "f32"] {
        folder.write("a.toml", first(precision)).odeum(&["run", "a.toml", "--overwrite"]).well();
        let end = npz::read(&folder.path("a.npz"));
        for (name, file) in [("b", "a.zarr"), ("c", "a.zarr/c"), ("d", "a.npz")] {
            let case =
                first(precision).replace("\"sin(x) + y * z\"", &format!("{{ file = \"{file}\" }}"));
            let toml = format!("{name}.toml");
            folder.write(&toml, case).odeum(&["run", &toml, "--overwrite"]).well();
        }
        let [b, c, d] = ["b", "c", "d"].map(|name| npz::read(&folder.path(&format!("{name}.npz"))));
        assert_eq!(b["mass_start"], end["mass_end"]);
        assert_ne!(b["c"], end["c"]);
        assert!(b["c"] == d["c"] && c["c"] == d["c"]);
    }
}

#[test]
fn stores_that_cannot_be_read_are_refused_with_what_was_found() {
    let folder = Folder::new();
    let case = TABLE.replace("100.0", "0.1").split("[output]").next().unwrap().to_owned()
        + "[output]\nformats = [\"zarr\"]\n";
    folder.write("a.toml", &case).odeum(&["run", "a.toml"]).well();
    let again = |file: &str| case.replace("\"sin(x)\"", &format!("{{ file = \"{file}\" }}"));
    let described = text(&folder, "a.zarr/c/zarr.json");
    let chunk = folder.read("a.zarr/c/c/0/0/0/0");
    folder.write("b.toml", again("a.zarr")).odeum(&["check", "b.toml"]).well();
    for (from, to, parts) in [
        ("\"gzip\"", "\"zstd\"", &["its codecs are bytes, zstd", "GzipCodec"][..]),
        ("\"float64\"", "\"complex64\"", &["data_type is \"complex64\"", "plain number"]),
        ("\"regular\"", "\"rectilinear\"", &["chunk grid is `rectilinear`"]),
        ("\"default\"", "\"v2\"", &["chunk key encoding is `v2`"]),
        ("\"array\"", "\"table\"", &["node_type is \"table\""]),
        ("\"zarr_format\": 3", "\"zarr_format\": 2", &["zarr_format is 2, not 3"]),
        ("\"shape\": [\n    1,", "\"shape\": [\n    0,", &["it has no state"]),
        ("\"shape\": [\n    1,", "\"shape\": [\n    1, 1,", &["its shape is [1, 1, 7, 8, 9]"]),
        (
            "\"shape\": [\n    1,\n    7",
            "\"shape\": [\n    1,\n    6",
            &["[1, 6, 8, 9]", "[7, 8, 9]"],
        ),
        (
            "\"chunk_shape\": [\n        1",
            "\"chunk_shape\": [\n        1000000",
            &["are more than"],
        ),
        (
            "\"z\",\n    \"y\",\n    \"x\"",
            "\"x\",\n    \"y\",\n    \"z\"",
            &["its axes are t, x, y, z, not t, z, y, x"],
        ),
        ("\"t\",\n    \"z\",", "\"z\",\n    \"t\",", &["its axes are z, t, y, x, not t, z, y, x"]),
        (
            "\"attributes\": {}",
            "\"attributes\": {\"scale_factor\": 0.5, \"add_offset\": 3.0}",
            &["its numbers are packed", "`scale_factor`"],
        ),
        ("\"shape\"", "\"form\"", &["not that of an array", "shape"]),
        ("{\n  \"", "{{\n  \"", &["its zarr.json"]),
    ] {
        assert!(described.contains(from), "{from} is not in {described}");
        folder.write("a.zarr/c/zarr.json", described.replacen(from, to, 1));
        let said = folder.odeum(&["check", "b.toml"]).refused(&["a.zarr", "b.toml:9"]);
        for part in parts {
            assert!(
                said.err.replace('\n', " ").contains(part),
                "`{part}` is not in:\n{}",
                said.err
            );
        }
    }
    folder.write("a.zarr/c/zarr.json", &described);
    folder.write("a.zarr/c/c/0/0/0/0", &chunk[..chunk.len() / 2]);
    folder.odeum(&["check", "b.toml"]).refused(&["chunk c/0/0/0/0"]);
    std::fs::remove_file(folder.path("a.zarr/c/c/0/0/0/0")).unwrap();
    folder.odeum(&["check", "b.toml"]).refused(&["holds NaN in cell [0, 0, 0]"]);
    folder
        .write("b.toml", again("a.zarr/x"))
        .odeum(&["check", "b.toml"])
        .refused(&["its shape is [9]"]);
    folder
        .write("b.toml", again("a.zarr/c/c"))
        .odeum(&["check", "b.toml"])
        .refused(&["no zarr.json"]);
    std::fs::remove_dir_all(folder.path("a.zarr/c")).unwrap();
    folder.write("b.toml", again("a.zarr")).odeum(&["check", "b.toml"]).refused(&["no array `c`"]);
}

/// Attributes as xarray writes them: the number itself of whole numbers, of others the bytes of a double in base64.
#[test]
fn missing_numbers_of_a_store_are_refused() {
    let folder = Folder::new();
    let case = |start: &str| {
        format!(
            "[system]\nspecies = [\"c\"]\nequations = {{ c = \"0\" }}\n[grid]\nshape = [5, 4, 1]\nspacing = 1.0\n\
             [initial]\nc = {start}\n[time]\nuntil = 1.0\nstep = 0.5\n[output]\nformats = [\"zarr\"]\n"
        )
    };
    let hole = "boxes = [{ from = [2.0, 1.0, 0.0], to = [3.0, 2.0, 1.0], value = -999.0 }]";
    let start = format!("{{ value = 1.0, {hole} }}");
    folder.write("a.toml", case(&start)).odeum(&["run", "a.toml"]).well();
    folder.write("b.toml", case("{ file = \"a.zarr\" }")).odeum(&["check", "b.toml"]).well();
    let described = text(&folder, "a.zarr/c/zarr.json");
    for (attributes, is_missing) in [
        ("\"_FillValue\": -999", true),
        ("\"missing_value\": -999.0", true),
        ("\"_FillValue\": \"AAAAAAA4j8A=\"", true),
        ("\"_FillValue\": \"AAAAAAAA+H8=\"", false),
        ("\"_FillValue\": \"NaN\", \"missing_value\": 999", false),
    ] {
        let said = described.replacen(
            "\"attributes\": {}",
            &format!("\"attributes\": {{{attributes}}}"),
            1,
        );
        assert_ne!(said, described);
        folder.write("a.zarr/c/zarr.json", said);
        let said = folder.odeum(&["check", "b.toml"]);
        match is_missing {
            true => _ = said.refused(&["holds NaN in cell [2, 1, 0]"]),
            false => _ = said.well(),
        }
    }
}

/// Every text file says a number in the shortest form that reads back to it: no zeros fill a line.
#[test]
fn pictures_lie_in_the_plane_that_has_cells() {
    for (shape, picture) in [
        ("[24, 12, 8]", "a.u_z4.png"),
        ("[24, 12, 1]", "a.u_z0.png"),
        ("[24, 1, 12]", "a.u_y0.png"),
        ("[24, 1, 1]", "a.u_z0.png"),
    ] {
        let folder = Folder::new();
        let case = format!(
            "[system]\nspecies = [\"u\"]\nequations = {{ u = \"lap(u)\" }}\n\
             [grid]\nshape = {shape}\nspacing = 1.0\n[initial]\nu = \"x\"\n[time]\nuntil = 0.1\n\
             [output]\nformats = [\"png\"]\n"
        );
        folder.write("a.toml", case).odeum(&["run", "a.toml", "-q"]).well();
        assert!(folder.has(picture), "{shape}: {:?}", folder.files());
    }
}

#[test]
fn numbers_of_any_size_are_short() {
    let folder = Folder::new();
    let case = TABLE
        .replace("spacing = 1.0", "spacing = 1e-9")
        .replace("\"lap(c)\"", "\"0\"")
        .replace("\"sin(x)\"", "2e-292")
        .replace("until = 100.0\nstep = 0.01", "until = 3e-30\nstep = 1e-30")
        .replace("[1.0, 1.0, 1.0]", "[1e-9, 1e-9, 1e-9]")
        + "structure = { every = 1 }\nevery = 1e-30\nformats = [\"vti\"]\n";
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    for name in ["a.csv", "a.lines.csv", "a.structure.csv", "a.pvd"] {
        let text = text(&folder, name);
        let cells = text.split([',', '\n', '"']);
        let longest = cells.max_by_key(|cell| cell.chars().filter(char::is_ascii_digit).count());
        assert!(longest.is_some_and(|cell| cell.len() < 30), "{name}: {longest:?}");
    }
    let rows = text(&folder, "a.csv");
    assert!(rows.contains("2e-292,2e-292") && rows.contains("\n2,2e-30,"), "{rows}");
    assert!(text(&folder, "a.pvd").contains("timestep=\"2e-30\""));
}

/// The quotient of an upper face and a spacing may round to more than the number of cells, and sums of decimals to less than a lower face.
#[test]
fn points_on_the_faces_of_the_box_lie_in_it() {
    let folder = Folder::new();
    let case = r#"
[system]
species = ["c"]
equations = { c = "lap(c)" }
[grid]
shape = [5, 5, 5]
spacing = 0.474
origin = [0.0, -0.3, -2.37]
[[sources]]
species = "c"
at = [2.37, -0.30000000000000004, 0.0]
rate = 1.0
[initial]
c = "x"
[time]
until = 0.01
step = 0.01
[output]
png = { normal = "x", at = 2.37 }
series = { every = 1, probes = [[2.37, 2.07, 0.0]], lines = [{ along = "z", through = [2.37, -0.30000000000000004, 0.0] }] }
"#;
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    assert!(text(&folder, "a.csv").starts_with("step,t,c_mass,c_min,c_max,c_mean,c[4 4 4]\n"));
    assert!(text(&folder, "a.lines.csv").contains("0,0.0,z_4_0,"));
    let further = case.replace("probes = [[2.37,", "probes = [[2.3700001,");
    let said = folder.write("b.toml", &further).odeum(&["run", "b.toml"]);
    said.refused(&["outside of the box", "along x it goes from 0 to 2.37"]);
}

/// Files say the times that were meant: three tenths are 0.3, though three times 0.1 are not.
#[test]
fn times_in_files_are_those_meant() {
    let folder = Folder::new();
    let case = TABLE
        .replace("until = 100.0\nstep = 0.01", "until = 0.3\nstep = 0.05")
        .replace("every = 1,", "every = 2,")
        + "structure = { every = 2 }\nevery = 0.1\nformats = [\"vti\"]\n";
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    assert_eq!(npz::read(&folder.path("a.npz"))["t"].f64(), [0.3]);
    for time in ["0.0", "0.1", "0.2", "0.3"] {
        assert!(text(&folder, "a.pvd").contains(&format!("timestep=\"{time}\"")), "{time}");
    }
    for table in ["a.csv", "a.lines.csv", "a.structure.csv"] {
        let text = text(&folder, table);
        assert!(text.contains("\n6,0.3,") && !text.contains("0.3000"), "{table}: {text}");
    }
}

/// Rounding has the size of the times that were added, however small their sum: zero was 5.55e-17.
#[test]
fn zero_is_told_as_such() {
    let folder = Folder::new();
    let case = TABLE.replace("until = 100.0\nstep = 0.01", "start = -0.3\nuntil = 0.2\nstep = 0.1")
        + "every = 0.1\nformats = [\"vti\"]\n";
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    for time in ["-0.3", "-0.2", "-0.1", "0.0", "0.1", "0.2"] {
        assert!(text(&folder, "a.pvd").contains(&format!("timestep=\"{time}\"")), "{time}");
        assert!(text(&folder, "a.csv").contains(&format!(",{time},")), "{time}");
    }
}

/// Only what a run would write stands in its way.
#[test]
fn tables_that_are_not_written_may_be_there() {
    let folder = Folder::new();
    let case = TURING.to_owned() + "series = { every = 1 }\n";
    folder.write("a.toml", case).write("a.lines.csv", "mine").write("a.structure.csv", "mine");
    folder.odeum(&["run", "a.toml"]).well();
    assert_eq!(folder.read("a.lines.csv"), b"mine");
}

/// Names and titles may hold what means something to XML.
#[test]
fn xml_files_are_well_formed_whatever_the_names() {
    let folder = Folder::new();
    let name = "R&D <1> 'x' 50%";
    let case = TURING.replace("\"zarr\"", "\"vti\"") + &format!("name = \"{name}\"\n");
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    let list = text(&folder, &format!("{name}.pvd"));
    let expected = "file=\"R&amp;D &lt;1&gt; 'x' 50%.frames/00003.vti\"/>";
    assert!(list.contains(expected) && folder.has(&format!("{name}.frames/00003.vti")), "{list}");
}

/// A run ended with exit code 3 when it came to write its first state.
#[test]
fn files_and_folders_do_not_replace_each_other() {
    let folder = Folder::new();
    let case = "[system]\nspecies = [\"u\"]\nequations = { u = \"lap(u)\" }\n[grid]\nshape = [4, 3, 2]\n\
                spacing = 1.0\n[initial]\nu = 1.0\n[time]\nuntil = 0.2\nstep = 0.04\n[output]\nevery = 0.1\n\
                formats = [\"zarr\", \"vti\"]\nseries = { every = 1 }\n";
    folder.write("a.toml", case);
    for name in ["a.zarr", "a.frames"] {
        let said = folder.write(name, "mine").odeum(&["run", "a.toml", "--overwrite"]);
        said.refused(&[name, "where a folder is to be written there is a file"]);
        assert!(folder.read(name) == b"mine" && !folder.has("a.npz"));
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    for name in ["a.pvd", "a.csv"] {
        std::fs::create_dir(folder.path(name)).unwrap();
        let said = folder.odeum(&["run", "a.toml", "--overwrite"]);
        said.refused(&[name, "where a file is to be written there is a folder"]);
        std::fs::remove_dir(folder.path(name)).unwrap();
    }
    for _ in 0..2 {
        folder.odeum(&["run", "a.toml", "--overwrite"]).well();
    }
}
