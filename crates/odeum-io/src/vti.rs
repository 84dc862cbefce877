//! VTK image data, as ParaView opens it: an XML head, then raw arrays.
//!
//! The VTK User's Guide, *VTK XML formats*: `ImageData` with appended data in raw encoding; each
//! array begins with its number of bytes as a 64-bit integer.

use crate::cells::{MASK, aside, put};
use crate::chart::is_xml;
use crate::number::Exact;
use odeum_fields::{Field, Grid, Mask, Precision};
use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

/// How a file ends.
pub const END: &str = "\n  </AppendedData>\n</VTKFile>\n";

/// Bytes of a file.
pub fn bytes<T: Precision>((grid, mask): (&Grid, Option<&Mask>), names: &[String]) -> u64 {
    let cells = grid.cells() as u64;
    let fields = names.len() as u64 * (8 + cells * size_of::<T>() as u64);
    let mask_bytes = if mask.is_some() { 8 + cells } else { 0 };
    let around = head::<T>((grid, mask), names).len() + END.len();
    around as u64 + fields + mask_bytes
}

/// What stands before the data.
fn head<T: Precision>((grid, mask): (&Grid, Option<&Mask>), names: &[String]) -> String {
    let [nx, ny, nz] = grid.shape();
    let triple = |v: [f64; 3]| v.map(|x| Exact(x).to_string()).join(" ");
    let extent = format!("0 {nx} 0 {ny} 0 {nz}");
    let kind = if size_of::<T>() == 8 { "Float64" } else { "Float32" };
    let bytes = (grid.cells() * size_of::<T>()) as u64;
    let mut head = format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <ImageData \
         WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\">\n    <Piece \
         Extent=\"{extent}\">\n      <CellData Scalars=\"{}\">\n",
        triple(grid.origin()),
        triple(grid.spacing()),
        Attribute(names.first().map_or("", String::as_str)),
    );
    for (s, name) in names.iter().enumerate() {
        let (offset, name) = (s as u64 * (8 + bytes), Attribute(name));
        let _ = writeln!(
            head,
            "        <DataArray type=\"{kind}\" Name=\"{name}\" format=\"appended\" \
             offset=\"{offset}\"/>"
        );
    }
    if mask.is_some() {
        let offset = names.len() as u64 * (8 + bytes);
        let name = aside(MASK, names);
        let name = Attribute(&name);
        let _ = writeln!(
            head,
            "        <DataArray type=\"UInt8\" Name=\"{name}\" format=\"appended\" \
             offset=\"{offset}\"/>"
        );
    }
    head + "      </CellData>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n_"
}

/// Writes a field as data of cells, and which of these belong to the domain.
pub fn write<T: Precision>(
    to: &mut impl Write,
    (grid, mask): (&Grid, Option<&Mask>),
    names: &[String],
    field: &Field<T>,
) -> io::Result<()> {
    let [nx, ny, nz] = grid.shape();
    to.write_all(head::<T>((grid, mask), names).as_bytes())?;
    let bytes = (grid.cells() * size_of::<T>()) as u64;
    let mut buffer = Vec::with_capacity(nx * ny * size_of::<T>());
    for s in 0..names.len() {
        to.write_all(&bytes.to_le_bytes())?;
        for z in 0..nz {
            buffer.clear();
            (0..ny).for_each(|y| put(&mut buffer, field.row(s, y, z)));
            to.write_all(&buffer)?;
        }
    }
    if let Some(mask) = mask {
        let cells: Vec<u8> = mask.to_values().into_iter().map(u8::from).collect();
        to.write_all(&(cells.len() as u64).to_le_bytes())?;
        to.write_all(&cells)?;
    }
    to.write_all(END.as_bytes())
}

/// A series of files: time and path of each, relative to that of the collection.
pub fn collection(files: &[(f64, String)]) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" \
                    byte_order=\"LittleEndian\">\n  <Collection>\n"
        .to_owned();
    for (t, file) in files {
        let (t, file) = (Exact(*t), Attribute(file));
        let _ = writeln!(text, "    <DataSet timestep=\"{t}\" part=\"0\" file=\"{file}\"/>");
    }
    text + "  </Collection>\n</VTKFile>\n"
}

/// A text as the value of an attribute, between double quotes (XML 1.0, sections 2.4 and 3.3.3). A character
/// that XML does not have is replaced.
struct Attribute<'a>(&'a str);

impl Display for Attribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            // As they are these would be read as spaces.
            '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(c)),
            c if is_xml(c) => f.write_char(c),
            _ => f.write_char(char::REPLACEMENT_CHARACTER),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_xml_is_escaped() {
        let text = "R&D <\"1>\" 'ü'\n\u{7}";
        let expected = "R&amp;D &lt;&quot;1&gt;&quot; 'ü'&#10;\u{fffd}";
        assert_eq!(Attribute(text).to_string(), expected);
    }
}
