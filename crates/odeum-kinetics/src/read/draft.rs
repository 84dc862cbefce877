//! A reaction between file and mechanism: names not yet looked up, numbers already in SI.

use std::collections::HashMap;

use super::equation::Equation;
use super::problem::{Log, quote};
use crate::mechanism::{Rate, Reaction, ThirdBody};

/// What both formats say of a reaction beside its rate.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) line: usize,
    /// The equation as the file has it.
    pub(crate) text: String,
    /// Without the collider of a mass-action reaction.
    pub(crate) equation: Equation,
    /// `M` or a species, of a reaction with third body or falloff.
    pub(crate) collider: Option<String>,
    pub(crate) efficiencies: Vec<(String, f64)>,
    /// Of species not listed, where the file says it.
    pub(crate) default_efficiency: Option<f64>,
    /// Orders that differ from the stoichiometric coefficients.
    pub(crate) orders: Vec<(String, f64)>,
    pub(crate) duplicate: bool,
    /// Efficiencies of species that are not in the mechanism are left out.
    pub(crate) skip_unknown_colliders: bool,
}

impl Draft {
    /// Orders of the forward rate, by name.
    pub(crate) fn forward_orders(&self) -> Vec<(String, f64)> {
        let mut orders = self.equation.reactants.clone();
        for (name, order) in &self.orders {
            match orders.iter_mut().find(|entry| entry.0 == *name) {
                Some(entry) => entry.1 = *order,
                None => orders.push((name.clone(), *order)),
            }
        }
        orders
    }

    /// Order of the forward rate without third body.
    pub(crate) fn order(&self) -> f64 {
        self.forward_orders().iter().map(|entry| entry.1).sum()
    }

    /// The reaction with species by index; `None` with the problems told.
    pub(crate) fn resolve(
        &self,
        rate: Rate,
        species: &HashMap<String, usize>,
        log: &mut Log,
    ) -> Option<Reaction> {
        let mut complete = true;
        let mut resolve = |terms: &[(String, f64)], role: &str| -> Vec<(usize, f64)> {
            let mut found = Vec::with_capacity(terms.len());
            for (name, value) in terms {
                if let Some(&index) = species.get(name) {
                    found.push((index, *value));
                } else {
                    let what =
                        format!("the {role} '{}' is not a species of the phase", quote(name));
                    log.error(self.line, &self.text, what, "declare it, or correct its name");
                    complete = false;
                }
            }
            found
        };
        let reactants = resolve(&self.equation.reactants, "reactant");
        let products = resolve(&self.equation.products, "product");
        let mut orders = Vec::new();
        if reactants.len() == self.equation.reactants.len() {
            orders = resolve(&self.forward_orders(), "species with an order");
        }
        let known: Vec<(String, f64)> = self
            .efficiencies
            .iter()
            .filter(|(name, _)| !self.skip_unknown_colliders || species.contains_key(name))
            .cloned()
            .collect();
        let mut efficiencies = resolve(&known, "collider");
        let mut default_efficiency = self.default_efficiency.unwrap_or(1.0);
        if let Some(name) = self.collider.as_ref().filter(|name| *name != "M") {
            if self.efficiencies.iter().any(|(other, _)| other != name)
                || self.default_efficiency.is_some_and(|value| value != 0.0)
            {
                let found = format!("the only collider is {name}, yet others have an efficiency");
                log.error(self.line, &self.text, found, "write (+M) or M, or leave the others out");
                complete = false;
            } else if self.efficiencies.is_empty() {
                efficiencies = resolve(&[(name.clone(), 1.0)], "collider");
            }
            default_efficiency = 0.0;
        }
        if !complete {
            return None;
        }
        let third_body =
            self.collider.is_some().then_some(ThirdBody { default_efficiency, efficiencies });
        Some(Reaction {
            equation: self.text.clone(),
            reactants,
            products,
            orders,
            reversible: self.equation.reversible,
            rate,
            third_body,
            duplicate: self.duplicate,
            line: self.line,
        })
    }
}
