//! Several steps of forward Euler in one pass over a tile.
//!
//! Step k computes plane z when step k − 1 has computed plane z + 1, so that a tile keeps but the
//! newest planes of the steps between, which stay in the second-level cache; the field is read
//! and written once. Steps before the last go so far beyond the tile as those after them read:
//! neighbouring tiles compute these rows again and wait for nobody. A row is computed by the same
//! code from the same numbers as by single steps, and has the same bits.

use super::combine::{Goal, add_sources, is_sound};
use super::gather::{At, Place};
use super::scratch::{Origin, Scratch};
use super::{Frame, Tile, line};
use crate::memory::{LINE, Lined};
use crate::plan::Plan;
use odeum_core::{Lanes, Scalar};
use std::ops::Range;

/// Planes of a step that are kept; three are read, and a power of two is quick to find.
const KEPT: usize = 4;

/// Bytes of planes that a tile keeps, and reads more than once (of a second-level cache of 1 MB).
const CACHE: usize = 640 * 1024;

/// What a tile keeps of a step.
struct Ring<T> {
    values: Lined<T>,
    place: Place,
}

impl<T: Scalar> Ring<T> {
    fn new(plan: &Plan<T>, rows: &Range<isize>) -> Ring<T> {
        let layout = &plan.layout;
        let plane = layout.row * rows.len() + LINE / size_of::<T>();
        let volume = KEPT * plane;
        let values = Lined::new(T::from_f64(0.0), layout.species * volume);
        let (first, planes) = (rows.start, KEPT - 1);
        Ring {
            values,
            place: Place { row: layout.row, plane, volume, first, planes, whole: false },
        }
    }
}

/// A range of rows or planes, and so many more at both ends; no more than there are, unless the
/// box continues there.
fn grown(range: &Range<usize>, more: usize, n: usize, periodic: bool) -> Range<isize> {
    let (start, end) = (range.start as isize - more as isize, (range.end + more) as isize);
    if periodic { start..end } else { start.max(0)..end.min(n as isize) }
}

/// Computes all rows of a tile after as many steps as there are moments; true when every value
/// on the way is finite.
#[inline(always)]
pub(super) fn run<L: Lanes>(frame: &Frame<'_, L::Scalar>, tile: &Tile) -> bool {
    let plan = frame.plan;
    let [_, ny, nz] = plan.layout.shape;
    let [_, along_y, along_z] = plan.periodic();
    let wide = plan.layout.wide::<L::Scalar>();
    let last = frame.moments.len() - 1;
    let rows = |k: usize| grown(&tile.y, last - k, ny, along_y);
    let mut rings: Vec<Ring<L::Scalar>> = (0..last).map(|k| Ring::new(plan, &rows(k))).collect();
    let mut scratch = Scratch::new(plan, tile.y.len(), frame.together);
    let mut spoiled = L::lit(0.0);
    for newest in tile.z.start as isize - last as isize..(tile.z.end + last) as isize {
        for k in 0..=last {
            let plane = newest - k as isize;
            if !grown(&tile.z, last - k, nz, along_z).contains(&plane) {
                continue;
            }
            let (before, after) = rings.split_at_mut(k);
            let moment = &frame.moments[k];
            let origin = match before.last() {
                None => Origin { moment, ..Origin::of_sweep(frame) },
                Some(Ring { values, place }) => {
                    Origin { plan, solids: None, moment, values, place: *place }
                }
            };
            scratch.load(plan, moment.t);
            let z = plane.rem_euclid(nz as isize);
            let mut row = rows(k).start;
            while row < rows(k).end {
                let y = row.rem_euclid(ny as isize);
                // A whole field has every row once.
                let end = rows(k).end;
                let at = match k {
                    0 => At::cut(frame, (y, z), y + (end - row)),
                    _ => At::cut(frame, (row, plane), end),
                };
                let cell = (y as usize, z as usize);
                let kept = after.first_mut().map(|ring| {
                    let Ring { values, place } = ring;
                    let first = place.row_at(0, row, plane);
                    let len = (at.rows - 1) * plan.layout.row + wide;
                    let last = first + (plan.layout.species - 1) * place.volume;
                    assert!(last + len <= values.len());
                    (values[first..].as_mut_ptr(), place.volume)
                });
                let code = if kept.is_none() { &frame.outputs } else { &frame.between };
                let goal = Goal { frame, cell, rows: at.rows, kept };
                let made = line::make::<L>(code.as_deref(), &origin, &mut scratch, at, goal);
                spoiled = spoiled + made;
                for s in 0..plan.layout.species {
                    let start = goal.out(s);
                    for n in 0..at.rows {
                        let (cell, first) = ((cell.0 + n, cell.1), n * plan.layout.row);
                        let first = start.wrapping_add(first);
                        // SAFETY: the row is the tile's, and nobody holds it any more.
                        unsafe { add_sources(&moment.sources, frame.slope, s, cell, first) };
                    }
                }
                row += at.rows as isize;
            }
        }
    }
    is_sound(spoiled)
}

/// Cuts a grid into tiles for so many steps at once: such that planes stay in the cache, all
/// threads have equally much to do, and little is computed twice.
pub(super) fn tiles<T: Scalar>(plan: &Plan<T>, threads: usize, steps: usize) -> Vec<Tile> {
    let [_, ny, nz] = plan.layout.shape;
    let row = plan.layout.row * size_of::<T>() * plan.layout.species * (3 + KEPT * (steps - 1));
    let most = (CACHE / row).saturating_sub(steps).clamp(steps, ny.max(steps));
    let least = ny.div_ceil(most);
    let cost = |wide: usize, deep: usize| {
        let (y, z) = (ny.div_ceil(wide), nz.div_ceil(deep));
        let sizes = (0..steps).map(|k| (y + 2 * k).min(ny) * (z + 2 * k).min(nz));
        (wide * deep).div_ceil(threads) * sizes.sum::<usize>()
    };
    let widest = (2 * least).max(threads).min(ny);
    let cuts = (least..=widest.max(least))
        .flat_map(|wide| (1..=nz.min(2 * threads)).map(move |deep| (wide, deep)));
    let (wide, deep) = cuts.min_by_key(|&(wide, deep)| cost(wide, deep)).unwrap_or((least, 1));
    super::cut(ny, nz, wide, deep)
}
