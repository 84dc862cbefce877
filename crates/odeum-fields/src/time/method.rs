//! How a field is advanced in time.

use odeum_ode::method::rkc::recurrence::STABILITY;
use odeum_ode::{Error, Norm, Tolerance};

/// An explicit method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Forward Euler, of order 1; two fields of memory. At D Δt/h² = 1/6 with the isotropic
    /// stencil the leading errors of time and space cancel for pure diffusion: order 4 in h.
    #[default]
    Euler,
    /// Strong-stability-preserving Runge–Kutta of three stages and order 3; three fields of memory.
    /// What forward Euler bounds in steps of some size, in whatever norm, it bounds too: it makes no new
    /// extremum where forward Euler makes none. It is stable for larger steps where eigenvalues lie
    /// off the real axis. Made for velocities.
    /// Shu & Osher, J. Comput. Phys. 77 (1988) 439–471, eq. 2.18.
    Ssprk3,
    /// Runge–Kutta–Chebyshev of order 2 ([`odeum_ode::method::rkc`]): with s stages stable to
    /// (s² − 1)/1.54 over the spectral radius where eigenvalues are real; four fields of memory.
    Rkc {
        /// Stages of a step, from 2 to 400; by default as many as the step needs.
        stages: Option<u32>,
    },
    /// Runge–Kutta–Legendre of order 2, stable to (s² + s − 2)/2 over the spectral radius without
    /// damping, and monotone; four fields of memory. Meyer, Balsara & Aslam, J. Comput. Phys. 257
    /// (2014) 594–626.
    Rkl2 {
        /// Stages of a step, from 2 to 400; by default as many as the step needs, an odd number.
        stages: Option<u32>,
    },
}

/// How large steps are.
#[derive(Clone, Debug, PartialEq)]
pub enum Steps {
    /// Always this size \[time\]; the last one before a time asked for may be shorter.
    Fixed(f64),
    /// This fraction of the [usual step](crate::Stability::usual_step), which is judged again while the
    /// field changes: steps become shorter, or longer again. At most 1 unless steps are
    /// [forced](crate::Options::force).
    Fraction(f64),
    /// As large as a tolerance of the local error allows, one absolute tolerance per species, in the
    /// [weighted RMS norm](Norm::WeightedRms). [`Method::Rkc`] only.
    Adaptive(Tolerance),
}

/// The spectral radius is that of a sample of cells: it is taken for this much larger.
pub(crate) const MARGIN: f64 = 1.05;

/// Where 1 + z + z²/2 + z³/6 = −1, but for the sign.
const REACH_OF_SSPRK3: f64 = 2.512_745_326_618_329;

impl Method {
    /// The most stages a step may have: rounding errors grow with their square.
    pub const MOST_STAGES: u32 = 400;

    /// As case files call it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Euler => "euler",
            Method::Ssprk3 => "ssprk3",
            Method::Rkc { .. } => "rkc",
            Method::Rkl2 { .. } => "rkl2",
        }
    }

    /// Fields that a simulation needs at once in memory.
    pub fn fields(self) -> usize {
        match self {
            Method::Euler => 2,
            Method::Ssprk3 => 3,
            Method::Rkc { .. } | Method::Rkl2 { .. } => 4,
        }
    }

    /// Of a stabilised method the stages asked for, `Some(None)` where a step has as many as it needs; `None` of others.
    pub fn stages_asked(self) -> Option<Option<u32>> {
        match self {
            Method::Euler | Method::Ssprk3 => None,
            Method::Rkc { stages } | Method::Rkl2 { stages } => Some(stages),
        }
    }

    /// Refuses what has no meaning.
    pub(crate) fn check(self, steps: &Steps) -> Result<(), Error> {
        if let Some(Some(stages)) = self.stages_asked()
            && !(2..=Method::MOST_STAGES).contains(&stages)
        {
            let remedy = format!("must lie between 2 and {}", Method::MOST_STAGES);
            return Err(Error::input("stages", stages, remedy));
        }
        match (self, steps) {
            (_, Steps::Fixed(h)) if !(*h > 0.0 && h.is_finite()) => {
                Err(Error::input("step", h, "must be positive and finite"))
            }
            (_, Steps::Fraction(fraction)) if !(*fraction > 0.0 && fraction.is_finite()) => {
                Err(Error::input("fraction", fraction, "must be positive and finite"))
            }
            (Method::Rkc { .. }, Steps::Adaptive(tolerance))
                if tolerance.norm != Norm::WeightedRms =>
            {
                Err(Error::input(
                    "norm",
                    "state-and-rate",
                    "fields have the weighted RMS norm alone",
                ))
            }
            (Method::Rkc { .. }, _) | (_, Steps::Fixed(_) | Steps::Fraction(_)) => Ok(()),
            _ => Err(Error::input("steps", "adaptive", "only rkc estimates its error")),
        }
    }

    /// How far along the negative real axis a method with so many stages is stable.
    pub(crate) fn reach(self, stages: u32) -> f64 {
        let s = f64::from(stages);
        match self {
            Method::Euler => 2.0,
            Method::Ssprk3 => REACH_OF_SSPRK3,
            Method::Rkc { .. } => (s * s - 1.0) / STABILITY,
            Method::Rkl2 { .. } => (s * s + s - 2.0) / 2.0,
        }
    }

    /// The longest step for a spectral radius \[time\], with the stages asked for, or as many as there may be.
    pub(crate) fn reach_of(self, radius: f64) -> f64 {
        let stages = match self {
            Method::Euler => 1,
            Method::Ssprk3 => 3,
            Method::Rkc { stages } | Method::Rkl2 { stages } => {
                stages.unwrap_or(Method::MOST_STAGES)
            }
        };
        self.reach(stages) / radius
    }

    /// This method with so many stages, where they can be chosen.
    pub(crate) fn of_stages(self, stages: u32) -> Method {
        match self {
            Method::Rkc { .. } => Method::Rkc { stages: Some(stages) },
            Method::Rkl2 { .. } => Method::Rkl2 { stages: Some(stages) },
            other => other,
        }
    }

    /// Whether steps have as many stages as the spectral radius asks for.
    pub(crate) fn chooses_stages(self) -> bool {
        self.stages_asked() == Some(None)
    }

    /// The stages that a step of size `h` needs, or those asked for.
    pub(crate) fn stages(self, h: f64, radius: f64) -> u32 {
        let z = h * radius * MARGIN;
        let (asked, needed) = match self {
            Method::Euler => return 1,
            Method::Ssprk3 => return 3,
            Method::Rkc { stages } => (stages, 1.0 + (STABILITY * z + 1.0).sqrt().floor()),
            Method::Rkl2 { stages } => {
                let s = ((9.0 + 8.0 * z).sqrt() - 1.0) / 2.0;
                // Odd numbers damp the shortest waves better.
                (stages, (s.ceil() + 1.0 - s.ceil() % 2.0).max(3.0))
            }
        };
        asked.unwrap_or((needed as u32).clamp(2, Method::MOST_STAGES))
    }
}
