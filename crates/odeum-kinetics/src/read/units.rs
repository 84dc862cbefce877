//! Units of quantities in mechanism files, and their factors to SI with kmol.

use crate::constants::{AVOGADRO, GAS_CONSTANT, ONE_ATM};

/// Elementary charge \[C\], exact.
const ELEMENTARY_CHARGE: f64 = 1.602176634e-19;

/// Powers of mass, length, time, temperature, current and amount of substance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Dimension(pub [f64; 6]);

impl Dimension {
    pub(crate) const NONE: Self = Dimension([0.0; 6]);
    pub(crate) const MASS: Self = Dimension([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    pub(crate) const LENGTH: Self = Dimension([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    pub(crate) const TIME: Self = Dimension([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    pub(crate) const TEMPERATURE: Self = Dimension([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    pub(crate) const CURRENT: Self = Dimension([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    pub(crate) const QUANTITY: Self = Dimension([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    pub(crate) const ENERGY: Self = Dimension([1.0, 2.0, -2.0, 0.0, 0.0, 0.0]);
    pub(crate) const PRESSURE: Self = Dimension([1.0, -1.0, -2.0, 0.0, 0.0, 0.0]);
    pub(crate) const DENSITY: Self = Dimension([1.0, -3.0, 0.0, 0.0, 0.0, 0.0]);
    pub(crate) const MOLAR_ENERGY: Self = Dimension([1.0, 2.0, -2.0, 0.0, 0.0, -1.0]);
    pub(crate) const MOLAR_HEAT: Self = Dimension([1.0, 2.0, -2.0, -1.0, 0.0, -1.0]);

    /// A rate constant of a reaction of this order: (length³/quantity)^(order − 1)/time.
    pub(crate) fn rate(order: f64) -> Self {
        Dimension([0.0, 3.0 * (order - 1.0), -1.0, 0.0, 0.0, 1.0 - order])
    }

    fn raised(self, power: f64) -> Self {
        Dimension(self.0.map(|p| p * power))
    }

    fn times(self, other: Self) -> Self {
        let mut product = self;
        for i in 0..6 {
            product.0[i] += other.0[i];
        }
        product
    }

    fn agrees(self, other: Self) -> bool {
        (0..6).all(|i| (self.0[i] - other.0[i]).abs() < 1e-9)
    }
}

/// Named units and their factors to SI with kmol.
const UNITS: &[(&str, f64, Dimension)] = &[
    ("m", 1.0, Dimension::LENGTH),
    ("micron", 1e-6, Dimension::LENGTH),
    ("angstrom", 1e-10, Dimension::LENGTH),
    ("Å", 1e-10, Dimension::LENGTH),
    ("s", 1.0, Dimension::TIME),
    ("min", 60.0, Dimension::TIME),
    ("hr", 3600.0, Dimension::TIME),
    ("g", 1e-3, Dimension::MASS),
    ("K", 1.0, Dimension::TEMPERATURE),
    ("A", 1.0, Dimension::CURRENT),
    ("mol", 1e-3, Dimension::QUANTITY),
    ("gmol", 1e-3, Dimension::QUANTITY),
    ("mole", 1e-3, Dimension::QUANTITY),
    ("kgmol", 1.0, Dimension::QUANTITY),
    ("molec", 1.0 / AVOGADRO, Dimension::QUANTITY),
    ("J", 1.0, Dimension::ENERGY),
    ("cal", 4.184, Dimension::ENERGY),
    ("erg", 1e-7, Dimension::ENERGY),
    ("eV", ELEMENTARY_CHARGE, Dimension::ENERGY),
    ("Pa", 1.0, Dimension::PRESSURE),
    ("atm", ONE_ATM, Dimension::PRESSURE),
    ("bar", 1e5, Dimension::PRESSURE),
    ("torr", ONE_ATM / 760.0, Dimension::PRESSURE),
    ("Torr", ONE_ATM / 760.0, Dimension::PRESSURE),
    ("N", 1.0, Dimension([1.0, 1.0, -2.0, 0.0, 0.0, 0.0])),
    ("dyn", 1e-5, Dimension([1.0, 1.0, -2.0, 0.0, 0.0, 0.0])),
    ("L", 1e-3, Dimension([0.0, 3.0, 0.0, 0.0, 0.0, 0.0])),
    ("l", 1e-3, Dimension([0.0, 3.0, 0.0, 0.0, 0.0, 0.0])),
    ("cc", 1e-6, Dimension([0.0, 3.0, 0.0, 0.0, 0.0, 0.0])),
];

const PREFIXES: &[(char, f64)] = &[
    ('P', 1e15),
    ('T', 1e12),
    ('G', 1e9),
    ('M', 1e6),
    ('k', 1e3),
    ('h', 1e2),
    ('d', 1e-1),
    ('c', 1e-2),
    ('m', 1e-3),
    ('u', 1e-6),
    ('n', 1e-9),
    ('p', 1e-12),
    ('f', 1e-15),
];

fn named(name: &str) -> Option<(f64, Dimension)> {
    let find = |name: &str| UNITS.iter().find(|unit| unit.0 == name);
    if let Some(&(_, factor, dimension)) = find(name) {
        return Some((factor, dimension));
    }
    let first = name.chars().next()?;
    let &(_, scale) = PREFIXES.iter().find(|prefix| prefix.0 == first)?;
    let &(_, factor, dimension) = find(&name[first.len_utf8()..])?;
    Some((scale * factor, dimension))
}

/// The factor to SI and the dimension of a product of units such as `cm^3/mol/s`.
pub(crate) fn parse(text: &str) -> Result<(f64, Dimension), String> {
    let (mut factor, mut dimension) = (1.0, Dimension::NONE);
    if text.len() > 200 {
        return Err("a unit of more than 200 characters".to_owned());
    }
    let mut rest = text.trim();
    let mut sign = 1.0;
    loop {
        let end = rest.find(['*', '/']).unwrap_or(rest.len());
        let (name, power) = match rest[..end].split_once('^') {
            Some((name, power)) => (name.trim(), super::number::parse(power, false)?),
            None => (rest[..end].trim(), 1.0),
        };
        if name != "1" {
            let (unit, of) = named(name)
                .ok_or_else(|| format!("unknown unit '{}'", super::problem::quote(name)))?;
            factor *= unit.powf(sign * power);
            dimension = dimension.times(of.raised(sign * power));
        }
        if end == rest.len() {
            break;
        }
        sign = if rest[end..].starts_with('/') { -1.0 } else { 1.0 };
        rest = &rest[end + 1..];
    }
    if factor.is_finite() && factor > 0.0 {
        Ok((factor, dimension))
    } else {
        Err(format!("the unit '{text}' is beyond the range of double precision"))
    }
}

/// The units of numbers that carry none, as factors to SI with kmol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnitSystem {
    mass: f64,
    length: f64,
    time: f64,
    current: f64,
    quantity: f64,
    pressure: f64,
    energy: f64,
    /// Factor to a temperature Eₐ/R, where it is not energy/quantity.
    activation: Option<f64>,
}

impl UnitSystem {
    /// SI with kmol.
    pub(crate) const SI: UnitSystem = UnitSystem {
        mass: 1.0,
        length: 1.0,
        time: 1.0,
        current: 1.0,
        quantity: 1.0,
        pressure: 1.0,
        energy: 1.0,
        activation: None,
    };
}

impl Default for UnitSystem {
    fn default() -> Self {
        UnitSystem::SI
    }
}

/// Factor from an activation energy in this unit to a temperature Eₐ/R \[K\].
fn activation_factor(text: &str) -> Result<f64, String> {
    let (factor, dimension) = parse(text)?;
    if dimension.agrees(Dimension::TEMPERATURE) {
        Ok(factor)
    } else if dimension.agrees(Dimension::MOLAR_ENERGY) {
        Ok(factor / GAS_CONSTANT)
    } else if dimension.agrees(Dimension::ENERGY) {
        Ok(factor * AVOGADRO / GAS_CONSTANT)
    } else {
        Err(format!("'{text}' is no unit of an activation energy"))
    }
}

impl UnitSystem {
    /// Changes the unit of one kind of quantity, as in `length: cm`.
    pub(crate) fn set(&mut self, kind: &str, unit: &str) -> Result<(), String> {
        if kind == "activation-energy" {
            self.activation = Some(activation_factor(unit)?);
            return Ok(());
        }
        let (factor, dimension) = parse(unit)?;
        let (slot, expected) = match kind {
            "mass" => (&mut self.mass, Dimension::MASS),
            "length" => (&mut self.length, Dimension::LENGTH),
            "time" => (&mut self.time, Dimension::TIME),
            "current" => (&mut self.current, Dimension::CURRENT),
            "quantity" => (&mut self.quantity, Dimension::QUANTITY),
            "pressure" => (&mut self.pressure, Dimension::PRESSURE),
            "energy" => (&mut self.energy, Dimension::ENERGY),
            "temperature" if unit.trim() == "K" => return Ok(()),
            "temperature" => return Err("temperatures can only be in K".to_owned()),
            _ => return Err(format!("unknown kind of unit '{}'", super::problem::quote(kind))),
        };
        if !dimension.agrees(expected) {
            return Err(format!("'{unit}' is no unit of {kind}"));
        }
        *slot = factor;
        Ok(())
    }

    /// Factor to SI of a number without unit.
    pub(crate) fn factor(&self, dimension: Dimension) -> f64 {
        // Pressure and energy have units of their own beside those of mass, length and time.
        if dimension == Dimension::PRESSURE {
            return self.pressure;
        }
        if dimension == Dimension::MOLAR_ENERGY || dimension == Dimension::MOLAR_HEAT {
            return self.energy / self.quantity;
        }
        let [mass, length, time, _, current, quantity] = dimension.0;
        self.mass.powf(mass)
            * self.length.powf(length)
            * self.time.powf(time)
            * self.current.powf(current)
            * self.quantity.powf(quantity)
    }

    /// A number, with its own unit or without, in SI.
    pub(crate) fn convert(&self, text: &str, dimension: Dimension) -> Result<f64, String> {
        let Some((number, unit)) = split(text) else {
            return super::number::yaml(text).map(|value| value * self.factor(dimension));
        };
        let value = super::number::parse(number, false)?;
        let (factor, found) = parse(unit)?;
        if found.agrees(dimension) {
            Ok(value * factor)
        } else {
            Err(format!("'{unit}' is not a unit of this quantity"))
        }
    }

    /// An activation energy as a temperature Eₐ/R \[K\].
    pub(crate) fn activation_temperature(&self, text: &str) -> Result<f64, String> {
        if let Some((number, unit)) = split(text) {
            return Ok(super::number::parse(number, false)? * activation_factor(unit)?);
        }
        Ok(super::number::yaml(text)? * self.activation())
    }

    /// Factor from an activation energy without unit to a temperature Eₐ/R \[K\].
    pub(crate) fn activation(&self) -> f64 {
        self.activation.unwrap_or(self.energy / self.quantity / GAS_CONSTANT)
    }
}

/// Number and unit of a text such as `1.0 cm^3/mol/s`.
fn split(text: &str) -> Option<(&str, &str)> {
    text.trim().split_once(char::is_whitespace).map(|(number, unit)| (number, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 4e-16 * b.abs()
    }

    #[test]
    fn products_of_units() {
        let (factor, dimension) = parse("cm^3/mol/s").unwrap();
        assert!(close(factor, 1e-3) && dimension.agrees(Dimension::rate(2.0)));
        assert!(close(parse("kcal/mol").unwrap().0, 4.184e6));
        assert!(close(parse("cm^3/molec/s").unwrap().0, 6.02214076e20));
        assert!(parse("cm^3/furlong").unwrap_err().contains("furlong"));
        assert!(parse("cm^").is_err() && parse("").is_err() && parse("m^400").is_ok());
        assert!(parse("km^400").is_err());
    }

    #[test]
    fn names_of_one_unit_agree() {
        let pairs = [
            ("N", "kg*m/s^2"),
            ("dyn", "g*cm/s^2"),
            ("J", "N*m"),
            ("erg", "dyn*cm"),
            ("Pa", "N/m^2"),
            ("bar", "hPa*km/m"),
            ("L", "dm^3"),
            ("cc", "cm^3"),
            ("angstrom", "nm*dm/m"),
        ];
        for (one, same) in pairs {
            let ((factor, dimension), (other, agrees)) =
                (parse(one).unwrap(), parse(same).unwrap());
            assert!(dimension.agrees(agrees) && close(factor, other), "{one}: {factor} {other}");
        }
        assert!(close(parse("hr").unwrap().0, 60.0 * parse("min").unwrap().0));
        assert!(close(parse("atm").unwrap().0, 760.0 * parse("Torr").unwrap().0));
        assert!(close(parse("mol").unwrap().0, AVOGADRO / 1e3 * parse("molec").unwrap().0));
    }

    #[test]
    fn activation_energies() {
        let mut units = UnitSystem::default();
        assert!(close(units.activation_temperature("8314.462618153241").unwrap(), 1.0));
        units.set("quantity", "mol").unwrap();
        assert!(close(units.activation_temperature("8.314462618153241").unwrap(), 1.0));
        units.set("activation-energy", "K").unwrap();
        assert_eq!(units.activation_temperature("100"), Ok(100.0));
        assert!(close(units.activation_temperature("0.1 eV").unwrap(), 1160.451812155008));
        assert!(units.set("length", "s").is_err() && units.set("temperature", "C").is_err());
    }
}
