//! What tells a problem, its method and its steps from others, in a checkpoint.

use super::Options;
use crate::problem::{Problem, Velocity};
use std::fmt::{self, Write};

/// The factor of FxHash.
const FACTOR: u64 = 0x517c_c1b7_2722_0a95;

/// A number that others have not, but for one in 2⁶⁴; never zero, which is that of a clock that no simulation has had.
pub(super) fn of(problem: &Problem, options: &Options) -> u64 {
    let Problem { model, grid, stencil, boundaries, advection, .. } = problem;
    let Problem { velocity, advected, diffusion, sources, mask, .. } = problem;
    let Options { method, steps, force, max_steps: _ } = options;
    let mut digest = Digest(FACTOR);
    let given = (model, grid, stencil, boundaries, advected, advection, sources, mask);
    digest.text(&given);
    digest.text(&(method, steps, force));
    match velocity {
        Some(Velocity::Cells(parts)) => parts.iter().for_each(|part| digest.numbers(part)),
        uniform => digest.text(uniform),
    }
    for (name, coefficients) in diffusion {
        digest.text(name);
        digest.numbers(coefficients);
    }
    digest.0.max(1)
}

struct Digest(u64);

impl Digest {
    fn take(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(FACTOR);
    }

    /// All that a value says of itself.
    fn text(&mut self, value: &impl fmt::Debug) {
        // What it is written to takes everything.
        let _ = write!(self, "{value:?}");
    }

    fn numbers(&mut self, numbers: &[f64]) {
        self.take(numbers.len() as u64);
        numbers.iter().for_each(|x| self.take(x.to_bits()));
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.take(u64::from(byte)));
        Ok(())
    }
}
