//! Numbers that are written down while a run goes on, as CSV.

use super::observer::time_told;
use crate::report::Exact;
use odeum_case::Series;
use odeum_fields::{Grid, Precision, Simulation};
use odeum_io::table;
use odeum_ode::Error;
use std::fmt::Write as _;

/// The heading of the table of reductions and probes.
pub(super) fn heading(series: &Series, names: &[String]) -> String {
    let reduced = names
        .iter()
        .flat_map(|name| ["mass", "min", "max", "mean"].map(|what| format!("{name}_{what}")));
    let probes = series.probes.iter();
    let probed =
        probes.flat_map(|[i, j, k]| names.iter().map(move |name| format!("{name}[{i} {j} {k}]")));
    let columns: Vec<String> = reduced.chain(probed).collect();
    table::heading(["step", "t"].into_iter().chain(columns.iter().map(String::as_str)))
}

/// The heading of the table of lines.
pub(super) fn lines_heading(names: &[String]) -> String {
    let names = names.iter().map(String::as_str);
    table::heading(["step", "t", "line", "position"].into_iter().chain(names))
}

/// A row of reductions and probes.
pub(super) fn row<T: Precision>(
    series: &Series,
    simulation: &Simulation<T>,
) -> Result<String, Error> {
    let mut line = format!("{},{}", simulation.counts().steps, Exact(time_told(simulation)));
    for s in simulation.summaries()? {
        // The extremes are values of the field, and have its precision.
        let [min, max] = [s.min, s.max].map(|x| Exact(T::from_f64(x)));
        let _ = write!(line, ",{},{min},{max},{}", Exact(s.mass), Exact(s.mean));
    }
    for value in simulation.pick(&series.probes)? {
        let _ = write!(line, ",{}", Exact(value));
    }
    Ok(line + "\n")
}

/// The rows of all lines, one for each cell.
pub(super) fn lines<T: Precision>(
    series: &Series,
    grid: &Grid,
    simulation: &Simulation<T>,
) -> Result<String, Error> {
    let mut text = String::new();
    for line in &series.lines {
        let name = line.name();
        let cell = |i: usize| {
            let mut cell = line.cell;
            cell[line.along] = i;
            cell
        };
        let cells: Vec<_> = (0..grid.shape()[line.along]).map(cell).collect();
        let values = simulation.pick(&cells)?;
        for (i, values) in values.chunks(values.len() / cells.len()).enumerate() {
            let (t, at) = (Exact(time_told(simulation)), Exact(grid.centre(line.along, i)));
            let _ = write!(text, "{},{t},{name},{at}", simulation.counts().steps);
            for value in values {
                let _ = write!(text, ",{}", Exact(*value));
            }
            text.push('\n');
        }
    }
    Ok(text)
}
