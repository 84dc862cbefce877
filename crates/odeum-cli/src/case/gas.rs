//! `[system]` with a mechanism: a gas that reacts.

use super::reader::{Field, Section};
use super::spots::Spots;
use super::time::TimeSpec;
use crate::finding::{Finding, Findings};
use crate::gas::{Gas, Mixture, PRESSURE, RATIO, TEMPERATURE};
use crate::mechanism;
use crate::model::{self, Model, Start};
use crate::suggest;
use odeum::kinetics::read::Selection;
use odeum::kinetics::{Constraint, Energy, JacobianForm, Kinetics, Reactor};
use odeum::{Atol, Method, Tolerance};
use odeum_compiled::Rhs;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Temperature \[K\] and pressure \[Pa\] where the case says nothing.
const USUAL_TEMPERATURE: f64 = 1000.0;
const USUAL_PRESSURE: f64 = 101_325.0;

/// Mass fractions from which ignitions grow are not seen at absolute tolerances above this.
const RADICALS: f64 = 1e-13;

/// Amounts of species, with the field they were given in.
type Amounts = Option<Option<Vec<f64>>>;

/// A warning where reactors are followed to a crossing, as to an ignition, and the first radicals
/// count as zero: implicit methods may then step over it.
pub(super) fn missed_ignitions(
    model: &Model,
    time: &TimeSpec,
    tolerance: &Tolerance,
    spots: &Spots,
) -> Option<Finding> {
    let finest = match &tolerance.atol {
        Atol::Scalar(atol) => *atol,
        Atol::PerComponent(each) => each.iter().copied().fold(f64::INFINITY, f64::min),
    };
    let followed = matches!(model.start, Start::Gas(_)) && time.until.is_some();
    if !followed || finest <= RADICALS {
        return None;
    }
    let message = "ignitions may be stepped over: the radicals they grow from count as zero";
    let finding = spots.find("atol")?.error(message).into_warning();
    Some(finding.help("take atol = 1e-15, or one as small for the radicals"))
}

/// A warning where a mechanism is integrated by an explicit method.
pub(super) fn explicit(model: &Model, method: &Method, spots: &Spots) -> Option<Finding> {
    let stiff = matches!(model.start, Start::Gas(_));
    if !stiff || !matches!(method, Method::Erk(_) | Method::Rkc(_)) {
        return None;
    }
    let message =
        format!("`{}` is explicit, and mechanisms are stiff: steps may be tiny", method.name());
    let finding = spots.find("name of the method")?.error(message).into_warning();
    Some(finding.help("take an implicit method: name = \"rodas5p\""))
}

/// Reads the section; the mechanism is looked for from `folder`.
pub(super) fn read(
    section: &Section<'_>,
    file: &Field<'_>,
    folder: &Path,
    spots: &mut Spots,
    findings: &Findings,
) -> Option<Model> {
    let text_of = |key| section.get(key).map(|field| field.text());
    let data = section.get("thermo");
    let (thermo, phase) = (data.as_ref().map(|field| field.text()), text_of("phase"));
    let include = section.get("include").map_or(Some(Vec::new()), |field| folders(&field, folder));
    let reactor = section.get("reactor").map_or(Some(Constraint::ConstantVolume), |field| {
        let choices = [
            ("constant volume", Constraint::ConstantVolume),
            ("constant pressure", Constraint::ConstantPressure),
        ];
        field.choice("reactors", &choices)
    });
    let energy = section.get("energy").map_or(Some(Energy::Adiabatic), |field| {
        let choices = [("adiabatic", Energy::Adiabatic), ("isothermal", Energy::Isothermal)];
        field.choice("kinds of reactors", &choices)
    });
    let jacobian = section.get("jacobian").map_or(Some(JacobianForm::Exact), |field| {
        let choices = [("exact", JacobianForm::Exact), ("approximate", JacobianForm::Approximate)];
        field.choice("Jacobians", &choices)
    });
    let mut number = |key, variable: &str, usual| match section.get(key) {
        None => Some(usual),
        Some(field) => {
            spots.put(variable, field.spot());
            field.number()
        }
    };
    let temperature = number("temperature", TEMPERATURE, USUAL_TEMPERATURE);
    let pressure = number("pressure", PRESSURE, USUAL_PRESSURE);
    let ratio = number("equivalence_ratio", RATIO, 1.0);
    let keys = ["fuel", "oxidizer", "mole_fractions", "mass_fractions"];
    let [fuel, oxidizer, moles, masses] = keys.map(|key| section.get(key));
    let way = one_way(section, findings);
    if let Some(fuel) = &fuel {
        spots.put("fuel", fuel.spot());
    }
    section.finish();

    let name = file.text()?;
    let beside = |name: &str| folder.join(name);
    let thermo = match thermo {
        Some(text) => Some(beside(text?)),
        None => None,
    };
    for (path, field) in [(Some(beside(name)), Some(file)), (thermo.clone(), data.as_ref())] {
        let (Some(path), Some(field)) = (path, field) else { continue };
        let what = match (path.exists(), path.is_dir()) {
            (true, false) => continue,
            (_, true) => "this is a folder",
            (false, false) => "there is no such file",
        };
        let help = "give the path of a file from the folder of the case file";
        return field.refuse(format!("{what}: {}", path.display()), help);
    }
    let phase = match phase {
        Some(text) => Some(text?),
        None => None,
    };
    let include = include?;
    let selection = Selection { thermo: thermo.as_deref(), phase, include: &include };
    let found = mechanism::read(&beside(name), &selection);
    let (mechanism, kinetics) = match found {
        Ok(read) => {
            read.warnings.into_iter().for_each(|warning| findings.push(warning));
            (read.mechanism, Arc::new(read.kinetics))
        }
        Err(problems) => {
            problems.into_iter().for_each(|problem| findings.push(problem));
            return None;
        }
    };
    let of = |field: &Option<Field<'_>>| match field {
        Some(field) => amounts(field, &kinetics, findings).map(Some),
        None => Some(None),
    };
    let read = [of(&fuel), of(&oxidizer), of(&moles), of(&masses)];
    way?;
    let (mixture, composition) = mixture(read)?;
    let reactor = Reactor::new(Arc::clone(&kinetics), reactor?, energy?, jacobian?);
    let gas = Gas { reactor: Arc::new(reactor), mixture };
    let mut values = vec![temperature?, pressure?];
    let ratio = ratio?;
    values.extend(composition.unwrap_or_else(|| vec![ratio]));
    Some(model(gas, values, &mechanism, name))
}

/// Paths of folders from that of the case file.
fn folders(field: &Field<'_>, folder: &Path) -> Option<Vec<PathBuf>> {
    let read = |item: &Field<'_>| {
        let path = folder.join(item.text()?);
        if path.is_dir() {
            return Some(path);
        }
        let help = "give the paths of folders from that of the case file";
        item.refuse(format!("there is no such folder: {}", path.display()), help)
    };
    let read: Vec<Option<PathBuf>> = field.list()?.iter().map(read).collect();
    read.into_iter().collect()
}

/// Refuses two ways to say what the gas is made of, half a way, and none.
fn one_way(section: &Section<'_>, findings: &Findings) -> Option<()> {
    let help = "give fuel = { H2 = 1 } and oxidizer = { O2 = 1, N2 = 3.76 } with the \
                equivalence_ratio, or mole_fractions, or mass_fractions";
    let keys = ["fuel", "oxidizer", "equivalence_ratio", "mole_fractions", "mass_fractions"];
    let given: Vec<&str> = keys.into_iter().filter(|key| section.get(key).is_some()).collect();
    let [fuel, oxidizer, _, moles, masses] = keys.map(|key| section.get(key));
    match (fuel, oxidizer, moles, masses) {
        (Some(_), Some(_), None, None) => Some(()),
        (None, None, Some(_), None) | (None, None, None, Some(_)) if given.len() == 1 => Some(()),
        (Some(only), None, None, None) => only.refuse("a fuel without an oxidizer", help),
        (None, Some(only), None, None) => only.refuse("an oxidizer without a fuel", help),
        (None, None, None, None) => {
            findings.push(section.here("what is the gas made of?").help(help));
            None
        }
        (_, _, moles, masses) => {
            let message = format!("the gas is given in more than one way: {}", given.join(", "));
            masses.or(moles)?.refuse(message, help)
        }
    }
}

/// The way the composition is given, and its amounts unless that is an equivalence ratio.
fn mixture([fuel, oxidizer, moles, masses]: [Amounts; 4]) -> Option<(Mixture, Option<Vec<f64>>)> {
    match (fuel?, oxidizer?, moles?, masses?) {
        (Some(fuel), Some(oxidizer), ..) => Some((Mixture::Ratio { fuel, oxidizer }, None)),
        (_, _, Some(moles), _) => Some((Mixture::Moles, Some(moles))),
        (.., masses) => Some((Mixture::Masses, Some(masses?))),
    }
}

/// Amounts of all species from a table of named ones.
fn amounts(field: &Field<'_>, kinetics: &Kinetics, findings: &Findings) -> Option<Vec<f64>> {
    let mut amounts = vec![0.0; kinetics.n_species()];
    let mut good = true;
    for (name, spot, value) in field.section()?.entries() {
        let Some(number) = value.number() else {
            good = false;
            continue;
        };
        match kinetics.species_index(&name) {
            Some(k) if number >= 0.0 => amounts[k] = number,
            Some(_) => {
                value.refuse::<()>("an amount cannot be negative", "give zero or more");
                good = false;
            }
            None => {
                let names = kinetics.species_names().iter().map(String::as_str);
                let help = suggest::remedy(&name, "species", names);
                let message = format!("the mechanism has no species `{name}`");
                findings.push(spot.error(message).help(help));
                good = false;
            }
        }
    }
    if good && amounts.iter().all(|amount| *amount == 0.0) {
        return field.refuse("there is nothing in it", "give an amount of a species");
    }
    good.then_some(amounts)
}

fn model(gas: Gas, values: Vec<f64>, mechanism: &odeum::kinetics::Mechanism, file: &str) -> Model {
    use odeum::System;
    let reactor = Arc::clone(&gas.reactor);
    let constraint = match reactor.constraint() {
        Constraint::ConstantPressure => "constant pressure",
        Constraint::ConstantVolume => "constant volume",
    };
    let energy = match reactor.energy() {
        Energy::Adiabatic => "adiabatic",
        Energy::Isothermal => "isothermal",
    };
    let (species, reactions) = (mechanism.n_species(), mechanism.n_reactions());
    let hash = Sha256::digest(format!("{mechanism:?}"));
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let way = match &gas.mixture {
        Mixture::Ratio { fuel, oxidizer } => format!("{fuel:?} in {oxidizer:?}"),
        Mixture::Moles => "moles".to_owned(),
        Mixture::Masses => "masses".to_owned(),
    };
    let form = reactor.jacobian_form();
    Model {
        title: format!("{file}: {species} species, {reactions} reactions; {constraint}, {energy}"),
        identity: format!("mechanism {hash}, {constraint}, {energy}, {form:?}, {way}"),
        lines: vec![
            "State: temperature T [K], mass fractions, amount of substance per mass m [kmol/kg]"
                .to_owned(),
        ],
        state_names: reactor.state_names(),
        param_names: reactor.param_names(),
        variables: model::variables(gas.names(), values),
        span: None,
        rhs: Rhs::of_reactor(Arc::clone(&reactor)),
        start: Start::Gas(Box::new(gas)),
    }
}
