//! A Zarr store (version 3), as xarray, zarr-python and viewers of OME-Zarr such as napari open it.
//!
//! The Zarr core specification v3.0: a folder; `zarr.json` describes the group and, inlined, its
//! arrays; chunks are files `c/0/1/…`, here gzipped. Each species is an array \[t, z, y, x\]; `t`,
//! `x`, `y` and `z` are coordinates, and `mask` \[z, y, x\] says which cells belong to the domain,
//! where not all do. A state is there when its chunks are: the shape grows last.

use super::ome;
use crate::cells::{MASK, aside, put};
use crate::file::{Whole, make_folder, write_whole};
use crate::finding::Finding;
use crate::parallel;
use flate2::Compression;
use flate2::write::GzEncoder;
use odeum_fields::{AXES, Field, Grid, Mask, Precision};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Cells of a chunk, about. Each is a file of its own that is made sure to be on the disk: many small ones take long.
const CHUNK: usize = 64 * 64 * 64;
/// Times in a chunk.
const TIMES: usize = 1024;

/// Whether a folder is a store that was written here, not by another program.
pub fn is_ours(folder: &Path) -> bool {
    let described = std::fs::read_to_string(folder.join("zarr.json"));
    described.is_ok_and(|text| text.contains("\"odeum\""))
}

/// A store that grows with time.
pub struct Zarr {
    folder: PathBuf,
    grid: Grid,
    /// Cells along the edges of a chunk.
    chunk: [usize; 3],
    names: Vec<String>,
    times: Vec<f64>,
    mask: Option<Mask>,
    threads: usize,
}

impl Zarr {
    /// A store that holds the states of these times already; so many threads pack others.
    pub fn new(
        folder: PathBuf,
        (grid, mask): (Grid, Option<Mask>),
        names: Vec<String>,
        times: Vec<f64>,
        threads: usize,
    ) -> Zarr {
        // A store that is there keeps its chunks.
        let found = if times.is_empty() { None } else { chunk_of(&folder, &names, grid.shape()) };
        let chunk = found.unwrap_or_else(|| chunk_for(grid.shape()));
        Zarr { folder, grid, chunk, names, times, mask, threads }
    }

    /// Where the store is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends a state.
    pub fn append<T: Precision>(&mut self, t: f64, field: &Field<T>) -> Result<(), Finding> {
        if self.times.is_empty() {
            self.cells()?;
        }
        let index = self.times.len();
        for s in 0..self.names.len() {
            self.species(s, index, field)?;
        }
        self.times.push(t);
        self.chunk_of_times(index / TIMES)?;
        self.describe::<T>()
    }

    /// Writes again all that is no state, of a store that holds some.
    pub fn restore<T: Precision>(&self) -> Result<(), Finding> {
        self.cells()?;
        (0..self.times.len().div_ceil(TIMES)).try_for_each(|n| self.chunk_of_times(n))?;
        self.describe::<T>()
    }

    /// All files of a state: the chunks of every species.
    pub fn files_of<T: Precision>(&self, index: usize) -> Vec<Whole> {
        let ([cx, cy, cz], [kx, ky, kz]) = (self.chunk, self.counts());
        // A gzip file ends with the size of what is packed, modulo 2^32 (RFC 1952, section 2.3.1).
        let end = ((cx * cy * cz * size_of::<T>()) as u32).to_le_bytes().to_vec();
        let file = |(s, n): (usize, usize)| {
            let place = [n % kx, n / kx % ky, n / (kx * ky)];
            let path = self.folder.join(self.key(s, index, place));
            Whole { path, bytes: None, end: end.clone() }
        };
        let chunks = kx * ky * kz;
        (0..self.names.len()).flat_map(|s| (0..chunks).map(move |n| (s, n))).map(file).collect()
    }

    /// Writes where cells are, and which belong to the domain.
    fn cells(&self) -> Result<(), Finding> {
        for (axis, name) in AXES.iter().enumerate() {
            let n = self.grid.shape()[axis];
            let centres: Vec<f64> = (0..n).map(|i| self.grid.centre(axis, i)).collect();
            self.write(&format!("{name}/c/0"), &centres)?;
        }
        let Some(mask) = &self.mask else { return Ok(()) };
        let cells: Vec<u8> = mask.to_values().into_iter().map(u8::from).collect();
        self.bytes(&format!("{}/c/0/0/0", aside(MASK, &self.names)), &cells)
    }

    fn chunk_of_times(&self, n: usize) -> Result<(), Finding> {
        let mut times: Vec<f64> = self.times.iter().skip(n * TIMES).take(TIMES).copied().collect();
        times.resize(TIMES, f64::NAN);
        self.write(&format!("t/c/{n}"), &times)
    }

    /// Chunks along x, y and z.
    fn counts(&self) -> [usize; 3] {
        let shape = self.grid.shape();
        [0, 1, 2].map(|axis| shape[axis].div_ceil(self.chunk[axis]))
    }

    /// Where in the store a chunk of a species is.
    fn key(&self, s: usize, index: usize, [x, y, z]: [usize; 3]) -> String {
        format!("{}/c/{index}/{z}/{y}/{x}", self.names[s])
    }

    fn species<T: Precision>(
        &self,
        s: usize,
        index: usize,
        field: &Field<T>,
    ) -> Result<(), Finding> {
        let (shape, [cx, cy, cz]) = (self.grid.shape(), self.chunk);
        let [kx, ky, kz] = self.counts();
        let chunk = |[x, y, z]: [usize; 3]| {
            // Chunks at the upper ends are filled up with zeros.
            let mut values = vec![T::from_f64(0.0); cx * cy * cz];
            for k in 0..cz.min(shape[2] - z * cz) {
                for j in 0..cy.min(shape[1] - y * cy) {
                    let row = field.row(s, y * cy + j, z * cz + k);
                    let part = &row[x * cx..(x * cx + cx).min(shape[0])];
                    let at = (k * cy + j) * cx;
                    values[at..at + part.len()].copy_from_slice(part);
                }
            }
            self.write(&self.key(s, index, [x, y, z]), &values)
        };
        // The trouble that is told is the first that a thread has; the others end then.
        let trouble = Mutex::new(None);
        let known = || trouble.lock().unwrap_or_else(PoisonError::into_inner);
        parallel::each(self.threads, kx * ky * kz, |n| {
            if known().is_none()
                && let Err(new) = chunk([n % kx, n / kx % ky, n / (kx * ky)])
            {
                known().get_or_insert(new);
            }
        });
        let trouble = known().take();
        trouble.map_or(Ok(()), Err)
    }

    /// Writes a chunk, whole or not at all.
    fn write<T: odeum_ode::Scalar>(&self, key: &str, values: &[T]) -> Result<(), Finding> {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        put(&mut bytes, values);
        self.bytes(key, &bytes)
    }

    fn bytes(&self, key: &str, bytes: &[u8]) -> Result<(), Finding> {
        let path = self.folder.join(key);
        make_folder_of(&path)?;
        write_whole(&path, |file| {
            let mut encoder = GzEncoder::new(file, Compression::fast());
            encoder.write_all(bytes)?;
            encoder.finish().map(drop)
        })
    }

    /// Writes what describes the store.
    fn describe<T: Precision>(&self) -> Result<(), Finding> {
        let real = if size_of::<T>() == 8 { "float64" } else { "float32" };
        let [nx, ny, nz] = self.grid.shape();
        let [cx, cy, cz] = self.chunk;
        let mut arrays: Vec<(String, Value)> =
            vec![("t".to_owned(), array(&[self.times.len()], &[TIMES], "float64", &["t"]))];
        for (axis, name) in AXES.iter().enumerate() {
            let n = self.grid.shape()[axis];
            let mut centres = array(&[n], &[n], "float64", &[name]);
            // One cell does not say it by its centre, and of one that several were joined to it is not this.
            let (spacing, origin) = (self.grid.spacing()[axis], self.grid.origin()[axis]);
            centres["attributes"] = json!({ "spacing": spacing, "origin": origin });
            arrays.push(((*name).to_owned(), centres));
        }
        let shape = [self.times.len(), nz, ny, nx];
        for name in &self.names {
            let chunks = [1, cz, cy, cx];
            arrays.push((name.clone(), array(&shape, &chunks, real, &["t", "z", "y", "x"])));
        }
        if self.mask.is_some() {
            // One chunk: a byte a cell is little.
            let name = aside(MASK, &self.names);
            let mut mask = array(&[nz, ny, nx], &[nz, ny, nx], "bool", &["z", "y", "x"]);
            mask["fill_value"] = json!(false);
            arrays.push((name, mask));
        }
        for (name, described) in &arrays {
            self.json(&format!("{name}/zarr.json"), described)?;
        }
        let inline: serde_json::Map<String, Value> = arrays.into_iter().collect();
        let group = json!({
            "zarr_format": 3,
            "node_type": "group",
            "attributes": {
                "odeum": env!("CARGO_PKG_VERSION"),
                "spacing": self.grid.spacing(),
                "origin": self.grid.origin(),
                "ome": ome::describe(&self.grid, &self.names, &self.times),
            },
            "consolidated_metadata": {
                "kind": "inline",
                "must_understand": false,
                "metadata": inline,
            },
        });
        self.json("zarr.json", &group)
    }

    fn json(&self, key: &str, value: &Value) -> Result<(), Finding> {
        let path = self.folder.join(key);
        make_folder_of(&path)?;
        write_whole(&path, |file| writeln!(file, "{value:#}"))
    }
}

/// Cells along the edges of a chunk: 64 each of a cube, 512 in a plane, more along a rod.
fn chunk_for(shape: [usize; 3]) -> [usize; 3] {
    let mut axes = [0, 1, 2];
    axes.sort_by_key(|&axis| shape[axis]);
    let (mut chunk, mut cells) = ([1; 3], CHUNK);
    for (k, axis) in axes.into_iter().enumerate() {
        // What a short axis leaves goes to the longer ones.
        let edge = (cells as f64).powf(1.0 / (3 - k) as f64).round() as usize;
        chunk[axis] = shape[axis].min(edge);
        cells /= chunk[axis];
    }
    chunk
}

/// The same of a store that holds these species on a grid; none where there is no such store.
fn chunk_of(folder: &Path, names: &[String], shape: [usize; 3]) -> Option<[usize; 3]> {
    let described = std::fs::read(folder.join(names.first()?).join("zarr.json")).ok()?;
    let described: Value = serde_json::from_slice(&described).ok()?;
    let edges = described.pointer("/chunk_grid/configuration/chunk_shape")?.as_array()?;
    let edge = |at: usize| edges.get(at)?.as_u64()?.try_into().ok();
    let chunk: [usize; 3] = [edge(3)?, edge(2)?, edge(1)?];
    let fits = |axis: usize| (1..=shape[axis]).contains(&chunk[axis]);
    (edge(0) == Some(1) && [0, 1, 2].into_iter().all(fits)).then_some(chunk)
}

fn array(shape: &[usize], chunks: &[usize], kind: &str, names: &[&str]) -> Value {
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": kind,
        "chunk_grid": {
            "name": "regular",
            "configuration": { "chunk_shape": chunks },
        },
        "chunk_key_encoding": {
            "name": "default",
            "configuration": { "separator": "/" },
        },
        // A chunk that got lost is read as no number, not as nothing.
        "fill_value": "NaN",
        "codecs": [
            { "name": "bytes", "configuration": { "endian": "little" } },
            { "name": "gzip", "configuration": { "level": 1 } },
        ],
        "attributes": {},
        "dimension_names": names,
    })
}

fn make_folder_of(path: &Path) -> Result<(), Finding> {
    path.parent().map_or(Ok(()), make_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_about_as_many_cells_on_grids_of_any_shape() {
        for (shape, chunk) in [
            ([500, 500, 500], [64, 64, 64]),
            ([100, 4000, 4000], [64, 64, 64]),
            ([2000, 1000, 1], [512, 512, 1]),
            ([1, 1, 1_000_000], [1, 1, 262_144]),
            ([1_000_000, 4, 4], [16_384, 4, 4]),
            ([13, 12, 11], [13, 12, 11]),
            ([2, 600, 600], [2, 362, 362]),
        ] {
            assert_eq!(chunk_for(shape), chunk, "{shape:?}");
        }
    }

    /// A run that goes on has the chunks that are there, and each of them is looked for.
    #[test]
    fn a_store_that_grows_keeps_its_chunks() {
        let folder = std::env::temp_dir().join(format!("odeum-chunks-{}.zarr", std::process::id()));
        let grid = Grid::new([7, 2, 3], 1.0).unwrap();
        let of = |times| Zarr::new(folder.clone(), (grid, None), vec!["u".to_owned()], times, 2);
        let mut field = Field::<f64>::zeros(&grid, 1).unwrap();
        for r in 0..6 {
            let row = field.row_mut(0, r % 2, r / 2);
            row.iter_mut().enumerate().for_each(|(i, x)| *x = (7 * r + i) as f64);
        }
        let mut store = Zarr { chunk: [3, 2, 2], ..of(Vec::new()) };
        store.append(0.0, &field).unwrap();
        let mut again = of(vec![0.0]);
        assert_eq!(again.chunk, [3, 2, 2]);
        again.append(1.0, &field).unwrap();
        for index in 0..2 {
            let files = again.files_of::<f64>(index);
            assert_eq!(files.len(), 6);
            assert!(files.iter().all(Whole::is_there));
            std::fs::remove_file(&files[4].path).unwrap();
            assert!(!again.files_of::<f64>(index)[4].is_there());
        }
        // Where nothing says what the chunks were, they are those of a new store.
        std::fs::remove_file(folder.join("u/zarr.json")).unwrap();
        assert_eq!(of(vec![0.0]).chunk, [7, 2, 3]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
