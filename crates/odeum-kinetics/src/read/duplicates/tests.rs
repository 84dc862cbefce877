//! Against the definition, pair by pair, on random reactions; and how the work grows.

use odeum_core::random::SplitMix64;

use super::*;
use crate::mechanism::{Arrhenius, Species, Thermo, ThirdBody};

const N_SPECIES: usize = 3;

/// A reaction of isomers, as there are few of: many come again.
fn random_reaction(random: &mut SplitMix64) -> Reaction {
    let side = |random: &mut SplitMix64| {
        let factor = [1.0, 2.0, 0.5][random.below(3)];
        let (a, b) = (random.below(N_SPECIES), random.below(N_SPECIES));
        match random.below(2) {
            _ if a == b => vec![(a, 2.0 * factor)],
            0 => vec![(a, factor), (b, factor)],
            _ => vec![(b, factor), (a, factor)],
        }
    };
    let third_body = (random.below(2) == 0).then(|| ThirdBody {
        default_efficiency: random.below(2) as f64,
        efficiencies: (0..random.below(3))
            .map(|_| (random.below(N_SPECIES), random.below(3) as f64))
            .collect(),
    });
    let reactants = side(random);
    Reaction {
        equation: String::new(),
        orders: reactants.clone(),
        reactants,
        products: side(random),
        reversible: random.below(2) == 0,
        rate: Rate::Arrhenius(Arrhenius { a: 1.0, b: 0.0, ta: 0.0 }),
        third_body,
        duplicate: random.below(2) == 0,
        line: 0,
    }
}

/// Each reaction is an entry of its own.
fn mechanism(mut reactions: Vec<Reaction>) -> Mechanism {
    for (i, reaction) in reactions.iter_mut().enumerate() {
        reaction.line = i;
    }
    let thermo = Thermo::Nasa7(Vec::new());
    let species =
        Species { name: String::new(), composition: Vec::new(), weight: 1.0, thermo, line: 0 };
    Mechanism { species: vec![species; N_SPECIES], reactions, ..Mechanism::default() }
}

/// Coefficients of every species among reactants and products.
fn coefficients(reaction: &Reaction, backward: bool) -> Vec<f64> {
    let mut all = [0.0; 2 * N_SPECIES];
    for (is_product, side) in [(false, &reaction.reactants), (true, &reaction.products)] {
        for &(k, n) in side {
            all[k + if is_product != backward { N_SPECIES } else { 0 }] += n;
        }
    }
    let sum: f64 = all.iter().sum();
    all.iter().map(|n| n / sum).collect()
}

fn efficiency(reaction: &Reaction, k: usize) -> f64 {
    reaction.third_body.as_ref().map_or(1.0, |body| {
        let own = body.efficiencies.iter().find(|entry| entry.0 == k);
        own.map_or(body.default_efficiency, |entry| entry.1)
    })
}

fn same_equation(a: &Reaction, b: &Reaction, backward: bool) -> bool {
    let pairs = coefficients(a, false).into_iter().zip(coefficients(b, backward));
    pairs.into_iter().all(|(x, y)| (x - y).abs() < 1e-6)
}

fn same(a: &Reaction, b: &Reaction) -> bool {
    let either = a.reversible || b.reversible;
    (same_equation(a, b, false) || (either && same_equation(a, b, true)))
        && a.third_body.is_some() == b.third_body.is_some()
}

fn named(reaction: &Reaction) -> Option<usize> {
    let body = reaction.third_body.as_ref()?;
    match body.efficiencies[..] {
        [(k, _)] if body.default_efficiency == 0.0 => Some(k),
        _ => None,
    }
}

#[test]
fn as_defined_pair_by_pair() {
    let (mut twice, mut alone, mut beside) = (0, 0, 0);
    for seed in 0..2000 {
        let mut random = SplitMix64::new(seed);
        let n = 1 + random.below(30);
        let mut all: Vec<Reaction> = (0..n).map(|_| random_reaction(&mut random)).collect();
        for reaction in &mut all {
            // A collider listed twice has no meaning; readers never make one.
            if let Some(body) = &mut reaction.third_body {
                let mut seen = HashSet::new();
                body.efficiencies.retain(|entry| seen.insert(entry.0));
            }
        }
        let all = mechanism(all);
        let found = Duplicates::of(&all);
        let reactions = &all.reactions;
        let mut again = vec![None; n];
        let mut pairs = Vec::new();
        for j in 0..n {
            for i in 0..j {
                let (a, b) = (&reactions[i], &reactions[j]);
                let fraction = (0..N_SPECIES).any(|k| efficiency(a, k) * efficiency(b, k) != 0.0);
                if !same(a, b) || (a.duplicate && b.duplicate) || !fraction {
                    continue;
                }
                match (named(a), named(b)) {
                    (Some(k), None) if a.third_body.is_some() => pairs.push((j, i, k)),
                    (None, Some(k)) if a.third_body.is_some() => pairs.push((i, j, k)),
                    _ => again[j] = again[j].or(Some((i, j))),
                }
            }
        }
        let expected: Vec<(usize, usize)> = again.into_iter().flatten().collect();
        assert_eq!(found.twice, expected, "{seed}: {reactions:#?}");
        let partner = |i: usize| {
            let a = &reactions[i];
            let mut others = (0..n).filter(|&j| i != j).map(|j| &reactions[j]);
            others.any(|b| b.duplicate && [false, true].iter().any(|&way| same_equation(a, b, way)))
        };
        let told = |i: usize| expected.iter().any(|pair| pair.0 == i || pair.1 == i);
        let lonely: Vec<usize> =
            (0..n).filter(|&i| reactions[i].duplicate && !partner(i) && !told(i)).collect();
        assert_eq!(found.alone, lonely, "{seed}");
        let mut flat: Vec<(usize, usize, usize)> = Vec::new();
        for GenericAndNamed { generic, named, collider } in &found.beside {
            for &i in generic {
                flat.extend(named.iter().map(|&j| (i, j, *collider)));
            }
        }
        flat.sort_unstable();
        pairs.sort_unstable();
        assert_eq!(flat, pairs, "{seed}");
        twice += expected.len();
        alone += lonely.len();
        beside += pairs.len();
    }
    assert!(twice > 300 && alone > 300 && beside > 100, "{twice} {alone} {beside}");
}

/// Marked duplicates of one equation are of one kind, or of few.
#[test]
fn work_grows_with_the_kinds() {
    let mut random = SplitMix64::new(1);
    let mut one = random_reaction(&mut random);
    (one.duplicate, one.third_body) = (true, None);
    let found = Duplicates::of(&mechanism(vec![one.clone(); 8000]));
    assert_eq!(found, Duplicates { compared: 1, ..Duplicates::default() });
    one.duplicate = false;
    let found = Duplicates::of(&mechanism(vec![one.clone(); 8000]));
    assert_eq!((found.twice.len(), found.compared), (7999, 1));
    // As many with M, each with efficiencies of its own.
    let with = |i: usize| {
        let efficiencies = vec![(i % N_SPECIES, 0.5 + i as f64)];
        let third_body = Some(ThirdBody { default_efficiency: 1.0, efficiencies });
        Reaction { duplicate: true, third_body, ..one.clone() }
    };
    let found = Duplicates::of(&mechanism((0..8000).map(with).collect()));
    assert!(found.compared < 8000 && found.twice.is_empty() && found.alone.is_empty());
}
