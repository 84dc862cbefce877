//! Result files: NPZ always, CSV, Parquet and a picture where asked. A file appears under its name only
//! when it is complete.

mod archive;
mod atomic;
mod columns;
mod csv;
mod desk;
mod lock;
mod npz;
mod parquet;
mod picture;
mod reserve;
mod target;
mod zip;

pub(crate) use archive::{Archive, write_archive};
pub(crate) use atomic::{cannot_write, write_whole};
pub(crate) use lock::Lock;
pub(crate) use reserve::Room;
pub(crate) use target::{Target, refuse_other};

use crate::finding::Finding;
use crate::results::Results;
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
    let mut written = vec![target.npz()];
    npz::write(results, &target.npz(), room)?;
    let saves = !results.plan.options.save_times().is_empty();
    if target.csv {
        written.push(target.file("csv"));
        let table = columns::systems(results);
        atomic::write_whole(&target.file("csv"), |file| csv::write(&table, file))?;
        if saves {
            written.push(target.file("saved.csv"));
            let table = columns::saved(results);
            atomic::write_whole(&target.file("saved.csv"), |file| csv::write(&table, file))?;
        }
    }
    if target.parquet {
        written.push(target.file("parquet"));
        let table = columns::systems(results);
        atomic::write_whole(&target.file("parquet"), |file| parquet::write(&table, file))?;
        if saves {
            written.push(target.file("saved.parquet"));
            let table = columns::saved(results);
            let path = target.file("saved.parquet");
            atomic::write_whole(&path, |file| parquet::write(&table, file))?;
        }
    }
    let picture = if target.svg { picture::draw(results) } else { None };
    if let Some(picture) = &picture {
        written.push(target.file("svg"));
        atomic::write_whole(&target.file("svg"), |file| file.write_all(picture.as_bytes()))?;
    }
    // Where nothing could be drawn at all, reading the case has said so.
    let lack = target.svg && picture.is_none() && results.plan.case.undrawn().is_none();
    let lack = lack.then(|| {
        Finding::warning("no system of those in the picture came to its level: nothing is drawn")
            .in_file(target.file("svg").display().to_string())
            .help("change the level or the span in [time]; the statuses say how systems ended")
    });
    Ok((written, lack))
}

/// Writes what a stopped run has finished.
pub(crate) fn write_partial<T: Scalar>(
    results: &Results<'_, T>,
    target: &Target,
) -> Result<PathBuf, Finding> {
    npz::write(results, &target.partial(), None)?;
    Ok(target.partial())
}
