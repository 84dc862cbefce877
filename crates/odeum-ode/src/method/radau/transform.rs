//! The coefficients of Radau IIA and the transformation that splits its Newton systems.
//!
//! Hairer & Wanner II, eqs. IV.8.4–8.6 and 8.19; T and T⁻¹ as in RADAU5, 20 digits there.

/// √6.
const ROOT: f64 = 2.449_489_742_783_178;

/// The stage times.
pub(super) const C: [f64; 3] = [(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0];

/// The real eigenvalue of A⁻¹, and the complex one above the axis.
pub(super) const GAMMA: f64 = 3.637_834_252_744_496;
pub(super) const ALPHA: f64 = 2.681_082_873_627_752;
pub(super) const BETA: f64 = 3.050_430_199_247_410_5;

/// Weights of the error estimate: −(13 + 7√6)/3, (−13 + 7√6)/3, −1/3.
pub(super) const ERROR: [f64; 3] =
    [-(13.0 + 7.0 * ROOT) / 3.0, (-13.0 + 7.0 * ROOT) / 3.0, -1.0 / 3.0];

/// Weights of h times the slope of the collocation polynomial at the end of a step; at its start they are those of the error estimate,
/// negated.
pub(super) const END_SLOPE: [f64; 3] = [(-3.0 + 8.0 * ROOT) / 3.0, (-3.0 - 8.0 * ROOT) / 3.0, 5.0];

/// T: from the transformed increments to those of the stages.
pub(super) const T: [[f64; 3]; 3] = [
    [0.091_232_394_870_892_94, -0.141_255_295_020_954_2, -0.030_029_194_105_147_424],
    [0.241_717_932_707_107, 0.204_129_352_293_799_93, 0.382_942_112_757_261_9],
    [0.966_048_182_615_093, 1.0, 0.0],
];

/// T⁻¹.
pub(super) const T_INVERSE: [[f64; 3]; 3] = [
    [4.325_579_890_063_155, 0.339_199_251_815_809_87, 0.541_770_539_935_874_9],
    [-4.178_718_591_551_905, -0.327_682_820_761_062_4, 0.476_623_554_500_550_45],
    [-0.502_872_634_945_786_8, 2.571_926_949_855_605, -0.596_039_204_828_225],
];

#[cfg(test)]
mod tests {
    use super::*;

    type Matrix = [[f64; 3]; 3];

    fn product(a: &Matrix, b: &Matrix) -> Matrix {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum::<f64>())
        })
    }

    /// A of Radau IIA (Hairer & Wanner II, table IV.5.6).
    fn a() -> Matrix {
        let r = 6.0_f64.sqrt();
        [
            [(88.0 - 7.0 * r) / 360.0, (296.0 - 169.0 * r) / 1800.0, (-2.0 + 3.0 * r) / 225.0],
            [(296.0 + 169.0 * r) / 1800.0, (88.0 + 7.0 * r) / 360.0, (-2.0 - 3.0 * r) / 225.0],
            [(16.0 - r) / 36.0, (16.0 + r) / 36.0, 1.0 / 9.0],
        ]
    }

    fn assert_near(a: &Matrix, b: &Matrix) {
        for i in 0..3 {
            for j in 0..3 {
                assert!((a[i][j] - b[i][j]).abs() < 1e-14, "{i} {j}: {} {}", a[i][j], b[i][j]);
            }
        }
    }

    #[test]
    fn transformation_splits_the_inverse_of_a() {
        let blocks = [[GAMMA, 0.0, 0.0], [0.0, ALPHA, -BETA], [0.0, BETA, ALPHA]];
        let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert_near(&product(&T, &T_INVERSE), &unit);
        let inverse = product(&product(&T, &blocks), &T_INVERSE);
        assert_near(&product(&a(), &inverse), &unit);
    }

    #[test]
    fn collocation_holds() {
        for i in 0..3 {
            let sum: f64 = a()[i].iter().sum();
            assert!((sum - C[i]).abs() < 1e-15);
        }
    }

    #[test]
    fn slopes_are_those_of_cubics() {
        for (k, [start, end]) in [(1, [1.0, 1.0]), (2, [0.0, 2.0]), (3, [0.0, 3.0])] {
            let slope = |weights: [f64; 3]| -> f64 {
                weights.iter().zip(C).map(|(weight, c)| weight * c.powi(k)).sum()
            };
            assert!((slope(ERROR) + start).abs() < 1e-13 && (slope(END_SLOPE) - end).abs() < 1e-13);
        }
    }

    #[test]
    fn error_weights_are_those_of_the_embedded_formula() {
        // The embedded quadrature b̂₀ f(y) + Σ b̂ᵢ f(Yᵢ) with b̂₀ = 1/γ is of order 3, and
        // e = γ (b̂ − b) A⁻¹: hence 1/γ + Σᵢ (eA)ᵢ/γ = 0, and Σ (eA)ᵢcᵢᵏ = 0 for k = 1, 2.
        for (k, expected) in [(0, -1.0), (1, 0.0), (2, 0.0)] {
            let sum: f64 = (0..3)
                .map(|j| {
                    let weight: f64 = (0..3).map(|i| ERROR[i] * a()[i][j]).sum();
                    weight * C[j].powi(k)
                })
                .sum();
            assert!((sum - expected).abs() < 1e-13, "{k}: {sum}");
        }
    }
}
