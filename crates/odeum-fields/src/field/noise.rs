//! Random numbers that depend on the cell alone.

use crate::field::Field;
use crate::problem::grid::Grid;
use odeum_core::random::{GAMMA, mix};
use odeum_ode::{Error, Scalar};

/// A number uniform in \[−1, 1), for a seed, a species and the number of a cell: the same in any
/// order of the cells. SplitMix64 as a hash.
pub fn noise(seed: u64, species: usize, cell: usize) -> f64 {
    // Mixed by itself: the sum of a seed and a species is also that of the next seed and the species before.
    let mut x = mix(seed.wrapping_add(GAMMA));
    for part in [species as u64, cell as u64] {
        x = mix(x.wrapping_add(part).wrapping_add(GAMMA));
    }
    // 53 bits, the precision of the result.
    (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// A field without any symmetry, of values in \[0.1, 0.9): what kernels are compared on.
///
/// # Errors
/// A grid too large for memory.
#[doc(hidden)]
pub fn rough<T: Scalar>(grid: &Grid, species: usize) -> Result<Field<T>, Error> {
    let mut cell = 0;
    Field::from_fn(grid, species, |s, _| {
        cell += 1;
        0.5 + 0.4 * noise(7, s, cell)
    })
}

#[cfg(test)]
mod tests {
    use super::noise;

    #[test]
    fn numbers_are_uniform_and_differ() {
        let numbers: Vec<f64> = (0..100_000).map(|cell| noise(1, 0, cell)).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let square = numbers.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(numbers.iter().all(|x| (-1.0..1.0).contains(x)));
        assert!(mean.abs() < 0.01 && (square - 1.0 / 3.0).abs() < 0.01, "{mean} {square}");
        assert_ne!(noise(1, 0, 0), noise(2, 0, 0));
        assert_ne!(noise(1, 0, 0), noise(1, 1, 0));
    }

    #[test]
    fn neighbouring_seeds_share_no_numbers() {
        let mut seen = std::collections::HashSet::new();
        for (seed, species, cell) in
            (0..8).flat_map(|k| (0..8).flat_map(move |s| (0..8).map(move |c| (k, s, c))))
        {
            let bits = noise(seed, species, cell).to_bits();
            assert!(seen.insert(bits), "seed {seed}, species {species}, cell {cell}");
        }
    }
}
