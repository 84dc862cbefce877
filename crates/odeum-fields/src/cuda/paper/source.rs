//! The complete text of the kernels with some blocks.

use super::task::Task;
use super::{Blocks, INFLOW, Kernel};
use crate::problem::Problem;
use crate::problems::Paper;
use odeum_cuda::{REAL, Text, literal};
use odeum_ode::Scalar;

const TASK: &str = include_str!("../device/paper/task.cuh");
const BOUNDARY: &str = include_str!("../device/paper/boundary.cuh");
const SHARED: &str = include_str!("../device/paper/shared.cuh");
const MOVING_TILES: &str = include_str!("../device/paper/moving_tiles.cuh");
const LAPLACIAN: &str = include_str!("../device/paper/laplacian.cuh");
const DIFFUSION: &str = include_str!("../device/paper/diffusion.cuh");
const TURING: &str = include_str!("../device/paper/turing.cuh");
const FRONT: &str = include_str!("../device/paper/front.cuh");
const PLUME: &str = include_str!("../device/paper/plume.cuh");
const KERNELS: &str = include_str!("../device/paper/kernels.cuh");

/// What kernels call the parameters of the models. The emission is an argument.
const NAMES: [(&str, &str); 13] = [
    ("D", "D0"),
    ("Du", "D0"),
    ("Da", "D0"),
    ("Dv", "D1"),
    ("Db", "D1"),
    ("alpha", "ALPHA"),
    ("beta", "BETA"),
    ("gamma", "GAMMA"),
    ("k1", "K1"),
    ("k2", "K2"),
    ("lambda", "LAMBDA"),
    ("epsilon", "EPSILON"),
    ("sigma", "SIGMA"),
];

pub(super) fn text<T: Scalar>(paper: Paper, blocks: Blocks, problem: &Problem) -> String {
    let mut text = Text::default();
    let h = paper.spacing();
    text.define("OD_FLOAT", i32::from(T::NAME == "f32"));
    for (name, value) in ["W", "H", "D"].into_iter().zip(blocks.threads) {
        text.define(&format!("OD_PAPER_{name}"), value);
    }
    text.define("OD_PAPER_TASK", size_of::<Task<T>>());
    text.define("OD_PAPER_SPECIES", problem.model.species().len());
    text.define("OD_PAPER_FRONT", i32::from(paper == Paper::Front));
    text.define("OD_PAPER_INFLOW", literal(INFLOW));
    text.define("OD_PAPER_SCALE", literal(1.0 / (6.0 * h * h)));
    for (name, value) in problem.model.params() {
        if let Some((_, short)) = NAMES.iter().find(|(long, _)| long == name) {
            text.define(&format!("OD_PAPER_{short}"), literal(*value));
        }
    }
    text.line(REAL);
    text.line(TASK);
    text.line(BOUNDARY);
    text.line(match blocks.kernel {
        Kernel::Shared => SHARED,
        Kernel::MovingTiles => MOVING_TILES,
    });
    text.line(LAPLACIAN);
    text.line(match paper {
        Paper::Diffusion => DIFFUSION,
        Paper::Turing => TURING,
        Paper::Front | Paper::MendedFront => FRONT,
        Paper::Plume => PLUME,
    });
    text.line(KERNELS);
    text.finish()
}
