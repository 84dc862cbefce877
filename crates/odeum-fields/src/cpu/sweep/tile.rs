//! Tiles: which rows a thread computes at a time.

use crate::plan::{Kernel, Plan};
use odeum_core::Scalar;
use std::ops::Range;

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

/// Operations of a sweep below which threads that would share it take longer to meet than it takes.
const ALONE: usize = 1 << 18;

/// Operations for a cell and species beside those of a program: Laplacian and combination.
const AROUND: usize = 8;

/// How many of so many threads share a sweep.
pub(super) fn sharing<T: Scalar>(plan: &Plan<T>, threads: usize) -> usize {
    let [nx, ny, nz] = plan.layout.shape;
    let reaction = match &plan.kernel {
        Kernel::Diffusion(_) => 0,
        Kernel::Tape(tape) => tape.rhs.len() + tape.potentials.len(),
    };
    let of_cell = AROUND * (plan.layout.species + plan.n_potentials()) + reaction;
    let all = (nx * ny * nz).saturating_mul(of_cell);
    if all < ALONE { 1 } else { threads }
}

/// Cuts the rows of a grid into tiles.
pub(super) fn tiles<T>(plan: &Plan<T>, threads: usize) -> Vec<Tile> {
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
pub(super) fn cut(ny: usize, nz: usize, wide: usize, deep: usize) -> Vec<Tile> {
    let part = |n: usize, parts: usize, k: usize| n * k / parts..n * (k + 1) / parts;
    let all = (0..deep).flat_map(|k| (0..wide).map(move |j| (j, k)));
    let tiles = all.map(|(j, k)| Tile { y: part(ny, wide, j), z: part(nz, deep, k) });
    tiles.filter(|tile| !tile.y.is_empty() && !tile.z.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::Builtin;

    #[test]
    fn small_grids_are_swept_by_one_thread() {
        let sharing = |builtin: Builtin, shape| {
            let problem = builtin.problem(shape).unwrap();
            sharing(&Plan::<f32>::new(&problem).unwrap(), 8)
        };
        assert_eq!(sharing(Builtin::Diffusion, [4096, 1, 1]), 1);
        assert_eq!(sharing(Builtin::Diffusion, [100, 100, 1]), 1);
        assert_eq!(sharing(Builtin::Diffusion, [64, 64, 64]), 8);
        // What takes longer for a cell pays sooner.
        let shape = [100, 100, 2];
        assert_eq!((sharing(Builtin::Diffusion, shape), sharing(Builtin::Front, shape)), (1, 8));
    }

    #[test]
    fn tiles_have_every_row_once() {
        for (ny, nz, wide, deep) in [(1, 1, 1, 1), (7, 5, 3, 2), (4, 9, 8, 4), (64, 64, 1, 3)] {
            let mut seen = vec![0; ny * nz];
            for tile in cut(ny, nz, wide, deep) {
                for z in tile.z.clone() {
                    tile.y.clone().for_each(|y| seen[z * ny + y] += 1);
                }
            }
            assert!(seen.iter().all(|times| *times == 1), "{ny} {nz} {wide} {deep}");
        }
    }
}
