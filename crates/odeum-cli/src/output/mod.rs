//! Result files: NPZ always, CSV, Parquet and a picture where asked. A file appears under its name only
//! when it is complete.

mod columns;
mod npz;
mod picture;

use crate::results::Results;
use odeum_case::OutputSpec;
use odeum_io::file::{Room, write_whole};
use odeum_io::table::{write_csv, write_parquet};
use odeum_io::{Finding, Target};
use odeum_ode::Scalar;
use std::io::Write;
use std::path::PathBuf;

/// Writes every file the case asks for, the NPZ where room was made for it; gives their names, and a word on
/// one that there is not.
pub(crate) fn write<T: Scalar>(
    results: &Results<'_, T>,
    target: &Target,
    room: Option<Room>,
) -> Result<(Vec<PathBuf>, Option<Finding>), Finding> {
    let spec = &results.plan.case.output;
    let mut written = vec![target.npz()];
    npz::write(results, &target.npz(), room)?;
    let saves = !results.plan.options.save_times().is_empty();
    if spec.csv {
        written.push(target.file("csv"));
        let table = columns::systems(results);
        write_whole(&target.file("csv"), |file| write_csv(&table, file))?;
        if saves {
            written.push(target.file("saved.csv"));
            let table = columns::saved(results);
            write_whole(&target.file("saved.csv"), |file| write_csv(&table, file))?;
        }
    }
    if spec.parquet {
        written.push(target.file("parquet"));
        let table = columns::systems(results);
        write_whole(&target.file("parquet"), |file| write_parquet(&table, file))?;
        if saves {
            written.push(target.file("saved.parquet"));
            let table = columns::saved(results);
            let path = target.file("saved.parquet");
            write_whole(&path, |file| write_parquet(&table, file))?;
        }
    }
    let picture = if spec.svg { picture::draw(results) } else { None };
    if let Some(picture) = &picture {
        written.push(target.file("svg"));
        write_whole(&target.file("svg"), |file| file.write_all(picture.as_bytes()))?;
    }
    // Where nothing could be drawn at all, reading the case has said so.
    let lack = spec.svg && picture.is_none() && results.plan.case.undrawn().is_none();
    let lack = lack.then(|| {
        Finding::warning("no system of those in the picture came to its level: nothing is drawn")
            .in_file(target.file("svg").display().to_string())
            .help("change the level or the span in [time]; the statuses say how systems ended")
    });
    Ok((written, lack))
}

/// The existing result that a run would replace, if any.
pub(crate) fn existing(target: &Target, spec: &OutputSpec) -> Option<PathBuf> {
    let mut files = vec![target.npz()];
    if spec.csv {
        files.extend([target.file("csv"), target.file("saved.csv")]);
    }
    if spec.parquet {
        files.extend([target.file("parquet"), target.file("saved.parquet")]);
    }
    if spec.svg {
        files.push(target.file("svg"));
    }
    files.into_iter().find(|file| file.exists())
}

/// Writes what a stopped run has finished.
pub(crate) fn write_partial<T: Scalar>(
    results: &Results<'_, T>,
    target: &Target,
) -> Result<PathBuf, Finding> {
    npz::write(results, &target.partial(), None)?;
    Ok(target.partial())
}
