//! Fields in memory, swept by SIMD lanes and threads.

pub(crate) mod engine;
pub(crate) mod host;
pub(crate) mod native;
pub(crate) mod sums;
pub(crate) mod sweep;
