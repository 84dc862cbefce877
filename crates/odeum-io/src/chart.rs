//! What all pictures have alike: the colours of lines, and the box that names them.

use plotters::chart::{ChartContext, SeriesLabelPosition};
use plotters::coord::CoordTranslate;
use plotters::prelude::{Color, DrawingAreaErrorKind, DrawingBackend, RGBColor, WHITE};

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
    fn titles_have_one_line_and_no_control_characters() {
        assert_eq!(title("a <b\n\tc\u{0}>\n"), "a <b  c\u{fffd}>");
    }
}
