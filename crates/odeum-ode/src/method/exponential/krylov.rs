//! Functions of hJ by Krylov subspaces.
//!
//! Arnoldi's process finds an orthonormal basis V of the space that v, hJv, (hJ)²v, … span, and
//! H = Vᵀ hJ V; then g(hJ)v ≈ ‖v‖ V g(H)e₁ (Saad, SIAM J. Numer. Anal. 29 (1992) 209; Hochbruck &
//! Lubich, SIAM J. Numer. Anal. 34 (1997) 1911). Components are scaled by the tolerance first, so
//! that lengths are errors. Vectors are orthogonalised twice.
//!
//! A lane is done when the first term of the error series is small; it then keeps its values, while
//! the basis grows for the others. Between two looks the dimension grows by a third, as in Hochbruck,
//! Lubich & Selhofer 1998.

use super::hessenberg::{Hessenberg, Terms};
use super::tableau::Function;
use crate::method::linearised::{Along, Derivatives, JacobianPlan};
use crate::tolerance::{Norm, Weights, largest};
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// What the first term of the error series may be, in the norm of the tolerance, where a step may
/// err by 1. It is no bound, and what is left out adds up over the steps.
pub(super) const ENOUGH: f64 = 1e-3;
/// The least dimension at which the error is looked at.
pub(super) const FIRST_LOOK: usize = 3;
/// A vector of which orthogonalisation leaves less than this many ε of its length lies in the space.
pub(super) const BREAKDOWN_EPSILONS: f64 = 8.0;

/// The largest dimension of a subspace for n equations.
pub(super) fn dimension(n: usize, max_dimension: u32) -> usize {
    (n + 1).min(max_dimension as usize)
}

/// Memory of Krylov subspaces for one pack of systems of n equations.
pub(super) struct Krylov<L> {
    /// Largest dimension.
    most: usize,
    /// Of the functions that act on each Dⱼ \[s\].
    terms: Vec<Terms>,
    /// Vectors of n components and time, scaled [most + 1 × (n + 1)].
    basis: Vec<L>,
    hessenberg: Hessenberg<L>,
    /// A vector that is not scaled \[n\].
    direction: Vec<L>,
}

impl<L: Lanes> Krylov<L> {
    /// `functions`: of each Dⱼ for each sum.
    pub(super) fn new(n: usize, max_dimension: u32, functions: &[Vec<Function>]) -> Self {
        let most = dimension(n, max_dimension);
        let zeros = |len: usize| vec![L::lit(0.0); len];
        Krylov {
            most,
            terms: functions.iter().map(|functions| Terms::new(functions)).collect(),
            basis: zeros((most + 1) * (n + 1)),
            hessenberg: Hessenberg::new(most, functions.iter().map(Vec::len).max().unwrap_or(0)),
            direction: zeros(n),
        }
    }
}

/// Adds h g(hJ̃)(v, τ) to sums, as [`Expand`](super::expansion::Expand) does.
pub(super) struct Project<'a, L: Lanes> {
    pub(super) krylov: &'a mut Krylov<L>,
    /// The number j of the vector.
    pub(super) number: usize,
    pub(super) plan: &'a JacobianPlan,
    pub(super) derivatives: &'a Derivatives<L>,
    pub(super) h: L,
    /// v \[n\].
    pub(super) vector: &'a [L],
    /// τ is 1, not 0, where f depends on t.
    pub(super) timed: bool,
    pub(super) weights: &'a Weights<L>,
    pub(super) inverse_scales: &'a [L],
    /// The sums \[n\] one after the other.
    pub(super) sums: &'a mut [L],
    /// The lanes to do.
    pub(super) open: L::Mask,
    /// Norm of what is left out; to be added to.
    pub(super) rest: &'a mut L,
}

impl<L: Lanes> Outlined for Project<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Project { krylov, number, plan, derivatives, h, vector, timed, .. } = self;
        let Project { weights, inverse_scales, sums, mut open, rest, .. } = self;
        let Krylov { most, terms, basis, hessenberg, direction } = krylov;
        let (n, most, terms) = (vector.len(), *most, &terms[number]);
        let (zero, one) = (L::lit(0.0), L::lit(1.0));
        hessenberg.entries.fill(zero);

        let first = &mut basis[..=n];
        for i in 0..n {
            first[i] = vector[i] * inverse_scales[i];
        }
        first[n] = zero;
        // The largest is taken out first: squares of amounts far below the tolerance would vanish.
        let size = first.iter().fold(zero, |size, x| largest(size, x.abs()));
        let size_or_one = L::select(size.ge(L::lit(L::Scalar::MIN_POSITIVE)), size, one);
        let over_size = size_or_one.recip();
        for x in first.iter_mut() {
            *x = *x * over_size;
        }
        let length = norm(first);
        // Time is given the weight of the rest of the vector, where it matters.
        let mut time_scale = zero;
        if timed {
            let matters = derivatives.dfdt.iter().fold(zero, |sum, x| sum + x.abs()).ne(zero);
            let weight = L::select(length.gt(zero), length, one);
            first[n] = L::select(matters, weight, zero);
            time_scale = L::select(matters, (weight * size_or_one).recip(), zero);
        }
        let beta = norm(first);
        let inverse = L::select(beta.eq(zero), zero, beta.recip());
        let beta = beta * size_or_one;
        for x in first.iter_mut() {
            *x = *x * inverse;
        }
        // From the 2-norm to the norm of the tolerance.
        let to_norm = match weights.norm() {
            Norm::WeightedRms => beta * h.abs() * L::lit((n as f64).sqrt().recip()),
            Norm::StateAndRate => beta * h.abs(),
        };

        let (mut left, mut look) = (zero, FIRST_LOOK.min(most));
        for m in 1..=most {
            let (before, next) = basis.split_at_mut(m * (n + 1));
            let next = &mut next[..=n];
            let last = &before[(m - 1) * (n + 1)..];
            for i in 0..n {
                direction[i] = last[i] / inverse_scales[i];
            }
            let time = last[n] * time_scale;
            L::outline(Along { plan, direction, time, derivatives, out: &mut next[..n] });
            for i in 0..n {
                next[i] = next[i] * (inverse_scales[i] * h);
            }
            next[n] = zero;
            let entries = &mut hessenberg.entries[..];
            L::outline(Orthogonalise { before, next: &mut *next, column: m - 1, most, entries });
            if m < look {
                continue;
            }
            look = most.min(m + (m / 3).max(1));
            hessenberg.act(m, terms);
            let mut term = zero;
            for end in &hessenberg.ends {
                term = term.max(end.abs());
            }
            term = term * to_norm;
            // NaN is not large: such a lane is done, and says so by what is left.
            let large = term.gt(L::lit(ENOUGH));
            let done = if m == most { open } else { open & !large };
            if L::bits(done) == 0 {
                continue;
            }
            left = L::select(done, term + hessenberg.pole_error(m) * to_norm, left);
            let by = h * beta;
            for &number in &terms.sums {
                let values = &hessenberg.values[number * most..number * most + m];
                let sum = &mut sums[number * n..(number + 1) * n];
                for i in 0..n {
                    let mut x = zero;
                    for k in 0..m {
                        x = values[k].mul_add(basis[k * (n + 1) + i], x);
                    }
                    let added = (x / inverse_scales[i]).mul_add(by, sum[i]);
                    sum[i] = L::select(done, added, sum[i]);
                }
            }
            open = open & !done;
            if L::bits(open) == 0 {
                break;
            }
        }
        *rest = *rest + left;
    }
}

/// Makes a vector orthogonal to those before it, twice, and of length 1, and writes the column of
/// the Hessenberg matrix; a vector that lies in their space becomes zero.
struct Orthogonalise<'a, L> {
    before: &'a [L],
    next: &'a mut [L],
    column: usize,
    /// Length of a row of the matrix.
    most: usize,
    entries: &'a mut [L],
}

impl<L: Lanes> Outlined for Orthogonalise<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Orthogonalise { before, next, column, most, entries } = self;
        let (len, zero) = (next.len(), L::lit(0.0));
        let whole = norm(next);
        for _ in 0..2 {
            for (k, v) in before.chunks_exact(len).enumerate() {
                let mut product = zero;
                for i in 0..len {
                    product = v[i].mul_add(next[i], product);
                }
                for i in 0..len {
                    next[i] = (-product).mul_add(v[i], next[i]);
                }
                let entry = &mut entries[k * most + column];
                *entry = *entry + product;
            }
        }
        // Of a length whose square overflows nothing is known: what follows is no number.
        let known = whole.lt(L::lit(f64::INFINITY));
        let length = L::select(known, norm(next), L::lit(f64::NAN));
        let within = length.le(whole * L::lit(BREAKDOWN_EPSILONS * L::Scalar::EPSILON));
        entries[(column + 1) * most + column] = L::select(within, zero, length);
        let inverse = L::select(within, zero, length.recip());
        for x in next.iter_mut() {
            *x = *x * inverse;
        }
    }
}

#[inline(always)]
fn norm<L: Lanes>(x: &[L]) -> L {
    let mut sum = L::lit(0.0);
    for x in x {
        sum = x.mul_add(*x, sum);
    }
    sum.sqrt()
}
