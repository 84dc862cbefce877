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
