//! Properties of a gas by the names and in the units of Cantera.

use odeum_kinetics::Kinetics;
use odeum_kinetics::constants::GAS_CONSTANT;

/// A gas, and room to compute with.
pub(crate) struct Gas<'a> {
    kinetics: &'a Kinetics,
    /// Temperature \[K\].
    pub(crate) t: f64,
    /// Pressure \[Pa\].
    pub(crate) p: f64,
    /// Mass fractions. \[species\]
    pub(crate) y: Vec<f64>,
    /// Concentrations [kmol/m³]. \[species\]
    c: Vec<f64>,
    /// \[reactions\]
    other: Vec<f64>,
    work: Vec<f64>,
}

impl<'a> Gas<'a> {
    pub(crate) fn new(kinetics: &'a Kinetics) -> Gas<'a> {
        let zeros = |len| vec![0.0; len];
        let n = kinetics.n_species();
        let (other, work) = (zeros(kinetics.n_reactions()), zeros(kinetics.workspace()));
        Gas { kinetics, t: 0.0, p: 0.0, y: zeros(n), c: zeros(n), other, work }
    }

    fn density(&self) -> f64 {
        self.kinetics.density(self.t, self.p, &self.y)
    }

    /// Mean molar mass [kg/kmol].
    fn mean_weight(&self) -> f64 {
        let weights = self.kinetics.molecular_weights();
        self.y.iter().sum::<f64>() / self.y.iter().zip(weights).map(|(y, w)| y / w).sum::<f64>()
    }

    /// The same, with its concentrations.
    fn concentrated(&mut self) -> &mut Self {
        let density = self.density();
        for ((c, y), w) in self.c.iter_mut().zip(&self.y).zip(self.kinetics.molecular_weights()) {
            *c = density * y / w;
        }
        self
    }

    fn net_production_rates(&mut self, out: &mut [f64]) {
        let Gas { kinetics, t, c, work, .. } = self.concentrated();
        kinetics.net_production_rates(*t, c, out, work);
    }

    fn cp_mass(&mut self) -> f64 {
        self.kinetics.cp_mass(self.t, &self.y, &mut self.work)
    }

    /// R over the molar mass [J/(kg K)].
    fn specific_constant(&self) -> f64 {
        let weights = self.kinetics.molecular_weights();
        GAS_CONSTANT * self.y.iter().zip(weights).map(|(y, w)| y / w).sum::<f64>()
    }
}

/// What a property is of, and so how many numbers of it a gas has.
#[derive(Clone, Copy)]
pub(crate) enum Per {
    State,
    Species,
    Reaction,
}

impl Per {
    pub(crate) fn width(self, kinetics: &Kinetics) -> usize {
        match self {
            Per::State => 1,
            Per::Species => kinetics.n_species(),
            Per::Reaction => kinetics.n_reactions(),
        }
    }
}

/// Something that follows from temperature, pressure and composition.
pub(crate) struct Property {
    name: &'static str,
    pub(crate) per: Per,
    /// Puts it into a row of results.
    pub(crate) of: fn(&mut Gas<'_>, &mut [f64]),
}

/// The property of this name.
pub(crate) fn find(name: &str) -> Option<&'static Property> {
    ALL.iter().find(|property| property.name == name)
}

static ALL: [Property; 15] = [
    Property { name: "density", per: Per::State, of: |gas, out| out[0] = gas.density() },
    Property {
        name: "mean_molecular_weight",
        per: Per::State,
        of: |gas, out| out[0] = gas.mean_weight(),
    },
    Property { name: "cp_mass", per: Per::State, of: |gas, out| out[0] = gas.cp_mass() },
    Property {
        name: "cv_mass",
        per: Per::State,
        of: |gas, out| out[0] = gas.cp_mass() - gas.specific_constant(),
    },
    Property {
        name: "enthalpy_mass",
        per: Per::State,
        of: |gas, out| out[0] = gas.kinetics.enthalpy_mass(gas.t, &gas.y),
    },
    Property {
        name: "int_energy_mass",
        per: Per::State,
        of: |gas, out| {
            out[0] = gas.kinetics.enthalpy_mass(gas.t, &gas.y) - gas.specific_constant() * gas.t;
        },
    },
    Property {
        name: "heat_release_rate",
        per: Per::State,
        of: |gas, out| {
            let mut rates = vec![0.0; gas.y.len()];
            gas.net_production_rates(&mut rates);
            let states = gas.kinetics.standard_states(gas.t, &mut gas.work);
            out[0] = -rates.iter().zip(&states.enthalpy).map(|(w, h)| w * h).sum::<f64>();
        },
    },
    Property {
        name: "partial_molar_cp",
        per: Per::Species,
        of: |gas, out| {
            out.copy_from_slice(&gas.kinetics.standard_states(gas.t, &mut gas.work).cp);
        },
    },
    Property {
        name: "partial_molar_enthalpies",
        per: Per::Species,
        of: |gas, out| {
            out.copy_from_slice(&gas.kinetics.standard_states(gas.t, &mut gas.work).enthalpy);
        },
    },
    Property {
        name: "net_production_rates",
        per: Per::Species,
        of: |gas, out| gas.net_production_rates(out),
    },
    Property {
        name: "forward_rate_constants",
        per: Per::Reaction,
        of: |gas, out| {
            let Gas { kinetics, t, c, work, .. } = gas.concentrated();
            kinetics.forward_rate_constants(*t, c, out, work);
        },
    },
    Property {
        name: "equilibrium_constants",
        per: Per::Reaction,
        of: |gas, out| gas.kinetics.equilibrium_constants(gas.t, out, &mut gas.work),
    },
    Property {
        name: "forward_rates_of_progress",
        per: Per::Reaction,
        of: |gas, out| {
            let Gas { kinetics, t, c, other, work, .. } = gas.concentrated();
            kinetics.rates_of_progress(*t, c, out, other, work);
        },
    },
    Property {
        name: "reverse_rates_of_progress",
        per: Per::Reaction,
        of: |gas, out| {
            let Gas { kinetics, t, c, other, work, .. } = gas.concentrated();
            kinetics.rates_of_progress(*t, c, other, out, work);
        },
    },
    Property {
        name: "net_rates_of_progress",
        per: Per::Reaction,
        of: |gas, out| {
            let Gas { kinetics, t, c, other, work, .. } = gas.concentrated();
            kinetics.rates_of_progress(*t, c, out, other, work);
            out.iter_mut().zip(other).for_each(|(net, reverse)| *net -= *reverse);
        },
    },
];
