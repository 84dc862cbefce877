//! Seven stars in a plane.

use super::{Builtin, Problem, fixed, fixed_mut, references};
use odeum_core::{Real, System};

const STARS: usize = 7;

/// Seven stars in a plane, of mass j the j-th, under their mutual gravity:
/// xᵢ'' = Σⱼ mⱼ (xⱼ − xᵢ)/rᵢⱼ³ and the same for y, with rᵢⱼ² = (xᵢ − xⱼ)² + (yᵢ − yⱼ)².
/// State: x₁…x₇, y₁…y₇, and their velocities in the same order.
///
/// Hairer, Nørsett & Wanner, *Solving ODEs I*, eqs. II.10.2 and II.10.3; Niemeyer & Sung 2014,
/// eqs. 34–38 (their eq. 37 lacks the square of the difference in y).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pleiades;

impl Pleiades {
    /// The problem in its usual form. Niemeyer & Sung integrate to t = 1, in ten segments.
    pub fn problem() -> Problem {
        Problem {
            name: "pleiades",
            title: "Pleiades",
            about: "Not stiff, but with close encounters of the stars: the step must shrink and \
                    grow again. Each right-hand side costs 21 distances.",
            source: "Hairer, Nørsett & Wanner, Solving ODEs I, 2nd ed. (1993), eqs. II.10.2 and \
                     II.10.3; Niemeyer & Sung (2014), sec. 5.1",
            method: "rkck",
            y0: vec![
                3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0, // x
                3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0, // y
                0.0, 0.0, 0.0, 0.0, 0.0, 1.75, -1.5, // vx
                0.0, 0.0, 0.0, -1.25, 1.0, 0.0, 0.0, // vy
            ],
            params: vec![],
            span: (0.0, 3.0),
            references: references::PLEIADES,
            system: Builtin::Pleiades(Pleiades),
        }
    }
}

impl System for Pleiades {
    fn dim(&self) -> usize {
        28
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        let y = fixed::<28, R>(y);
        let dydt = fixed_mut::<28, R>(dydt);
        let mut ax = [R::lit(0.0); STARS];
        let mut ay = [R::lit(0.0); STARS];
        // Each pair once: the pull on one star is the opposite of that on the other.
        for i in 0..STARS {
            for j in i + 1..STARS {
                let dx = y[j] - y[i];
                let dy = y[STARS + j] - y[STARS + i];
                let inverse = dx.mul_add(dx, dy * dy).rsqrt();
                let inverse_cubed = inverse * inverse * inverse;
                let (gx, gy) = (dx * inverse_cubed, dy * inverse_cubed);
                let (mass_i, mass_j) = (R::lit((i + 1) as f64), R::lit((j + 1) as f64));
                ax[i] = mass_j.mul_add(gx, ax[i]);
                ay[i] = mass_j.mul_add(gy, ay[i]);
                ax[j] = (-mass_i).mul_add(gx, ax[j]);
                ay[j] = (-mass_i).mul_add(gy, ay[j]);
            }
        }
        for i in 0..STARS {
            dydt[i] = y[2 * STARS + i];
            dydt[STARS + i] = y[3 * STARS + i];
            dydt[2 * STARS + i] = ax[i];
            dydt[3 * STARS + i] = ay[i];
        }
    }

    fn state_names(&self) -> Vec<String> {
        ["x", "y", "vx", "vy"]
            .iter()
            .flat_map(|coordinate| (1..=STARS).map(move |star| format!("{coordinate}{star}")))
            .collect()
    }
}
