//! The mechanism that comes with the project.

use std::path::Path;

use odeum_kinetics::read;

#[test]
fn hydrogen() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mechanisms/hydrogen-burke-2012.yaml");
    let read = read::from_path(&path, None, Some("hydrogen")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read.mechanism.n_species(), 11);
    assert_eq!(read.mechanism.n_reactions(), 27);
    assert!(read.mechanism.species_index("HO2").is_some());
}
