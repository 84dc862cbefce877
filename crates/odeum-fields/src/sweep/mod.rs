//! One pass over the grid: out = own · out + Σ cₖ Vₖ + slope · F(t, u).
//!
//! Every explicit method is a sequence of such sweeps. A sweep is cut into tiles that write
//! disjoint rows; a row is computed from the rows around it by code that does not know the tile,
//! so the bits of a result depend neither on the tiles nor on the threads.

mod cascade;
mod coded;
pub(crate) mod combine;
mod faces;
mod gain;
mod gather;
mod laplacian;
mod line;
mod masked;
mod nine;
mod program;
mod row;
mod scratch;
mod transport;

pub(crate) use coded::Codes;

use crate::field::Field;
use crate::native::{Code, Factors};
use crate::plan::{Blow, Plan};
use crate::solids::Solids;
use crate::walls::{Ghost, Ghosts};
use odeum_core::lanes::{LaneWork, stream_fence};
use odeum_core::{Isa, Lanes, Scalar};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// What a sweep computes from F and other fields of the same shape.
#[derive(Clone, Copy)]
pub struct Combination<'a, T> {
    /// The factor of F.
    pub slope: f64,
    /// The factor of the old content of the output; `None` to leave that unread.
    pub own: Option<f64>,
    /// Factors and fields.
    pub terms: &'a [(f64, &'a Field<T>)],
}

/// `f32` and `f64`: the precisions that fields are computed in.
///
/// Their kernels are compiled once, here, and not again in every crate that uses them.
pub trait Precision: Scalar {
    /// Computes the rows of a tile; true when every value of the output is finite.
    #[doc(hidden)]
    fn tile(isa: Isa, frame: &Frame<'_, Self>, tile: &Tile) -> bool;
}

impl Precision for f32 {
    fn tile(isa: Isa, frame: &Frame<'_, f32>, tile: &Tile) -> bool {
        run_tile(isa, frame, tile)
    }
}

impl Precision for f64 {
    fn tile(isa: Isa, frame: &Frame<'_, f64>, tile: &Tile) -> bool {
        run_tile(isa, frame, tile)
    }
}

fn run_tile<T: Scalar>(isa: Isa, frame: &Frame<'_, T>, tile: &Tile) -> bool {
    let sound = match frame.slope == T::from_f64(0.0) && frame.moments.len() == 1 {
        true => isa.dispatch(Combine { frame, tile }),
        false => isa.dispatch(Sweep { frame, tile }),
    };
    stream_fence();
    sound
}

/// A time, and what follows from it.
pub(crate) struct Moment<T> {
    pub(crate) t: f64,
    /// Ghosts of each species, then of the potentials.
    pub(crate) ghosts: Vec<Ghosts<T>>,
    /// Ghosts of winds and coefficients.
    pub(crate) inherited: Ghosts<T>,
    /// w/h of a uniform wind.
    pub(crate) speed: [f64; 3],
    /// Species, cell and rate of point sources.
    pub(crate) sources: Vec<(usize, [usize; 3], f64)>,
    /// What the code of outputs and that of potentials read.
    pub(crate) numbers: [Vec<T>; 2],
}

impl<T: Scalar> Moment<T> {
    fn new(plan: &Plan<T>, t: f64) -> Moment<T> {
        let mut ghosts: Vec<Ghosts<T>> = plan.walls.iter().map(|walls| walls.at(t)).collect();
        let inherited = transport::inherited(&ghosts[0]);
        let of_potentials = plan.walls[0].of_potential().at(t);
        ghosts.extend(vec![of_potentials; plan.n_potentials()]);
        let spacing = plan.grid.spacing();
        let speed = match &plan.wind {
            Some(Blow::Uniform(w)) => [0, 1, 2].map(|axis| w[axis].at(t) / spacing[axis]),
            _ => [0.0; 3],
        };
        let sources = plan.sources.iter().map(|s| (s.species, s.cell, s.rate.at(t))).collect();
        Moment { t, ghosts, inherited, speed, sources, numbers: [Vec::new(), Vec::new()] }
    }

    /// With the numbers that codes read.
    fn with_numbers(
        self,
        outputs: Option<&Code>,
        potentials: Option<&Code>,
        factors: &Factors<'_>,
    ) -> Moment<T> {
        let of =
            |code: Option<&Code>| code.map_or(Vec::new(), |code| code.scalars(self.t, factors));
        Moment { numbers: [of(outputs), of(potentials)], ..self }
    }
}

/// Whether there are ghosts along z that no cell is equal to.
fn walls_in_z<T: Scalar>(moments: &[Moment<T>]) -> bool {
    let ends = moments.iter().flat_map(|moment| &moment.ghosts).flat_map(|ghosts| &ghosts[2]);
    ends.into_iter().any(|ghost| matches!(ghost, Ghost::Affine { .. }))
}

/// What all tiles of a sweep share.
pub struct Frame<'a, T> {
    pub(crate) plan: &'a Plan<T>,
    pub(crate) solids: Option<&'a Solids>,
    pub(crate) moments: Vec<Moment<T>>,
    pub(crate) u: &'a [T],
    pub(crate) slope: T,
    pub(crate) own: Option<T>,
    pub(crate) terms: Vec<(T, &'a [T])>,
    /// Whether what F is taken of is added, in place of all terms.
    pub(crate) from_here: bool,
    pub(crate) out: Output<T>,
    /// Whether the output is written past the caches.
    pub(crate) streams: bool,
    /// Rows that are computed together where no ghosts are near.
    pub(crate) together: usize,
    /// Whether the ghosts of a wall along z have to be computed.
    pub(crate) walls_in_z: bool,
    /// The code of rows of the output, of those that solid cells are near, of those of steps
    /// between, and of potentials.
    pub(crate) outputs: Option<Arc<Code>>,
    pub(crate) near_solids: Option<Arc<Code>>,
    pub(crate) between: Option<Arc<Code>>,
    pub(crate) potentials: Option<&'a Code>,
}

/// The field that a sweep writes.
pub(crate) struct Output<T>(*mut T);

// SAFETY: tiles write disjoint rows, and nobody reads the output while a sweep runs.
unsafe impl<T: Send> Send for Output<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Output<T> {}

impl<T> Output<T> {
    /// A value of the field.
    fn at(&self, at: usize) -> *mut T {
        self.0.wrapping_add(at)
    }
}

/// Rows that one thread computes at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    pub(crate) y: Range<usize>,
    pub(crate) z: Range<usize>,
}

/// Bytes of rows that a tile goes over from one plane to the next: they should still lie in the
/// second-level cache when they are needed again.
const CACHE: usize = 384 * 1024;

/// Bytes of a field from which on it is not kept in the caches from one sweep to the next anyhow.
pub(crate) const STREAM: usize = 12 << 20;

/// Cuts the rows of a grid into tiles.
pub(crate) fn tiles<T>(plan: &Plan<T>, threads: usize) -> Vec<Tile> {
    let [_, ny, nz] = plan.layout.shape;
    let bytes = plan.layout.row * size_of::<T>() * plan.layout.species * 4;
    let deepest = (CACHE / bytes).clamp(4, ny.max(4));
    let wide = ny.div_ceil(deepest);
    // Two pieces for each thread, so that one that is late can be helped.
    let pieces = if threads == 1 { 1 } else { 2 * threads };
    let deep = pieces.div_ceil(wide).min(nz.div_ceil(4)).max(1);
    let wide = wide.max(pieces.div_ceil(deep).min(ny.div_ceil(4)));
    cut(ny, nz, wide, deep)
}

/// Tiles of so many pieces along y and z.
fn cut(ny: usize, nz: usize, wide: usize, deep: usize) -> Vec<Tile> {
    let part = |n: usize, parts: usize, k: usize| n * k / parts..n * (k + 1) / parts;
    let all = (0..deep).flat_map(|k| (0..wide).map(move |j| (j, k)));
    let tiles = all.map(|(j, k)| Tile { y: part(ny, wide, j), z: part(nz, deep, k) });
    tiles.filter(|tile| !tile.y.is_empty() && !tile.z.is_empty()).collect()
}

/// Runs a sweep over the tiles, without a pool on the thread that calls; true when every value of
/// the output is finite.
pub(crate) fn sweep<T: Precision>(
    (plan, solids): (&Plan<T>, Option<&Solids>),
    codes: &Codes,
    tiles: &[Tile],
    isa: Isa,
    pool: Option<&rayon::ThreadPool>,
    t: f64,
    u: &Field<T>,
    what: &Combination<'_, T>,
    out: &mut Field<T>,
) -> bool {
    let streams = what.own.is_none() && plan.layout.len() * size_of::<T>() > STREAM;
    let factors: Vec<f64> = what.terms.iter().map(|(factor, _)| *factor).collect();
    let here = what.terms.first().is_some_and(|(_, field)| std::ptr::eq(*field, u));
    let form = (here, factors.len() - usize::from(here), what.own.is_some());
    let outputs = if what.slope == 0.0 { None } else { codes.outputs(plan, form, streams, false) };
    // It reads the same numbers, which are there where there is code of other rows.
    let near_solids = match (&outputs, solids) {
        (Some(_), Some(_)) => codes.outputs(plan, form, streams, true),
        _ => None,
    };
    // A step of forward Euler.
    let from_here = here && what.own.is_none() && what.slope != 0.0 && factors == [1.0];
    let terms = if from_here { &[] } else { what.terms };
    let factors = Factors { slope: what.slope, own: what.own.unwrap_or(0.0), terms: &factors };
    let potentials = codes.potentials();
    let moment = Moment::new(plan, t).with_numbers(outputs.as_deref(), potentials, &factors);
    let moments = vec![moment];
    let frame = Frame {
        plan,
        solids,
        outputs,
        near_solids,
        between: None,
        potentials,
        together: scratch::together(plan),
        walls_in_z: walls_in_z(&moments),
        moments,
        u: u.values(),
        slope: T::from_f64(what.slope),
        own: what.own.map(T::from_f64),
        terms: terms.iter().map(|(c, field)| (T::from_f64(*c), field.values())).collect(),
        from_here,
        out: Output(out.values_mut().as_mut_ptr()),
        streams,
    };
    over(tiles, isa, pool, &frame)
}

/// Steps of forward Euler of size `h` from these times on, all in one pass; true when every value
/// on the way is finite.
pub(crate) fn steps<T: Precision>(
    plan: &Plan<T>,
    codes: &Codes,
    (threads, isa): (usize, Isa),
    pool: Option<&rayon::ThreadPool>,
    times: &[f64],
    h: f64,
    u: &Field<T>,
    out: &mut Field<T>,
) -> bool {
    let tiles = cascade::tiles(plan, threads, times.len());
    let streams = plan.layout.len() * size_of::<T>() > STREAM;
    let form = (true, 0, false);
    let outputs = codes.outputs(plan, form, streams, false);
    let between = codes.outputs(plan, form, false, false);
    let factors = Factors { slope: h, own: 0.0, terms: &[1.0] };
    let (numbers, potentials) = (outputs.as_deref(), codes.potentials());
    let moment = |t: &f64| Moment::new(plan, *t).with_numbers(numbers, potentials, &factors);
    let moments: Vec<Moment<T>> = times.iter().map(moment).collect();
    let frame = Frame {
        plan,
        solids: None,
        outputs,
        near_solids: None,
        between,
        potentials,
        together: scratch::together(plan),
        walls_in_z: walls_in_z(&moments),
        moments,
        u: u.values(),
        slope: T::from_f64(h),
        own: None,
        terms: Vec::new(),
        from_here: true,
        out: Output(out.values_mut().as_mut_ptr()),
        streams,
    };
    over(&tiles, isa, pool, &frame)
}

/// Runs a frame over tiles.
fn over<T: Precision>(
    tiles: &[Tile],
    isa: Isa,
    pool: Option<&rayon::ThreadPool>,
    frame: &Frame<'_, T>,
) -> bool {
    let run = |tile: &Tile| T::tile(isa, frame, tile);
    match pool {
        None => tiles.iter().map(run).fold(true, |all, sound| all & sound),
        Some(pool) => {
            let all = || tiles.par_iter().with_max_len(1).map(run).reduce(|| true, |a, b| a & b);
            pool.install(all)
        }
    }
}

/// A tile of a combination of fields alone.
struct Combine<'a, T> {
    frame: &'a Frame<'a, T>,
    tile: &'a Tile,
}

impl<T: Scalar> LaneWork<T> for Combine<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> bool {
        combine::without_slope::<L>(self.frame, self.tile)
    }
}

/// A tile with F.
struct Sweep<'a, T> {
    frame: &'a Frame<'a, T>,
    tile: &'a Tile,
}

impl<T: Scalar> LaneWork<T> for Sweep<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> bool {
        cascade::run::<L>(self.frame, self.tile)
    }
}
