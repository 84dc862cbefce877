//! What all pictures have alike: the colours of lines, the box that names them, and axes.

use plotters::chart::{ChartContext, SeriesLabelPosition};
use plotters::coord::CoordTranslate;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{Color, DrawingAreaErrorKind, DrawingBackend, RGBColor, WHITE};
use std::ops::Range;

/// Colours that stay apart for the colour-blind (Okabe & Ito).
pub const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// An axis. A logarithmic one has ticks also where its range holds no power of ten.
pub struct Axis {
    range: Range<f64>,
    is_logarithmic: bool,
}

/// Fewest ticks of an axis, where there are as many to choose from.
const FEWEST: usize = 3;

impl Axis {
    /// Over a range, of positive numbers where it is logarithmic.
    pub fn new(range: Range<f64>, is_logarithmic: bool) -> Axis {
        Axis { range, is_logarithmic }
    }

    fn place(&self, value: f64) -> f64 {
        if self.is_logarithmic { value.ln() } else { value }
    }

    /// These digits times all powers of ten that lie on the axis.
    fn multiples(&self, digits: &[u8]) -> Vec<f64> {
        let Range { start, end } = self.range;
        let [low, high] = [start.log10().floor(), end.log10().ceil()];
        let powers = low.max(-324.0) as i32..=high.min(308.0) as i32;
        let all = powers.flat_map(|power| digits.iter().map(move |digit| (digit, power)));
        // As it is written, a number is the nearest; a power of ten may be beyond numbers.
        let values = all.filter_map(|(digit, power)| format!("{digit}e{power}").parse().ok());
        values.filter(|value| (start..=end).contains(value)).collect()
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let [from, to, at] = [self.range.start, self.range.end, *value].map(|x| self.place(x));
        limit.0 + ((at - from) / (to - from) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if self.is_logarithmic {
            let most = hint.max_num_points().max(1);
            for digits in [&[1][..], &[1, 2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9]] {
                let ticks = self.multiples(digits);
                if ticks.len() >= FEWEST {
                    return ticks.iter().copied().step_by(ticks.len().div_ceil(most)).collect();
                }
            }
        }
        RangedCoordf64::from(self.range.clone()).key_points(hint)
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Draws the box that names the series.
pub fn legend<'a, B, C>(
    chart: &mut ChartContext<'a, B, C>,
    position: SeriesLabelPosition,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>>
where
    B: DrawingBackend + 'a,
    C: CoordTranslate,
{
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font(("sans-serif", 14))
        .draw()
}

/// A title in one line, of characters that an SVG file can hold; it is escaped as it is drawn.
pub fn title(text: &str) -> String {
    let known = text.chars().map(|c| match c {
        c if c.is_whitespace() => ' ',
        c if is_xml(c) => c,
        _ => char::REPLACEMENT_CHARACTER,
    });
    known.collect::<String>().trim().to_owned()
}

/// Whether XML has a character, white space aside, however it is written (XML 1.0, section 2.2).
pub(crate) fn is_xml(c: char) -> bool {
    c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_axes_have_ticks() {
        let ticks = |range: Range<f64>| Axis::new(range, true).key_points(10);
        assert_eq!(ticks(1e-7..1e-3), [1e-7, 1e-6, 1e-5, 1e-4, 1e-3]);
        assert_eq!(ticks(1e-9..2e3).len(), 7);
        assert_eq!(ticks(0.9e-3..1.2e-2), [1e-3, 2e-3, 5e-3, 1e-2]);
        assert_eq!(ticks(2.5e-5..8.3e-5), [3e-5, 4e-5, 5e-5, 6e-5, 7e-5, 8e-5]);
        assert!(ticks(3.81e-5..3.85e-5).len() >= FEWEST);
        assert_eq!(Axis::new(1.0..100.0, true).map(&10.0, (0, 400)), 200);
        assert_eq!(Axis::new(1.0..3.0, false).map(&2.0, (400, 0)), 200);
    }

    #[test]
    fn titles_have_one_line_and_no_control_characters() {
        assert_eq!(title("a <b\n\tc\u{0}>\n"), "a <b  c\u{fffd}>");
    }
}
