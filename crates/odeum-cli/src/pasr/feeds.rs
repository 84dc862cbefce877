//! Fuel and oxidizer of a stirred reactor: as the user gives them, or as the paper has them.

use odeum_case::suggest;
use odeum_io::Finding;
use odeum_kinetics::Kinetics;
use odeum_kinetics::pasr::PasrSettings;

/// Species and their amounts \[kmol\], in any multiple.
type Composition = Vec<(String, f64)>;

/// What flows in, in the names of the mechanism.
pub(crate) struct Feeds {
    fuel: Composition,
    oxidizer: Composition,
}

/// Fuels of the paper, in the order they are looked for.
const FUELS: [&str; 2] = ["CH4", "H2"];
/// Air, as the paper has it.
const AIR: [(&str, f64); 2] = [("O2", 1.0), ("N2", 3.76)];

impl Feeds {
    /// As given; else methane where the mechanism has it, else hydrogen, and air.
    pub(crate) fn new(
        kinetics: &Kinetics,
        fuel: Option<&str>,
        oxidizer: Option<&str>,
    ) -> Result<Feeds, Finding> {
        let fuel = match fuel {
            Some(text) => read(kinetics, "--fuel", text)?,
            None => {
                let known = FUELS.into_iter().find_map(|name| spelt(kinetics, name));
                let known = known.ok_or_else(|| {
                    Finding::error("the mechanism has neither CH4 nor H2")
                        .help("name a fuel with --fuel, as \"C2H5OH\" or \"CH4:0.9, C2H6:0.1\"")
                })?;
                vec![(known, 1.0)]
            }
        };
        let oxidizer = match oxidizer {
            Some(text) => read(kinetics, "--oxidizer", text)?,
            None => {
                let air =
                    AIR.into_iter().map(|(name, amount)| Some((spelt(kinetics, name)?, amount)));
                air.collect::<Option<Composition>>().ok_or_else(|| {
                    Finding::error("the mechanism has no air: O2 and N2")
                        .help("name what the fuel burns in with --oxidizer, as \"O2:1, AR:3.76\"")
                })?
            }
        };
        Ok(Feeds { fuel, oxidizer })
    }

    /// A reactor of table 2 of the paper with these feeds, at a temperature \[K\] and a pressure
    /// \[Pa\]: the hydrogen one for pure hydrogen, else the methane one.
    pub(crate) fn settings(&self, temperature: f64, pressure: f64) -> PasrSettings {
        let hydrogen = matches!(&self.fuel[..], [(name, _)] if name.eq_ignore_ascii_case("H2"));
        let settings = if hydrogen {
            PasrSettings::hydrogen(temperature, pressure)
        } else {
            PasrSettings::methane(temperature, pressure)
        };
        PasrSettings { fuel: self.fuel.clone(), oxidizer: self.oxidizer.clone(), ..settings }
    }
}

/// The species of a name in the spelling of the mechanism: many write `o2`.
fn spelt(kinetics: &Kinetics, name: &str) -> Option<String> {
    let names = kinetics.species_names();
    let exact = names.iter().find(|other| *other == name);
    exact.or_else(|| names.iter().find(|other| other.eq_ignore_ascii_case(name))).cloned()
}

/// A composition as `CH4:0.9, C2H6:0.1`; a species alone counts once.
fn read(kinetics: &Kinetics, option: &str, text: &str) -> Result<Composition, Finding> {
    let wrong = |message: String, found: &str, help: String| {
        Finding::error(message).field(option).found(found).help(help)
    };
    let mut all = Composition::new();
    for part in text.split(',').map(str::trim) {
        let (name, amount) = match part.rsplit_once(':') {
            Some((name, amount)) => (name.trim(), amount.trim()),
            None => (part, "1"),
        };
        if kinetics.species_index(name).is_none() {
            let names = kinetics.species_names().iter().map(String::as_str);
            let message = format!("the mechanism has no species `{name}`");
            return Err(wrong(message, part, suggest::remedy(name, "species", names)));
        }
        match amount.parse::<f64>() {
            Ok(amount) if amount >= 0.0 && amount.is_finite() => {
                all.push((name.to_owned(), amount));
            }
            _ => {
                let message = format!("the amount of `{name}` is none");
                let help = "give zero or more, as \"O2:1, N2:3.76\"".to_owned();
                return Err(wrong(message, part, help));
            }
        }
    }
    if all.iter().all(|(_, amount)| *amount == 0.0) {
        let message = "there is nothing in it".to_owned();
        return Err(wrong(message, text, "give an amount of a species".to_owned()));
    }
    Ok(all)
}
