//! How the integration of one system ended.

use std::fmt;

/// How the integration of one system ended; the same number on host and device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum Status {
    /// The end of the time span was reached with a finite state.
    Success = 0,
    /// The limit on step attempts was reached before the end.
    MaxSteps = 1,
    /// The error test kept failing until a step no longer changed the time.
    StepTooSmall = 2,
    /// The right-hand side kept giving NaN or infinity, however small the step.
    NonFinite = 3,
    /// The power method found no spectral radius (RKC).
    SpectralRadius = 4,
    /// The system was not integrated, or not to its end: the run was stopped.
    #[default]
    NotRun = 5,
    /// Newton's iteration kept failing, however small the step (Radau).
    NewtonDiverged = 6,
    /// The matrix of the method stayed singular, however small the step (Rosenbrock, Radau, exponential).
    SingularMatrix = 7,
    /// A component came to the level where the system was to end: a success too.
    TerminalEvent = 8,
    /// The start is NaN or infinite, or outside what the model takes: nothing was integrated.
    InvalidStart = 9,
    /// The end was reached, but a component lies beyond its physical bounds
    /// ([`System::ranges`](odeum_core::System::ranges)) by far more than its tolerance.
    OutsideBounds = 10,
    /// The limit on evaluations of the right-hand side was reached before the end.
    MaxEvaluations = 11,
    /// A perturbation grows faster than a step of fixed size can follow (Rosenbrock, Radau, exponential).
    GrowthUnresolved = 12,
}

impl Status {
    /// Every status, in the order of its number.
    pub const ALL: [Status; 13] = [
        Status::Success,
        Status::MaxSteps,
        Status::StepTooSmall,
        Status::NonFinite,
        Status::SpectralRadius,
        Status::NotRun,
        Status::NewtonDiverged,
        Status::SingularMatrix,
        Status::TerminalEvent,
        Status::InvalidStart,
        Status::OutsideBounds,
        Status::MaxEvaluations,
        Status::GrowthUnresolved,
    ];

    /// True for [`Status::Success`] and [`Status::TerminalEvent`].
    pub fn is_success(self) -> bool {
        matches!(self, Status::Success | Status::TerminalEvent)
    }

    /// The status of a number written by a device; `None` for a number that is none.
    pub fn from_number(number: u8) -> Option<Status> {
        Status::ALL.get(usize::from(number)).copied()
    }

    /// A word or two, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Status::Success => "success",
            Status::MaxSteps => "too many steps",
            Status::StepTooSmall => "step too small",
            Status::NonFinite => "non-finite",
            Status::SpectralRadius => "no spectral radius",
            Status::NotRun => "not run",
            Status::NewtonDiverged => "Newton diverged",
            Status::SingularMatrix => "singular matrix",
            Status::TerminalEvent => "terminal event",
            Status::InvalidStart => "invalid start",
            Status::OutsideBounds => "outside bounds",
            Status::MaxEvaluations => "too many evaluations",
            Status::GrowthUnresolved => "growth unresolved",
        }
    }

    /// Common causes and what to do about them.
    pub fn advice(self) -> &'static str {
        match self {
            Status::Success | Status::TerminalEvent => "nothing to do",
            Status::MaxSteps => {
                "raise max_steps if the span is long; if the steps are tiny the system is stiff \
                 for this method: use rodas5p, or loosen the tolerance"
            }
            Status::StepTooSmall => {
                "the solution blows up, has a jump or a kink near the time reached, or the \
                 tolerance is below what the precision can give: look at the right-hand side \
                 there, loosen rtol, use f64, and give an atol above zero to components that pass \
                 zero; of a mechanism, lower atol: radicals below it may have become negative"
            }
            Status::NonFinite => {
                "the right-hand side, or with an implicit method a derivative of it, gives NaN or \
                 infinity at the time reached: a logarithm or root of a negative number, a \
                 division by zero, the derivative of a root at zero, or a blow-up; or atol is zero, \
                 and a component that is zero too has no scale; look at the state there"
            }
            Status::SpectralRadius => {
                "the power method did not settle: a complex pair of eigenvalues, or two of opposite \
                 sign, does not suit rkc; give a bound of the spectral radius, or use rodas4, or \
                 where the system is not stiff dopri5"
            }
            Status::NotRun => "the run was stopped before this system: resume it",
            Status::NewtonDiverged => {
                "the right-hand side jumps or has a kink at the time reached, or its Jacobian is \
                 not its derivative: look at both there, or use a Rosenbrock method; steps of a \
                 given size may also be too long for the tolerance: take shorter ones"
            }
            Status::SingularMatrix => {
                "entries of the Jacobian are so large at the time reached that no step helps: \
                 look at the state and the Jacobian there; of steps of a given size take another \
                 size; on a GPU use a smaller rtol, for matrices in double precision"
            }
            Status::InvalidStart => {
                "correct the start of this system: it must be finite and lie where the model holds"
            }
            Status::OutsideBounds => {
                "the solution lies where the model has no meaning, such as a negative \
                 concentration: tighten rtol and atol"
            }
            Status::MaxEvaluations => {
                "raise max_evaluations if the work is meant; else the system is too stiff for this \
                 method: use rodas5p"
            }
            Status::GrowthUnresolved => {
                "perturbations grow faster than the fixed step can follow, so the result would \
                 miss an instability: take a smaller step, or steps by tolerance"
            }
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn numbers_and_order_agree() {
        for (number, status) in Status::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, number);
            assert_eq!(Status::from_number(number as u8), Some(status));
        }
        assert_eq!(Status::from_number(Status::ALL.len() as u8), None);
    }
}
