//! A mechanism made ready for evaluation: tables grouped by rate law.

use odeum_core::Real;

use crate::check::{Fault, conserved, imbalance, is_empty, of_rate, of_species};
use crate::constants::{GAS_CONSTANT, REFERENCE_PRESSURE};
use crate::error::KineticsError;
use crate::gather::Gather;
use crate::mechanism::{Blending, Mechanism, Rate, Reaction};
use crate::rate::arrhenius::ArrheniusTable;
use crate::rate::falloff::{FalloffTable, Falloffs};
use crate::rate::mass_action::{Basis, Factors, MassAction, Progress, class};
use crate::rate::tabulated::Tabulated;
use crate::rate::third_body::{KnownSets, ThirdBodies};
use crate::rate::{Conditions, Constants};
use crate::scratch::{Scratch, Sizes};
use crate::thermo::{Functions, Temperature, ThermoTables};

/// Thermodynamics and rates of a mechanism, for any [`Real`]: one state, or one per SIMD lane.
///
/// Reactions are kept in an order of their own, grouped by how they are evaluated; public
/// functions take and give the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Kinetics {
    pub(crate) species_names: Vec<String>,
    pub(crate) element_names: Vec<String>,
    /// (element, count) of each species.
    pub(crate) composition: Vec<Vec<(usize, f64)>>,
    /// Of each element, whether all reactions conserve it to rounding.
    pub(crate) conserved: Vec<bool>,
    /// Molar masses [kg/kmol] and their reciprocals.
    pub(crate) weight: Vec<f64>,
    pub(crate) recip_weight: Vec<f64>,
    pub(crate) thermo: ThermoTables,
    /// Index in the file of each reaction, in the order of evaluation.
    pub(crate) order: Vec<u32>,
    /// Net stoichiometric coefficients of each reaction in the order of evaluation.
    pub(crate) net: Vec<Vec<(usize, f64)>>,
    pub(crate) arrhenius: ArrheniusTable,
    pub(crate) bodies: ThirdBodies,
    pub(crate) falloffs: Falloffs,
    pub(crate) tabulated: Tabulated,
    pub(crate) mass_action: MassAction,
    /// Production of each species from the progress of the reactions.
    pub(crate) production: Gather,
}

impl Kinetics {
    /// Groups the species and reactions of a mechanism into tables.
    ///
    /// # Errors
    ///
    /// [`KineticsError`] when there is no species, one has no thermodynamic data or an element that is not
    /// there, a reaction names a species that is not there or does not conserve the elements, or a number
    /// makes no sense: a molar mass that is not that of the atoms, data whose ranges do not ascend and
    /// join, a table of rates without rows or with pressures that do not ascend, a rate that is not finite.
    pub fn new(mechanism: &Mechanism) -> Result<Kinetics, KineticsError> {
        check(mechanism)?;
        let thermo = ThermoTables::new(&mechanism.species, mechanism.elements.len());
        let gamma = thermo.cold_gamma(mechanism.n_species());
        let basis = Basis { gamma: &gamma, shift: &thermo.shift, species: &mechanism.species };
        let mut order: Vec<usize> = (0..mechanism.n_reactions()).collect();
        order.sort_by_cached_key(|&r| class(&mechanism.reactions[r], &basis));
        let reactions: Vec<&Reaction> = order.iter().map(|&r| &mechanism.reactions[r]).collect();
        let net: Vec<Vec<(usize, f64)>> = reactions.iter().map(|r| net_coefficients(r)).collect();

        let mut production = vec![Vec::new(); mechanism.n_species()];
        for (r, net) in net.iter().enumerate() {
            for &(species, nu) in net {
                production[species].push((r, nu));
            }
        }
        let weight: Vec<f64> = mechanism.species.iter().map(|s| s.weight).collect();
        let laws = Laws::new(&reactions);
        Ok(Kinetics {
            species_names: mechanism.species.iter().map(|s| s.name.clone()).collect(),
            element_names: mechanism.elements.iter().map(|e| e.name.clone()).collect(),
            composition: mechanism.species.iter().map(|s| s.composition.clone()).collect(),
            conserved: conserved(mechanism),
            recip_weight: weight.iter().map(|w| 1.0 / w).collect(),
            weight,
            mass_action: MassAction::new(&reactions, &net, &basis),
            thermo,
            order: order.iter().map(|r| *r as u32).collect(),
            net,
            arrhenius: laws.arrhenius,
            bodies: laws.bodies,
            falloffs: laws.falloffs,
            tabulated: laws.tabulated,
            production: Gather::new(production.into_iter().enumerate().collect()),
        })
    }

    /// Number of species.
    pub fn n_species(&self) -> usize {
        self.weight.len()
    }

    /// Number of reactions.
    pub fn n_reactions(&self) -> usize {
        self.order.len()
    }

    /// Names of the species.
    pub fn species_names(&self) -> &[String] {
        &self.species_names
    }

    /// Index of the species of this name.
    pub fn species_index(&self, name: &str) -> Option<usize> {
        self.species_names.iter().position(|other| other == name)
    }

    /// Molar masses of the species [kg/kmol].
    pub fn molecular_weights(&self) -> &[f64] {
        &self.weight
    }

    /// Lowest and highest temperature at which the data of all species hold \[K\].
    pub fn temperature_bounds(&self) -> (f64, f64) {
        self.thermo.bounds
    }

    /// How many values of workspace the functions of this mechanism want.
    pub fn workspace(&self) -> usize {
        self.sizes().all()
    }

    /// Parts of a workspace of [`workspace`](Kinetics::workspace) values.
    #[inline(always)]
    pub(crate) fn split<'a, R: Real>(&self, work: &'a mut [R]) -> Scratch<'a, R> {
        Scratch::split(work, &self.sizes())
    }

    #[inline(always)]
    fn sizes(&self) -> Sizes {
        let with_body = self.bodies.reaction.len();
        Sizes {
            species: self.n_species(),
            reactions: self.n_reactions(),
            constants: self.n_reactions() + with_body - self.bodies.n_three_body,
            bodies: self.bodies.default.len(),
            with_body,
            tables: self.tabulated.len(),
            terms: self.falloffs.troe_blending.n_terms(),
            partials: self.mass_action.n_slots() + with_body,
        }
    }

    /// Thermodynamic functions of all species; with `D` d cp/dT too. Wants `at` alone.
    #[inline(always)]
    pub(crate) fn standard_state<R: Real, const D: bool>(
        &self,
        at: &Temperature<R>,
        s: &mut Scratch<'_, R>,
    ) {
        let mut out = Functions { cp: s.cp, h: s.h, gamma: s.gamma, dcp: s.dcp };
        self.thermo.evaluate::<R, D>(at, &mut out);
    }

    /// e, z = C/e, and with `D` 1/e and u/RT, of all species.
    #[inline(always)]
    pub(crate) fn activities<R: Real, const D: bool>(
        &self,
        at: &Temperature<R>,
        s: &mut Scratch<'_, R>,
    ) {
        let n = self.n_species();
        let one = R::lit(1.0);
        let standard = R::lit(REFERENCE_PRESSURE / GAS_CONSTANT) * at.recip;
        for k in 0..n {
            let e = (-s.gamma[k]).exp() * standard;
            let recip = e.recip();
            s.e[k] = e;
            s.z[k] = s.c[k] * recip;
            if D {
                s.recip_e[k] = recip;
            }
            s.u[k] = s.h[k] - one;
        }
        s.c[n] = one;
        s.e[n] = one;
        s.z[n] = one;
        s.u[n] = R::lit(0.0);
        if D {
            s.recip_e[n] = one;
        }
    }

    /// Forward rate constants of all reactions, without the third-body concentration of
    /// three-body reactions unless `collide`.
    #[inline(always)]
    pub(crate) fn constants<R: Real, const D: bool>(
        &self,
        with: &Conditions<R>,
        collide: bool,
        s: &mut Scratch<'_, R>,
    ) {
        self.arrhenius.evaluate::<R, D>(&with.at, s.k, s.dlnk);
        self.bodies.concentrations(with, s.c, s.x, s.ln_x);
        let mut rates = Constants::of(s);
        if collide {
            self.bodies.multiply::<R, D>(&mut rates);
        }
        self.falloffs.evaluate::<R, D>(with, &self.bodies, &mut rates);
        self.tabulated.evaluate::<R, D>(with, &mut rates);
    }

    /// Progress of all reactions from the rate constants, in their place.
    #[inline(always)]
    pub(crate) fn progress<R: Real, const D: bool>(
        &self,
        at: &Temperature<R>,
        s: &mut Scratch<'_, R>,
    ) {
        let with = Factors { c: s.c, e: s.e, z: s.z, recip_e: s.recip_e, u: s.u, gamma: s.gamma };
        let mut out =
            Progress { q: s.k, by_t: s.dlnk, net: s.net, scaled: s.scaled, slots: s.slots };
        self.mass_action.evaluate::<R, D>(at, &with, ln_standard(at), &mut out);
    }

    /// Forward rates of progress of all reactions from the rate constants, to `scaled`, and reverse ones, to `net`.
    pub(crate) fn both_ways<R: Real>(&self, at: &Temperature<R>, s: &mut Scratch<'_, R>) {
        let with = Factors { c: s.c, e: s.e, z: s.z, recip_e: s.recip_e, u: s.u, gamma: s.gamma };
        self.mass_action.both_ways(at, &with, ln_standard(at), s.k, [s.scaled, s.net]);
    }

    /// True when a rate depends on pressure by a table.
    pub(crate) fn needs_pressure(&self) -> bool {
        self.tabulated.len() > 0
    }
}

/// ln p°/(R T).
#[inline(always)]
pub(crate) fn ln_standard<R: Real>(at: &Temperature<R>) -> R {
    R::lit((REFERENCE_PRESSURE / GAS_CONSTANT).ln()) - at.ln
}

/// Rate laws of the reactions in the order of evaluation.
#[derive(Default)]
struct Laws {
    arrhenius: ArrheniusTable,
    bodies: ThirdBodies,
    falloffs: Falloffs,
    tabulated: Tabulated,
}

impl Laws {
    fn new(reactions: &[&Reaction]) -> Laws {
        let mut laws = Laws::default();
        let mut expressions = Vec::new();
        let mut falloffs = Vec::new();
        let (mut known, mut blended) = (KnownSets::new(), Vec::new());
        for (r, reaction) in reactions.iter().enumerate() {
            match &reaction.rate {
                Rate::Arrhenius(k) => {
                    expressions.push((r, *k));
                    if let Some(third_body) = &reaction.third_body {
                        laws.bodies.push(r, Some(third_body), &mut known);
                    }
                }
                Rate::Falloff { low, high, blending, activated } => {
                    let k0 = reactions.len() + falloffs.len();
                    expressions.extend([(r, *high), (k0, *low)]);
                    falloffs.push((r, k0, blending, *activated, [low, high]));
                }
                Rate::Plog(points) => laws.tabulated.push_plog(r, points),
                Rate::Chebyshev(table) => laws.tabulated.push_chebyshev(r, table),
            }
        }
        laws.bodies.n_three_body = laws.bodies.reaction.len();
        falloffs.sort_by_key(|(_, _, blending, ..)| match blending {
            Blending::Lindemann => 0,
            Blending::Troe { .. } => 1,
            Blending::Sri { .. } => 2,
            Blending::Tsang { .. } => 3,
        });
        for (r, k0, blending, activated, [low, high]) in falloffs {
            let number = laws.bodies.push(r, reactions[r].third_body.as_ref(), &mut known);
            if *blending != Blending::Lindemann {
                blended.push(number);
            }
            let all = &mut laws.falloffs;
            let table: &mut FalloffTable = match *blending {
                Blending::Lindemann => &mut all.lindemann,
                Blending::Troe { a, t3, t1, t2 } => {
                    all.troe_blending.push(a, t3, t1, t2);
                    &mut all.troe
                }
                Blending::Sri { a, b, c, d, e } => {
                    all.sri_blending.push(a, b, c, d, e);
                    &mut all.sri
                }
                Blending::Tsang { a, b } => {
                    all.tsang_blending.a.push(a);
                    all.tsang_blending.b.push(b);
                    &mut all.tsang
                }
            };
            if table.low.is_empty() {
                table.first = number;
            }
            table.push(k0, activated, low, high);
        }
        laws.bodies.want_logarithms(&blended);
        laws.arrhenius = ArrheniusTable::new(&expressions);
        laws
    }
}

/// Net stoichiometric coefficients, without zeros, by species.
fn net_coefficients(reaction: &Reaction) -> Vec<(usize, f64)> {
    let mut net: Vec<(usize, f64)> = Vec::new();
    let reactants = reaction.reactants.iter().map(|(species, n)| (*species, -n));
    for (species, n) in reactants.chain(reaction.products.iter().copied()) {
        match net.iter_mut().find(|(other, _)| *other == species) {
            Some((_, sum)) => *sum += n,
            None => net.push((species, n)),
        }
    }
    net.retain(|(_, n)| *n != 0.0);
    net.sort_by_key(|(species, _)| *species);
    net
}

fn not_finite(value: f64) -> Fault {
    let found = format!("{value} as a stoichiometric coefficient, order or efficiency");
    Fault { found, remedy: "give a finite number" }
}

fn check(mechanism: &Mechanism) -> Result<(), KineticsError> {
    if mechanism.species.is_empty() {
        return Err(KineticsError::NoSpecies);
    }
    for species in &mechanism.species {
        let (name, line) = (species.name.clone(), species.line);
        if is_empty(&species.thermo) {
            return Err(KineticsError::NoThermo { species: name, line });
        }
        let mut elements = species.composition.iter().map(|atoms| atoms.0);
        if let Some(element) = elements.find(|&element| element >= mechanism.elements.len()) {
            return Err(KineticsError::UnknownElement { species: name, line, element });
        }
        if let Some(Fault { found, remedy }) = of_species(species, &mechanism.elements) {
            return Err(KineticsError::BadNumber { item: name, line, found, remedy });
        }
    }
    for (index, reaction) in mechanism.reactions.iter().enumerate() {
        let bad = |Fault { found, remedy }| {
            let (item, line) = (reaction.equation.clone(), reaction.line);
            Err(KineticsError::BadNumber { item, line, found, remedy })
        };
        let third = reaction.third_body.iter().flat_map(|body| &body.efficiencies);
        let sides = reaction.reactants.iter().chain(&reaction.products);
        for &(species, value) in sides.chain(&reaction.orders).chain(third) {
            if species >= mechanism.n_species() {
                let line = reaction.line;
                return Err(KineticsError::UnknownSpecies { reaction: index, line, species });
            }
            if !value.is_finite() {
                return bad(not_finite(value));
            }
        }
        if let Some(body) = &reaction.third_body {
            if matches!(reaction.rate, Rate::Plog(_) | Rate::Chebyshev(_)) {
                let found = "a third body beside a tabulated rate".to_owned();
                return bad(Fault { found, remedy: "leave one of them out" });
            }
            let mut listed: Vec<usize> = body.efficiencies.iter().map(|(k, _)| *k).collect();
            listed.sort_unstable();
            if let Some(twice) = listed.windows(2).find(|pair| pair[0] == pair[1]) {
                let found = format!("two efficiencies of {}", mechanism.species[twice[0]].name);
                return bad(Fault { found, remedy: "give one" });
            }
        }
        let others = reaction.third_body.as_ref().map(|body| body.default_efficiency);
        if let Some(value) = others.filter(|value| !value.is_finite()) {
            return bad(not_finite(value));
        }
        if let Some(fault) = of_rate(&reaction.rate).into_iter().next() {
            return bad(fault);
        }
        if let Some(wrong) = imbalance(mechanism, reaction).first() {
            return Err(KineticsError::Unbalanced {
                equation: reaction.equation.clone(),
                line: reaction.line,
                element: mechanism.elements[wrong.element].name.clone(),
                excess: wrong.products - wrong.reactants,
            });
        }
    }
    Ok(())
}
