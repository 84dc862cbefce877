//! Which kernel integrates an ensemble.

use super::implicit;
use super::layout::{Layout, Storage};
use super::recent::Recent;
use super::slots::Slots;
use super::source::{self, Traits};
use super::system::DeviceSystem;
use crate::method::Method;
use crate::options::Options;
use odeum_core::{Error, Graph, lock};
use odeum_cuda::Limits;
use std::sync::{Arc, Mutex, OnceLock};

/// A kernel: its text and its launch shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) source: String,
    /// What the kernel reads.
    pub(crate) tables: Vec<u8>,
    pub(crate) layout: Layout,
}

/// Systems per multiprocessor up to which several lanes for a system are faster than a thread:
/// below, threads would leave most of the GPU idle.
const LANE_SYSTEMS: usize = 64;

/// Systems up to which several lanes for each are the faster way.
pub(crate) fn lane_systems(limits: &Limits) -> usize {
    LANE_SYSTEMS * limits.multiprocessors
}

/// All that a kernel follows from. What is compared with least work stands first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wanted {
    /// Whether several lanes for a system are the faster way.
    lanes: bool,
    limits: Limits,
    traits: Traits,
    method: Method,
    /// Shared with the solver: the system of one solver equals itself without a look inside.
    system: DeviceSystem,
}

impl Wanted {
    /// On a device of these limits, with several lanes for a system where there is such a kernel, or without.
    pub(crate) fn new(
        system: &DeviceSystem,
        method: &Method,
        traits: &Traits,
        limits: &Limits,
        lanes: bool,
    ) -> Self {
        Wanted {
            lanes,
            limits: *limits,
            traits: traits.clone(),
            method: method.clone(),
            system: system.clone(),
        }
    }

    /// The kernel; `None` for methods without kernels. That of lanes gives the same bits as that of
    /// threads.
    fn plan(&self) -> Option<Kernel> {
        let Wanted { lanes: wants_lanes, limits, traits, method, system } = self;
        if method.jacobian_by().is_some() {
            return implicit::kernel(system, method, traits, limits);
        }
        let graph = system.graph.as_deref()?;
        if *wants_lanes && let Some(lanes) = lanes(graph, method, traits, limits) {
            return Some(lanes);
        }
        single(graph, method, traits, limits)
    }
}

/// Kernels that were planned.
type Planned = Mutex<Recent<Wanted, Arc<Kernel>>>;

/// The kernel that is wanted, planned once for all who want the same: planning takes milliseconds, which
/// counts where an integration takes few. `None` for methods without kernels.
pub(crate) fn planned(wanted: Wanted) -> Option<Arc<Kernel>> {
    static PLANNED: OnceLock<Planned> = OnceLock::new();
    planned_among(PLANNED.get_or_init(Mutex::default), wanted)
}

fn planned_among(planned: &Planned, wanted: Wanted) -> Option<Arc<Kernel>> {
    let mut planned = lock(planned);
    if let Some(kernel) = planned.get(&wanted) {
        return Some(kernel);
    }
    let kernel = Arc::new(wanted.plan()?);
    planned.put(wanted, Arc::clone(&kernel));
    Some(kernel)
}

/// Refuses what no kernel does.
pub(crate) fn refuse(method: &Method, options: &Options, device: &str) -> Result<(), Error> {
    if options.terminal_event.is_some() {
        return Err(Error::Device {
            device: device.to_owned(),
            reason: "systems cannot end at a terminal event on GPUs yet".to_owned(),
            remedy: "use the CPU, or leave `terminal_event` out".to_owned(),
        });
    }
    match method {
        Method::Erk(_) | Method::Rkc(_) | Method::Rosenbrock(_) | Method::Exponential(_) => Ok(()),
        Method::Radau(_) => Err(no_kernel(method, device)),
    }
}

/// What is said of a method without kernels.
pub(super) fn no_kernel(method: &Method, device: &str) -> Error {
    Error::Device {
        device: device.to_owned(),
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
            Some(Kernel { name: "od_erk", source, tables: Vec::new(), layout })
        }
        Method::Rkc(rkc) => {
            let layout = Layout::rkc(dim, word, limits);
            let source = source::rkc(graph, rkc, traits, &layout);
            Some(Kernel { name: "od_rkc", source, tables: Vec::new(), layout })
        }
        Method::Rosenbrock(_) | Method::Radau(_) | Method::Exponential(_) => None,
    }
}

/// The kernel with several lanes for a system, where there is one: a Runge–Kutta method on a
/// system whose stages a thread keeps in shared memory and which falls into groups that are isomorphic.
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
    if alone.storage != Storage::Shared || slots.isomorphic.is_none() {
        return None;
    }
    let layout = Layout::erk_lanes(&slots, dim, word);
    if layout.shared > limits.shared_per_block {
        return None;
    }
    let source = source::erk(graph, erk, traits, &slots, &layout);
    Some(Kernel { name: "od_erk_lanes", source, tables: Vec::new(), layout })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tolerance;
    use odeum_core::{Real, Symbol};

    /// y' = -k y, of a number of its own.
    fn decay(k: f64) -> DeviceSystem {
        DeviceSystem::recorded(Graph::record(1, 0, |_, y, _| vec![-(Symbol::lit(k) * y[0])]))
    }

    fn wanted(system: &DeviceSystem, lanes: bool) -> Wanted {
        let (method, options) = (Method::rkck(), Options::new(Tolerance::new(1e-6, 1e-9)));
        let traits = Traits::new(false, true, &method, &options);
        Wanted::new(system, &method, &traits, &Limits::HOPPER, lanes)
    }

    #[test]
    fn equal_systems_share_a_kernel() {
        let all = Planned::default();
        let kernel_of = |k, lanes| planned_among(&all, wanted(&decay(k), lanes)).unwrap();
        let kernel = kernel_of(0.25, false);
        assert!(Arc::ptr_eq(&kernel, &kernel_of(0.25, false)));
        assert_ne!(kernel.source, kernel_of(0.5, false).source);
        // Several lanes each, if there is such a kernel, are another plan.
        assert!(!Arc::ptr_eq(&kernel, &kernel_of(0.25, true)));
    }

    /// A program that goes through many systems keeps neither their graphs nor their kernels.
    #[test]
    fn systems_of_the_past_are_forgotten() {
        let (all, system) = (Planned::default(), decay(-1.0));
        let owners = || system.graph.as_ref().map_or(0, Arc::strong_count);
        let before = owners();
        let kernel = planned_among(&all, wanted(&system, false)).unwrap();
        assert_eq!((owners(), Arc::strong_count(&kernel)), (2 * before, 2));
        for k in 0..200 {
            planned_among(&all, wanted(&decay(f64::from(k)), false)).unwrap();
        }
        assert_eq!((owners(), Arc::strong_count(&kernel)), (before, 1));
    }
}
