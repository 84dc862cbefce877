//! Tables of the right-hand side of interleaved reactors (interleaved.cuh).

use super::lists::AT_ONCE;
use super::memory::Memory;
use super::production::{MOST_TERMS, repeated};
use super::rounds::Rounds;
use super::{BEFORE, classes, constants, reactions, species};
use crate::kinetics::Kinetics;
use crate::reactor::Reactor;
use odeum_core::emit::{GroupText, Tables};

/// What a part costs beside its terms, in fours of them.
const PART: usize = 2;
/// Sums that each warp has its share of: of production, of heat, and of heat capacity.
const SUMS: usize = 3;

/// Text and tables, for so many warps; `place` is from a number to the next, in bytes.
pub(super) fn text(reactor: &Reactor, warps: usize, place: usize) -> GroupText {
    let kinetics = &**reactor.kinetics();
    let rounds = Rounds::new(kinetics, 1);
    let parts = Part::of(kinetics, &rounds, warps);
    let memory = Memory::interleaved(kinetics, rounds.len() + 1, parts.len(), SUMS * warps);
    let mut tables = Tables::default();
    memory.write(&mut tables);
    species::write(kinetics, 1, &mut tables);
    reactions::write(kinetics, &rounds, place, &mut tables);
    write_production(&parts, kinetics.n_species(), rounds.len(), (warps, place), &mut tables);
    tables.count("OD_GAS_LINEARISES", 0);
    tables.count("OD_GAS_DERIVATIVES", 0);
    tables.count("OD_GAS_WORDS", 1);
    tables.count("OD_GAS_MOST_FACTORS", 0);
    GroupText { text: source(reactor, &rounds), tables, memory: memory.bytes(), in_place: false }
}

fn source(reactor: &Reactor, rounds: &Rounds) -> String {
    let mut text = constants(reactor);
    text.extend(BEFORE);
    text.push_str(include_str!("interleaved.cuh"));
    let signature = "OD_FN void od_gas_reactions(const OdGas &gas)";
    text.push_str(&classes(rounds, signature, "od_gas_share<", "gas"));
    text.push_str(include_str!("interleaved_rhs.cuh"));
    text
}

/// A part of the production of a species, of which a warp takes all: reactions by their places.
#[derive(Clone, Debug, Default)]
struct Part {
    species: usize,
    /// Those whose q is added, and taken away, as many times as they stand there: fours of them, but for the last.
    added: Vec<usize>,
    taken: Vec<usize>,
    /// Those with coefficients that are no small integers.
    weighted: Vec<(usize, f64)>,
}

impl Part {
    /// Of all species, one after the other and each at least one: none has much more than half of what a warp has.
    fn of(kinetics: &Kinetics, rounds: &Rounds, warps: usize) -> Vec<Part> {
        let mut whole: Vec<Part> =
            (0..kinetics.n_species()).map(|species| Part { species, ..Part::default() }).collect();
        for (reaction, net) in kinetics.net.iter().enumerate() {
            let at = rounds.place[reaction].0;
            for &(species, nu) in net {
                let part = &mut whole[species];
                let terms = if nu < 0.0 { &mut part.taken } else { &mut part.added };
                match repeated(nu, MOST_TERMS) {
                    Some((times, _)) => terms.extend(std::iter::repeat_n(at, times)),
                    None => part.weighted.push((at, nu)),
                }
            }
        }
        let all: usize = whole.iter().map(Part::cost).sum();
        let most = (all / (2 * warps)).max(PART);
        whole.into_iter().flat_map(|part| part.split(most)).collect()
    }

    fn fours(terms: &[usize]) -> usize {
        terms.len().div_ceil(AT_ONCE)
    }

    fn cost(&self) -> usize {
        PART + Self::fours(&self.added) + Self::fours(&self.taken) + self.weighted.len()
    }

    /// Parts of at most so many fours, and with the last one the terms that have weights.
    fn split(mut self, most: usize) -> Vec<Part> {
        self.added.sort_unstable();
        self.taken.sort_unstable();
        let species = self.species;
        let mut parts: Vec<Part> = Vec::new();
        let mut room = 0;
        for (is_added, terms) in [(true, &self.added), (false, &self.taken)] {
            for four in terms.chunks(AT_ONCE) {
                if room == 0 {
                    parts.push(Part { species, ..Part::default() });
                    room = most;
                }
                room -= 1;
                let last = parts.len() - 1;
                let part = &mut parts[last];
                let list = if is_added { &mut part.added } else { &mut part.taken };
                list.extend_from_slice(four);
            }
        }
        if parts.is_empty() {
            parts.push(Part { species, ..Part::default() });
        }
        let last = parts.len() - 1;
        parts[last].weighted = self.weighted;
        parts
    }
}

/// The parts in the order in which they are taken, warp by warp.
fn write_production(
    parts: &[Part],
    n_species: usize,
    zero: usize,
    (warps, place): (usize, usize),
    tables: &mut Tables,
) {
    let at = |reaction: usize| (reaction * place) as u32;
    let (mut places, mut others, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    // What stands before the first one ends at 0.
    let mut ends = vec![0; 4];
    let mut first = vec![0];
    let mut taken = 0;
    for share in shares(&parts.iter().map(Part::cost).collect::<Vec<_>>(), warps) {
        taken += share.len() as u32;
        first.push(taken);
        for number in share {
            let Part { species, added, taken, weighted } = &parts[number];
            for terms in [added, taken] {
                places.extend(terms.iter().map(|&reaction| at(reaction)));
                places.resize(places.len().next_multiple_of(AT_ONCE), at(zero));
                ends.push((places.len() / AT_ONCE) as u32);
            }
            others.extend(weighted.iter().map(|&(reaction, _)| at(reaction)));
            weights.extend(weighted.iter().map(|&(_, weight)| weight));
            ends.extend([others.len() as u32, (number | species << 16) as u32]);
        }
    }
    let starts = (0..=n_species).map(|k| parts.partition_point(|part| part.species < k) as u32);
    tables.push_u32("OD_GAS_NET_SHARES", &first);
    tables.push_u32("OD_GAS_NET_ENDS", &ends);
    tables.push_u32("OD_GAS_NET_PLACES", &places);
    tables.count("OD_GAS_NET_WEIGHTED", usize::from(!others.is_empty()));
    tables.push_u32("OD_GAS_NET_WEIGHTED_PLACES", &others);
    tables.push_f64("OD_GAS_NET_WEIGHTS", &weights);
    tables.push_u32("OD_GAS_NET_PARTS", &starts.collect::<Vec<_>>());
    tables.count("OD_GAS_NET_ZERO", zero);
}

/// Which each warp takes: the dearest first, by whoever has least.
fn shares(costs: &[usize], warps: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(costs[k]));
    let mut shares = vec![(0, Vec::new()); warps];
    for k in order {
        if let Some((load, share)) = shares.iter_mut().min_by_key(|(load, _)| *load) {
            *load += costs[k];
            share.push(k);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

#[cfg(test)]
mod tests {
    use super::{Part, shares};

    #[test]
    fn warps_take_about_the_same() {
        assert_eq!(shares(&[1, 9, 4, 7, 3, 8, 2], 3), vec![vec![1, 6, 0], vec![5, 4], vec![3, 2]]);
        let costs: Vec<usize> = (0..57).map(|k| 1 + k * k % 40).collect();
        let shares = shares(&costs, 16);
        let mut all: Vec<usize> = shares.concat();
        all.sort_unstable();
        assert_eq!(all, (0..57).collect::<Vec<_>>());
        let most = shares.iter().map(|share| share.iter().map(|&k| costs[k]).sum::<usize>()).max();
        assert!(most.unwrap() * 16 < 5 * costs.iter().sum::<usize>() / 4, "{most:?}");
    }

    #[test]
    fn long_productions_are_split() {
        let (added, taken) = ((10..20).collect(), vec![3, 1, 2]);
        let whole = Part { species: 5, added, taken, weighted: vec![(7, 0.5)] };
        let parts = whole.split(2);
        let lists: Vec<_> =
            parts.iter().map(|p| (p.added.as_slice(), p.taken.as_slice())).collect();
        let (first, second): (Vec<usize>, Vec<usize>) = ((10..18).collect(), vec![18, 19]);
        assert_eq!(lists, [(&first[..], &[][..]), (&second, &[1, 2, 3])]);
        assert!(parts.iter().all(|part| part.species == 5));
        assert_eq!((parts[0].weighted.len(), parts[1].weighted.len()), (0, 1));
        // A species that no reaction touches has a part, too.
        assert_eq!(Part::default().split(4).len(), 1);
    }
}
