//! The balance of charges that are traces.

use super::iterate::{GROWN, Iterate};

/// A shift of the potential of charge below this leaves rounding behind it.
const SMALL: f64 = 1e-14;
/// The logarithms of both signs are nearly linear in the shift: a few iterations suffice.
const MAX_ITERATIONS: usize = 50;

/// Charged species of an equilibrium.
pub(super) struct Charge {
    /// The row of charge among the elements.
    row: usize,
    /// (species, electrons), other than zero.
    species: Vec<(usize, f64)>,
    /// Electrons of the gas beyond those of its atoms [kmol/kg].
    sum: f64,
}

impl Charge {
    /// From the electrons of each species \[species\] and of the gas.
    pub(super) fn new(row: usize, counts: &[f64], sum: f64) -> Charge {
        let charged = counts.iter().copied().enumerate().filter(|(_, n)| *n != 0.0);
        Charge { row, species: charged.collect(), sum }
    }

    /// Balances the charges, where all are traces, by the potential of charge.
    ///
    /// To a species with z electrons that changes ln n by z times the shift, and leaves it as far
    /// from equilibrium with its potentials as it was. Newton's method for all unknowns changes
    /// what is too small by a factor of e in each iteration, and amounts of ions differ from those
    /// of electrons by hundreds of such factors on the way (RP-1311, section 3.7, corrects them
    /// likewise).
    pub(super) fn balance(&self, now: &mut Iterate) {
        let shift = self.shift(&now.ln_amounts);
        let trace = GROWN.ln() + now.ln_total;
        let at = |shift: f64| self.species.iter().map(move |&(k, z)| (k, z * shift));
        let traces = at(0.0).chain(at(shift)).all(|(k, by)| now.ln_amounts[k] + by < trace);
        if !(traces && shift.is_finite()) {
            return;
        }
        for (k, by) in at(shift) {
            now.ln_amounts[k] += by;
        }
        now.potentials[self.row] += shift;
    }

    /// The shift of the potential of charge that balances it; not finite where none does.
    fn shift(&self, ln_amounts: &[f64]) -> f64 {
        let mut shift = 0.0;
        for _ in 0..MAX_ITERATIONS {
            // Negative charges, with those that the gas has too few of, against positive ones.
            let (negative, falls) = self.side(1.0, ln_amounts, shift);
            let (positive, rises) = self.side(-1.0, ln_amounts, shift);
            let change = (positive - negative) / (falls + rises);
            shift += change;
            if change.is_nan() || change.abs() <= SMALL * shift.abs() {
                break;
            }
        }
        shift
    }

    /// The logarithm of all charge of one sign, with that which the gas lacks of it, and the size of
    /// its derivative.
    fn side(&self, sign: f64, ln_amounts: &[f64], shift: f64) -> (f64, f64) {
        let of_sign = || self.species.iter().filter(|(_, z)| z * sign > 0.0);
        let ln = |&(k, z): &(usize, f64)| ln_amounts[k] + z.abs().ln() + z * shift;
        let lacks = (-sign * self.sum).max(0.0);
        let largest = of_sign().map(ln).fold(lacks.ln(), f64::max);
        let (mut sum, mut slope) = ((lacks.ln() - largest).exp(), 0.0);
        for species in of_sign() {
            let part = (ln(species) - largest).exp();
            sum += part;
            slope += species.1.abs() * part;
        }
        (largest + sum.ln(), slope / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_of_any_size_and_sign_are_balanced() {
        for (amounts, sum) in [
            // Electrons, anions, cations with one and two charges.
            ([-300.0, -700.0, -20.0, -60.0], 0.0),
            ([-20.0, -30.0, -400.0, -25.0], 0.0),
            ([-20.0, -30.0, -400.0, -25.0], 1e-12),
            ([-200.0, -30.0, -40.0, -25.0], -1e-12),
        ] {
            let z = [1.0, 1.0, -1.0, -2.0];
            let charge = Charge::new(0, &z, sum);
            let shift = charge.shift(&amounts);
            let parts: Vec<f64> =
                amounts.iter().zip(z).map(|(n, z)| z * (n + z * shift).exp()).collect();
            let (lack, size) = parts
                .iter()
                .fold((-sum, 0.0_f64), |(lack, size), part| (lack + part, size.max(part.abs())));
            assert!(lack.abs() < 1e-12 * size, "{amounts:?} {sum}: {parts:?}");
        }
    }
}
