//! Kernels without a GPU, for checks: their texts, and what the compiler makes of them.

use super::plan;
use super::source::Traits;
use super::task;
use crate::ensemble::Ensemble;
use crate::method::Method;
use crate::options::Options;
use crate::solution::Solution;
use odeum_core::{Graph, Scalar};
use odeum_cuda::Limits;

/// A kernel and how it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelText {
    /// Name of the kernel.
    pub name: &'static str,
    /// The whole text.
    pub source: String,
    /// Threads of a block.
    pub block: usize,
    /// Dynamic shared memory of a block, in bytes.
    pub shared: usize,
    /// Blocks that fit on a multiprocessor.
    pub blocks_per_sm: usize,
}

/// Every kernel for this system, method and options on an H200: one thread per system, and
/// several lanes per system where there is such a kernel. None for methods that do not run on GPUs.
pub fn kernels<T: Scalar>(
    graph: &Graph,
    method: &Method,
    options: &Options,
    shared_params: bool,
) -> Vec<KernelText> {
    let traits = Traits::new(T::NAME == "f32", shared_params, method, options);
    let limits = Limits::HOPPER;
    let single = plan::single(graph, method, &traits, &limits);
    let lanes = plan::lanes(graph, method, &traits, &limits);
    single
        .into_iter()
        .chain(lanes)
        .map(|kernel| KernelText {
            name: kernel.name,
            source: kernel.source,
            block: kernel.layout.block,
            shared: kernel.layout.shared,
            blocks_per_sm: kernel.layout.blocks_per_sm,
        })
        .collect()
}

/// What runs the kernel, to stand after its text.
pub const HOST_MAIN: &str = include_str!("device/host_main.h");

/// Integrates an ensemble by a kernel compiled for the host. `entry` gets the address of the
/// task and runs all threads of the launch over it.
pub fn run_on_host<T: Scalar>(
    entry: &mut dyn FnMut(*const std::ffi::c_void),
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
) -> Solution<T> {
    let traits = Traits::new(T::NAME == "f32", ensemble.shares_params(), method, options);
    task::run_on_host(entry, &traits, ensemble, method, options)
}
