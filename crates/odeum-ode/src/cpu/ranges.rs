//! Watches whether states stay where the model holds.

use odeum_core::{Argument, Error, Lanes, RangeKind, ValidRange};

/// Absolute tolerances by which a component may lie beyond its physical bounds at the end.
pub(crate) const MARGIN: f64 = 100.0;

/// Refuses ranges of components that a system of n equations does not have, and those in which no number lies.
pub(crate) fn check(ranges: &[ValidRange], n: usize) -> Result<(), Error> {
    for (k, &ValidRange { component, lower, upper, .. }) in ranges.iter().enumerate() {
        let field = Argument::new("ranges").at(k);
        if component >= n {
            let remedy = format!("the components of {n} equations are 0 to {}", n.max(1) - 1);
            return Err(Error::input(field.key("component"), component, remedy));
        }
        if lower.is_nan() || upper.is_nan() || lower > upper {
            let remedy = "the lower bound must be a number not above the upper one";
            return Err(Error::input(field, format!("{lower} to {upper}"), remedy));
        }
    }
    Ok(())
}

/// The ranges of a system.
pub(super) struct Ranges<L> {
    data: Vec<(usize, L, L)>,
    /// Physical bounds, widened by [`MARGIN`] absolute tolerances.
    physical: Vec<(usize, L, L)>,
}

impl<L: Lanes> Ranges<L> {
    /// With the absolute tolerance of each component \[n\]; `None` for a system without ranges.
    pub(super) fn new(ranges: &[ValidRange], atol: &[f64]) -> Option<Self> {
        let of = |kind: RangeKind| {
            let widened = move |range: &ValidRange| {
                let margin = match kind {
                    RangeKind::Data => 0.0,
                    RangeKind::Physical => MARGIN * atol.get(range.component).unwrap_or(&0.0),
                };
                let (lower, upper) = (range.lower - margin, range.upper + margin);
                (range.component, L::lit(lower), L::lit(upper))
            };
            ranges.iter().filter(move |range| range.kind == kind).map(widened).collect()
        };
        (!ranges.is_empty())
            .then(|| Ranges { data: of(RangeKind::Data), physical: of(RangeKind::Physical) })
    }

    /// The lanes in which the state `y` lies outside the data of the model.
    #[inline(always)]
    pub(super) fn outside(&self, y: &[L]) -> L::Mask {
        beyond(&self.data, y)
    }

    /// The lanes in which the state `y` can be no state.
    #[inline(always)]
    pub(super) fn impossible(&self, y: &[L]) -> L::Mask {
        beyond(&self.physical, y)
    }
}

#[inline(always)]
fn beyond<L: Lanes>(ranges: &[(usize, L, L)], y: &[L]) -> L::Mask {
    let mut beyond = L::from_bits(0);
    for &(i, lower, upper) in ranges {
        beyond = beyond | y[i].lt(lower) | y[i].gt(upper);
    }
    beyond
}
