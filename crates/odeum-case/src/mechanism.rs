//! Mechanism files: read, made ready, problems as findings.

use odeum_io::Finding;
use odeum_kinetics::read::{self, InitialState, Named, Problem, ReadErrors, Selection};
use odeum_kinetics::{Kinetics, Mechanism};
use std::path::Path;

/// A mechanism that was read.
pub struct Read {
    /// Species and reactions.
    pub mechanism: Mechanism,
    /// The state that its phase gives itself.
    pub state: InitialState,
    /// The mechanism, ready to compute rates.
    pub kinetics: Kinetics,
    /// What is doubtful in it.
    pub warnings: Vec<Finding>,
}

/// Reads a mechanism file, Cantera YAML or Chemkin.
pub fn read(path: &Path, selection: &Selection<'_>) -> Result<Read, Vec<Finding>> {
    ready(&path.display().to_string(), read::from_selection(path, selection))
}

/// Reads the text of a mechanism, Cantera YAML or Chemkin, with a text of thermodynamic data for the latter.
pub fn read_text(
    mechanism: Named<'_>,
    thermo: Option<Named<'_>>,
    phase: Option<&str>,
) -> Result<Read, Vec<Finding>> {
    ready(mechanism.file, read::from_text(mechanism, thermo, phase))
}

fn ready(name: &str, read: Result<read::Read, ReadErrors>) -> Result<Read, Vec<Finding>> {
    let read = read.map_err(|errors| {
        let mut findings: Vec<Finding> = errors.problems.into_iter().map(finding).collect();
        if errors.more > 0 {
            let message = format!("there are {} more problems in the mechanism", errors.more);
            findings.push(Finding::error(message).in_file(name));
        }
        findings
    })?;
    let kinetics = Kinetics::new(&read.mechanism)
        .map_err(|error| vec![Finding::error(error.to_string()).in_file(name)])?;
    let warnings = read.warnings.into_iter().map(|p| finding(p).into_warning()).collect();
    Ok(Read { mechanism: read.mechanism, state: read.state, kinetics, warnings })
}

/// A problem of a mechanism as a finding.
fn finding(problem: Problem) -> Finding {
    let Problem { file, line, subject, found, remedy } = problem;
    let message = if subject.is_empty() { found } else { format!("{subject}: {found}") };
    let place = if line > 0 { format!("{file}:{line}") } else { file };
    let finding = Finding::error(message).in_file(place);
    if remedy.is_empty() { finding } else { finding.help(remedy) }
}
