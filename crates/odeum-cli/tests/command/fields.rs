//! Fields: runs of small cases, what they write, and what is refused.

use crate::common::{Folder, Said, cases, npz};
use std::io::Read;

const TURING: &str = r#"
title = "a small one"
[system]
problem = "turing"
[grid]
shape = [11, 9, 7]
origin = [1.0, 0.0, -2.0]
[time]
until = 0.05
step = "stable"
[output]
every = 0.02
formats = ["vti", "zarr", "png"]
isosurface = { species = "u", levels = [0.9, 1.0], size = 120 }
series = { every = 5, probes = [[1.01, 0.01, -1.99]], lines = [{ along = "y", through = [1.0, 0.0, -2.0] }] }
"#;

const DIFFUSION: &str = r#"
[system]
species = ["c"]
parameters = { D = 0.5 }
equations = { c = "D * lap(c)" }
[grid]
shape = [9, 8, 7]
spacing = 1.0
[initial]
c = { value = 0.0, boxes = [{ from = [2.0, 2.0, 2.0], to = [5.0, 5.0, 5.0], value = 2.0 }] }
[time]
until = 10.0
step = 0.1
"#;

fn close(a: &[f64], b: &[f64], within: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= within, "{i}: {x} and {y}");
    }
}

/// Width and height of a PNG file.
fn picture(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&bytes[12..16], b"IHDR");
    assert!(bytes.ends_with(b"IEND\xaeB`\x82"));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// The arrays of a VTK file with raw appended data, by their heads.
fn vti(bytes: &[u8]) -> (String, Vec<Vec<f64>>) {
    let marker = b"encoding=\"raw\">\n_";
    let start = bytes.windows(marker.len()).position(|w| w == marker).unwrap() + marker.len();
    let head = String::from_utf8(bytes[..start].to_vec()).unwrap();
    let mut arrays = Vec::new();
    for part in head.split("offset=\"").skip(1) {
        let offset: usize = part[..part.find('"').unwrap()].parse().unwrap();
        let at = start + offset;
        let len = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        let data = bytes[at + 8..at + 8 + len].chunks(8);
        arrays.push(data.map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect());
    }
    (head, arrays)
}

#[test]
fn every_output_holds_the_same_state() {
    let folder = Folder::new();
    let said = folder.write("a.toml", TURING).odeum(&["run", "a.toml"]).well();
    for part in ["mass at start", "relative change", "M updates/s", "11 × 9 × 7 = 693", "a.npz"] {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }
    let files = ["a.csv", "a.frames", "a.lines.csv", "a.npz", "a.pvd", "a.toml", "a.zarr"];
    assert_eq!(folder.files(), files);

    let end = npz::read(&folder.path("a.npz"));
    assert_eq!((&end["u"].shape[..], end["u"].descr.as_str()), (&[7, 9, 11][..], "<f8"));
    assert_eq!(end["species_names"].texts(), ["u", "v"]);
    assert_eq!(end["t"].f64(), [0.05]);
    close(&end["x"].f64()[..2], &[1.0031, 1.0093], 1e-12);
    close(&end["z"].f64()[..1], &[-1.9969], 1e-12);
    let about: serde_json::Value = serde_json::from_str(&end["about"].texts()[0]).unwrap();
    assert!(about["case"].as_str().unwrap().contains("[grid]"));

    // Of times 0, 0.02, 0.04 and the end.
    let (head, arrays) = vti(&folder.read("a.frames/00003.vti"));
    assert!(head.contains("WholeExtent=\"0 11 0 9 0 7\" Origin=\"1.0 0.0 -2.0\""), "{head}");
    assert!(head.contains("Spacing=\"0.0062 0.0062 0.0062\"") && head.contains("Name=\"v\""));
    assert_eq!(arrays, [end["u"].f64(), end["v"].f64()]);
    let series = String::from_utf8(folder.read("a.pvd")).unwrap();
    assert_eq!(series.matches("<DataSet").count(), 4);
    assert!(series.contains("timestep=\"0.04\" part=\"0\" file=\"a.frames/00002.vti\""));

    let group: serde_json::Value =
        serde_json::from_slice(&folder.read("a.zarr/zarr.json")).unwrap();
    let of_u = &group["consolidated_metadata"]["metadata"]["u"];
    assert_eq!(of_u["shape"], serde_json::json!([4, 7, 9, 11]));
    assert_eq!(of_u["dimension_names"], serde_json::json!(["t", "z", "y", "x"]));
    let own: serde_json::Value =
        serde_json::from_slice(&folder.read("a.zarr/u/zarr.json")).unwrap();
    assert_eq!(*of_u, own);
    let chunk = |name: &str| {
        let mut bytes = Vec::new();
        let packed = folder.read(name);
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        let numbers = bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
        numbers.collect::<Vec<f64>>()
    };
    assert_eq!(chunk("a.zarr/u/c/3/0/0/0"), end["u"].f64());
    assert_eq!(&chunk("a.zarr/t/c/0")[..4], [0.0, 0.02, 0.04, 0.05]);

    // The longer edge has 512 pixels or a little fewer.
    let (width, height) = picture(&folder.read("a.frames/v_z3_00002.png"));
    assert!(width > 500 && width < 750 && height > 380 && height < 480, "{width} × {height}");
    assert_eq!(picture(&folder.read("a.frames/u_surface0_00000.png")), (120, 120));

    let table = String::from_utf8(folder.read("a.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..6], ["step", "t", "u_mass", "u_min", "u_max", "u_mean"]);
    assert_eq!(rows[0].last().unwrap(), &"v[1 1 1]");
    let number = |text: &str| text.parse::<f64>().unwrap();
    let last = rows.last().unwrap();
    assert_eq!(number(last[1]), 0.05);
    let u = end["u"].f64();
    assert!((number(last[2]) / end["mass_end"].f64()[0] - 1.0).abs() < 1e-14);
    assert_eq!(number(last[4]), u.iter().copied().fold(f64::MIN, f64::max));
    assert_eq!(number(last[10]), u[(9 + 1) * 11 + 1]);
    assert_eq!(rows[1][0], "0");
    let lines = String::from_utf8(folder.read("a.lines.csv")).unwrap();
    assert_eq!(lines.lines().next().unwrap(), "step,t,line,position,u,v");
    assert_eq!(lines.lines().count() - 1, 9 * (rows.len() - 1));
    let third: Vec<&str> = lines.lines().nth_back(6).unwrap().split(',').collect();
    assert_eq!((third[2], number(third[4])), ("y_0_0", u[2 * 11]));
}

#[test]
fn a_closed_box_keeps_its_mass() {
    let folder = Folder::new();
    let said = folder.write("a.toml", DIFFUSION).odeum(&["run", "a.toml"]).well();
    assert_eq!(folder.files(), ["a.npz", "a.toml"]);
    let end = npz::read(&folder.path("a.npz"));
    let (start, now) = (end["mass_start"].f64()[0], end["mass_end"].f64()[0]);
    // Cells 2, 3 and 4 along each axis are inside.
    assert_eq!(start, 54.0);
    assert!((now / start - 1.0).abs() < 1e-14, "{now}");
    assert!((end["c"].f64().iter().sum::<f64>() / start - 1.0).abs() < 1e-13);
    assert!(said.out.contains("5.400000000e1"), "{}", said.out);
    assert!(end["c"].f64()[0] > 0.0, "it has spread");
}

#[test]
fn a_straight_line_between_given_values_stays() {
    // With values at both ends the steady state is linear, and the stencil exact on it.
    let case = r#"
[system]
species = ["a", "b"]
parameters = { left = 1.0, length = 8.0 }
equations = { a = "lap(a)", b = "0.5 * lap(b)" }
[grid]
shape = [16, 1, 1]
spacing = 0.5
[boundary]
x_low = { value = "left" }
x_high = { value = 3.0 }
[boundary.species.b]
x_low = { gradient = -0.5 }
x_high = { robin = { a = 2.0, b = 4.0, g = 12.0 } }
[initial]
a = "left + 2 * x / length"
b = "1 + 0.5 * x"
[time]
until = 3.0
method = "rkl2"
stages = 5
step = "stable"
"#;
    let folder = Folder::new();
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    let x = end["x"].f64();
    close(&end["a"].f64(), &x.iter().map(|x| 1.0 + x / 4.0).collect::<Vec<_>>(), 1e-12);
    close(&end["b"].f64(), &x.iter().map(|x| 1.0 + x / 2.0).collect::<Vec<_>>(), 1e-12);
}

/// What is given for all faces of a plane is given at its edges: nothing passes through it unless its own axis says so.
#[test]
fn the_default_boundary_of_a_plane_is_that_of_its_edges() {
    let folder = Folder::new();
    let end = |name: &str, boundary: &str| {
        let flat = DIFFUSION
            .replace("[9, 8, 7]", "[9, 8, 1]")
            .replace("[time]", &format!("[boundary]\n{boundary}\n[time]"));
        let file = format!("{name}.toml");
        folder.write(&file, &flat).odeum(&["run", &file]).well();
        npz::read(&folder.path(&format!("{name}.npz")))["c"].f64()
    };
    let given =
        end("given", "x = { value = 1.0 }\ny_low = { gradient = 2.0 }\ny_high = { value = 1.0 }");
    let default = "default = { value = 1.0 }\ny_low = { gradient = 2.0 }";
    assert_eq!(end("default", default), given);
    let across = end("across", &format!("{default}\nz = {{ value = 1.0 }}"));
    assert!(across.iter().zip(&given).all(|(a, b)| a != b));
}

/// A number that is given and is not finite is named, not the step.
#[test]
fn expressions_that_end_in_no_number_are_named() {
    let folder = Folder::new();
    let with = |boundary: &str| DIFFUSION.replace("[time]", &format!("{boundary}\n[time]"));
    let case = with("[boundary]\nx_low = { value = \"ln(0.55 - t)\" }");
    let said = folder.write("a.toml", &case).odeum(&["run", "a.toml"]);
    assert_eq!(said.code, 3, "{}", said.err);
    for part in ["`c` is no finite number", "`boundary.x_low` is NaN at t = 0.6"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    let case = with("[boundary]\nx_low = { value = \"ln(-1)\" }");
    let said = folder.write("b.toml", &case).odeum(&["check", "b.toml"]);
    assert!(said.code == 2 && said.err.contains("boundary.x_low"), "{}", said.err);
}

#[test]
fn a_velocity_carries_and_sources_give() {
    // Periodic along x: the mass is what the source gave, and its centre moves with the velocity.
    let case = r#"
[system]
species = ["c", "fixed"]
equations = { c = "0", fixed = "0" }
[grid]
shape = [40, 1, 1]
spacing = 1.0
[boundary]
x = "periodic"
[velocity]
uniform = [0.5, 0.0, "0"]
species = ["c"]
advection = "koren"
[[sources]]
species = "fixed"
at = [3.2, 0.5, 0.5]
rate = "2 + 0 * t"
[initial]
c = { value = 0.0, balls = [{ centre = [10.0, 0.5, 0.5], radius = 4.0, value = 1.0 }] }
fixed = 0.0
[time]
until = 20.0
step = 0.5
"#;
    let folder = Folder::new();
    let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]).well();
    assert!(said.out.contains("∂fixed/∂t gains 2 + 0 * t, in cell [3, 0, 0]"), "{}", said.out);
    assert!(said.out.contains("0.5, 0, 0; carries c, koren"), "{}", said.out);
    folder.odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    let (c, x, fixed) = (end["c"].f64(), end["x"].f64(), end["fixed"].f64());
    assert!((fixed[3] - 40.0).abs() < 1e-12 && fixed.iter().sum::<f64>() == fixed[3]);
    let mass: f64 = c.iter().sum();
    let centre = c.iter().zip(&x).map(|(c, x)| c * x).sum::<f64>() / mass;
    assert!((mass - 8.0).abs() < 1e-12, "{mass}");
    assert!((centre - 20.0).abs() < 0.2, "{centre}");
    assert!(c.iter().all(|c| (-1e-12..1.0 + 1e-12).contains(c)));
}

/// A pulse of 0.74 became a square of 0.88, and "nothing is wrong".
#[test]
fn steps_that_sharpen_pulses_are_warned_of() {
    let case = r#"
[system]
species = ["c"]
equations = { c = "0.01 * lap(c)" }
[grid]
shape = [100, 1, 1]
spacing = 0.1
[boundary]
x = "periodic"
[velocity]
uniform = [1.0, 0.0, 0.0]
advection = "koren"
[initial]
c = "exp(-(x - 5)^2)"
[time]
until = 0.1
"#;
    let folder = Folder::new();
    let words = "pulses stay too sharp";
    let euler = case.replace("until = 0.1", "until = 0.1\nmethod = \"euler\"");
    let said = folder.write("a.toml", &euler).odeum(&["check", "a.toml"]).well().err;
    for part in [words, "ssprk3", "steps up to 1.000000e-2", "a.toml:17"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let run = folder.write("a.toml", &euler).odeum(&["run", "a.toml"]).well();
    assert!(run.err.contains(words), "{}", run.err);
    for (from, to) in [
        ("method = \"euler\"", "step = 0.0099"),
        ("method = \"euler\"", "method = \"ssprk3\""),
        ("method = \"euler\"", ""),
        ("koren", "upwind"),
        ("0.01 * lap", "lap"),
    ] {
        assert!(euler.contains(from));
        let case = euler.replace(from, to);
        let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]).well().err;
        assert!(!said.contains(words), "{to}: {said}");
    }
}

#[test]
fn sources_in_parts_of_the_box_give_there_alone() {
    let case = r#"
[system]
species = ["a", "b"]
parameters = { k = 3.0 }
equations = { a = "0", b = "0" }
[grid]
shape = [6, 5, 4]
spacing = 0.5
[[sources]]
species = "a"
box = { from = [0.75, 0.0, 0.0], to = [2.3, 1.25, 9.0] }
rate = "k * x * t + y - z"
[[sources]]
species = "b"
ball = { centre = [1.25, 1.25, 0.75], radius = 0.5 }
rate = 2.0
[[sources]]
species = "b"
everywhere = true
rate = 0.25
[initial]
a = 1.0
b = 0.0
[time]
until = 2.0
method = "ssprk3"
step = 0.1
"#;
    let folder = Folder::new();
    let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]).well();
    for line in [
        "∂a/∂t gains k * x * t + y - z, from [0.75, 0.0, 0.0] to [2.3, 1.25, 9.0]",
        "∂b/∂t gains 2, within 0.5 of [1.25, 1.25, 0.75]",
        "∂b/∂t gains 0.25, everywhere",
    ] {
        assert!(said.out.contains(line), "`{line}` is not in:\n{}", said.out);
    }
    folder.odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    let centre = |i: usize| 0.25 + 0.5 * i as f64;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for cell in 0..120 {
        let [x, y, z] = [cell % 6, cell / 6 % 5, cell / 30].map(centre);
        let inside = (0.75..=2.3).contains(&x) && y <= 1.25;
        a.push(1.0 + if inside { 3.0 * x * 2.0 + (y - z) * 2.0 } else { 0.0 });
        // The cell in the middle and its six neighbours.
        let apart = ((x - 1.25).abs() + (y - 1.25).abs() + (z - 0.75).abs()) / 0.5;
        b.push(0.5 + if apart < 1.5 { 4.0 } else { 0.0 });
    }
    close(&end["a"].f64(), &a, 1e-13);
    close(&end["b"].f64(), &b, 1e-13);
}

/// The equations of a built-in problem cannot be written anew: a source adds to them.
#[test]
fn sources_add_to_built_in_problems() {
    let folder = Folder::new();
    let case = "[system]\nproblem = \"diffusion\"\n[grid]\nshape = [8, 8, 8]\n[initial]\nc = 0.0\n\
                [time]\nuntil = 4.0\nstep = 0.25\n[run]\nprecision = \"f64\"\n";
    let source = "[[sources]]\nspecies = \"c\"\n\
                  box = { from = [0.0, 0.0, 0.0], to = [4.0, 4.0, 4.0] }\nrate = 0.5\n";
    folder.write("a.toml", format!("{case}{source}")).odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    let (c, given) = (end["c"].f64(), 64.0 * 0.5 * 4.0);
    assert!((c.iter().sum::<f64>() / given - 1.0).abs() < 1e-13, "{}", c.iter().sum::<f64>());
    assert!(c[0] > c[511] && c[511] > 0.0, "it has spread");
}

#[test]
fn arrays_give_initial_values_and_diffusion() {
    let folder = Folder::new();
    let header = |descr: &str, shape: &str| {
        let mut dict =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        dict += &" ".repeat(128 - 11 - dict.len());
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(((dict.len() + 1) as u16).to_le_bytes());
        bytes.extend(dict.as_bytes());
        bytes.push(b'\n');
        bytes
    };
    let mut start = header("<f4", "(2, 3, 4)");
    (0..24).for_each(|i| start.extend((i as f32).to_le_bytes()));
    folder.write("start.npy", start);
    let mut zeros = header("<f8", "(2, 3, 4)");
    zeros.extend([0; 192]);
    folder.write("zeros.npy", zeros);
    let case = r#"
[system]
species = ["c"]
equations = { c = "0" }
[grid]
shape = [4, 3, 2]
spacing = 1.0
[diffusion]
c = "zeros.npy"
[initial]
c = { file = "start.npy" }
[time]
until = 1.0
step = 0.5
"#;
    // Without diffusion nothing moves.
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    let first = npz::read(&folder.path("a.npz"))["c"].f64();
    assert_eq!(first, (0..24).map(f64::from).collect::<Vec<_>>());
    // The result is where another run can start.
    folder.write("b.toml", case.replace("start.npy", "a.npz")).odeum(&["run", "b.toml"]).well();
    assert_eq!(npz::read(&folder.path("b.npz"))["c"].f64(), first);

    let wrong = |file: &str, bytes: Vec<u8>, parts: &[&str]| {
        folder.write(file, bytes).write("c.toml", case.replace("start.npy", file));
        folder.odeum(&["run", "c.toml"]).refused(parts);
    };
    let mut spoiled = header("<f8", "(2, 3, 4)");
    (0..24).for_each(|i| spoiled.extend((if i == 17 { f64::NAN } else { 0.0 }).to_le_bytes()));
    wrong("nan.npy", spoiled, &["NaN in cell [1, 1, 1]", "--> c.toml:11:", "initial.c.file"]);
    let mut turned = header("<f8", "(4, 3, 2)");
    turned.extend([0; 192]);
    wrong("turned.npy", turned, &["its shape is [4, 3, 2]", "[nz, ny, nx] = [2, 3, 4]"]);
    wrong("words.npy", header("<U3", "(2, 3, 4)"), &["not a plain number"]);
    wrong("cut.npy", header("<f8", "(2, 3, 4)"), &["does not fit its 0 bytes"]);
    wrong("none.txt", b"hello".to_vec(), &["NPY signature", "numpy.save"]);
    let case = case.replace("start.npy", "missing.npy");
    folder.write("c.toml", case).odeum(&["run", "c.toml"]).refused(&["no such file"]);
}

#[test]
fn threads_change_no_bit() {
    let folder = Folder::new();
    folder.write("a.toml", TURING);
    folder.odeum(&["run", "a.toml", "--threads", "1", "-o", "one.npz"]).well();
    folder.odeum(&["run", "a.toml", "--threads", "3", "-o", "three.npz"]).well();
    assert!(folder.read("one.npz") == folder.read("three.npz"));
    assert!(folder.read("one.csv") == folder.read("three.csv"));
    let said = folder.odeum(&["run", "a.toml", "--quiet", "-o", "quiet.npz"]).well();
    assert_eq!((said.out.as_str(), said.err.as_str()), ("", ""));
    folder.odeum(&["run", "a.toml", "-o", "one.npz"]).refused(&["exists already", "--overwrite"]);
    folder.odeum(&["run", "a.toml", "-o", "one.npz", "--overwrite"]).well();
}

#[test]
fn check_says_what_would_be_run() {
    let folder = Folder::new();
    let said = folder.write("a.toml", DIFFUSION).odeum(&["check", "a.toml"]).well();
    for part in ["∂c/∂t = D * lap(c)", "9 × 8 × 7 = 504", "about 100", "stable up to", "nothing"]
    {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }
    // Molnár's stencil: D Δt/h² up to 3/8.
    assert!(said.out.contains("stable up to  7.500000e-1"), "{}", said.out);
    let figures = ["fig2", "fig5", "fig6", "fig6-as-printed", "fig7"];
    let figures = figures.map(|figure| format!("molnar-2011/{figure}"));
    let all = ["turing", "diffusion", "front", "plume"].map(str::to_owned);
    for case in all.into_iter().chain(figures) {
        let path = cases().join(format!("{case}.toml"));
        folder.odeum(&["check", path.to_str().unwrap()]).well();
    }
    let said = folder.odeum(&["problems"]).well();
    for problem in ["diffusion", "turing", "front", "mended front", "plume"] {
        assert!(said.out.contains(problem), "{}", said.out);
        let one = folder.odeum(&["problems", problem]).well();
        assert!(one.out.contains("Molnár"), "{}", one.out);
    }
}

/// The small case with one piece replaced must be refused, and nothing be left behind.
#[track_caller]
fn refused(from: &str, to: &str, parts: &[&str]) -> Said {
    assert!(DIFFUSION.contains(from), "{from}");
    let folder = Folder::new();
    folder.write("a.toml", DIFFUSION.replacen(from, to, 1));
    let said = folder.odeum(&["run", "a.toml"]).refused(parts);
    assert_eq!(folder.files(), ["a.toml"], "something was left behind");
    folder.odeum(&["check", "a.toml"]).refused(parts);
    said
}

#[test]
fn bad_input_is_refused_with_its_place() {
    refused(
        "step = 0.1",
        "step = 0.8",
        &[
            "steps of 0.8 are not stable",
            "a.toml:13:8",
            "time.step",
            "stable up to 7.500000e-1",
            "force = true",
        ],
    );
    refused("step = 0.1", "step = -1.0", &["must be positive"]);
    refused(
        "step = 0.1",
        "method = \"euler\"\ntolerance = { rtol = 1e-3, atol = 1e-3 }",
        &["only rkc", "method = \"rkc\""],
    );
    refused(
        "step = 0.1",
        "method = \"rkl2\"",
        &["a stabilised method is stable for any step", "time.method", "give `stages`"],
    );
    refused("step = 0.1", "method = \"eulr\"", &["did you mean `euler`?"]);
    refused("until = 10.0", "until = 0.0", &["ends before it begins"]);
    refused("[9, 8, 7]", "[9, 0, 7]", &["grid.shape[1]", "found: 0"]);
    refused("[9, 8, 7]", "[9, 8]", &["has 2 entries", "along x, y and z"]);
    refused("[9, 8, 7]", "[16_000_000, 16_000_000, 16_000_000]", &["grid.shape"]);
    refused(
        "[9, 8, 7]",
        "[20_000, 20_000, 2_000]",
        &["need", "are free", "grid.shape", "fewer cells"],
    );
    refused("spacing = 1.0", "spacing = 0.0", &["spacing", "positive"]);
    refused("spacing = 1.0", "spacing = [1.0, 2.0, 1.0]", &["stencil"]);
    refused("spacing = 1.0", "", &["`spacing` is missing"]);
    refused("lap(c)", "lap(d)", &["nothing is called `d`", "a.toml:5:"]);
    refused("lap(c)", "lap(lap(lap(c)))", &["a.toml:5:"]);
    refused(
        "c = { value = 0.0",
        "d = { value = 0.0",
        &["there is no species `d`", "a.toml:10:1", "initial.d"],
    );
    refused(
        "c = { value = 0.0, ",
        "c = { value = 0.0, nois = 1.0, ",
        &["unknown key `nois`", "did you mean `noise`?"],
    );
    refused(
        "{ value = 0.0",
        "{ value = \"1 / (x - 0.5)\"",
        &["must be finite", "in cell [0, 0, 0]"],
    );
    refused("{ value = 0.0", "{ value = \"u + 1\"", &["nothing is called `u`"]);
    let with = |more: &str, parts: &[&str]| {
        refused("[time]", &format!("{more}\n[time]"), parts);
    };
    with(
        "[boundary]\nx = \"periodic\"\nx_low = \"no flux\"",
        &["the boundary x low is given twice", "boundary.x_low"],
    );
    with("[boundary]\nx_low = \"periodic\"", &["both faces periodic", "boundary"]);
    refused(
        "lap(c)\" }",
        "lap(c^2)\" }\n[boundary]\nx_low = { value = 1.0 }",
        &["boundary.x_low", "lap of an expression of c", "nothing passes the boundaries"],
    );
    with("[boundary]\nx_low = \"ajar\"", &["there is no boundary `ajar`"]);
    with("[boundary]\nx_low = { value = \"1 +\" }", &["boundary.x_low"]);
    with("[boundary.species.d]\nx_low = \"no flux\"", &["there is no species `d`"]);
    with(
        "[[sources]]\nspecies = \"c\"\ncell = [9, 0, 0]\nrate = 1.0",
        &["there is no cell [9, 0, 0]"],
    );
    with(
        "[[sources]]\nspecies = \"c\"\nat = [9.5, 0, 0]\nrate = 1.0",
        &["outside of the box", "along x"],
    );
    with("[[sources]]\nspecies = \"c\"\nrate = 1.0", &["where is the source?", "ball = {"]);
    with(
        "[[sources]]\nspecies = \"c\"\nrate = 1.0\ncell = [0, 0, 0]\neverywhere = true",
        &["where is the source?"],
    );
    with(
        "[[sources]]\nspecies = \"c\"\nrate = \"w\"\neverywhere = true",
        &["`w`", "sources[0].rate"],
    );
    with(
        "[[sources]]\nspecies = \"c\"\nrate = 1.0\nball = { centre = [0, 0, 0] }",
        &["radius", "sources[0].ball"],
    );
    with("[velocity]\nuniform = [1.0, 0.0]", &["has 2 entries"]);
    let carries =
        |species: &str| format!("[velocity]\nuniform = [1.0, 0.0, 0.0]\nspecies = {species}");
    with(&carries("[]"), &["velocity.species", "a.toml:", "must name a species"]);
    with(&carries("[\"c\", \"c\"]"), &["`c` twice", "a.toml:", "name each species once"]);
    with("[diffusion]\nc = \"none.npy\"", &["no such file"]);
    with("[output]\nevery = 0", &["must be positive"]);
    with("[output]\nformats = [\"isosurface\"]", &["which level"]);
    with("[output]\npng = { species = \"d\" }", &["there is no species `d`"]);
    with(
        "[run]\ndevice = \"cuda:0,1,2,3\"",
        &["7 planes along z on 4 GPUs", "a.toml:", "grid.shape", "at least 8"],
    );
    with("[ensemble]\ncount = 3", &["unknown key `ensemble`"]);
    // All at once.
    let case =
        DIFFUSION.replace("step", "stp").replace("[9, 8, 7]", "[1, 2]").replace("c = {", "e = {");
    let folder = Folder::new();
    let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]);
    said.refused(&["unknown key `stp`", "has 2 entries", "no species `e`", "3 errors"]);
}

#[test]
fn built_in_problems_take_parameters() {
    let folder = Folder::new();
    let case =
        TURING.replace("problem = \"turing\"", "problem = \"turing\"\nparameters = { alhpa = 1 }");
    folder.write("a.toml", case).odeum(&["check", "a.toml"]).refused(&["did you mean `alpha`?"]);
    let case = TURING.replace("\"turing\"", "\"turig\"");
    folder.write("a.toml", case).odeum(&["check", "a.toml"]).refused(&["did you mean `turing`?"]);
}

#[test]
fn what_cannot_be_written_is_said_before_the_run() {
    let folder = Folder::new();
    folder.write("a.toml", TURING).write("file", "not a folder");
    let said = folder.odeum(&["run", "a.toml", "-o", "file/deep"]);
    said.refused(&["cannot write the output", "--output"]);
}

#[test]
fn what_cannot_be_written_on_the_way_ends_the_run() {
    let folder = Folder::new();
    folder.write("a.toml", TURING);
    // A file of a state that is a folder: seen by the writing thread.
    std::fs::create_dir_all(folder.path("b.frames/00001.vti")).unwrap();
    let said = folder.odeum(&["run", "a.toml", "-o", "b.npz", "--overwrite"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("where a file is to be written there is a folder"), "{}", said.err);
    assert!(!folder.has("b.npz"));
}

#[test]
fn a_field_that_is_no_number_any_more_stops_the_run() {
    let case = r#"
[system]
species = ["u", "v"]
equations = { u = "u^2 + 0 * lap(u)", v = "0" }
[grid]
shape = [6, 5, 4]
spacing = 1.0
[initial]
u = { value = 1.0, balls = [{ centre = [2.5, 1.5, 0.5], radius = 0.1, value = 50.0 }] }
v = 0.0
[time]
until = 10.0
step = 0.05
force = true
[run]
checkpoint_steps = 3
"#;
    let folder = Folder::new();
    let said = folder.write("a.toml", case).odeum(&["run", "a.toml"]);
    assert_eq!(said.code, 3, "{}\n{}", said.out, said.err);
    for part in [
        "`u` is no finite number any more",
        "cell [2, 1, 0]",
        "2.5, 1.5, 0.5",
        "step ",
        "a.checkpoint is kept",
    ] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
    assert_eq!(folder.files(), ["a.checkpoint", "a.toml"]);
}

/// Where programs are looked for: among them is one that writes its arguments where the movie should be.
#[cfg(unix)]
fn path_with_ffmpeg(folder: &Folder) -> String {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir(folder.path("bin")).unwrap();
    let script =
        "#!/bin/sh\nfor last; do :; done\n[ \"$1\" = -version ] || echo \"$@\" > \"$last\"\n";
    folder.write("bin/ffmpeg", script);
    let path = folder.path("bin/ffmpeg");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/bin:/usr/bin", folder.path("bin").display())
}

/// A movie stays the run's own where it goes on without ffmpeg.
#[cfg(unix)]
#[test]
fn a_run_that_goes_on_without_ffmpeg_keeps_its_movie() {
    let folder = Folder::new();
    let with_ffmpeg = path_with_ffmpeg(&folder);
    let run = |until: &str, path: &str| {
        let case = DIFFUSION.replace("until = 10.0", &format!("until = {until}"));
        folder.write("a.toml", case + "[output]\nevery = 0.1\nformats = [\"movie\"]\n");
        Said::of(folder.command(&["run", "a.toml", "--resume"]).env("PATH", path)).well().err
    };
    run("0.3", &with_ffmpeg);
    let err = run("0.6", "/nowhere");
    assert!(err.contains("ffmpeg is not found") && !err.contains("goes on without"), "{err}");
    let err = run("0.9", &with_ffmpeg);
    assert!(!err.contains("warning") && folder.has("a.c_z3.mp4"), "{err}");
}

#[cfg(unix)]
#[test]
fn movies_are_made_by_ffmpeg_where_it_is_found() {
    let folder = Folder::new();
    let case = DIFFUSION.replace("until = 10.0", "until = 0.3")
        + "[output]\nevery = 0.1\nformats = [\"movie\"]\n";
    folder.write("a.toml", case);
    let run = |path: &str| {
        let mut command = folder.command(&["run", "a.toml", "--overwrite"]);
        let output = command.env("PATH", path).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let err = run("/nowhere");
    assert!(err.contains("ffmpeg is not found") && err.contains("output.formats"), "{err}");
    assert!(folder.has("a.frames/c_z3_00003.png") && !folder.has("a.c_z3.mp4"));
    // One made by hand is not the run's.
    folder.write("a.c_z3.mp4", "by hand");
    run("/nowhere");
    assert_eq!(folder.read("a.c_z3.mp4"), b"by hand");
    let with_ffmpeg = path_with_ffmpeg(&folder);
    let err = run(&with_ffmpeg);
    assert!(!err.contains("ffmpeg"), "{err}");
    let movie = String::from_utf8(folder.read("a.c_z3.mp4")).unwrap();
    assert!(movie.contains("a.frames/c_z3_%05d.png") && !folder.has("a.c_z3.mp4.part"), "{movie}");
    // It is a part of the result.
    for end in ["npz", "frames"] {
        std::fs::rename(folder.path(&format!("a.{end}")), folder.path(&format!("away.{end}")))
            .unwrap();
    }
    Said::of(folder.command(&["run", "a.toml"]).env("PATH", with_ffmpeg))
        .refused(&["the file exists already", "a.c_z3.mp4"]);
}

#[test]
fn speed_is_measured_beside_a_copy() {
    let folder = Folder::new();
    let args = ["bench", "fields", "--sizes", "8", "--threads", "1", "--json", "--plot", "a.svg"];
    let said = folder.odeum(&args).well();
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let rows = document["rows"].as_array().unwrap();
    // Of four problems in two precisions, single steps and two in one pass.
    assert_eq!(rows.len(), 4 * 2 * 2);
    let several = rows.iter().filter(|row| row["variant"] == "cpu, 2 steps at once");
    assert_eq!(several.count(), 4 * 2);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("mpoints_per_second") > 0.0 && number("copy_bandwidth") > 0.0, "{row}");
        let bytes = number("bytes_per_point") * number("mpoints_per_second") / 1e3;
        assert!((bytes / number("bandwidth") - 1.0).abs() < 1e-9, "{row}");
    }
    assert!(String::from_utf8(folder.read("a.svg")).unwrap().contains("million cells per second"));
    folder.odeum(&["bench", "field"]).refused(&["did you mean `fields`?"]);
}

#[test]
fn small_grids_are_measured_beside_a_loop_in_c() {
    let folder = Folder::new();
    let args = ["bench", "fields", "--small", "--sizes", "20", "--json"];
    // Both have come to the same sums, or this fails.
    let said = folder.odeum(&args).well();
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let rows = document["rows"].as_array().unwrap();
    // Two problems, two rods and three layers, two fields, two precisions.
    assert_eq!(rows.len(), 2 * 5 * 2 * 2);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("seconds") > 0.0 && number("plain") > 0.0 && number("copy") > 0.0, "{row}");
        assert!(
            (number("plain") / number("seconds") / number("ratio") - 1.0).abs() < 1e-9,
            "{row}"
        );
    }
    let mut without = folder.command(&args);
    let output = without.env("PATH", "/nowhere").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && err.contains("gcc cannot be run"), "{err}");
    assert!(err.contains("install gcc"), "{err}");
}

/// Where there is no GPU a run says so; the case itself is sound.
#[test]
fn a_gpu_that_is_missing_is_said() {
    let folder = Folder::new();
    let case = format!("{DIFFUSION}[run]\ndevice = \"cuda\"\n");
    folder.write("a.toml", case);
    let said = folder.odeum(&["check", "a.toml"]).well();
    assert!(said.out.contains("cuda:0"), "{}", said.out);
    let said = folder.odeum(&["check", "a.toml", "--threads", "2"]).well();
    assert!(said.err.contains("--threads means nothing to cuda:0"), "{}", said.err);
    if folder.odeum(&["devices"]).well().out.contains("no GPU:") {
        let said = folder.odeum(&["check", "a.toml", "--device", "cuda:1,2"]).well();
        assert!(said.out.contains("cuda:1,cuda:2"), "{}", said.out);
        folder.odeum(&["run", "a.toml"]).refused(&["cuda:0 is not to be had"]);
        let bench = ["bench", "fields", "--device", "cuda"];
        folder.odeum(&bench).refused(&["cuda:0 is not to be had"]);
        assert!(!folder.has("a.npz"));
    }
}
