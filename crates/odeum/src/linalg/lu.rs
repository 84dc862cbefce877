//! Numeric LU of σI − J over lanes, in place, by the index program of a [`Symbolic`].
//!
//! Pivots come from the diagonal in an order fixed beforehand, so that all lanes do the same and
//! nothing is searched for. What that may cost is watched in every lane: when a row of U outgrows
//! the same row of the matrix by 1/√ε, in the sum of the sizes of its entries, or a pivot has no
//! reciprocal, half the digits are gone and the lane says so. (Growth bounds the backward error of
//! Gaussian elimination: Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., thm
//! 9.5. With 1/(hγ) on the diagonal a smaller step always helps.)

use super::{Entry, Symbolic, dense};
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// The factors of one matrix per lane.
pub(crate) struct Lu<L, E> {
    /// L and U; pivots as their reciprocals.
    values: Vec<E>,
    /// Sum of the sizes of the entries of each row of the matrix \[n\].
    sizes: Vec<L>,
    /// Right-hand side and solution in the order of elimination \[n\].
    rhs: Vec<E>,
}

impl<L: Lanes, E: Entry<L>> Lu<L, E> {
    pub(crate) fn new(symbolic: &Symbolic) -> Self {
        let zero = L::lit(0.0);
        Lu {
            values: vec![E::real(zero); symbolic.len()],
            sizes: vec![zero; symbolic.dim()],
            rhs: vec![E::real(zero); symbolic.dim()],
        }
    }
}

/// Assembles and factors σI − J; long, hence out of line.
pub(crate) struct Factor<'a, L: Lanes, E> {
    pub(crate) symbolic: &'a Symbolic,
    pub(crate) lu: &'a mut Lu<L, E>,
    /// Entries of J \[nnz\].
    pub(crate) jacobian: &'a [L],
    /// σ.
    pub(crate) shift: E,
    /// The lanes whose factors can be used.
    pub(crate) sound: &'a mut L::Mask,
}

impl<L: Lanes, E: Entry<L>> Outlined for Factor<'_, L, E> {
    #[inline(always)]
    fn run(self) {
        let Factor { symbolic, lu, jacobian, shift, sound } = self;
        let zero = L::lit(0.0);
        let Lu { values, sizes, .. } = lu;
        let values = &mut values[..symbolic.len()];
        for value in values.iter_mut() {
            *value = E::real(zero);
        }
        for i in 0..symbolic.n {
            let mut size = shift.size();
            for e in symbolic.rows[i] as usize..symbolic.rows[i + 1] as usize {
                let entry = jacobian[e];
                values[symbolic.entries[e] as usize] = E::real(-entry);
                size = size + entry.abs();
            }
            sizes[i] = size;
            let diagonal = &mut values[symbolic.diagonal[i] as usize];
            *diagonal = diagonal.add(shift);
        }

        let (limit, infinity) = (L::lit(1.0 / L::Scalar::EPSILON.sqrt()), L::lit(f64::INFINITY));
        let mut good = zero.eq(zero);
        let mut next = 0;
        for (k, pivot) in symbolic.pivots.iter().enumerate() {
            let (first, n_upper) = (pivot.start + 1, pivot.n_upper);
            let (before, after) = values.split_at_mut(first + n_upper + pivot.n_lower);
            let block = &mut before[pivot.start..];
            let mut grown = block[0].size();
            let inverse = block[0].recip();
            block[0] = inverse;
            let (upper, lower) = block[1..].split_at_mut(n_upper);
            for u in upper.iter() {
                grown = grown + u.size();
            }
            let size = sizes[symbolic.order[k] as usize];
            good = good & grown.le(limit * size) & inverse.size().lt(infinity);
            let offset = first + n_upper + pivot.n_lower;
            // Two rows at a time read the row of U once.
            let mut pairs = lower.chunks_exact_mut(2);
            for pair in &mut pairs {
                let (one, two) = (pair[0].mul(inverse), pair[1].mul(inverse));
                (pair[0], pair[1]) = (one, two);
                let (first, second) = symbolic.targets[next..next + 2 * n_upper].split_at(n_upper);
                for j in 0..n_upper {
                    let u = upper[j];
                    let target = &mut after[first[j] as usize - offset];
                    *target = target.minus_product(one, u);
                    let target = &mut after[second[j] as usize - offset];
                    *target = target.minus_product(two, u);
                }
                next += 2 * n_upper;
            }
            for l in pairs.into_remainder() {
                let factor = l.mul(inverse);
                *l = factor;
                let targets = &symbolic.targets[next..next + n_upper];
                for j in 0..n_upper {
                    let target = &mut after[targets[j] as usize - offset];
                    *target = target.minus_product(factor, upper[j]);
                }
                next += n_upper;
            }
        }

        let m = symbolic.tail_size();
        let tail = &mut values[symbolic.tail..];
        dense::factor(tail, m);
        for i in 0..m {
            let inverse = tail[i * m + i];
            let mut grown = inverse.recip().size();
            for j in i + 1..m {
                grown = grown + tail[i * m + j].size();
            }
            let size = sizes[symbolic.order[symbolic.pivots.len() + i] as usize];
            good = good & grown.le(limit * size) & inverse.size().lt(infinity);
        }
        *sound = good;
    }
}

/// Solves with factors; long, hence out of line.
pub(crate) struct Solve<'a, L, E> {
    pub(crate) symbolic: &'a Symbolic,
    pub(crate) lu: &'a mut Lu<L, E>,
    /// Right-hand side, then solution \[n\].
    pub(crate) x: &'a mut [E],
}

impl<L: Lanes, E: Entry<L>> Outlined for Solve<'_, L, E> {
    #[inline(always)]
    fn run(self) {
        let Solve { symbolic, lu, x } = self;
        let n = symbolic.n;
        let (x, b, order) = (&mut x[..n], &mut lu.rhs[..n], &symbolic.order[..n]);
        let values = &lu.values[..symbolic.len()];
        for k in 0..n {
            b[k] = x[order[k] as usize];
        }
        for (k, pivot) in symbolic.pivots.iter().enumerate() {
            let first = pivot.start + 1 + pivot.n_upper;
            let factors = &values[first..first + pivot.n_lower];
            let rows = &symbolic.index[first..first + pivot.n_lower];
            let known = b[k];
            for i in 0..factors.len() {
                let row = &mut b[rows[i] as usize];
                *row = row.minus_product(factors[i], known);
            }
        }
        let head = symbolic.pivots.len();
        let (tail, m) = (&values[symbolic.tail..], symbolic.tail_size());
        dense::forward(tail, m, &mut b[head..]);
        dense::backward(tail, m, &mut b[head..]);
        for (k, pivot) in symbolic.pivots.iter().enumerate().rev() {
            let first = pivot.start + 1;
            let factors = &values[first..first + pivot.n_upper];
            let columns = &symbolic.index[first..first + pivot.n_upper];
            // Two sums, of which neither waits for the other.
            let (mut even, mut odd) = (b[k], E::real(L::lit(0.0)));
            let pairs = factors.len() / 2;
            for j in 0..pairs {
                even = even.minus_product(factors[2 * j], b[columns[2 * j] as usize]);
                odd = odd.minus_product(factors[2 * j + 1], b[columns[2 * j + 1] as usize]);
            }
            for j in 2 * pairs..factors.len() {
                even = even.minus_product(factors[j], b[columns[j] as usize]);
            }
            b[k] = even.add(odd).mul(values[pivot.start]);
        }
        for k in 0..n {
            x[order[k] as usize] = b[k];
        }
    }
}

#[cfg(test)]
mod tests;
