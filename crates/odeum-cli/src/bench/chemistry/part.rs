//! Parts of a study.

/// A part of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All methods at the papers' tolerance.
    Methods,
    /// The same from states that react.
    Reactive,
    /// Work and precision over tolerances.
    Tolerances,
    /// From few reactors to many.
    Sizes,
    /// Random and sorted order.
    Orders,
    /// Exact Jacobians, differences, and the approximate one.
    Jacobians,
    /// Fixed steps, smaller and smaller.
    Convergence,
    /// What a step consists of.
    Parts,
    /// First calls and later ones.
    Calls,
}

impl Part {
    const OF_CHEMISTRY: [Part; 9] = [
        Part::Calls,
        Part::Methods,
        Part::Tolerances,
        Part::Sizes,
        Part::Orders,
        Part::Jacobians,
        Part::Convergence,
        Part::Reactive,
        Part::Parts,
    ];
    const OF_ETHANOL: [Part; 3] = [Part::Methods, Part::Tolerances, Part::Sizes];

    /// Those of a study, as far as they are measured there.
    pub(super) fn of(along_ignition: bool, on_gpu: bool) -> Vec<Part> {
        let all = if along_ignition { &Part::OF_ETHANOL[..] } else { &Part::OF_CHEMISTRY };
        all.iter().copied().filter(|part| on_gpu || !part.is_on_gpus_alone()).collect()
    }

    /// Whether a CPU has nothing like it.
    pub(super) fn is_on_gpus_alone(self) -> bool {
        matches!(self, Part::Parts | Part::Calls)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Methods => "methods",
            Part::Reactive => "reactive",
            Part::Tolerances => "tolerances",
            Part::Sizes => "sizes",
            Part::Orders => "orders",
            Part::Jacobians => "jacobians",
            Part::Convergence => "convergence",
            Part::Parts => "parts",
            Part::Calls => "calls",
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Part::Methods => "All methods at rtol 1e-6, atol 1e-10",
            Part::Reactive => {
                "The same, from the states whose temperature changes by more than 1e5 K/s"
            }
            Part::Tolerances => "Work and precision: rtol varied, atol = 1e-4 rtol",
            Part::Sizes => "From few reactors to many",
            Part::Orders => "Random order, and sorted by temperature",
            Part::Jacobians => "Exact Jacobian, by finite differences, and approximate",
            Part::Convergence => "Steps of one size",
            Part::Parts => "Parts of a step of rodas4, by kernels that do nothing else",
            Part::Calls => {
                "First calls, in which the kernel is planned, compiled or found in the cache, and loaded"
            }
        }
    }

    /// Whether it is measured over global steps of this size \[s\]: what has steps of one size, or does not depend on them, over short ones
    /// alone.
    pub(super) fn is_over(self, dt: f64) -> bool {
        !matches!(self, Part::Convergence | Part::Parts | Part::Calls) || dt < 1e-5
    }
}
