//! Reading mechanisms: Cantera YAML and Chemkin.
//!
//! All numbers become SI with kmol here. What cannot be read, or is not supported, is an error
//! with file, line and remedy, and all errors of a file come at once; nothing is dropped in
//! silence. [`support::FEATURES`] lists what is taken and what refused.
//!
//! ```
//! let text = "
//! phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]
//! species:
//! - {name: H2, composition: {H: 2}, thermo: {model: constant-cp, cp0: 29 J/mol/K}}
//! - {name: H, composition: {H: 1}, thermo: {model: constant-cp, h0: 218 kJ/mol, cp0: 21 J/mol/K}}
//! reactions:
//! - {equation: H2 + M <=> 2 H + M, rate-constant: [4.6e19 cm^3/mol/s, -1.4, 104 kcal/mol]}
//! ";
//! let read = odeum_kinetics::read::yaml("example.yaml", text, None)?;
//! assert_eq!(read.mechanism.n_species(), 2);
//! # Ok::<(), odeum_kinetics::read::ReadErrors>(())
//! ```

mod checks;
mod chemkin;
mod draft;
mod duplicates;
mod elements;
mod equation;
mod file;
mod found;
mod number;
mod problem;
pub mod support;
mod units;
mod yaml;

pub use crate::constants::{AVOGADRO, GAS_CONSTANT, ONE_ATM};
pub use chemkin::Named;
pub use file::{Selection, from_path, from_selection, from_text};
pub use found::{Composition, InitialState};
pub use problem::{Problem, ReadErrors};

use std::path::PathBuf;

use found::Found;
use problem::{Log, quote};

use crate::check::SAME_PRESSURE;
use crate::mechanism::{Arrhenius, Element, Mechanism, PlogPoint, Rate, Reaction, Species, Thermo};

/// Largest file that is read \[bytes\]: the largest published mechanisms have a tenth of it.
const MAX_BYTES: usize = 64 << 20;

/// A mechanism and what is doubtful in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The state that its phase gives itself.
    pub state: InitialState,
    /// What a user should know, but does not keep the mechanism from being used.
    pub warnings: Vec<Problem>,
}

/// Reads Cantera YAML: the phase of this name, or the first phase of an ideal gas.
///
/// `file` names the text in messages.
///
/// # Errors
///
/// All problems of the text.
pub fn yaml(file: &str, text: &str, phase: Option<&str>) -> Result<Read, ReadErrors> {
    yaml_with(file, text, phase, &alone)
}

/// Finds nothing.
fn alone(_: &str) -> Result<PathBuf, (String, &'static str)> {
    let found = "another file, which a text alone does not have".to_owned();
    Err((found, "read the mechanism from its file, or copy the section into it"))
}

/// The path of a file by the name that a mechanism has for it; or (found, remedy).
type Finder<'a> = dyn Fn(&str) -> Result<PathBuf, (String, &'static str)> + 'a;

/// As [`yaml()`], with sections of the files that `find` finds.
fn yaml_with(
    file: &str,
    text: &str,
    phase: Option<&str>,
    find: &Finder<'_>,
) -> Result<Read, ReadErrors> {
    let mut log = Log::new(file);
    let read =
        if small(text, &mut log) { yaml::read(file, text, phase, find, &mut log) } else { None };
    finish(read, log)
}

/// Reads Chemkin: a mechanism, with thermodynamic data in it or in a second text, or both; of two
/// entries for a species the first counts, those of the mechanism before those of the second text.
///
/// # Errors
///
/// All problems of the texts.
pub fn chemkin(mechanism: Named<'_>, thermo: Option<Named<'_>>) -> Result<Read, ReadErrors> {
    let mut log = Log::new(mechanism.file);
    let sizes =
        small(mechanism.text, &mut log) && thermo.is_none_or(|thermo| small(thermo.text, &mut log));
    let read = if sizes { chemkin::read(mechanism, thermo, &mut log) } else { None };
    finish(read, log)
}

/// False, with the problem told, where a text is too large to read.
fn small(text: &str, log: &mut Log) -> bool {
    if text.len() <= MAX_BYTES {
        return true;
    }
    let found = format!("{} MB", text.len() >> 20);
    log.error(0, "", found, "give a file of at most 64 MB");
    false
}

fn finish(found: Option<Found>, mut log: Log) -> Result<Read, ReadErrors> {
    if let Some(found) = &found {
        checks::whole(found, &mut log);
    } else if !log.has_errors() {
        log.error(0, "", "nothing could be read".to_owned(), "give a mechanism");
    }
    let warnings = log.finish()?;
    let Found { mechanism, state, .. } = found.unwrap_or_default();
    Ok(Read { mechanism, state, warnings })
}

/// A species with its molar mass, which is NaN where `composition` is `None` or makes no mass; the
/// latter is told. A species whose data are wrong stays known by its name, so that one problem makes
/// no others; a mechanism with problems is never handed out.
fn species(
    name: String,
    line: usize,
    composition: Option<Vec<(usize, f64)>>,
    elements: &[Element],
    thermo: Option<Thermo>,
    log: &mut Log,
) -> Species {
    let thermo = thermo.unwrap_or(Thermo::Nasa7(Vec::new()));
    let Some(composition) = composition else {
        return Species { name, composition: Vec::new(), weight: f64::NAN, thermo, line };
    };
    let mut weight: f64 = composition.iter().map(|&(e, count)| count * elements[e].weight).sum();
    if weight <= 0.0 || weight.is_infinite() {
        let found = if composition.is_empty() {
            "no atoms".to_owned()
        } else {
            format!("a molar mass of {weight} kg/kmol")
        };
        log.error(line, &name, found, "give the atoms of the species");
        weight = f64::NAN;
    }
    Species { name, composition, weight, thermo, line }
}

/// The points of a PLOG table by ascending pressure, rates of one pressure together.
fn plog_table(mut rows: Vec<(f64, Arrhenius)>) -> Vec<PlogPoint> {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut points: Vec<PlogPoint> = Vec::new();
    for (pressure, rate) in rows {
        match points.last_mut() {
            Some(point) if pressure <= point.pressure * SAME_PRESSURE => point.rates.push(rate),
            _ => points.push(PlogPoint { pressure, rates: vec![rate] }),
        }
    }
    points
}

/// What a reaction says is meant, and would be an error otherwise.
#[derive(Clone, Copy, Debug)]
struct Allowed {
    negative_a: bool,
    negative_orders: bool,
    nonreactant_orders: bool,
}

/// Tells of signs and orders that are most often mistakes.
fn check_allowed(draft: &draft::Draft, reaction: &Reaction, allowed: Allowed, log: &mut Log) {
    let mut tell = |found: String, remedy: &str| {
        log.error(reaction.line, &reaction.equation, found, remedy);
    };
    let negative = match &reaction.rate {
        Rate::Arrhenius(k) => k.a < 0.0,
        Rate::Falloff { low, high, .. } => low.a < 0.0 || high.a < 0.0,
        _ => false,
    };
    if negative && !allowed.negative_a {
        let remedy = "correct it, or say 'negative-A: true' (Chemkin: mark the reaction DUPLICATE)";
        tell("a negative pre-exponential factor".to_owned(), remedy);
    }
    if !draft.orders.is_empty() && reaction.reversible {
        let remedy = "write => and give the reverse rate as a reaction of its own";
        tell("orders of a reversible reaction".to_owned(), remedy);
    }
    for (name, order) in &draft.orders {
        if *order < 0.0 && !allowed.negative_orders {
            let found = format!("the negative order {order} of {}", quote(name));
            tell(found, "correct it, or say 'negative-orders: true'");
        }
        let reacts = draft.equation.reactants.iter().any(|term| term.0 == *name);
        if !reacts && !allowed.nonreactant_orders && draft.collider.as_ref() == Some(name) {
            let found = format!("an order of {}, which is taken for a third body", quote(name));
            tell(found, "say 'type: elementary'");
        } else if !reacts && !allowed.nonreactant_orders {
            let found = format!("an order of {}, which is no reactant", quote(name));
            tell(found, "correct it, or say 'nonreactant-orders: true'");
        }
        if order.abs() > 100.0 {
            tell(format!("the order {order} of {}", quote(name)), "give a smaller one");
        }
    }
}

/// What becomes of reactions with a named collider beside the same reaction with `M`: Cantera's
/// `explicit-third-body-duplicates`.
#[derive(Clone, Copy, Debug)]
enum Beside {
    Warn,
    Refuse,
    /// Both count as duplicates.
    Mark,
    /// The efficiency of the collider becomes zero in the reaction with `M`.
    TakeOut,
}

fn third_body_duplicates(found: &mut Found, choice: Beside, log: &mut Log) {
    for pair in duplicates::Duplicates::of(&found.mechanism).beside {
        let collider = pair.collider;
        let reactions = &mut found.mechanism.reactions;
        match choice {
            Beside::Mark => {
                for &i in pair.generic.iter().chain(&pair.named) {
                    reactions[i].duplicate = true;
                }
            }
            Beside::TakeOut => {
                for &i in &pair.generic {
                    if let Some(body) = &mut reactions[i].third_body {
                        body.efficiencies.retain(|entry| entry.0 != collider);
                        body.efficiencies.push((collider, 0.0));
                    }
                }
            }
            Beside::Warn | Beside::Refuse => {
                for &i in &pair.named {
                    let what = format!(
                        "{} counts as collider here and in the reaction with M at {}",
                        found.mechanism.species[collider].name,
                        found.line_of(pair.generic[0], i)
                    );
                    let remedy = "give it efficiency 0 there if it should count once";
                    let reaction = &found.mechanism.reactions[i];
                    found.enter_reaction(i, log);
                    let tell = match choice {
                        Beside::Refuse => Log::error,
                        _ => Log::warn,
                    };
                    tell(log, reaction.line, &reaction.equation, what, remedy);
                }
            }
        }
    }
    found.enter_own(log);
}
