//! Published mechanisms, where they are at hand: they are not part of the project.

use crate::common::published;
use odeum_kinetics::read;
use std::process::{Command, Output};

/// Asks for data that nobody has; the next test runs it.
#[test]
#[ignore = "half of a test"]
fn of_no_data() {
    assert!(published("nothing/nothing.yaml").is_none());
}

/// Data that are missing are told where they are wished for, and a failure where they are needed.
#[test]
fn missing_data_are_told() {
    let run = |needed: bool| -> Output {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "--ignored", "read_shared::of_no_data"])
            .env_remove("ODEUM_NEED_DATA");
        if needed {
            command.env("ODEUM_NEED_DATA", "1");
        }
        command.output().unwrap()
    };
    let wished = run(false);
    let told = String::from_utf8_lossy(&wished.stderr);
    assert!(wished.status.success());
    assert!(
        told.contains("SKIPPED: read_shared::of_no_data: ") && told.contains("nothing.yaml"),
        "{told}"
    );
    assert!(!run(true).status.success());
}

#[test]
fn yaml_of_published_mechanisms() {
    for (file, species, reactions) in [
        ("burke-h2-2012/burke-h2-2012.yaml", 13, 27),
        ("grimech30/grimech30.yaml", 53, 325),
        ("marinov-ethanol-1999/marinov-ethanol-1999.yaml", 57, 383),
    ] {
        let Some(path) = published(file) else { return };
        let text = std::fs::read_to_string(path).unwrap();
        let read = read::yaml(file, &text, None).unwrap();
        assert_eq!(read.mechanism.n_species(), species, "{file}");
        assert_eq!(read.mechanism.n_reactions(), reactions, "{file}");
        for warning in &read.warnings {
            println!("{warning}");
        }
    }
}

/// The two readers on the two forms of one mechanism: equal but for names, equations and lines.
#[test]
fn chemkin_equals_yaml() {
    for (yaml, chemkin, thermo) in [
        ("burke-h2-2012/burke-h2-2012.yaml", "burke-h2-2012/chem.inp", None),
        ("grimech30/grimech30.yaml", "grimech30/grimech30.dat", Some("grimech30/thermo30.dat")),
        (
            "marinov-ethanol-1999/marinov-ethanol-1999.yaml",
            "marinov-ethanol-1999/ethanol.mech",
            Some("marinov-ethanol-1999/ethanol_thermo.dat"),
        ),
    ] {
        let Some(path) = published(yaml) else { return };
        let mut first = read::from_path(&path, None, None).unwrap().mechanism;
        let thermo = thermo.map(|file| published(file).unwrap());
        let read = read::from_path(&published(chemkin).unwrap(), thermo.as_deref(), None);
        let mut second = read.unwrap_or_else(|errors| panic!("{chemkin}: {errors}")).mechanism;
        for mechanism in [&mut first, &mut second] {
            mechanism.name.clear();
            for species in &mut mechanism.species {
                species.line = 0;
                species.composition.sort_by_key(|entry| entry.0);
            }
            for reaction in &mut mechanism.reactions {
                reaction.line = 0;
                reaction.equation.clear();
            }
        }
        assert_eq!(first.elements, second.elements, "{yaml}");
        for (a, b) in first.species.iter_mut().zip(&mut second.species) {
            assert!((a.weight - b.weight).abs() < 1e-12 * a.weight);
            a.weight = b.weight;
            assert_eq!(a, b, "{yaml}");
        }
        for (a, b) in first.reactions.iter().zip(&second.reactions) {
            assert_eq!(a, b, "{yaml}");
        }
        assert_eq!(first.n_reactions(), second.n_reactions());
    }
}
