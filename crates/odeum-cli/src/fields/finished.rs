//! Results that a run goes on from when its end is put off.
//!
//! Beside the field, a result holds what a checkpoint has: the clock of the simulation, the states and rows
//! that an uninterrupted run would have written by then, and what the run depends on.

use odeum_case::FieldCase;
use odeum_case::field_npz::RESUME;
use odeum_fields::{Checkpoint, Clock, Counts, Field, Options, Precision};
use odeum_io::Finding;
use odeum_io::cells::{aside, values};
use odeum_io::checkpoint::field::Header;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use zip::ZipArchive;
use zip::read::ZipFile;

#[derive(Serialize, Deserialize)]
struct Last {
    header: Header,
    clock: [u64; Clock::NUMBERS],
}

/// What a result says of the run beside its field. Equal results are equal files, so what depends on
/// where a run was stopped on its way, as sweeps taken twice, and on its end, is left out.
pub(super) fn bytes(header: Header, clock: Clock, options: &Options) -> Vec<u8> {
    let counts = Counts { sweeps: 0, ..clock.counts };
    let clock = Clock { counts, ..options.to_another_end(clock) }.numbers();
    // Numbers and texts make JSON.
    serde_json::to_vec(&Last { header, clock }).unwrap_or_default()
}

/// Reads the result of the run that `identity` says, to go on from its end.
pub(super) fn read<T: Precision>(
    path: &Path,
    case: &FieldCase,
    identity: &[(String, String)],
) -> Result<(Header, Checkpoint<T>), Finding> {
    let name = path.display().to_string();
    let unfit = |reason: String| {
        Finding::error(format!("the result exists already, and no run can go on from it: {reason}"))
            .in_file(name.clone())
            .help("replace it with --overwrite, or choose another place with --output")
    };
    let mut archive = File::open(path)
        .map_err(|error| error.to_string())
        .and_then(|file| ZipArchive::new(BufReader::new(file)).map_err(|error| error.to_string()))
        .map_err(unfit)?;
    let (grid, names) = (&case.problem.grid, case.problem.model.species());
    let Last { header, clock } = last(&mut archive, &aside(RESUME, names)).map_err(unfit)?;
    header.belongs_to(identity, path)?;
    let clock = Clock::from_numbers(clock);
    if case.time.until <= clock.t {
        let finding = Finding::error("the result exists already")
            .in_file(name)
            .found(format!("it ends at t = {}", clock.t));
        let help = "to go on from it, give a later time.until; replace it with --overwrite, or choose \
                    another place with --output";
        return Err(finding.help(help));
    }
    let mut field = Field::<T>::zeros(grid, names.len()).map_err(Finding::from)?;
    let [nx, ny, nz] = grid.shape();
    for (s, name) in names.iter().enumerate() {
        let numbers = member(&mut archive, name).and_then(|file| values::<T>(file, grid));
        let numbers = numbers.map_err(|reason| unfit(format!("array `{name}`: {reason}")))?;
        for r in 0..ny * nz {
            let row = field.row_mut(s, r % ny, r / ny);
            row.copy_from_slice(&numbers[r * nx..][..nx]);
        }
    }
    Ok((header, Checkpoint { field, clock }))
}

fn last(archive: &mut ZipArchive<BufReader<File>>, array: &str) -> Result<Last, String> {
    let mut file = member(archive, array)?;
    odeum_io::npy::Head::read(&mut file)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

fn member<'a>(
    archive: &'a mut ZipArchive<BufReader<File>>,
    name: &str,
) -> Result<ZipFile<'a, BufReader<File>>, String> {
    archive.by_name(&format!("{name}.npy")).map_err(|_| format!("it has no array `{name}`"))
}
