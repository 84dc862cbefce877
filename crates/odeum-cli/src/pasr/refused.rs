//! Settings that make no reactor, as findings on the options they come from.

use crate::report::{bytes, count};
use odeum_case::gas;
use odeum_io::Finding;
use odeum_io::number::rounded;
use odeum_kinetics::constants::ONE_ATM;
use odeum_kinetics::pasr::{PasrError, PasrSettings};
use odeum_kinetics::{EquilibriumError, Kinetics, StateError};

/// Why there is no reactor of these settings.
pub(super) fn finding(error: &PasrError, settings: &PasrSettings) -> Finding {
    match error {
        PasrError::Setting { field, value, expected } => {
            let option = match *field {
                "n_particles" => "--particles",
                "n_residence_times" => "--residence-times",
                "tau_res" => "--tau-res",
                "tau_mix" => "--tau-mix",
                "tau_pair" => "--tau-pair",
                "pressure" => "--pressure",
                other => other,
            };
            let found = match *field {
                "pressure" => in_atm(*value),
                _ => value.to_string(),
            };
            Finding::error("no reactor can be made of this")
                .field(option)
                .found(found)
                .help(format!("give {expected}"))
        }
        PasrError::Gas { field, error: EquilibriumError::State(error) } => {
            gas_finding(field, error, settings)
        }
        PasrError::Flame { temperature, bounds } => {
            let finding = Finding::error(error.to_string());
            // Thin gas falls apart into atoms, which takes more heat than it has.
            if *temperature < bounds.0 {
                let found = in_atm(settings.pressure);
                return finding.field("--pressure").found(found).help("give a higher pressure");
            }
            finding.field("--temperature").found(settings.temperature).help(COLDER)
        }
        other => Finding::error(other.to_string()),
    }
}

/// What to do where flames are hotter than the data.
pub(super) const COLDER: &str = "lower --temperature or --phi, dilute --oxidizer, as by O2:1, N2:3.76, or take a \
                                 mechanism whose thermodynamic data reach further";

/// A pressure as the option has it.
fn in_atm(pressure: f64) -> String {
    rounded(pressure / ONE_ATM, 9)
}

fn gas_finding(field: &str, error: &StateError, settings: &PasrSettings) -> Finding {
    let message = match error {
        StateError::Temperature { value, .. } if value.is_nan() => "the temperature is no number",
        error => &error.to_string(),
    };
    let finding = Finding::error(message).help(gas::remedy(error).1);
    match error {
        StateError::Temperature { bounds: (low, high), .. } => finding
            .field("--temperature")
            .found(settings.temperature)
            .help(format!("give {low} to {high} K, for which there are data of all species")),
        StateError::NotPositive { what: "pressure", .. } => finding
            .field("--pressure")
            .found(in_atm(settings.pressure))
            .help("give a pressure above zero, in atm"),
        StateError::NotPositive { what: "equivalence ratio", value } => {
            finding.field("--phi").found(value)
        }
        StateError::NoStoichiometricMixture => finding.field("--fuel"),
        _ => finding.field(field.to_owned()),
    }
}

/// Refuses more states than fit into memory: `steps` of all runs together.
pub(super) fn room(
    steps: usize,
    settings: &[PasrSettings],
    kinetics: &Kinetics,
) -> Result<(), Finding> {
    let particles = settings.iter().map(|s| s.n_particles).max().unwrap_or(0);
    let states = steps.saturating_add(settings.len()).saturating_mul(particles);
    // Run, time, temperature, pressure and mass fractions.
    let numbers = states.saturating_mul(kinetics.n_species() + 4);
    if Vec::<f64>::new().try_reserve_exact(numbers).is_ok() {
        return Ok(());
    }
    let size = bytes(8 * numbers as u128);
    Err(Finding::error("there is no memory for so many states")
        .found(format!("{} states, {size}", count(states as u64)))
        .help("lower --residence-times or --particles, or raise --tau-pair"))
}
