//! An archive of arrays, as `numpy.savez` writes it: an uncompressed ZIP of NPY files.

use super::atomic::write_whole;
use super::steady::Steady;
use crate::finding::Finding;
use crate::npy;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Bytes gathered before they go to the file.
const CHUNK: usize = 1 << 20;

/// Writes arrays one after the other.
pub(crate) struct Archive<W: Write + Seek>(ZipWriter<W>);

impl<W: Write + Seek> Archive<W> {
    pub(crate) fn new(file: W) -> Self {
        Archive(ZipWriter::new(file))
    }

    /// An array of shape \[`rows`, `inner`…\], filled row by row.
    pub(crate) fn rows(
        &mut self,
        name: &str,
        descr: &str,
        rows: usize,
        inner: &[usize],
        mut fill: impl FnMut(&mut Vec<u8>, usize),
    ) -> io::Result<()> {
        let mut shape = vec![rows];
        shape.extend(inner);
        self.start(name, descr, &shape)?;
        let mut buffer = Vec::with_capacity(2 * CHUNK);
        for r in 0..rows {
            fill(&mut buffer, r);
            if buffer.len() >= CHUNK {
                self.0.write_all(&buffer)?;
                buffer.clear();
            }
        }
        self.0.write_all(&buffer)
    }

    /// An array of double precision.
    pub(crate) fn numbers(&mut self, name: &str, shape: &[usize], data: &[f64]) -> io::Result<()> {
        let inner = shape.get(1..).unwrap_or_default();
        let width: usize = inner.iter().product();
        self.rows(name, "<f8", data.len() / width.max(1), inner, |buffer, r| {
            data[r * width..(r + 1) * width].iter().for_each(|x| buffer.extend(x.to_le_bytes()));
        })
    }

    pub(crate) fn whole(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        data: &[u8],
    ) -> io::Result<()> {
        self.start(name, descr, shape)?;
        self.0.write_all(data)
    }

    pub(crate) fn texts(&mut self, name: &str, texts: &[String]) -> io::Result<()> {
        let (descr, data) = unicode(texts);
        self.whole(name, &descr, &[texts.len()], &data)
    }

    /// One text, as an array without axes.
    pub(crate) fn text(&mut self, name: &str, text: &str) -> io::Result<()> {
        let (descr, data) = unicode(&[text.to_owned()]);
        self.whole(name, &descr, &[], &data)
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.0.finish()?;
        Ok(())
    }

    fn start(&mut self, name: &str, descr: &str, shape: &[usize]) -> io::Result<()> {
        let item = descr.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8_u64);
        let size = shape.iter().fold(4 * item, |size, len| size.saturating_mul(*len as u64));
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(size >= u64::from(u32::MAX) / 2);
        self.0.start_file(format!("{name}.npy"), options)?;
        self.0.write_all(&npy::header(descr, shape))
    }
}

/// Texts as NumPy keeps them: UTF-32, all of one length.
fn unicode(texts: &[String]) -> (String, Vec<u8>) {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut data = Vec::with_capacity(texts.len() * longest * 4);
    for text in texts {
        let padded = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
        data.extend(padded.flat_map(u32::to_le_bytes));
    }
    (format!("<U{longest}"), data)
}

/// Writes an archive file, whole or not at all.
pub(crate) fn write_archive(
    path: &Path,
    fill: impl FnOnce(&mut Archive<&mut Steady<&mut BufWriter<File>>>) -> io::Result<()>,
) -> Result<(), Finding> {
    write_whole(path, |file| {
        let mut steady = Steady::new(file);
        let mut archive = Archive::new(&mut steady);
        fill(&mut archive)?;
        archive.finish()?;
        steady.finish()
    })
}
