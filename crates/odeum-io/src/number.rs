//! Numbers as people read them.

use odeum_ode::Scalar;
use std::fmt;
use std::time::Duration;

/// A number as all text files have it: the shortest form that reads back to the same bits of its
/// precision, with an exponent where that is shorter than zeros.
pub struct Exact<T>(pub T);

impl<T: Scalar> fmt::Display for Exact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0.to_f64();
        if size_of::<T>() == 8 { write!(f, "{value:?}") } else { write!(f, "{:?}", value as f32) }
    }
}

/// Times that differ by so many units of the last place are meant to be equal: each is a sum of many steps.
const SHORT_EPSILONS: f64 = 16.0;

/// As a part of an interval, what rounding may make of a multiple of it.
const NEAR: f64 = 1e-9;

/// The time that is meant: of what differs by rounding alone the shorter number. It has been reached from `start`, of whose
/// size rounding is where that is larger.
pub fn time_told(t: f64, start: f64) -> f64 {
    let size = t.abs().max(start.abs());
    let last = 11.0 - size.log10().floor();
    let short = match size > t.abs() {
        true => format!("{t:.*}", last.max(0.0) as usize),
        false => format!("{t:.11e}"),
    };
    let short: f64 = short.parse().unwrap_or(t);
    // Zero has no sign.
    if (short - t).abs() <= SHORT_EPSILONS * f64::EPSILON * size { short + 0.0 } else { t }
}

/// The time that is meant by `n` intervals after another.
pub fn time_after(t: f64, n: u64, interval: f64) -> f64 {
    let after = t + n as f64 * interval;
    let told = time_told(after, t);
    if (told - after).abs() <= NEAR * interval { told } else { after }
}

/// A whole number with thin groups of three: `1 048 576`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A positive number with about three significant digits: `0.0123`, `45.6`, `1 230 000`.
pub fn significant(x: f64) -> String {
    if !x.is_finite() || x == 0.0 {
        return x.to_string();
    }
    let magnitude = x.abs().log10().floor() as i32;
    match magnitude {
        ..=-5 | 15.. => format!("{x:.2e}"),
        -4..=1 => format!("{x:.*}", (2 - magnitude) as usize),
        2 => format!("{x:.0}"),
        _ => {
            let unit = 10f64.powi(magnitude - 2);
            count(((x / unit).round() * unit) as u64)
        }
    }
}

/// A number to so many significant digits, without zeros at its end: `0.25`, `12.5`, `1.5e-9`.
pub fn rounded(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let short = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let text = format!("{x:.*e}", digits.saturating_sub(1));
    let Some((front, exponent)) = text.split_once('e') else { return text };
    match exponent.parse::<i32>() {
        Ok(power @ -4..=5) => {
            let decimals = digits as i32 - 1 - power;
            short(&format!("{x:.*}", decimals.max(0) as usize))
        }
        _ => format!("{}e{exponent}", short(front)),
    }
}

/// A time span: `12 ms`, `3.4 s`, `2 min 05 s`, `1 h 02 min`.
pub fn duration(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    // To the nearest: 59.97 s are a minute.
    let whole = seconds.round() as u64;
    if seconds < 0.9995 {
        format!("{} ms", significant(seconds * 1e3))
    } else if seconds < 59.95 {
        format!("{seconds:.1} s")
    } else if whole < 3600 {
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        format!("{} h {:02} min", whole / 3600, whole % 3600 / 60)
    }
}

/// An amount of memory: `512 B`, `1.5 MiB`.
pub fn bytes(n: u128) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut amount = n as f64;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{amount:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_are_short_and_read_back() {
        for (x, text) in [
            (2e-292, "2e-292"),
            (-1.7e308, "-1.7e308"),
            (0.1 + 0.2, "0.30000000000000004"),
            (5e-324, "5e-324"),
            (48.0, "48.0"),
            (0.0, "0.0"),
        ] {
            assert_eq!(Exact(x).to_string(), text);
            assert_eq!(text.parse(), Ok(x));
        }
        // A single number has the digits that tell it from its neighbours, not those of a double.
        assert_eq!(Exact(0.1_f32).to_string(), "0.1");
        assert_eq!(Exact(f32::MIN_POSITIVE).to_string(), "1.1754944e-38");
    }

    #[test]
    fn times_are_those_that_are_meant() {
        for (t, start, told) in [
            (0.1 + 0.2, 0.0, 0.3_f64),
            (-0.3 + 3.0 * 0.1, -0.3, 0.0),
            (-0.3 + 4.0 * 0.1, -0.3, 0.1),
            (-1e6 + 1e7 * 0.1 + 3e-10, -1e6, 0.0),
            // What rounding does not make.
            (5.551_115_123_125_783e-17, 0.0, 5.551_115_123_125_783e-17),
            (1e-14, -0.3, 1e-14),
            (1.0 / 3.0, -2.0, 1.0 / 3.0),
            (1e-300, 0.0, 1e-300),
            (0.0, 0.0, 0.0),
            (1e300, -1.0, 1e300),
        ] {
            assert_eq!(time_told(t, start).to_bits(), told.to_bits(), "{t} from {start}");
        }
        let multiples: Vec<f64> = (0..5).map(|n| time_after(-0.3, n, 0.1)).collect();
        assert_eq!(multiples, [-0.3, -0.2, -0.1, 0.0, 0.1]);
        // Not by more than a part of the interval.
        assert_eq!(time_after(0.1, 1, 1e-16), 0.1 + 1e-16);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1_048_576), "1 048 576");
        assert_eq!(count(12), "12");
        assert_eq!(significant(0.012_345), "0.0123");
        assert_eq!(significant(1_234_567.0), "1 230 000");
        assert_eq!(significant(45.67), "45.7");
        for (x, text) in [
            (0.25, "0.25"),
            (9.999_96, "10"),
            (0.0, "0"),
            (-3.2e-17, "-3.2e-17"),
            (123_456.7, "123457"),
            (1e6, "1e6"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(rounded(x, 4), text);
        }
        assert_eq!(duration(Duration::from_millis(12)), "12.0 ms");
        for (millis, text) in [
            (125_000, "2 min 05 s"),
            (59_940, "59.9 s"),
            (59_970, "1 min 00 s"),
            (3_599_600, "1 h 00 min"),
            (7_199_000, "1 h 59 min"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
        assert_eq!(bytes(1_572_864), "1.5 MiB");
    }
}
