//! What the readers take, and what they refuse by name.

/// Something that mechanism files may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name in Cantera YAML, or its Chemkin keyword.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// What to do about it, where the readers do not take it: a file that has it is refused.
    pub remedy: Option<&'static str>,
}

const fn yes(name: &'static str, meaning: &'static str) -> Feature {
    Feature { name, meaning, remedy: None }
}

const fn no(name: &'static str, meaning: &'static str, remedy: &'static str) -> Feature {
    Feature { name, meaning, remedy: Some(remedy) }
}

/// Of a rate: without it the reaction would have another one.
pub(crate) const FIT: &str = "fit the rate by A, b and E or by PLOG, or leave the reaction out";
/// Of what is no reaction of a gas.
const REACTION: &str = "leave the reaction out";
/// Of a file of surfaces.
const SURFACES: &str = "give the mechanism of the gas, often chem.inp";
/// Of what changes no rate.
const NO_RATE: &str = "leave it out, which changes no rate";
pub(crate) const DATA: &str = "give NASA7, NASA9, Shomate or constant-cp";
pub(crate) const PHASE: &str = "choose a phase of an ideal gas";

/// All features that the readers know.
pub const FEATURES: &[Feature] = &[
    yes("elementary", "modified Arrhenius rate"),
    yes("three-body", "with efficiencies, or one named collider"),
    yes("falloff", "Lindemann, Troe, SRI and Tsang; (+M) or one named collider"),
    yes("chemically-activated", "the same blending functions"),
    yes("pressure-dependent-Arrhenius", "PLOG, with several rates at one pressure"),
    yes("Chebyshev", "in temperature and pressure"),
    yes("orders", "of irreversible reactions, also negative and of species that do not react"),
    yes("duplicate", "several reactions of one equation"),
    yes("negative-A", "negative pre-exponential factors"),
    yes("NASA7", "one or two ranges"),
    yes("NASA9", "any number of ranges"),
    yes("Shomate", "one or two ranges"),
    yes("constant-cp", "heat capacity without dependence on temperature"),
    yes("ideal-gas", "phase model"),
    yes("LOW", "Chemkin: low-pressure limit"),
    yes("HIGH", "Chemkin: high-pressure limit of a chemically activated reaction"),
    yes("TROE", "Chemkin: three or four parameters"),
    yes("SRI", "Chemkin: three or five parameters"),
    yes("PLOG", "Chemkin: pressure and A, b, E"),
    yes("CHEB", "Chemkin: with TCHEB and PCHEB"),
    yes("REV", "Chemkin: reverse rate; read as two irreversible reactions"),
    yes("FORD", "Chemkin: orders of the forward rate"),
    yes("RORD", "Chemkin: orders of the rate that REV gives"),
    yes("UNITS", "Chemkin: units of one reaction"),
    yes("DUPLICATE", "Chemkin"),
    no("Blowers-Masel", "activation energy that depends on the reaction enthalpy", FIT),
    no("linear-Burke", "mixture rule of falloff rates", FIT),
    no("two-temperature-plasma", "electron temperature", FIT),
    no("electron-collision-plasma", "cross sections", FIT),
    no("interface-Arrhenius", "surface reactions", REACTION),
    no("interface-Blowers-Masel", "surface reactions", REACTION),
    no("sticking-Arrhenius", "surface reactions", REACTION),
    no("sticking-Blowers-Masel", "surface reactions", REACTION),
    no("electrochemical", "charge transfer at surfaces", REACTION),
    no("extensible", "rates written as code", FIT),
    no("custom-rate-function", "rates written as code", FIT),
    no("piecewise-Gibbs", "thermodynamic model", DATA),
    no("ideal-surface", "phase model", PHASE),
    no("coverage-dependent-surface", "phase model", PHASE),
    no("surface", "kinetics of surfaces", PHASE),
    no("edge", "kinetics of edges", PHASE),
    no("plasma", "phase model", PHASE),
    no("Redlich-Kwong", "phase model of a real gas", PHASE),
    no("Peng-Robinson", "phase model of a real gas", PHASE),
    no("ideal-molal-solution", "phase model", PHASE),
    no("ideal-condensed", "phase model", PHASE),
    no("fixed-stoichiometry", "phase model", PHASE),
    no("pure-fluid", "phase model", PHASE),
    no("electron-cloud", "phase model", PHASE),
    no("LT", "Chemkin: Landau-Teller rate", FIT),
    no("RLT", "Chemkin: Landau-Teller reverse rate", FIT),
    no("JAN", "Chemkin: polynomial fit of ln k", FIT),
    no("FIT1", "Chemkin: power series of ln k", FIT),
    no("EXCI", "Chemkin: energy loss of excitation", NO_RATE),
    no("MOME", "Chemkin: momentum-transfer collision frequency", REACTION),
    no("XSMI", "Chemkin: collision cross section of ions", REACTION),
    no("TDEP", "Chemkin: species temperature", FIT),
    no("HV", "Chemkin: photon", NO_RATE),
    no("STICK", "Chemkin: surface reaction", REACTION),
    no("COV", "Chemkin: surface reaction", REACTION),
    no("ENRGDEP", "Chemkin: surface reaction", REACTION),
    no("BOHM", "Chemkin: surface reaction", REACTION),
    no("MWON", "Chemkin: correction of sticking coefficients", SURFACES),
    no("MWOFF", "Chemkin: correction of sticking coefficients", SURFACES),
    no("SITE", "Chemkin: species of a surface", SURFACES),
    no("BULK", "Chemkin: species of a solid", SURFACES),
    no("MATERIAL", "Chemkin: a surface", SURFACES),
    no("USRPROG", "Chemkin: rates written as code", FIT),
];

/// Whether this is the name of something that is known and not supported.
pub(crate) fn is_refused(name: &str) -> bool {
    FEATURES.iter().any(|feature| feature.name == name && feature.remedy.is_some())
}

/// A remedy for something of this name that is not supported; `other` is one for names that are not known.
pub(crate) fn advice(name: &str, other: Option<&str>) -> String {
    let feature = FEATURES.iter().find(|feature| feature.name == name);
    let remedy = match (feature.and_then(|feature| Some((feature.remedy?, feature.meaning))), other)
    {
        (Some((remedy, meaning)), _) => format!("{remedy} ({meaning})"),
        (None, Some(other)) => format!("{other}, or correct the name"),
        (None, None) => "correct the name".to_owned(),
    };
    format!("{remedy}; supported are ideal gases and their rate laws")
}
