//! A picture of pixels, with text.

use font8x8::legacy::BASIC_LEGACY;
use odeum_io::Finding;
use odeum_io::file::write_whole;
use std::io;
use std::path::Path;

/// A colour: red, green, blue.
pub(super) type Colour = [u8; 3];

/// Width and height of a letter \[pixels\].
pub(super) const LETTER: usize = 8;

/// Pixels, row by row from the top.
#[derive(PartialEq)]
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, colour: Colour) -> Canvas {
        Canvas { width, height, pixels: colour.repeat(width * height) }
    }

    /// Sets a pixel; those outside are left out.
    pub(super) fn set(&mut self, x: usize, y: usize, colour: Colour) {
        if x < self.width && y < self.height {
            let at = 3 * (y * self.width + x);
            self.pixels[at..at + 3].copy_from_slice(&colour);
        }
    }

    /// A pixel within the picture.
    #[cfg(test)]
    pub(super) fn get(&self, x: usize, y: usize) -> Colour {
        let at = 3 * (y * self.width + x);
        [0, 1, 2].map(|n| self.pixels[at + n])
    }

    pub(super) fn fill(&mut self, (x, y): (usize, usize), (w, h): (usize, usize), colour: Colour) {
        for row in y..y + h {
            for column in x..x + w {
                self.set(column, row, colour);
            }
        }
    }

    /// Writes a text whose upper left corner is at (x, y). Signs that are not ASCII are left out.
    pub(super) fn text(&mut self, x: usize, y: usize, text: &str, colour: Colour) {
        for (n, letter) in text.chars().enumerate() {
            let Some(glyph) = BASIC_LEGACY.get(letter as usize) else { continue };
            for (row, bits) in glyph.iter().enumerate() {
                for column in 0..LETTER {
                    if bits >> column & 1 == 1 {
                        self.set(x + n * LETTER + column, y + row, colour);
                    }
                }
            }
        }
    }

    /// Writes the picture as PNG, whole or not at all.
    pub(super) fn write(&self, path: &Path) -> Result<(), Finding> {
        write_whole(path, |file| {
            let mut encoder = png::Encoder::new(file, self.width as u32, self.height as u32);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            encoder.set_compression(png::Compression::Balanced);
            let failed = |error: png::EncodingError| match error {
                png::EncodingError::IoError(error) => error,
                other => io::Error::other(other),
            };
            let mut writer = encoder.write_header().map_err(failed)?;
            writer.write_image_data(&self.pixels).map_err(failed)?;
            writer.finish().map_err(failed)
        })
    }
}
