//! Eigenvalues of small complex matrices.

use std::ops::RangeInclusive;

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Complex {
    pub(crate) re: f64,
    pub(crate) im: f64,
}

impl Complex {
    pub(crate) fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }

    pub(crate) fn abs(self) -> f64 {
        let square = self.re * self.re + self.im * self.im;
        // By `hypot` alone, which minds what overflows, judging a problem took twice as long.
        if square.is_normal() { square.sqrt() } else { self.re.hypot(self.im) }
    }

    pub(crate) fn add(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }

    fn sub(self, other: Complex) -> Complex {
        Complex::new(self.re - other.re, self.im - other.im)
    }

    pub(crate) fn mul(self, other: Complex) -> Complex {
        let re = self.re * other.re - self.im * other.im;
        Complex::new(re, self.re * other.im + self.im * other.re)
    }

    fn conj(self) -> Complex {
        Complex::new(self.re, -self.im)
    }

    pub(crate) fn scale(self, x: f64) -> Complex {
        Complex::new(self.re * x, self.im * x)
    }

    /// The root with a real part that is not negative.
    fn sqrt(self) -> Complex {
        // The larger part first: the smaller one would be a difference of near numbers.
        let larger = ((self.abs() + self.re.abs()) / 2.0).sqrt();
        if larger == 0.0 {
            return Complex::default();
        }
        let smaller = self.im / (2.0 * larger);
        if self.re >= 0.0 {
            Complex::new(larger, smaller)
        } else {
            Complex::new(smaller.abs(), larger.copysign(self.im))
        }
    }
}

/// Eigenvalues of an n × n matrix, row by row, which is destroyed. They do not depend on the units of the numbers that it acts on:
/// those that act on each other are taken together, in units of [`balance`]. Then Hessenberg form and shifted QR steps with deflation,
/// both by rotations: Golub & Van Loan, Matrix Computations, sec. 7.4–7.5.
pub(crate) fn eigenvalues(matrix: &mut [Complex], n: usize) -> Vec<Complex> {
    let mut values = vec![Complex::default(); n];
    if n < 3 || matrix.iter().all(|x| *x != Complex::default()) {
        of_block(matrix, &mut values);
        return values;
    }
    let mut left = &mut values[..];
    for block in blocks(matrix.iter().map(|x| *x != Complex::default()).collect(), n) {
        let row = |i: &usize| block.iter().map(|j| matrix[i * n + j]).collect::<Vec<Complex>>();
        let mut own: Vec<Complex> = block.iter().flat_map(row).collect();
        let (values, others) = left.split_at_mut(block.len());
        of_block(&mut own, values);
        left = others;
    }
    values
}

/// The numbers that act on each other, if through others, by what acts on what: of entries of a matrix between others its eigenvalues
/// do not depend.
pub(crate) fn blocks(mut acts: Vec<bool>, n: usize) -> Vec<Vec<usize>> {
    for k in 0..n {
        acts[k * n + k] = true;
        let through = acts[k * n..(k + 1) * n].to_vec();
        for row in acts.chunks_exact_mut(n).filter(|row| row[k]) {
            row.iter_mut().zip(&through).for_each(|(own, through)| *own |= through);
        }
    }
    let block = |i: usize| -> Vec<usize> {
        (0..n).filter(|j| acts[i * n + j] && acts[j * n + i]).collect()
    };
    (0..n).map(block).enumerate().filter(|(i, block)| block[0] == *i).map(|(_, b)| b).collect()
}

/// Takes a matrix into units in which its row and its column of each number are of about the same size, and tells by which factors the
/// unit of each changes: a similarity by powers of two, which rounds nothing. Where they differ by less than a factor of two it stays
/// as it is. Parlett & Reinsch, Numer. Math. 13 (1969) 293–304; with the diagonal, as James, Langou & Lowery 2014 (arXiv:1401.5766).
pub(crate) fn balance(matrix: &mut [Complex], n: usize, mut tell: impl FnMut(usize, f64)) {
    let size = |x: Complex| x.re.abs() + x.im.abs();
    let mut is_balanced = false;
    while !is_balanced {
        is_balanced = true;
        for i in 0..n {
            let (mut column, mut row) = (0.0, 0.0);
            for k in 0..n {
                column += size(matrix[k * n + i]);
                row += size(matrix[i * n + k]);
            }
            let sum = column + row;
            if column == 0.0 || row == 0.0 || !sum.is_finite() {
                continue;
            }
            let mut unit = 1.0;
            while column < row / 2.0 {
                (unit, column, row) = (2.0 * unit, 2.0 * column, row / 2.0);
            }
            while column / 2.0 >= row {
                (unit, column, row) = (unit / 2.0, column / 2.0, 2.0 * row);
            }
            if column + row >= LESS * sum {
                continue;
            }
            is_balanced = false;
            tell(i, unit);
            for k in (0..n).filter(|k| *k != i) {
                matrix[k * n + i] = matrix[k * n + i].scale(unit);
                matrix[i * n + k] = matrix[i * n + k].scale(1.0 / unit);
            }
        }
    }
}

/// Which part of a row and a column other units must leave at most.
const LESS: f64 = 0.95;

/// Sizes whose squares, and sums of these, are far from the ends of the numbers.
const SQUARED: RangeInclusive<f64> = 1e-140..=1e140;

/// The eigenvalues of numbers that act on each other.
fn of_block(matrix: &mut [Complex], values: &mut [Complex]) {
    balance(matrix, values.len(), |_, _| {});
    let largest = matrix.iter().map(|x| x.re.abs().max(x.im.abs())).fold(0.0, f64::max);
    if !largest.is_finite() || largest == 0.0 || SQUARED.contains(&largest) {
        scaled(matrix, values);
        return;
    }
    let exponent = largest.log2().floor().max(-1000.0) as i32;
    let by = |exponent: i32| move |x: &mut Complex| *x = x.scale(2.0_f64.powi(exponent));
    matrix.iter_mut().for_each(by(-exponent));
    scaled(matrix, values);
    values.iter_mut().for_each(by(exponent));
}

/// What is neglected beside something.
const NEGLIGIBLE: f64 = 1e-15;

/// The same of a matrix whose largest entry is of such a size.
fn scaled(matrix: &mut [Complex], values: &mut [Complex]) {
    let n = values.len();
    hessenberg(matrix, n);
    let mut m = n;
    let mut steps = 0;
    while m > 0 {
        if m == 1 {
            values[0] = matrix[0];
            break;
        }
        let at = |i: usize, j: usize| matrix[i * n + j];
        let [a, b] = [at(m - 2, m - 2), at(m - 2, m - 1)];
        let [c, d] = [at(m - 1, m - 2), at(m - 1, m - 1)];
        if m == 2 {
            values[..2].copy_from_slice(&of_two(a, b, c, d));
            break;
        }
        let rest = c.abs();
        // It changes d by about bc/(d − a): Ahues & Tisseur, LAPACK Working Note 122.
        let is_negligible = || {
            rest <= NEGLIGIBLE * (a.abs() + d.abs())
                && rest * b.abs() <= NEGLIGIBLE * d.abs() * a.sub(d).abs()
        };
        // After so many steps what is left is as good as it gets.
        if rest < f64::MIN_POSITIVE || is_negligible() || steps > 60 {
            values[m - 1] = d;
            (m, steps) = (m - 1, 0);
            continue;
        }
        let shift = wilkinson(a, b, c, d);
        // Now and then another shift breaks a cycle.
        let shift =
            if steps % 11 == 10 { shift.add(Complex::new(rest, rest / 3.0)) } else { shift };
        qr_step(matrix, n, m, shift);
        steps += 1;
    }
}

/// The eigenvalue of a 2 × 2 matrix that is nearer to its last entry.
fn wilkinson(a: Complex, b: Complex, c: Complex, d: Complex) -> Complex {
    let [plus, minus] = of_two(a, b, c, d);
    if plus.sub(d).abs() < minus.sub(d).abs() { plus } else { minus }
}

/// The eigenvalues of a 2 × 2 matrix, to roundings of its largest entry in whatever units; of entries that hardly act on each other to
/// their own.
fn of_two(a: Complex, b: Complex, c: Complex, d: Complex) -> [Complex; 2] {
    let half = a.sub(d).scale(0.5);
    let (square, product) = (half.mul(half), b.mul(c));
    if product.abs() <= NEGLIGIBLE * square.abs() {
        let between = half.abs();
        let shift = product.mul(half.conj()).scale(0.5 / between / between);
        return if between > 0.0 { [a.add(shift), d.sub(shift)] } else { [a, d] };
    }
    let root = square.add(product).sqrt();
    let mean = a.add(d).scale(0.5);
    [mean.add(root), mean.sub(root)]
}

/// Zeros below the first subdiagonal, by rotations of neighbouring rows.
fn hessenberg(matrix: &mut [Complex], n: usize) {
    for col in 0..n.saturating_sub(2) {
        for row in (col + 2..n).rev() {
            let rotation = Rotation::zeroing(matrix[(row - 1) * n + col], matrix[row * n + col]);
            rotation.rows(matrix, n, row - 1, 0..n);
            rotation.columns(matrix, n, row - 1, 0..n);
        }
    }
}

/// H − σ = QR, H ← RQ + σ on the leading m × m part of a Hessenberg matrix.
fn qr_step(matrix: &mut [Complex], n: usize, m: usize, shift: Complex) {
    for i in 0..m {
        matrix[i * n + i] = matrix[i * n + i].sub(shift);
    }
    let mut rotations = Vec::with_capacity(m);
    for k in 0..m - 1 {
        let rotation = Rotation::zeroing(matrix[k * n + k], matrix[(k + 1) * n + k]);
        rotation.rows(matrix, n, k, k..m);
        rotations.push(rotation);
    }
    for (k, rotation) in rotations.iter().enumerate() {
        rotation.columns(matrix, n, k, 0..(k + 2).min(m));
    }
    for i in 0..m {
        matrix[i * n + i] = matrix[i * n + i].add(shift);
    }
}

/// A unitary rotation of two neighbouring rows or columns.
struct Rotation {
    c: Complex,
    s: Complex,
}

impl Rotation {
    /// Takes (a, b) to (r, 0).
    fn zeroing(a: Complex, b: Complex) -> Rotation {
        let r = Complex::new(a.abs(), b.abs()).abs();
        if r == 0.0 {
            return Rotation { c: Complex::new(1.0, 0.0), s: Complex::default() };
        }
        Rotation { c: a.conj().scale(1.0 / r), s: b.conj().scale(1.0 / r) }
    }

    fn rows(&self, matrix: &mut [Complex], n: usize, k: usize, columns: std::ops::Range<usize>) {
        for j in columns {
            let (a, b) = (matrix[k * n + j], matrix[(k + 1) * n + j]);
            matrix[k * n + j] = self.c.mul(a).add(self.s.mul(b));
            matrix[(k + 1) * n + j] = self.c.conj().mul(b).sub(self.s.conj().mul(a));
        }
    }

    fn columns(&self, matrix: &mut [Complex], n: usize, k: usize, rows: std::ops::Range<usize>) {
        for i in rows {
            let (a, b) = (matrix[i * n + k], matrix[i * n + k + 1]);
            matrix[i * n + k] = a.mul(self.c.conj()).add(b.mul(self.s.conj()));
            matrix[i * n + k + 1] = b.mul(self.c).sub(a.mul(self.s));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(rows: &[&[f64]]) -> Vec<Complex> {
        let mut matrix: Vec<Complex> =
            rows.iter().flat_map(|row| row.iter().map(|&x| Complex::new(x, 0.0))).collect();
        let mut values = eigenvalues(&mut matrix, rows.len());
        let rank = |value: &Complex| ((value.re * 1e6).round(), value.im);
        values.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap());
        values
    }

    fn check(found: &[Complex], expected: &[(f64, f64)]) {
        for (value, &(re, im)) in found.iter().zip(expected) {
            assert!(value.sub(Complex::new(re, im)).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn matrices_with_known_eigenvalues() {
        check(&real(&[&[3.0]]), &[(3.0, 0.0)]);
        check(&real(&[&[0.0, 1.0], &[-4.0, 0.0]]), &[(0.0, -2.0), (0.0, 2.0)]);
        check(&real(&[&[2.0, 1.0], &[1.0, 2.0]]), &[(1.0, 0.0), (3.0, 0.0)]);
        // One that does not feel the other, and is far smaller.
        check(&real(&[&[1e10, 1.0], &[0.0, -1e-8]]), &[(-1e-8, 0.0), (1e10, 0.0)]);
        // A permutation: the third roots of one.
        let root = 0.75_f64.sqrt();
        let cycle = real(&[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[1.0, 0.0, 0.0]]);
        check(&cycle, &[(-0.5, -root), (-0.5, root), (1.0, 0.0)]);
        // The companion matrix of (x−1)(x−2)(x−3)(x−4).
        let four = real(&[
            &[10.0, -35.0, 50.0, -24.0],
            &[1.0, 0.0, 0.0, 0.0],
            &[0.0, 1.0, 0.0, 0.0],
            &[0.0, 0.0, 1.0, 0.0],
        ]);
        check(&four, &[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]);
    }

    /// Roots of the characteristic polynomial, also where the eigenvalues lie close to each other and to an axis.
    #[test]
    fn two_by_two() {
        let entries = [0.0, 1.0, -1.0, 1e-8, -1e-8, 3.0];
        let entry = |k: usize| Complex::new(entries[k % 6], entries[k / 6 % 6]);
        for k in 0..36_usize.pow(2) {
            let (b, d) = (entry(k), entry(k / 36));
            let (a, c) = (Complex::new(1.0, 1e-8), Complex::new(0.25, 0.0));
            let values = eigenvalues(&mut [a, b, c, d], 2);
            let sum = values[0].add(values[1]).sub(a.add(d));
            let product = values[0].mul(values[1]).sub(a.mul(d).sub(b.mul(c)));
            assert!(sum.abs() < 4e-15 && product.abs() < 2e-14, "{a:?} {b:?} {c:?} {d:?}");
        }
    }

    /// Squares of entries would be beyond all numbers, or zero.
    #[test]
    fn huge_and_tiny() {
        for size in [1e-300, 1e-200, 1e200, 1e300] {
            let of = |rows: &[&[f64]]| {
                let entries = rows.iter().flat_map(|row| row.iter());
                let mut matrix: Vec<Complex> =
                    entries.map(|&x| Complex::new(x * size, 0.0)).collect();
                let values = eigenvalues(&mut matrix, rows.len());
                let mut values: Vec<(f64, f64)> =
                    values.iter().map(|value| (value.re / size, value.im / size)).collect();
                values.sort_by(|a, b| a.partial_cmp(b).unwrap());
                values
            };
            let near = |found: Vec<(f64, f64)>, expected: &[(f64, f64)]| {
                for ((re, im), (x, y)) in found.iter().zip(expected) {
                    assert!((re - x).abs() + (im - y).abs() < 1e-12, "{size}: {found:?}");
                }
            };
            near(of(&[&[2.0, 1.0], &[1.0, 2.0]]), &[(1.0, 0.0), (3.0, 0.0)]);
            near(of(&[&[0.0, 1.0], &[-4.0, 0.0]]), &[(0.0, -2.0), (0.0, 2.0)]);
            let three = of(&[&[2.0, 1.0, 0.0], &[1.0, 2.0, 0.0], &[5.0, 7.0, -1.0]]);
            near(three, &[(-1.0, 0.0), (1.0, 0.0), (3.0, 0.0)]);
        }
    }

    #[test]
    fn trace_and_size_are_kept() {
        let n = 7;
        let entry = |k: usize| Complex::new((k as f64 * 0.7).sin(), (k as f64 * 1.3).cos());
        let mut matrix: Vec<Complex> = (0..n * n).map(entry).collect();
        let trace = (0..n).fold(Complex::default(), |sum, i| sum.add(matrix[i * n + i]));
        let square = (0..n * n)
            .fold(Complex::default(), |sum, k| sum.add(matrix[k].mul(matrix[k % n * n + k / n])));
        let values = eigenvalues(&mut matrix, n);
        let sum = values.iter().fold(Complex::default(), |sum, value| sum.add(*value));
        let squares = values.iter().fold(Complex::default(), |sum, v| sum.add(v.mul(*v)));
        assert!(sum.sub(trace).abs() < 1e-12 && squares.sub(square).abs() < 1e-11);
    }

    /// Uniform in −1..1.
    fn random(state: &mut u64) -> f64 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// In whatever units the numbers are, and in whatever order, powers of matrices have the same traces, and eigenvalues are as near.
    #[test]
    fn units_and_order_change_nothing() {
        let mut state = 1;
        for k in 0..400 {
            let n = 2 + k % 7;
            // With zeros, so that some numbers act on others through others, or not at all.
            let is_kept = |x: f64| x.abs() > 0.3 || k % 3 == 0;
            let plain: Vec<Complex> = (0..n * n)
                .map(|_| {
                    Complex::new(
                        random(&mut state),
                        if k % 2 == 0 { 0.0 } else { random(&mut state) },
                    )
                })
                .map(|x| if is_kept(x.re) { x } else { Complex::default() })
                .collect();
            let exponents: Vec<i32> = (0..n)
                .map(|_| [-80, 0, 80][(random(&mut state) * 1.5 + 1.5) as usize % 3])
                .collect();
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by_key(|i| (i * 7 + k) % 11);
            let in_units = |at: usize| {
                let (i, j) = (order[at / n], order[at % n]);
                plain[i * n + j].scale(2.0_f64.powi(exponents[j] - exponents[i]))
            };
            let mut other: Vec<Complex> = (0..n * n).map(in_units).collect();
            let own = eigenvalues(&mut plain.clone(), n);
            let mut left = eigenvalues(&mut other, n);
            for value in &own {
                let near = |x: &Complex| x.sub(*value).abs();
                let best = (0..left.len())
                    .min_by(|a, b| near(&left[*a]).total_cmp(&near(&left[*b])))
                    .unwrap();
                assert!(near(&left[best]) < 1e-6, "{k}: {own:?} {left:?}");
                left.swap_remove(best);
            }
            // Eigenvalues that lie close to each other are uncertain, their sums of powers are not.
            let other = eigenvalues(&mut (0..n * n).map(in_units).collect::<Vec<_>>(), n);
            let sums = |values: &[Complex]| {
                values
                    .iter()
                    .fold([Complex::default(); 2], |[a, b], x| [a.add(*x), b.add(x.mul(*x))])
            };
            for (a, b) in sums(&own).iter().zip(sums(&other)) {
                assert!(a.sub(b).abs() < 1e-12, "{k}: {own:?} {other:?}");
            }
        }
    }

    /// A density beside a temperature: what they make of each other is of order one.
    #[test]
    fn what_acts_across_units_counts() {
        for unit in [1.0, 1e12, 1e25, 1e60] {
            let rows: [&[f64]; 3] =
                [&[-1.0, 2.0 * unit, 0.0], &[-2.0 / unit, -1.0, 0.0], &[3.0, 1e3 * unit, -7.0]];
            check(&real(&rows), &[(-7.0, 0.0), (-1.0, -2.0), (-1.0, 2.0)]);
        }
    }

    /// A matrix in units that are good enough stays as it is, bit by bit.
    #[test]
    fn balanced_matrices_stay() {
        let entry = |k: usize| Complex::new((k as f64 * 0.7).sin(), (k as f64 * 1.3).cos());
        let matrix: Vec<Complex> = (0..49).map(entry).collect();
        let mut same = matrix.clone();
        balance(&mut same, 7, |i, unit| panic!("{i}: {unit}"));
        assert_eq!(same, matrix);
    }
}
