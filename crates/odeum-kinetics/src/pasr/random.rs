//! Random numbers that are the same on every machine.

/// SplitMix64: Steele, Lea & Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014,
/// with the constants of Stafford's variant 13.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
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
    fn first_numbers_are_those_of_splitmix64() {
        // The published generator with seed 0 starts with these.
        let mut random = Random::new(0);
        let first = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!([(); 3].map(|()| random.bits()), first);
    }

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
