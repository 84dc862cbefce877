//! Numbers that sum up a field, and cells by which its steps are judged.

pub(crate) mod reduce;
pub(crate) mod sample;
