//! Results of ensembles: NPZ always, and every format that is asked for.
//!
//! What writers see is an [`EnsembleResult`], so that they know nothing of case files. A new format is
//! a [`Writer`] in a file of its own and an entry of [`writers`]; its key is then one of
//! `output.formats`.

mod columns;
mod csv;
mod npz;
mod parquet;
mod svg;

use crate::file::{Room, Staged, came_meanwhile, is_there};
use crate::finding::Finding;
use crate::former;
use crate::target::Target;
use odeum_ode::{Scalar, Solution, Stats, Status};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The result of an ensemble, or of what a stopped run has finished of it.
pub struct EnsembleResult<'a, T> {
    /// What is said of all systems.
    pub about: About<'a>,
    /// The systems that ended.
    pub rows: &'a dyn Rows<T>,
}

/// What a result says of all its systems.
pub struct About<'a> {
    /// The title of the case.
    pub title: Option<&'a str>,
    /// The system in words.
    pub system: &'a str,
    /// The name of the method.
    pub method: &'a str,
    /// `f64` or `f32`.
    pub precision: &'a str,
    /// The text of the case file.
    pub case: &'a str,
    /// Names of the components of the state.
    pub state_names: &'a [String],
    /// Names of the parameters.
    pub param_names: &'a [String],
    /// What differs between systems: states, then parameters, or what these follow from.
    pub variable_names: Vec<String>,
    /// True where the variables are states and parameters.
    pub is_direct: bool,
    /// Times at which states were kept on the way.
    pub save_times: &'a [f64],
    /// Names and lengths of the axes of the ensemble.
    pub shape: &'a [(String, usize)],
    /// Names and values of the axes that are swept, the last fastest but for copies.
    pub sweep: Vec<(&'a str, Vec<f64>)>,
    /// Copies of every system.
    pub copies: usize,
    /// The axis of the sweep that is the temperature of a gas \[K\].
    pub temperature: Option<usize>,
    /// What it has beside one row for each system.
    pub extras: Extras,
    /// Threads that may write.
    pub threads: usize,
}

/// What a result has beside one row for each system, as is known before the run.
#[derive(Clone, Copy, Debug)]
pub struct Extras {
    /// States that were kept on the way.
    pub saved: bool,
    /// Something to draw.
    pub picture: bool,
}

/// Systems that ended, by the order of their numbers.
pub trait Rows<T>: Sync {
    /// How many there are.
    fn count(&self) -> usize;
    /// One of them.
    fn row(&self, r: usize) -> Row<'_, T>;
    /// A variable of a system.
    fn value(&self, variable: usize, system: usize) -> f64;
    /// Start and end of the time of a system.
    fn span(&self, system: usize) -> (f64, f64);
    /// Gives what systems started from to `put`: the place among these rows, the number of the value,
    /// states before parameters, and the value.
    fn starts(&self, rows: Range<usize>, put: &mut dyn FnMut(usize, usize, f64));
}

/// What became of one system.
#[derive(Clone, Copy)]
pub struct Row<'a, T> {
    /// Its number.
    pub system: usize,
    /// The solution that it is a part of.
    pub solution: &'a Solution<T>,
    /// Its place there.
    pub at: usize,
}

impl<T: Scalar> Row<'_, T> {
    /// The time it came to.
    pub fn t(&self) -> f64 {
        self.solution.t[self.at]
    }

    /// A component of its last state.
    pub fn y(&self, i: usize) -> T {
        self.solution.states[i * self.solution.len() + self.at]
    }

    /// How it ended.
    pub fn status(&self) -> Status {
        self.solution.status[self.at]
    }

    /// What it took.
    pub fn stats(&self) -> Stats {
        self.solution.stats[self.at]
    }

    /// How many of its states were kept on the way.
    pub fn n_saved(&self) -> u32 {
        self.solution.n_saved.get(self.at).copied().unwrap_or(0)
    }

    /// A component of its state at a save time.
    pub fn saved(&self, k: usize, i: usize) -> T {
        self.solution.saved[(k * self.solution.dim + i) * self.solution.len() + self.at]
    }
}

/// A format of results beside NPZ.
pub trait Writer<T>: Sync {
    /// Its name in `output.formats`.
    fn key(&self) -> &'static str;

    /// How the names of the files end that it writes of a result with these extras.
    fn ends(&self, extras: Extras) -> Vec<&'static str>;

    /// Bytes on the disk, about, where the NPZ has so many.
    fn bytes(&self, npz: u128) -> u128;

    /// Memory that it takes beside results of so many bytes.
    fn memory(&self, _results: u128) -> u128 {
        0
    }

    /// Writes its files beside their places; gives those that there are now, and a word on one that there is not.
    ///
    /// # Errors
    /// A file cannot be written.
    fn write(&self, result: &EnsembleResult<'_, T>, target: &Target) -> Result<Written, Finding>;
}

/// Files that were written, and a word on one that was not.
pub type Written = (Vec<Staged>, Option<Finding>);

/// All formats beside NPZ.
pub fn writers<T: Scalar>() -> [&'static dyn Writer<T>; 3] {
    [&csv::Csv, &parquet::Parquet, &svg::Svg]
}

/// The key of the format that is always written.
pub const NPZ: &str = "npz";

/// What may stand in `output.formats`.
pub fn keys() -> impl Iterator<Item = &'static str> {
    std::iter::once(NPZ).chain(writers::<f64>().map(|writer| writer.key()))
}

/// The writers of the formats that are asked for.
pub fn chosen<T: Scalar>(formats: &[&str]) -> impl Iterator<Item = &'static dyn Writer<T>> {
    writers::<T>().into_iter().filter(|writer| formats.contains(&writer.key()))
}

/// Writes every file that is asked for, the NPZ where room was made for it, in place of those of an `earlier` run, all of which go; gives
/// their names, and what there is to say of those that there are not. The NPZ lists the others. Nothing is replaced before all are on the disk. The NPZ comes last:
/// where it is, the result is complete. Other files that are there are replaced only where that is said.
///
/// # Errors
/// A file cannot be written, or would replace another.
pub fn write<T: Scalar>(
    result: &EnsembleResult<'_, T>,
    target: &Target,
    formats: &[&str],
    (earlier, replace): (&[PathBuf], bool),
    room: Option<Room>,
) -> Result<(Vec<PathBuf>, Vec<Finding>), Finding> {
    let (mut staged, mut lacks) = (Vec::new(), Vec::new());
    for writer in chosen::<T>(formats) {
        let (written, lack) = writer.write(result, target)?;
        staged.extend(written);
        lacks.extend(lack);
    }
    let beside: Vec<String> =
        staged.iter().filter_map(|file| target.extension(file.path())).collect();
    let npz = npz::stage(result, &beside, &target.npz(), room)?;
    let is_foreign = |path: &&Path| is_there(path) && !earlier.iter().any(|own| own == path);
    if !replace && let Some(path) = staged.iter().chain([&npz]).map(Staged::path).find(is_foreign) {
        return Err(came_meanwhile(path));
    }
    let put = if replace { Staged::put } else { Staged::put_new };
    if !staged.is_empty() || earlier.iter().any(|path| path.exists()) {
        // The earlier result vouches for none of the new files.
        let _ = std::fs::remove_file(target.npz());
    }
    former::remove(earlier);
    let mut files = vec![target.npz()];
    for file in staged {
        files.push(file.path().to_owned());
        put(file)?;
    }
    put(npz)?;
    Ok((files, lacks))
}

/// Files that [`write()`] writes beside the NPZ, of a result with these extras.
pub fn files(target: &Target, formats: &[&str], extras: Extras) -> Vec<PathBuf> {
    let ends = chosen::<f64>(formats).flat_map(|writer| writer.ends(extras));
    ends.map(|end| target.file(end)).collect()
}

/// Writes what a stopped run has finished. A complete result of that name is of another run, and stays.
///
/// # Errors
/// The file cannot be written, or is a complete result.
pub fn write_partial<T: Scalar>(
    result: &EnsembleResult<'_, T>,
    target: &Target,
) -> Result<PathBuf, Finding> {
    let path = target.partial();
    if path.exists() && !former::is_unfinished(&path) {
        return Err(Finding::warning(
            "the finished systems are not written: their file is the result of another run",
        )
        .in_file(path.display().to_string())
        .help("nothing to do where the run goes on: the checkpoint holds them"));
    }
    npz::stage(result, &[], &path, None)?.put()?;
    Ok(path)
}

/// Removes what a stopped run had finished. A complete result of that name is of another run, and stays.
pub fn remove_partial(target: &Target) {
    let path = target.partial();
    if former::is_unfinished(&path) {
        let _ = std::fs::remove_file(path);
    }
}
