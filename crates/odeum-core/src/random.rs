//! The mixing function under all random numbers: the same on every machine, whatever draws them.
//!
//! SplitMix64: Steele, Lea & Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014,
//! with the constants of Stafford's variant 13.

/// What SplitMix64 adds to its state for each number: 2⁶⁴ over the golden ratio, made odd.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64: a bijection of 64 bits in which every input bit changes
/// about half of the output bits. The k-th number of the generator with a seed is
/// `mix(seed + k GAMMA)`, modulo 2⁶⁴, k = 1, 2, …
#[inline]
pub fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_are_those_of_splitmix64() {
        // The published generator with seed 0 starts with these.
        let first = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!([1, 2, 3].map(|k| mix(GAMMA.wrapping_mul(k))), first);
    }
}
