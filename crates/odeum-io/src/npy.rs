//! The NPY format of NumPy, version 1.0 to 3.0: headers both ways, numeric arrays in.
//!
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use crate::literal::Literal;
use odeum_core::memory;
use odeum_ode::Scalar;
use std::io::{self, Read};

const MAGIC: &[u8] = b"\x93NUMPY";

/// A number format of NumPy: kind, size in bytes, byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    letter: u8,
    /// Bytes of a number.
    pub size: usize,
    big_endian: bool,
}

/// A numeric array as it was read: one or two axes, or one axis of records.
#[derive(Debug)]
pub struct Array {
    /// Length of the first axis.
    pub rows: usize,
    /// Names of the fields of a record array.
    pub names: Option<Vec<String>>,
    /// The columns: fields of records, or the second axis.
    pub columns: Vec<Vec<f64>>,
}

/// The bytes before the data of an array in C order, padded to a multiple of 64.
///
/// `descr` is the number format, as `<f8`.
pub fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let shape = match shape {
        [single] => format!("({single},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let unpadded = MAGIC.len() + 4 + dict.len() + 1;
    dict.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    dict.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    // Shapes have a handful of axes: the dictionary is far below 64 KiB.
    bytes.extend((dict.len() as u16).to_le_bytes());
    bytes.extend(dict.as_bytes());
    bytes
}

/// Reads a numeric array of one or two axes; the error says what is wrong.
pub fn read(bytes: &[u8]) -> Result<Array, String> {
    if !bytes.starts_with(MAGIC) {
        return Err("it does not start with the NPY signature".into());
    }
    let (header, data) = split(bytes)?;
    let Header { shape, fortran, .. } = header;
    let Item { names, numbers, bytes: record } = Item::read(&header.descr)?;
    let (rows, width) = match (shape[..].as_ref(), names.is_some()) {
        (&[rows], _) => (rows, 1),
        (&[rows, width], false) => (rows, width),
        _ => {
            let axes = shape.len();
            return Err(format!("it has {axes} axes; a table has one (records) or two"));
        }
    };
    let needed = rows.checked_mul(width).and_then(|n| n.checked_mul(record));
    if needed != Some(data.len()) {
        return Err(format!(
            "its shape ({rows}, {width}) does not fit its {} bytes of data",
            data.len()
        ));
    }
    let item = |at: usize, kind: Kind| kind.decode(&data[at..at + kind.size]);
    let columns = if names.is_some() {
        let column =
            |&(kind, at): &(Kind, usize)| (0..rows).map(|r| item(r * record + at, kind)).collect();
        numbers.iter().map(column).collect()
    } else {
        let (row_stride, column_stride) = if fortran { (1, rows) } else { (width, 1) };
        (0..width)
            .map(|c| {
                let at = |r: usize| (r * row_stride + c * column_stride) * record;
                (0..rows).map(|r| item(at(r), numbers[0].0)).collect()
            })
            .collect()
    };
    Ok(Array { rows, names, columns })
}

/// Reads an array of texts of one axis, in little-endian UTF-32; the error says what is wrong.
pub fn read_texts(bytes: &[u8]) -> Result<Vec<String>, String> {
    let (Header { shape, descr, .. }, data) = split(bytes)?;
    let count = match shape[..] {
        [count] => count,
        [] => 1,
        _ => return Err("it should have one axis".into()),
    };
    let length = descr.text().and_then(|word| word.strip_prefix("<U")?.parse().ok());
    let length: usize = length.ok_or("it does not hold texts (<U…)")?;
    if count.checked_mul(length).and_then(|n| n.checked_mul(4)) != Some(data.len()) || length == 0 {
        return Err(format!("{count} texts do not fit its {} bytes of data", data.len()));
    }
    let character = |bytes: &[u8]| match *bytes {
        [a, b, c, d] => char::from_u32(u32::from_le_bytes([a, b, c, d])).unwrap_or('\u{fffd}'),
        _ => '\u{fffd}',
    };
    let text = |bytes: &[u8]| -> String {
        let all: String = bytes.chunks(4).map(character).collect();
        all.trim_end_matches('\0').to_owned()
    };
    Ok(data.chunks(4 * length).map(text).collect())
}

/// What stands before the numbers of an array of any number of axes.
#[derive(Debug)]
pub struct Head {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    fortran: bool,
    /// The number format.
    pub kind: Kind,
}

/// Bytes of the longest header that is read.
const LONGEST: usize = 1 << 16;

impl Head {
    /// Reads up to where the numbers begin; the error says what is wrong.
    pub fn read(file: &mut impl Read) -> Result<Head, String> {
        let mut bytes = Vec::new();
        let mut more = |count: usize, bytes: &mut Vec<u8>| match fill(file, count, bytes) {
            Ok(true) => Ok(()),
            Ok(false) => Err("its header is cut off".to_owned()),
            Err(error) => Err(unreadable(&error)),
        };
        let begun = more(MAGIC.len(), &mut bytes);
        if !MAGIC.starts_with(&bytes) {
            return Err("it does not start with the NPY signature".into());
        }
        begun?;
        more(12 - MAGIC.len(), &mut bytes)?;
        let (start, length) = place(&bytes).ok_or("its header is cut off")?;
        if length > LONGEST {
            return Err(format!("its header has {length} bytes, more than {LONGEST}"));
        }
        more((start + length).saturating_sub(bytes.len()), &mut bytes)?;
        let header = Header::read(bytes[6], &bytes[start..start + length])?;
        let Header { shape, fortran, descr } = header;
        match Item::read(&descr)? {
            Item { names: None, numbers, .. } => Ok(Head { shape, fortran, kind: numbers[0].0 }),
            _ => Err("it holds records".into()),
        }
    }

    /// Reads the numbers, in C order. No more memory is taken than the shape needs, none for a file
    /// without numbers, and a file that holds more or fewer is refused.
    pub fn values<T: Scalar>(&self, mut file: impl Read) -> Result<Vec<T>, String> {
        let Head { shape, kind, .. } = self;
        let bytes = shape.iter().try_fold(kind.size, |n, &len| n.checked_mul(len));
        let bytes = bytes.ok_or_else(|| format!("its shape {shape:?} cannot be addressed"))?;
        let count = bytes / kind.size;
        let mut values = Vec::new();
        let mut block = Vec::new();
        let (mut read, mut at) = (0, 0);
        while read < bytes {
            block.clear();
            let whole = fill(&mut file, (bytes - read).min(BLOCK), &mut block);
            if !whole.map_err(|error| unreadable(&error))? {
                let found = read + block.len();
                return Err(format!(
                    "its shape {shape:?} does not fit its {found} bytes of data: it needs {bytes}"
                ));
            }
            if read == 0 {
                values = memory::zeros::<T>(count).ok_or_else(|| {
                    format!("its shape {shape:?} needs more memory than there is")
                })?;
            }
            read += block.len();
            for item in block.chunks_exact(kind.size) {
                let place = if self.fortran { self.place(at, count) } else { at };
                values[place] = T::from_f64(kind.decode(item));
                at += 1;
            }
        }
        block.clear();
        if fill(&mut file, 1, &mut block).map_err(|error| unreadable(&error))? {
            return Err(format!(
                "it has more than the {bytes} bytes of data that its shape {shape:?} needs"
            ));
        }
        Ok(values)
    }

    /// The place in C order, which counts the last axis fastest, of a number of a file that counts the
    /// first axis fastest.
    fn place(&self, mut at: usize, count: usize) -> usize {
        let (mut place, mut stride) = (0, count);
        for &len in &self.shape {
            stride /= len;
            place += at % len * stride;
            at /= len;
        }
        place
    }
}

/// Bytes that are read at a time, a multiple of the size of every number.
const BLOCK: usize = 1 << 16;

/// Appends so many bytes of a file; false where it has fewer.
fn fill(file: &mut impl Read, count: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
    Ok(file.take(count as u64).read_to_end(bytes)? == count)
}

fn unreadable(error: &io::Error) -> String {
    format!("it is damaged: {error}")
}

/// Header and data.
fn split(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
    let parts = || {
        let (start, length) = place(bytes)?;
        let end = start.checked_add(length)?;
        Some((bytes.get(start..end)?, &bytes[end..]))
    };
    let (dict, data) = parts().ok_or("its header is cut off")?;
    Ok((Header::read(bytes[6], dict)?, data))
}

/// Where the header dictionary begins, and its length; the first twelve bytes say it.
fn place(bytes: &[u8]) -> Option<(usize, usize)> {
    Some(match *bytes.get(6)? {
        1 => (10, usize::from(u16::from_le_bytes([*bytes.get(8)?, *bytes.get(9)?]))),
        _ => {
            let length = bytes.get(8..12)?.try_into().ok()?;
            (12, usize::try_from(u32::from_le_bytes(length)).ok()?)
        }
    })
}

/// What the dictionary of a header says.
struct Header {
    shape: Vec<usize>,
    fortran: bool,
    /// The number format, or the fields of records.
    descr: Literal,
}

impl Header {
    /// Versions 1 and 2 have Latin-1, later ones UTF-8.
    fn read(version: u8, dict: &[u8]) -> Result<Header, String> {
        let text = match version {
            1 | 2 => dict.iter().map(|byte| char::from(*byte)).collect(),
            _ => String::from_utf8(dict.to_vec()).map_err(|_| "its header is not UTF-8")?,
        };
        let dict = Literal::read(&text).ok_or("its header is no dictionary of Python")?;
        let Literal::Dict(entries) = dict else {
            return Err("its header is no dictionary of Python".into());
        };
        let (mut shape, mut fortran, mut descr) = (None, None, None);
        for (key, value) in entries {
            match (key.text(), value) {
                (Some("shape"), Literal::Tuple(axes)) => {
                    let axes = axes.iter().map(Literal::whole).collect::<Option<Vec<usize>>>();
                    shape = axes;
                }
                (Some("fortran_order"), Literal::Truth(truth)) => fortran = Some(truth),
                (Some("descr"), value) => descr = Some(value),
                _ => {}
            }
        }
        Ok(Header {
            shape: shape.ok_or("its header has no readable shape")?,
            fortran: fortran.ok_or("its header has no memory order")?,
            descr: descr.ok_or("its header has no number format")?,
        })
    }
}

/// An item of an array: a number, or a record.
struct Item {
    /// Names of the fields of a record.
    names: Option<Vec<String>>,
    /// Their formats, and where they begin.
    numbers: Vec<(Kind, usize)>,
    /// Of all of it.
    bytes: usize,
}

impl Item {
    fn read(descr: &Literal) -> Result<Item, String> {
        let list = match descr {
            Literal::Text(word) => {
                let kind = Kind::read(word)?;
                return Ok(Item { names: None, numbers: vec![(kind, 0)], bytes: kind.size });
            }
            Literal::List(list) if !list.is_empty() => list,
            _ => return Err("its number format is not readable".into()),
        };
        let (mut names, mut numbers, mut bytes) = (Vec::new(), Vec::new(), 0_usize);
        for field in list {
            let (name, word) =
                Item::field(field).ok_or("its records hold more than plain numbers")?;
            // Room between fields, of records as a C compiler lays them out, has no name.
            let room = word.strip_prefix("|V").filter(|_| name.is_empty());
            let size = match room.and_then(|size| size.parse::<u16>().ok()) {
                Some(size) => usize::from(size),
                None => {
                    let kind = Kind::read(word)?;
                    names.push(name.to_owned());
                    numbers.push((kind, bytes));
                    kind.size
                }
            };
            bytes += size;
        }
        Ok(Item { names: Some(names), numbers, bytes })
    }

    /// The name of a field, which may have a title before it, and its format.
    fn field(field: &Literal) -> Option<(&str, &str)> {
        let Literal::Tuple(parts) = field else { return None };
        let [name, format] = &parts[..] else { return None };
        let name = match name {
            Literal::Tuple(names) if names.len() == 2 => &names[1],
            name => name,
        };
        Some((name.text()?, format.text()?))
    }
}

impl Kind {
    /// The format of a word, as `<f8`; the error says what is wrong.
    pub fn read(word: &str) -> Result<Kind, String> {
        let bytes = word.as_bytes();
        let (order, rest) = match bytes.first() {
            Some(b'<' | b'>' | b'|' | b'=') => (bytes[0], &bytes[1..]),
            _ => (b'<', bytes),
        };
        match rest {
            [letter @ (b'f' | b'i' | b'u' | b'b'), size @ (b'1' | b'2' | b'4' | b'8')]
                if !matches!((letter, size), (b'f', b'1' | b'2')) =>
            {
                let size = usize::from(size - b'0');
                Ok(Kind { letter: *letter, size, big_endian: order == b'>' })
            }
            _ => Err(format!("it holds `{word}`, which is not a plain number (f8, f4, i8, …)")),
        }
    }

    /// Whether single precision holds all numbers of this format.
    pub fn is_single(self) -> bool {
        self.size <= 2 || (self.letter, self.size) == (b'f', 4)
    }

    /// The number of [`size`](Kind::size) bytes.
    pub fn decode(self, bytes: &[u8]) -> f64 {
        let mut little = [0_u8; 8];
        for (k, &byte) in bytes.iter().enumerate() {
            little[if self.big_endian { self.size - 1 - k } else { k }] = byte;
        }
        let bits = u64::from_le_bytes(little);
        match self.letter {
            b'f' if self.size == 8 => f64::from_bits(bits),
            b'f' => f64::from(f32::from_bits(bits as u32)),
            b'i' => {
                let unused = 64 - 8 * self.size as u32;
                ((bits << unused) as i64 >> unused) as f64
            }
            _ => bits as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dict: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((dict.len() as u16).to_le_bytes());
        bytes.extend(dict.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn headers_are_aligned_and_read_back() {
        let mut bytes = header("<f8", &[2, 3]);
        assert_eq!(bytes.len() % 64, 0);
        (0..6).for_each(|i| bytes.extend(f64::from(i).to_le_bytes()));
        let array = read(&bytes).unwrap();
        assert_eq!(array.columns, [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]);
    }

    #[test]
    fn orders_and_kinds() {
        let data: Vec<u8> = [1_i16, -2, 3, -4].iter().flat_map(|x| x.to_be_bytes()).collect();
        let dict = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }";
        assert_eq!(read(&file(dict, &data)).unwrap().columns, [[1.0, -2.0], [3.0, -4.0]]);
    }

    fn read_values(mut bytes: &[u8]) -> Result<(Vec<usize>, Vec<f64>), String> {
        let head = Head::read(&mut bytes)?;
        let values = head.values::<f64>(bytes)?;
        // Numbers that single precision holds are the same in it.
        if head.kind.is_single() {
            let single = head.values::<f32>(bytes)?;
            assert!(single.iter().map(|x| f64::from(*x)).eq(values.iter().copied()));
        }
        Ok((head.shape, values))
    }

    #[test]
    fn three_axes_in_both_orders() {
        let data: Vec<u8> = (0..6_u8).collect();
        let dict = "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2, 3), }";
        let (shape, values) = read_values(&file(dict, &data)).unwrap();
        assert_eq!((shape, values), (vec![1, 2, 3], vec![0.0, 2.0, 4.0, 1.0, 3.0, 5.0]));
        let (_, values) = read_values(&file(&dict.replace("True", "False"), &data)).unwrap();
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let longer = [&data[..], &[7]].concat();
        for (data, part) in [(&data[1..], "its 5 bytes of data"), (&longer[..], "more than the 6")]
        {
            let error = read_values(&file(dict, data)).unwrap_err();
            assert!(error.contains(part) && error.contains("[1, 2, 3]"), "{error}");
        }
    }

    #[test]
    fn heads_that_are_damaged_are_named() {
        let mut long = file("", b"");
        long.truncate(6);
        long.extend([2, 0, 255, 255, 255, 255]);
        let much = header("<f8", &[1 << 40, 1 << 40]);
        for (bytes, part) in [
            (b"PK".to_vec(), "signature"),
            (MAGIC[..3].to_vec(), "cut off"),
            (much[..20].to_vec(), "cut off"),
            (long, "4294967295 bytes"),
            (much, "cannot be addressed"),
            (header("<f8", &[1 << 40]), "its 0 bytes"),
        ] {
            let error = read_values(&bytes).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn records_have_names() {
        let dict =
            "{'descr': [('x', '<f8'), ('k', '<f4')], 'fortran_order': False, 'shape': (1,), }";
        let mut data = 1.5_f64.to_le_bytes().to_vec();
        data.extend(2.5_f32.to_le_bytes());
        let array = read(&file(dict, &data)).unwrap();
        assert_eq!(array.names.unwrap(), ["x", "k"]);
        assert_eq!(array.columns, [[1.5], [2.5]]);
    }

    /// `numpy.dtype(…, align=True)`.
    #[test]
    fn room_between_the_fields_of_a_record_is_no_field() {
        let dict = "{'descr': [('k', '|i1'), ('', '|V7'), ('x', '<f8'), ('n', '<i2'), ('', '|V6')], \
                    'fortran_order': False, 'shape': (2,), }";
        let mut data = Vec::new();
        for (k, x, n) in [(1_i8, 1.5_f64, -3_i16), (-2, 2.5, 4)] {
            data.extend(k.to_le_bytes());
            data.extend([255; 7]);
            data.extend(x.to_le_bytes());
            data.extend(n.to_le_bytes());
            data.extend([255; 6]);
        }
        let array = read(&file(dict, &data)).unwrap();
        assert_eq!(array.names.unwrap(), ["k", "x", "n"]);
        assert_eq!(array.columns, [[1.0, -2.0], [1.5, 2.5], [-3.0, 4.0]]);
        let named = dict.replace("('', '|V7')", "('v', '|V7')");
        assert!(read(&file(&named, &data)).unwrap_err().contains("|V7"));
    }

    /// Brackets, quotes and words of the header itself in names, titles, and Latin-1 before version 3.
    #[test]
    fn records_have_any_names() {
        let record = |version: u8, names: &[u8]| {
            let dict =
                [b"{'descr': [".as_slice(), names, b"], 'fortran_order': False, 'shape': (1,), }"]
                    .concat();
            let mut bytes = MAGIC.to_vec();
            bytes.extend([version, 0]);
            match version {
                1 => bytes.extend((dict.len() as u16).to_le_bytes()),
                _ => bytes.extend((dict.len() as u32).to_le_bytes()),
            }
            bytes.extend(dict);
            bytes.extend(1.5_f64.to_le_bytes());
            bytes.extend(2.5_f64.to_le_bytes());
            read(&bytes).map(|array| (array.names.unwrap(), array.columns))
        };
        for (version, names, expected) in [
            (1, b"('k[1/s]', '<f8'), ('x (m)', '<f8')".as_slice(), ["k[1/s]", "x (m)"]),
            (1, b"('shape', '<f8'), ('fortran_order', '<f8')", ["shape", "fortran_order"]),
            (1, b"(\"k'\", '<f8'), ('a\\\\', '<f8')", ["k'", "a\\"]),
            (1, b"(('title', 'x'), '<f8'), ('\xb5', '<f8')", ["x", "\u{b5}"]),
            (3, "('\u{b5}', '<f8'), ('\u{3b1}', '<f8')".as_bytes(), ["\u{b5}", "\u{3b1}"]),
        ] {
            let (found, columns) = record(version, names).unwrap();
            assert_eq!(
                (found, columns),
                (expected.map(str::to_owned).to_vec(), vec![vec![1.5], vec![2.5]])
            );
        }
        for part in [b"('x', '<f8', (2,))".as_slice(), b"('x', [('y', '<f8')]), ('z', '<f8')"] {
            assert!(record(1, part).unwrap_err().contains("more than plain numbers"));
        }
        assert!(record(3, b"('\xb5', '<f8')").unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn texts_are_read() {
        let dict = "{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }";
        let data: Vec<u8> = "H2\0OHµ".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        assert_eq!(read_texts(&file(dict, &data)).unwrap(), ["H2", "OHµ"]);
        assert!(read_texts(&file(dict, &data[4..])).unwrap_err().contains("do not fit"));
        assert!(read_texts(&header("<f8", &[2])).unwrap_err().contains("texts"));
    }

    #[test]
    fn damage_is_named() {
        let good = header("<f8", &[1_000_000_000_000]);
        for (bytes, part) in [
            (b"PK".to_vec(), "signature"),
            (good[..20].to_vec(), "cut off"),
            (good, "does not fit"),
            (file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b""), "|O"),
            (file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,2,3), }", b""), "3 axes"),
        ] {
            let error = read(&bytes).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
