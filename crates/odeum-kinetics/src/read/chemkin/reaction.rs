//! Reactions of a Chemkin mechanism and their auxiliary data.

use std::collections::HashMap;

use super::equation;
use super::lines::{Line, Sections};
use crate::constants::ONE_ATM;
use crate::mechanism::{Arrhenius, Blending, Chebyshev, Rate, Reaction};
use crate::read::draft::Draft;
use crate::read::number;
use crate::read::problem::{Log, quote};
use crate::read::support;
use crate::read::units::{Dimension, UnitSystem};

/// A reaction line and its auxiliary data, as words and numbers.
struct Entry {
    line: usize,
    equation: String,
    /// A, b, E in the units of the file.
    rate: [f64; 3],
    aux: Vec<(usize, String, Vec<f64>)>,
    units: UnitSystem,
    duplicate: bool,
}

/// All reactions.
pub(super) fn read_all(
    sections: &Sections<'_>,
    species: &HashMap<String, usize>,
    log: &mut Log,
) -> Vec<Reaction> {
    let mut reactions = Vec::new();
    for (header, lines) in &sections.reactions {
        read_section(*header, lines, species, &mut reactions, log);
    }
    reactions
}

/// The reactions of a section, of which the rates have the units that follow its keyword.
fn read_section(
    header: Line<'_>,
    lines: &[Line<'_>],
    species: &HashMap<String, usize>,
    reactions: &mut Vec<Reaction>,
    log: &mut Log,
) {
    let mut units = cgs();
    for word in header.1.split_whitespace() {
        set_unit(&mut units, word, header.0, log);
    }
    let mut open: Option<Entry> = None;
    for (line, text) in joined(lines) {
        if log.is_full() {
            return;
        }
        if !text.contains('=') {
            match &mut open {
                Some(entry) => auxiliary(entry, line, &text, species, log),
                None => {
                    let what = format!("'{}' before any reaction", quote(&text));
                    log.error(line, "REACTIONS", what, "write an equation with A, b and E");
                }
            }
            continue;
        }
        if let Some(entry) = open.take() {
            complete(&entry, species, reactions, log);
        }
        open = head(line, &text, units, log);
        if open.is_none() {
            // Auxiliary lines of a broken reaction belong to nobody.
            open = Some(Entry {
                line: 0,
                equation: String::new(),
                rate: [0.0; 3],
                aux: Vec::new(),
                units,
                duplicate: false,
            });
        }
    }
    if let Some(entry) = open {
        complete(&entry, species, reactions, log);
    }
}

/// cm, mol, cal/mol.
fn cgs() -> UnitSystem {
    let mut units = UnitSystem::default();
    for (kind, unit) in [("length", "cm"), ("quantity", "mol"), ("activation-energy", "cal/mol")] {
        // These three are known units.
        let _ = units.set(kind, unit);
    }
    units
}

/// Lines that end in `&` joined with the next.
fn joined<'a>(lines: &[Line<'a>]) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::with_capacity(lines.len());
    let mut goes_on = false;
    for &(number, line) in lines {
        let text = line.trim_end_matches('&').trim_end();
        match out.last_mut() {
            Some(last) if goes_on => {
                last.1.push(' ');
                last.1.push_str(text);
            }
            _ => out.push((number, text.to_owned())),
        }
        goes_on = line.ends_with('&');
    }
    out
}

fn set_unit(units: &mut UnitSystem, word: &str, line: usize, log: &mut Log) {
    let upper = word.to_ascii_uppercase();
    let (kind, unit) = match upper.trim_end_matches('S') {
        "CAL" | "CAL/" | "CAL/MOLE" | "CALORIE" | "CAL/MOL" => ("activation-energy", "cal/mol"),
        "KCAL" | "KCAL/MOLE" | "KCAL/MOL" => ("activation-energy", "kcal/mol"),
        "JOUL" | "JOULE" | "JOULES/MOLE" | "JOULE/MOLE" | "JOULES/MOL" | "J/MOLE" | "J/MOL" => {
            ("activation-energy", "J/mol")
        }
        "KJOULE" | "KJOULES/MOLE" | "KJOULE/MOLE" | "KJOU/MOLE" | "KJOULES/MOL" | "KJ/MOLE"
        | "KJ/MOL" | "KJOU" => ("activation-energy", "kJ/mol"),
        "KELVIN" | "KELV" | "K" => ("activation-energy", "K"),
        "EVOLT" | "EVOL" | "EV" => ("activation-energy", "eV"),
        "MOLE" => ("quantity", "mol"),
        "MOLECULE" | "MOLEC" => ("quantity", "molec"),
        _ if support::is_refused(&upper) => {
            let what = format!("the keyword '{}' is not supported", quote(word));
            log.error(line, "REACTIONS", what, &support::advice(&upper, None));
            return;
        }
        _ => {
            let what = format!("the unit '{}' is not known", quote(word));
            let remedy = "use CAL/MOLE, KCAL/MOLE, JOULES/MOLE, KJOULES/MOLE, KELVINS, EVOLTS, \
                          MOLES or MOLECULES";
            log.error(line, "REACTIONS", what, remedy);
            return;
        }
    };
    // Every unit above is known.
    let _ = units.set(kind, unit);
}

/// The line with the equation.
fn head(line: usize, text: &str, units: UnitSystem, log: &mut Log) -> Option<Entry> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() < 4 {
        let remedy = "write an equation, then A, b and E";
        log.error(line, text, "not an equation with three numbers".to_owned(), remedy);
        return None;
    }
    let (equation, numbers) = words.split_at(words.len() - 3);
    let mut rate = [0.0; 3];
    for (value, word) in rate.iter_mut().zip(numbers) {
        match number::parse(word, true) {
            Ok(number) => *value = number,
            Err(what) => {
                log.error(line, text, what, "write A, b and E after the equation");
                return None;
            }
        }
    }
    let equation = equation::joined(equation);
    Some(Entry { line, equation, rate, aux: Vec::new(), units, duplicate: false })
}

/// (keywords with values, how many values are right).
const VALUES: &[(&str, &[usize])] = &[
    ("LOW", &[3]),
    ("HIGH", &[3]),
    ("TROE", &[3, 4]),
    ("SRI", &[3, 5]),
    ("PLOG", &[4]),
    ("TCHEB", &[2]),
    ("PCHEB", &[2]),
    ("REV", &[3]),
];

/// Reads one auxiliary line into `entry`.
fn auxiliary(
    entry: &mut Entry,
    line: usize,
    text: &str,
    species: &HashMap<String, usize>,
    log: &mut Log,
) {
    let subject = entry.equation.clone();
    let mut tell = |what: String, remedy: &str| log.error(line, &subject, what, remedy);
    let mut units = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(rest.len());
        let word = &rest[..end];
        rest = rest[end..].trim_start();
        let key = word.to_ascii_uppercase();
        let Some(tail) = rest.strip_prefix('/') else {
            match &*key {
                "DUP" | "DUPLICATE" => entry.duplicate = true,
                _ => {
                    let what = format!("the auxiliary word '{}' is not supported", quote(word));
                    tell(what, &support::advice(&key, None));
                }
            }
            continue;
        };
        if key == "UNITS" {
            // The value itself may hold a slash: it ends with one before a blank, or with the line.
            let ends = |&(at, _): &(usize, &str)| {
                tail[at + 1..].chars().next().is_none_or(char::is_whitespace)
            };
            let end = tail.match_indices('/').find(ends).map_or(tail.len(), |(at, _)| at);
            units.extend(tail[..end].trim_end_matches('/').split_whitespace());
            rest = tail[end..].trim_start_matches('/').trim_start();
            continue;
        }
        let Some((inside, after)) = tail.split_once('/') else {
            tell(format!("'{}/' without closing slash", quote(word)), "add '/' after the values");
            return;
        };
        rest = after.trim_start();
        let known = VALUES.iter().find(|known| known.0 == key);
        if matches!(&*key, "FORD" | "RORD") {
            let words: Vec<&str> = inside.split_whitespace().collect();
            let order = match words[..] {
                [name, order] => number::parse(order, true).map(|order| (name, order)),
                _ => Err("not a species and an order".to_owned()),
            };
            match order {
                Ok((name, order)) => {
                    let key = format!("{key} {name}");
                    if entry.all(&key).next().is_some() {
                        tell(format!("{key} twice"), "keep one of the two");
                    }
                    entry.aux.push((line, key, vec![order]));
                }
                Err(what) => tell(format!("{key}: {what}"), "write it as in FORD/H2 0.5/"),
            }
            continue;
        }
        let named = species.contains_key(word);
        if known.is_none() && key != "CHEB" && !named {
            let what = if support::is_refused(&key) {
                format!("the keyword '{}' is not supported", quote(word))
            } else {
                format!("'{}' is neither a keyword nor a species", quote(word))
            };
            tell(what, &support::advice(&key, None));
            continue;
        }
        let mut values = Vec::new();
        for word in inside.split_whitespace() {
            match number::parse(word, true) {
                Ok(value) => values.push(value),
                Err(what) => tell(format!("{}: {what}", quote(&key)), "correct the number"),
            }
        }
        if let Some((_, counts)) = known {
            if !counts.contains(&values.len()) {
                let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
                let what =
                    format!("{key} takes {} values, not {}", counts.join(" or "), values.len());
                tell(what, "give all values between the slashes");
                continue;
            }
            entry.aux.push((line, key, values));
        } else if key == "CHEB" {
            entry.aux.push((line, key, values));
        } else if values.len() == 1 {
            let key = format!("={word}");
            if entry.all(&key).next().is_some() {
                tell(format!("the efficiency of {word} twice"), "keep one of the two");
            }
            entry.aux.push((line, key, values));
        } else {
            tell(format!("{} values as the efficiency of {word}", values.len()), "give one");
        }
    }
    for word in units {
        set_unit(&mut entry.units, word, line, log);
    }
}

impl Entry {
    /// All values of a keyword.
    fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a [f64]> {
        self.aux.iter().filter(move |aux| aux.1 == key).map(|aux| aux.2.as_slice())
    }

    /// The values of a keyword that may occur once; twice is told.
    fn one(&self, key: &str, log: &mut Log) -> Option<Vec<f64>> {
        let mut values = self.all(key);
        let first = values.next().map(<[f64]>::to_vec);
        if values.next().is_some() {
            log.error(self.line, &self.equation, format!("{key} twice"), "keep one of the two");
        }
        first
    }

    /// (name, value) of the entries whose key begins with `prefix`.
    fn named(&self, prefix: &str) -> Vec<(String, f64)> {
        let mut found = Vec::new();
        for (_, key, values) in &self.aux {
            if let Some(name) = key.strip_prefix(prefix) {
                found.push((name.to_owned(), values[0]));
            }
        }
        found
    }

    /// Whether FORD or RORD gives the order of a species.
    fn has_order(&self, name: &str) -> bool {
        self.aux.iter().any(|(_, key, _)| {
            key.strip_prefix("FORD ").or(key.strip_prefix("RORD ")) == Some(name)
        })
    }

    /// A rate constant of this order in SI.
    fn arrhenius(&self, values: &[f64], order: f64) -> Arrhenius {
        Arrhenius {
            a: values[0] * self.units.factor(Dimension::rate(order)),
            b: values[1],
            ta: values[2] * self.units.activation(),
        }
    }
}

/// Makes reactions of an entry: one, or two where it has a reverse rate.
fn complete(
    entry: &Entry,
    species: &HashMap<String, usize>,
    reactions: &mut Vec<Reaction>,
    log: &mut Log,
) {
    if entry.line == 0 {
        return;
    }
    let text = entry.equation.as_str();
    let mut equation = match equation::parse(text, species) {
        Ok(equation) => equation,
        Err(what) => {
            log.error(entry.line, text, what, "correct the equation, or declare its species");
            return;
        }
    };
    let efficiencies = entry.named("=");
    let falloff = equation.falloff.take();
    let in_brackets = falloff.is_some();
    let tabulated = entry.all("PLOG").next().is_some() || entry.all("CHEB").next().is_some();
    let collider = match (falloff, tabulated) {
        (Some(name), false) => Some(name),
        (Some(name), true) if name == "M" && entry.all("CHEB").next().is_some() => None,
        (Some(name), true) => {
            let what = format!("(+{name}) in a tabulated rate");
            log.error(entry.line, text, what, "remove it: the table holds the pressure dependence");
            return;
        }
        (None, true) => {
            if equation.has_generic() {
                let what = "M in a tabulated rate".to_owned();
                let remedy = "remove it: the table holds the pressure dependence";
                log.error(entry.line, text, what, remedy);
                return;
            }
            None
        }
        (None, false) => {
            let whole = equation.clone();
            match crate::read::equation::take_collider(&mut equation, false, &efficiencies) {
                // Its own order is that of a reactant.
                Ok(Some(name)) if efficiencies.is_empty() && entry.has_order(&name) => {
                    equation = whole;
                    None
                }
                Ok(collider) => {
                    if let Some(name) = &collider
                        && (entry.all("LOW").next().is_some() || entry.all("HIGH").next().is_some())
                    {
                        let what = format!("LOW or HIGH in a reaction with + {name}");
                        log.error(entry.line, text, what, "write (+M) on both sides");
                        return;
                    }
                    if let Some(name) = collider.as_ref().filter(|name| *name != "M")
                        && !efficiencies.is_empty()
                    {
                        let what = format!("efficiencies beside the collider {name}, without M");
                        let remedy = "write M on both sides, or remove them";
                        log.error(entry.line, text, what, remedy);
                        return;
                    }
                    collider
                }
                Err(what) => {
                    log.error(entry.line, text, what, "write M once on both sides");
                    return;
                }
            }
        }
    };
    let is_falloff = collider.is_some() && in_brackets;
    if collider.is_none() && !efficiencies.is_empty() {
        let what = "efficiencies in a reaction without third body".to_owned();
        log.error(entry.line, text, what, "write M on both sides, or remove them");
        return;
    }
    let rev = entry.one("REV", log);
    if rev.is_some() {
        equation.reversible = false;
    }
    let draft = Draft {
        line: entry.line,
        text: text.to_owned(),
        equation,
        collider,
        efficiencies,
        default_efficiency: None,
        orders: entry.named("FORD "),
        duplicate: entry.duplicate,
        skip_unknown_colliders: false,
    };
    let Some(rate) = rate(entry, &draft, is_falloff, log) else { return };
    push(&draft, rate, species, reactions, log);
    match rev {
        Some(values) => {
            reverse(entry, &draft, &values, is_falloff || tabulated, species, reactions, log)
        }
        None if !entry.named("RORD ").is_empty() => {
            let what = "RORD without REV".to_owned();
            log.error(entry.line, text, what, "give the reverse rate with REV");
        }
        None => {}
    }
}

fn push(
    draft: &Draft,
    rate: Rate,
    species: &HashMap<String, usize>,
    reactions: &mut Vec<Reaction>,
    log: &mut Log,
) {
    let Some(reaction) = draft.resolve(rate, species, log) else { return };
    if let Rate::Arrhenius(k) = &reaction.rate
        && k.a < 0.0
        && !draft.duplicate
    {
        let what = "a negative pre-exponential factor".to_owned();
        log.warn(draft.line, &draft.text, what, "check its sign");
    }
    let allowed =
        crate::read::Allowed { negative_a: true, negative_orders: true, nonreactant_orders: true };
    crate::read::check_allowed(draft, &reaction, allowed, log);
    reactions.push(reaction);
}

/// The reverse of an entry with REV, as a reaction of its own.
fn reverse(
    entry: &Entry,
    forward: &Draft,
    values: &[f64],
    pressure: bool,
    species: &HashMap<String, usize>,
    reactions: &mut Vec<Reaction>,
    log: &mut Log,
) {
    if pressure {
        let what = "REV of a pressure-dependent rate".to_owned();
        let remedy = "give the reverse as a reaction of its own";
        log.error(entry.line, &entry.equation, what, remedy);
        return;
    }
    if values[0] == 0.0 {
        return;
    }
    let mut draft = forward.clone();
    std::mem::swap(&mut draft.equation.reactants, &mut draft.equation.products);
    draft.orders = entry.named("RORD ");
    let (left, right) = entry.equation.split_once('=').unwrap_or((&entry.equation, ""));
    let (left, right) = (left.trim_end_matches('<'), right.trim_start_matches('>'));
    draft.text = format!("{right}=>{left}");
    let third = f64::from(u8::from(draft.collider.is_some()));
    let rate = Rate::Arrhenius(entry.arrhenius(values, draft.order() + third));
    push(&draft, rate, species, reactions, log);
}

fn rate(entry: &Entry, draft: &Draft, falloff: bool, log: &mut Log) -> Option<Rate> {
    let order = draft.order();
    let tell = |what: &str, remedy: &str, log: &mut Log| {
        log.error(entry.line, &entry.equation, what.to_owned(), remedy);
    };
    let low = entry.one("LOW", log);
    let high = entry.one("HIGH", log);
    let troe = entry.one("TROE", log);
    let sri = entry.one("SRI", log);
    if !falloff && (low.is_some() || high.is_some() || troe.is_some() || sri.is_some()) {
        tell("LOW, HIGH, TROE or SRI in a reaction without (+M)", "write (+M) on both sides", log);
        return None;
    }
    if falloff {
        let blending = match (troe, sri) {
            (None, None) => Blending::Lindemann,
            (Some(troe), None) => {
                let mut t2 = troe.get(3).copied();
                if t2 == Some(0.0) {
                    let what = "T** = 0: its term is left out, as Cantera does".to_owned();
                    log.warn(entry.line, &entry.equation, what, "remove the fourth parameter");
                    t2 = None;
                }
                Blending::Troe { a: troe[0], t3: troe[1], t1: troe[2], t2 }
            }
            (None, Some(sri)) => Blending::Sri {
                a: sri[0],
                b: sri[1],
                c: sri[2],
                d: sri.get(3).copied().unwrap_or(1.0),
                e: sri.get(4).copied().unwrap_or(0.0),
            },
            _ => {
                tell("both TROE and SRI", "keep one of them", log);
                return None;
            }
        };
        return match (low, high) {
            (Some(low), None) => Some(Rate::Falloff {
                low: entry.arrhenius(&low, order + 1.0),
                high: entry.arrhenius(&entry.rate, order),
                blending,
                activated: false,
            }),
            (None, Some(high)) => Some(Rate::Falloff {
                low: entry.arrhenius(&entry.rate, order),
                high: entry.arrhenius(&high, order - 1.0),
                blending,
                activated: true,
            }),
            _ => {
                tell("(+M) needs LOW or HIGH, and not both", "give the other limit once", log);
                None
            }
        };
    }
    let plog: Vec<&[f64]> = entry.all("PLOG").collect();
    if entry.all("CHEB").next().is_some() {
        if !plog.is_empty() {
            tell("both PLOG and CHEB", "keep one of them", log);
            return None;
        }
        return chebyshev(entry, order, log);
    }
    if !plog.is_empty() {
        let rows =
            plog.iter().map(|row| (row[0] * ONE_ATM, entry.arrhenius(&row[1..], order))).collect();
        return Some(Rate::Plog(crate::read::plog_table(rows)));
    }
    if entry.all("TCHEB").next().is_some() || entry.all("PCHEB").next().is_some() {
        tell("TCHEB or PCHEB without CHEB", "give the coefficients", log);
        return None;
    }
    let third = f64::from(u8::from(draft.collider.is_some()));
    Some(Rate::Arrhenius(entry.arrhenius(&entry.rate, order + third)))
}

fn chebyshev(entry: &Entry, order: f64, log: &mut Log) -> Option<Rate> {
    let tell = |what: String, remedy: &str, log: &mut Log| {
        log.error(entry.line, &entry.equation, what, remedy);
    };
    let pair = |values: Option<Vec<f64>>, default: (f64, f64)| {
        values.map_or(default, |values| (values[0], values[1]))
    };
    let temperatures = pair(entry.one("TCHEB", log), (300.0, 2500.0));
    let (low, high) = pair(entry.one("PCHEB", log), (0.001, 100.0));
    let pressures = (low * ONE_ATM, high * ONE_ATM);
    let values: Vec<f64> = entry.all("CHEB").flatten().copied().collect();
    let size = |x: f64| (1.0..=1000.0).contains(&x) && x.fract() == 0.0;
    let (rows, columns) = match values[..] {
        [n, m, ..] if size(n) && size(m) && values.len() - 2 == (n * m) as usize => {
            (n as usize, m as usize)
        }
        _ => {
            let what =
                format!("CHEB with {} values that are not N, M and N times M more", values.len());
            tell(what, "give N, M and all coefficients", log);
            return None;
        }
    };
    let mut coefficients: Vec<Vec<f64>> = Vec::with_capacity(rows);
    for row in 0..rows {
        coefficients.push(values[2 + row * columns..2 + (row + 1) * columns].to_vec());
    }
    // The polynomial gives log₁₀ k in the units of the file.
    coefficients[0][0] += entry.units.factor(Dimension::rate(order)).log10();
    Some(Rate::Chebyshev(Chebyshev { temperatures, pressures, coefficients }))
}
