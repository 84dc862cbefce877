//! The φ functions of a number.
//!
//! φ₀(z) = exp z and φₖ(z) = ∫₀¹ exp((1 − x) z) xᵏ⁻¹/(k − 1)! dx = Σ zʲ/(j + k)!, hence
//! φₖ₊₁(z) = (φₖ(z) − 1/k!)/z.

/// Below this the series is summed; above, the recurrence loses next to nothing.
const SMALL: f64 = 2.0;
/// Terms of the series: z³⁰/30! is 4e-24 at most.
const TERMS: u32 = 30;

/// φₖ(z).
pub(super) fn phi(k: u32, z: f64) -> f64 {
    if z.abs() < SMALL {
        return series(k, z);
    }
    let (mut value, mut factorial) = (z.exp(), 1.0);
    for j in 0..k {
        factorial *= f64::from(j.max(1));
        value = (value - 1.0 / factorial) / z;
    }
    value
}

fn series(k: u32, z: f64) -> f64 {
    let mut sum = 1.0;
    for j in (1..=TERMS).rev() {
        sum = 1.0 + sum * z / f64::from(j + k);
    }
    sum / (1..=k).map(f64::from).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::phi;

    /// Values by mpmath 1.3.0 with 40 digits, from φₖ(z) = ₁F₁(1; k + 1; z)/k!.
    #[test]
    fn agree_with_multiprecision() {
        let values = [
            (0.0, [1.0, 0.5, 0.16666666666667, 0.041666666666667]),
            (1e-09, [1.0000000005, 0.50000000016667, 0.16666666670833, 0.041666666675]),
            (-0.3, [0.86393926439427, 0.45353578535242, 0.15488071549193, 0.039286503915786]),
            (1.0, [1.718281828459, 0.71828182845905, 0.21828182845905, 0.051615161792379]),
            (1.49, [2.3067755161098, 0.87703054772473, 0.25304063605686, 0.057969106973286]),
            (-1.51, [0.51595365698054, 0.32056049206586, 0.11883411121466, 0.031677189041065]),
            (2.5, [4.4729975842814, 1.3891990337126, 0.35567961348502, 0.075605178727342]),
            (-7.0, [0.14272687400492, 0.12246758942787, 0.053933201510305, 0.016104780736623]),
            (-40.0, [0.025, 0.024375, 0.011890625, 0.0038694010416667]),
            (-10000.0, [0.0001, 9.999e-05, 4.9990001e-05, 1.6661667666567e-05]),
            (
                -300000000000.0,
                [3.3333333333333e-12, 3.3333333333222e-12, 1.6666666666556e-12, 5.5555555555e-13],
            ),
        ];
        for (z, exact) in values {
            for (k, exact) in (1..).zip(exact) {
                let found = phi(k, z);
                assert!((found / exact - 1.0).abs() < 1e-13, "φ{k}({z}): {found} {exact}");
            }
        }
    }
}
