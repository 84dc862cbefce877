//! The kernels of Molnár, Izsák, Mészáros & Lagzi 2011, Chemom. Intell. Lab. Syst. 108, 76–85, to
//! measure others against: written from the paper's description (section 4.1, tables 1, 2, 4, 5).
//!
//! A thread computes one point; boundary points lie around the cells and are set by six kernels of
//! their own before every step. What the paper leaves open, and what is done here:
//!
//! - Points of a grid count the boundary; here a field's cells are the inner points, so that the
//!   paper's 256³ points are 254³ cells.
//! - No flux: a boundary point has the value of its inner neighbour. The inflow of the front is the
//!   value of the boundary points at x = 0 themselves, which is where the paper says it is; boundaries
//!   of Odeum lie half a spacing further in ([`problem`] has the paper's).
//! - Boundary kernels set all species in one launch.
//! - The front's first kernel stores ∇²c; its potential is computed at each of the 19 points.
//! - The velocity's upwind side is chosen by its sign, which changes in the course of a run.
//! - Sizes are arguments and constants are literals, which a kernel reads at least as fast as the
//!   constant memory of the paper; products and sums are fused where its compiler would.
//! - Slips of the pseudocode are named where its kernels are (`fractiond.cuh`, `moving_tiles.cuh`).

mod arrays;
#[doc(hidden)]
pub mod inspect;
mod launches;
mod points;
mod simulation;
mod source;
mod task;

pub use simulation::PublishedSimulation;

use crate::problem::Problem;
use crate::problem::boundaries::{Boundaries, Boundary, Face};
use crate::problem::quantity::Quantity;
use crate::problems::Builtin;
use odeum_ode::Error;

/// The method of a computing kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// "Shared" (table 4): blocks that go through the box along z, two layers kept.
    Shared,
    /// "Moving Tiles" (table 5): blocks that go along x and read the next tile ahead.
    MovingTiles,
}

/// The cards for which the paper gives block dimensions (table 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generation {
    /// GeForce 8800 GTX.
    First,
    /// GeForce GTX 275.
    Second,
}

/// A kernel with its block dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The method.
    pub kernel: Kernel,
    /// Whose blocks.
    pub generation: Generation,
}

impl Variant {
    /// All of them, those of the second generation first.
    pub const ALL: [Variant; 4] = [
        Variant { kernel: Kernel::Shared, generation: Generation::Second },
        Variant { kernel: Kernel::MovingTiles, generation: Generation::Second },
        Variant { kernel: Kernel::Shared, generation: Generation::First },
        Variant { kernel: Kernel::MovingTiles, generation: Generation::First },
    ];

    /// `"shared"`, `"moving tiles"`, and both with `", first generation"`.
    pub fn name(self) -> &'static str {
        match (self.kernel, self.generation) {
            (Kernel::Shared, Generation::Second) => "shared",
            (Kernel::MovingTiles, Generation::Second) => "moving tiles",
            (Kernel::Shared, Generation::First) => "shared, first generation",
            (Kernel::MovingTiles, Generation::First) => "moving tiles, first generation",
        }
    }

    /// The variant with a name.
    pub fn named(name: &str) -> Option<Variant> {
        Variant::ALL.into_iter().find(|variant| variant.name() == name)
    }

    /// The blocks for a problem (table 2).
    pub fn blocks(self, builtin: Builtin) -> Blocks {
        let front = matches!(builtin, Builtin::Front | Builtin::MendedFront);
        let threads = match (self.kernel, self.generation) {
            (Kernel::Shared, Generation::Second) => [8, 8, 8],
            (Kernel::MovingTiles, Generation::Second) if builtin == Builtin::Diffusion => [8, 8, 8],
            (Kernel::MovingTiles, Generation::Second) => [8, 8, 7],
            (Kernel::Shared, Generation::First) if front => [16, 9, 3],
            (Kernel::Shared, Generation::First) => [16, 10, 3],
            (Kernel::MovingTiles, Generation::First) if front => [16, 5, 4],
            (Kernel::MovingTiles, Generation::First) if builtin == Builtin::Turing => [16, 5, 5],
            (Kernel::MovingTiles, Generation::First) => [16, 6, 5],
        };
        Blocks { kernel: self.kernel, threads }
    }
}

/// The method of a kernel and the threads of its blocks along x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The method.
    pub kernel: Kernel,
    /// Threads along x, y and z.
    pub threads: [usize; 3],
}

impl Blocks {
    /// Refuses what no GPU starts or what has no points to compute.
    fn check<T>(self, builtin: Builtin) -> Result<(), Error> {
        let [w, h, d] = self.threads;
        let (line, inner) = match self.kernel {
            Kernel::Shared => (w, w.min(h).min(d)),
            Kernel::MovingTiles => (2 * w + 1, h.min(d)),
        };
        // Of each species, and of the Laplacian that the front keeps.
        let arrays = match builtin {
            Builtin::Diffusion | Builtin::Plume => 1,
            Builtin::Turing => 2,
            Builtin::Front | Builtin::MendedFront => 4,
        };
        let whole = self.kernel == Kernel::Shared || (w > 0 && points::ROW.is_multiple_of(w));
        let finite = inner >= 3 && whole && w <= 1024 && h <= 1024 && d <= 1024;
        if finite && w * h * d <= 1024 && line * h * d * arrays * size_of::<T>() <= STATIC {
            return Ok(());
        }
        let found = format!("{w} by {h} by {d} threads");
        let remedy = "at least 3 where blocks overlap, at most 1024 in all, 48 KiB of shared \
                      memory, and tiles that divide 32";
        Err(Error::input("block", found, remedy))
    }
}

/// Bytes of shared memory that a kernel may have of itself.
const STATIC: usize = 48 << 10;

/// The grids of table 7, all of 256³ points, boundary included: of width, height and depth one is
/// 256 (seven grids for each), and the first of the others goes from 2048 to 32.
pub fn cuts() -> Vec<[usize; 3]> {
    let mut all = Vec::new();
    for fixed in 0..3 {
        for long in [2048, 1024, 512, 256, 128, 64, 32] {
            let short = 65_536 / long;
            let mut points = [long, short, short];
            points[fixed] = 256;
            if fixed == 0 {
                points[1] = long;
            }
            all.push(points);
        }
    }
    all
}

/// The concentration of the inflow of the front.
const INFLOW: f64 = 10.0;

/// The problem that these kernels solve on `shape` cells: that of [`Builtin::problem`], with the
/// inflow of the front at the boundary points, one half of the spacing beyond the boundary:
/// u + (h/2) ∂u/∂n = 10.
///
/// # Errors
/// A shape that cannot be, or a problem that is not of table 1.
pub fn problem(builtin: Builtin, shape: [usize; 3]) -> Result<Problem, Error> {
    let problem = builtin.problem(shape)?;
    match builtin {
        Builtin::Front => {
            let gradient = builtin.spacing() / 2.0;
            let boundary = Boundary::Robin { value: 1.0, gradient, amount: Quantity::from(INFLOW) };
            let face = Face { axis: 0, high: false };
            Ok(problem.boundaries(Boundaries::default().species(face, "a", boundary)))
        }
        Builtin::MendedFront => {
            Err(Error::input("problem", builtin.name(), "is not of the paper's table 1"))
        }
        _ => Ok(problem),
    }
}
