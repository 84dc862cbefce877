//! The structure factor of a field: how strong its waves of each length are.
//!
//! For a wave vector k of the box, with the components 2π n / L,
//!
//! S(k) = |Σ (u − ū) exp(−i k · r)|² / N,
//!
//! the sum and the mean ū over the N cells of the domain; solid cells count as having the mean.
//! Its average over shells of equal |k| is what is written: Puri & Wadhawan (eds.), Kinetics of
//! Phase Transitions, CRC Press 2009, chapter 1, whose continuous S(k) is this one times the volume
//! of a cell; Chakrabarti, Toral & Gunton, Physical Review B 39 (1989) 4386, for the lattice. A field
//! counts as periodic whatever its boundaries are. The sum over all wave vectors is the
//! variance times the number of cells of the box, solid ones included.

use crate::report::Exact;
use odeum_case::Structure;
use odeum_fields::{Field, Grid, Mask, Precision};
use odeum_io::{Finding, table};
use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};
use std::f64::consts::TAU;
use std::fmt::Write;
use std::sync::Arc;

/// Lines that are transformed together, so that a cache line is read once.
const TOGETHER: usize = 8;

/// The heading of the table.
pub(super) fn heading(structure: &Structure, names: &[String]) -> String {
    let names = structure.species.iter().map(|s| names[*s].as_str());
    table::heading(["step", "t", "shell", "k", "modes"].into_iter().chain(names))
}

/// Computes structure factors on one grid.
pub(super) struct Waves {
    grid: Grid,
    mask: Option<Mask>,
    species: Vec<usize>,
    along_x: Arc<dyn RealToComplex<f64>>,
    /// Along y and z.
    across: [Arc<dyn Fft<f64>>; 2],
    shells: Shells,
}

/// Waves of nearly the same length.
struct Shells {
    /// Distance of two shells \[radians per length\].
    width: f64,
    /// Wave vectors of each shell.
    modes: Vec<u64>,
    /// Mean wave number of each shell \[radians per length\].
    k: Vec<f64>,
}

impl Waves {
    /// Of these species, over the cells of a domain.
    pub(super) fn new(grid: Grid, mask: Option<Mask>, structure: &Structure) -> Waves {
        let [nx, ny, nz] = grid.shape();
        let mut planner = FftPlanner::new();
        Waves {
            grid,
            mask,
            species: structure.species.clone(),
            along_x: RealFftPlanner::new().plan_fft_forward(nx),
            across: [ny, nz].map(|n| planner.plan_fft_forward(n)),
            shells: Shells::of(&grid),
        }
    }

    /// The rows of a state: one for each shell.
    pub(super) fn rows<T: Precision>(
        &self,
        (step, t): (u64, f64),
        field: &Field<T>,
    ) -> Result<String, Finding> {
        let mut columns = Vec::new();
        for s in &self.species {
            columns.push(self.factor(field, *s)?);
        }
        let mut text = String::new();
        let Shells { modes, k, .. } = &self.shells;
        // The first shell is the mean alone.
        for shell in (1..modes.len()).filter(|shell| modes[*shell] > 0) {
            let (t, k) = (Exact(t), Exact(k[shell]));
            let _ = write!(text, "{step},{t},{shell},{k},{}", modes[shell]);
            for column in &columns {
                let _ = write!(text, ",{}", Exact(column[shell]));
            }
            text.push('\n');
        }
        Ok(text)
    }

    /// S(k) of a species, averaged over each shell.
    fn factor<T: Precision>(&self, field: &Field<T>, species: usize) -> Result<Vec<f64>, Finding> {
        let [nx, ny, nz] = self.grid.shape();
        let half = nx / 2 + 1;
        let mut spectrum: Vec<Complex<f64>> = Vec::new();
        if spectrum.try_reserve_exact(half * ny * nz).is_err() {
            return Err(Finding::error("there is no memory for the structure factor")
                .help("take fewer cells, or leave out `structure`"));
        }
        spectrum.resize(half * ny * nz, Complex::default());
        let (mean, cells) = self.mean(field, species);
        let mut row = vec![0.0; nx];
        let mut scratch = self.along_x.make_scratch_vec();
        for (number, waves) in spectrum.chunks_exact_mut(half).enumerate() {
            let (y, z) = (number % ny, number / ny);
            for (x, value) in field.row(species, y, z).iter().enumerate() {
                row[x] = if self.counts([x, y, z]) { value.to_f64() - mean } else { 0.0 };
            }
            let done = self.along_x.process_with_scratch(&mut row, waves, &mut scratch);
            done.map_err(|error| Finding::error(format!("the structure factor: {error}")))?;
        }
        across(&*self.across[0], &mut spectrum, half);
        across(&*self.across[1], &mut spectrum, half * ny);
        let mut sums = vec![0.0; self.shells.modes.len()];
        each_wave(&self.grid, |at, times, k| {
            sums[self.shells.number(k)] += times as f64 * spectrum[at].norm_sqr();
        });
        for (sum, modes) in sums.iter_mut().zip(&self.shells.modes) {
            *sum /= (*modes).max(1) as f64 * cells.max(1) as f64;
        }
        Ok(sums)
    }

    /// Whether a cell belongs to the domain.
    fn counts(&self, cell: [usize; 3]) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask.contains(cell))
    }

    /// Mean over the domain, and its cells.
    fn mean<T: Precision>(&self, field: &Field<T>, species: usize) -> (f64, usize) {
        let [_, ny, nz] = self.grid.shape();
        let (mut sum, mut cells) = (0.0, 0);
        for (y, z) in (0..nz).flat_map(|z| (0..ny).map(move |y| (y, z))) {
            // A sum of sums of rows loses less than one over all cells.
            let mut of_row = 0.0;
            for (x, value) in field.row(species, y, z).iter().enumerate() {
                if self.counts([x, y, z]) {
                    of_row += value.to_f64();
                    cells += 1;
                }
            }
            sum += of_row;
        }
        (sum / cells.max(1) as f64, cells)
    }
}

/// Transforms lines of numbers that are `stride` apart, of all that follow each other.
fn across(fft: &dyn Fft<f64>, spectrum: &mut [Complex<f64>], stride: usize) {
    let n = fft.len();
    let mut lines = vec![Complex::default(); TOGETHER * n];
    let mut scratch = vec![Complex::default(); fft.get_inplace_scratch_len()];
    for block in spectrum.chunks_exact_mut(n * stride) {
        for first in (0..stride).step_by(TOGETHER) {
            let width = TOGETHER.min(stride - first);
            let lines = &mut lines[..width * n];
            for (j, row) in block.chunks_exact(stride).enumerate() {
                for (w, value) in row[first..first + width].iter().enumerate() {
                    lines[w * n + j] = *value;
                }
            }
            fft.process_with_scratch(lines, &mut scratch);
            for (j, row) in block.chunks_exact_mut(stride).enumerate() {
                for (w, value) in row[first..first + width].iter_mut().enumerate() {
                    *value = lines[w * n + j];
                }
            }
        }
    }
}

/// Calls `f` for each wave of the half spectrum of a real field: its place there, how many waves
/// of the whole it stands for, and its wave number \[radians per length\].
fn each_wave(grid: &Grid, mut f: impl FnMut(usize, u64, f64)) {
    let ([nx, ny, nz], spacing) = (grid.shape(), grid.spacing());
    let half = nx / 2 + 1;
    let component = |axis: usize, i: usize| {
        let n = grid.shape()[axis];
        let waves = if 2 * i <= n { i as f64 } else { i as f64 - n as f64 };
        TAU * waves / (n as f64 * spacing[axis])
    };
    for z in 0..nz {
        for y in 0..ny {
            let (kz, ky) = (component(2, z), component(1, y));
            for x in 0..half {
                let kx = component(0, x);
                let times = if x == 0 || 2 * x == nx { 1 } else { 2 };
                f((z * ny + y) * half + x, times, (kx * kx + ky * ky + kz * kz).sqrt());
            }
        }
    }
}

impl Shells {
    /// As far apart as the shortest wave vector of the box is long.
    fn of(grid: &Grid) -> Shells {
        let wide = (0..3).filter(|axis| grid.shape()[*axis] > 1);
        let longest = wide.map(|axis| grid.shape()[axis] as f64 * grid.spacing()[axis]);
        let longest = longest.fold(0.0, f64::max);
        let width = if longest > 0.0 { TAU / longest } else { 1.0 };
        let mut shells = Shells { width, modes: Vec::new(), k: Vec::new() };
        each_wave(grid, |_, times, k| {
            let shell = shells.number(k);
            if shell >= shells.modes.len() {
                shells.modes.resize(shell + 1, 0);
                shells.k.resize(shell + 1, 0.0);
            }
            shells.modes[shell] += times;
            shells.k[shell] += times as f64 * k;
        });
        for (k, modes) in shells.k.iter_mut().zip(&shells.modes) {
            *k /= (*modes).max(1) as f64;
        }
        shells
    }

    /// The shell nearest to a wave number.
    fn number(&self, k: f64) -> usize {
        (k / self.width).round() as usize
    }
}
