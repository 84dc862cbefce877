//! Reactions given more than once.
//!
//! Two reactions are the same when they have the same equation up to a factor, in one direction or,
//! where one is reversible, in either, and the same law and orders. A mark is of the equation alone:
//! marked reactions of one equation may differ in all the rest. They are sorted by what decides that,
//! so that the work grows with their number and not with the pairs.

use std::collections::{HashMap, HashSet};
use std::mem::{Discriminant, discriminant};

use crate::mechanism::{Blending, Mechanism, Rate, Reaction};

/// What is doubtful about reactions of one equation; indices of reactions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Duplicates {
    /// (first, again) where not both are marked; each reaction comes again once.
    pub(super) twice: Vec<(usize, usize)>,
    /// Marked, where no other reaction of the equation is, and not in `twice`.
    pub(super) alone: Vec<usize>,
    /// Reactions with M beside the same with a named collider, where not all are marked.
    pub(super) beside: Vec<GenericAndNamed>,
    /// Comparisons of kinds of reactions that were made.
    compared: usize,
}

/// Reactions with M, the same with a named collider, and that collider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GenericAndNamed {
    pub(super) generic: Vec<usize>,
    pub(super) named: Vec<usize>,
    pub(super) collider: usize,
}

/// (species, product, coefficient relative to the first in single precision), ascending.
type Equation = Vec<(usize, bool, u32)>;

/// The rate law, the blending function of a falloff and whether it is activated, whether there are colliders, and the orders that are
/// not the coefficients.
type Law =
    (Discriminant<Rate>, Option<(Discriminant<Blending>, bool)>, bool, Option<Vec<(usize, u64)>>);

/// What matters of a reaction beside equation and law: those alike in it are not compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    /// Against the direction that the equation is kept in; `None` where both are the same.
    backward: Option<bool>,
    reversible: bool,
    marked: bool,
    colliders: Option<Colliders>,
}

/// Which species collide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Colliders {
    /// Whether those that are not in `listed` do; those in it do the opposite.
    others: bool,
    /// Ascending.
    listed: Vec<usize>,
    /// The one species that is named as collider.
    named: Option<usize>,
}

impl Duplicates {
    pub(super) fn of(mechanism: &Mechanism) -> Duplicates {
        let reactions = &mechanism.reactions;
        let mut equations: HashMap<Equation, Vec<(usize, Option<bool>)>> = HashMap::new();
        for (i, reaction) in reactions.iter().enumerate() {
            let (equation, backward) = equation(reaction);
            equations.entry(equation).or_default().push((i, backward));
        }
        let mut found = Duplicates::default();
        for members in equations.values() {
            let mut marked = members
                .iter()
                .filter(|(i, _)| reactions[*i].duplicate && !is_reverse(reactions, *i));
            if let (Some(&(i, _)), None) = (marked.next(), marked.next()) {
                found.alone.push(i);
            }
            let mut groups: HashMap<Law, Group> = HashMap::new();
            for &(i, backward) in members {
                let reaction = &reactions[i];
                let (reversible, marked) = (reaction.reversible, reaction.duplicate);
                let colliders = Colliders::of(reaction);
                let kind = Kind { backward, reversible, marked, colliders };
                groups.entry(law(reaction)).or_default().add(kind, i);
            }
            for group in groups.values() {
                group.judge(mechanism.n_species(), &mut found);
            }
        }
        let told: HashSet<usize> = found.twice.iter().flat_map(|&(i, j)| [i, j]).collect();
        found.alone.retain(|i| !told.contains(i));
        found.twice.sort_unstable_by_key(|pair| pair.1);
        found.alone.sort_unstable();
        found.beside.sort_unstable();
        found
    }
}

/// The reactions of one equation and law, by kind.
#[derive(Default)]
struct Group {
    /// Reactions ascending.
    kinds: Vec<(Kind, Vec<usize>)>,
    places: HashMap<Kind, usize>,
}

impl Group {
    fn add(&mut self, kind: Kind, reaction: usize) {
        let place = *self.places.entry(kind.clone()).or_insert(self.kinds.len());
        if place == self.kinds.len() {
            self.kinds.push((kind, Vec::new()));
        }
        self.kinds[place].1.push(reaction);
    }

    fn judge(&self, n_species: usize, found: &mut Duplicates) {
        for (kind, members) in &self.kinds {
            let mut first = usize::MAX;
            for (other, others) in &self.kinds {
                found.compared += 1;
                if (kind.marked && other.marked)
                    || !kind.same_reaction(other)
                    || !kind.share_collider(other, n_species)
                {
                    continue;
                }
                match (kind.named(), other.named()) {
                    (None, Some(collider)) if kind.colliders.is_some() => {
                        let (generic, named) = (members.clone(), others.clone());
                        found.beside.push(GenericAndNamed { generic, named, collider });
                    }
                    (Some(_), None) => {}
                    _ => first = first.min(others[0]),
                }
            }
            found.twice.extend(members.iter().filter(|j| first < **j).map(|j| (first, *j)));
        }
    }
}

impl Kind {
    /// Of two kinds of one equation and law.
    fn same_reaction(&self, other: &Kind) -> bool {
        let either = self.reversible || other.reversible;
        either
            || self.backward.is_none()
            || other.backward.is_none()
            || self.backward == other.backward
    }

    fn named(&self) -> Option<usize> {
        self.colliders.as_ref()?.named
    }

    /// Whether some species is a collider of both.
    fn share_collider(&self, other: &Kind, n_species: usize) -> bool {
        let (Some(a), Some(b)) = (&self.colliders, &other.colliders) else { return true };
        let of_a: HashSet<usize> = a.listed.iter().copied().collect();
        let shared = b.listed.iter().filter(|k| of_a.contains(k)).count();
        match (a.others, b.others) {
            (true, true) => a.listed.len() + b.listed.len() - shared < n_species,
            (true, false) => shared < b.listed.len(),
            (false, true) => shared < a.listed.len(),
            (false, false) => shared > 0,
        }
    }
}

impl Colliders {
    fn of(reaction: &Reaction) -> Option<Colliders> {
        let body = reaction.third_body.as_ref()?;
        let others = body.default_efficiency != 0.0;
        let mut listed: Vec<usize> = body
            .efficiencies
            .iter()
            .filter(|entry| (entry.1 != 0.0) != others)
            .map(|entry| entry.0)
            .collect();
        listed.sort_unstable();
        listed.dedup();
        let named = match body.efficiencies[..] {
            [(k, _)] if !others => Some(k),
            _ => None,
        };
        Some(Colliders { others, listed, named })
    }
}

/// The equation in the direction that comes first in order, and whether the reaction runs against
/// it.
fn equation(reaction: &Reaction) -> (Equation, Option<bool>) {
    let sided = |backward: bool| {
        let left = reaction.reactants.iter().map(|term| (term.0, backward, term.1));
        let right = reaction.products.iter().map(|term| (term.0, !backward, term.1));
        let mut terms: Vec<(usize, bool, f64)> = left.chain(right).collect();
        terms.sort_by_key(|term| (term.0, term.1));
        let first = terms.first().map_or(1.0, |term| term.2);
        let relative = |(k, product, n): (usize, bool, f64)| (k, product, (n / first) as f32);
        let terms = terms.into_iter().map(relative);
        terms.map(|(k, product, n)| (k, product, n.to_bits())).collect::<Equation>()
    };
    let (forward, backward) = (sided(false), sided(true));
    match forward.cmp(&backward) {
        std::cmp::Ordering::Less => (forward, Some(false)),
        std::cmp::Ordering::Equal => (forward, None),
        std::cmp::Ordering::Greater => (backward, Some(true)),
    }
}

/// Reactions of different laws are no duplicates.
fn law(reaction: &Reaction) -> Law {
    let form = match &reaction.rate {
        Rate::Falloff { blending, activated, .. } => Some((discriminant(blending), *activated)),
        _ => None,
    };
    let sorted = |orders: &[(usize, f64)]| {
        let mut orders: Vec<(usize, u64)> =
            orders.iter().map(|entry| (entry.0, entry.1.to_bits())).collect();
        orders.sort_unstable();
        orders
    };
    let orders = sorted(&reaction.orders);
    let own = (orders != sorted(&reaction.reactants)).then_some(orders);
    (discriminant(&reaction.rate), form, reaction.third_body.is_some(), own)
}

/// Whether a reaction is the reverse of the one before, given by REV in the same entry.
pub(super) fn is_reverse(reactions: &[Reaction], i: usize) -> bool {
    let Some([forward, reverse]) = i.checked_sub(1).and_then(|first| reactions.get(first..=i))
    else {
        return false;
    };
    forward.line == reverse.line
        && forward.duplicate == reverse.duplicate
        && !(forward.reversible || reverse.reversible)
        && forward.reactants == reverse.products
        && forward.products == reverse.reactants
}

#[cfg(test)]
mod tests;
