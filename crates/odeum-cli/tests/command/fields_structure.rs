//! Structure factors that runs of fields write.

use crate::common::{Folder, npz};

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

/// Rows of a table of structure factors at a step: shell, k, modes and the factors.
fn shells(table: &str, step: &str) -> Vec<Vec<f64>> {
    let rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let rows = rows.filter(|row| row[0] == step);
    rows.map(|row| row[2..].iter().map(|x| x.parse().unwrap()).collect()).collect()
}

/// Nothing moves, so that the factors are those of the start.
const WAVES: &str = r#"
[system]
species = ["u", "v"]
parameters = { A = 0.3 }
equations = { u = "0", v = "0" }
[grid]
shape = [SHAPE]
spacing = 0.5
[initial]
seed = 5
u = "4 + A * cos(2 * pi * 3 * x / 8)"
v = { value = 1.0, noise = 0.5 }
[time]
until = 1.0
step = 0.25
[output]
structure = { every = 3 }
"#;

/// A wave with three periods along x has its power in two wave vectors of the third shell.
#[test]
fn a_cosine_is_one_peak() {
    for (shape, precision, within) in [
        ("16, 1, 1", "f64", 1e-14),
        ("16, 16, 1", "f64", 1e-14),
        ("16, 15, 12", "f64", 1e-14),
        ("16, 15, 12", "f32", 1e-6),
    ] {
        let folder = Folder::new();
        let run = format!("[run]\nprecision = \"{precision}\"\n");
        folder
            .write("a.toml", WAVES.replace("SHAPE", shape) + &run)
            .odeum(&["run", "a.toml"])
            .well();
        let cells: usize = shape.split(", ").map(|n| n.parse::<usize>().unwrap()).product();
        let table = text(&folder, "a.structure.csv");
        assert_eq!(table.lines().next().unwrap(), "step,t,shell,k,modes,u,v");
        let steps: std::collections::BTreeSet<&str> =
            table.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(steps.into_iter().collect::<Vec<_>>(), ["0", "3", "4"]);
        for row in shells(&table, "3") {
            // Two wave vectors of A² N / 4 each.
            let height = if row[0] == 3.0 { 2.0 * 0.09 * cells as f64 / 4.0 / row[2] } else { 0.0 };
            assert!((row[3] - height).abs() <= within * cells as f64, "{row:?}, {height}");
        }
        let third = &shells(&table, "0")[2];
        let k = std::f64::consts::TAU * 3.0 / 8.0;
        if cells == 16 {
            assert!(third[2] == 2.0 && (third[1] - k).abs() < 1e-14, "{third:?}");
        }
    }
}

/// All wave vectors but zero are in the shells, and hold all of the variance.
#[test]
fn the_sum_of_all_waves_is_the_variance() {
    for shape in ["16, 1, 1", "1, 1, 7", "9, 8, 7", "6, 5, 11", "1, 13, 1", "8, 8, 2"] {
        let folder = Folder::new();
        folder.write("a.toml", WAVES.replace("SHAPE", shape)).odeum(&["run", "a.toml"]).well();
        let end = npz::read(&folder.path("a.npz"));
        let table = text(&folder, "a.structure.csv");
        for (column, name) in [(3, "u"), (4, "v")] {
            let values = end[name].f64();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let square: f64 = values.iter().map(|u| (u - mean) * (u - mean)).sum();
            let rows = shells(&table, "4");
            let modes: f64 = rows.iter().map(|row| row[2]).sum();
            assert_eq!(modes, values.len() as f64 - 1.0, "{shape}");
            let sum: f64 = rows.iter().map(|row| row[2] * row[column]).sum();
            assert!(
                (sum - square).abs() <= 1e-13 * (1.0 + square),
                "{shape} {name}: {sum}, {square}"
            );
        }
    }
}

/// Against the definition, wave vector by wave vector, on a box with unlike spacings and a part of
/// it solid.
#[test]
fn factors_are_those_of_the_definition() {
    let shape = [6, 5, 4];
    let spacing = [0.5, 0.7, 1.1];
    let folder = Folder::new();
    let case = WAVES
        .replace("[SHAPE]", "[6, 5, 4]")
        .replace(
            "spacing = 0.5",
            "spacing = [0.5, 0.7, 1.1]\nstencil = \"star\"\nmask = \"y - 0.7\"",
        )
        .replace("{ every = 3 }", "{ every = 3, species = [\"v\"] }");
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    let (v, mask) = (end["v"].f64(), &end["mask"].data);
    let count = mask.iter().filter(|x| **x == 1).count() as f64;
    let inside = || (0..v.len()).filter(|cell| mask[*cell] == 1);
    let mean = inside().map(|cell| v[cell]).sum::<f64>() / count;
    let longest = 4.4;
    let mut sums = std::collections::BTreeMap::<usize, [f64; 3]>::new();
    let tau = std::f64::consts::TAU;
    for wave in 1..v.len() {
        let n = [wave % 6, wave / 6 % 5, wave / 30];
        let k: Vec<f64> = (0..3)
            .map(|a| {
                let (n, of) = (n[a] as f64, shape[a] as f64);
                tau * (if 2.0 * n > of { n - of } else { n }) / (of * spacing[a])
            })
            .collect();
        let (mut re, mut im) = (0.0, 0.0);
        for cell in inside() {
            let at = [cell % 6, cell / 6 % 5, cell / 30];
            let phase: f64 = (0..3).map(|a| k[a] * at[a] as f64 * spacing[a]).sum();
            re += (v[cell] - mean) * phase.cos();
            im -= (v[cell] - mean) * phase.sin();
        }
        let length = k.iter().map(|k| k * k).sum::<f64>().sqrt();
        let shell = sums.entry((length / (tau / longest)).round() as usize).or_default();
        *shell = [shell[0] + length, shell[1] + 1.0, shell[2] + (re * re + im * im) / count];
    }
    let rows = shells(&text(&folder, "a.structure.csv"), "4");
    assert_eq!(rows.len(), sums.len());
    for (row, (shell, [k, modes, s])) in rows.iter().zip(sums) {
        assert_eq!((row[0], row[2]), (shell as f64, modes));
        assert!((row[1] - k / modes).abs() < 1e-12 && (row[3] - s / modes).abs() < 1e-12);
    }
}

/// Their table is cut and gone on with like the others.
#[cfg(unix)]
#[test]
fn structure_factors_of_a_stopped_run_are_those_of_a_whole_one() {
    let folder = Folder::new();
    // Large enough to be met on its way.
    let case = WAVES
        .replace("SHAPE", "48, 48, 12")
        .replace("u = \"0\", v = \"0\"", "u = \"lap(u)\", v = \"lap(v)\"")
        .replace("until = 1.0\nstep = 0.25", "until = 10.0\nstep = 0.01")
        .replace("every = 3", "every = 20");
    folder.write("a.toml", case).odeum(&["run", "a.toml", "-o", "whole.npz"]).well();
    let mut child = folder.start(&["run", "a.toml", "--checkpoint-every", "0"]);
    while !folder.has("a.checkpoint") && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    crate::common::signal(&child, "-KILL");
    child.wait().unwrap();
    assert!(!folder.has("a.npz") && folder.has("a.checkpoint"));
    let table = text(&folder, "a.structure.csv");
    folder.write("a.structure.csv", table + "7,8,9");
    let said = folder.odeum(&["run", "a.toml", "--resume"]).well();
    assert!(!said.err.contains("are missing"), "{}", said.err);
    assert!(folder.read("a.structure.csv") == folder.read("whole.structure.csv"));
}

/// Columns of species stand aside where the table has one of their name.
#[test]
fn tables_have_each_name_once() {
    let folder = Folder::new();
    let species = ["k", "modes", "shell", "step", "line", "position", "k_"];
    let each = |of: &str| species.map(|name| format!("{name} = {of}")).join("\n");
    let case = format!(
        "[system]\nspecies = {species:?}\n[system.equations]\n{}\n[grid]\nshape = [4, 3, 2]\n\
         spacing = 1.0\n[initial]\n{}\n[time]\nuntil = 0.2\nstep = 0.1\n[output]\n\
         structure = {{ every = 1 }}\n\
         series = {{ every = 1, lines = [{{ along = \"x\", through = [1.0, 1.0, 1.0] }}] }}\n",
        each("\"0\""),
        each("1.0")
    );
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).well();
    for (table, heading) in [
        ("structure", "step,t,shell,k,modes,k_,modes_,shell_,step_,line,position,k__"),
        ("lines", "step,t,line,position,k,modes,shell,step_,line_,position_,k_"),
    ] {
        assert_eq!(text(&folder, &format!("a.{table}.csv")).lines().next(), Some(heading));
    }
}
