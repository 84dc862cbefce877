//! Which kernel integrates an ensemble.

use super::groups::{self, Content};
use super::interleaved;
use super::layout::Layout;
use super::recent::Recent;
use super::source::{self, Traits};
use super::system::DeviceSystem;
use crate::method::Method;
use crate::method::device::{Storage, ThreadKernels};
use crate::options::Options;
use odeum_core::{Error, Graph, lock};
use odeum_cuda::{Device as _, Gpu, Limits};
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
    /// Threads of a system at least.
    least_width: usize,
    /// The kernel that says what systems will probably cost, of a method with kernels of groups.
    costs: bool,
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
        (lanes, least_width): (bool, usize),
    ) -> Self {
        Wanted {
            lanes,
            least_width,
            costs: false,
            limits: *limits,
            traits: traits.clone(),
            method: method.clone(),
            system: system.clone(),
        }
    }

    /// The same, but what says what systems will probably cost.
    pub(crate) fn costs(self) -> Self {
        Wanted { costs: true, ..self }
    }

    /// The kernel; `None` where there is none. That of lanes gives the same bits as that of threads.
    fn plan(&self) -> Option<Kernel> {
        let Wanted { lanes: wants_lanes, least_width, costs, limits, traits, method, system } =
            self;
        let of = |content| groups::kernel(system, method, content, traits, limits, *least_width);
        if *costs {
            return of(Content::Costs);
        }
        let by_groups = || {
            let interleaved = || interleaved::kernel(system, method, traits, limits);
            (*least_width == 1).then(interleaved).flatten().or_else(|| of(Content::Steps))
        };
        let Some(graph) = system.graph.as_deref().filter(|_| *least_width == 1) else {
            return by_groups();
        };
        let Some(own) = OfThreads::new(graph, method, traits, limits) else { return by_groups() };
        if *wants_lanes && let Some(lanes) = own.lanes() {
            return Some(lanes);
        }
        if own.prefers_groups() {
            return by_groups().or_else(|| Some(own.single()));
        }
        Some(own.single())
    }
}

/// Kernels that were planned.
type Planned = Mutex<Recent<Wanted, Arc<Kernel>>>;

/// The kernel that is wanted, planned once for all who want the same: planning takes milliseconds, which
/// counts where an integration takes few. `None` where there is none.
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

/// How the kernel for a system is laid out, in words; `None` of what has no kernel. On the GPU of this number, where there is
/// one, else as on an H100 or H200.
pub fn layout_in_words(
    system: impl Into<DeviceSystem>,
    method: &Method,
    options: &Options,
    ordinal: usize,
) -> Option<String> {
    let system = system.into();
    let traits = Traits::new(false, false, method, options, &system.ranges);
    let limits = Gpu::open(ordinal).map_or(Limits::HOPPER, |gpu| gpu.limits());
    let wanted = Wanted::new(&system, method, &traits, &limits, (false, 1));
    let layout = planned(wanted)?.layout;
    let systems = layout.systems();
    let threads = match layout.width {
        1 => "one thread for each system".to_owned(),
        width => format!("{width} threads for each system"),
    };
    let memory = match (layout.shared, layout.storage) {
        (0, Storage::Registers) => "in registers".to_owned(),
        (0, _) => "in registers and local memory".to_owned(),
        (bytes, _) => {
            let kb = (bytes * layout.width / layout.block) as f64 / 1e3;
            let matrices = if layout.global > 0 { ", matrices in global memory" } else { "" };
            format!("{kb:.1} kB of shared memory{matrices}")
        }
    };
    Some(format!("{threads}, {memory}; {systems} systems on a multiprocessor"))
}

/// What is said where there is no kernel of a method for a system.
pub(super) fn no_kernel(system: &DeviceSystem, method: &Method, device: &str) -> Error {
    let (equations, _) = system.grouped.sizes();
    Error::Device {
        device: device.to_owned(),
        reason: format!(
            "{} has no kernel for {equations} equations: shared memory does not hold one system",
            method.name()
        ),
        remedy: "use the CPU".to_owned(),
    }
}

/// The kernels of a method of which one thread, or several lanes of a warp, have a system.
pub(super) struct OfThreads<'a> {
    kernels: Box<dyn ThreadKernels + 'a>,
    graph: &'a Graph,
    method: &'a Method,
    traits: &'a Traits,
    limits: &'a Limits,
    /// Of one thread per system.
    layout: Layout,
}

impl<'a> OfThreads<'a> {
    /// `None` of methods that have no such kernels.
    pub(super) fn new(
        graph: &'a Graph,
        method: &'a Method,
        traits: &'a Traits,
        limits: &'a Limits,
    ) -> Option<Self> {
        let kernels = method.on_device().thread_kernels(graph, traits.word())?;
        let layout = Layout::explicit(&kernels.thread(), graph.outputs().len(), limits);
        Some(OfThreads { kernels, graph, method, traits, limits, layout })
    }

    /// One thread per system.
    pub(super) fn single(&self) -> Kernel {
        self.kernel(self.layout)
    }

    /// Several lanes for a system, where there is such a kernel and a thread would keep its stages in shared memory.
    pub(super) fn lanes(&self) -> Option<Kernel> {
        if self.traits.event
            || !self.traits.ranges.is_empty()
            || self.layout.storage != Storage::Shared
        {
            return None;
        }
        Some(self.kernel(Layout::lanes(&self.kernels.lanes()?, self.limits)?))
    }

    /// Whether a group of threads is to have what one thread would keep in local memory.
    fn prefers_groups(&self) -> bool {
        self.layout.storage == Storage::Local && self.kernels.thread().prefers_groups
    }

    fn kernel(&self, layout: Layout) -> Kernel {
        let OfThreads { kernels, graph, method, traits, .. } = self;
        let source = source::threads(&**kernels, graph, method, traits, &layout);
        Kernel { name: kernels.name(layout.storage), source, tables: Vec::new(), layout }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Tolerance};
    use odeum_core::{Real, Symbol};

    /// y' = -k y, of a number of its own.
    fn decay(k: f64) -> DeviceSystem {
        let graph = Graph::record(1, 0, |_, y, _| vec![-(Symbol::lit(k) * y[0])]);
        DeviceSystem::recorded(graph, Vec::new())
    }

    fn wanted(system: &DeviceSystem, lanes: bool) -> Wanted {
        let (method, options) = (Method::rkck(), Options::new(Tolerance::new(1e-6, 1e-9)));
        let traits = Traits::new(false, true, &method, &options, &[]);
        Wanted::new(system, &method, &traits, &Limits::HOPPER, (lanes, 1))
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

    /// Of tolerances a kernel knows nothing but how exact its matrices may be.
    #[test]
    fn tolerances_share_a_kernel() {
        let at = |method: &Method, rtol| {
            let options = Options::new(Tolerance::new(rtol, 1e-9));
            Traits::new(false, true, method, &options, &[])
        };
        for (method, limit) in
            [(Method::rkck(), 0.0), (Method::rodas4(), 1e-7), (Method::exprb43(), 1e-5)]
        {
            assert_eq!(at(&method, 1e-2), at(&method, limit.max(1e-12)), "{}", method.name());
            assert_eq!(at(&method, 0.9 * limit), at(&method, 1e-12), "{}", method.name());
            assert_eq!(at(&method, limit) == at(&method, 0.9 * limit), limit == 0.0);
        }
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
