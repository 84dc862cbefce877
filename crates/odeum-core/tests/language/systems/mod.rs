//! Systems that the tests of graphs, tapes and emitted text share.

use odeum_core::{Real, System};

/// Seven stars in a plane; y = (x, y, x', y'). Hairer, Nørsett & Wanner, Solving Ordinary
/// Differential Equations I, section II.10. The masses are 1 to 7.
pub(crate) struct Pleiades;

impl System for Pleiades {
    fn dim(&self) -> usize {
        28
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, _t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        for i in 0..14 {
            dydt[i] = y[14 + i];
            dydt[14 + i] = R::lit(0.0);
        }
        for i in 0..7 {
            for j in 0..i {
                let (dx, dy) = (y[j] - y[i], y[7 + j] - y[7 + i]);
                let r = (dx * dx + dy * dy).rsqrt();
                let r3 = r * r * r;
                let (to_j, to_i) = (R::lit(j as f64 + 1.0) * r3, R::lit(i as f64 + 1.0) * r3);
                dydt[14 + i] = dydt[14 + i] + to_j * dx;
                dydt[21 + i] = dydt[21 + i] + to_j * dy;
                dydt[14 + j] = dydt[14 + j] - to_i * dx;
                dydt[21 + j] = dydt[21 + j] - to_i * dy;
            }
        }
    }
}

impl Pleiades {
    pub(crate) const START: [f64; 28] = [
        3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0, 3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0, 0.0, 0.0, 0.0,
        0.0, 0.0, 1.75, -1.5, 0.0, 0.0, 0.0, -1.25, 1.0, 0.0, 0.0,
    ];
}

/// Every operation once or more, with time, parameters and a spectral radius.
pub(crate) struct Everything;

impl System for Everything {
    fn dim(&self) -> usize {
        6
    }

    fn n_params(&self) -> usize {
        3
    }

    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let small = (y[0] * p[0]).sin() * R::lit(0.4);
        let positive = R::lit(0.5) + y[1] * y[1];
        dydt[0] = small.asin() + small.acos() - small.atan() + small.tan() * small.cos();
        dydt[1] = small.sinh() * small.cosh() - small.tanh() / positive.cbrt() + t.exp();
        dydt[2] = positive.ln() + positive.powf(p[1]) - positive.rsqrt() * positive.sqrt();
        dydt[3] = y[2].powi(3) - positive.powi(-5) + y[3].floor() * y[3].abs() + y[2].recip();
        let inside = (y[2].lt(p[2]) & !y[3].le(y[4])) | y[4].eq(y[5]);
        dydt[4] = R::select(inside, y[4] * t + y[5], y[4] - y[5] * t);
        dydt[5] = y[4].min(y[5]) * y[0].max(y[3]) - y[5].mul_add(y[1], -p[0]) + R::lit(0.1);
    }

    #[inline(always)]
    fn spectral_radius<R: Real>(&self, t: R, y: &[R], p: &[R]) -> Option<R> {
        Some((y[0] * p[0]).abs() + t)
    }
}

impl Everything {
    /// Points on both sides of every choice, and with NaN in every place.
    pub(crate) fn points() -> Vec<(f64, [f64; 6], [f64; 3])> {
        let base = (0.7, [0.3, -0.8, 1.2, 2.6, -0.9, 0.4], [1.3, 0.7, 2.0]);
        let mut points = vec![base];
        for k in 0..6 {
            for value in [f64::NAN, 0.0, -3.7, 5.2] {
                let mut moved = base;
                moved.1[k] = value;
                points.push(moved);
            }
        }
        let mut equal = base;
        equal.1[5] = equal.1[4];
        points.push(equal);
        points.push((f64::NAN, base.1, base.2));
        points.push((0.1, base.1, [f64::NAN; 3]));
        points
    }
}

/// Equal bits, or NaN both.
pub(crate) fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}
