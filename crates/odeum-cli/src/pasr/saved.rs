//! States that `odeum pasr` saved, read back.

use super::Database;
use crate::finding::Finding;
use crate::npy::{self, Array};
use crate::source::read_bytes;
use odeum::kinetics::Kinetics;
use std::io::{Cursor, Read};
use std::path::Path;
use zip::ZipArchive;

impl Database {
    /// The states in a file of `odeum pasr`, of this mechanism.
    pub(crate) fn read(path: &Path, kinetics: &Kinetics) -> Result<Database, Finding> {
        let bytes = read_bytes(path, "states", u64::MAX)?;
        let broken = |reason: String| {
            Finding::error(format!("cannot use the states: {reason}"))
                .in_file(path.display().to_string())
                .help("give the NPZ file that `odeum pasr` wrote for this mechanism")
        };
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| broken(e.to_string()))?;
        let mut bytes = |name: &str| -> Result<Vec<u8>, Finding> {
            let mut data = Vec::new();
            let mut entry = archive
                .by_name(&format!("{name}.npy"))
                .map_err(|_| broken(format!("it has no array `{name}`")))?;
            entry.read_to_end(&mut data).map_err(|e| broken(format!("array `{name}`: {e}")))?;
            Ok(data)
        };
        let names = npy::read_texts(&bytes("species_names")?)
            .map_err(|reason| broken(format!("array `species_names`: {reason}")))?;
        if names != kinetics.species_names() {
            return Err(broken("its species are not those of the mechanism".to_owned()));
        }
        let mut array = |name: &str, columns: usize| -> Result<Array, Finding> {
            let array = npy::read(&bytes(name)?)
                .map_err(|reason| broken(format!("array `{name}`: {reason}")))?;
            match array.columns.len() {
                found if found == columns => Ok(array),
                found => Err(broken(format!(
                    "array `{name}` has {found} columns, and should have {columns}"
                ))),
            }
        };
        let mut column = |name: &str| -> Result<Vec<f64>, Finding> {
            Ok(array(name, 1)?.columns.swap_remove(0))
        };
        let (times, temperatures, pressures) = (column("t")?, column("T")?, column("p")?);
        let runs: Vec<usize> = column("run")?.into_iter().map(|run| run as usize).collect();
        let fractions = array("Y", names.len())?;
        let count = temperatures.len();
        for (name, rows) in
            [("t", times.len()), ("p", pressures.len()), ("run", runs.len()), ("Y", fractions.rows)]
        {
            if rows != count {
                return Err(broken(format!(
                    "array `{name}` has {rows} states, but `T` has {count}"
                )));
            }
        }
        let row = |s: usize| fractions.columns.iter().map(move |column| column[s]);
        let mass_fractions = (0..count).flat_map(row).collect();
        Ok(Database { runs, times, temperatures, pressures, mass_fractions, integrations: 0 })
    }
}
