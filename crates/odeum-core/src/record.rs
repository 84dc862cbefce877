//! Writing graphs down: functions run once over recording symbols.

use crate::graph::{Builder, Graph, NodeId};
use crate::real::Real;
use crate::symbol::{self, Symbol};
use crate::system::System;

impl Graph {
    /// Writes a system down by running its right-hand side once over recording symbols.
    ///
    /// A component that the right-hand side never sets becomes NaN, so that the slip shows.
    pub fn trace(system: &impl System) -> Graph {
        let (n, m) = (system.dim(), system.n_params());
        let ((rhs, radius), builder) = symbol::recording(Builder::default(), || {
            let (t, y, p) = symbol::inputs(n, m);
            let mut dydt = vec![Symbol::lit(f64::NAN); n];
            system.rhs(t, &y, &p, &mut dydt);
            (dydt, system.spectral_radius(t, &y, &p))
        });
        let names = (system.state_names(), system.param_names());
        let radius = radius.map(|radius| Graph::assemble(&builder, &[radius.id()], names.clone()));
        let rhs: Vec<NodeId> = rhs.iter().map(|symbol| symbol.id()).collect();
        Graph::assemble(&builder, &rhs, names).with_spectral_radius(radius)
    }

    /// Writes down the values `f(t, y, p)` returns, for `n_states` states and `n_params`
    /// parameters.
    pub fn record(
        n_states: usize,
        n_params: usize,
        f: impl FnOnce(Symbol, &[Symbol], &[Symbol]) -> Vec<Symbol>,
    ) -> Graph {
        let (values, builder) = symbol::recording(Builder::default(), || {
            let (t, y, p) = symbol::inputs(n_states, n_params);
            f(t, &y, &p)
        });
        let outputs: Vec<NodeId> = values.iter().map(|symbol| symbol.id()).collect();
        let states = (0..n_states).map(|i| format!("y{i}")).collect();
        let params = (0..n_params).map(|j| format!("p{j}")).collect();
        Graph::assemble(&builder, &outputs, (states, params))
    }
}
