//! States that `odeum pasr` saved, read back.

use super::Database;
use odeum_io::Finding;
use odeum_io::npz::Npz;
use odeum_kinetics::{Kinetics, Reactor};
use std::path::Path;
use std::sync::Arc;

impl Database {
    /// The states in a file of `odeum pasr`, of this mechanism.
    pub(crate) fn read(path: &Path, kinetics: &Arc<Kinetics>) -> Result<Database, Finding> {
        let broken = |reason: String| {
            Finding::error(format!("cannot use the states: {reason}"))
                .in_file(path.display().to_string())
                .help("give the NPZ file that `odeum pasr` wrote for this mechanism")
        };
        let mut npz = Npz::open(path, "states")?.map_err(broken)?;
        let names = npz.texts("species_names").map_err(broken)?;
        if let Some(difference) = difference(&names, kinetics.species_names()) {
            let reason = format!("its species are not those of the mechanism: {difference}");
            return Err(broken(reason));
        }
        let mut column = |name: &str| npz.column(name).map_err(broken);
        let (times, temperatures, pressures) = (column("t")?, column("T")?, column("p")?);
        let runs: Vec<usize> = column("run")?.into_iter().map(|run| run as usize).collect();
        let fractions = npz.array("Y").map_err(broken)?;
        if fractions.columns.len() != names.len() {
            let (found, species) = (fractions.columns.len(), names.len());
            return Err(broken(format!(
                "array `Y` has {found} columns, and should have {species}"
            )));
        }
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
