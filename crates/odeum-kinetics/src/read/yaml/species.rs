//! Species of a YAML mechanism and their thermodynamic data.

use super::field::Fields;
use super::node::Node;
use crate::constants::{GAS_CONSTANT, ONE_ATM};
use crate::mechanism::{Range, Thermo};
use crate::read::problem::{Log, quote};
use crate::read::support;
use crate::read::units::{Dimension, UnitSystem};

/// What an entry says of a species, before its elements are looked up; `None` where that is wrong,
/// and was told.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) composition: Option<Vec<(String, f64)>>,
    pub(super) thermo: Option<Thermo>,
}

const KNOWN: &[&str] = &[
    "name",
    "composition",
    "charge",
    "thermo",
    "transport",
    "units",
    "note",
    "sites",
    "size",
    "equation-of-state",
    "critical-parameters",
    "id",
    "comment",
    "reference",
];

pub(super) fn read(node: &Node, name: &str, units: UnitSystem, log: &mut Log) -> Draft {
    let fields = Fields::new(node, units, name, log);
    fields.warn_unknown(KNOWN, log);
    let given = fields.require("composition", log);
    let composition = given.and_then(|_| fields.numbers("composition", log));
    let thermo = fields.require("thermo", log).and_then(|node| thermo(&fields, node, log));
    let wrong =
        |(element, count): &&(String, f64)| count.abs() > 1e4 || (*count < 0.0 && element != "E");
    if let Some((element, count)) = composition.iter().flatten().find(wrong) {
        let found = format!("{count} atoms of {}", quote(element));
        log.error(node.line, name, found, "give a count from 0 to 10000");
        return Draft { composition: None, thermo };
    }
    charge(&fields, composition.as_deref(), log);
    Draft { composition, thermo }
}

/// Tells of a charge that is not that of the electrons in the composition. They count, as in Cantera, which
/// writes it beside them.
fn charge(fields: &Fields<'_>, composition: Option<&[(String, f64)]>, log: &mut Log) {
    let (Some(node), Some(composition)) = (fields.get("charge"), composition) else { return };
    let Some(charge) = fields.plain(node, "charge", log) else { return };
    // Not `sum`, which is -0 of nothing.
    let electrons = composition.iter().filter(|(e, _)| e == "E").fold(0.0, |sum, (_, n)| sum + n);
    if charge != -electrons {
        let found = format!(
            "a charge of {charge} is not used: 'composition' has {electrons} electrons (E)"
        );
        log.warn(node.line, fields.subject, found, "correct one of the two");
    }
}

fn thermo(outer: &Fields<'_>, node: &Node, log: &mut Log) -> Option<Thermo> {
    let fields = outer.within(node, log);
    let model = fields.require("model", log).and_then(|_| fields.text("model", log))?;
    let mut reference = ONE_ATM;
    if let Some(node) = fields.get("reference-pressure") {
        reference = fields.quantity(node, "reference-pressure", Dimension::PRESSURE, log)?;
        if reference <= 0.0 {
            let found = format!("a reference pressure of {reference} Pa");
            log.error(node.line, fields.subject, found, "give a positive pressure");
            return None;
        }
    }
    // Entropies of a mechanism are all at one atmosphere: s(1 atm) = s(p₀) − R ln(1 atm / p₀).
    let shift = if reference == ONE_ATM { 0.0 } else { -(ONE_ATM / reference).ln() };
    let known = ["model", "reference-pressure", "temperature-ranges", "data", "note", "units"];
    match model {
        "NASA7" => {
            fields.warn_unknown(&known, log);
            let mut ranges = ranges::<7>(&fields, 2, log)?;
            ranges.iter_mut().for_each(|range| range.a[6] += shift);
            Some(Thermo::Nasa7(ranges))
        }
        "NASA9" => {
            fields.warn_unknown(&known, log);
            let mut ranges = ranges::<9>(&fields, usize::MAX, log)?;
            ranges.iter_mut().for_each(|range| range.a[8] += shift);
            Some(Thermo::Nasa9(ranges))
        }
        "Shomate" => {
            fields.warn_unknown(&known, log);
            let mut ranges = ranges::<7>(&fields, 2, log)?;
            // G is in J/(mol K).
            let shift = shift * GAS_CONSTANT / 1000.0;
            ranges.iter_mut().for_each(|range| range.a[6] += shift);
            Some(Thermo::Shomate(ranges))
        }
        "constant-cp" => constant_cp(&fields, shift, log),
        _ => {
            let found = format!("the thermodynamic model '{}' is not supported", quote(model));
            let remedy = support::advice(model, Some(support::DATA));
            log.error(node.line, fields.subject, found, &remedy);
            None
        }
    }
}

fn constant_cp(fields: &Fields<'_>, shift: f64, log: &mut Log) -> Option<Thermo> {
    fields.warn_unknown(
        &[
            "model",
            "reference-pressure",
            "T0",
            "h0",
            "s0",
            "cp0",
            "T-min",
            "T-max",
            "note",
            "units",
        ],
        log,
    );
    let mut value = |key: &str, dimension, default: f64| match fields.get(key) {
        Some(node) => fields.quantity(node, key, dimension, log),
        None => Some(default),
    };
    let t0 = value("T0", Dimension::TEMPERATURE, 298.15);
    let h0 = value("h0", Dimension::MOLAR_ENERGY, 0.0);
    let s0 = value("s0", Dimension::MOLAR_HEAT, 0.0);
    let cp0 = value("cp0", Dimension::MOLAR_HEAT, 0.0);
    let low = value("T-min", Dimension::TEMPERATURE, 0.0);
    let high = value("T-max", Dimension::TEMPERATURE, f64::INFINITY);
    let (t0, bounds) = (t0?, (low?, high?));
    if t0 <= 0.0 || bounds.0 < 0.0 || bounds.0 >= bounds.1 {
        let found = "temperatures that are not positive and ascending".to_owned();
        log.error(fields.node.line, fields.subject, found, "correct T0, T-min and T-max");
        return None;
    }
    let s0 = s0? + shift * GAS_CONSTANT;
    Some(Thermo::ConstantCp { t0, h0: h0?, s0, cp0: cp0?, bounds })
}

/// The ranges of a polynomial, at most `most`.
fn ranges<const K: usize>(
    fields: &Fields<'_>,
    most: usize,
    log: &mut Log,
) -> Option<Vec<Range<K>>> {
    let temperatures = fields
        .require("temperature-ranges", log)
        .and_then(|node| fields.list(node, "temperature-ranges", Dimension::TEMPERATURE, log));
    let data = fields.require("data", log)?;
    let Some(rows) = data.sequence() else {
        let found = format!("{} as 'data'", data.what());
        log.error(data.line, fields.subject, found, "give a list of coefficients per range");
        return None;
    };
    let temperatures = temperatures?;
    if temperatures.len() != rows.len() + 1 || rows.is_empty() || rows.len() > most {
        let found =
            format!("{} temperatures for {} rows of coefficients", temperatures.len(), rows.len());
        log.error(data.line, fields.subject, found, "give one temperature more than rows");
        return None;
    }
    let (lowest, highest) = (temperatures[0], temperatures[rows.len()]);
    let descends = temperatures.windows(2).any(|pair| pair[0] > pair[1]);
    if lowest < 0.0 || descends || lowest == highest {
        let found = format!("temperature ranges {temperatures:?} that do not ascend");
        log.error(data.line, fields.subject, found, "put them in ascending order");
        return None;
    }
    let mut ranges = Vec::with_capacity(rows.len());
    let mut empty = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let values = fields.list(row, "data", Dimension::NONE, log)?;
        let Ok(a) = <[f64; K]>::try_from(values) else {
            let found = format!("a row that has not {K} coefficients");
            log.error(row.line, fields.subject, found, "give all of them, with decimal points");
            return None;
        };
        let (low, high) = (temperatures[i], temperatures[i + 1]);
        if low < high {
            ranges.push(Range { low, high, a });
        } else {
            empty.push((row.line, low, a));
        }
    }
    // Cantera writes data of one range as of two, the second without width.
    for (line, at, a) in empty {
        if !ranges.iter().any(|range| range.a == a) {
            let found = format!("coefficients that hold at {at} K alone are left out");
            log.warn(line, fields.subject, found, "check the temperature ranges");
        }
    }
    Some(ranges)
}
