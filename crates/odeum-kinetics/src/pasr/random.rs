//! Random numbers that are the same on every machine.

use odeum_core::random::{GAMMA, mix};

/// SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// A number below `n`, all equally likely to 2⁻⁶⁴ n.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// True half of the time.
    pub(super) fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn all_numbers_are_equally_likely() {
        let mut random = Random::new(1);
        let mut counts = [0_i32; 7];
        let mut heads = 0_i32;
        for _ in 0..70_000 {
            counts[random.below(7)] += 1;
            heads += i32::from(random.coin());
        }
        // Four standard deviations of the binomial distribution are 370 and 530.
        assert!(counts.iter().all(|n| (n - 10_000).abs() < 370), "{counts:?}");
        assert!((heads - 35_000).abs() < 530, "{heads}");
    }
}
