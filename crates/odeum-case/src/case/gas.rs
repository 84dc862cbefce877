//! `[system]` with a mechanism: a gas that reacts.

use super::ensemble::EnsembleSpec;
use super::inputs::Beside;
use super::reader::{Field, Section};
use super::source_spans::SourceSpans;
use super::table::TableData;
use super::time::{Level, TimeSpec};
use crate::gas::{
    Basis, COMPOSITION, Gas, Mixture, NEGATIVE_LEAST, PRESSURE, RATIO, TEMPERATURE, remedy,
};
use crate::mechanism;
use crate::model::{self, Model, Start};
use crate::suggest;
use odeum_io::{Finding, Findings};
use odeum_kinetics::mechanism::Reaction;
use odeum_kinetics::reactor::{StateBounds, TEMPERATURE_MARGIN};
use odeum_kinetics::read::{Composition, Named, Selection};
use odeum_kinetics::{Constraint, Energy, JacobianForm, Kinetics, Reactor};
use odeum_ode::{DynSystem, Method, Tolerance};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Temperature \[K\] and pressure \[Pa\] where neither the case nor the phase says anything.
const USUAL_TEMPERATURE: f64 = 1000.0;
const USUAL_PRESSURE: f64 = 101_325.0;

/// Mass fractions from which ignitions grow, and to which species vanish, are not seen at absolute tolerances above this.
const RADICALS: f64 = 1e-13;

/// Keys of `[system]` that give a number for each species, and what the numbers are.
const COMPOSITIONS: [(&str, Mixture); 4] = [
    ("mole_fractions", Mixture::Fractions(Basis::Moles)),
    ("mass_fractions", Mixture::Fractions(Basis::Masses)),
    ("moles", Mixture::Amounts(Basis::Moles)),
    ("masses", Mixture::Amounts(Basis::Masses)),
];

/// Lets fractions below zero count as zero as far as the tolerance lets a run end there.
pub(super) fn allow_rounding(model: &mut Model, tolerance: &Tolerance) {
    let Start::Gas(gas) = &mut model.start else { return };
    for (k, slack) in gas.slack.iter_mut().enumerate() {
        // The states are the temperature, then the species.
        *slack = StateBounds::slack(tolerance.atol.at(k + 1));
    }
}

/// A warning where a Jacobian that is not exact meets a method that takes it for exact.
pub(super) fn inexact(
    model: &Model,
    method: &Method,
    source_spans: &SourceSpans,
) -> Option<Finding> {
    let Start::Gas(gas) = &model.start else { return None };
    let approximate = gas.reactor.jacobian_form() == JacobianForm::Approximate;
    let exacting = matches!(method, Method::Rosenbrock(_) | Method::Exponential(_));
    if !approximate || !exacting || method.name() == W_METHOD {
        return None;
    }
    let message = format!(
        "`{}` loses its order with an approximate Jacobian: steps may be tiny",
        method.name()
    );
    let finding = source_spans.find("jacobian")?.error(message).into_warning();
    Some(finding.help(format!("leave `jacobian` out, or take name = \"{W_METHOD}\"")))
}

/// The Rosenbrock method that keeps its order with any Jacobian.
const W_METHOD: &str = "ros34pw2";

/// A warning where reactors are followed to a terminal event, as to an ignition, and the first radicals
/// count as zero: implicit methods may then step over it.
pub(super) fn missed_ignitions(
    model: &Model,
    time: &TimeSpec,
    tolerance: &Tolerance,
    source_spans: &SourceSpans,
) -> Option<Finding> {
    let followed = matches!(model.start, Start::Gas(_)) && time.until.is_some();
    if !followed || tolerance.atol.least() <= RADICALS {
        return None;
    }
    let message = "delays may be inexact: the radicals from which ignitions grow count as zero";
    let finding = source_spans.find("atol")?.error(message).into_warning();
    Some(finding.help("take atol = 1e-15, or one as small for the radicals"))
}

/// A warning where no reactor comes to the level of its terminal event: the temperature of an isothermal one does not change, and
/// mass fractions lie between zero and one.
pub(super) fn no_such_level(
    model: &Model,
    time: &TimeSpec,
    source_spans: &SourceSpans,
) -> Option<Finding> {
    let (Start::Gas(gas), Some(until)) = (&model.start, &time.until) else { return None };
    let species = 1..=gas.reactor.kinetics().n_species();
    let (message, help) = if until.component == 0 && gas.reactor.energy() == Energy::Isothermal {
        let message = "the temperature of an isothermal reactor does not change: no system comes to this level";
        (message, "name a species, or take energy = \"adiabatic\" in [system]")
    } else if species.contains(&until.component)
        && match until.level {
            Level::At(level) => !(0.0..=1.0).contains(&level),
            Level::By(change) => change.abs() > 1.0,
        }
    {
        let message = "mass fractions lie between 0 and 1: no system comes to this level";
        (message, "give a level within, or a smaller change")
    } else {
        return None;
    };
    Some(source_spans.find("until")?.error(message).into_warning().help(help))
}

/// A warning where a species of an order below one is used up: its rate vanishes within less than a coarse tolerance.
pub(super) fn low_orders(
    model: &Model,
    tolerance: &Tolerance,
    source_spans: &SourceSpans,
) -> Option<Finding> {
    let Start::Gas(gas) = &model.start else { return None };
    let reaction = gas.low_order.as_ref().filter(|_| tolerance.atol.least() > RADICALS)?;
    let message = format!(
        "steps may be tiny, or fail, where `{reaction}` uses up a species: its order is below one"
    );
    let finding = source_spans.find("atol")?.error(message).into_warning();
    Some(finding.help("take atol = 1e-15, or one as small for that species"))
}

/// The first reaction that uses up a species of an order that `wanted` holds for, that species, and the order.
fn using_up(
    mechanism: &odeum_kinetics::Mechanism,
    wanted: impl Fn(f64) -> bool,
) -> Option<(&Reaction, usize, f64)> {
    let of = |terms: &[(usize, f64)], species: usize| -> f64 {
        terms.iter().filter(|term| term.0 == species).fold(0.0, |sum, term| sum + term.1)
    };
    mechanism.reactions.iter().find_map(|reaction| {
        let consumed =
            reaction.reactants.iter().filter(|term| term.1 > of(&reaction.products, term.0));
        let mut orders = consumed.map(|&(species, _)| (species, of(&reaction.orders, species)));
        orders.find(|entry| wanted(entry.1)).map(|(species, order)| (reaction, species, order))
    })
}

/// Warns of a reaction whose rate does not vanish with a species that it uses up: no tolerance is fine enough, and bounds are
/// those of ends, not of saved states.
fn warn_of_unlimited(mechanism: &odeum_kinetics::Mechanism, file: &Field<'_>) {
    let Some((reaction, species, order)) = using_up(mechanism, |order| order <= 0.0) else {
        return;
    };
    let (equation, name) = (&reaction.equation, &mechanism.species[species].name);
    let message = format!(
        "`{equation}` goes on where {name} is used up, which becomes negative: its order is {order}"
    );
    let help = "give an order above zero; an end below zero is `outside bounds`, saved states are not judged";
    file.warn(message, help);
}

/// A warning where a mechanism is integrated by an explicit method.
pub(super) fn explicit(
    model: &Model,
    method: &Method,
    source_spans: &SourceSpans,
) -> Option<Finding> {
    let stiff = matches!(model.start, Start::Gas(_));
    if !stiff || !matches!(method, Method::Erk(_) | Method::Rkc(_)) {
        return None;
    }
    let message =
        format!("`{}` is explicit, and mechanisms are stiff: steps may be tiny", method.name());
    let finding = source_spans.find("name of the method")?.error(message).into_warning();
    Some(finding.help("take an implicit method: name = \"rodas5p\""))
}

/// Reads the section. Where there is a table it may give the composition alone.
pub(super) fn read(
    section: &Section<'_>,
    file: &Field<'_>,
    beside: &Beside<'_>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<Model> {
    let &Beside { folder, tabled, .. } = beside;
    let (data, phase) = (section.get("thermo"), section.get("phase"));
    let thermo = data.as_ref().map(|field| field.text());
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
        source_spans.put("jacobian", field.source_span());
        let choices = [("exact", JacobianForm::Exact), ("approximate", JacobianForm::Approximate)];
        field.choice("Jacobians", &choices)
    });
    // `None` inside means: was given, and is wrong.
    let mut number = |key, variable: &'static str| {
        section.get(key).map(|field| {
            source_spans.put(variable, field.source_span());
            field.number()
        })
    };
    let temperature = number("temperature", TEMPERATURE);
    let pressure = number("pressure", PRESSURE);
    let ratio = number("equivalence_ratio", RATIO).unwrap_or(Some(1.0));
    let margin = section.get("temperature_margin").map_or(Some(TEMPERATURE_MARGIN), |field| {
        match field.number()? {
            margin if margin >= 0.0 => Some(margin),
            _ => field.refuse("a margin cannot be negative", "give zero or more kelvin"),
        }
    });
    // What is not said here or in a table may be known of the phase's state.
    let keys = ["fuel", "oxidizer", "equivalence_ratio"];
    let is_given =
        keys.into_iter().chain(COMPOSITIONS.map(|way| way.0)).any(|key| section.has(key));
    let way = is_given.then(|| one_way(section, tabled, findings));
    if let Some(Some(Way::Species(_, field))) = &way {
        source_spans.put(COMPOSITION, field.source_span());
    }
    section.finish();

    let phase = phase.as_ref();
    let files = Files { mechanism: file, data: data.as_ref(), thermo, phase, include };
    let mechanism::Read { mechanism, state, kinetics, .. } = files.read(beside, findings)?;
    warn_of_unlimited(&mechanism, file);
    let kinetics = Arc::new(kinetics);
    let (mut taken, mut untabled, mut of_table) = (Vec::new(), None, false);
    let of_state = state.composition.map(|composition| match composition {
        Composition::MoleFractions(amounts) => (Basis::Moles, amounts),
        Composition::MassFractions(amounts) => (Basis::Masses, amounts),
    });
    let (mixture, composition) = match (way, of_state) {
        (Some(way), _) => way?.mixture(&kinetics, tabled, findings)?,
        (None, Some((basis, amounts))) if !tabled => {
            taken.push("composition");
            (Mixture::Amounts(basis), Some(amounts))
        }
        (None, of_state) => {
            (untabled, of_table) = (of_state, tabled);
            one_way(section, tabled, findings)?.mixture(&kinetics, tabled, findings)?
        }
    };
    if let (None, Some(density)) = (&pressure, state.density) {
        let message = format!(
            "the state of the phase has a density, {density} kg/m³, and not what the gas is made of: no pressure \
             follows from it"
        );
        findings.push(section.here(&message).help("give a pressure"));
        return None;
    }
    // What the case leaves open is as the state of the phase has it.
    let mut or_state = |given: Option<Option<f64>>, of_state: Option<f64>, what, usual| {
        if given.is_none() && of_state.is_some() {
            taken.push(what);
        }
        given.unwrap_or(Some(of_state.unwrap_or(usual)))
    };
    let temperature = or_state(temperature, state.temperature, "temperature", USUAL_TEMPERATURE);
    let pressure = or_state(pressure, state.pressure, "pressure", USUAL_PRESSURE);
    let slack = vec![NEGATIVE_LEAST; kinetics.n_species()];
    let reactor = Reactor::new(Arc::clone(&kinetics), reactor?, energy?, jacobian?)
        .with_temperature_margin(margin?);
    let gas = Gas {
        reactor: Arc::new(reactor),
        mixture,
        slack,
        of_state: taken,
        untabled,
        of_table,
        low_order: using_up(&mechanism, |order| order > 0.0 && order < 1.0)
            .map(|(reaction, ..)| reaction.equation.clone()),
    };
    let mut values = vec![temperature?, pressure?];
    let ratio = ratio?;
    values.extend(composition.unwrap_or_else(|| vec![ratio]));
    Some(model(gas, values, &mechanism, file.text()?))
}

/// Where a mechanism is read from. `None` inside means: was given, and is wrong.
struct Files<'a> {
    mechanism: &'a Field<'a>,
    /// The key of the thermodynamic data, and what it says.
    data: Option<&'a Field<'a>>,
    thermo: Option<Option<&'a str>>,
    phase: Option<&'a Field<'a>>,
    include: Option<Vec<PathBuf>>,
}

impl Files<'_> {
    /// Reads the mechanism; warns where a species is called as a variable is.
    fn read(self, beside: &Beside<'_>, findings: &Findings) -> Option<mechanism::Read> {
        let name = self.mechanism.text()?;
        let named = |name: &str| {
            let (file, text) = beside.mechanisms.iter().find(|(given, _)| given == name)?;
            Some(Named { file, text })
        };
        let thermo = match self.thermo {
            Some(text) => Some(text?),
            None => None,
        };
        let in_memory = named(name);
        let data_in_memory = thermo.and_then(named);
        if let (Some(_), Some(field), None) = (in_memory, self.data, data_in_memory) {
            let found = "the mechanism is in memory, and no text of this name is";
            return field.refuse(found, "hand it over beside the mechanism");
        }
        let on_disk = |field: &Field<'_>| match in_memory {
            Some(_) => Some(PathBuf::new()),
            None => note_file(field, beside),
        };
        let path = on_disk(self.mechanism)?;
        let thermo = match self.data {
            Some(field) => Some(on_disk(field)?),
            None => None,
        };
        let phase = match self.phase {
            Some(field) => Some(field.text()?),
            None => None,
        };
        let include = self.include?;
        let selection = Selection { thermo: thermo.as_deref(), phase, include: &include };
        let found = match in_memory {
            Some(text) => mechanism::read_text(text, data_in_memory, phase),
            None => mechanism::read(&path, &selection),
        };
        let mut read = match found {
            Ok(read) => read,
            Err(problems) => {
                for problem in problems {
                    // Which phase there should be is said in the case.
                    let unknown = phase.map(|phase| format!("no phase '{phase}'"));
                    findings.push(match (self.phase, unknown) {
                        (Some(field), Some(unknown)) if problem.message.contains(&unknown) => {
                            field.source_span().locate(problem)
                        }
                        _ => problem,
                    });
                }
                return None;
            }
        };
        read.warnings.drain(..).for_each(|warning| findings.push(warning));
        for (name, what) in [(TEMPERATURE, "temperature"), (PRESSURE, "pressure")] {
            if read.kinetics.species_index(name).is_some() {
                let message =
                    format!("the mechanism has a species `{name}`, as the {what} is called");
                let help = format!(
                    "in tables, sweeps and elsewhere `{name}` is the {what}: rename the species to vary it"
                );
                self.mechanism.warn(message, help);
            }
        }
        Some(read)
    }
}

/// Notes a file that the case is read from, and gives its path; refuses one that is not there.
fn note_file(field: &Field<'_>, beside: &Beside<'_>) -> Option<PathBuf> {
    let path = field.path(beside.folder)?;
    let what = match (path.exists(), path.is_dir()) {
        (true, false) => {
            beside.inputs.add(&path);
            return Some(path);
        }
        (_, true) => "this is a folder",
        (false, false) => "there is no such file",
    };
    let help = "give the path of a file from the folder of the case file";
    field.refuse(format!("{what}: {}", path.display()), help)
}

/// Takes the composition of the phase's state where neither `[system]` nor the table gives one.
pub(super) fn take_untabled(model: &mut Model, ensemble: &EnsembleSpec) {
    let Start::Gas(gas) = &mut model.start else { return };
    let Some((basis, amounts)) = gas.untabled.take() else { return };
    // The variables are temperature and pressure, then the species.
    let (_, species) = model.variables.split_at_mut(2);
    let mut tabled = ensemble.table.iter().flat_map(TableData::variables);
    if tabled.any(|variable| variable >= 2) {
        return;
    }
    for (variable, amount) in species.iter_mut().zip(amounts) {
        variable.value = amount;
    }
    let of_table = described(&gas.mixture);
    gas.mixture = Mixture::Amounts(basis);
    gas.of_table = false;
    gas.of_state.insert(0, "composition");
    if let Some(rest) = model.identity.strip_suffix(&of_table) {
        model.identity = format!("{rest}{}", described(&gas.mixture));
    }
}

/// Says what is not written in the case: what the numbers of a table of species are, unless it is a result and says so itself,
/// and what systems take from the state of the phase, as neither `[system]` nor the ensemble gives it.
pub(super) fn tell_unwritten(model: &mut Model, ensemble: &EnsembleSpec) {
    let Start::Gas(gas) = &model.start else { return };
    if let (true, Mixture::Fractions(basis), Some(table)) =
        (gas.of_table, &gas.mixture, &ensemble.table)
        && !table.is_result
    {
        model.title += &format!("; composition: {}, from the table", basis.fractions());
    }
    let varied = |name| model.variable(name).is_some_and(|variable| ensemble.varies(variable));
    let given = |what: &str| match what {
        "temperature" => varied(TEMPERATURE),
        "pressure" => varied(PRESSURE),
        _ => false,
    };
    let taken: Vec<&str> = gas.of_state.iter().copied().filter(|what| !given(what)).collect();
    if !taken.is_empty() {
        model.lines.push(format!("From the state of the phase: {}", taken.join(", ")));
    }
}

/// Paths of folders from that of the case file.
fn folders(field: &Field<'_>, folder: &Path) -> Option<Vec<PathBuf>> {
    let read = |item: &Field<'_>| {
        let path = item.path(folder)?;
        if path.is_dir() {
            return Some(path);
        }
        let help = "give the paths of folders from that of the case file";
        item.refuse(format!("there is no such folder: {}", path.display()), help)
    };
    let read: Vec<Option<PathBuf>> = field.list()?.iter().map(read).collect();
    read.into_iter().collect()
}

/// How the composition of the gas is said.
enum Way<'a> {
    /// A fuel and an oxidizer.
    Ratio(Field<'a>, Field<'a>),
    /// A number for each species.
    Species(Mixture, Field<'a>),
    /// Not in `[system]`: by the table of the ensemble.
    Table,
}

impl Way<'_> {
    /// What the gas is mixed of, and the number of each species where it is said so.
    fn mixture(
        self,
        kinetics: &Kinetics,
        tabled: bool,
        findings: &Findings,
    ) -> Option<(Mixture, Option<Vec<f64>>)> {
        let amounts =
            |field: &Field<'_>, may_be_none| amounts(field, may_be_none, kinetics, findings);
        Some(match self {
            Way::Ratio(fuel, oxidizer) => {
                // What lies below zero by rounding counts as zero.
                let masses = |field: &Field<'_>| {
                    let amounts = amounts(field, false)?.into_iter().map(|amount| amount.max(0.0));
                    match kinetics.mass_fractions(&amounts.collect::<Vec<_>>()) {
                        Ok(masses) => Some(masses),
                        Err(why) => field.refuse(why.to_string(), "give amounts of a finite sum"),
                    }
                };
                let (of_fuel, of_oxidizer) = (masses(&fuel), masses(&oxidizer));
                match kinetics.fuel_oxidizer(of_fuel?, of_oxidizer?) {
                    Ok(sides) => (Mixture::Ratio(sides), None),
                    Err(why) => return fuel.refuse(why.to_string(), &remedy(&why).1),
                }
            }
            Way::Species(mixture, field) => (mixture, Some(amounts(&field, tabled)?)),
            Way::Table => {
                (Mixture::Fractions(Basis::Masses), Some(vec![0.0; kinetics.n_species()]))
            }
        })
    }
}

/// The way; refuses two ways to say what the gas is made of, half a way, and none.
fn one_way<'a>(section: &Section<'a>, tabled: bool, findings: &Findings) -> Option<Way<'a>> {
    let help = "give fuel = { H2 = 1 } and oxidizer = { O2 = 1, N2 = 3.76 } with the \
                equivalence_ratio, or mole_fractions, mass_fractions, moles or masses";
    let ratio = ["fuel", "oxidizer", "equivalence_ratio"];
    let [fuel, oxidizer, phi] = ratio.map(|key| section.get(key));
    let species: Vec<(&str, Mixture, Field<'a>)> = COMPOSITIONS
        .into_iter()
        .filter_map(|(key, mixture)| Some((key, mixture, section.get(key)?)))
        .collect();
    let mut given: Vec<&str> = ratio.into_iter().filter(|key| section.has(key)).collect();
    given.extend(species.iter().map(|(key, ..)| *key));
    match (fuel, oxidizer, phi, species.into_iter().next_back()) {
        (Some(fuel), Some(oxidizer), _, None) => Some(Way::Ratio(fuel, oxidizer)),
        (None, None, None, Some((_, mixture, field))) if given.len() == 1 => {
            Some(Way::Species(mixture, field))
        }
        (Some(only), None, _, None) => only.refuse("a fuel without an oxidizer", help),
        (None, Some(only), _, None) => only.refuse("an oxidizer without a fuel", help),
        (None, None, None, None) if tabled => Some(Way::Table),
        (None, None, _, None) => {
            findings.push(section.here("what is the gas made of?").help(help));
            None
        }
        (.., Some((_, _, field))) => {
            let message = format!("the gas is given in more than one way: {}", given.join(", "));
            field.refuse(message, help)
        }
    }
}

/// Amounts of all species from a table of named ones; those below zero by no more than a part [`NEGATIVE_LEAST`]
/// of the whole are left for the start to count as zero. There `may_be_none` where a table gives them.
fn amounts(
    field: &Field<'_>,
    may_be_none: bool,
    kinetics: &Kinetics,
    findings: &Findings,
) -> Option<Vec<f64>> {
    let mut amounts = vec![0.0; kinetics.n_species()];
    let mut good = true;
    let mut given = Vec::new();
    for (name, source_span, value) in field.section()?.entries() {
        match value.number() {
            Some(number) => given.push((name, source_span, value, number)),
            None => good = false,
        }
    }
    let whole: f64 = given.iter().map(|(.., number)| number.max(0.0)).sum();
    for (name, source_span, value, number) in given {
        match kinetics.species_index(&name) {
            Some(k) if number >= -NEGATIVE_LEAST * whole => amounts[k] = number,
            Some(_) => {
                value.refuse::<()>("an amount cannot be negative", "give zero or more");
                good = false;
            }
            None => {
                let names = kinetics.species_names().iter().map(String::as_str);
                let help = suggest::remedy(&name, "species", names);
                let message = format!("the mechanism has no species `{name}`");
                findings.push(source_span.error(message).help(help));
                good = false;
            }
        }
    }
    if good && !may_be_none && amounts.iter().all(|amount| *amount == 0.0) {
        return field.refuse("there is nothing in it", "give an amount of a species");
    }
    good.then_some(amounts)
}

/// How compositions are given, at the end of the identity of a model.
fn described(mixture: &Mixture) -> String {
    match mixture {
        Mixture::Ratio(sides) => format!("{sides:?}"),
        Mixture::Fractions(basis) => basis.fractions().to_owned(),
        Mixture::Amounts(basis) => basis.amounts().to_owned(),
    }
}

fn model(gas: Gas, values: Vec<f64>, mechanism: &odeum_kinetics::Mechanism, file: &str) -> Model {
    use odeum_ode::System;
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
    let way = described(&gas.mixture);
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
        rhs: DynSystem::from(Arc::clone(&reactor)),
        outside_single: None,
        switches: None,
        start: Start::Gas(Box::new(gas)),
    }
}
