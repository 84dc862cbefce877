//! Which kernel integrates an ensemble.

use super::layout::{self, Layout, Limits, Storage};
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

/// Systems per multiprocessor up to which a team of warps for every 32 systems is faster than a
/// thread for each: below, threads would leave most of the GPU idle.
const TEAM_SYSTEMS: usize = 32;

/// True where a team for every 32 systems is the faster way.
pub(crate) fn wants_team(limits: &Limits, n_systems: usize) -> bool {
    n_systems <= TEAM_SYSTEMS * limits.multiprocessors
}

/// The kernel for `n_systems` systems. A team's gives the same bits as a thread's.
pub(crate) fn plan(
    graph: &Graph,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
    n_systems: usize,
) -> Kernel {
    if wants_team(limits, n_systems)
        && let Some(team) = team(graph, method, traits, limits)
    {
        return team;
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
        Method::Rosenbrock(_) | Method::Radau(_) => Err(Error::Device {
            device: format!("cuda:{ordinal}"),
            reason: format!("{} does not run on GPUs yet", method.name()),
            remedy: "use the CPU, or an explicit method (rkc for moderate stiffness)".to_owned(),
        }),
    }
}

/// The kernel with one thread per system.
pub(crate) fn single(graph: &Graph, method: &Method, traits: &Traits, limits: &Limits) -> Kernel {
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
            Kernel { name: "od_erk", source, layout }
        }
        Method::Rkc(rkc) => {
            let layout = Layout::rkc(dim, word, limits);
            Kernel { name: "od_rkc", source: source::rkc(graph, rkc, traits, &layout), layout }
        }
        Method::Rosenbrock(_) | Method::Radau(_) => unreachable!("refused before"),
    }
}

/// The kernel with a team of warps for every 32 systems, where there is one: a Runge–Kutta
/// method on a system that falls into groups and is kept in shared memory.
pub(crate) fn team(
    graph: &Graph,
    method: &Method,
    traits: &Traits,
    limits: &Limits,
) -> Option<Kernel> {
    let Method::Erk(erk) = method else { return None };
    let (dim, word, stages) = (graph.outputs().len(), traits.word(), erk.tableau.stages());
    let slots = Slots::find(graph, erk.tableau.is_fsal());
    let alone = Layout::erk(&slots, dim, stages, graph.nodes().len(), word, limits);
    let layout = Layout::erk_team(&slots, dim, word);
    let fits = layout.shared <= limits.shared_per_block && dim <= layout::UNROLLED_COMPONENTS;
    if alone.storage != Storage::Shared || slots.n_groups() < 2 || !fits {
        return None;
    }
    let source = source::erk(graph, erk, traits, &slots, &layout);
    Some(Kernel { name: "od_erk_team", source, layout })
}
