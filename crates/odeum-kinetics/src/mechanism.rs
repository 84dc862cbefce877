//! A mechanism as it was read: elements, species, reactions.
//!
//! All numbers are in SI units with kmol: A in (m³/kmol)^(order − 1)/s, activation temperatures
//! in K, pressures in Pa, molar masses in kg/kmol. The conversion happens where files are read
//! and nowhere else.

/// Elements, species and reactions of one ideal-gas phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mechanism {
    /// Name of the phase, or of the file where the phase has none.
    pub name: String,
    /// Chemical elements.
    pub elements: Vec<Element>,
    /// Species, in the order of the file.
    pub species: Vec<Species>,
    /// Reactions, in the order of the file. A reaction with its own reverse rate (Chemkin's
    /// `REV`) is two irreversible ones.
    pub reactions: Vec<Reaction>,
}

/// A chemical element.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Symbol, as the file spells it.
    pub name: String,
    /// Atomic weight [kg/kmol].
    pub weight: f64,
}

/// A species.
#[derive(Clone, Debug, PartialEq)]
pub struct Species {
    /// Name, as the file spells it.
    pub name: String,
    /// Atoms: (index of the element, count), each element once.
    pub composition: Vec<(usize, f64)>,
    /// Molar mass [kg/kmol].
    pub weight: f64,
    /// Thermodynamic data.
    pub thermo: Thermo,
    /// Line of the file at which the species was declared, from 1.
    pub line: usize,
}

/// Standard-state heat capacity, enthalpy and entropy of a species as functions of temperature.
///
/// The standard pressure is 101325 Pa: entropies that a file gives at another reference pressure
/// are converted where it is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Thermo {
    /// NASA polynomials of seven coefficients in one or two ranges.
    Nasa7(Vec<Range<7>>),
    /// NASA polynomials of nine coefficients in any number of ranges.
    Nasa9(Vec<Range<9>>),
    /// The NIST (Shomate) equation in one or two ranges: coefficients A to G, with kJ, mol and
    /// t = T / 1000 K as published.
    Shomate(Vec<Range<7>>),
    /// A heat capacity that does not depend on temperature.
    ConstantCp {
        /// Reference temperature T₀ \[K\].
        t0: f64,
        /// Molar enthalpy at T₀ [J/kmol].
        h0: f64,
        /// Molar entropy at T₀ [J/(kmol K)].
        s0: f64,
        /// Molar heat capacity [J/(kmol K)].
        cp0: f64,
        /// Lowest and highest temperature at which the data hold \[K\]; 0 and infinity where the
        /// file says nothing.
        bounds: (f64, f64),
    },
}

/// Coefficients that hold between two temperatures. The ranges of a species ascend and join.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<const K: usize> {
    /// Lowest temperature \[K\].
    pub low: f64,
    /// Highest temperature \[K\].
    pub high: f64,
    /// Coefficients in the order of the publication (NASA-7: a₁ … a₇; NASA-9: a₁ … a₇, b₁, b₂).
    pub a: [f64; K],
}

/// A reaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// The equation as the file has it.
    pub equation: String,
    /// (species, stoichiometric coefficient), each species once; third bodies not among them.
    pub reactants: Vec<(usize, f64)>,
    /// As `reactants`.
    pub products: Vec<(usize, f64)>,
    /// (species, order) of the forward rate: those of `reactants` unless the file says otherwise
    /// (Chemkin's `FORD`).
    pub orders: Vec<(usize, f64)>,
    /// True when the reverse rate follows from the equilibrium constant.
    pub reversible: bool,
    /// Forward rate constant.
    pub rate: Rate,
    /// The colliders, of a three-body (`Rate::Arrhenius`) or falloff reaction; never of a
    /// tabulated rate.
    pub third_body: Option<ThirdBody>,
    /// Marked as a duplicate of another reaction.
    pub duplicate: bool,
    /// Line of the file at which the reaction begins, from 1.
    pub line: usize,
}

/// The colliders of a reaction: its effective concentration is Σ αₖ Cₖ.
#[derive(Clone, Debug, PartialEq)]
pub struct ThirdBody {
    /// α of all species not listed: 1, or 0 where one collider is named.
    pub default_efficiency: f64,
    /// (species, α).
    pub efficiencies: Vec<(usize, f64)>,
}

/// The forward rate constant of a reaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// One Arrhenius expression; multiplied by the third-body concentration where there is one.
    Arrhenius(Arrhenius),
    /// Between a low-pressure and a high-pressure limit, with Pr = k₀ \[X\] / k∞ and the blending
    /// function F: k∞ F Pr / (1 + Pr), or k₀ F / (1 + Pr) where `activated`.
    Falloff {
        /// k₀.
        low: Arrhenius,
        /// k∞.
        high: Arrhenius,
        /// F.
        blending: Blending,
        /// Chemically activated: the rate falls with pressure.
        activated: bool,
    },
    /// ln k linear in ln p between tabulated pressures (PLOG).
    Plog(Vec<PlogPoint>),
    /// log₁₀ k as a Chebyshev polynomial in reduced 1/T and log₁₀ p.
    Chebyshev(Chebyshev),
}

/// k = A T^b exp(−Tₐ / T).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrhenius {
    /// A [(m³/kmol)^(order − 1)/s]; may be negative in a sum of rates.
    pub a: f64,
    /// b.
    pub b: f64,
    /// Activation temperature Tₐ = Eₐ / R \[K\].
    pub ta: f64,
}

/// The blending function F of a falloff reaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blending {
    /// F = 1.
    Lindemann,
    /// Troe, with temperatures in K; `t2` absent in the three-parameter form.
    Troe {
        /// a.
        a: f64,
        /// T*** \[K\].
        t3: f64,
        /// T* \[K\].
        t1: f64,
        /// T** \[K\].
        t2: Option<f64>,
    },
    /// SRI: F = d T^e (a exp(−b/T) + exp(−T/c))^(1/(1 + log₁₀² Pr)); d = 1 and e = 0 in the
    /// three-parameter form.
    Sri {
        /// a.
        a: f64,
        /// b \[K\].
        b: f64,
        /// c \[K\].
        c: f64,
        /// d.
        d: f64,
        /// e.
        e: f64,
    },
    /// Tsang: log₁₀ F = log₁₀(a + b T) / (1 + …) with the widths of Troe.
    Tsang {
        /// a.
        a: f64,
        /// b [1/K].
        b: f64,
    },
}

/// The rate constant at one pressure of a PLOG table.
#[derive(Clone, Debug, PartialEq)]
pub struct PlogPoint {
    /// Pressure \[Pa\]; ascending in a table, each once.
    pub pressure: f64,
    /// The expressions whose sum is k at this pressure.
    pub rates: Vec<Arrhenius>,
}

/// log₁₀ k = Σ aᵢⱼ Tᵢ(T̃) Tⱼ(p̃), with k in SI.
#[derive(Clone, Debug, PartialEq)]
pub struct Chebyshev {
    /// Lowest and highest temperature \[K\].
    pub temperatures: (f64, f64),
    /// Lowest and highest pressure \[Pa\].
    pub pressures: (f64, f64),
    /// aᵢⱼ, a row per order in temperature; all rows of one length.
    pub coefficients: Vec<Vec<f64>>,
}

impl Mechanism {
    /// Number of species.
    pub fn n_species(&self) -> usize {
        self.species.len()
    }

    /// Number of reactions.
    pub fn n_reactions(&self) -> usize {
        self.reactions.len()
    }

    /// Index of the species of this name.
    pub fn species_index(&self, name: &str) -> Option<usize> {
        self.species.iter().position(|species| species.name == name)
    }
}
