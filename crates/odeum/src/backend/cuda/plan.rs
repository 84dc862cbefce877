//! Which kernel integrates an ensemble.

use super::layout::{Layout, Limits, Storage};
use super::slots::Slots;
use super::source::{self, Traits};
use crate::error::Error;
use crate::method::Method;
use crate::options::Options;
use odeum_core::Graph;

/// A kernel: its text and its launch shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) source: String,
    pub(crate) layout: Layout,
}

/// Systems per multiprocessor up to which several lanes for a system are faster than a thread:
/// below, threads would leave most of the GPU idle.
const LANE_SYSTEMS: usize = 64;

/// True where several lanes for a system are the faster way.
pub(crate) fn wants_lanes(limits: &Limits, n_systems: usize) -> bool {
    n_systems <= LANE_SYSTEMS * limits.multiprocessors
}

/// The kernel for `n_systems` systems; `None` for methods without kernels. That of lanes gives
/// the same bits as that of threads.
pub(crate) fn plan(
    graph: &Graph,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
    n_systems: usize,
) -> Option<Kernel> {
    if wants_lanes(limits, n_systems)
        && let Some(lanes) = lanes(graph, method, traits, limits)
    {
        return Some(lanes);
    }
    single(graph, method, traits, limits)
}

/// Refuses what no kernel does.
pub(crate) fn refuse(method: &Method, options: &Options, ordinal: usize) -> Result<(), Error> {
    if options.end_at.is_some() {
        return Err(Error::Device {
            device: format!("cuda:{ordinal}"),
            reason: "systems cannot end at a crossing on GPUs yet".to_owned(),
            remedy: "use the CPU, or leave `end_at` out".to_owned(),
        });
    }
    match method {
        Method::Erk(_) | Method::Rkc(_) => Ok(()),
        Method::Rosenbrock(_) | Method::Radau(_) => Err(no_kernel(method, ordinal)),
    }
}

/// What is said of a method without kernels.
pub(super) fn no_kernel(method: &Method, ordinal: usize) -> Error {
    Error::Device {
        device: format!("cuda:{ordinal}"),
        reason: format!("{} does not run on GPUs yet", method.name()),
        remedy: "use the CPU, or an explicit method (rkc for moderate stiffness)".to_owned(),
    }
}

/// The kernel with one thread per system; `None` for methods without kernels.
pub(crate) fn single(
    graph: &Graph,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
) -> Option<Kernel> {
    let (dim, word) = (graph.outputs().len(), traits.word());
    match method {
        Method::Erk(erk) => {
            let (tableau, nodes) = (erk.tableau, graph.nodes().len());
            let mut slots = Slots::find(graph, tableau.is_fsal());
            let mut layout = Layout::erk(&slots, dim, tableau.stages(), nodes, word, limits);
            if layout.storage == Storage::Local {
                slots = Slots::plain(dim);
                layout = Layout { storage: Storage::Local, ..layout };
            }
            let source = source::erk(graph, erk, traits, &slots, &layout);
            Some(Kernel { name: "od_erk", source, layout })
        }
        Method::Rkc(rkc) => {
            let layout = Layout::rkc(dim, word, limits);
            let source = source::rkc(graph, rkc, traits, &layout);
            Some(Kernel { name: "od_rkc", source, layout })
        }
        Method::Rosenbrock(_) | Method::Radau(_) => None,
    }
}

/// The kernel with several lanes for a system, where there is one: a Runge–Kutta method on a
/// system whose stages a thread keeps in shared memory and which falls into groups that are alike.
pub(crate) fn lanes(
    graph: &Graph,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
) -> Option<Kernel> {
    let Method::Erk(erk) = method else { return None };
    let (dim, word, stages) = (graph.outputs().len(), traits.word(), erk.tableau.stages());
    let slots = Slots::find(graph, erk.tableau.is_fsal());
    let alone = Layout::erk(&slots, dim, stages, graph.nodes().len(), word, limits);
    if alone.storage != Storage::Shared || slots.alike.is_none() {
        return None;
    }
    let layout = Layout::erk_lanes(&slots, dim, word);
    if layout.shared > limits.shared_per_block {
        return None;
    }
    let source = source::erk(graph, erk, traits, &slots, &layout);
    Some(Kernel { name: "od_erk_lanes", source, layout })
}
