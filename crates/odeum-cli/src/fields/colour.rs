//! Colours of numbers.

use super::canvas::Colour;
use odeum_case::Colours;

const SPOILED: Colour = [255, 0, 255];

/// The colours of a range of numbers.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    colours: Colours,
    /// What is drawn of it.
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Scale {
    /// Of a range that is given, else of one that values have; around zero where the colours are.
    pub(super) fn new(colours: Colours, given: Option<(f64, f64)>, has: (f64, f64)) -> Scale {
        let (low, high) = given.unwrap_or_else(|| match colours {
            Colours::Diverging => {
                let most = has.0.abs().max(has.1.abs());
                (-most, most)
            }
            _ => has,
        });
        Scale { colours, low, high }
    }

    /// The colour of a number; that of the nearer end beyond the range.
    pub(super) fn colour(&self, x: f64) -> Colour {
        let Scale { low, high, .. } = *self;
        let (first, last) = match self.colours {
            // As far on either side: the same colour is as far from zero.
            Colours::Diverging => {
                let most = low.abs().max(high.abs());
                (-most, most)
            }
            _ => (low, high),
        };
        // A number as such is not spoiled where all are the same.
        let x = if x.is_nan() { x } else { x.max(low).min(high) };
        let fraction = if last > first || x.is_nan() {
            (x / 2.0 - first / 2.0) / (last / 2.0 - first / 2.0)
        } else {
            0.5
        };
        colour(self.colours, fraction)
    }
}

/// The colour of a fraction of the range, from 0 to 1.
fn colour(colours: Colours, fraction: f64) -> Colour {
    if fraction.is_nan() {
        return SPOILED;
    }
    let fraction = fraction.clamp(0.0, 1.0);
    let colour = match colours {
        Colours::Viridis => colorous::VIRIDIS.eval_continuous(fraction),
        Colours::Magma => colorous::MAGMA.eval_continuous(fraction),
        Colours::Cividis => colorous::CIVIDIS.eval_continuous(fraction),
        // Blue below zero, red above.
        Colours::Diverging => colorous::RED_BLUE.eval_continuous(1.0 - fraction),
    };
    [colour.r, colour.g, colour.b]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diverging_colours_turn_at_zero() {
        for scale in [
            Scale::new(Colours::Diverging, None, (-0.5, 2.0)),
            Scale::new(Colours::Diverging, Some((-1.0, 2.0)), (-9.0, 9.0)),
        ] {
            let zero = scale.colour(0.0);
            assert!(zero.iter().all(|c| *c > 230), "{zero:?}");
            let ([r, _, b], [red, _, blue]) = (scale.colour(-0.4), scale.colour(0.4));
            assert!(b > r && red > blue);
        }
        let given = Scale::new(Colours::Diverging, Some((-1.0, 2.0)), (0.0, 0.0));
        assert_eq!(given.colour(-7.0), given.colour(-1.0));
    }

    #[test]
    fn what_is_no_number_is_seen() {
        let scale = Scale::new(Colours::Viridis, None, (0.0, 1.0));
        assert_eq!(scale.colour(f64::NAN), SPOILED);
        let one = Scale::new(Colours::Viridis, None, (3.0, 3.0));
        assert!(one.colour(3.0) != SPOILED && one.colour(f64::NAN) == SPOILED);
    }
}
