//! Rounds: as many reactions as a group has threads, all computed by the same instructions.

use super::laws::{DeviceReaction, Law, Shape, device_reactions};
use crate::kinetics::Kinetics;
use std::ops::Range;

/// What the reactions of a round have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class {
    pub(super) law: Law,
    pub(super) shape: Shape,
}

/// The reactions that the threads of a group compute at once; the last threads of the last round
/// of a class may have none.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) class: Class,
    pub(super) reactions: Vec<usize>,
}

/// All reactions of a mechanism in rounds, class by class.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Threads of a group.
    pub(super) width: usize,
    pub(super) reactions: Vec<DeviceReaction>,
    pub(super) rounds: Vec<Round>,
    /// Round and thread of each reaction.
    pub(super) place: Vec<(usize, usize)>,
}

impl Rounds {
    pub(super) fn new(kinetics: &Kinetics, width: usize) -> Rounds {
        let reactions = device_reactions(kinetics);
        let class = |r: usize| {
            let DeviceReaction { rate, shape, .. } = reactions[r];
            Class { law: rate.law(), shape }
        };
        // Neighbours with the same species read the same words of memory.
        let species = |r: usize| -> Vec<usize> {
            kinetics.mass_action.slots_of(r).into_iter().map(|(_, species)| species).collect()
        };
        let mut order: Vec<usize> = (0..kinetics.n_reactions()).collect();
        order.sort_by_cached_key(|&r| (class(r), species(r)));
        let mut rounds = Vec::new();
        let mut place = vec![(0, 0); order.len()];
        for of_class in order.chunk_by(|a, b| class(*a) == class(*b)) {
            for reactions in of_class.chunks(width) {
                for (thread, &r) in reactions.iter().enumerate() {
                    place[r] = (rounds.len(), thread);
                }
                let reactions = reactions.to_vec();
                rounds.push(Round { class: class(reactions[0]), reactions });
            }
        }
        Rounds { width, reactions, rounds, place }
    }

    pub(super) fn len(&self) -> usize {
        self.rounds.len()
    }

    /// The rounds of each class.
    pub(super) fn classes(&self) -> Vec<(Class, Range<usize>)> {
        let mut classes: Vec<(Class, Range<usize>)> = Vec::new();
        for (number, round) in self.rounds.iter().enumerate() {
            match classes.last_mut() {
                Some((class, rounds)) if *class == round.class => rounds.end = number + 1,
                _ => classes.push((round.class, number..number + 1)),
            }
        }
        classes
    }

    /// The rounds of which something holds, in order.
    pub(super) fn of(&self, wanted: impl Fn(Class) -> bool) -> Vec<&Round> {
        self.rounds.iter().filter(|round| wanted(round.class)).collect()
    }
}
