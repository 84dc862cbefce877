//! Numbers along an axis: where ticks are, and what stands beside them.

use crate::report::rounded;

/// A range of numbers with ticks at round ones.
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Numbers within the range, from the least, with their labels, no two of which are the same.
    pub(super) ticks: Vec<(f64, String)>,
    /// What is to be added to the labels, where these would be too long with it.
    pub(super) offset: Option<String>,
}

impl Axis {
    /// From `low` to `high`, with about `most` ticks of at most so many letters. A range without
    /// width becomes one around its number.
    pub(super) fn new(low: f64, high: f64, most: usize, letters: usize) -> Axis {
        let (low, high) = match low == high {
            true if low == 0.0 => (-1.0, 1.0),
            true => (low - low.abs() / 2.0, high + high.abs() / 2.0),
            false => (low, high),
        };
        let mut axis = Axis { low, high, ticks: Vec::new(), offset: None };
        // One number says nothing of a range: there are more rather than one.
        let tries = [1, 2, 4].map(|times| Decimals::within(low, high, times * most.max(1)));
        let Some(numbers) = tries.into_iter().flatten().find(|it| it.whole.len() > 1) else {
            return axis;
        };
        let labels = |numbers: &Decimals| {
            [numbers.fixed(), numbers.scientific()]
                .into_iter()
                .find(|labels| labels.iter().all(|label| label.len() <= letters))
        };
        let labels = labels(&numbers).unwrap_or_else(|| {
            let (offset, rest) = numbers.split();
            axis.offset = Some(offset);
            labels(&rest).unwrap_or_else(|| rest.scientific())
        });
        axis.ticks = numbers.values().into_iter().zip(labels).collect();
        axis
    }

    /// Where a number lies: 0 at the low end, 1 at the high one.
    pub(super) fn fraction(&self, x: f64) -> f64 {
        // Halves, as the whole range may be larger than any number.
        (x / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
    }
}

/// Whole numbers times a power of ten, so that each is said by its own digits.
struct Decimals {
    whole: Vec<i64>,
    power: i32,
}

impl Decimals {
    /// About `most` multiples of 1, 2 or 5 times a power of ten. `None` where numbers have not the
    /// digits that tell them apart, and for ranges that are none.
    fn within(low: f64, high: f64, most: usize) -> Option<Decimals> {
        let least = high / most as f64 - low / most as f64;
        if !(least > 0.0 && least.is_finite()) {
            return None;
        }
        let mut power = least.log10().floor() as i32;
        let mut factor = [1, 2, 5].into_iter().find(|&f| decimal(f, power) >= least * (1.0 - 1e-9));
        if factor.is_none() {
            (factor, power) = (Some(1), power + 1);
        }
        let factor = factor?;
        let step = decimal(factor, power);
        // The ends of a range are often round themselves, but for rounding.
        let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
        let exact = [first, last].iter().all(|n| n.abs() < 1e14);
        if !exact || last < first || last - first > 2.0 * most as f64 + 2.0 {
            return None;
        }
        let whole = (first as i64..=last as i64).map(|n| n * factor).collect();
        Some(Decimals { whole, power })
    }

    fn values(&self) -> Vec<f64> {
        self.whole.iter().map(|&n| decimal(n, self.power)).collect()
    }

    /// With a point and without an exponent, where that does not take zeros that say nothing.
    fn fixed(&self) -> Vec<String> {
        let largest = self.values().iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        if largest != 0.0 && !(1e-4..1e6).contains(&largest) {
            return self.scientific();
        }
        let decimals = (-self.power).max(0) as usize;
        let zero = |text: String| text.strip_prefix('-').map_or(text.clone(), str::to_owned);
        let label = |x: f64| format!("{x:.decimals$}");
        self.values()
            .into_iter()
            .map(|x| if x == 0.0 { zero(label(x)) } else { label(x) })
            .collect()
    }

    fn scientific(&self) -> Vec<String> {
        let digits = |n: i64| n.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
        let label = |&n: &i64| match rounded(decimal(n, self.power), digits(n)) {
            text if text.len() > 6 && !text.contains('e') => {
                format!("{:e}", decimal(n, self.power))
            }
            text => text,
        };
        self.whole.iter().map(label).collect()
    }

    /// The roundest number, and all less that one.
    fn split(&self) -> (String, Decimals) {
        let zeros = |n: &i64| (1..15).take_while(|&p| n % 10_i64.pow(p) == 0).count();
        let round = self.whole.iter().copied().max_by_key(zeros).unwrap_or(0);
        let rest = self.whole.iter().map(|n| n - round).collect();
        let sign = if round < 0 { "" } else { "+" };
        let offset = format!("{sign}{:e}", decimal(round, self.power));
        (offset, Decimals { whole: rest, power: self.power })
    }
}

/// A whole number times a power of ten, rounded once.
fn decimal(whole: i64, power: i32) -> f64 {
    format!("{whole}e{power}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> (Vec<String>, Option<String>) {
        let axis = Axis::new(low, high, 4, 8);
        (axis.ticks.into_iter().map(|(_, label)| label).collect(), axis.offset)
    }

    #[test]
    fn ticks_are_round_numbers() {
        for (low, high, expected) in [
            (0.0, 1.0, &["0.0", "0.5", "1.0"][..]),
            (-1.0, 3.0, &["-1", "0", "1", "2", "3"]),
            (3.2, 4.9, &["3.5", "4.0", "4.5"]),
            (0.0, 0.68, &["0.0", "0.2", "0.4", "0.6"]),
            (1e-9, 9e-9, &["2e-9", "4e-9", "6e-9", "8e-9"]),
            (0.0, 4e300, &["0", "1e300", "2e300", "3e300", "4e300"]),
            (123_456.0, 123_457.0, &["123456.0", "123456.5", "123457.0"]),
            (7.0, 7.0, &["4", "6", "8", "10"]),
        ] {
            assert_eq!(
                labels(low, high),
                (expected.iter().map(|x| (*x).to_owned()).collect(), None)
            );
        }
    }

    #[test]
    fn labels_of_large_numbers_in_a_small_range_differ() {
        let (labels, offset) = labels(1e8 - 0.7, 1e8 + 0.8);
        assert_eq!(labels, ["-0.5", "0.0", "0.5"]);
        assert_eq!(offset.as_deref(), Some("+1e8"));
        for (low, high) in [(-3.2e17, -3.2e17 + 1e9), (1e-7, 1e-7 + 1e-15), (99_999.9, 100_000.1)] {
            let axis = Axis::new(low, high, 5, 8);
            let mut all: Vec<&String> = axis.ticks.iter().map(|(_, label)| label).collect();
            assert!(all.len() > 2 && all.iter().all(|label| label.len() <= 8), "{all:?}");
            all.dedup();
            assert_eq!(all.len(), axis.ticks.len(), "{all:?}");
        }
    }

    #[test]
    fn ranges_that_are_none_have_no_ticks() {
        for (low, high) in [
            (f64::INFINITY, f64::NEG_INFINITY),
            (f64::NAN, 1.0),
            (1.0, 1.0 + f64::EPSILON),
            (f64::MIN, f64::MAX),
        ] {
            let axis = Axis::new(low, high, 4, 8);
            assert!(axis.ticks.len() < 9);
        }
        assert_eq!(Axis::new(f64::MIN, f64::MAX, 4, 8).fraction(0.0), 0.5);
    }
}
