//! Checkpoints of fields: all that a stopped run needs to go on with the same bits.
//!
//! A field has one present state, so the file has one section and is replaced whole. Numbers with a
//! fraction are kept as their bits.

use super::container::{
    FRAME, Head, cannot_open, damaged, differences, of_another_run, read_head, read_single,
    write_single,
};
use crate::finding::Finding;
use odeum_fields::{Checkpoint, Problem};
use odeum_ode::Scalar;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// What a checkpoint says beside the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// What the results depend on, as (name, value).
    pub identity: Vec<(String, String)>,
    /// Bits of the end of the run.
    pub until: u64,
    /// Bits of the size of steps; zero where it is adaptive.
    pub step: u64,
    /// Bits of the masses at the start.
    pub masses: Vec<u64>,
    /// Bits of the times of the states written.
    pub frames: Vec<u64>,
    /// The kind of device that computed last.
    #[serde(default)]
    pub device: String,
    /// Bytes of the tables written: series, lines, structure factors.
    pub tables: [u64; 3],
    /// How the names of the files and folders end that the run writes beside its result.
    pub files: Vec<String>,
}

impl Header {
    /// Refuses what another run left behind, and says in what it differs.
    ///
    /// # Errors
    /// The header is of a run that depends on something else.
    pub fn belongs_to(&self, identity: &[(String, String)], path: &Path) -> Result<(), Finding> {
        match &differences(self, identity)[..] {
            [] => Ok(()),
            all => Err(of_another_run(path, all, None)),
        }
    }
}

impl Head for Header {
    const KIND: &'static str = "field";
    const OF: &'static str = "a field";

    fn identity(&self) -> &[(String, String)] {
        &self.identity
    }
}

/// Writes a checkpoint, whole or not at all.
pub fn write<T: Scalar>(
    path: &Path,
    header: &Header,
    simulation: &Checkpoint<T>,
) -> Result<(), Finding> {
    write_single(path, header, |to| simulation.write(to))
}

/// Reads a checkpoint of the run of a problem that `identity` says.
///
/// No more memory is taken than the file has bytes, and the field of the problem needs, whatever
/// stands in the file.
pub fn read<T: Scalar>(
    path: &Path,
    problem: &Problem,
    identity: &[(String, String)],
) -> Result<(Header, Checkpoint<T>), Finding> {
    let opened = File::open(path).and_then(|file| {
        let size = file.metadata()?.len();
        Ok((BufReader::new(file), size))
    });
    let (mut file, size) = opened.map_err(|error| cannot_open(path, &error))?;
    let (header, before): (Header, u64) = read_head(path, &mut file, size)?;
    header.belongs_to(identity, path)?;
    let rest = size.saturating_sub(before + FRAME);
    let (grid, species) = (&problem.grid, problem.model.species().len());
    let wanted = Checkpoint::<T>::bytes(grid, species);
    if wanted != Some(rest) {
        let wanted = wanted.map_or_else(|| "more".to_owned(), |wanted| wanted.to_string());
        return Err(damaged(path, &format!("its field has {rest} bytes, not {wanted}")));
    }
    let simulation = read_single(path, file, |from| Checkpoint::read(grid, species, from))?;
    Ok((header, simulation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_fields::{Clock, Field, problems::Builtin};

    /// A checkpoint of a small run, with the bytes before the values of the field.
    fn small() -> (Problem, Vec<(String, String)>, Vec<u8>, usize) {
        let problem = Builtin::Turing.problem([3, 2, 2]).unwrap();
        let field: Field<f64> = Builtin::Turing.initial(&problem.grid, 1).unwrap();
        let identity = vec![("time".to_owned(), "0 to 1".to_owned())];
        let header = Header {
            identity: identity.clone(),
            until: 1.0_f64.to_bits(),
            step: 0.25_f64.to_bits(),
            masses: vec![1.0_f64.to_bits(); 2],
            frames: vec![0, 0.5_f64.to_bits()],
            device: "cpu, 8 lanes".to_owned(),
            tables: [812, 0, 431],
            files: vec!["frames".to_owned(), "pvd".to_owned()],
        };
        let folder = std::env::temp_dir();
        let path = folder.join(format!("odeum-unit-{}.checkpoint", std::process::id()));
        write(&path, &header, &Checkpoint { field, clock: Clock::at(0.5) }).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let read = read::<f64>(&path, &problem, &identity).unwrap();
        assert_eq!(read.0, header);
        std::fs::remove_file(path).unwrap();
        let values = bytes.len() - 32 - 3 * 2 * 2 * 2 * 8;
        (problem, identity, bytes, values)
    }

    #[test]
    fn damage_before_the_values_is_refused_clearly() {
        let (problem, identity, whole, values) = small();
        let folder = std::env::temp_dir();
        let path = folder.join(format!("odeum-flip-{}.checkpoint", std::process::id()));
        let refused = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let finding = read::<f64>(&path, &problem, &identity).unwrap_err();
            assert!(finding.help.as_ref().is_some_and(|help| help.contains("--overwrite")));
            finding.message.clone()
        };
        let clear = ["the checkpoint is damaged: ", "the checkpoint is of another run"];
        for at in 0..values {
            for mask in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= mask;
                let message = refused(&bytes);
                let known = match at {
                    0..7 => message == "this is no checkpoint of a field",
                    7 => message == "the checkpoint is of another version of odeum",
                    _ => clear.iter().any(|part| message.starts_with(part)),
                };
                assert!(known, "byte {at} ^ {mask}: {message}");
            }
        }
        assert!(refused(&whole[..whole.len() - 1]).contains("its field has"));
        assert!(refused(&[&whole[..], b"\n"].concat()).contains("its field has"));
        std::fs::remove_file(path).unwrap();
    }
}
