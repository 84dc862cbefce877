//! Published mechanisms, where they are at hand: they are not part of the project.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use odeum_kinetics::read;

/// `../shared/mechanisms` beside the workspace, or nothing.
fn shared(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mechanisms").join(file);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    None
}

#[test]
fn yaml_of_published_mechanisms() {
    for (file, species, reactions) in [
        ("burke-h2-2012/burke-h2-2012.yaml", 13, 27),
        ("grimech30/grimech30.yaml", 53, 325),
        ("marinov-ethanol-1999/marinov-ethanol-1999.yaml", 57, 383),
    ] {
        let Some(path) = shared(file) else { return };
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
        let Some(path) = shared(yaml) else { return };
        let mut first = read::from_path(&path, None, None).unwrap().mechanism;
        let thermo = thermo.map(|file| shared(file).unwrap());
        let read = read::from_path(&shared(chemkin).unwrap(), thermo.as_deref(), None);
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
