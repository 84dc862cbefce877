//! Cases whose domain is a part of the box: how they say so, what is written, what is refused.

use crate::common::{Folder, npz};
use std::io::Read;

const DISC: &str = r#"
[system]
species = ["c", "mask"]
parameters = { D = 0.5, R = 4.2 }
equations = { c = "D * lap(c)", mask = "lap(mask) - ln(mask)" }
[grid]
shape = [12, 10, 3]
spacing = 1.0
mask = "R^2 - (x - 6)^2 - (y - 5)^2"
[initial]
c = "select((x - 6)^2 + (y - 5)^2 > R^2, 1e6, x)"
mask = "select((x - 6)^2 + (y - 5)^2 > R^2, -1, 2)"
[time]
until = 2.0
step = 0.1
[output]
formats = ["vti", "zarr", "png"]
isosurface = { species = "c", levels = [5.0], size = 120 }
series = { every = 10 }
"#;

fn inside(cell: usize) -> bool {
    let (x, y) = ((cell % 12) as f64 + 0.5, (cell / 12 % 10) as f64 + 0.5);
    (x - 6.0).powi(2) + (y - 5.0).powi(2) < 4.2 * 4.2
}

#[test]
fn the_domain_is_in_every_output() {
    let folder = Folder::new();
    let said = folder.write("a.toml", DISC).odeum(&["run", "a.toml"]).well();
    let cells: Vec<u8> = (0..360).map(|cell| u8::from(inside(cell))).collect();
    let count = cells.iter().filter(|x| **x == 1).count();
    let text = format!("12 × 10 × 3 = 360, of which {count} in the domain");
    assert!(said.out.contains(&text), "{}", said.out);

    let end = npz::read(&folder.path("a.npz"));
    let mask = &end["mask_"];
    assert_eq!(
        (mask.descr.as_str(), &mask.shape[..], &mask.data),
        ("|b1", &[3, 10, 12][..], &cells)
    );
    // It stands aside: the species has the name.
    let (c, other) = (end["c"].f64(), end["mask"].f64());
    for cell in 0..360 {
        if inside(cell) {
            assert!((2.0..10.0).contains(&c[cell]) && other[cell] > 1.0);
        } else {
            assert_eq!((c[cell], other[cell]), (1e6, -1.0));
        }
    }
    let sum: f64 = (0..360).filter(|cell| inside(*cell)).map(|cell| c[cell]).sum();
    let masses = [&end["mass_start"], &end["mass_end"]].map(|mass| mass.f64()[0]);
    assert!((masses[0] / masses[1] - 1.0).abs() < 1e-13 && (masses[1] / sum - 1.0).abs() < 1e-13);

    let vti = folder.read("a.vti");
    let head = String::from_utf8_lossy(&vti[..1200]).into_owned();
    assert!(head.contains("type=\"UInt8\" Name=\"mask_\""), "{head}");
    let tail = b"\n  </AppendedData>\n</VTKFile>\n".len();
    assert_eq!(vti[vti.len() - tail - 360..vti.len() - tail], cells);

    let mut bytes = Vec::new();
    let packed = folder.read("a.zarr/mask_/c/0/0/0");
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, cells);
    let group = String::from_utf8(folder.read("a.zarr/zarr.json")).unwrap();
    assert!(group.contains("\"mask_\"") && group.contains("\"bool\""));

    // Neither range nor reductions know what stands in solid cells.
    let table = String::from_utf8(folder.read("a.csv")).unwrap();
    let last: Vec<f64> =
        table.lines().last().unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    assert!(last[4] < 10.0 && last[5] < 10.0, "{table}");
    assert!(folder.has("a.c_z1.png") && folder.has("a.c_surface0.png"));

    // What was written is an initial value, and a mask, again.
    for file in ["a.npz", "a.zarr"] {
        let from = format!("{{ file = \"{file}\" }}");
        let species = DISC.split("[initial]").next().unwrap().to_owned()
            + &format!("[initial]\nc = {from}\nmask = {from}\n[time]\nuntil = 0.1\nstep = 0.1\n");
        let again = species.replace("\"R^2 - (x - 6)^2 - (y - 5)^2\"", &from);
        folder.write("b.toml", again).odeum(&["run", "b.toml", "--overwrite"]).well();
        let next = npz::read(&folder.path("b.npz"));
        assert_eq!(next["mask_"].data, cells, "{file}");
        assert_eq!(next["mass_start"], end["mass_end"], "{file}");
    }
}

/// Species keep their names in results, and whatever these are, a run goes on from them.
#[test]
fn species_may_be_called_as_other_arrays_are() {
    let folder = Folder::new();
    let names = ["steps", "species_names", "mass_start", "mass_end", "about", "resume", "mask"];
    let listed: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let each = |value: &str| {
        names.iter().map(|name| format!("{name} = {value}\n")).collect::<Vec<_>>().concat()
    };
    let equations: Vec<String> =
        names.iter().map(|name| format!("{name} = \"lap({name})\"")).collect();
    let case = |start: &str, until: &str, mask: &str| {
        format!(
            "[system]\nspecies = [{}]\nequations = {{ {} }}\n[grid]\nshape = [4, 3, 2]\nspacing = 1.0\n\
             mask = {mask}\n[initial]\n{}[time]\nuntil = {until}\nstep = 0.05\n",
            listed.join(", "),
            equations.join(", "),
            each(start)
        )
    };
    let to = |until: &str| case("\"x\"", until, "\"3 - x\"");
    folder.write("a.toml", to("0.4")).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    folder.write("a.toml", to("0.2")).odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    for name in names {
        assert_eq!(end[name].shape, [2, 3, 4], "{name}");
        assert_eq!(end[name], end["steps"], "{name}");
    }
    assert_eq!(end["species_names_"].texts(), names);
    assert_eq!((end["steps_"].whole(), end["mask_"].descr.as_str()), (vec![4], "|b1"));
    let from = "{ file = \"a.npz\" }";
    folder.write("b.toml", case(from, "0.1", from)).odeum(&["run", "b.toml"]).well();
    assert_eq!(npz::read(&folder.path("b.npz"))["mass_start_"], end["mass_end_"]);
    folder.write("a.toml", to("0.4")).odeum(&["run", "a.toml", "--resume"]).well();
    assert!(folder.read("a.npz") == folder.read("whole.npz"));
}

#[test]
fn domains_are_drawn_and_counted() {
    let folder = Folder::new();
    let drawn =
        "{ value = 1.0, balls = [{ centre = [6.0, 5.0, 1.5], radius = 2.0, value = 0.0 }] }";
    let case = DISC.replace("\"R^2 - (x - 6)^2 - (y - 5)^2\"", drawn).replace("-1, 2", "2, 2");
    let said = folder.write("a.toml", case).odeum(&["check", "a.toml"]).well();
    let solid = (0..360).filter(|cell| {
        let at = [cell % 12, cell / 12 % 10, cell / 120].map(|i| i as f64 + 0.5);
        at.iter().zip([6.0, 5.0, 1.5]).map(|(x, c)| (x - c) * (x - c)).sum::<f64>() <= 4.0
    });
    let text = format!("of which {} in the domain", 360 - solid.count());
    assert!(said.out.contains(&text), "{}", said.out);
}

#[test]
fn masks_that_cannot_be_are_refused_with_their_place() {
    let from = "\"R^2 - (x - 6)^2 - (y - 5)^2\"";
    let cases = [
        ("\"-1 - x\"", &["no cell", "at least one must belong", "a.toml:9"][..]),
        ("\"ln(x - 6)\"", &["`mask` is", "NaN in cell [0, 0, 0]", "must be finite", "a.toml:9"]),
        ("\"q + 1\"", &["nothing is called `q`", "a.toml:9"]),
        ("{ file = \"no.npy\" }", &["no.npy", "a.toml:9"]),
        ("{ file = \"other.npy\" }", &["its shape is [2]", "[3, 10, 12]", "a.toml:9"]),
        ("{ filo = \"other.npy\" }", &["`value` and `file`", "a.toml:9"]),
        ("[1.0]", &["is a list", "a.toml:9"]),
    ];
    for (to, parts) in cases {
        let folder = Folder::new();
        let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
        let mut array = b"\x93NUMPY\x01\x00".to_vec();
        array.extend((header.len() as u16).to_le_bytes());
        array.extend(header.as_bytes());
        array.extend([1, 1]);
        folder.write("other.npy", array).write("a.toml", DISC.replace(from, to));
        folder.odeum(&["check", "a.toml"]).refused(parts);
    }
    let folder = Folder::new();
    let source = "\n[[sources]]\nspecies = \"c\"\ncell = [0, 0, 1]\nrate = 1.0\n";
    folder.write("a.toml", DISC.to_owned() + source);
    folder.odeum(&["check", "a.toml"]).refused(&["sources[0].cell", "cell [0, 0, 1]", "is solid"]);
}

/// A checkpoint of one domain is not gone on from in another.
#[test]
fn checkpoints_know_the_domain() {
    let folder = Folder::new();
    let long = DISC
        .replace("until = 2.0", "until = 1e6")
        .replace("formats = [\"vti\", \"zarr\", \"png\"]", "");
    let case = long.replace("isosurface = { species = \"c\", levels = [5.0], size = 120 }", "");
    folder.write("a.toml", &case);
    let mut child = folder.start(&["run", "a.toml", "--checkpoint-every", "0.01"]);
    for _ in 0..600 {
        if folder.has("a.checkpoint") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    crate::common::signal(&child, "-INT");
    child.wait().unwrap();
    assert!(folder.has("a.checkpoint"));
    folder.write("a.toml", case.replace("R = 4.2", "R = 3.2"));
    folder
        .odeum(&["run", "a.toml", "--resume"])
        .refused(&["another run", "system, grid and boundaries"]);
    // The parameter alone says so too; of a file only what is in it can.
    let values = |hole: usize| {
        let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 10, 12), }";
        let mut array = b"\x93NUMPY\x01\x00".to_vec();
        array.extend((header.len() as u16).to_le_bytes());
        array.extend(header.as_bytes());
        array.extend((0..360).map(|cell| u8::from(inside(cell) && cell != hole)));
        array
    };
    let filed = case.replace("\"R^2 - (x - 6)^2 - (y - 5)^2\"", "{ file = \"m.npy\" }");
    std::fs::remove_file(folder.path("a.checkpoint")).unwrap();
    folder.write("m.npy", values(0)).write("b.toml", &filed);
    let mut child = folder.start(&["run", "b.toml", "--checkpoint-every", "0.01"]);
    for _ in 0..600 {
        if folder.has("b.checkpoint") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    crate::common::signal(&child, "-INT");
    child.wait().unwrap();
    folder.write("m.npy", values(5 * 12 + 6));
    folder
        .odeum(&["run", "b.toml", "--resume"])
        .refused(&["another run", "system, grid and boundaries"]);
}

/// The example runs, and keeps its wave within the channels.
#[test]
fn the_gyroid_is_a_case() {
    let folder = Folder::new();
    let case = std::fs::read_to_string(crate::common::cases().join("gyroid.toml")).unwrap();
    let small = case
        .replace("[96, 48, 48]", "[24, 12, 12]")
        .replace("0.1308996938995747", "0.5235987755982988");
    let said = folder.write("a.toml", small).odeum(&["run", "a.toml"]).well();
    assert!(said.out.contains("in the domain"), "{}", said.out);
    let end = npz::read(&folder.path("a.npz"));
    let (u, mask) = (end["u"].f64(), &end["mask"].data);
    assert!((0..u.len()).all(|cell| mask[cell] == 1 || u[cell] == 0.0 || u[cell] == 1.0));
    assert!((0..u.len()).any(|cell| mask[cell] == 1 && u[cell] > 0.9 && cell % 24 > 6));
}

/// Balls were drawn before all boxes.
#[test]
fn shapes_are_drawn_in_the_order_in_which_they_are_written() {
    let ball = "balls = [{ centre = [2.0, 2.0, 0.5], radius = 9.0, value = 5.0 }]";
    let cube = "boxes = [{ from = [0, 0, 0], to = [4, 4, 1], value = 1.0 }]";
    let folder = Folder::new();
    for (name, first, then, value) in [("a", ball, cube, 1.0), ("b", cube, ball, 5.0)] {
        let case = format!(
            "[system]\nspecies = [\"u\"]\nequations = {{ u = \"0\" }}\n[grid]\nshape = [4, 4, 1]\n\
             spacing = 1.0\n[initial]\nu = {{ value = 0.0, {first}, {then} }}\n\
             [time]\nuntil = 1.0\nstep = 1.0\n"
        );
        let file = format!("{name}.toml");
        folder.write(&file, &case).odeum(&["run", &file]).well();
        let u = npz::read(&folder.path(&format!("{name}.npz")))["u"].f64();
        assert!(u.iter().all(|u| *u == value), "{name}: {u:?}");
    }
    let shape = |list: &str, value: f64| {
        let place = match list {
            "balls" => "centre = [2.0, 2.0, 0.5]\nradius = 9.0",
            _ => "from = [0, 0, 0]\nto = [4, 4, 1]",
        };
        format!("[[initial.u.{list}]]\n{place}\nvalue = {value:?}\n")
    };
    let shapes = [shape("balls", 1.0), shape("boxes", 2.0), shape("balls", 3.0)].concat();
    folder.write(
        "c.toml",
        format!(
            "[system]\nspecies = [\"u\"]\nequations = {{ u = \"0\" }}\n[grid]\nshape = [4, 4, 1]\n\
             spacing = 1.0\n[initial.u]\nvalue = 0.0\n{shapes}[time]\nuntil = 1.0\nstep = 1.0\n"
        ),
    );
    folder.odeum(&["run", "c.toml"]).well();
    let u = npz::read(&folder.path("c.npz"))["u"].f64();
    assert!(u.iter().all(|u| *u == 3.0), "{u:?}");
}
