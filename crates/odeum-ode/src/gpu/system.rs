//! Systems as devices integrate them.

use odeum_core::Graph;
use odeum_core::emit::Grouped;
use std::sync::Arc;

/// A system of which device code is made.
#[derive(Clone, Debug)]
pub(crate) struct DeviceSystem {
    /// From tables, by groups of threads.
    pub(super) grouped: Arc<dyn Grouped>,
    /// Recorded, where it can be: straight code is generated from it.
    pub(super) graph: Option<Arc<Graph>>,
}

impl DeviceSystem {
    /// A system that was recorded.
    pub(crate) fn recorded(graph: Graph) -> DeviceSystem {
        let graph = Arc::new(graph);
        DeviceSystem { grouped: Arc::<Graph>::clone(&graph), graph: Some(graph) }
    }

    /// A system that is evaluated from tables alone.
    pub(crate) fn tabulated(grouped: Arc<dyn Grouped>) -> DeviceSystem {
        DeviceSystem { grouped, graph: None }
    }
}

impl PartialEq for DeviceSystem {
    fn eq(&self, other: &DeviceSystem) -> bool {
        match (&self.graph, &other.graph) {
            (Some(mine), Some(other)) => mine == other,
            // One solver has one.
            (None, None) => Arc::ptr_eq(&self.grouped, &other.grouped),
            _ => false,
        }
    }
}
