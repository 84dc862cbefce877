//! Finite-difference Laplacians.

use crate::problem::grid::Grid;
use odeum_ode::Error;

/// How the Laplacian is approximated, to second order, from the nearest cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stencil {
    /// 19 points in three dimensions (Molnár et al. 2011, eqs. 3 and 4): weights 2 for the six
    /// faces, 1 for the twelve edges, −24 for the centre, over 6h². Isotropic to leading order:
    /// its error is (h²/12)∇⁴. On one layer of cells it has 9 points, on one row 3.
    /// Wants cells of equal edges.
    #[default]
    Isotropic,
    /// 7 points in three dimensions: weight 1/h² for the faces. 5 points on one layer, 3 on one
    /// row. The edges of the cells may differ.
    Star,
}

impl Stencil {
    /// Refuses a grid the stencil is not made for.
    ///
    /// # Errors
    /// Cells whose edges differ, with the isotropic stencil.
    pub fn check(self, grid: &Grid) -> Result<(), Error> {
        self.check_between(grid, [false; 3])
    }

    /// The same where boundaries across some axes are given: a single cell differs from its ghosts then, and its edge counts.
    pub(crate) fn check_between(self, grid: &Grid, given: [bool; 3]) -> Result<(), Error> {
        let counts = |axis: &usize| counts(grid, given, *axis);
        let equal = (0..3).filter(counts).all(|axis| grid.spacing()[axis] == spacing(grid));
        match self {
            Stencil::Isotropic if !equal => Err(Error::input(
                "spacing",
                format!("{:?}", grid.spacing()),
                "must be the same along every axis; or take the star stencil",
            )),
            _ => Ok(()),
        }
    }

    /// The symbol of the Laplacian [1/length²]: what it multiplies a wave by whose phase changes
    /// by `theta` \[rad\] from cell to cell along each axis. Never positive.
    pub fn symbol(self, grid: &Grid, theta: [f64; 3]) -> f64 {
        // Along a single layer nothing can vary.
        let mut cosines = [1.0; 3];
        for axis in 0..3 {
            if grid.shape()[axis] > 1 {
                cosines[axis] = theta[axis].cos();
            }
        }
        self.symbol_of(grid, cosines)
    }

    /// What the Laplacian multiplies a field by whose mean over both neighbours of a cell along each axis is so many times its
    /// value there: of a wave the cosine of its phase. Linear in each of the three.
    pub(crate) fn symbol_of(self, grid: &Grid, cosines: [f64; 3]) -> f64 {
        let [a, b, c] = cosines;
        match self {
            Stencil::Isotropic => {
                let h = spacing(grid);
                2.0 / (3.0 * h * h) * ((a + b + c) + (a * b + b * c + c * a) - 6.0)
            }
            Stencil::Star => {
                let parts = (0..3).map(|axis| (cosines[axis] - 1.0) / grid.spacing()[axis].powi(2));
                2.0 * parts.sum::<f64>()
            }
        }
    }

    /// The largest −symbol [1/length²]. Of the isotropic stencil 16/3h² in three and in two
    /// dimensions (its symbol is linear in every cosine, so that corners decide), of the star 12/h²
    /// and 8/h²; of both 4/h² in one.
    pub fn largest_eigenvalue(self, grid: &Grid) -> f64 {
        let corner = |bits: usize| {
            let theta =
                [0, 1, 2].map(|axis| f64::from((bits >> axis & 1) as u8) * std::f64::consts::PI);
            -self.symbol(grid, theta)
        };
        (0..8).map(corner).fold(0.0, f64::max)
    }

    /// What the kernels multiply by, where boundaries across some axes are given. An axis along which nothing differs has the
    /// weight zero: its spacing counts nowhere.
    pub(crate) fn weights(self, grid: &Grid, given: [bool; 3]) -> Weights {
        match self {
            Stencil::Isotropic => {
                let h = spacing(grid);
                let scale = 1.0 / (6.0 * h * h);
                Weights { edges: true, axes: [1.0; 3], scale, reach: Reach::Box }
            }
            Stencil::Star => {
                let axes = [0, 1, 2].map(|axis| {
                    let h = grid.spacing()[axis];
                    if counts(grid, given, axis) { 1.0 / (h * h) } else { 0.0 }
                });
                // Kernels take differences along x by themselves: their weight is one, but where there are none.
                let first = axes.into_iter().find(|weight| *weight > 0.0);
                let (scale, reach) = (first.unwrap_or(1.0), Reach::Box);
                Weights { edges: false, axes: axes.map(|w| w / scale), scale, reach }
            }
        }
    }
}

/// Weights of the Laplacian: `scale` times the sum of whole weights of the isotropic stencil
/// (with edges), or of `axes` for the two neighbours along each axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    pub(crate) edges: bool,
    pub(crate) axes: [f64; 3],
    pub(crate) scale: f64,
    pub(crate) reach: Reach,
}

/// Along which axes a cell may differ from its neighbours, those beyond boundaries included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Along x alone.
    Line,
    /// Along x and y.
    Plane,
    Box,
}

impl Weights {
    /// The same Laplacian where neighbours differ along some axes only. Along a line both stencils
    /// are the second difference.
    pub(crate) fn within(self, reach: Reach) -> Weights {
        match reach {
            Reach::Line if self.edges => {
                // Of 6 h² times the isotropic Laplacian a line has 6 times the second difference.
                Weights { edges: false, scale: 6.0 * self.scale, reach, ..self }
            }
            _ => Weights { reach, ..self },
        }
    }
}

/// Whether cells may differ from what lies beside them along an axis.
fn counts(grid: &Grid, given: [bool; 3], axis: usize) -> bool {
    grid.shape()[axis] > 1 || given[axis]
}

/// The edge of the cells of a grid whose edges are equal, along axes with more than one cell at least.
fn spacing(grid: &Grid) -> f64 {
    let wide = grid.shape().iter().position(|n| *n > 1);
    grid.spacing()[wide.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn largest_eigenvalues_are_those_of_a_scan() {
        for (shape, star, isotropic) in
            [([9, 9, 9], 12.0, 16.0 / 3.0), ([9, 9, 1], 8.0, 16.0 / 3.0), ([1, 9, 1], 4.0, 4.0)]
        {
            let grid = Grid::new(shape, 0.5).unwrap();
            for (stencil, expected) in [(Stencil::Star, star), (Stencil::Isotropic, isotropic)] {
                let expected = expected / 0.25;
                assert!((stencil.largest_eigenvalue(&grid) - expected).abs() < 1e-12);
                let mut scanned: f64 = 0.0;
                for at in 0..17_usize.pow(3) {
                    let theta = [at % 17, at / 17 % 17, at / 289].map(|k| k as f64 / 16.0 * PI);
                    let symbol = stencil.symbol(&grid, theta);
                    assert!(symbol <= 1e-14);
                    scanned = scanned.max(-symbol);
                }
                assert!((scanned - expected).abs() < 1e-12, "{shape:?} {stencil:?}");
            }
        }
    }

    #[test]
    fn long_waves_feel_the_laplacian() {
        let grid = Grid::with_spacing([8, 8, 8], [0.1, 0.2, 0.4]).unwrap();
        let k = [1.0, 2.0, 3.0];
        let theta = |scale: f64| [0, 1, 2].map(|axis| k[axis] * grid.spacing()[axis] * scale);
        let scale = 1e-3;
        let symbol = Stencil::Star.symbol(&grid, theta(scale)) / (scale * scale);
        assert!((symbol + 14.0).abs() < 1e-5);
        assert!(Stencil::Isotropic.check(&grid).is_err());
        assert!(Stencil::Star.check(&grid).is_ok());
    }
}
