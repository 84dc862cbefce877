//! Fuel and oxidizer of a stirred reactor: as the user gives them, or as the paper has them.

use odeum_case::suggest;
use odeum_io::Finding;
use odeum_kinetics::Kinetics;
use odeum_kinetics::pasr::PasrSettings;

/// Species and their amounts \[kmol\], in any multiple: each species once, of an amount above zero.
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

/// What stands between the commas of a composition, but those in names of species.
fn parts<'a>(kinetics: &Kinetics, text: &'a str) -> Vec<&'a str> {
    let is_species = |part: &str| {
        let name = part.rsplit_once(':').map_or(part, |(name, _)| name);
        spelt(kinetics, name.trim()).is_some()
    };
    let (mut parts, mut rest) = (Vec::new(), text);
    loop {
        let ends = rest.match_indices(',').map(|(at, _)| at).chain([rest.len()]);
        let first = rest.find(',').unwrap_or(rest.len());
        let end = ends.into_iter().find(|end| is_species(&rest[..*end])).unwrap_or(first);
        parts.push(rest[..end].trim());
        match rest.get(end + 1..) {
            Some(after) => rest = after,
            None => return parts,
        }
    }
}

/// A composition as `CH4:0.9, C2H6:0.1`; a species alone counts once.
fn read(kinetics: &Kinetics, option: &str, text: &str) -> Result<Composition, Finding> {
    let wrong = |message: String, found: &str, help: String| {
        Finding::error(message).field(option).found(found).help(help)
    };
    let mut all = Composition::new();
    for part in parts(kinetics, text) {
        let (name, amount) = match part.rsplit_once(':') {
            Some((name, amount)) => (name.trim(), amount.trim()),
            None => (part, "1"),
        };
        if kinetics.species_index(name).is_none() {
            let message = format!("the mechanism has no species `{name}`");
            let pair = part.split_once('=').map(|(name, amount)| (name.trim(), amount.trim()));
            let help = match pair.and_then(|(name, amount)| Some((spelt(kinetics, name)?, amount)))
            {
                Some((name, amount)) => format!("write `{name}:{amount}`"),
                None => {
                    let names = kinetics.species_names().iter().map(String::as_str);
                    suggest::remedy(name, "species", names)
                }
            };
            return Err(wrong(message, part, help));
        }
        if all.iter().any(|(other, _)| other == name) {
            let message = format!("`{name}` is given twice");
            return Err(wrong(message, text, "give each species once".to_owned()));
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
    all.retain(|(_, amount)| *amount > 0.0);
    if all.is_empty() {
        let message = "there is nothing in it".to_owned();
        return Err(wrong(message, text, "give an amount of a species".to_owned()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_species_may_hold_commas() {
        let species = |name: &str| {
            format!(
                "- {{name: '{name}', composition: {{H: 2}}, thermo: {{model: constant-cp, cp0: 29 J/mol/K}}}}\n"
            )
        };
        let species: String = ["1,3-X", "H2", "A:1,B"].into_iter().map(species).collect();
        let text = format!("phases: [{{name: gas, thermo: ideal-gas}}]\nspecies:\n{species}");
        let mechanism = odeum_kinetics::read::yaml("f.yaml", &text, None).unwrap().mechanism;
        let kinetics = Kinetics::new(&mechanism).unwrap();
        let read = |text: &str| read(&kinetics, "--fuel", text);
        let expected = [("1,3-X", 0.5), ("H2", 1.0), ("A:1,B", 2.0)];
        let expected = expected.map(|(name, amount)| (name.to_owned(), amount));
        assert_eq!(read("1,3-X:0.5, H2,A:1,B:2").unwrap(), expected);
        for (text, found) in
            [("H3, H2:1", "H3"), ("H2:1,", ""), ("1,H2", "1"), ("H2:x, H2", "H2:x")]
        {
            assert_eq!(read(text).unwrap_err().found.as_deref(), Some(found), "{text}");
        }
    }
}
