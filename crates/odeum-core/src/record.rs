//! Writing graphs down: functions run once over recording symbols.

use crate::graph::{Builder, Graph, NodeId};
use crate::real::Real;
use crate::symbol::{self, Symbol};
use crate::system::System;

impl Graph {
    /// Writes a system down by running its right-hand side once over recording symbols.
    ///
    /// A component that the right-hand side never sets becomes NaN, so that the slip shows.
    ///
    /// # Panics
    ///
    /// When the system computes with a [`Symbol`] of another recording, or gives one.
    pub fn trace(system: &impl System) -> Graph {
        let (n, m) = (system.dim(), system.n_params());
        let ((rhs, radius), builder) = symbol::recording(Builder::default(), || {
            let (t, y, p) = symbol::inputs(n, m);
            let mut dydt = vec![Symbol::lit(f64::NAN); n];
            system.rhs(t, &y, &p, &mut dydt);
            let radius = system.spectral_radius(t, &y, &p);
            (ids(&dydt), radius.map(|radius| ids(&[radius])))
        });
        let graph = |outputs: &[NodeId]| {
            let graph = Graph::assemble(&builder, outputs, numbered(n, m));
            graph.named(system.state_names(), system.param_names())
        };
        graph(&rhs).with_spectral_radius(radius.map(|radius| graph(&radius)))
    }

    /// Writes down the values `f(t, y, p)` returns, for `n_states` states and `n_params`
    /// parameters.
    ///
    /// # Panics
    ///
    /// When `f` computes with a [`Symbol`] of another recording, or returns one.
    pub fn record(
        n_states: usize,
        n_params: usize,
        f: impl FnOnce(Symbol, &[Symbol], &[Symbol]) -> Vec<Symbol>,
    ) -> Graph {
        let (outputs, builder) = symbol::recording(Builder::default(), || {
            let (t, y, p) = symbol::inputs(n_states, n_params);
            ids(&f(t, &y, &p))
        });
        Graph::assemble(&builder, &outputs, numbered(n_states, n_params))
    }
}

/// Where these are in the recording under way.
fn ids(symbols: &[Symbol]) -> Vec<NodeId> {
    symbols.iter().map(|symbol| symbol.id()).collect()
}

/// Names of n states and m parameters to which nobody gave any.
fn numbered(n: usize, m: usize) -> (Vec<String>, Vec<String>) {
    let named = |letter: char, count: usize| (0..count).map(|i| format!("{letter}{i}")).collect();
    (named('y', n), named('p', m))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names the first of its two components, and more parameters than it has.
    struct Oscillator;

    impl System for Oscillator {
        fn dim(&self) -> usize {
            2
        }

        fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
            (dydt[0], dydt[1]) = (y[1], -y[0]);
        }

        fn state_names(&self) -> Vec<String> {
            vec!["x".to_owned()]
        }

        fn param_names(&self) -> Vec<String> {
            vec!["k".to_owned()]
        }
    }

    #[test]
    fn as_many_names_as_components() {
        let graph = Graph::trace(&Oscillator);
        assert_eq!(graph.state_names(), ["x", "y1"]);
        assert!(graph.param_names().is_empty());
        assert_eq!(graph.jacobian().1.nnz(), 2);
    }
}
