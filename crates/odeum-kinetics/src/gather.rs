//! Sums over sparse lists: each target takes what is its own, in a fixed order.
//!
//! Gathering by owner keeps the sum in a register, stores it once, and gives the same bits on
//! every backend, where scattering reaction by reaction would load and store at every term.

use odeum_core::Real;

/// Sums of up to this many terms are unrolled.
const UNROLLED: usize = 8;

/// Targets with the values each sums and their coefficients. Targets with the same number of terms
/// follow each other, so that loops have no lengths to mispredict.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Gather {
    /// Number of terms and of targets of each group.
    pub(crate) groups: Vec<[u32; 2]>,
    /// The targets, group by group.
    pub(crate) target: Vec<u32>,
    /// Index of each value, target by target.
    pub(crate) index: Vec<u32>,
    /// Its coefficient.
    pub(crate) coefficient: Vec<f64>,
}

impl Gather {
    /// From (target, (index, coefficient) of its values).
    pub(crate) fn new(mut targets: Vec<(usize, Vec<(usize, f64)>)>) -> Gather {
        targets.sort_by_key(|(_, terms)| terms.len());
        let mut gather = Gather::default();
        for (target, terms) in &targets {
            let n = terms.len() as u32;
            match gather.groups.last_mut() {
                Some(group) if group[0] == n => group[1] += 1,
                _ => gather.groups.push([n, 1]),
            }
            gather.target.push(*target as u32);
            gather.index.extend(terms.iter().map(|(i, _)| *i as u32));
            gather.coefficient.extend(terms.iter().map(|(_, c)| *c));
        }
        gather
    }

    /// All sums over `values`, into the targets.
    #[inline(always)]
    pub(crate) fn sum<R: Real>(&self, values: &[R], targets: &mut [R]) {
        self.sums::<R, 1>([values], [targets]);
    }

    /// The same sums over M vectors of values, of which each has targets of its own.
    #[inline(always)]
    pub(crate) fn sums<R: Real, const M: usize>(
        &self,
        values: [&[R]; M],
        mut targets: [&mut [R]; M],
    ) {
        let (mut first, mut term) = (0, 0);
        for &[n, count] in &self.groups {
            let (n, count) = (n as usize, count as usize);
            let group = Group {
                target: &self.target[first..first + count],
                index: &self.index[term..term + n * count],
                coefficient: &self.coefficient[term..term + n * count],
            };
            match n {
                1 => group.fixed::<R, M, 1>(values, &mut targets),
                2 => group.fixed::<R, M, 2>(values, &mut targets),
                3 => group.fixed::<R, M, 3>(values, &mut targets),
                4 => group.fixed::<R, M, 4>(values, &mut targets),
                5 => group.fixed::<R, M, 5>(values, &mut targets),
                6 => group.fixed::<R, M, 6>(values, &mut targets),
                7 => group.fixed::<R, M, 7>(values, &mut targets),
                UNROLLED => group.fixed::<R, M, UNROLLED>(values, &mut targets),
                _ => group.any(n, values, &mut targets),
            }
            (first, term) = (first + count, term + n * count);
        }
    }
}

/// Targets with the same number of terms.
#[derive(Clone, Copy)]
struct Group<'a> {
    target: &'a [u32],
    index: &'a [u32],
    coefficient: &'a [f64],
}

impl Group<'_> {
    /// Sums of N terms.
    #[inline(always)]
    fn fixed<R: Real, const M: usize, const N: usize>(
        self,
        values: [&[R]; M],
        targets: &mut [&mut [R]; M],
    ) {
        let (index, _) = self.index.as_chunks::<N>();
        let (coefficient, _) = self.coefficient.as_chunks::<N>();
        for i in 0..self.target.len() {
            for v in 0..M {
                let mut sum = R::lit(coefficient[i][0]) * values[v][index[i][0] as usize];
                for j in 1..N {
                    sum = R::lit(coefficient[i][j]).mul_add(values[v][index[i][j] as usize], sum);
                }
                targets[v][self.target[i] as usize] = sum;
            }
        }
    }

    /// Sums of `n` terms, four at a time.
    #[inline(always)]
    fn any<R: Real, const M: usize>(
        self,
        n: usize,
        values: [&[R]; M],
        targets: &mut [&mut [R]; M],
    ) {
        for i in 0..self.target.len() {
            let range = i * n..(i + 1) * n;
            let (index, rest) = self.index[range.clone()].as_chunks::<4>();
            let (coefficient, other) = self.coefficient[range].as_chunks::<4>();
            let mut sums = [[R::lit(0.0); 4]; M];
            for chunk in 0..index.len() {
                for j in 0..4 {
                    let (at, factor) = (index[chunk][j] as usize, R::lit(coefficient[chunk][j]));
                    for v in 0..M {
                        sums[v][j] = factor.mul_add(values[v][at], sums[v][j]);
                    }
                }
            }
            for j in 0..rest.len() {
                for v in 0..M {
                    let value = values[v][rest[j] as usize];
                    sums[v][j] = R::lit(other[j]).mul_add(value, sums[v][j]);
                }
            }
            for v in 0..M {
                let [a, b, c, d] = sums[v];
                targets[v][self.target[i] as usize] = (a + b) + (c + d);
            }
        }
    }
}
