//! Memory of a run, judged before there is anything as large as the grid.

use crate::available::{Free, Working, available_memory};
use crate::case::Precision;
use crate::case::reader::Section;
use crate::case::source_spans::SourceSpans;
use crate::device::threads_of;
use odeum_fields::{Field, Grid, Method};
use odeum_io::Finding;
use odeum_io::number::bytes;
use odeum_ode::Device;

/// Copies of the field that are on their way to files: one waits, one is being written.
pub const COPIES: usize = 2;

/// Bytes of a number of an array that was read.
const NUMBER: u128 = 8;

/// Numbers for each cell beside what is held while an array is read, at most: those of the file, from
/// which wider ones are made.
const READING: u128 = 1;

/// Numbers for each cell while a mask is read: its array, the field it makes, and that in order.
const MASK: u128 = 3;

/// Arrays with a number for each cell that a case names; none of them has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrays {
    /// Of diffusion and velocity.
    surroundings: usize,
    /// Of initial values.
    initial: usize,
    mask: bool,
    /// Whether spectra are computed while the run goes on.
    spectrum: bool,
    /// Whether surfaces are drawn.
    surfaces: bool,
}

impl Arrays {
    /// Counts them in the document.
    pub(super) fn of(root: &Section<'_>) -> Arrays {
        // What is of another kind is refused by those who read it.
        let all = root.entries();
        let section = |key: &str| {
            let field = all.iter().find(|(name, _, field)| name == key && field.is_table());
            field?.2.section()
        };
        let velocity = section("velocity").is_some_and(|velocity| velocity.has("cells"));
        let entries = |key| section(key).map_or_else(Vec::new, |section| section.entries());
        let initial = entries("initial").into_iter().filter(|(_, _, field)| {
            field.is_table() && field.section().is_some_and(|start| start.has("file"))
        });
        Arrays {
            surroundings: entries("diffusion").len() + if velocity { 3 } else { 0 },
            initial: initial.count(),
            mask: section("grid").is_some_and(|grid| grid.has("mask")),
            spectrum: section("output").is_some_and(|output| output.has("structure")),
            surfaces: section("output").is_some_and(|output| output.has("isosurface")),
        }
    }
}

/// What the memory of a run depends on.
pub(super) struct Needs<'a> {
    pub(super) grid: &'a Grid,
    pub(super) species: usize,
    pub(super) precision: Precision,
    pub(super) method: Method,
    pub(super) device: &'a Device,
    pub(super) arrays: Arrays,
}

impl Needs<'_> {
    /// Memory needed at most, of a GPU its own aside \[bytes\].
    pub(super) fn bytes(&self) -> u128 {
        let Arrays { surroundings, initial, mask, .. } = self.arrays;
        let cells = self.grid.cells() as u128;
        let held = (surroundings + initial) as u128;
        let reading = match (mask, held) {
            (true, _) => MASK,
            (false, 0) => 0,
            (false, _) => READING,
        };
        let reading = (held + reading) * NUMBER * cells;
        reading.max(self.stepping() + initial as u128 * NUMBER * cells)
    }

    fn stepping(&self) -> u128 {
        let Needs { grid, species, .. } = *self;
        // What cannot be addressed was refused with the grid.
        let field = match self.precision {
            Precision::F64 => Field::<f64>::bytes(grid, species),
            Precision::F32 => Field::<f32>::bytes(grid, species),
        };
        let field = field.map_or(u128::MAX / 16, |bytes| bytes as u128);
        let (fields, copies) = match self.device {
            Device::Cpu(_) => (self.method.fields(), 3),
            // That of the start, or of the end.
            Device::Cuda(gpu) if gpu.ordinals.len() == 1 => (1, 3),
            // Cut for each GPU.
            Device::Cuda(_) => (2, 4),
        };
        // Arrays of the case, of the simulation's own copy of the problem, and made ready for sweeps.
        let arrays = (copies * self.arrays.surroundings) as u128;
        let surroundings = arrays * NUMBER * grid.cells() as u128;
        // A CPU's weights near solid cells: for a cache line of a species another one at
        // most.
        let weights = match self.device {
            Device::Cpu(_) if self.arrays.mask => field / species.max(1) as u128,
            _ => 0,
        };
        let spectrum = if self.arrays.spectrum { spectrum(grid) } else { 0 };
        let surfaces =
            if self.arrays.surfaces { surfaces(grid, threads_of(self.device)) } else { 0 };
        // One state is written at a time.
        field * (fields + COPIES) as u128 + surroundings + weights + spectrum.max(surfaces)
    }
}

/// Memory of the spectrum of a species as `fields/structure.rs` computes it, a complex number for
/// each of half of the waves, and at most of the lines that are being transformed \[bytes\].
fn spectrum(grid: &Grid) -> u128 {
    let [nx, ny, nz] = grid.shape().map(|n| n as u128);
    16 * (ny * nz * (nx / 2 + 1) + 32 * (nx + ny + nz))
}

/// Cubes of a piece of a surface, pieces that are drawn at once, at least, and bytes of the triangles in a cube, in noise.
const PIECE: usize = 16_384;
const PIECES: usize = 8;
const CUBE: usize = 3000;

/// Memory of the triangles that `fields/surface` draws at once, by so many threads, in a field of noise \[bytes\].
fn surfaces(grid: &Grid, threads: usize) -> u128 {
    let [nx, ny, nz] = grid.shape();
    let rows = PIECE.div_ceil(nx + 1).min(ny + 1);
    let pieces =
        (ny + 1).div_ceil(rows).saturating_mul(nz + 1).min(threads.next_multiple_of(PIECES));
    pieces as u128 * (rows * (nx + 1)) as u128 * CUBE as u128
}

/// An error where a run needs more memory than is free.
pub(super) fn check(
    need: u128,
    device: &Device,
    source_spans: &SourceSpans,
) -> Result<(), Finding> {
    // Those that sweep, and those that make the field and its files.
    let threads = 2 * threads_of(device);
    match available_memory(Working { threads, bytes: 0 }) {
        Some(free) if need > free.bytes => Err(too_large(need, free, "", source_spans)),
        _ => Ok(()),
    }
}

/// A grid that needs more memory than is free in some place, as ` on cuda:0`.
pub fn too_large(need: u128, free: Free, place: &str, source_spans: &SourceSpans) -> Finding {
    let message = format!("the fields need {}{place}, and {free}", bytes(need));
    let finding = match source_spans.find("shape") {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message),
    };
    let finding = finding.found(format!("{need} bytes of {}", free.bytes));
    finding.help("take fewer cells; precision = \"f32\" and method = \"euler\" need least")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_counts_where_it_needs_more_than_the_simulation() {
        let grid = Grid::new([64, 64, 64], 1.0).unwrap();
        let device = Device::cuda(0);
        let needs = |arrays| {
            let (precision, method) = (Precision::F32, Method::Euler);
            let needs =
                Needs { grid: &grid, species: 1, precision, method, device: &device, arrays };
            needs.bytes() as f64 / grid.cells() as f64
        };
        let none = Arrays::default();
        // The field and copies of it on their way, a little wider than its cells.
        assert!((12.0..13.5).contains(&needs(none)), "{}", needs(none));
        assert_eq!(needs(Arrays { mask: true, ..none }), 24.0);
        assert_eq!(needs(Arrays { initial: 1, mask: true, ..none }), 32.0);
        let kept = needs(Arrays { surroundings: 3, ..none }) - needs(none);
        assert_eq!(kept, 3.0 * 3.0 * 8.0);
    }

    /// 96³ numbers of noise took 300 MB while their surface was drawn by two threads, where 27 MiB had been said.
    #[test]
    fn surfaces_count() {
        let grid = Grid::new([96, 96, 96], 1.0).unwrap();
        let of_threads = [1, 2, 8, 9].map(|threads| surfaces(&grid, threads) / 1_000_000);
        assert_eq!(of_threads, [225, 225, 225, 451]);
        let plane = Grid::new([96, 96, 1], 1.0).unwrap();
        assert_eq!(surfaces(&plane, 64), 2 * 97 * 97 * 3000);
    }
}
