//! Watches whether states stay where the model holds.

use odeum_core::{Lanes, RangeKind, ValidRange};

/// Absolute tolerances by which a component may lie beyond its physical bounds at the end.
pub(crate) const MARGIN: f64 = 100.0;

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
