//! A reader of NPZ files of its own, by the format's description.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::Path;

/// One array.
#[derive(Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) descr: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

/// All arrays by name.
pub(crate) fn read(path: &Path) -> BTreeMap<String, Array> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut arrays = BTreeMap::new();
    for i in 0..zip.len() {
        let mut entry = zip.by_index(i).unwrap();
        let name = entry.name().unwrap().strip_suffix(".npy").unwrap().to_owned();
        let mut npy = Vec::new();
        entry.read_to_end(&mut npy).unwrap();
        arrays.insert(name, array(&npy));
    }
    arrays
}

/// The bytes of an NPY file with this dictionary in its header.
pub(crate) fn npy(version: u8, dict: &[u8], data: &[f64]) -> Vec<u8> {
    let mut bytes = [b"\x93NUMPY", &[version, 0][..]].concat();
    match version {
        1 => bytes.extend((dict.len() as u16).to_le_bytes()),
        _ => bytes.extend((dict.len() as u32).to_le_bytes()),
    }
    bytes.extend(dict);
    data.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

/// The bytes of an archive of arrays of one axis, in this order.
pub(crate) fn archive(arrays: &[(&str, &[f64])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, data) in arrays {
        let shape = format!("({},)", data.len());
        let dict = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        archive
            .start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(&npy(1, dict.as_bytes(), data)).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn array(npy: &[u8]) -> Array {
    assert_eq!(&npy[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    assert_eq!((10 + length) % 64, 0, "the data must be aligned");
    let header = std::str::from_utf8(&npy[10..10 + length]).unwrap();
    assert!(header.ends_with('\n') && header.contains("'fortran_order': False"));
    let between = |start: &str, end: &str| {
        let from = header.find(start).unwrap() + start.len();
        &header[from..from + header[from..].find(end).unwrap()]
    };
    let shape = between("'shape': (", ")");
    let shape: Vec<usize> = shape
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().unwrap())
        .collect();
    let descr = between("'descr': '", "'").to_owned();
    let data = npy[10 + length..].to_vec();
    let array = Array { descr, shape, data };
    assert_eq!(array.data.len(), array.shape.iter().product::<usize>() * array.item());
    array
}

impl Array {
    fn item(&self) -> usize {
        let size: usize = self.descr[2..].parse().unwrap();
        if self.descr.starts_with("<U") { 4 * size } else { size }
    }

    pub(crate) fn f64(&self) -> Vec<f64> {
        match self.descr.as_str() {
            "<f8" => {
                self.data.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
            }
            "<f4" => self
                .data
                .chunks(4)
                .map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())))
                .collect(),
            other => panic!("{other} is no real number"),
        }
    }

    pub(crate) fn whole(&self) -> Vec<i64> {
        match self.descr.as_str() {
            "|u1" => self.data.iter().map(|&b| i64::from(b)).collect(),
            "<u4" => self
                .data
                .chunks(4)
                .map(|b| i64::from(u32::from_le_bytes(b.try_into().unwrap())))
                .collect(),
            "<i8" => {
                self.data.chunks(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
            }
            other => panic!("{other} is no whole number"),
        }
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        let words = self.data.chunks(self.item());
        words
            .map(|word| {
                word.chunks(4)
                    .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
                    .take_while(|&c| c != 0)
                    .map(|c| char::from_u32(c).unwrap())
                    .collect()
            })
            .collect()
    }
}
