//! Numeric LU of σI − J over lanes, in place, by the index program of a [`Symbolic`].
//!
//! Pivots come from the diagonal in an order fixed beforehand, so that all lanes do the same and
//! nothing is searched for. What that may cost is watched in every lane: when a row of U outgrows
//! the same row of the matrix by 1/√ε, in the sum of the sizes of its entries, half the digits are
//! gone and the lane says so, as it does when a row is not finite or a pivot has no reciprocal.
//! (Growth bounds the backward error of Gaussian elimination: Higham, *Accuracy and Stability of
//! Numerical Algorithms*, 2nd ed., thm 9.5. With 1/(hγ) on the diagonal a smaller step always helps.)

use super::{Entry, Symbolic, dense};
use crate::tolerance::largest;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// The factors of one matrix per lane.
pub(crate) struct Lu<L, E> {
    /// L and U; pivots as their reciprocals.
    values: Vec<E>,
    /// Sum of the sizes of the entries of each row of the matrix \[n\].
    sizes: Vec<L>,
    /// A row of U, and later right-hand side and solution, in the order of elimination \[n\].
    row: Vec<E>,
}

impl<L: Lanes, E: Entry<L>> Lu<L, E> {
    pub(crate) fn new(symbolic: &Symbolic) -> Self {
        let zero = L::lit(0.0);
        Lu {
            values: vec![E::real(zero); symbolic.len()],
            sizes: vec![zero; symbolic.dim()],
            row: vec![E::real(zero); symbolic.dim()],
        }
    }
}

/// What the pivots of σI − J tell.
#[derive(Clone, Copy)]
pub(crate) struct Pivots<L: Lanes> {
    /// The lanes whose factors can be used.
    pub(crate) valid: L::Mask,
    /// The largest 1 − d/σ over the pivots d of a real matrix, less what rounding can make of it.
    ///
    /// A pivot is d = σ − λ where λ is the rate at which its unknown grows by itself while the
    /// unknowns before it follow at once and those after it stand still. So this is λ/σ of the
    /// fastest growth that the elimination meets; above 1 a pivot is negative.
    pub(crate) growth: L,
}

impl<L: Lanes> Pivots<L> {
    /// Before anything was factored.
    pub(crate) fn none() -> Self {
        Pivots { valid: L::from_bits(0), growth: L::lit(0.0) }
    }
}

/// By how many ε of the sum of the sizes of its row a pivot may be wrong.
pub(super) const PIVOT_EPSILONS: f64 = 16.0;

/// Assembles and factors σI − J; long, hence out of line.
pub(crate) struct Factor<'a, L: Lanes, E> {
    pub(crate) symbolic: &'a Symbolic,
    pub(crate) lu: &'a mut Lu<L, E>,
    /// Entries of J \[nnz\].
    pub(crate) jacobian: &'a [L],
    /// σ.
    pub(crate) shift: E,
    pub(crate) pivots: &'a mut Pivots<L>,
}

impl<L: Lanes, E: Entry<L>> Outlined for Factor<'_, L, E> {
    #[inline(always)]
    fn run(self) {
        let Factor { symbolic, lu, jacobian, shift, pivots: told } = self;
        let zero = L::lit(0.0);
        let (n, head) = (symbolic.dim(), symbolic.head());
        let [first_upper, pivots, tail] = symbolic.regions;
        let Lu { values, sizes, row } = lu;
        let values = &mut values[..symbolic.len()];
        for e in 0..symbolic.fill.len() {
            values[symbolic.fill[e] as usize] = E::real(zero);
        }
        for i in 0..n {
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

        let limit = L::lit(1.0 / L::Scalar::EPSILON.sqrt());
        let mut good = zero.eq(zero);
        let inverse_shift = shift.recip();
        let rounding = inverse_shift.size() * L::lit(PIVOT_EPSILONS * L::Scalar::EPSILON);
        let mut growth = L::lit(f64::NEG_INFINITY);
        let mut next = 0;
        for k in 0..head {
            let pivot = &mut values[pivots + k];
            let mut grown = pivot.size();
            let excess = E::growth(*pivot, inverse_shift);
            let inverse = pivot.recip();
            *pivot = inverse;
            let range = symbolic.upper.range(k);
            let right = &values[first_upper + range.start..first_upper + range.end];
            let count = right.len();
            let row = &mut row[..count];
            for j in 0..count {
                row[j] = right[j];
                grown = grown + right[j].size();
            }
            let size = sizes[symbolic.order[k] as usize];
            good = good & grown.le(limit * size) & is_regular(size, inverse);
            growth = largest(growth, (-rounding).mul_add(size, excess));
            // Two rows at a time read the row of U once.
            let (pairs, rest) = symbolic.below.of(k).as_chunks::<2>();
            for &[one, two] in pairs {
                let (first, second) = (one as usize, two as usize);
                let (one, two) = (values[first].mul(inverse), values[second].mul(inverse));
                (values[first], values[second]) = (one, two);
                let (first, second) = symbolic.targets[next..next + 2 * count].split_at(count);
                for j in 0..count {
                    let target = &mut values[first[j] as usize];
                    *target = target.minus_product(one, row[j]);
                    let target = &mut values[second[j] as usize];
                    *target = target.minus_product(two, row[j]);
                }
                next += 2 * count;
            }
            for &place in rest {
                let factor = values[place as usize].mul(inverse);
                values[place as usize] = factor;
                let targets = &symbolic.targets[next..next + count];
                for j in 0..count {
                    let target = &mut values[targets[j] as usize];
                    *target = target.minus_product(factor, row[j]);
                }
                next += count;
            }
        }

        let m = n - head;
        let tail = &mut values[tail..];
        dense::factor(tail, m);
        for i in 0..m {
            let inverse = tail[i * m + i];
            let pivot = inverse.recip();
            let mut grown = pivot.size();
            for j in i + 1..m {
                grown = grown + tail[i * m + j].size();
            }
            let size = sizes[symbolic.order[head + i] as usize];
            good = good & grown.le(limit * size) & is_regular(size, inverse);
            let excess = E::growth(pivot, inverse_shift);
            growth = largest(growth, (-rounding).mul_add(size, excess));
        }
        *told = Pivots { valid: good, growth };
    }
}

/// Where a row of this size is finite and a pivot has a reciprocal. One that is zero, as that of an
/// infinite pivot, makes every solution zero.
#[inline(always)]
fn is_regular<L: Lanes, E: Entry<L>>(size: L, inverse: E) -> L::Mask {
    let infinity = L::lit(f64::INFINITY);
    size.lt(infinity) & inverse.size().gt(L::lit(0.0)) & inverse.size().lt(infinity)
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
        let (n, head) = (symbolic.dim(), symbolic.head());
        let [first_upper, pivots, tail] = symbolic.regions;
        let (x, b, order) = (&mut x[..n], &mut lu.row[..n], &symbolic.order[..n]);
        let values = &lu.values[..symbolic.len()];
        let (upper, pivots) = (&values[first_upper..pivots], &values[pivots..tail]);
        for i in 0..n {
            let factors = &values[symbolic.lower.range(i)];
            b[i] = less(x[order[i] as usize], factors, symbolic.lower.of(i), b);
        }
        let (tail, m) = (&values[tail..], n - head);
        dense::forward(tail, m, &mut b[head..]);
        dense::backward(tail, m, &mut b[head..]);
        for i in (0..head).rev() {
            let factors = &upper[symbolic.upper.range(i)];
            b[i] = less(b[i], factors, symbolic.upper.of(i), b).mul(pivots[i]);
        }
        for i in 0..n {
            x[order[i] as usize] = b[i];
        }
    }
}

/// `start` less the products of `factors` with the values of `b` in `columns`: two sums, of which
/// neither waits for the other.
#[inline(always)]
fn less<L: Lanes, E: Entry<L>>(start: E, factors: &[E], columns: &[u32], b: &[E]) -> E {
    let n = factors.len();
    let columns = &columns[..n];
    let (mut even, mut odd) = (start, E::real(L::lit(0.0)));
    for j in 0..n / 2 {
        even = even.minus_product(factors[2 * j], b[columns[2 * j] as usize]);
        odd = odd.minus_product(factors[2 * j + 1], b[columns[2 * j + 1] as usize]);
    }
    if n % 2 == 1 {
        even = even.minus_product(factors[n - 1], b[columns[n - 1] as usize]);
    }
    even.add(odd)
}

#[cfg(test)]
mod tests;
