//! The complete text of the kernels with some blocks.

use super::task::Task;
use super::{Blocks, INFLOW, Kernel};
use crate::problem::Problem;
use crate::problems::Builtin;
use odeum_cuda::{REAL, Text, literal};
use odeum_ode::Scalar;

const TASK: &str = include_str!("../device/published/task.cuh");
const BOUNDARY: &str = include_str!("../device/published/boundary.cuh");
const SHARED: &str = include_str!("../device/published/shared.cuh");
const MOVING_TILES: &str = include_str!("../device/published/moving_tiles.cuh");
const LAPLACIAN: &str = include_str!("../device/published/laplacian.cuh");
const DIFFUSION: &str = include_str!("../device/published/diffusion.cuh");
const TURING: &str = include_str!("../device/published/turing.cuh");
const FRONT: &str = include_str!("../device/published/front.cuh");
const PLUME: &str = include_str!("../device/published/plume.cuh");
const KERNELS: &str = include_str!("../device/published/kernels.cuh");

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

pub(super) fn text<T: Scalar>(builtin: Builtin, blocks: Blocks, problem: &Problem) -> String {
    let mut text = Text::default();
    let h = builtin.spacing();
    text.define("OD_FLOAT", i32::from(T::NAME == "f32"));
    for (name, value) in ["W", "H", "D"].into_iter().zip(blocks.threads) {
        text.define(&format!("OD_PUBLISHED_{name}"), value);
    }
    text.define("OD_PUBLISHED_TASK", size_of::<Task<T>>());
    text.define("OD_PUBLISHED_SPECIES", problem.model.species().len());
    text.define("OD_PUBLISHED_FRONT", i32::from(builtin == Builtin::Front));
    text.define("OD_PUBLISHED_INFLOW", literal(INFLOW));
    text.define("OD_PUBLISHED_SCALE", literal(1.0 / (6.0 * h * h)));
    for (name, value) in problem.model.params() {
        if let Some((_, short)) = NAMES.iter().find(|(long, _)| long == name) {
            text.define(&format!("OD_PUBLISHED_{short}"), literal(*value));
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
    text.line(match builtin {
        Builtin::Diffusion => DIFFUSION,
        Builtin::Turing => TURING,
        Builtin::Front | Builtin::MendedFront => FRONT,
        Builtin::Plume => PLUME,
    });
    text.line(KERNELS);
    text.finish()
}
