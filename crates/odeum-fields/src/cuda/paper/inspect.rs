//! The kernels without a GPU, for checks: their texts.

use super::{Blocks, launches, problem, source};
use crate::problems::Paper;
use odeum_ode::{Error, Scalar};

/// The text of a problem, and the names of its kernels.
///
/// # Errors
/// A problem that is not of table 1, or blocks that cannot be.
pub fn kernels<T: Scalar>(
    paper: Paper,
    blocks: Blocks,
) -> Result<(String, &'static [&'static str]), Error> {
    blocks.check::<T>(paper)?;
    let problem = problem(paper, [1; 3])?;
    Ok((source::text::<T>(paper, blocks, &problem), launches::kernels(paper)))
}
