//! Where everything goes in the Jacobian of a reactor: found once per mechanism.

use odeum_core::Pattern;

use super::{Constraint, Energy, JacobianForm};
use crate::gather::Gather;
use crate::kinetics::Kinetics;

/// Position of an entry that is not in the pattern.
pub(crate) const NONE: u32 = u32::MAX;

/// The pattern, and the lists from which its values are summed.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) pattern: Pattern,
    /// Entries ∂f/∂Yⱼ of the species rows, column by column: columns\[j\]..columns\[j + 1\].
    pub(crate) columns: Vec<u32>,
    /// Species of the row and position in the matrix of each of them.
    pub(crate) row: Vec<u32>,
    pub(crate) position: Vec<u32>,
    /// Their values, Wₖ/Wⱼ ∂ωₖ/∂Cⱼ, from ∂q/∂C and ∂q/∂X.
    pub(super) block: Gather,
    /// Positions in columns T and m, of the species rows and then of the row m.
    pub(crate) in_t: Vec<u32>,
    pub(crate) in_m: Vec<u32>,
    /// Positions in row m, columns Y.
    pub(crate) moles: Vec<u32>,
    /// α₀ of each reaction with a third body.
    pub(super) default_efficiency: Vec<f64>,
}

/// coefficient · values\[source\], a part of ∂ω/∂C of a row by a column, of one reaction.
pub(crate) struct Term {
    pub(crate) column: usize,
    pub(crate) row: usize,
    pub(crate) reaction: usize,
    pub(crate) source: usize,
    pub(crate) coefficient: f64,
}

/// What a reaction depends on: (species, source, coefficient).
type Dependence = Vec<(usize, usize, f64)>;

/// What each reaction depends on; sources are the slots of the reactions, then ∂q/∂X of those with a third
/// body.
fn dependences(kinetics: &Kinetics, form: JacobianForm) -> Vec<Dependence> {
    let (n, n_slots) = (kinetics.n_species(), kinetics.mass_action.n_slots());
    let mut depends: Vec<Dependence> = (0..kinetics.n_reactions())
        .map(|r| {
            let slots = kinetics.mass_action.slots_of(r);
            let real = slots.into_iter().filter(|(_, species)| *species < n);
            real.map(|(slot, species)| (species, slot, 1.0)).collect()
        })
        .collect();
    let bodies = &kinetics.bodies;
    for (j, r) in bodies.reaction.iter().enumerate() {
        if form == JacobianForm::Exact {
            let listed = bodies.listed(bodies.set[j] as usize);
            let terms = listed.map(|(species, excess)| (species as usize, n_slots + j, excess));
            depends[*r as usize].extend(terms);
        }
    }
    depends
}

/// All terms of the species block, in the order of the reactions.
pub(crate) fn terms(kinetics: &Kinetics, form: JacobianForm) -> Vec<Term> {
    let depends = dependences(kinetics, form);
    let mut terms = Vec::new();
    for (reaction, net) in kinetics.net.iter().enumerate() {
        for &(row, nu) in net {
            terms.extend(depends[reaction].iter().map(|&(column, source, coefficient)| Term {
                column,
                row,
                reaction,
                source,
                coefficient: nu * coefficient,
            }));
        }
    }
    terms
}

impl Plan {
    pub(super) fn new(
        kinetics: &Kinetics,
        constraint: Constraint,
        energy: Energy,
        form: JacobianForm,
    ) -> Plan {
        let n = kinetics.n_species();
        let bodies = &kinetics.bodies;
        let default_efficiency: Vec<f64> =
            bodies.set.iter().map(|set| bodies.default[*set as usize]).collect();

        let depends = dependences(kinetics, form);
        let mut feels_m = vec![constraint == Constraint::ConstantPressure; kinetics.n_reactions()];
        for (j, r) in bodies.reaction.iter().enumerate() {
            feels_m[*r as usize] |= default_efficiency[j] != 0.0;
        }
        for j in 0..kinetics.tabulated.len() {
            feels_m[kinetics.tabulated.reaction(j)] = true;
        }

        // Who feels T, m and moles.
        let (mut row_t, mut row_m) = (vec![false; n], vec![false; n]);
        let mut moles = vec![false; n + 2];
        for (r, net) in kinetics.net.iter().enumerate() {
            let change: f64 = net.iter().map(|(_, nu)| nu).sum();
            for &(row, _) in net {
                row_t[row] = true;
                row_m[row] |= feels_m[r];
            }
            if change != 0.0 {
                for &(column, ..) in &depends[r] {
                    moles[1 + column] = true;
                }
                moles[0] = true;
                moles[n + 1] |= feels_m[r];
            }
        }

        let mut terms = terms(kinetics, form);
        // Entry by entry, down the columns; the terms of an entry stay in the order of the reactions.
        terms.sort_by_key(|term| (term.column, term.row));
        let entries = || terms.chunk_by(|a, b| (a.column, a.row) == (b.column, b.row));
        let mut columns_of = vec![Vec::new(); n];
        for entry in entries() {
            columns_of[entry[0].row].push(1 + entry[0].column);
        }

        let mut rows = vec![match energy {
            Energy::Adiabatic => (0..n + 2).collect(),
            Energy::Isothermal => Vec::new(),
        }];
        for k in 0..n {
            let species = columns_of[k].iter().copied();
            let first = row_t[k].then_some(0);
            let last = row_m[k].then_some(n + 1);
            rows.push(first.into_iter().chain(species).chain(last).collect());
        }
        rows.push((0..n + 2).filter(|j| moles[*j]).collect());
        let pattern = Pattern::from_rows(n + 2, &rows);
        let position = |row, column| pattern.find(row, column).map_or(NONE, |k| k as u32);

        let mut plan = Plan {
            columns: vec![0],
            row: Vec::new(),
            position: Vec::new(),
            block: Gather::default(),
            in_t: (1..n + 2).map(|row| position(row, 0)).collect(),
            in_m: (1..n + 2).map(|row| position(row, n + 1)).collect(),
            moles: (1..n + 1).map(|column| position(n + 1, column)).collect(),
            default_efficiency,
            pattern: Pattern::dense(0, 0),
        };
        let mut lists = Vec::new();
        for entry in entries() {
            let Term { column, row, .. } = entry[0];
            let at = position(1 + row, 1 + column);
            plan.columns.resize(column + 1, plan.row.len() as u32);
            plan.row.push(row as u32);
            plan.position.push(at);
            let scale = kinetics.weight[row] * kinetics.recip_weight[column];
            let list = entry.iter().map(|term| (term.source, term.coefficient * scale)).collect();
            lists.push((at as usize, list));
        }
        plan.columns.resize(n + 1, plan.row.len() as u32);
        plan.block = Gather::new(lists);
        plan.pattern = pattern;
        plan
    }
}
