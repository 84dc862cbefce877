//! The kernels of a step, in order.

use super::points::Points;
use super::{Blocks, Kernel};
use crate::problems::Builtin;

/// Of all kernels of a text; the last is there for the front only.
pub(super) const KERNELS: [&str; 8] = [
    "od_published_faces_x",
    "od_published_faces_y",
    "od_published_faces_z",
    "od_published_edges_x",
    "od_published_edges_y",
    "od_published_edges_z",
    "od_published_step",
    "od_published_laplacian_of_c",
];
const STEP: usize = 6;
const LAPLACIAN: usize = 7;

/// Threads of a block of the boundary kernels, of which the paper says that they are not optimised.
const FACE: [usize; 2] = [32, 8];
const EDGE: [usize; 2] = [128, 1];

/// Where a kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Now,
    Next,
    Laplacian,
}

/// A kernel to start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch {
    /// Its number in [`KERNELS`].
    pub(super) kernel: usize,
    pub(super) blocks: [usize; 3],
    /// Threads of a block: x, and y and z as one.
    pub(super) threads: [usize; 2],
    pub(super) to: Place,
    /// Arrays whose boundary is set, and whether the first has the inflow.
    pub(super) arrays: usize,
    pub(super) inflow: bool,
}

/// The kernels of a text for a problem.
pub(super) fn kernels(builtin: Builtin) -> &'static [&'static str] {
    if builtin == Builtin::Front { &KERNELS } else { &KERNELS[..=STEP] }
}

/// The launches of a step (table 3, lines 4 to 9; section 4.1 on the front).
pub(super) fn of_step(builtin: Builtin, shape: Blocks, points: &Points) -> Vec<Launch> {
    let mut all = Vec::new();
    let front = builtin == Builtin::Front;
    boundary(points, Place::Now, points.species, front, &mut all);
    if front {
        all.push(compute(LAPLACIAN, shape, points, Place::Laplacian));
        boundary(points, Place::Laplacian, 1, false, &mut all);
    }
    all.push(compute(STEP, shape, points, Place::Next));
    all
}

fn boundary(points: &Points, to: Place, arrays: usize, inflow: bool, all: &mut Vec<Launch>) {
    let [nx, ny, nz] = points.cells;
    for (kernel, [u, v]) in [[ny, nz], [nx, nz], [nx, ny]].into_iter().enumerate() {
        let blocks = [u.div_ceil(FACE[0]), v.div_ceil(FACE[1]), 1];
        all.push(Launch { kernel, blocks, threads: FACE, to, arrays, inflow });
    }
    for (axis, n) in [nx, ny, nz].into_iter().enumerate() {
        let blocks = [n.div_ceil(EDGE[0]), 1, 1];
        all.push(Launch { kernel: 3 + axis, blocks, threads: EDGE, to, arrays, inflow });
    }
}

fn compute(kernel: usize, shape: Blocks, points: &Points, to: Place) -> Launch {
    let [w, h, d] = shape.threads;
    let [nx, ny, nz] = points.cells;
    let blocks = match shape.kernel {
        Kernel::Shared => [nx.div_ceil(w - 2), ny.div_ceil(h - 2), 1],
        Kernel::MovingTiles => [ny.div_ceil(h - 2), nz.div_ceil(d - 2), 1],
    };
    Launch { kernel, blocks, threads: [w, h * d], to, arrays: points.species, inflow: false }
}
