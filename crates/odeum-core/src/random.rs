//! Random numbers that are the same on every machine.
//!
//! SplitMix64: Steele, Lea & Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014,
//! with the constants of Stafford's variant 13. A sequence of numbers comes from [`SplitMix64`];
//! numbers that depend on a place alone, in whatever order they are made, from [`mix`].

/// The increment of SplitMix64: 2⁶⁴ over the golden ratio, made odd.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64: a bijection of 64 bits in which every input bit changes
/// about half of the output bits.
#[must_use]
pub fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The generator: its `k`-th output is `mix(seed + k GAMMA)`, k from 1.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator; the same seed gives the same numbers.
    #[must_use]
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mix(self.0)
    }

    /// A number below `n`, all equally likely to 2⁻⁶⁴ n; zero for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// True half of the time.
    pub fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::{GAMMA, SplitMix64, mix};

    #[test]
    fn first_numbers_are_those_of_splitmix64() {
        // The published generator with seed 0 starts with these.
        let first = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        let mut random = SplitMix64::new(0);
        assert_eq!([(); 3].map(|()| random.bits()), first);
        assert_eq!([1, 2, 3].map(|k| mix(GAMMA.wrapping_mul(k))), first);
    }

    #[test]
    fn all_numbers_are_equally_likely() {
        let mut random = SplitMix64::new(1);
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
