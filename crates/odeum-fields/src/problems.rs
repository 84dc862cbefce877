//! The four problems of Molnár, Izsák, Mészáros & Lagzi, *Simulation of reaction–diffusion
//! processes in three dimensions using CUDA*, Chemom. Intell. Lab. Syst. 108 (2011) 76–85, Table 1,
//! as printed.
//!
//! What the paper leaves open:
//!
//! - The times of its figures fit neither steps nor units of time throughout: those of the
//!   diffusion problem (5·10³ and 5·10⁴) only suit the domain as steps, that is t = 100 and 1000;
//!   the Turing mode grows by 0.0189 per unit of time, so that noise of 5·10⁻⁴ becomes a pattern
//!   near t = 600, which is 1.2 million steps and not 2·10⁵.
//! - The redissolution −k₂ a c of the front acts on an order parameter that begins at −1, where it
//!   is a source of a and c. [`Paper::MendedFront`] puts c + 1 in its place.
//! - Place and unit of the emission of the plume are not said; here it is 10 units of
//!   concentration per second in one cell near the windward wall. Its first-order upwind scheme
//!   adds up to 187.5 m²/s of diffusion along an axis to the 100 m²/s of the model.
//! - The walls of the plume are called no-flux, while the wind carries through them what is just
//!   inside: [`Wall::Open`].
//! - No-flux walls are taken half a cell beyond the outermost cells, which conserves the sum of
//!   all cells exactly; the paper counts a layer of boundary points among the points of its grid.

use crate::field::Field;
use crate::grid::Grid;
use crate::model::{Model, ModelText};
use crate::noise::noise;
use crate::problem::{Advection, PointSource, Problem, Wind};
use crate::quantity::Quantity;
use crate::walls::{Face, Wall, Walls};
use odeum_ode::{Error, Scalar};

/// A problem of the paper's Table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paper {
    /// Diffusion of a ball.
    Diffusion,
    /// Turing pattern formation.
    Turing,
    /// Phase separation behind a chemical front.
    Front,
    /// The same with the redissolution −k₂ a (c + 1), which is a sink everywhere.
    MendedFront,
    /// Atmospheric advection and diffusion from a point source.
    Plume,
}

impl Paper {
    /// All of them.
    pub const ALL: [Paper; 5] =
        [Paper::Diffusion, Paper::Turing, Paper::Front, Paper::MendedFront, Paper::Plume];

    /// `"diffusion"`, `"turing"`, `"front"`, `"mended front"`, `"plume"`.
    pub fn name(self) -> &'static str {
        match self {
            Paper::Diffusion => "diffusion",
            Paper::Turing => "turing",
            Paper::Front => "front",
            Paper::MendedFront => "mended front",
            Paper::Plume => "plume",
        }
    }

    /// The problem with a name.
    pub fn named(name: &str) -> Option<Paper> {
        Paper::ALL.into_iter().find(|paper| paper.name() == name)
    }

    /// The paper's grid spacing [units of length; of the plume m].
    pub fn spacing(self) -> f64 {
        match self {
            Paper::Diffusion | Paper::Front | Paper::MendedFront => 1.0,
            Paper::Turing => 6.2e-3,
            Paper::Plume => 100.0,
        }
    }

    /// The paper's time step [units of time; of the plume s].
    pub fn step(self) -> f64 {
        match self {
            Paper::Diffusion | Paper::Front | Paper::MendedFront => 0.02,
            Paper::Turing => 5e-4,
            Paper::Plume => 5.0,
        }
    }

    /// The equations.
    pub fn model(self) -> Result<Model, Error> {
        let text = match self {
            Paper::Diffusion => ModelText {
                species: vec!["c"],
                params: vec![("D", 1.0)],
                equations: vec![("c", "D * lap(c)")],
                ..ModelText::default()
            },
            Paper::Turing => ModelText {
                species: vec!["u", "v"],
                params: vec![
                    ("Du", 5e-5),
                    ("Dv", 5e-3),
                    ("alpha", 0.5),
                    ("beta", 0.09),
                    ("gamma", 26.0),
                ],
                equations: vec![
                    ("u", "Du * lap(u) + u - u^3 - v"),
                    ("v", "Dv * lap(v) + gamma * (u - alpha * v - beta)"),
                ],
                ..ModelText::default()
            },
            Paper::Front | Paper::MendedFront => {
                let dissolved =
                    if self == Paper::Front { "k2 * a * c" } else { "k2 * a * (c + 1)" };
                ModelText {
                    species: vec!["a", "b", "c"],
                    params: vec![
                        ("Da", 1.0),
                        ("Db", 1.0),
                        ("k1", 0.2),
                        ("k2", 0.005),
                        ("lambda", 1.0),
                        ("epsilon", 1.0),
                        ("gamma", 1.0),
                        ("sigma", 1.0),
                    ],
                    definitions: vec![
                        ("formed", "k1 * a * b"),
                        ("dissolved", dissolved),
                        ("potential", "epsilon * c - gamma * c^3 + sigma * lap(c)"),
                    ],
                    equations: vec![
                        ("a", "Da * lap(a) - formed - dissolved"),
                        ("b", "Db * lap(b) - formed"),
                        ("c", "formed - dissolved - lambda * lap(potential)"),
                    ],
                }
            }
            Paper::Plume => ModelText {
                species: vec!["c"],
                params: vec![("D", 100.0), ("E", 10.0)],
                equations: vec![("c", "D * lap(c)")],
                ..ModelText::default()
            },
        };
        Ok(text.read()?.0)
    }

    /// The problem on a grid of `shape` cells with the paper's spacing.
    pub fn problem(self, shape: [usize; 3]) -> Result<Problem, Error> {
        let problem = Problem::new(self.model()?, Grid::new(shape, self.spacing())?);
        Ok(match self {
            Paper::Diffusion | Paper::Turing => problem,
            Paper::Front | Paper::MendedFront => {
                let inflow = Wall::Dirichlet(Quantity::from(10.0));
                let face = Face { axis: 0, high: false };
                problem.walls(Walls::default().species(face, "a", inflow))
            }
            Paper::Plume => {
                let problem = problem.walls(Walls::all(Wall::Open));
                let wind = ["5", "1", "5 * sin(t / 500)"].map(Quantity::from);
                let cell = [shape[0] / 8, shape[1] / 2, shape[2] / 2];
                let rate = Quantity::from("E");
                problem.wind(Wind::Uniform(wind), Advection::Upwind).source(PointSource {
                    species: "c".to_owned(),
                    cell,
                    rate,
                })
            }
        })
    }

    /// The initial values; `seed` matters to the Turing problem only, whose noise is uniform
    /// between ±5·10⁻⁴.
    pub fn initial<T: Scalar>(self, grid: &Grid, seed: u64) -> Result<Field<T>, Error> {
        let shape = grid.shape();
        let centre = [0, 1, 2]
            .map(|axis| grid.origin()[axis] + shape[axis] as f64 * grid.spacing()[axis] / 2.0);
        // Along an axis with a single cell there is no distance.
        let square = |axis: usize, cell: usize| {
            let apart = grid.centre(axis, cell) - centre[axis];
            if shape[axis] > 1 { apart.powi(2) } else { 0.0 }
        };
        let species = match self {
            Paper::Diffusion | Paper::Plume => 1,
            Paper::Turing => 2,
            Paper::Front | Paper::MendedFront => 3,
        };
        let mut field = Field::zeros(grid, species)?;
        field.fill_rows(|(s, y, z), row| {
            let first = (z * shape[1] + y) * shape[0];
            let (beside, above) = (square(1, y), square(2, z));
            for (x, value) in row.iter_mut().enumerate() {
                *value = T::from_f64(match self {
                    Paper::Diffusion if square(0, x) + beside + above <= 400.0 => 1.0,
                    Paper::Diffusion | Paper::Plume => 0.0,
                    Paper::Turing => 1.0 + 5e-4 * noise(seed, s, first + x),
                    Paper::Front | Paper::MendedFront => [0.0, 1.0, -1.0][s],
                });
            }
        });
        Ok(field)
    }
}
