//! The kernels without a GPU, for checks: their texts.

use super::{Blocks, launches, problem, source};
use crate::problems::Builtin;
use odeum_ode::{Error, Scalar};

/// The text of a problem, and the names of its kernels.
///
/// # Errors
/// A problem that is not of table 1, or blocks that cannot be.
pub fn kernels<T: Scalar>(
    builtin: Builtin,
    blocks: Blocks,
) -> Result<(String, &'static [&'static str]), Error> {
    blocks.check::<T>(builtin)?;
    let problem = problem(builtin, [1; 3])?;
    Ok((source::text::<T>(builtin, blocks, &problem), launches::kernels(builtin)))
}
