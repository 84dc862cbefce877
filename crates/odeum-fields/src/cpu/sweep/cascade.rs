//! One pass over a tile: a sweep, or several steps of forward Euler.
//!
//! A pass has stages: for each step the potentials, where a model has any, then the step itself. A
//! stage computes plane z when the one before has computed plane z + 1, so that a tile keeps but
//! the newest planes of the stages between, which stay in the second-level cache; the field is
//! read and written once. Stages before the last go so far beyond the tile as those after them
//! read: neighbouring tiles compute these rows again and wait for nobody. A row is computed by the
//! same code from the same numbers however many steps a pass has, and has the same bits.

use super::combine::{Goal, add_sources, is_finite};
use super::gather::At;
use super::memory::Memory;
use super::program::{self, Which};
use super::ring::{PLANES, Ring};
use super::row::PAD;
use super::scratch::{Origin, Potentials, Scratch};
use super::tile::Tile;
use super::{Frame, coded, line, nine};
use crate::field::memory::within_second_level;
use crate::plan::{Plan, Tape};
use odeum_core::{Lanes, Scalar};
use std::ops::Range;

/// Bytes of planes that a tile keeps, and reads more than once, where the second-level cache has
/// 1 MB.
const CACHE: usize = 640 * 1024;

/// Stages of a step: that of the potentials, where there are any, and the step itself.
fn of_step<T: Scalar>(plan: &Plan<T>) -> usize {
    if plan.n_potentials() > 0 { 2 } else { 1 }
}

/// Species or potentials of a stage.
fn count_of<T: Scalar>(plan: &Plan<T>, stage: usize) -> usize {
    match stage % of_step(plan) == of_step(plan) - 1 {
        true => plan.layout.species,
        false => plan.n_potentials(),
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
pub(super) fn run<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    tile: &Tile,
    memory: &mut Memory<L::Scalar>,
) -> bool {
    let plan = frame.plan;
    let [_, ny, nz] = plan.layout.shape;
    let [_, along_y, along_z] = plan.periodic();
    let of_step = of_step(plan);
    let last = of_step * frame.moments.len() - 1;
    let rows = |stage: usize| grown(&tile.y, last - stage, ny, along_y);
    let Memory { scratch, rings, .. } = memory;
    if rings.len() < last {
        rings.resize_with(last, Ring::new);
    }
    let rings = &mut rings[..last];
    for (stage, ring) in rings.iter_mut().enumerate() {
        ring.lay(plan, count_of(plan, stage), &rows(stage));
    }
    let scratch = scratch.get_or_insert_with(|| Box::new(Scratch::new(plan, frame.together)));
    let interprets = frame.interprets();
    let mut loaded = usize::MAX;
    let mut non_finite = L::lit(0.0);
    for newest in tile.z.start as isize - last as isize..(tile.z.end + last) as isize {
        for stage in 0..=last {
            let plane = newest - stage as isize;
            if !grown(&tile.z, last - stage, nz, along_z).contains(&plane) {
                continue;
            }
            let (before, after) = rings.split_at_mut(stage);
            let step = stage / of_step;
            let moment = &frame.moments[step];
            if loaded != step && interprets {
                scratch.load(plan, moment.t);
                loaded = step;
            }
            let mut origin = match (step * of_step).checked_sub(1) {
                None => Origin::of_sweep(frame),
                Some(n) => Origin::of_tile(plan, moment, &before[n].values, before[n].place),
            };
            let potentials = plan.with_potentials().filter(|_| stage % of_step == 0);
            let Range { start: mut row, end } = rows(stage);
            while row < end {
                // A whole field has every row once.
                let y = row.rem_euclid(ny as isize);
                let z = plane.rem_euclid(nz as isize);
                let at = match step {
                    0 => At::cut(frame, (y, z), y + (end - row)),
                    _ => At::cut(frame, (row, plane), end),
                };
                let kept = after.first_mut().map(|ring| ring.rows(plan, (row, plane), at.rows));
                if let (Some(tape), Some(kept)) = (potentials, kept) {
                    potential_rows::<L>(frame, &origin, tape, scratch, at, kept);
                } else {
                    if of_step > 1 {
                        let Ring { values, place } = &before[stage - 1];
                        let at = At { y: row, z: plane, rows: at.rows };
                        origin.potentials = Some(Potentials { values, place: *place, at });
                    }
                    let goal = Goal { frame, cell: (y as usize, z as usize), rows: at.rows, kept };
                    non_finite = non_finite + step_rows::<L>(frame, &origin, scratch, at, goal);
                }
                row += at.rows as isize;
            }
        }
    }
    is_finite(non_finite)
}

/// Computes rows of a step; NaN in a lane when a value is not finite.
#[inline(always)]
fn step_rows<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
    goal: Goal<'_, L::Scalar>,
) -> L {
    let code = match goal.kept {
        Some(_) => frame.between,
        None if origin.solids(at).is_some() => frame.near_solids,
        None => frame.outputs,
    };
    let mut non_finite = line::make::<L>(code, origin, scratch, at, goal);
    for s in 0..frame.plan.layout.species {
        let start = goal.out(s);
        for n in 0..at.rows {
            let cell = (goal.cell.0 + n, goal.cell.1);
            let first = start.wrapping_add(n * frame.plan.layout.row);
            // SAFETY: the row is the tile's, and nobody holds it any more.
            let finite = unsafe { add_sources(&origin.moment.sources, frame.rhs, s, cell, first) };
            if !finite {
                non_finite = L::lit(f64::NAN);
            }
        }
    }
    non_finite
}

/// Computes rows of the potentials to where those of the first begin, and from one to the next.
#[inline(always)]
fn potential_rows<L: Lanes>(
    frame: &Frame<'_, L::Scalar>,
    origin: &Origin<'_, L::Scalar>,
    tape: &Tape,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
    (first, volume): (*mut L::Scalar, usize),
) {
    nine::laplacians::<L>(origin, &tape.potential_inputs, scratch, at);
    if let Some(code) = frame.potentials {
        return coded::potentials::<L>(code, tape, origin, scratch, at, (first, volume));
    }
    program::run::<L>(Which::Potentials, tape, origin, scratch, at);
    let len = (at.rows - 1) * origin.plan.layout.row + origin.plan.layout.wide::<L::Scalar>();
    for k in 0..tape.n_potentials {
        // SAFETY: there is room for so much in the ring that nobody else holds.
        let to = unsafe { std::slice::from_raw_parts_mut(first.add(k * volume), len) };
        to.copy_from_slice(&scratch.rates[k * scratch.stride + PAD..][..len]);
    }
}

/// Cuts a grid into tiles for so many steps at once: such that planes stay in the cache, all
/// threads have equally much to do, and little is computed twice.
pub(super) fn tiles<T: Scalar>(plan: &Plan<T>, threads: usize, steps: usize) -> Vec<Tile> {
    let [_, ny, nz] = plan.layout.shape;
    let last = of_step(plan) * steps - 1;
    let kept = PLANES * (0..last).map(|stage| count_of(plan, stage)).sum::<usize>();
    let row = plan.layout.row * size_of::<T>() * (3 * plan.layout.species + kept);
    let most = (within_second_level(CACHE) / row)
        .saturating_sub(last + 1)
        .clamp(last + 1, ny.max(last + 1));
    let least = ny.div_ceil(most);
    let cost = |across: usize, deep: usize| {
        let (y, z) = (ny.div_ceil(across), nz.div_ceil(deep));
        let of_stage = |stage: usize| {
            let around = 2 * (last - stage);
            count_of(plan, stage) * (y + around).min(ny) * (z + around).min(nz)
        };
        (across * deep).div_ceil(threads) * (0..=last).map(of_stage).sum::<usize>()
    };
    let widest = (2 * least).max(threads).min(ny);
    let cuts = (least..=widest.max(least))
        .flat_map(|wide| (1..=nz.min(2 * threads)).map(move |deep| (wide, deep)));
    let (wide, deep) = cuts.min_by_key(|&(wide, deep)| cost(wide, deep)).unwrap_or((least, 1));
    super::tile::cut(ny, nz, wide, deep)
}
