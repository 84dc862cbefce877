//! Linear combinations of vectors over lanes, out of line.

use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// The nonzero coefficients of one linear combination.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) terms: Vec<(usize, f64)>,
}

impl Row {
    pub(crate) fn new(dense: &[f64]) -> Self {
        let nonzero = dense.iter().copied().enumerate().filter(|(_, a)| *a != 0.0);
        Row { terms: nonzero.collect() }
    }
}

/// `out` = `base` + `scale` Σ aⱼ vⱼ, where the vectors \[n\] lie one after the other; nothing for
/// `base` means zero.
pub(crate) struct Combination<'a, L> {
    pub(crate) out: &'a mut [L],
    pub(crate) base: Option<&'a [L]>,
    pub(crate) vectors: &'a [L],
    pub(crate) row: &'a Row,
    pub(crate) scale: L,
}

impl<L: Lanes> Outlined for Combination<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Combination { out, base, vectors, row, scale } = self;
        let n = out.len();
        match base {
            Some(base) => out.copy_from_slice(&base[..n]),
            None => out.fill(L::lit(0.0)),
        }
        // Two terms at a time halve the passes over `out`.
        let mut pairs = row.terms.chunks_exact(2);
        for pair in &mut pairs {
            let [(j, a), (k, b)] = [pair[0], pair[1]];
            let (a, b) = (scale * L::lit(a), scale * L::lit(b));
            let (v, w) = (&vectors[j * n..(j + 1) * n], &vectors[k * n..(k + 1) * n]);
            for i in 0..n {
                out[i] = w[i].mul_add(b, v[i].mul_add(a, out[i]));
            }
        }
        for &(j, a) in pairs.remainder() {
            let a = scale * L::lit(a);
            let v = &vectors[j * n..(j + 1) * n];
            for i in 0..n {
                out[i] = v[i].mul_add(a, out[i]);
            }
        }
    }
}
