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
//!   is a source of a and c. [`Builtin::MendedFront`] puts c + 1 in its place.
//! - Place and unit of the emission of the plume are not said; here it is 10 units of
//!   concentration per second in one cell near the windward boundary. Its first-order upwind scheme
//!   adds up to 187.5 m²/s of diffusion along an axis to the 100 m²/s of the model.
//! - The boundaries of the plume are called no-flux, while the velocity carries through them what is just
//!   inside: [`Boundary::Open`].
//! - No-flux boundaries are taken half a cell beyond the outermost cells, which conserves the sum of
//!   all cells exactly; the paper counts a layer of boundary points among the points of its grid.

use crate::field::Field;
use crate::field::noise::noise;
use crate::problem::boundaries::{Boundaries, Boundary, Face};
use crate::problem::grid::Grid;
use crate::problem::model::{Model, ModelText};
use crate::problem::quantity::Quantity;
use crate::problem::{Advection, PointSource, Problem, Velocity};
use odeum_ode::{Error, Scalar};

/// A problem of the paper's Table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
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

impl Builtin {
    /// All of them.
    pub const ALL: [Builtin; 5] =
        [Builtin::Diffusion, Builtin::Turing, Builtin::Front, Builtin::MendedFront, Builtin::Plume];

    /// `"diffusion"`, `"turing"`, `"front"`, `"mended front"`, `"plume"`.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Diffusion => "diffusion",
            Builtin::Turing => "turing",
            Builtin::Front => "front",
            Builtin::MendedFront => "mended front",
            Builtin::Plume => "plume",
        }
    }

    /// The problem with a name.
    pub fn named(name: &str) -> Option<Builtin> {
        Builtin::ALL.into_iter().find(|builtin| builtin.name() == name)
    }

    /// The paper's grid spacing [units of length; of the plume m].
    pub fn spacing(self) -> f64 {
        match self {
            Builtin::Diffusion | Builtin::Front | Builtin::MendedFront => 1.0,
            Builtin::Turing => 6.2e-3,
            Builtin::Plume => 100.0,
        }
    }

    /// The paper's time step [units of time; of the plume s].
    pub fn step(self) -> f64 {
        match self {
            Builtin::Diffusion | Builtin::Front | Builtin::MendedFront => 0.02,
            Builtin::Turing => 5e-4,
            Builtin::Plume => 5.0,
        }
    }

    /// The equations.
    ///
    /// # Errors
    /// None: the text is one that can be read.
    pub fn model(self) -> Result<Model, Error> {
        let text = match self {
            Builtin::Diffusion => ModelText {
                species: vec!["c"],
                params: vec![("D", 1.0)],
                equations: vec![("c", "D * lap(c)")],
                ..ModelText::default()
            },
            Builtin::Turing => ModelText {
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
            Builtin::Front | Builtin::MendedFront => {
                let dissolved =
                    if self == Builtin::Front { "k2 * a * c" } else { "k2 * a * (c + 1)" };
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
            Builtin::Plume => ModelText {
                species: vec!["c"],
                params: vec![("D", 100.0), ("E", 10.0)],
                equations: vec![("c", "D * lap(c)")],
                ..ModelText::default()
            },
        };
        Ok(text.read()?.0)
    }

    /// The problem on a grid of `shape` cells with the paper's spacing.
    ///
    /// # Errors
    /// As [`Grid::new`].
    pub fn problem(self, shape: [usize; 3]) -> Result<Problem, Error> {
        let problem = Problem::new(self.model()?, Grid::new(shape, self.spacing())?);
        Ok(match self {
            Builtin::Diffusion | Builtin::Turing => problem,
            Builtin::Front | Builtin::MendedFront => {
                let inflow = Boundary::Dirichlet(Quantity::from(10.0));
                let face = Face { axis: 0, high: false };
                problem.boundaries(Boundaries::default().species(face, "a", inflow))
            }
            Builtin::Plume => {
                let problem = problem.boundaries(Boundaries::all(Boundary::Open));
                let velocity = ["5", "1", "5 * sin(t / 500)"].map(Quantity::from);
                let cell = [shape[0] / 8, shape[1] / 2, shape[2] / 2];
                let rate = Quantity::from("E");
                problem
                    .velocity(Velocity::Uniform(velocity), Advection::Upwind)
                    .source(PointSource { species: "c".to_owned(), cell, rate })
            }
        })
    }

    /// The initial values; `seed` matters to the Turing problem only, whose noise is uniform
    /// between ±5·10⁻⁴.
    ///
    /// # Errors
    /// Too little memory.
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
            Builtin::Diffusion | Builtin::Plume => 1,
            Builtin::Turing => 2,
            Builtin::Front | Builtin::MendedFront => 3,
        };
        let mut field = Field::zeros(grid, species)?;
        field.fill_rows(|(s, y, z), row| {
            let first = (z * shape[1] + y) * shape[0];
            let (beside, above) = (square(1, y), square(2, z));
            for (x, value) in row.iter_mut().enumerate() {
                *value = T::from_f64(match self {
                    Builtin::Diffusion if square(0, x) + beside + above <= 400.0 => 1.0,
                    Builtin::Diffusion | Builtin::Plume => 0.0,
                    Builtin::Turing => 1.0 + 5e-4 * noise(seed, s, first + x),
                    Builtin::Front | Builtin::MendedFront => [0.0, 1.0, -1.0][s],
                });
            }
        });
        Ok(field)
    }
}
