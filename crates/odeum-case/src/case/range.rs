//! Values along an axis: a list, or evenly or logarithmically spaced numbers.

use super::reader::Field;
use std::borrow::Cow;

/// Most values an axis may have.
const MOST: u64 = 100_000_000;

/// Values along an axis. Those of a range are made when they are needed: how many they are is judged before.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One by one.
    List(Vec<f64>),
    /// By ends and count.
    Range(Range),
}

/// `count` values from `from` to `to`, both ends exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    from: f64,
    to: f64,
    count: usize,
    log: bool,
}

impl Values {
    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::List(values) => values.len(),
            Values::Range(range) => range.count,
        }
    }

    /// The value of a number, from 0.
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Values::List(values) => values[i],
            Values::Range(range) => range.get(i),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = f64> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// All of them.
    pub fn all(&self) -> Cow<'_, [f64]> {
        match self {
            Values::List(values) => Cow::Borrowed(values),
            Values::Range(_) => Cow::Owned(self.iter().collect()),
        }
    }
}

impl Range {
    fn get(&self, i: usize) -> f64 {
        let Range { from, to, count, log } = *self;
        let last = count.saturating_sub(1).max(1);
        if i == 0 {
            from
        } else if i == last {
            to
        } else {
            let fraction = i as f64 / last as f64;
            let (ratio, width) = (to / from, to - from);
            match log {
                true if ratio.is_normal() => from * ratio.powf(fraction),
                false if width.is_finite() => from + width * fraction,
                // The ends are further apart than the largest number: their powers and halves are not.
                true => from.powf(1.0 - fraction) * to.powf(fraction),
                false => 2.0 * (from / 2.0 + (to / 2.0 - from / 2.0) * fraction),
            }
        }
    }
}

/// The values of `[1.0, 2.0]` or `{ from = 0.0, to = 1.0, count = 11, spacing = "linear" }`.
/// Where `ends` are given, `from` and `to` may be left out.
pub(super) fn read(field: &Field<'_>, ends: Option<(f64, f64)>) -> Option<Values> {
    if field.is_list() {
        let items = field.list()?;
        if items.is_empty() {
            return field.refuse(format!("`{}` is empty", field.name), "list at least one value");
        }
        // Every element is read before giving up, so that every slip is reported.
        let values: Vec<Option<f64>> = items.iter().map(Field::number).collect();
        return values.into_iter().collect::<Option<_>>().map(Values::List);
    }
    if !field.is_table() {
        return field.refuse(
            format!("`{}` is neither a list nor a range", field.name),
            "give a list, as [1.0, 2.0], or a range, as { from = 0.0, to = 1.0, count = 11 }",
        );
    }
    let section = field.section()?;
    let help = "a range is { from = 0.0, to = 1.0, count = 11 }, with spacing = \"log\" if wanted";
    let end = |key| match (section.get(key), ends) {
        (Some(end), _) => end.number().map(|x| (x, Some(end))),
        (None, Some((from, to))) => Some((if key == "from" { from } else { to }, None)),
        (None, None) => section.need(key, help)?.number().map(|x| (x, None)),
    };
    let (from, to) = (end("from"), end("to"));
    let count_field = section.need("count", help);
    let count = count_field.as_ref().and_then(|count| count.whole(1, MOST));
    let log = match section.get("spacing") {
        Some(spacing) => spacing.choice("spacings", &[("linear", false), ("log", true)]),
        None => Some(false),
    };
    section.finish();
    let ((from, from_field), (to, to_field), count, log) = (from?, to?, count?, log?);
    if log && !(from > 0.0 && to > 0.0) {
        let worst = if from > 0.0 { to_field } else { from_field };
        return worst.unwrap_or_else(|| field.clone()).refuse(
            "a logarithmic range needs positive ends",
            "use positive ends, or spacing = \"linear\"",
        );
    }
    if count == 1 && from_field.is_none() {
        let message = format!("the one value of `{}` would be that of the start", field.name);
        let help = format!("give a list, as {} = [{to:?}], or a count of two or more", field.name);
        return count_field?.refuse(message, &help);
    }
    Some(Values::Range(Range { from, to, count: count as usize, log }))
}

#[cfg(test)]
mod tests {
    use super::{Range, Values};

    #[test]
    fn ends_are_exact() {
        let spaced = |from, to, count, log| {
            let values = Values::Range(Range { from, to, count, log });
            assert_eq!(values.len(), count);
            values.all().into_owned()
        };
        assert_eq!(spaced(0.0, 1.0, 5, false), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(spaced(0.1, 0.3, 1, false), [0.1]);
        let decades = spaced(1e-2, 1e2, 5, true);
        assert_eq!((decades[0], decades[4]), (1e-2, 1e2));
        assert!((decades[2] - 1.0).abs() < 1e-15);
    }

    /// Ends may be further apart than the largest number, or than the smallest.
    #[test]
    fn ends_far_apart_have_values_between() {
        let spaced = |from, to, log| {
            let values = Values::Range(Range { from, to, count: 5, log });
            values.all().into_owned()
        };
        for (from, to, between) in [
            (1e200, 1e-200, [1e100, 1.0, 1e-100]),
            (1e-200, 1e200, [1e-100, 1.0, 1e100]),
            (1e10, 1e-300, [3.1622776601683795e-68, 1e-145, 3.1622776601683795e-223]),
            (1e300, 1e-20, [1e220, 1e140, 1e60]),
            (1e-3, 1e3, [3.162_277_660_168_38e-2, 1.0, 31.622776601683793]),
        ] {
            let values = spaced(from, to, true);
            assert_eq!((values[0], values[4]), (from, to));
            for (x, expected) in values[1..4].iter().zip(between) {
                assert!((x / expected - 1.0).abs() < 2e-13, "{from} to {to}: {x}, not {expected}");
            }
        }
        for most in [1.7e308, -1.7e308] {
            let values = spaced(-most, most, false);
            let parts: Vec<f64> = values.iter().map(|x| x / most).collect();
            let is_even = parts
                .iter()
                .zip([-1.0, -0.5, 0.0, 0.5, 1.0])
                .all(|(x, part)| (x - part).abs() < 1e-15);
            assert!(is_even && (values[0], values[4]) == (-most, most), "{values:?}");
        }
        assert_eq!(spaced(1.0, 5.0, false), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}
