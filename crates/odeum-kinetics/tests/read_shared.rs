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
