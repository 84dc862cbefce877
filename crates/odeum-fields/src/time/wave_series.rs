//! Waves of which each is shorter than the one before by the same factor, and the search for the fastest among them.
//!
//! On fine grids what grows may be far longer than all waves that are even parts of the shortest.

use crate::time::linearised::Wave;

/// Evaluations that find a maximum between three waves to a percent of their distance.
const EVALUATIONS: usize = 12;

/// Waves by a number that rises from that of the longest by the same factor from one to the next: a geometric series.
pub(super) struct WaveSeries<'a> {
    pub(super) of: Box<dyn Fn(f64) -> Wave + 'a>,
    pub(super) numbers: Vec<f64>,
    pub(super) waves: Vec<Wave>,
}

impl<'a> WaveSeries<'a> {
    pub(super) fn new(
        between: (f64, f64),
        ratio: f64,
        of: Box<dyn Fn(f64) -> Wave + 'a>,
    ) -> WaveSeries<'a> {
        let count = points(between, ratio);
        let (from, to) = between;
        let number = |k: usize| from * (to / from).powf(k as f64 / (count - 1) as f64);
        let numbers: Vec<f64> = (0..count).map(number).collect();
        let waves = numbers.iter().map(|number| of(*number)).collect();
        WaveSeries { of, numbers, waves }
    }
}

/// How many numbers between two follow one another by at most this factor; none where the first is not less.
pub(super) fn points((from, to): (f64, f64), ratio: f64) -> usize {
    if from < to { ((to / from).ln() / ratio.ln()).ceil() as usize + 1 } else { 0 }
}

/// Looks for the largest value of a function between two numbers, by the golden section of their logarithms.
pub(super) fn golden_section_max((low, high): (f64, f64), mut f: impl FnMut(f64) -> f64) {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (low.ln(), high.ln());
    let mut at = |x: f64| (x, f(x.exp()));
    let mut left = at(high - golden * (high - low));
    let mut right = at(low + golden * (high - low));
    for _ in 2..EVALUATIONS {
        if left.1 > right.1 {
            (high, right) = (right.0, left);
            left = at(high - golden * (high - low));
        } else {
            (low, left) = (left.0, right);
            right = at(low + golden * (high - low));
        }
    }
}
