//! Reactions of a YAML mechanism.

use std::collections::HashMap;

use super::field::Fields;
use super::node::Node;
use super::rate;
use crate::mechanism::Reaction;
use crate::read::draft::Draft;
use crate::read::equation::{self, Equation};
use crate::read::problem::{Log, quote};
use crate::read::support;
use crate::read::units::UnitSystem;

/// What every reaction may have.
const COMMON: &[&str] = &[
    "equation",
    "type",
    "units",
    "efficiencies",
    "default-efficiency",
    "duplicate",
    "orders",
    "negative-A",
    "negative-orders",
    "nonreactant-orders",
    "note",
    "id",
    "reference",
    "comment",
];

/// Which rate law a `type` names.
#[derive(Clone, Copy, PartialEq)]
enum Law {
    Elementary,
    /// `three-body` said, or not.
    MassAction(bool),
    Falloff(bool),
    Plog,
    Chebyshev,
}

impl Law {
    /// What its rates are made of.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Law::Elementary | Law::MassAction(_) => &["rate-constant"],
            Law::Falloff(_) => {
                &["low-P-rate-constant", "high-P-rate-constant", "Troe", "SRI", "Tsang"]
            }
            Law::Plog => &["rate-constants"],
            Law::Chebyshev => &["temperature-range", "pressure-range", "data"],
        }
    }

    fn is_tabulated(self) -> bool {
        matches!(self, Law::Plog | Law::Chebyshev)
    }
}

fn law(kind: &str) -> Option<Law> {
    Some(match kind {
        "" | "Arrhenius" => Law::MassAction(false),
        "elementary" => Law::Elementary,
        "three-body" | "three-body-Arrhenius" => Law::MassAction(true),
        "falloff" | "falloff-Lindemann" | "falloff-Troe" | "falloff-SRI" | "falloff-Tsang" => {
            Law::Falloff(false)
        }
        "chemically-activated"
        | "chemically-activated-Lindemann"
        | "chemically-activated-Troe"
        | "chemically-activated-SRI"
        | "chemically-activated-Tsang" => Law::Falloff(true),
        "pressure-dependent-Arrhenius" => Law::Plog,
        "Chebyshev" => Law::Chebyshev,
        _ => return None,
    })
}

/// The reaction at `node`; `None` with the problems told, or where it is left out as its only collider
/// is no species of the phase (`skip_unknown_colliders`).
pub(super) fn read(
    node: &Node,
    units: UnitSystem,
    species: &HashMap<String, usize>,
    skip_unknown_colliders: bool,
    log: &mut Log,
) -> Option<Reaction> {
    if node.mapping().is_none() {
        let found = format!("{} in place of a reaction", node.what());
        log.error(node.line, "reactions", found, "give a mapping with an equation");
        return None;
    }
    let text = Fields { node, units, subject: "reaction" };
    text.require("equation", log)?;
    let text = text.text("equation", log)?;
    let fields = Fields::new(node, units, text, log);
    let kind = match fields.text("type", log) {
        Some(kind) => kind,
        // So Cantera finds reactions of surfaces.
        None if fields.get("sticking-coefficient").is_some() => "sticking-Arrhenius",
        None => "",
    };
    let Some(law) = law(kind) else {
        let remedy = support::advice(kind, Some(support::FIT));
        log.error(
            node.line,
            text,
            format!("the rate law '{}' is not supported", quote(kind)),
            &remedy,
        );
        return None;
    };
    fields.refuse_valueless(&[COMMON, law.fields()].concat(), log);
    let mut equation = match equation::spaced(text) {
        Ok(equation) => equation,
        Err(found) => {
            log.error(node.line, text, found, "write it as in 'H + O2 (+M) <=> HO2 (+M)'");
            return None;
        }
    };
    let mut efficiencies = fields.numbers("efficiencies", log)?;
    let mut default_efficiency = None;
    if let Some(node) = fields.get("default-efficiency") {
        default_efficiency = Some(fields.plain(node, "default-efficiency", log)?);
    }
    let collider = match collider(law, &mut equation, &efficiencies) {
        Ok(collider) => collider,
        Err((found, remedy)) => {
            log.error(node.line, text, found, remedy);
            return None;
        }
    };
    let factor = factor_of_table(law, &equation, &efficiencies);
    let only = collider.as_deref().or(factor.as_deref()).filter(|name| *name != "M");
    if skip_unknown_colliders && only.is_some_and(|name| !species.contains_key(name)) {
        return None;
    }
    let orders = fields.numbers("orders", log)?;
    if let Some(name) = factor.filter(|name| orders.iter().any(|(other, _)| other == name)) {
        let found = format!("an order of {}, which is taken for a third body", quote(&name));
        let remedy =
            "leave the order out: the rate has the concentration of a third body as a factor";
        log.error(node.line, text, found, remedy);
        return None;
    }
    let is_tabulated = law.is_tabulated();
    // So Cantera writes a species on both sides, which is one more factor of the rate with and without it.
    let is_factor = matches!(&efficiencies[..], [(name, 1.0)] if equation.has_on_both_sides(name));
    if is_tabulated && is_factor && matches!(default_efficiency, None | Some(0.0)) {
        (efficiencies, default_efficiency) = (Vec::new(), None);
    }
    if collider.is_none() && (!efficiencies.is_empty() || default_efficiency.is_some()) {
        let (found, remedy) = if is_tabulated {
            (
                "efficiencies in a tabulated rate",
                "remove them: the table holds the pressure dependence",
            )
        } else {
            (
                "efficiencies in a reaction without third body",
                "write M on both sides, or remove them",
            )
        };
        log.error(node.line, text, found.to_owned(), remedy);
        return None;
    }
    let draft = Draft {
        line: node.line,
        text: text.to_owned(),
        equation,
        collider,
        efficiencies,
        default_efficiency,
        orders,
        duplicate: fields.flag("duplicate", log),
        skip_unknown_colliders,
    };
    let allowed = crate::read::Allowed {
        negative_a: fields.flag("negative-A", log),
        negative_orders: fields.flag("negative-orders", log),
        nonreactant_orders: fields.flag("nonreactant-orders", log),
    };
    let order = draft.order();
    let rate = match law {
        Law::Elementary => rate::elementary(&fields, order, log),
        Law::MassAction(_) => {
            let third = f64::from(u8::from(draft.collider.is_some()));
            rate::elementary(&fields, order + third, log)
        }
        // The equation of a chemically activated reaction has its order without collider; its
        // low-pressure limit is of that order.
        Law::Falloff(activated) => rate::falloff(&fields, order, activated, log),
        Law::Plog => rate::plog(&fields, order, log),
        Law::Chebyshev => rate::chebyshev(&fields, order, log),
    };
    let reaction = draft.resolve(rate?, species, log)?;
    crate::read::check_allowed(&draft, &reaction, allowed, log);
    Some(reaction)
}

/// Whether all species of a reaction are in the phase, those with an order among them; a collider may be another, which is
/// told or left out where it is read. An equation that cannot be read counts as declared: its problem is told there, too.
pub(super) fn is_declared(node: &Node, species: &HashMap<String, usize>) -> bool {
    let scalar = |key: &str| node.get(key).and_then(|text| text.scalar());
    let entries = |key: &str| node.get(key).and_then(|node| node.mapping()).unwrap_or_default();
    let Some(Ok(mut equation)) = scalar("equation").map(equation::spaced) else { return true };
    let law = law(scalar("type").unwrap_or(""));
    // Only their names matter here.
    let efficiencies: Vec<(String, f64)> =
        entries("efficiencies").iter().map(|entry| (entry.key.clone(), 1.0)).collect();
    if let Some(law) = law {
        // What is wrong is told where the reaction is read.
        let _ = collider(law, &mut equation, &efficiencies);
        if law.is_tabulated() {
            let _ = equation::take_collider(&mut equation, false, &efficiencies);
        }
    }
    let terms = equation.reactants.iter().chain(&equation.products).map(|(name, _)| name);
    let mut names = terms.chain(entries("orders").iter().map(|entry| &entry.key));
    names.all(|name| name == "M" || species.contains_key(name))
}

/// The species of a tabulated rate that Cantera takes for its third body. It is one more factor of the rate, as a reactant
/// without an order of its own is.
fn factor_of_table(
    law: Law,
    equation: &Equation,
    efficiencies: &[(String, f64)],
) -> Option<String> {
    let mut equation = law.is_tabulated().then(|| equation.clone())?;
    equation::take_collider(&mut equation, false, efficiencies).ok().flatten()
}

/// The collider of an equation, which is taken off its sides where the rate law has one; or what is wrong and what
/// helps.
fn collider(
    law: Law,
    equation: &mut Equation,
    efficiencies: &[(String, f64)],
) -> Result<Option<String>, (String, &'static str)> {
    let tabulated = "remove it: the table holds the pressure dependence";
    match (law, equation.falloff.take()) {
        (Law::Falloff(_), Some(name)) => Ok(Some(name)),
        (Law::Falloff(_), None) => {
            let found = "a pressure-dependent reaction without (+M)".to_owned();
            Err((found, "write (+M) on both sides"))
        }
        // Cantera 3.2 takes (+M) here for M; it never is what was meant.
        (Law::MassAction(_) | Law::Elementary, Some(name)) => {
            let found = format!("(+{}) in a reaction that is not of type falloff", quote(&name));
            Err((found, "give 'type: falloff' and its two limits, or write + M"))
        }
        (Law::Chebyshev, Some(name)) if name == "M" => Ok(None),
        (Law::Plog | Law::Chebyshev, Some(name)) => {
            Err((format!("(+{}) in a tabulated rate", quote(&name)), tabulated))
        }
        (Law::Elementary, None) => Ok(None),
        // A species on both sides is one more factor of the rate; M has no place here.
        (Law::Plog | Law::Chebyshev, None) if equation.has_generic() => {
            Err(("M in a tabulated rate".to_owned(), tabulated))
        }
        (Law::Plog | Law::Chebyshev, None) => Ok(None),
        (Law::MassAction(three_body), None) => {
            equation::take_collider(equation, three_body, efficiencies)
                .map_err(|found| (found, "name one collider on both sides, or 'type: elementary'"))
        }
    }
}
