//! Where a model means something.

/// The values of a component for which a model holds.
///
/// Solvers look at every accepted state. A value outside a range of data is counted
/// (`Stats::outside`); a value beyond a physical bound at the end of the integration, by far more
/// than its tolerance, is no success (`Status::OutsideBounds`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidRange {
    /// Number of the component.
    pub component: usize,
    /// Least value [units of the component]; −∞ where there is none.
    pub lower: f64,
    /// Largest value [units of the component]; +∞ where there is none.
    pub upper: f64,
    /// What lies outside.
    pub kind: RangeKind,
}

/// What a range bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeKind {
    /// The data of the model, as temperatures for which polynomials were fitted: values outside
    /// are extrapolated.
    Data,
    /// What the component can be at all, as a concentration that is not negative.
    Physical,
}
