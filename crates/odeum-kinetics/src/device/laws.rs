//! What a thread must compute for each reaction: its rate law, its colliders, its law of mass action.

use crate::kinetics::Kinetics;
use crate::rate::falloff::FalloffTable;

/// The rate law of a reaction, and its number among those of the same law on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceRate {
    Arrhenius,
    Lindemann(usize),
    Troe(usize),
    Tsang(usize),
    Sri(usize),
    Plog(usize),
    Chebyshev(usize),
}

/// Rate laws that device code tells apart, the dearest first. The blending functions of
/// Lindemann, Troe and Tsang are one: Troe's width about a centre a + b T + Σ w exp(…).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Law {
    Chebyshev,
    Plog,
    Sri,
    Broadened,
    Arrhenius,
}

impl Law {
    /// Its type in device code.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Law::Chebyshev => "OdChebyshev",
            Law::Plog => "OdPlog",
            Law::Sri => "OdFalloff<OdSri>",
            Law::Broadened => "OdFalloff<OdBroadened>",
            Law::Arrhenius => "OdArrhenius",
        }
    }
}

impl DeviceRate {
    pub(super) fn law(self) -> Law {
        match self {
            DeviceRate::Arrhenius => Law::Arrhenius,
            DeviceRate::Lindemann(_) | DeviceRate::Troe(_) | DeviceRate::Tsang(_) => Law::Broadened,
            DeviceRate::Sri(_) => Law::Sri,
            DeviceRate::Plog(_) => Law::Plog,
            DeviceRate::Chebyshev(_) => Law::Chebyshev,
        }
    }
}

/// How many factors the law of mass action has, at most, on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// Lists of any length, with orders of any value.
    General,
    /// Three, each to the power one; and colliders, where the rate law has them.
    Three,
    /// Two, and no colliders.
    Two,
}

impl Shape {
    /// Its type in device code.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Shape::General => "OdGasGeneral",
            Shape::Three => "OdGasFactors<3>",
            Shape::Two => "OdGasFactors<2>",
        }
    }
}

/// A reaction, as device code takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceReaction {
    pub(super) rate: DeviceRate,
    pub(super) shape: Shape,
    /// Its number among the reactions with a third body.
    pub(super) body: Option<usize>,
}

/// All reactions of a mechanism in the order of its evaluation.
pub(super) fn device_reactions(kinetics: &Kinetics) -> Vec<DeviceReaction> {
    let action = &kinetics.mass_action;
    let [two, three] = [action.two.reactants.len(), action.three.reactants.len()];
    let shape = |r: usize| match r {
        _ if r < two => Shape::Two,
        _ if r < two + three => Shape::Three,
        _ => Shape::General,
    };
    let plain =
        |r: usize| DeviceReaction { rate: DeviceRate::Arrhenius, shape: shape(r), body: None };
    let mut all: Vec<DeviceReaction> = (0..kinetics.n_reactions()).map(plain).collect();
    for (j, r) in kinetics.bodies.reaction.iter().enumerate() {
        all[*r as usize].body = Some(j);
    }
    let mut of_falloff = |table: &FalloffTable, rate: fn(usize) -> DeviceRate| {
        for i in 0..table.low.len() {
            all[kinetics.bodies.reaction[table.first + i] as usize].rate = rate(i);
        }
    };
    let falloffs = &kinetics.falloffs;
    of_falloff(&falloffs.lindemann, DeviceRate::Lindemann);
    of_falloff(&falloffs.troe, DeviceRate::Troe);
    of_falloff(&falloffs.sri, DeviceRate::Sri);
    of_falloff(&falloffs.tsang, DeviceRate::Tsang);
    for (i, r) in kinetics.tabulated.plog.reaction.iter().enumerate() {
        all[*r as usize].rate = DeviceRate::Plog(i);
    }
    for (i, r) in kinetics.tabulated.chebyshev.reaction.iter().enumerate() {
        all[*r as usize].rate = DeviceRate::Chebyshev(i);
    }
    for reaction in &mut all {
        let simple = reaction.rate == DeviceRate::Arrhenius && reaction.body.is_none();
        if reaction.shape == Shape::Two && !simple {
            reaction.shape = Shape::Three;
        }
    }
    all
}
