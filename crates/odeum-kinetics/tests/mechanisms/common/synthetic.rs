//! A small mechanism with every rate law. Its numbers are made up to be of the usual size; only
//! self-consistency is tested with it.

use odeum_kinetics::Mechanism;
use odeum_kinetics::mechanism::{
    Arrhenius, Blending, Chebyshev, Element, PlogPoint, Range, Rate, Reaction, Species, Thermo,
    ThirdBody,
};

const ELEMENTS: [(&str, f64); 3] = [("H", 1.008), ("O", 15.999), ("Ar", 39.95)];

/// Name, atoms of H, O and Ar, enthalpy and entropy over R of formation, heat capacity over R.
const SPECIES: [(&str, [f64; 3], f64, f64, f64); 10] = [
    ("H2", [2.0, 0.0, 0.0], -1000.0, 0.5, 3.4),
    ("H", [1.0, 0.0, 0.0], 25_470.0, -0.4, 2.5),
    ("O2", [0.0, 2.0, 0.0], -1100.0, 4.1, 3.6),
    ("O", [0.0, 1.0, 0.0], 29_000.0, 4.8, 2.6),
    ("OH", [1.0, 1.0, 0.0], 3400.0, 5.4, 2.9),
    ("H2O", [2.0, 1.0, 0.0], -30_000.0, 5.0, 2.7),
    ("HO2", [1.0, 2.0, 0.0], 300.0, 9.0, 4.2),
    ("H2O2", [2.0, 2.0, 0.0], -17_800.0, 5.0, 4.5),
    ("AR", [0.0, 0.0, 1.0], -745.0, 4.4, 2.5),
    ("O3", [0.0, 3.0, 0.0], 15_900.0, 8.5, 3.4),
];

fn k(a: f64, b: f64, ta: f64) -> Arrhenius {
    Arrhenius { a, b, ta }
}

/// The same with an irreversible reaction that consumes what it has a negative order of; that of another species stays.
pub(crate) fn with_order_of_consumed() -> Mechanism {
    let mut mechanism = mechanism();
    for reaction in &mut mechanism.reactions {
        if reaction.equation == "H2 + 0.5 O2 => H2O" {
            reaction.orders = vec![(0, -0.3), (2, 1.5), (5, -0.2)];
        }
    }
    mechanism
}

fn species(index: usize) -> Species {
    let (name, atoms, h, s, cp) = SPECIES[index];
    let low = [cp, 1.1e-3, -4e-7, 1.3e-10, -1e-14, h, s];
    let thermo = match name {
        "AR" => Thermo::ConstantCp {
            t0: 298.15,
            h0: 0.0,
            s0: 154_845.0,
            cp0: 20_786.0,
            bounds: (200.0, 6000.0),
        },
        "O3" => Thermo::Nasa9(vec![
            Range { low: 200.0, high: 900.0, a: [5000.0, -60.0, cp, 1e-3, -1e-7, 0.0, 0.0, h, s] },
            Range {
                low: 900.0,
                high: 2000.0,
                a: [8000.0, -80.0, cp + 0.2, 9e-4, -9e-8, 1e-12, 0.0, h - 90.0, s - 0.1],
            },
            Range {
                low: 2000.0,
                high: 6000.0,
                a: [9000.0, -70.0, cp + 0.3, 8e-4, -8e-8, 1e-12, 1e-17, h - 95.0, s - 0.2],
            },
        ]),
        "H2O2" => Thermo::Shomate(vec![
            Range { low: 200.0, high: 1200.0, a: [34.0, 55.0, -35.0, 9.2, -0.42, -149.0, 257.0] },
            Range { low: 1200.0, high: 6000.0, a: [50.0, 30.0, -9.0, 1.2, -1.0, -155.0, 270.0] },
        ]),
        _ => Thermo::Nasa7(vec![
            Range { low: 200.0, high: 1000.0, a: low },
            Range {
                low: 1000.0,
                high: 6000.0,
                a: [cp + 0.1, 9e-4, -2e-7, 3e-11, -2e-15, h - 20.0, s - 0.5],
            },
        ]),
    };
    let composition: Vec<(usize, f64)> =
        atoms.into_iter().enumerate().filter(|(_, n)| *n > 0.0).collect();
    let weight = composition.iter().map(|(e, n)| ELEMENTS[*e].1 * n).sum();
    Species { name: name.to_owned(), composition, weight, thermo, line: index + 1 }
}

fn side(text: &str) -> Vec<(usize, f64)> {
    let terms = text.split('+').map(|term| {
        let term = term.trim();
        let digits = term.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap();
        let n = if digits == 0 { 1.0 } else { term[..digits].parse().unwrap() };
        let name = term[digits..].trim();
        (SPECIES.iter().position(|s| s.0 == name).unwrap(), n)
    });
    terms.collect()
}

/// `A + B <=> C` or `A => B` with this rate.
pub(crate) fn reaction(equation: &str, rate: Rate) -> Reaction {
    let reversible = equation.contains("<=>");
    let (left, right) = equation.split_once(if reversible { "<=>" } else { "=>" }).unwrap();
    Reaction {
        equation: equation.to_owned(),
        reactants: side(left),
        products: side(right),
        orders: side(left),
        reversible,
        rate,
        third_body: None,
        duplicate: false,
        line: 1,
    }
}

fn colliding(equation: &str, rate: Rate, default: f64, efficiencies: &[(usize, f64)]) -> Reaction {
    let efficiencies = efficiencies.to_vec();
    let third_body = Some(ThirdBody { default_efficiency: default, efficiencies });
    Reaction { third_body, ..reaction(equation, rate) }
}

fn falloff(blending: Blending, activated: bool) -> Rate {
    let (low, high) = (k(6.4e14, -1.7, 260.0), k(4.7e10, 0.4, 20.0));
    Rate::Falloff { low, high, blending, activated }
}

pub(crate) fn mechanism() -> Mechanism {
    let some = [(0, 2.0), (5, 12.0), (8, 0.4)];
    let troe = |t3, t1, t2| Blending::Troe { a: 0.6, t3, t1, t2 };
    let plog = |points: &[(f64, &[Arrhenius])]| {
        let point =
            |(p, rates): &(f64, &[Arrhenius])| PlogPoint { pressure: *p, rates: rates.to_vec() };
        Rate::Plog(points.iter().map(point).collect())
    };
    let chebyshev = Chebyshev {
        temperatures: (290.0, 3000.0),
        pressures: (1e3, 1e7),
        coefficients: vec![
            vec![8.3, -1.2, 0.05, 0.01],
            vec![1.1, 0.4, -0.03, 0.002],
            vec![-0.2, 0.05, 0.01, 0.001],
        ],
    };
    let mut reactions = vec![
        reaction("H + O2 <=> O + OH", Rate::Arrhenius(k(1.0e11, 0.0, 7700.0))),
        reaction("O + H2 <=> H + OH", Rate::Arrhenius(k(3.8e9, 0.0, 4000.0))),
        reaction("OH + OH <=> O + H2O", Rate::Arrhenius(k(33.4, 2.42, -970.0))),
        reaction("H + HO2 <=> OH + OH", Rate::Arrhenius(k(7e10, 0.0, 0.0))),
        reaction("HO2 + H => H2 + O2", Rate::Arrhenius(k(2750.0, 2.0, 0.0))),
        reaction("HO2 + HO2 <=> H2O2 + O2", Rate::Arrhenius(k(-1.3e8, 0.0, 800.0))),
        reaction("O3 + O <=> 2 O2", Rate::Arrhenius(k(8e9, 0.0, 2060.0))),
        reaction("3 O <=> O3", Rate::Arrhenius(k(1e9, -1.0, 0.0))),
        reaction("H + OH + O2 => H2O + O2", Rate::Arrhenius(k(1e9, -1.0, 0.0))),
        reaction("2 H + 2 O <=> H2O2", Rate::Arrhenius(k(1e9, 0.5, 100.0))),
        reaction("H2O2 => H2O + 0.5 O2", Rate::Arrhenius(k(1e3, 0.0, 5000.0))),
        reaction("H2O <=> H2 + 0.5 O2", Rate::Arrhenius(k(1e2, 0.0, 5000.0))),
        colliding("H2 <=> H + H", Rate::Arrhenius(k(4.6e16, -1.4, 52_000.0)), 1.0, &some),
        colliding("O + O <=> O2", Rate::Arrhenius(k(6.2e9, -0.5, 0.0)), 1.0, &some),
        colliding("H2 <=> H + H", Rate::Arrhenius(k(5.8e15, -1.1, 52_000.0)), 0.0, &[(8, 1.0)]),
        colliding("H + O2 <=> HO2", falloff(Blending::Lindemann, false), 1.0, &some),
        colliding("H + O2 <=> HO2", falloff(troe(1e-30, 1e30, None), false), 1.0, &some),
        colliding("OH + OH <=> H2O2", falloff(troe(95.0, 1700.0, Some(5200.0)), false), 1.0, &some),
        colliding("H + OH <=> H2O", falloff(troe(80.0, 1900.0, None), false), 0.0, &[(5, 1.0)]),
        colliding("O + OH <=> HO2", falloff(troe(80.0, 1900.0, None), true), 1.0, &some),
        colliding(
            "O + H2O <=> H2O2",
            falloff(Blending::Sri { a: 0.5, b: 300.0, c: 900.0, d: 1.0, e: 0.0 }, false),
            1.0,
            &some,
        ),
        colliding(
            "O + O2 <=> O3",
            falloff(Blending::Sri { a: 0.4, b: 200.0, c: 1900.0, d: 1.2, e: 0.1 }, true),
            1.0,
            &[],
        ),
        colliding(
            "H + O <=> OH",
            falloff(Blending::Tsang { a: 0.9, b: -1.6e-4 }, false),
            1.0,
            &some,
        ),
        reaction(
            "H2O2 <=> OH + OH",
            plog(&[
                (1e4, &[k(1e12, 0.1, 22_000.0)]),
                (1e5, &[k(2e13, 0.0, 22_500.0), k(3e12, 0.2, 21_000.0)]),
                (1e6, &[k(1e14, 0.1, 22_800.0)]),
                (1e7, &[k(4e14, 0.05, 23_000.0)]),
            ]),
        ),
        reaction("HO2 + O <=> OH + O2", Rate::Chebyshev(chebyshev)),
    ];
    let mut ordered = reaction("H2 + 0.5 O2 => H2O", Rate::Arrhenius(k(1e6, 0.3, 9000.0)));
    ordered.orders = vec![(0, 0.7), (2, 1.5), (5, -0.2)];
    reactions.push(ordered);
    let mut first = reaction("H2 + O2 => 2 OH", Rate::Arrhenius(k(1e6, 0.0, 9000.0)));
    first.orders = vec![(0, 1.0)];
    reactions.push(first);
    Mechanism {
        name: "synthetic".to_owned(),
        elements: ELEMENTS
            .iter()
            .map(|(name, weight)| Element { name: (*name).to_owned(), weight: *weight })
            .collect(),
        species: (0..SPECIES.len()).map(species).collect(),
        reactions,
    }
}
