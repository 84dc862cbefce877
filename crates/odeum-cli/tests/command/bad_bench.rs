//! What `odeum bench` refuses: options a study does not use, states it cannot use.

use crate::common::{Folder, Said, hydrogen, npz};
use std::io::{Cursor, Write};

/// Refuses, and leaves no document behind.
#[track_caller]
fn refused(folder: &Folder, args: &[&str], parts: &[&str]) -> Said {
    let before = folder.files();
    let said = folder.odeum(&[&["bench"], args, &["--json", "a.json"]].concat()).refused(parts);
    assert_eq!(folder.files(), before, "something was left behind");
    assert!(said.out.is_empty(), "nothing may be measured before:\n{}", said.out);
    said
}

#[test]
fn options_that_change_nothing_are_refused() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("s.npz", "").write("b.json", "{}");
    for (option, value) in [
        ("--mechanism", "h2.yaml"),
        ("--thermo", "h2.yaml"),
        ("--phase", "gas"),
        ("--states", "s.npz"),
        ("--parts", "methods"),
    ] {
        let parts =
            ["`pleiades` does not use", option, "`odeum bench chemistry`", "leave them out"];
        refused(&folder, &["pleiades", option, value], &parts);
    }
    let both = ["lorenz", "--parts", "methods", "--mechanism", "h2.yaml"];
    refused(&folder, &both, &["`lorenz` does not use --mechanism, --parts"]);

    let small = "it belongs to `odeum bench fields`";
    refused(&folder, &["pleiades", "--small"], &["`pleiades` does not use --small", small]);
    refused(&folder, &["lorenz", "--sizes", "4"], &["`lorenz` does not use --sizes", small]);
    let ensembles = "studies of ensembles";
    for (option, value) in [("--systems", "4"), ("--variants", "scalar")] {
        refused(&folder, &["fields", option, value], &["`fields` does not use", option, ensembles]);
    }
    let add = ["fields", "--add", "b.json", "--plot", "a.svg"];
    refused(&folder, &add, &["`fields` does not use --add", ensembles]);
    refused(&folder, &["fields", "--parts", "methods"], &["`fields` does not use --parts"]);
    let chemistry = ["chemistry", "--mechanism", "h2.yaml", "--small"];
    refused(&folder, &chemistry, &["does not use --small", small]);
    for (option, value) in [("--threads", "2"), ("--device", "cuda"), ("--plot", "a.svg")] {
        let parts = ["runs on one thread of the CPU", option];
        refused(&folder, &["fields", "--small", option, value], &parts);
    }

    for study in ["chemistry", "ethanol"] {
        let with = |more: &[&'static str]| [&[study, "--mechanism", "h2.yaml"], more].concat();
        let help = "belong to studies of built-in problems";
        refused(&folder, &with(&["--variants", "lanes"]), &["does not use --variants", help]);
        let add = with(&["--add", "b.json", "--plot", "a.svg"]);
        refused(&folder, &add, &["no document of a study", "b.json", study]);
        let parts = ["takes one number of systems", "--systems", "16,64", "the part `sizes`"];
        refused(&folder, &with(&["--systems", "16,64"]), &parts);
        let parts = ["no part `speed`", "its parts are methods, tolerances, sizes"];
        refused(&folder, &with(&["--parts", "methods,speed"]), &parts);
    }
    let parts = ["no part `orders`", "its parts are methods, tolerances, sizes"];
    refused(&folder, &["ethanol", "--mechanism", "h2.yaml", "--parts", "orders"], &parts);
    for part in ["parts", "calls"] {
        let found = format!("`{part}` is measured on GPUs alone");
        let parts = [&*found, "--device cuda"];
        refused(&folder, &["chemistry", "--mechanism", "h2.yaml", "--parts", part], &parts);
    }
    let parts = ["`ethanol` does not use --states", "its own states"];
    refused(&folder, &["ethanol", "--mechanism", "h2.yaml", "--states", "s.npz"], &parts);
}

/// What a study reads stays, and what cannot be written is refused before hours of measuring.
#[test]
fn files_a_study_cannot_write() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder
        .write("h2", hydrogen())
        .write("s", "")
        .write("b.json", "{}")
        .write("b.svg", "")
        .write("a.toml", "");
    let before = folder.files();
    let refused = |args: &[&str], parts: &[&str]| {
        folder.odeum(&[&["bench"], args].concat()).refused(parts);
        assert_eq!(folder.files(), before, "something was left behind");
        assert!(folder.read("h2") == hydrogen().as_bytes() && folder.read("b.json") == b"{}");
    };
    let parts = ["would replace what it is computed from", "choose another place with --json"];
    let chemistry = ["chemistry", "--mechanism", "h2", "--states", "s"];
    for name in ["h2", "s", "./h2"] {
        refused(&[&chemistry[..], &["--json", name]].concat(), &parts);
    }
    refused(&["lorenz", "--add", "b.json", "--plot", "a.svg", "--json", "b.json"], &parts);
    let parts = ["no .toml file is written here, only .json files", "--json", "give a.json"];
    refused(&["lorenz", "--json", "a.toml"], &parts);
    for (option, name) in [("--json", "none/a.json"), ("--plot", "none/a.svg")] {
        refused(&["lorenz", option, name], &[name, &format!("choose another place with {option}")]);
    }
    let exists = |option: &str, name: &str| {
        let help = format!("replace it with --overwrite, or choose another place with {option}");
        refused(&["lorenz", option, name], &["the file exists already", name, &help]);
    };
    exists("--json", "b.json");
    exists("--plot", "b.svg");
    let args = ["bench", "lorenz", "--systems", "8", "--threads", "1"];
    let said = folder.odeum(&[&args[..], &["--json", "b.json", "--overwrite"]].concat()).well();
    assert!(folder.read("b.json") != b"{}", "{}", said.out);
}

/// A picture was cut where the disk was full, and the earlier one was gone.
#[cfg(unix)]
#[test]
fn pictures_are_written_whole() {
    let folder = Folder::new();
    folder.write("a.svg", "earlier");
    let args = "bench lorenz --systems 8 --threads 1 --variants scalar --plot a.svg --overwrite";
    let said = folder.limited("-f 8", args);
    let parts = ["cannot write the output: file too large", "a.svg", "ulimit -f", "with --plot"];
    said.failed(&parts);
    assert_eq!(folder.read("a.svg"), b"earlier");
    assert_eq!(folder.files(), ["a.svg"]);
    folder.odeum(&args.split(' ').collect::<Vec<_>>()).well();
    let picture = String::from_utf8(folder.read("a.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert_eq!(folder.files(), ["a.svg"]);
}

#[test]
fn mechanisms_a_study_cannot_use() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    for study in ["chemistry", "ethanol"] {
        let parts = ["which mechanism?", "--mechanism gri30.yaml"];
        refused(&folder, &[study], &parts);
        refused(&folder, &[study, "--mechanism", "none.yaml"], &["none.yaml", "No such file"]);
        let phase = [study, "--mechanism", "h2.yaml", "--phase", "liquid"];
        refused(&folder, &phase, &["liquid", "h2.yaml"]);
    }
    let parts = ["the mechanism has no c2h5oh", "a mechanism of ethanol"];
    refused(&folder, &["ethanol", "--mechanism", "h2.yaml"], &parts);
    folder.write("a.inp", ARGON);
    let parts = ["neither CH4 nor H2", "`odeum pasr`", "--states"];
    refused(&folder, &["chemistry", "--mechanism", "a.inp"], &parts);
}

#[test]
fn states_a_study_cannot_use() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let run = ["--temperature", "800", "--pressure", "1", "--particles", "4", "-o", "s.npz"];
    let pasr = [&["pasr", "h2.yaml", "--residence-times", "0.02", "-q"][..], &run].concat();
    folder.odeum(&pasr).well();
    let args = |states| ["chemistry", "--mechanism", "h2.yaml", "--states", states];
    let help = "give the NPZ file that `odeum pasr` wrote for this mechanism";
    refused(&folder, &args("none.npz"), &["no such file", "none.npz"]);
    let good = folder.read("s.npz");
    // No archive, nothing at all, one that is cut off.
    for content in [&b"T,p\n1000,1e5\n"[..], b"", &good[..good.len() / 2]] {
        folder.write("bad.npz", content);
        refused(&folder, &args("bad.npz"), &["cannot use the states", "bad.npz", help]);
    }

    // One array spoiled, or left out where there is nothing to put in its place.
    let spoiled = |name: &str, with: Option<(&str, &[usize], Vec<u8>)>, parts: &[&str]| {
        folder.write("bad.npz", spoil(&folder, name, with));
        let all = [&["cannot use the states", "bad.npz", help], parts].concat();
        refused(&folder, &args("bad.npz"), &all);
    };
    spoiled("Y", None, &["it has no array `Y`"]);
    let arrays = npz::read(&folder.path("s.npz"));
    let m = arrays["T"].shape[0];
    let numbers = |values: Vec<f64>| values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut t = arrays["T"].f64();
    t[3] = f64::NAN;
    spoiled("T", Some(("<f8", &[m], numbers(t))), &["state 3: temperature NaN K"]);
    let mut t = arrays["T"].f64();
    t[2] = 9000.0;
    spoiled("T", Some(("<f8", &[m], numbers(t))), &["state 2: temperature 9000 K"]);
    let mut p = arrays["p"].f64();
    p[1] = 0.0;
    spoiled("p", Some(("<f8", &[m], numbers(p))), &["state 1: ", "pressure"]);
    let y = arrays["Y"].f64();
    let mut negative = y.clone();
    negative[11] = -0.5;
    spoiled("Y", Some(("<f8", &[m, 11], numbers(negative))), &["state 1: ", "-0.5"]);
    let double = y.iter().map(|y| 2.0 * y).collect();
    spoiled("Y", Some(("<f8", &[m, 11], numbers(double))), &["state 0: ", "sum"]);
    let few = ["array `p` has 1 states, but `T` has"];
    spoiled("p", Some(("<f8", &[1], numbers(vec![1e5]))), &few);
    let narrow = numbers(y[..10 * m].to_vec());
    spoiled("Y", Some(("<f8", &[m, 10], narrow)), &["`Y` has 10 columns, and should have 11"]);

    // Those of another mechanism: a species more, and another in the place of one.
    let names = |list: &[&str]| {
        let padded = |name: &&str| format!("{name:\0<4}").chars().collect::<Vec<_>>();
        list.iter().flat_map(padded).flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>()
    };
    let mut others = arrays["species_names"].texts();
    let first = others[0].clone();
    others[0] = "CH4".to_owned();
    let list: Vec<&str> = others.iter().map(String::as_str).collect();
    let instead = format!("number 1 is CH4 instead of {first}");
    let of_another = "its species are not those of the mechanism";
    spoiled("species_names", Some(("<U4", &[11], names(&list))), &[of_another, &instead]);
    let more = [&list[..], &["N2O"]].concat();
    let parts = [of_another, "12 of them instead of 11"];
    spoiled("species_names", Some(("<U4", &[12], names(&more))), &parts);
    spoiled("species_names", Some(("<f8", &[11], vec![0; 88])), &["`species_names`", "texts"]);
}

/// The archive `s.npz` with one array replaced (format, shape, data) or left out.
fn spoil(folder: &Folder, name: &str, with: Option<(&str, &[usize], Vec<u8>)>) -> Vec<u8> {
    let mut arrays = npz::read(&folder.path("s.npz"));
    arrays.remove(name).unwrap();
    if let Some((descr, shape, data)) = with {
        let (descr, shape) = (descr.to_owned(), shape.to_vec());
        arrays.insert(name.to_owned(), npz::Array { descr, shape, data });
    }
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, npz::Array { descr, shape, data }) in arrays {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        let axes: String = shape.iter().map(|n| format!("{n}, ")).collect();
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}\n");
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(dict.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(&[dict.as_bytes(), &data].concat()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A mechanism without a fuel; the numbers of its species are no measured ones.
const ARGON: &str = "\
ELEMENTS
AR
END
SPECIES
AR
END
THERMO ALL
   300.000  1000.000  5000.000
AR                MADE  AR  1               G   300.000  5000.000 1000.000     1
 2.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-7.45000000E+02 4.37000000E+00 2.50000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-7.45000000E+02 4.37000000E+00                   4
END
REACTIONS
END
";
