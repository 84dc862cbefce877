use super::super::Complex;
use super::super::testing::Noise;
use super::*;
use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Pattern};

/// A pattern of n equations in which each couples to some `per_row` others.
fn pattern(n: usize, per_row: usize, noise: &mut Noise) -> Pattern {
    let mut column = || ((noise.draw() + 1.0) * 0.5 * n as f64) as usize % n;
    let rows: Vec<Vec<usize>> = (0..n).map(|_| (0..per_row).map(|_| column()).collect()).collect();
    Pattern::from_rows(n, &rows)
}

/// The largest residual of σx − Jx = b over the size of its terms, in any lane.
struct Residual<'a>(&'a Pattern, u64);

impl LaneWork<f64> for Residual<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) -> (f64, f64) {
        let Residual(pattern, seed) = self;
        let mut noise = Noise(seed);
        let mut random = |count: usize| -> Vec<L> {
            let numbers = |_| {
                let lanes: Vec<f64> = (0..L::WIDTH).map(|_| noise.draw()).collect();
                L::load(&lanes)
            };
            (0..count).map(numbers).collect()
        };
        let n = pattern.rows();
        let symbolic = Symbolic::new(pattern);
        let jacobian = random(pattern.nnz());
        let (right, right_im) = (random(n), random(n));
        let shift = L::lit(2.0 + 0.5 * n as f64);

        let mut lu = Lu::<L, L>::new(&symbolic);
        let mut pivots = Pivots::<L>::none();
        L::outline(Factor {
            symbolic: &symbolic,
            lu: &mut lu,
            jacobian: &jacobian,
            shift,
            pivots: &mut pivots,
        });
        assert_eq!(L::bits(pivots.valid), L::bits(L::lit(0.0).eq(L::lit(0.0))));
        let mut x = right.clone();
        L::outline(Solve { symbolic: &symbolic, lu: &mut lu, x: &mut x });
        let mut product: Vec<L> = x.iter().map(|&x| x * shift).collect();
        for (e, (i, j)) in pattern.iter().enumerate() {
            product[i] = product[i] - jacobian[e] * x[j];
        }
        let mut worst = 0.0_f64;
        for i in 0..n {
            for l in 0..L::WIDTH {
                worst = worst.max((product[i] - right[i]).lane(l).abs());
            }
        }

        let shift = Complex { re: shift, im: L::lit(3.0) };
        let mut lu = Lu::<L, Complex<L>>::new(&symbolic);
        L::outline(Factor {
            symbolic: &symbolic,
            lu: &mut lu,
            jacobian: &jacobian,
            shift,
            pivots: &mut pivots,
        });
        let mut x: Vec<Complex<L>> =
            right.iter().zip(&right_im).map(|(&re, &im)| Complex { re, im }).collect();
        L::outline(Solve { symbolic: &symbolic, lu: &mut lu, x: &mut x });
        let mut product: Vec<Complex<L>> = x.iter().map(|&x| x.mul(shift)).collect();
        for (e, (i, j)) in pattern.iter().enumerate() {
            product[i] = product[i].minus_product(Complex::real(jacobian[e]), x[j]);
        }
        let mut worst_complex = 0.0_f64;
        for i in 0..n {
            let wrong = (product[i].re - right[i]).abs() + (product[i].im - right_im[i]).abs();
            for l in 0..L::WIDTH {
                worst_complex = worst_complex.max(wrong.lane(l));
            }
        }
        (worst, worst_complex)
    }
}

#[test]
fn solutions_satisfy_their_equations() {
    let mut noise = Noise(1);
    for n in [1, 2, 3, 4, 5, 8, 9, 13, 26, 55, 120] {
        let mut patterns = vec![Pattern::dense(n, n), Pattern::from_rows(n, &vec![vec![]; n])];
        for per_row in [1, 3, 7] {
            patterns.push(pattern(n, per_row, &mut noise));
        }
        for pattern in &patterns {
            for isa in Isa::available() {
                for (real, complex) in
                    [isa.dispatch(Residual(pattern, 7)), isa.dispatch_wide(Residual(pattern, 9))]
                {
                    assert!(real < 1e-13 && complex < 1e-13, "{n} {isa}: {real:e} {complex:e}");
                }
            }
        }
    }
}

/// The pivots of σI − J, one lane.
fn pivots(shift: f64, jacobian: &[&[f64]]) -> Pivots<f64> {
    let n = jacobian.len();
    let symbolic = Symbolic::new(&Pattern::dense(n, n));
    let mut lu = Lu::<f64, f64>::new(&symbolic);
    let mut pivots = Pivots::none();
    let (lu, jacobian) = (&mut lu, &jacobian.concat()[..]);
    f64::outline(Factor { symbolic: &symbolic, lu, jacobian, shift, pivots: &mut pivots });
    pivots
}

/// Factors a matrix.
fn is_sound(rows: &[&[f64]]) -> bool {
    let negative: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| -x).collect()).collect();
    let rows: Vec<&[f64]> = negative.iter().map(Vec::as_slice).collect();
    pivots(0.0, &rows).valid
}

use odeum_core::Real;

#[test]
fn growth_and_missing_pivots_are_noticed() {
    assert!(is_sound(&[&[1.0, 2.0], &[3.0, 4.0]]));
    assert!(!is_sound(&[&[0.0, 1.0], &[1.0, 0.0]]));
    assert!(!is_sound(&[&[1.0, 2.0], &[2.0, 4.0]]));
    // The pivot is a rounding beside the rest of its column: the second row grows to 1e12.
    assert!(!is_sound(&[&[1e-12, 1.0], &[1.0, 1.0]]));
    assert!(!is_sound(&[&[f64::NAN, 1.0], &[1.0, 1.0]]));
    assert!(!is_sound(&[&[0.0]]));
}

#[test]
fn pivots_tell_the_fastest_growth_over_the_shift() {
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
    assert!(near(pivots(4.0, &[&[-1.0, 0.0], &[0.0, 3.0]]).growth, 0.75));
    assert!(near(pivots(4.0, &[&[-1.0, 0.0], &[0.0, -3.0]]).growth, -0.25));
    // A branching chain: each makes more of the other than it loses, λ = 1.
    let chain: [&[f64]; 2] = [&[-1.0, 2.0], &[2.0, -1.0]];
    assert!(pivots(2.0, &chain).growth > 0.0 && pivots(2.0, &chain).growth < 1.0);
    assert!(pivots(0.9, &chain).growth > 1.0, "a shift below λ makes a pivot negative");
    // Backward in time what decays grows.
    assert!(near(pivots(-4.0, &[&[-3.0]]).growth, 0.75));
    // Of two numbers that differ by rounding alone nothing is known.
    let stiff: [&[f64]; 2] = [&[-1e17, 1e17], &[1e17, -1e17]];
    assert!(pivots(1.0, &stiff).growth < 0.1);
}

#[test]
fn order_keeps_an_arrow_sparse() {
    // The full row and column must be eliminated last.
    let n = 30;
    let rows: Vec<Vec<usize>> =
        (0..n).map(|i| if i == 0 { (0..n).collect() } else { vec![0, i] }).collect();
    let symbolic = Symbolic::new(&Pattern::from_rows(n, &rows));
    assert_eq!(symbolic.len(), 3 * n - 2);
}
