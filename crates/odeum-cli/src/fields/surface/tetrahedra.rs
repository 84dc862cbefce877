//! Triangles of an isosurface, by marching tetrahedra.
//!
//! The cubes between cell centres are cut into six tetrahedra along one diagonal (Payne & Toga,
//! IEEE Comput. Graph. Appl. 10(5), 1990, 33–41, cut into five): every face of a cube is cut the same
//! way from both sides, so the surface has no cracks. A layer of cubes around the box, outside of
//! which the level is never exceeded, closes it at the boundaries; solid cells count as outside too.

use odeum_fields::{Field, Grid, Mask, Precision};
use std::ops::Range;

/// A corner: place, and direction across the surface (of any length; zero where the triangle's
/// own counts).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Corner {
    pub(super) at: [f64; 3],
    pub(super) normal: [f64; 3],
}

/// The corners of the six tetrahedra of a cube; bit 0 of a corner is x, bit 1 y, bit 2 z.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

/// A value that exceeds no level.
const OUTSIDE: f64 = -1e300;

/// Cubes of a piece, but for those of the last row.
const PIECE: usize = 16_384;

/// A layer of cubes, and rows of it.
pub(super) type Piece = (isize, Range<isize>);

/// The box in pieces. Layers and rows are numbered from -1: one beyond the box on either side.
pub(super) fn pieces(grid: &Grid) -> Vec<Piece> {
    let [nx, ny, nz] = grid.shape();
    let rows = PIECE.div_ceil(nx + 1) as isize;
    let (ny, nz) = (ny as isize, nz as isize);
    let of_layer = |k| (-1..ny).step_by(rows as usize).map(move |j| (k, j..(j + rows).min(ny)));
    (-1..nz).flat_map(of_layer).collect()
}

/// Hands out the triangles in a piece of the surface where a species has a level, around the
/// cells above it, or below.
pub(super) fn triangles<T: Precision>(
    (grid, mask): (&Grid, Option<&Mask>),
    field: &Field<T>,
    species: usize,
    level: f64,
    below: bool,
    (k, rows): Piece,
    give: &mut dyn FnMut([Corner; 3]),
) {
    // Below a level is above it upside down.
    let sign = if below { -1.0 } else { 1.0 };
    let level = sign * level;
    let lattice = Lattice { grid, mask, field, species, sign };
    let nx = grid.shape()[0] as isize;
    for j in rows {
        // The four values of a cube at its lower x, which are the upper ones of the cube before.
        let face = |i: isize| -> [f64; 4] {
            std::array::from_fn(|c| lattice.value([i, j + (c & 1) as isize, k + (c >> 1) as isize]))
        };
        let mut high_face = face(-1);
        for i in -1..nx {
            let low_face = std::mem::replace(&mut high_face, face(i + 1));
            let both = low_face.iter().chain(&high_face);
            if matches!(both.filter(|&&value| value > level).count(), 0 | 8) {
                continue;
            }
            let corner =
                |c: usize| [i + (c & 1) as isize, j + (c >> 1 & 1) as isize, k + (c >> 2) as isize];
            let values: [f64; 8] =
                std::array::from_fn(
                    |c| {
                        if c & 1 == 0 { low_face[c >> 1] } else { high_face[c >> 1] }
                    },
                );
            let inside = values.map(|value| value > level);
            for tetrahedron in TETRAHEDRA {
                // Those inside first, each in the order they have.
                let mut corners = tetrahedron;
                corners.sort_by_key(|&c| !inside[c]);
                let count = corners.iter().filter(|&&c| inside[c]).count();
                let (high, low) = corners.split_at(count);
                let cut = |a: usize, b: usize| {
                    lattice.cut((corner(a), values[a]), (corner(b), values[b]), level)
                };
                match (high, low) {
                    (&[a], &[b, c, d]) | (&[b, c, d], &[a]) => {
                        give([cut(a, b), cut(a, c), cut(a, d)]);
                    }
                    (&[a, b], &[c, d]) => {
                        let four = [cut(a, c), cut(a, d), cut(b, d), cut(b, c)];
                        give([four[0], four[1], four[2]]);
                        give([four[0], four[2], four[3]]);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Values at the centres of cells that belong to the domain, with nothing around them.
struct Lattice<'a, T: Precision> {
    grid: &'a Grid,
    mask: Option<&'a Mask>,
    field: &'a Field<T>,
    species: usize,
    sign: f64,
}

impl<T: Precision> Lattice<'_, T> {
    fn cell(&self, at: [isize; 3]) -> Option<[usize; 3]> {
        let shape = self.grid.shape();
        let within = (0..3).all(|axis| at[axis] >= 0 && at[axis] < shape[axis] as isize);
        let cell = within.then(|| at.map(|n| n as usize));
        cell.filter(|cell| self.mask.is_none_or(|mask| mask.contains(*cell)))
    }

    fn of(&self, cell: [usize; 3]) -> f64 {
        self.sign * self.field.get(self.species, cell).to_f64()
    }

    fn value(&self, at: [isize; 3]) -> f64 {
        self.cell(at).map_or(OUTSIDE, |cell| self.of(cell))
    }

    /// Where the level lies between two neighbours.
    fn cut(&self, a: ([isize; 3], f64), b: ([isize; 3], f64), level: f64) -> Corner {
        let ((p, u), (q, v)) = (a, b);
        let fraction = (level - u) / (v - u);
        let between = |x: f64, y: f64| x + fraction * (y - x);
        let spacing = self.grid.spacing();
        let mut corner = Corner::default();
        for axis in 0..3 {
            let first = self.grid.centre(axis, 0);
            let place = |n: isize| first + n as f64 * spacing[axis];
            corner.at[axis] = between(place(p[axis]), place(q[axis]));
        }
        if let (Some(p), Some(q)) = (self.cell(p), self.cell(q)) {
            let (g, h) = (self.gradient(p), self.gradient(q));
            corner.normal = std::array::from_fn(|axis| -between(g[axis], h[axis]));
        }
        corner
    }

    /// Central differences; one-sided at the boundaries and beside solid cells.
    fn gradient(&self, cell: [usize; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let beside = |by: isize| {
                let mut at = cell.map(|n| n as isize);
                at[axis] += by;
                self.cell(at).unwrap_or(cell)
            };
            let (low, high) = (beside(-1), beside(1));
            let distance = (high[axis] - low[axis]) as f64 * self.grid.spacing()[axis];
            let rise = self.of(high) - self.of(low);
            if distance > 0.0 { rise / distance } else { 0.0 }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area and volume of the surface of a function.
    fn measure(below: bool, f: impl Fn([f64; 3]) -> f64) -> (f64, f64) {
        let grid = Grid::new([40, 40, 40], 0.05).unwrap();
        let field = Field::<f64>::from_fn(&grid, 1, |_, at| f(at)).unwrap();
        let (mut area, mut volume) = (0.0, 0.0);
        let mut add = |[a, b, c]: [Corner; 3]| {
            let edge = |p: Corner, q: Corner| [0, 1, 2].map(|i| q.at[i] - p.at[i]);
            let (u, v) = (edge(a, b), edge(a, c));
            let n =
                [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
            let size = n.iter().map(|x| x * x).sum::<f64>().sqrt();
            area += size / 2.0;
            // Outward is away from the centre of the box, of which these bodies are star-shaped.
            let from = [0, 1, 2].map(|i| (a.at[i] + b.at[i] + c.at[i]) / 3.0 - 1.0);
            let height = (0..3).map(|i| from[i] * n[i]).sum::<f64>().abs() / size.max(1e-300);
            volume += size / 2.0 * height / 3.0;
        };
        for piece in pieces(&grid) {
            triangles((&grid, None), &field, 0, 0.0, below, piece, &mut add);
        }
        (area, volume)
    }

    #[test]
    fn a_ball_has_its_area_and_volume() {
        let radius = 0.7;
        let ball =
            |at: [f64; 3]| radius - at.iter().map(|x| (x - 1.0) * (x - 1.0)).sum::<f64>().sqrt();
        let (area, volume) = measure(false, ball);
        let pi = std::f64::consts::PI;
        assert!((area / (4.0 * pi * radius * radius) - 1.0).abs() < 0.005, "{area}");
        assert!((volume / (4.0 / 3.0 * pi * radius.powi(3)) - 1.0).abs() < 0.005, "{volume}");
        assert_eq!(measure(true, |at| -ball(at)), (area, volume));
    }

    #[test]
    fn surfaces_are_closed_at_the_boundaries() {
        // Everything is inside: what is left is the box between the outermost centres.
        let (area, volume) = measure(false, |_| 1.0);
        let edge = 39.0 * 0.05;
        assert!((area / (6.0 * edge * edge) - 1.0).abs() < 1e-9, "{area}");
        assert!((volume / (edge * edge * edge) - 1.0).abs() < 1e-9, "{volume}");
    }

    #[test]
    fn pieces_are_of_bounded_size_and_have_every_row() {
        for shape in [[3, 2, 1], [300, 200, 2], [40_000, 3, 1]] {
            let pieces = pieces(&Grid::new(shape, 1.0).unwrap());
            let [nx, ny, nz] = shape.map(|n| n as isize);
            let most = |rows: &Range<isize>| (rows.end - rows.start - 1) * (nx + 1);
            assert!(pieces.iter().all(|(_, rows)| most(rows) < PIECE as isize), "{shape:?}");
            let rows = pieces.into_iter().flat_map(|(k, rows)| rows.map(move |j| (k, j)));
            assert!(rows.eq((-1..nz).flat_map(|k| (-1..ny).map(move |j| (k, j)))), "{shape:?}");
        }
    }
}
