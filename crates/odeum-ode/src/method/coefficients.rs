//! What the coefficients of every tableau must be.

use odeum_core::{Argument, Error};

/// Part of a sum that is rounding: published coefficients have fewer digits than numbers.
const ROUNDING: f64 = 1e-9;

/// A tableau is looked at by its parts.
pub(super) struct Coefficients {
    /// Short name.
    pub(super) name: &'static str,
    /// Number of stages.
    pub(super) stages: usize,
}

impl Coefficients {
    fn refuse(&self, field: Argument, found: impl std::fmt::Display, remedy: String) -> Error {
        Error::input(field, format!("{found} in the tableau {}", self.name), remedy)
    }

    /// At least one stage.
    pub(super) fn check_stages(&self) -> Result<(), Error> {
        let field = || Argument::new("tableau");
        if self.stages == 0 {
            return Err(self.refuse(field(), "no stages", "give at least one".to_owned()));
        }
        Ok(())
    }

    /// One number for each stage.
    pub(super) fn check_numbers(&self, part: &'static str, numbers: &[f64]) -> Result<(), Error> {
        let field = Argument::new("tableau").key(part);
        if numbers.len() != self.stages {
            let remedy = format!("give one for each of the {} stages", self.stages);
            return Err(self.refuse(field, format!("{} numbers", numbers.len()), remedy));
        }
        match numbers.iter().position(|x| !x.is_finite()) {
            Some(i) => Err(self.refuse(field.at(i), numbers[i], "must be finite".to_owned())),
            None => Ok(()),
        }
    }

    /// One row for each stage, which has as many entries as there are stages before.
    pub(super) fn check_rows(
        &self,
        part: &'static str,
        lengths: impl ExactSizeIterator<Item = usize>,
    ) -> Result<(), Error> {
        let field = Argument::new("tableau").key(part);
        if lengths.len() != self.stages {
            let remedy = format!("give one for each of the {} stages", self.stages);
            return Err(self.refuse(field, format!("{} rows", lengths.len()), remedy));
        }
        match lengths.enumerate().find(|(i, length)| length != i) {
            Some((i, length)) => {
                let remedy = format!("give one for each of the {i} stages before");
                Err(self.refuse(field.at(i), format!("{length} numbers"), remedy))
            }
            None => Ok(()),
        }
    }

    /// A sum that all methods have: of the weights, for order 1, or of a row of coefficients, for stages at their times.
    pub(super) fn check_sum(
        &self,
        field: Argument,
        terms: impl Iterator<Item = f64>,
        wanted: f64,
    ) -> Result<(), Error> {
        let (mut sum, mut size) = (0.0, 1.0);
        for term in terms {
            sum += term;
            size += term.abs();
        }
        if (sum - wanted).abs() <= ROUNDING * size {
            return Ok(());
        }
        let found = format!("coefficients that sum to {sum}");
        Err(self.refuse(field, found, format!("they must sum to {wanted}")))
    }

    /// An estimate of the error, where steps follow it.
    pub(super) fn check_estimate(&self, is_zero: bool, fixed: Option<f64>) -> Result<(), Error> {
        if is_zero && fixed.is_none() {
            let remedy = "without an estimate of the error steps must be of one size".to_owned();
            return Err(self.refuse(Argument::new("tableau").key("e"), "zeros alone", remedy));
        }
        Ok(())
    }
}
