//! Sums over sparse lists: each target takes what is its own, in a fixed order.
//!
//! Gathering by owner keeps the sum in a register, stores it once, and gives the same bits on
//! every backend, where scattering reaction by reaction would load and store at every term.

use odeum_core::Real;

/// For each target: values to add, values to subtract, and values to add with a coefficient.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Gather {
    /// Ends of the three lists of each target, in one array of indices: [3 × targets + 1].
    pub(crate) starts: Vec<u32>,
    /// Index of each value.
    pub(crate) index: Vec<u32>,
    /// Coefficient of each value of a third list; the others have none.
    pub(crate) coefficient: Vec<f64>,
    /// Where the coefficients of each target begin. \[targets + 1\]
    pub(crate) coefficient_starts: Vec<u32>,
}

impl Gather {
    /// From the (index, coefficient) of the values of each target.
    pub(crate) fn new(targets: &[Vec<(usize, f64)>]) -> Gather {
        let mut gather =
            Gather { starts: vec![0], coefficient_starts: vec![0], ..Gather::default() };
        for terms in targets {
            let ones = |wanted: f64| terms.iter().filter(move |(_, c)| *c == wanted);
            for wanted in [1.0, -1.0] {
                gather.index.extend(ones(wanted).map(|(i, _)| *i as u32));
                gather.starts.push(gather.index.len() as u32);
            }
            for &(i, c) in terms.iter().filter(|(_, c)| c.abs() != 1.0) {
                gather.index.push(i as u32);
                gather.coefficient.push(c);
            }
            gather.starts.push(gather.index.len() as u32);
            gather.coefficient_starts.push(gather.coefficient.len() as u32);
        }
        gather
    }

    /// The sum of target `i` over `values`.
    #[inline(always)]
    pub(crate) fn sum<R: Real>(&self, i: usize, values: &[R]) -> R {
        let ends = &self.starts[3 * i..3 * i + 4];
        let mut sum = R::lit(0.0);
        for &j in &self.index[ends[0] as usize..ends[1] as usize] {
            sum = sum + values[j as usize];
        }
        for &j in &self.index[ends[1] as usize..ends[2] as usize] {
            sum = sum - values[j as usize];
        }
        let scaled = &self.index[ends[2] as usize..ends[3] as usize];
        let first = self.coefficient_starts[i] as usize;
        for n in 0..scaled.len() {
            sum = R::lit(self.coefficient[first + n]).mul_add(values[scaled[n] as usize], sum);
        }
        sum
    }
}
