//! Arrays of Zarr stores (version 3), as runs write them.
//!
//! The Zarr core specification v3.0, of which is read: regular chunks of plain numbers, as they
//! are or gzipped. An array is \[z, y, x\], or \[t, z, y, x\] of which the last state counts; coordinates are \[x\].

use crate::cells::{Coordinates, Member, Numbers};
use crate::npy::Kind;
use flate2::read::GzDecoder;
use odeum_fields::{AXES, Grid};
use odeum_ode::Scalar;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What to do about a store of another kind.
pub const HELP: &str = "name a store that a run has written, or its array (as \
    \"a.zarr/u\"); with zarr-python: zarr.create_array(…, compressors=zarr.codecs.GzipCodec())";

/// Attributes of arrays whose numbers stand for others (CF conventions 1.11, section 8.1).
const PACKED: [&str; 2] = ["scale_factor", "add_offset"];

/// Attributes with the number that stands where one is missing (CF conventions 1.11, section 2.5.1).
const MISSING: [&str; 2] = ["_FillValue", "missing_value"];

/// Bytes of the longest description that is read.
const LONGEST: u64 = 16 << 20;

/// What is said of an array.
#[derive(Deserialize)]
struct Described {
    shape: Vec<usize>,
    data_type: Value,
    chunk_grid: Named,
    chunk_key_encoding: Named,
    fill_value: Value,
    codecs: Vec<Named>,
    #[serde(default)]
    storage_transformers: Vec<Value>,
    #[serde(default)]
    dimension_names: Option<Vec<Option<String>>>,
    #[serde(default)]
    attributes: serde_json::Map<String, Value>,
}

/// A part that comes in several kinds.
#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    configuration: Value,
}

/// An array that can be read.
struct Array {
    folder: PathBuf,
    /// Cells along x, y and z.
    shape: [usize; 3],
    /// How many of z, y and x it has, the last ones.
    axes: usize,
    /// The state that counts, of an array that has several.
    state: Option<usize>,
    /// Cells of a chunk along t (one where there is none), z, y and x.
    chunk: [usize; 4],
    separator: String,
    kind: Kind,
    zipped: bool,
    fill: f64,
    /// Numbers that stand where one is missing.
    missing: Vec<f64>,
}

/// The numbers of an array, or of an array in a group; the error says what is wrong.
pub fn read(path: &Path, member: Member<'_>, grid: &Grid) -> Result<Numbers, String> {
    let mut folder = path.to_owned();
    let mut described = describe(&folder)?;
    if described["node_type"] == "group" {
        let member = member.name(|| species(&described));
        folder.push(&member);
        if !folder.join("zarr.json").is_file() {
            return Err(format!("it has no array `{member}`"));
        }
        described = describe(&folder)?;
    }
    let described = array(described)?;
    let array = Array::of_cells(folder, &described, grid)?;
    match array.kind.is_single() {
        true => array.values().map(Numbers::Single),
        false => array.values().map(Numbers::Double),
    }
}

/// The coordinates of cells in a store, or in that of an array: arrays of the names of axes, as long as these.
pub fn coordinates(path: &Path, grid: &Grid) -> Vec<Coordinates> {
    let Some(group) = group_of(path) else { return Vec::new() };
    let of = |(axis, name): (usize, &&str)| {
        let (folder, n) = (group.join(name), grid.shape()[axis]);
        let described = describe(&folder).ok().filter(|said| said["shape"] == json!([n]))?;
        let line = array(described).and_then(|said| Array::of_line(folder, &said, n));
        Some((axis, line.and_then(|line| line.values())))
    };
    AXES.iter().enumerate().filter_map(of).collect()
}

/// The time of the last state of a store, or of that of an array.
pub fn time(path: &Path) -> Option<f64> {
    let folder = group_of(path)?.join("t");
    let said = array(describe(&folder).ok()?).ok()?;
    let &[n] = &said.shape[..] else { return None };
    let times: Vec<f64> = Array::of_line(folder, &said, n).ok()?.values().ok()?;
    times.last().copied().filter(|t| t.is_finite())
}

/// The store of this path, which may be that of an array in it.
fn group_of(path: &Path) -> Option<&Path> {
    let is_group = describe(path).is_ok_and(|described| described["node_type"] == "group");
    if is_group { Some(path) } else { path.parent() }
}

/// The species of a store that a run has written, each of which is an image; none of another store.
fn species(group: &Value) -> Vec<String> {
    let images = group["attributes"]["ome"]["multiscales"].as_array().into_iter().flatten();
    images.filter_map(|image| image["name"].as_str().map(str::to_owned)).collect()
}

fn describe(folder: &Path) -> Result<Value, String> {
    let text = || -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        File::open(folder.join("zarr.json"))?.take(LONGEST).read_to_end(&mut text)?;
        Ok(text)
    };
    let text = text().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "this folder has no zarr.json: it is no Zarr store".to_owned(),
        _ => format!("its zarr.json: {}", crate::file::reason(&error)),
    })?;
    serde_json::from_slice(&text).map_err(|error| format!("its zarr.json: {error}"))
}

/// What is said of a node that is an array.
fn array(described: Value) -> Result<Described, String> {
    for (key, wanted) in [("node_type", Value::from("array")), ("zarr_format", Value::from(3))] {
        if described[key] != wanted {
            return Err(format!("its {key} is {}, not {wanted}", described[key]));
        }
    }
    serde_json::from_value(described)
        .map_err(|error| format!("its zarr.json is not that of an array: {error}"))
}

impl Array {
    /// An array of numbers along an axis.
    fn of_line(folder: PathBuf, said: &Described, n: usize) -> Result<Array, String> {
        Array::of(folder, said, [n, 1, 1], 1, None)
    }

    /// An array of all cells, or of those of several states.
    fn of_cells(folder: PathBuf, said: &Described, grid: &Grid) -> Result<Array, String> {
        let [nx, ny, nz] = grid.shape();
        let shape = &said.shape;
        let state = match shape[..] {
            [z, y, x] if [z, y, x] == [nz, ny, nx] => None,
            [0, z, y, x] if [z, y, x] == [nz, ny, nx] => return Err("it has no state".into()),
            [t, z, y, x] if [z, y, x] == [nz, ny, nx] => Some(t - 1),
            _ => {
                let wanted = [nz, ny, nx];
                return Err(format!("its shape is {shape:?}, that of the grid {wanted:?}"));
            }
        };
        ordered(said.dimension_names.as_deref().unwrap_or_default())?;
        Array::of(folder, said, grid.shape(), 3, state)
    }

    /// Makes sure that the array is one of those that are read.
    fn of(
        folder: PathBuf,
        said: &Described,
        shape: [usize; 3],
        axes: usize,
        state: Option<usize>,
    ) -> Result<Array, String> {
        if let Some(key) = PACKED.iter().find(|key| said.attributes.contains_key(**key)) {
            return Err(format!("its numbers are packed: it has the attribute `{key}`"));
        }
        if !said.storage_transformers.is_empty() {
            return Err("it has storage transformers".into());
        }
        let numbers = &said.chunk_grid.configuration["chunk_shape"];
        let chunk: Option<Vec<usize>> = serde_json::from_value(numbers.clone()).ok();
        let chunk = match (said.chunk_grid.name.as_str(), chunk.as_deref()) {
            ("regular", Some(&[x])) if axes == 1 => [1, 1, 1, x],
            ("regular", Some(&[z, y, x])) if axes == 3 && state.is_none() => [1, z, y, x],
            ("regular", Some(&[t, z, y, x])) if axes == 3 && state.is_some() => [t, z, y, x],
            (name, _) => return Err(format!("its chunk grid is `{name}` of {numbers}")),
        };
        let separator = match said.chunk_key_encoding.name.as_str() {
            "default" => said.chunk_key_encoding.configuration["separator"].as_str().unwrap_or("/"),
            name => return Err(format!("its chunk key encoding is `{name}`, not `default`")),
        };
        let (big_endian, zipped) = codecs(&said.codecs)?;
        let kind = kind(&said.data_type, big_endian)?;
        // Numbers of up to eight bytes, and chunks of more states than one.
        let cells = shape.iter().product::<usize>();
        let most = cells.saturating_mul(8 * 16).max(1 << 20);
        let bytes = chunk.iter().try_fold(kind.size, |n, &len| n.checked_mul(len));
        if chunk.contains(&0) || bytes.is_none_or(|bytes| bytes > most) {
            return Err(format!("its chunks of {chunk:?} numbers are more than {most} bytes"));
        }
        let fill = match &said.fill_value {
            Value::Number(number) => number.as_f64().unwrap_or(f64::NAN),
            Value::Bool(truth) => f64::from(u8::from(*truth)),
            // What is not finite is refused where it counts.
            _ => f64::NAN,
        };
        let is_f32 = kind.is_single() && kind.size == 4;
        let as_stored = |x: f64| if is_f32 { f64::from(x as f32) } else { x };
        let named = MISSING.iter().filter_map(|key| number(said.attributes.get(*key)?));
        let missing = named.map(as_stored).collect();
        let separator = separator.to_owned();
        Ok(Array { folder, shape, axes, state, chunk, separator, kind, zipped, fill, missing })
    }

    /// x fastest.
    fn values<T: Scalar>(&self) -> Result<Vec<T>, String> {
        let [nx, ny, nz] = self.shape;
        let [ct, cz, cy, cx] = self.chunk;
        let size = self.kind.size;
        let within = self.state.unwrap_or(0) % ct;
        let known = |x: f64| T::from_f64(if self.missing.contains(&x) { f64::NAN } else { x });
        let mut values = vec![known(self.fill); nx * ny * nz];
        for z in 0..nz.div_ceil(cz) {
            for y in 0..ny.div_ceil(cy) {
                for x in 0..nx.div_ceil(cx) {
                    let Some(bytes) = self.bytes([z, y, x])? else { continue };
                    let wide = cx.min(nx - x * cx);
                    for k in 0..cz.min(nz - z * cz) {
                        for j in 0..cy.min(ny - y * cy) {
                            let from = ((within * cz + k) * cy + j) * cx * size;
                            let to = ((z * cz + k) * ny + y * cy + j) * nx + x * cx;
                            let row = bytes[from..from + wide * size].chunks_exact(size);
                            for (value, item) in values[to..to + wide].iter_mut().zip(row) {
                                *value = known(self.kind.decode(item));
                            }
                        }
                    }
                }
            }
        }
        Ok(values)
    }

    /// The bytes of a chunk; none of one that is not there, whose cells have the fill value.
    fn bytes(&self, place: [usize; 3]) -> Result<Option<Vec<u8>>, String> {
        let time = self.state.map(|state| state / self.chunk[0]);
        let place = &place[place.len() - self.axes..];
        let numbers = time.iter().chain(place).map(|n| n.to_string());
        let parts: Vec<String> = std::iter::once("c".to_owned()).chain(numbers).collect();
        let key = parts.join(&self.separator);
        let wrong = |error: &io::Error| format!("chunk {key}: {}", crate::file::reason(error));
        let file = match File::open(self.folder.join(&key)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|error| wrong(&error))?,
        };
        let needed = self.chunk.iter().product::<usize>() * self.kind.size;
        let mut bytes = Vec::new();
        let limit = needed as u64 + 1;
        let read = if self.zipped {
            GzDecoder::new(file).take(limit).read_to_end(&mut bytes)
        } else {
            file.take(limit).read_to_end(&mut bytes)
        };
        match read.map_err(|error| wrong(&error))? {
            read if read > needed => Err(format!("chunk {key} has more than {needed} bytes")),
            read if read < needed => Err(format!("chunk {key} has {read} bytes of {needed}")),
            _ => Ok(Some(bytes)),
        }
    }
}

/// Refuses axes that are named, but as others are.
fn ordered(names: &[Option<String>]) -> Result<(), String> {
    let axes = ["t", "z", "y", "x"];
    let own = &axes[axes.len().saturating_sub(names.len())..];
    let other = |(name, own): (&Option<String>, &&str)| {
        name.as_deref().is_some_and(|name| name != *own && axes.contains(&name))
    };
    if names.iter().zip(own).any(other) {
        let names: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("?")).collect();
        return Err(format!("its axes are {}, not {}", names.join(", "), own.join(", ")));
    }
    Ok(())
}

/// The number that an attribute says; xarray writes the bytes of a double, lowest first, in base64.
fn number(said: &Value) -> Option<f64> {
    let Value::String(text) = said else { return said.as_f64() };
    // Eleven digits of six bits: the eight bytes, and two bits that are not used.
    let digits = text.strip_suffix('=').filter(|digits| digits.len() == 11)?;
    let bits = digits.bytes().try_fold(0_u128, |bits, digit| {
        let digit = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        Some(bits << 6 | u128::from(digit))
    })?;
    Some(f64::from_bits(((bits >> 2) as u64).swap_bytes()))
}

/// Whether numbers have their highest byte first, and whether chunks are gzipped.
fn codecs(codecs: &[Named]) -> Result<(bool, bool), String> {
    let names: Vec<&str> = codecs.iter().map(|codec| codec.name.as_str()).collect();
    let zipped = match names[..] {
        ["bytes"] => false,
        ["bytes", "gzip"] => true,
        _ => {
            let names = names.join(", ");
            return Err(format!("its codecs are {names}; read are bytes, and bytes, gzip"));
        }
    };
    Ok((codecs[0].configuration["endian"] == "big", zipped))
}

/// The number format of a data type.
fn kind(said: &Value, big_endian: bool) -> Result<Kind, String> {
    let word = match said.as_str().unwrap_or_default() {
        "bool" => "b1",
        "int8" => "i1",
        "int16" => "i2",
        "int32" => "i4",
        "int64" => "i8",
        "uint8" => "u1",
        "uint16" => "u2",
        "uint32" => "u4",
        "uint64" => "u8",
        "float32" => "f4",
        "float64" => "f8",
        _ => return Err(format!("its data_type is {said}, not a plain number")),
    };
    Kind::read(&format!("{}{word}", if big_endian { '>' } else { '<' }))
}
