//! Rate constants of YAML reactions.

use super::field::Fields;
use super::node::Node;
use crate::mechanism::{Arrhenius, Blending, Chebyshev, Rate};
use crate::read::problem::Log;
use crate::read::units::Dimension;

/// A, b and Eₐ, as a mapping or a list of three.
fn arrhenius(fields: &Fields<'_>, node: &Node, order: f64, log: &mut Log) -> Option<Arrhenius> {
    let dimension = Dimension::rate(order);
    if let Some(items) = node.sequence() {
        let [a, b, ea] = items else {
            let found = format!("a list of {} numbers as a rate constant", items.len());
            log.error(node.line, fields.subject, found, "give [A, b, Ea], with decimal points");
            return None;
        };
        let a = fields.quantity(a, "A", dimension, log);
        let b = fields.plain(b, "b", log);
        let ta = fields.activation(ea, "Ea", log);
        return Some(Arrhenius { a: a?, b: b?, ta: ta? });
    }
    if node.mapping().is_none() {
        let found = format!("{} as a rate constant", node.what());
        log.error(node.line, fields.subject, found, "give {A: …, b: …, Ea: …}");
        return None;
    }
    if let Some(units) = node.get("units") {
        let found = "'units' within a rate constant, where Cantera does not read them".to_owned();
        let remedy = "give 'units' of the reaction or of the file, or numbers with units";
        log.error(units.line, fields.subject, found, remedy);
        return None;
    }
    let inner = fields.within(node, log);
    inner.refuse_valueless(&["A", "b", "Ea", "P"], log);
    let a = inner.require("A", log).and_then(|a| inner.quantity(a, "A", dimension, log));
    let b = inner.require("b", log).and_then(|b| inner.plain(b, "b", log));
    let ta = match inner.get("Ea") {
        Some(ea) => inner.activation(ea, "Ea", log),
        None => Some(0.0),
    };
    Some(Arrhenius { a: a?, b: b?, ta: ta? })
}

pub(super) fn elementary(fields: &Fields<'_>, order: f64, log: &mut Log) -> Option<Rate> {
    let node = fields.require("rate-constant", log)?;
    arrhenius(fields, node, order, log).map(Rate::Arrhenius)
}

/// `order` is that of the reaction without its collider.
pub(super) fn falloff(
    fields: &Fields<'_>,
    order: f64,
    activated: bool,
    log: &mut Log,
) -> Option<Rate> {
    // The low-pressure limit of a falloff reaction has one order more than the high-pressure
    // limit; that of a chemically activated one has the order of the equation.
    let high_order = if activated { order - 1.0 } else { order };
    let low = fields
        .require("low-P-rate-constant", log)
        .and_then(|node| arrhenius(fields, node, high_order + 1.0, log));
    let high = fields
        .require("high-P-rate-constant", log)
        .and_then(|node| arrhenius(fields, node, high_order, log));
    let blending = blending(fields, log);
    Some(Rate::Falloff { low: low?, high: high?, blending: blending?, activated })
}

fn blending(fields: &Fields<'_>, log: &mut Log) -> Option<Blending> {
    let forms: Vec<&str> =
        ["Troe", "SRI", "Tsang"].into_iter().filter(|key| fields.get(key).is_some()).collect();
    let form = match forms[..] {
        [] => return Some(Blending::Lindemann),
        [form] => form,
        _ => {
            let found = format!("several blending functions: {}", forms.join(", "));
            log.error(fields.node.line, fields.subject, found, "keep one of them");
            return None;
        }
    };
    let inner = fields.within(fields.get(form)?, log);
    let mut number = |key: &str| inner.require(key, log).and_then(|n| inner.plain(n, key, log));
    match form {
        "Troe" => {
            let (a, t3, t1) = (number("A"), number("T3"), number("T1"));
            let mut t2 = None;
            if let Some(node) = inner.get("T2") {
                let value = inner.plain(node, "T2", log)?;
                if value == 0.0 {
                    let found = "T2 = 0: its term is left out, as Cantera does".to_owned();
                    log.warn(node.line, inner.subject, found, "remove T2");
                } else {
                    t2 = Some(value);
                }
            }
            inner.refuse_valueless(&["A", "T3", "T1", "T2"], log);
            Some(Blending::Troe { a: a?, t3: t3?, t1: t1?, t2 })
        }
        "SRI" => {
            let (a, b, c) = (number("A"), number("B"), number("C"));
            let (d, e) = match (inner.get("D"), inner.get("E")) {
                (None, None) => (Some(1.0), Some(0.0)),
                _ => (number("D"), number("E")),
            };
            inner.refuse_valueless(&["A", "B", "C", "D", "E"], log);
            Some(Blending::Sri { a: a?, b: b?, c: c?, d: d?, e: e? })
        }
        _ => {
            let (a, b) = (number("A"), number("B"));
            inner.refuse_valueless(&["A", "B"], log);
            Some(Blending::Tsang { a: a?, b: b? })
        }
    }
}

/// (pressure \[Pa\], rate constant) of every row.
pub(super) fn plog(fields: &Fields<'_>, order: f64, log: &mut Log) -> Option<Rate> {
    let node = fields.require("rate-constants", log)?;
    let Some(items) = node.sequence() else {
        let found = format!("{} as 'rate-constants'", node.what());
        log.error(node.line, fields.subject, found, "give a list of {P, A, b, Ea}");
        return None;
    };
    let mut rows = Vec::with_capacity(items.len());
    for item in items {
        let rate = arrhenius(fields, item, order, log);
        let inner = Fields { node: item, ..*fields };
        let pressure =
            inner.require("P", log).and_then(|p| inner.quantity(p, "P", Dimension::PRESSURE, log));
        rows.push((pressure?, rate?));
    }
    Some(Rate::Plog(crate::read::plog_table(rows)))
}

pub(super) fn chebyshev(fields: &Fields<'_>, order: f64, log: &mut Log) -> Option<Rate> {
    let mut range = |key: &str, dimension| {
        let node = fields.require(key, log)?;
        let values = fields.list(node, key, dimension, log)?;
        match values[..] {
            [low, high] => Some((low, high)),
            _ => {
                let found = format!("'{key}' is not two numbers");
                log.error(node.line, fields.subject, found, "give [low, high]");
                None
            }
        }
    };
    let temperatures = range("temperature-range", Dimension::TEMPERATURE);
    let pressures = range("pressure-range", Dimension::PRESSURE);
    let node = fields.require("data", log)?;
    let rows = node.sequence().unwrap_or(&[]);
    let mut coefficients: Vec<Vec<f64>> = Vec::with_capacity(rows.len());
    for row in rows {
        coefficients.push(fields.list(row, "data", Dimension::NONE, log)?);
    }
    // The polynomial gives log₁₀ k in the units of the file.
    if let Some(constant) = coefficients.first_mut().and_then(|row| row.first_mut()) {
        *constant += fields.units.factor(Dimension::rate(order)).log10();
    }
    Some(Rate::Chebyshev(Chebyshev {
        temperatures: temperatures?,
        pressures: pressures?,
        coefficients,
    }))
}
