//! Models written in Rust, and terms added to others.

use crate::problem::model::Model;
use odeum_core::{Graph, Symbol};
use odeum_ode::Error;

/// What the equations of a model are functions of, in a cell.
#[derive(Clone, Copy, Debug)]
pub struct Local<'a> {
    /// The time.
    pub t: Symbol,
    /// The species \[S\].
    pub u: &'a [Symbol],
    /// Their Laplacians \[S\].
    pub lap: &'a [Symbol],
    /// The coordinates x, y, z of the centre of the cell \[length\].
    pub at: [Symbol; 3],
    /// The Laplacians of the potentials \[K\]; none are there for the potentials themselves.
    pub lap_potentials: &'a [Symbol],
    /// The parameters.
    pub p: &'a [Symbol],
}

impl<'a> Local<'a> {
    /// Takes the states of a graph of S species apart, as [`Model`] orders them.
    fn new(species: usize, t: Symbol, states: &'a [Symbol], p: &'a [Symbol]) -> Local<'a> {
        let (u, rest) = states.split_at(species);
        let (lap, rest) = rest.split_at(species);
        let (at, lap_potentials) = rest.split_at(3);
        Local { t, u, lap, at: [at[0], at[1], at[2]], lap_potentials, p }
    }
}

impl Model {
    /// The same model with another term in the equation of a species, by its number: a source that
    /// depends on time, place and parameters, or a reaction.
    ///
    /// # Errors
    /// There is no such species.
    ///
    /// # Panics
    /// As [`Model::record`].
    pub fn with_source(
        self,
        species: usize,
        source: impl FnOnce(&Local<'_>) -> Symbol,
    ) -> Result<Model, Error> {
        let (count, params) = (self.species().len(), self.params());
        if species >= count {
            let remedy = format!("the model has {count} species, counted from 0");
            return Err(Error::input("species", species, remedy));
        }
        let rhs = Graph::record(self.rhs().n_states(), params.len(), |t, states, p| {
            let mut rates = self.rhs().eval(t, states, p);
            rates[species] = rates[species] + source(&Local::new(count, t, states, p));
            rates
        });
        Model::new(self.species().to_vec(), params.to_vec(), rhs, self.potentials().clone())
    }

    /// A model without potentials, written in Rust: `rhs` gives ∂u/∂t of each species in order.
    ///
    /// It is run once, to write the equations down as a graph: what it computes with are symbols,
    /// so that a function over [`Real`](odeum_ode::Real) serves an ensemble and a field. Symbols exist only inside the
    /// closure: constants, `Symbol::lit(0.2)`, are made there too.
    ///
    /// ```
    /// use odeum_fields::Model;
    ///
    /// let model = Model::record(&["c"], &[("D", 0.3), ("k", 1.0)], |cell| {
    ///     vec![cell.p[0] * cell.lap[0] - cell.p[1] * cell.u[0] * cell.u[0]]
    /// })?;
    /// assert_eq!(model.species(), ["c"]);
    /// # Ok::<(), odeum_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::new`].
    ///
    /// # Panics
    /// As [`Graph::record`]: where a symbol is used outside its own closure.
    pub fn record(
        species: &[&str],
        params: &[(&str, f64)],
        rhs: impl FnOnce(&Local<'_>) -> Vec<Symbol>,
    ) -> Result<Model, Error> {
        Model::record_with_potentials(species, params, |_| Vec::new(), rhs)
    }

    /// A model whose equations contain Laplacians of potentials μ(t, u, ∇²u, x), of which
    /// `potentials` gives any number. Each closure has symbols of its own: what both need is a function that both call.
    ///
    /// # Errors
    /// As [`Model::new`].
    ///
    /// # Panics
    /// As [`Model::record`].
    pub fn record_with_potentials(
        species: &[&str],
        params: &[(&str, f64)],
        potentials: impl FnOnce(&Local<'_>) -> Vec<Symbol>,
        rhs: impl FnOnce(&Local<'_>) -> Vec<Symbol>,
    ) -> Result<Model, Error> {
        let (s, m) = (species.len(), params.len());
        let potentials = Graph::record(2 * s + 3, m, |t, y, p| potentials(&Local::new(s, t, y, p)));
        let states = 2 * s + 3 + potentials.outputs().len();
        let rhs = Graph::record(states, m, |t, y, p| rhs(&Local::new(s, t, y, p)));
        let names = species.iter().map(|name| (*name).to_owned()).collect();
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Model::new(names, params, rhs, potentials)
    }
}
