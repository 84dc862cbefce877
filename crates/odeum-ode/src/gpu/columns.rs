//! What a thread that has a system of its own keeps in columns of shared memory (device/columns.cuh).

use odeum_cuda::Text;

/// Bytes of the stages of a thread there, at most.
const MOST_OF_STAGES: usize = 512;
/// Of all columns. What is left of the memory is the cache of what neither registers nor columns hold: with 768 or 816 bytes
/// hydrogen takes 2 to 5 % longer (Rodas4, H100).
const MOST: usize = 720;

/// Columns, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns {
    stages: usize,
    state: usize,
    factors: usize,
    /// Of those of the stages, which are empty while J is evaluated, the ones for values that wait meanwhile.
    pub(super) spills: usize,
}

impl Columns {
    /// Of a method with so many stages of `changing` components, and factors of so many bytes; none where the stages are too large.
    pub(super) fn wanted(stages: usize, changing: usize, factors: usize, word: usize) -> Columns {
        let stages = stages * changing;
        if stages == 0 || stages * word > MOST_OF_STAGES {
            return Columns::default();
        }
        let others = (MOST / word).saturating_sub(stages + changing);
        // What is not in stages is read as 64 bits.
        if word < 8 || others == 0 {
            return Columns { stages, ..Columns::default() };
        }
        Columns { stages, state: changing, factors: others.min(factors / word), spills: stages }
    }

    pub(super) fn len(&self) -> usize {
        self.stages + self.state + self.factors
    }

    pub(super) fn write(&self, text: &mut Text) {
        text.define("OD_STAGE_COLUMNS", self.stages);
        text.define("OD_STATE_COLUMNS", self.state);
        text.define("OD_FACTOR_COLUMNS", self.factors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_stages_then_the_state_then_factors() {
        // Hydrogen by Rodas4, whose 100 factors are of single precision.
        let hydrogen = Columns::wanted(6, 10, 400, 8);
        assert_eq!(hydrogen, Columns { stages: 60, state: 10, factors: 20, spills: 60 });
        assert_eq!(hydrogen.len() * 8, MOST);
        let small = Columns::wanted(4, 6, 18 * 8, 8);
        assert_eq!(small, Columns { stages: 24, state: 6, factors: 18, spills: 24 });
        let single = Columns::wanted(6, 10, 400, 4);
        assert_eq!(single, Columns { stages: 60, ..Columns::default() });
        // Two stages of 32: with the state more than there may be.
        assert_eq!(Columns::wanted(2, 32, 800, 8), Columns { stages: 64, ..Columns::default() });
        for none in [Columns::wanted(6, 11, 400, 8), Columns::wanted(0, 10, 400, 8)] {
            assert_eq!(none, Columns::default());
        }
    }
}
