//! Numbers of cells: from files, as wide as there, and into them.

use crate::npy::{Head, read_texts};
use odeum_fields::{AXES, Grid};
use odeum_ode::Scalar;
use std::borrow::Cow;
use std::fmt;
use std::io::{Read, Seek};

/// A number for each cell, x fastest.
///
/// A file in single precision takes no more memory than its numbers, in which a field has them too.
#[derive(Clone)]
pub enum Numbers {
    /// Of single precision.
    Single(Vec<f32>),
    /// Of double precision.
    Double(Vec<f64>),
}

impl Numbers {
    /// Reads an NPY array that has the shape of the grid; the error says what is wrong.
    pub fn read(mut file: impl Read, grid: &Grid) -> Result<Numbers, String> {
        let head = head(&mut file, grid)?;
        match head.kind.is_single() {
            true => head.values(file).map(Numbers::Single),
            false => head.values(file).map(Numbers::Double),
        }
    }

    /// Reads an array in an NPZ archive; the error says what is wrong.
    pub fn read_member(
        file: impl Read + Seek,
        member: Member<'_>,
        grid: &Grid,
    ) -> Result<Numbers, String> {
        let damaged = |error: zip::result::ZipError| format!("it is no archive of arrays: {error}");
        let mut archive = zip::ZipArchive::new(file).map_err(damaged)?;
        let member = member.name(|| species(&mut archive));
        let file = archive
            .by_name(&format!("{member}.npy"))
            .map_err(|_| format!("it has no array `{member}`"))?;
        Numbers::read(file, grid)
    }

    /// Copies the numbers from cell `first` on.
    pub fn copy(&self, first: usize, to: &mut [f64]) {
        match self {
            Numbers::Single(all) => copy(&all[first..], to),
            Numbers::Double(all) => copy(&all[first..], to),
        }
    }

    /// All numbers, in double precision.
    pub fn into_doubles(self) -> Vec<f64> {
        match self {
            Numbers::Single(all) => all.into_iter().map(f64::from).collect(),
            Numbers::Double(all) => all,
        }
    }

    /// The first number that is not finite, and its cell.
    pub fn not_finite(&self) -> Option<(usize, f64)> {
        match self {
            Numbers::Single(all) => not_finite(all),
            Numbers::Double(all) => not_finite(all),
        }
    }
}

/// An array that is looked for among others.
#[derive(Clone, Copy, Debug)]
pub enum Member<'a> {
    /// By its name.
    Named(&'a str),
    /// That of the cells of the domain, which stands aside where a species is called `mask`.
    Mask,
}

impl Member<'_> {
    /// Its name beside the arrays of such species.
    pub(crate) fn name(self, species: impl FnOnce() -> Vec<String>) -> String {
        match self {
            Member::Named(name) => name.to_owned(),
            Member::Mask => aside(MASK, &species()),
        }
    }
}

/// The array that says which cells belong to the domain.
pub const MASK: &str = "mask";

/// The array of the names of the species.
pub const SPECIES: &str = "species_names";

/// Most bytes of names that are read.
const LONGEST: u64 = 16 << 20;

/// The species of a result; none of an archive of another kind.
fn species(archive: &mut zip::ZipArchive<impl Read + Seek>) -> Vec<String> {
    let mut name = SPECIES.to_owned();
    // One by that name may be a species; then the names stand aside.
    while let Ok(file) = archive.by_name(&format!("{name}.npy")) {
        let mut bytes = Vec::new();
        if file.take(LONGEST).read_to_end(&mut bytes).is_ok()
            && let Ok(names) = read_texts(&bytes)
        {
            return names;
        }
        name.push('_');
    }
    Vec::new()
}

/// The numbers of an array that has the shape of the grid; no others are read.
pub fn values<T: Scalar>(mut file: impl Read, grid: &Grid) -> Result<Vec<T>, String> {
    head(&mut file, grid)?.values(file)
}

/// The coordinates along an axis that lie beside the arrays of an archive or a store; the error says why they cannot be read.
pub type Coordinates = (usize, Result<Vec<f64>, String>);

/// The coordinates of cells in an NPZ archive: arrays of the names of axes, as long as these.
pub fn coordinates(file: impl Read + Seek, grid: &Grid) -> Vec<Coordinates> {
    // Of a file that is no archive the arrays tell.
    let Ok(mut archive) = zip::ZipArchive::new(file) else { return Vec::new() };
    let of = |(axis, name): (usize, &&str)| {
        let mut file = archive.by_name(&format!("{name}.npy")).ok()?;
        match Head::read(&mut file) {
            Ok(head) if head.shape != [grid.shape()[axis]] => None,
            head => Some((axis, head.and_then(|head| head.values(file)))),
        }
    };
    AXES.iter().enumerate().filter_map(of).collect()
}

/// The time of the state in an NPZ archive: a single number called `t`.
pub fn time(file: impl Read + Seek) -> Option<f64> {
    let mut archive = zip::ZipArchive::new(file).ok()?;
    let mut file = archive.by_name("t.npy").ok()?;
    let head = Head::read(&mut file).ok()?;
    let is_single = head.shape.iter().all(|&n| n == 1);
    let values: Vec<f64> = if is_single { head.values(file).ok()? } else { return None };
    values.first().copied().filter(|t| t.is_finite())
}

/// What stands before the numbers of an array that has the shape of the grid.
fn head(file: &mut impl Read, grid: &Grid) -> Result<Head, String> {
    let head = Head::read(file)?;
    fits(&head.shape, grid)?;
    Ok(head)
}

/// Refuses the shape of an array that is not that of the grid; axes of one cell may be left out of it.
pub fn fits(shape: &[usize], grid: &Grid) -> Result<(), String> {
    let [nx, ny, nz] = grid.shape();
    let wanted = [nz, ny, nx];
    let plain = |shape: &[usize]| shape.iter().copied().filter(|&n| n > 1).collect::<Vec<_>>();
    // Of as many axes each is one of the grid: (4, 1, 4) is another plane than (1, 4, 4).
    let fits = match shape.len() == wanted.len() {
        true => *shape == wanted,
        false => plain(shape) == plain(&wanted),
    };
    match fits {
        true => Ok(()),
        false => Err(format!("its shape is {shape:?}, that of the grid [nz, ny, nx] = {wanted:?}")),
    }
}

/// A name for an array that stands beside those of the species.
pub fn aside(name: &str, species: &[String]) -> String {
    let mut name = name.to_owned();
    while species.contains(&name) {
        name.push('_');
    }
    name
}

/// Appends values as the files have them.
pub fn put<T: Scalar>(bytes: &mut Vec<u8>, values: &[T]) {
    bytes.extend_from_slice(&in_files(values));
}

/// The bytes of values as the files have them, little-endian.
pub fn in_files<T: Scalar>(values: &[T]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        // SAFETY: scalars are floating-point numbers, whose bytes have values of their own; here
        // they lie in the order of the files.
        let whole = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values))
        };
        return Cow::Borrowed(whole);
    }
    let mut bytes = Vec::with_capacity(size_of_val(values));
    for value in values {
        if size_of::<T>() == 8 {
            bytes.extend(value.to_f64().to_le_bytes());
        } else {
            // A single-precision number goes through double precision unchanged.
            bytes.extend((value.to_f64() as f32).to_le_bytes());
        }
    }
    Cow::Owned(bytes)
}

/// Equal numbers look equal, however wide: whether a run goes on from a result is judged by this.
impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Numbers::Single(all) => f.debug_list().entries(all.iter().map(|x| x.to_f64())).finish(),
            Numbers::Double(all) => f.debug_list().entries(all).finish(),
        }
    }
}

fn copy<T: Scalar>(from: &[T], to: &mut [f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_f64());
}

fn not_finite<T: Scalar>(all: &[T]) -> Option<(usize, f64)> {
    let at = all.iter().position(|value| !value.is_finite())?;
    Some((at, all[at].to_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::header;

    #[test]
    fn equal_numbers_look_equal() {
        let (single, double) = (vec![0.1_f32, 2.0], vec![f64::from(0.1_f32), 2.0]);
        let shown = format!("{double:?}");
        for numbers in [Numbers::Single(single), Numbers::Double(double)] {
            assert_eq!(format!("{numbers:?}"), shown);
            let mut last = [0.0];
            numbers.copy(1, &mut last);
            assert_eq!(last, [2.0]);
            assert!(numbers.not_finite().is_none());
        }
        let (at, value) = Numbers::Single(vec![1.0, f32::INFINITY]).not_finite().unwrap();
        assert_eq!((at, value), (1, f64::INFINITY));
    }

    #[test]
    fn arrays_of_as_many_axes_as_the_grid_have_its_shape() {
        let grid = Grid::new([4, 4, 1], 1.0).unwrap();
        for (shape, is_right) in [
            (&[1, 4, 4][..], true),
            (&[4, 4], true),
            (&[4, 1, 4], false),
            (&[4, 4, 1], false),
            (&[16], false),
        ] {
            assert_eq!(fits(shape, &grid).is_ok(), is_right, "{shape:?}");
        }
    }

    /// Numbers are held as wide as they are in the file: a field of single precision twice as wide
    /// would take more memory than the field itself.
    #[test]
    fn numbers_are_as_wide_as_in_the_file() {
        let grid = Grid::new([3, 2, 1], 1.0).unwrap();
        let file = |descr: &str, bytes: &[u8]| [&header(descr, &[1, 2, 3])[..], bytes].concat();
        let single: Vec<u8> = (0..6).flat_map(|i| (i as f32 / 3.0).to_le_bytes()).collect();
        let Numbers::Single(read) = Numbers::read(&file("<f4", &single)[..], &grid).unwrap() else {
            panic!("wider than in the file");
        };
        assert_eq!(read, [0, 1, 2, 3, 4, 5].map(|i| i as f32 / 3.0));
        let read = Numbers::read(&file("|u1", &[0, 1, 2, 3, 4, 255])[..], &grid).unwrap();
        assert!(matches!(&read, Numbers::Single(all) if all[5] == 255.0), "{read:?}");
        // Whole numbers of 32 bits are more than single precision holds.
        let whole: Vec<u8> = [0, 0, 0, 0, 0, i32::MAX].map(i32::to_le_bytes).concat();
        let read = Numbers::read(&file("<i4", &whole)[..], &grid).unwrap();
        assert!(matches!(&read, Numbers::Double(_)), "{read:?}");
        assert_eq!(read.into_doubles()[5], f64::from(i32::MAX));
    }
}
