//! The coefficients of the exponential methods.

use super::tableau::{Tableau, Term};

const fn phi(k: u32, weight: f64) -> Term {
    Term { k, scale: 1.0, weight }
}

const fn at(scale: f64, weight: f64) -> Term {
    Term { k: 1, scale, weight }
}

const THIRD: f64 = 1.0 / 3.0;
const TWO_THIRDS: f64 = 2.0 / 3.0;

/// exprb43 of Hochbruck, Ostermann & Schweitzer: stiff order 4 for autonomous problems, an embedded
/// method of order 3.
pub static EXPRB43: Tableau = Tableau {
    name: "exprb43",
    order: 4,
    embedded_order: 3,
    c: &[0.0, 0.5, 1.0],
    a: &[&[], &[&[at(0.5, 0.5)]], &[&[phi(1, 1.0)], &[phi(1, 1.0)]]],
    b: &[&[phi(1, 1.0)], &[phi(3, 16.0), phi(4, -48.0)], &[phi(3, -2.0), phi(4, 12.0)]],
    e: &[&[], &[phi(4, -48.0)], &[phi(4, 12.0)]],
    reference: "Hochbruck, Ostermann & Schweitzer, SIAM J. Numer. Anal. 47 (2009) 786; \
                Hochbruck & Ostermann, Acta Numerica 19 (2010) 209, sec. 2.4",
};

/// exp4 of Hochbruck, Lubich & Selhofer, with their vectors k₁…k₃, k₄…k₆ and k₇ as one
/// function each of f, D₂ and D₃, and the embedded method of order 3. (Their second estimate, by a
/// W-method of order 2, is not used: the smaller of two estimates hides what one of them sees.)
pub static EXP4: Tableau = Tableau {
    name: "exp4",
    order: 4,
    embedded_order: 3,
    c: &[0.0, 0.5, 1.0],
    a: &[
        &[],
        &[&[at(THIRD, -7.0 / 300.0), at(TWO_THIRDS, 97.0 / 150.0), at(1.0, -37.0 / 300.0)]],
        &[
            &[at(THIRD, 59.0 / 300.0), at(TWO_THIRDS, -7.0 / 75.0), at(1.0, 269.0 / 300.0)],
            &[at(THIRD, TWO_THIRDS), at(TWO_THIRDS, TWO_THIRDS), at(1.0, TWO_THIRDS)],
        ],
    ],
    b: &[
        &[at(1.0, 1.0)],
        &[at(THIRD, 1.0), at(TWO_THIRDS, -4.0 / 3.0), at(1.0, 1.0)],
        &[at(THIRD, 1.0 / 6.0)],
    ],
    e: &[&[], &[at(THIRD, 1.5), at(TWO_THIRDS, -TWO_THIRDS), at(1.0, 0.5)], &[at(THIRD, -THIRD)]],
    reference: "Hochbruck, Lubich & Selhofer, SIAM J. Sci. Comput. 19 (1998) 1552, sec. 5",
};

/// Every exponential method.
pub static ALL: [&Tableau; 2] = [&EXP4, &EXPRB43];

#[cfg(test)]
mod tests {
    use super::super::phi::phi;
    use super::super::tableau::Function;
    use super::*;

    fn value(function: Function, z: f64) -> f64 {
        function.iter().map(|t| t.weight * phi(t.k, t.scale * z)).sum()
    }

    /// The stiff order conditions up to order 4: Hochbruck & Ostermann 2010, sec. 2.4.
    #[test]
    fn exprb43_meets_the_stiff_order_conditions() {
        let m = &EXPRB43;
        for z in [0.0, 0.7, -0.3, -5.0, -1e4] {
            let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-14, "{x} {y} at {z}");
            near(value(m.b[0], z), phi(1, z));
            let moment = |b: &[Function], p: i32| -> f64 {
                (1..3).map(|i| value(b[i], z) * m.c[i].powi(p)).sum()
            };
            near(moment(m.b, 2), 2.0 * phi(3, z));
            near(moment(m.b, 3), 6.0 * phi(4, z));
            // The embedded method is of order 3.
            near(moment(m.e, 2), 0.0);
            near(value(m.a[1][0], z), 0.5 * phi(1, 0.5 * z));
            near(value(m.a[2][0], z), phi(1, z));
        }
    }

    /// Without stiffness (z = 0) the moments are those of any method of order 4, and stages lie
    /// where their times say.
    #[test]
    fn moments_without_stiffness() {
        for m in ALL {
            let moment = |b: &[Function], p: i32| -> f64 {
                (0..3).map(|i| value(b[i], 0.0) * if i == 0 { 0.0 } else { m.c[i].powi(p) }).sum()
            };
            let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-14, "{}: {x} {y}", m.name);
            near(value(m.b[0], 0.0), 1.0);
            near(moment(m.b, 2), 1.0 / 3.0);
            near(moment(m.b, 3), 1.0 / 4.0);
            near(moment(m.e, 2), 0.0);
            for i in 1..3 {
                near(value(m.a[i][0], 0.0), m.c[i]);
            }
            // The stepper gives the second stage for the middle of a step.
            assert_eq!(m.c[1], 0.5);
        }
    }
}
