//! States that `odeum pasr` saved, read back.

use super::Database;
use crate::files::read_bytes;
use crate::finding::Finding;
use crate::npy::{self, Array};
use odeum::kinetics::{Kinetics, Reactor};
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use zip::ZipArchive;

impl Database {
    /// The states in a file of `odeum pasr`, of this mechanism.
    pub(crate) fn read(path: &Path, kinetics: &Arc<Kinetics>) -> Result<Database, Finding> {
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
        if let Some(difference) = difference(&names, kinetics.species_names()) {
            let reason = format!("its species are not those of the mechanism: {difference}");
            return Err(broken(reason));
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
        if count == 0 {
            return Err(broken("there are none in it".to_owned()));
        }
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
        let mass_fractions: Vec<f64> = (0..count).flat_map(row).collect();
        let reactor = Reactor::constant_pressure(Arc::clone(kinetics));
        for (s, y) in mass_fractions.chunks(names.len().max(1)).enumerate() {
            if let Err(why) = reactor.state(temperatures[s], pressures[s], y) {
                return Err(broken(format!("state {s}: {why}")));
            }
        }
        Ok(Database { runs, times, temperatures, pressures, mass_fractions, integrations: 0 })
    }
}

/// How two lists of species differ; `None` when they do not.
fn difference(found: &[String], expected: &[String]) -> Option<String> {
    if found.len() != expected.len() {
        return Some(format!("{} of them instead of {}", found.len(), expected.len()));
    }
    let (k, (found, expected)) =
        found.iter().zip(expected).enumerate().find(|(_, (found, expected))| found != expected)?;
    Some(format!("number {} is {found} instead of {expected}", k + 1))
}
