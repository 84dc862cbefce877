//! What the readers take, and what they refuse by name.

/// Something that mechanism files may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name in Cantera YAML, or its Chemkin keyword.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Whether the readers take it; otherwise a file that has it is refused.
    pub supported: bool,
}

const fn yes(name: &'static str, meaning: &'static str) -> Feature {
    Feature { name, meaning, supported: true }
}

const fn no(name: &'static str, meaning: &'static str) -> Feature {
    Feature { name, meaning, supported: false }
}

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
    no("Blowers-Masel", "activation energy that depends on the reaction enthalpy"),
    no("linear-Burke", "mixture rule of falloff rates"),
    no("two-temperature-plasma", "electron temperature"),
    no("electron-collision-plasma", "cross sections"),
    no("interface-Arrhenius", "surface reactions"),
    no("interface-Blowers-Masel", "surface reactions"),
    no("sticking-Arrhenius", "surface reactions"),
    no("sticking-Blowers-Masel", "surface reactions"),
    no("electrochemical", "charge transfer at surfaces"),
    no("extensible", "rates written as code"),
    no("custom-rate-function", "rates written as code"),
    no("piecewise-Gibbs", "thermodynamic model"),
    no("ideal-surface", "phase model"),
    no("coverage-dependent-surface", "phase model"),
    no("surface", "kinetics of surfaces"),
    no("edge", "kinetics of edges"),
    no("plasma", "phase model"),
    no("Redlich-Kwong", "phase model of a real gas"),
    no("Peng-Robinson", "phase model of a real gas"),
    no("ideal-molal-solution", "phase model"),
    no("ideal-condensed", "phase model"),
    no("fixed-stoichiometry", "phase model"),
    no("pure-fluid", "phase model"),
    no("electron-cloud", "phase model"),
    no("LT", "Chemkin: Landau-Teller rate"),
    no("RLT", "Chemkin: Landau-Teller reverse rate"),
    no("JAN", "Chemkin: polynomial fit of ln k"),
    no("FIT1", "Chemkin: power series of ln k"),
    no("EXCI", "Chemkin: energy loss of excitation"),
    no("MOME", "Chemkin: momentum-transfer collision frequency"),
    no("XSMI", "Chemkin: collision cross section of ions"),
    no("TDEP", "Chemkin: species temperature"),
    no("HV", "Chemkin: photon"),
    no("USRPROG", "Chemkin: rates written as code"),
];

/// A remedy for something of this name that is not supported.
pub(crate) fn advice(name: &str) -> String {
    match FEATURES.iter().find(|feature| !feature.supported && feature.name == name) {
        Some(feature) => {
            format!(
                "leave it out ({}); supported are ideal gases and their rate laws",
                feature.meaning
            )
        }
        None => "correct the name; supported are ideal gases and their rate laws".to_owned(),
    }
}
