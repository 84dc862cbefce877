//! Systems as devices integrate them.

use odeum_core::emit::Grouped;
use odeum_core::{Graph, System, ValidRange};
use odeum_kinetics::{JacobianForm, Reactor};
use std::sync::Arc;

/// Species up to which reactors are recorded: straight-line code of more does not stay in the cache of instructions.
const MOST_RECORDED: usize = 20;

/// A system of which device code is made: from a [`DynSystem`](crate::DynSystem), by reference.
#[derive(Clone, Debug)]
pub struct DeviceSystem {
    /// From tables, by groups of threads.
    pub(super) grouped: Arc<dyn Grouped>,
    /// Recorded, where it can be: straight-line code is generated from it.
    pub(super) graph: Option<Arc<Graph>>,
    /// Where the model holds.
    pub(super) ranges: Vec<ValidRange>,
}

impl DeviceSystem {
    /// A system that can be recorded.
    pub(crate) fn traced(system: &impl System) -> DeviceSystem {
        DeviceSystem::recorded(Graph::trace(system), system.ranges())
    }

    /// A system that was recorded.
    pub(crate) fn recorded(graph: Graph, ranges: Vec<ValidRange>) -> DeviceSystem {
        let graph = Arc::new(graph);
        DeviceSystem { grouped: Arc::<Graph>::clone(&graph), graph: Some(graph), ranges }
    }

    /// A reactor: recorded, too, where its mechanism is small.
    pub(crate) fn reactor(reactor: &Arc<Reactor>) -> DeviceSystem {
        let is_small = reactor.kinetics().n_species() <= MOST_RECORDED
            && reactor.jacobian_form() == JacobianForm::Exact;
        DeviceSystem {
            grouped: Arc::<Reactor>::clone(reactor),
            graph: is_small.then(|| Arc::new(reactor.graph())),
            ranges: reactor.ranges(),
        }
    }
}

impl PartialEq for DeviceSystem {
    fn eq(&self, other: &DeviceSystem) -> bool {
        let same = match (&self.graph, &other.graph) {
            (Some(mine), Some(other)) => mine == other,
            // One solver has one.
            (None, None) => Arc::ptr_eq(&self.grouped, &other.grouped),
            _ => false,
        };
        same && self.ranges == other.ranges
    }
}
