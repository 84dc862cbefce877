//! How many eigenvalues are computed where species are many: a wave in a cell takes S³ operations.
//!
//! Up to [`ALL`] species are judged by all waves in all cells of a sample. Of more the operations are bounded: waves are
//! fewer, and then cells, those whose matrices can have the largest eigenvalues and the fastest growth.

use crate::time::linearised::{Parts, Wave};
use crate::time::sampling::Sampling;

/// Species up to which nothing is left out.
const ALL: usize = 8;

/// Operations \[S³\] at the start, which are some seconds, and on the way.
const OPERATIONS: [f64; 2] = [4e8, 2.5e7];

/// Cells that are worth more than more waves, and those that are judged whatever they cost.
const FEW: usize = 16;
const LEAST: usize = 4;

/// How closely waves are sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waves {
    /// Where only the Laplacian counts: waves evenly from the least to the largest symbol.
    pub(super) without_velocity: usize,
    /// Angles along an axis where there is a velocity too, on grids of one, two and three axes.
    pub(super) per_axis: [usize; 3],
    /// From one wavenumber to the next, down to the longest wave of the box.
    pub(super) ratio: f64,
}

/// Those of the start, of running samples, and of very many species.
const WAVES: [Waves; 3] = [
    Waves { without_velocity: 33, per_axis: [129, 17, 9], ratio: 1.09 },
    Waves { without_velocity: 9, per_axis: [33, 9, 5], ratio: 2.0 },
    Waves { without_velocity: 5, per_axis: [9, 5, 3], ratio: 4.0 },
];

/// Eigenvalues of so many species that may be computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    most: usize,
    waves: &'static [Waves],
}

impl Effort {
    pub(super) fn new(species: usize, sampling: Sampling) -> Effort {
        let operations = OPERATIONS[usize::from(sampling == Sampling::Running)];
        let most = match species {
            _ if species <= ALL => usize::MAX,
            _ => (operations / (species as f64).powi(3)) as usize,
        };
        let first = usize::from(sampling == Sampling::Running);
        let last = if species <= ALL { first } else { WAVES.len() - 1 };
        Effort { most, waves: &WAVES[first..=last] }
    }

    /// The most waves, of which `count` says how many a set has, that leave time for some of so many matrices.
    pub(super) fn waves(&self, matrices: usize, count: impl Fn(&Waves) -> usize) -> Waves {
        let leaves = |waves: &&Waves| count(waves).saturating_mul(matrices.min(FEW)) <= self.most;
        let fewest = &self.waves[self.waves.len() - 1];
        *self.waves.iter().find(leaves).unwrap_or(fewest)
    }

    /// How many matrices there is time for with so many waves.
    pub(super) fn matrices(&self, waves: usize) -> usize {
        (self.most / waves.max(1)).max(LEAST)
    }
}

/// So many of some matrices: those that can have the largest eigenvalues on the fastest of these waves, the fastest growth on the
/// slowest, and the largest eigenvalues there.
pub(super) fn most_important(matrices: Vec<Parts>, count: usize, waves: &[Wave]) -> Vec<Parts> {
    let speed = |wave: &&Wave| -> f64 { wave.laplacian.iter().map(|symbol| symbol.abs()).sum() };
    let by_speed = |a: &&Wave, b: &&Wave| speed(a).total_cmp(&speed(b));
    let (Some(fast), Some(slow)) = (waves.iter().max_by(by_speed), waves.iter().min_by(by_speed))
    else {
        return matrices;
    };
    if matrices.len() <= count {
        return matrices;
    }
    let bounds = |parts: &Parts| {
        let [size, _] = parts.bounds(fast);
        let [slow_size, growth] = parts.bounds(slow);
        // A derivative that is not finite says nothing about the size of a step; a bound that overflows does.
        let other = if parts.is_finite() { f64::INFINITY } else { f64::NEG_INFINITY };
        [size, growth, slow_size].map(|x| if x.is_finite() { x } else { other })
    };
    let bounds: Vec<[f64; 3]> = matrices.iter().map(bounds).collect();
    let ranked = [0, 1, 2].map(|which| {
        let mut ranked: Vec<usize> = (0..matrices.len()).collect();
        ranked.sort_by(|a, b| bounds[*b][which].total_cmp(&bounds[*a][which]));
        ranked
    });
    let mut taken = vec![false; matrices.len()];
    let in_turn = (0..matrices.len()).flat_map(|n| [0, 1, 2].map(|which| ranked[which][n]));
    let mut left = count;
    for n in in_turn {
        if left > 0 && !taken[n] {
            taken[n] = true;
            left -= 1;
        }
    }
    matrices.into_iter().zip(taken).filter_map(|(parts, taken)| taken.then_some(parts)).collect()
}
