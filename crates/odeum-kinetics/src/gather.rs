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
        let (mut first, mut term) = (0, 0);
        for &[n, count] in &self.groups {
            let (n, count) = (n as usize, count as usize);
            let group = &self.target[first..first + count];
            let index = &self.index[term..term + n * count];
            let coefficient = &self.coefficient[term..term + n * count];
            match n {
                1 => fixed::<R, 1>(group, index, coefficient, values, targets),
                2 => fixed::<R, 2>(group, index, coefficient, values, targets),
                3 => fixed::<R, 3>(group, index, coefficient, values, targets),
                4 => fixed::<R, 4>(group, index, coefficient, values, targets),
                5 => fixed::<R, 5>(group, index, coefficient, values, targets),
                6 => fixed::<R, 6>(group, index, coefficient, values, targets),
                7 => fixed::<R, 7>(group, index, coefficient, values, targets),
                UNROLLED => fixed::<R, UNROLLED>(group, index, coefficient, values, targets),
                _ => any(n, group, index, coefficient, values, targets),
            }
            (first, term) = (first + count, term + n * count);
        }
    }
}

/// Sums of N terms.
#[inline(always)]
fn fixed<R: Real, const N: usize>(
    group: &[u32],
    index: &[u32],
    coefficient: &[f64],
    values: &[R],
    targets: &mut [R],
) {
    let (index, _) = index.as_chunks::<N>();
    let (coefficient, _) = coefficient.as_chunks::<N>();
    for i in 0..group.len() {
        let mut sum = R::lit(coefficient[i][0]) * values[index[i][0] as usize];
        for j in 1..N {
            sum = R::lit(coefficient[i][j]).mul_add(values[index[i][j] as usize], sum);
        }
        targets[group[i] as usize] = sum;
    }
}

/// Sums of `n` terms, four at a time.
#[inline(always)]
fn any<R: Real>(
    n: usize,
    group: &[u32],
    index: &[u32],
    coefficient: &[f64],
    values: &[R],
    targets: &mut [R],
) {
    for i in 0..group.len() {
        let range = i * n..(i + 1) * n;
        let (index, rest) = index[range.clone()].as_chunks::<4>();
        let (coefficient, other) = coefficient[range].as_chunks::<4>();
        let mut sums = [R::lit(0.0); 4];
        for chunk in 0..index.len() {
            for j in 0..4 {
                let value = values[index[chunk][j] as usize];
                sums[j] = R::lit(coefficient[chunk][j]).mul_add(value, sums[j]);
            }
        }
        for j in 0..rest.len() {
            sums[j] = R::lit(other[j]).mul_add(values[rest[j] as usize], sums[j]);
        }
        targets[group[i] as usize] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}
