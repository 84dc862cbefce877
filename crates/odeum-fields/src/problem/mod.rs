//! A model on a grid, with all that surrounds it.

pub(crate) mod boundaries;
pub(crate) mod grid;
pub(crate) mod mask;
pub(crate) mod model;
pub(crate) mod quantity;
pub(crate) mod record;
pub(crate) mod stencil;
pub(crate) mod text;

use crate::problem::boundaries::{Boundaries, End, Face, SpeciesBoundaries};
use crate::problem::grid::Grid;
use crate::problem::mask::Mask;
use crate::problem::model::Model;
use crate::problem::quantity::{Quantity, TimeDependent};
use crate::problem::stencil::Stencil;
use odeum_core::graph::Node;
use odeum_core::{Argument, Graph};
use odeum_ode::Error;

/// How the divergence of an advective flux is approximated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Advection {
    /// First order, from the side the velocity comes from (Molnár et al. 2011, sec. 4.1). It smears:
    /// in a step Δt each axis gains a diffusion of |w| h/2 · (1 − |w| Δt/h).
    #[default]
    Upwind,
    /// Third order where the field rises or falls smoothly, limited so that no new extremum appears;
    /// of waves with their crests the mean error is of somewhat more than second order. Koren, *A
    /// robust upwind discretization method for advection, diffusion and source terms*, in
    /// Vreugdenhil & Koren (eds.), Numerical Methods for Advection–Diffusion Problems (1993).
    Koren,
}

/// The velocity that carries species along [length/time].
#[derive(Clone, Debug, PartialEq)]
// A problem has one, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Velocity {
    /// The same everywhere, along x, y and z.
    Uniform([Quantity; 3]),
    /// At the centre of every cell, along x, y and z, as plain arrays \[nz × ny × nx\].
    Cells([Vec<f64>; 3]),
}

/// A source in a single cell.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSource {
    /// The species it gives.
    pub species: String,
    /// The cell \[i, j, k\].
    pub cell: [usize; 3],
    /// What it adds to the concentration of the cell [units of u/time].
    pub rate: Quantity,
}

impl PointSource {
    /// The name in errors of a part of a source of a species: `sources.u.rate`.
    pub fn argument(species: &str, part: &'static str) -> Argument {
        Argument::new("sources").key(species.to_owned()).key(part)
    }
}

/// An initial-boundary-value problem but for its initial values:
/// ∂u/∂t = F(t, u, ∇²u, x, ∇²μ) + ∇·(D ∇u) − ∇·(w u) + sources.
///
/// The middle terms exist for species with a field of diffusion coefficients and for those that
/// a velocity carries. A constant D belongs into F, as `D * lap(u)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The equations.
    pub model: Model,
    /// The cells.
    pub grid: Grid,
    /// How Laplacians are approximated.
    pub stencil: Stencil,
    /// What happens at the faces of the box.
    pub boundaries: Boundaries,
    /// What carries species along, if anything does.
    pub velocity: Option<Velocity>,
    /// The species that the velocity carries; `None` for all.
    pub advected: Option<Vec<String>>,
    /// How advection is approximated.
    pub advection: Advection,
    /// Species whose diffusion coefficient differs from cell to cell: name, and the coefficients
    /// at cell centres [length²/time] \[nz × ny × nx\]. What passes a face is weighted by the
    /// harmonic mean of both sides: no flux enters a cell whose coefficient is zero, so that
    /// zeros draw a geometry.
    pub diffusion: Vec<(String, Vec<f64>)>,
    /// Sources in single cells.
    pub sources: Vec<PointSource>,
    /// The cells that belong to the domain; `None` for all. Nothing diffuses or is advected between
    /// these and the others, which keep their values: of diffusion and potentials the faces
    /// between them are boundaries without flux.
    pub mask: Option<Mask>,
}

impl Problem {
    /// A model in a closed box: isotropic stencil, nothing passes the boundaries, no velocity.
    pub fn new(model: Model, grid: Grid) -> Problem {
        Problem {
            model,
            grid,
            stencil: Stencil::default(),
            boundaries: Boundaries::default(),
            velocity: None,
            advected: None,
            advection: Advection::default(),
            diffusion: Vec::new(),
            sources: Vec::new(),
            mask: None,
        }
    }

    /// The same with another stencil.
    pub fn stencil(self, stencil: Stencil) -> Problem {
        Problem { stencil, ..self }
    }

    /// The same with other boundaries.
    pub fn boundaries(self, boundaries: Boundaries) -> Problem {
        Problem { boundaries, ..self }
    }

    /// The same with a velocity that carries every species.
    pub fn velocity(self, velocity: Velocity, advection: Advection) -> Problem {
        Problem { velocity: Some(velocity), advection, ..self }
    }

    /// The same with one more source in a single cell.
    pub fn source(mut self, source: PointSource) -> Problem {
        self.sources.push(source);
        self
    }

    /// The same with a field of diffusion coefficients for a species.
    pub fn diffusion(mut self, species: &str, coefficients: Vec<f64>) -> Problem {
        self.diffusion.push((species.to_owned(), coefficients));
        self
    }

    /// The same in a part of the box.
    pub fn mask(self, mask: Mask) -> Problem {
        Problem { mask: Some(mask), ..self }
    }

    /// The largest size of numbers given for all cells, among those that belong to the domain.
    pub(crate) fn largest_of_domain(&self, values: &[f64]) -> f64 {
        let is_solid = |n| self.mask.as_ref().is_some_and(|mask| !mask.contains(self.grid.cell(n)));
        let of_domain = values.iter().enumerate().filter(|(n, _)| !is_solid(*n));
        of_domain.fold(0.0, |largest, (_, value)| largest.max(value.abs()))
    }

    /// Number of cells that belong to the domain.
    pub fn cells(&self) -> usize {
        self.mask.as_ref().map_or(self.grid.cells(), Mask::cells)
    }

    /// Refuses what does not fit together. [`Engine::new`](crate::Engine::new) asks too.
    ///
    /// # Errors
    /// What does not fit to the grid or the model, what is not finite, and boundaries that would have no effect.
    pub fn check(&self) -> Result<(), Error> {
        let cells = self.grid.cells();
        let boundaries =
            self.boundaries.bind(&self.grid, self.model.species(), self.model.params())?;
        self.stencil.check_between(&self.grid, boundaries::given(&boundaries))?;
        self.check_potentials(&boundaries)?;
        self.check_transport(&boundaries)?;
        match &self.velocity {
            Some(Velocity::Uniform(parts)) => {
                for part in parts {
                    part.bind(self.model.params(), "velocity")?;
                }
            }
            Some(Velocity::Cells(parts)) => {
                for part in parts {
                    check_cells(
                        &"velocity".into(),
                        part,
                        cells,
                        |w| w.is_finite(),
                        "must be finite",
                    )?;
                }
            }
            None => {}
        }
        if let Some(advected) = &self.advected {
            let carried = || Argument::new("velocity").key("species");
            if advected.is_empty() {
                let remedy = "must name a species that is carried, or be left out for all";
                return Err(Error::input(carried(), "none", remedy));
            }
            for (n, name) in advected.iter().enumerate() {
                self.model.index(name)?;
                if advected[..n].contains(name) {
                    return Err(Error::input(
                        carried(),
                        format!("`{name}` twice"),
                        "name each species once",
                    ));
                }
            }
        }
        for (n, (name, coefficients)) in self.diffusion.iter().enumerate() {
            self.model.index(name)?;
            if self.diffusion[..n].iter().any(|(other, _)| other == name) {
                return Err(Error::input("diffusion", name, "is given twice"));
            }
            let finite = |d: f64| d >= 0.0 && d.is_finite();
            let field = Argument::new("diffusion").key(name.clone());
            check_cells(&field, coefficients, cells, finite, "must be finite and not negative")?;
        }
        if let Some(mask) = &self.mask
            && mask.shape() != self.grid.shape()
        {
            let found = format!("a mask of {:?} cells", mask.shape());
            let remedy = format!("the grid has {:?} cells", self.grid.shape());
            return Err(Error::input("mask", found, remedy));
        }
        for source in &self.sources {
            self.model.index(&source.species)?;
            source
                .rate
                .bind(self.model.params(), PointSource::argument(&source.species, "rate"))?;
            let (shape, field) =
                (self.grid.shape(), PointSource::argument(&source.species, "cell"));
            if (0..3).any(|axis| source.cell[axis] >= shape[axis]) {
                let found = format!("cell {:?}", source.cell);
                return Err(Error::input(field, found, format!("the grid has {shape:?} cells")));
            }
            if self.mask.as_ref().is_some_and(|mask| !mask.contains(source.cell)) {
                let found = format!("cell {:?}", source.cell);
                return Err(Error::input(field, found, "is solid: give a cell of the domain"));
            }
        }
        Ok(())
    }

    /// Refuses boundaries that a potential would ignore: nothing passes the boundaries of a potential,
    /// and if it reads a species but not its Laplacian, a value given there has no effect.
    fn check_potentials(&self, boundaries: &[SpeciesBoundaries]) -> Result<(), Error> {
        let (potentials, names) = (self.model.potentials(), self.model.species());
        for k in 0..potentials.outputs().len() {
            let potential = potentials.subset(&[k]);
            let reads = |state: usize| potential.nodes().contains(&Node::State(state as u32));
            for (s, name) in names.iter().enumerate() {
                let Some(face) = boundaries[s].first_given() else { continue };
                if reads(s) && !reads(names.len() + s) {
                    let found = format!("a value, in a model with lap of an expression of {name}");
                    let remedy = "nothing passes the boundaries of such an expression, whose flux this \
                                  would not change: make the boundary closed or periodic, or diffuse \
                                  the species itself, as in D*lap(u)";
                    return Err(Error::input(face.argument().key(name.clone()), found, remedy));
                }
            }
        }
        Ok(())
    }

    /// Refuses boundaries of species that nothing diffuses or carries: what is given there has no effect. What is given for all
    /// species together may have none on some.
    fn check_transport(&self, boundaries: &[SpeciesBoundaries]) -> Result<(), Error> {
        let (names, advected) = (self.model.species(), self.advected());
        let moves = |s: usize| {
            let laplacian = Node::State((names.len() + s) as u32);
            let reads = |graph: &Graph| graph.nodes().contains(&laplacian);
            let varying = || self.diffusion.iter().any(|(name, _)| *name == names[s]);
            advected[s] || reads(self.model.rhs()) || reads(self.model.potentials()) || varying()
        };
        for face in Face::ALL {
            let is_given =
                |s: &usize| boundaries[*s].ends()[face.axis][usize::from(face.high)] == End::Given;
            let (by_name, together): (Vec<usize>, Vec<usize>) = (0..names.len())
                .filter(is_given)
                .partition(|s| self.boundaries.has_own(face, &names[*s]));
            let nothing_moves = !together.iter().any(|s| moves(*s));
            let together = together.first().filter(|_| nothing_moves).copied();
            if let Some(s) = by_name.into_iter().find(|s| !moves(*s)).or(together) {
                let found = format!("a value, but nothing diffuses or carries {}", names[s]);
                let remedy = "it would have no effect: leave it out, or let the species diffuse";
                return Err(Error::input(face.argument().key(names[s].clone()), found, remedy));
            }
        }
        Ok(())
    }

    /// Whether F or the velocity contains the time.
    pub(crate) fn changes_with_time(&self) -> bool {
        let velocity_changes = match &self.velocity {
            Some(Velocity::Uniform(parts)) => {
                parts.iter().any(|part| !matches!(part, Quantity::Constant(_)))
            }
            _ => false,
        };
        velocity_changes || self.model.rhs().uses_time() || self.model.potentials().uses_time()
    }

    /// Whether F, the velocity, a source or what is given at boundaries contains the time.
    pub fn depends_on_time(&self) -> bool {
        let (names, params) = (self.model.species(), self.model.params());
        let rates = self.sources.iter().map(|source| &source.rate);
        let varies = |rate: &Quantity| {
            let bound = rate.bind(params, "rate");
            bound.is_ok_and(|rate| matches!(rate, TimeDependent::Varying(_)))
        };
        let boundaries = self.boundaries.bind(&self.grid, names, params).unwrap_or_default();
        self.changes_with_time()
            || rates.into_iter().any(varies)
            || boundaries.iter().any(SpeciesBoundaries::vary)
    }

    /// What is given at boundaries, as a velocity or by sources as an expression of the time and is not finite at one of
    /// these times: its name, the time, and what it is then.
    pub(crate) fn not_finite(&self, times: &[f64]) -> Result<Option<(Argument, f64, f64)>, Error> {
        let (names, params) = (self.model.species(), self.model.params());
        let boundaries = self.boundaries.bind(&self.grid, names, params)?;
        let mut others = Vec::new();
        if let Some(Velocity::Uniform(parts)) = &self.velocity {
            let velocity = Argument::new("velocity");
            for part in parts {
                others.push((velocity.clone(), part.bind(params, velocity.clone())?));
            }
        }
        for source in &self.sources {
            let rate = PointSource::argument(&source.species, "rate");
            others.push((rate.clone(), source.rate.bind(params, rate)?));
        }
        Ok(times.iter().find_map(|t| {
            let at_boundaries = names.iter().zip(&boundaries).find_map(|(name, boundaries)| {
                let (face, x) = boundaries.not_finite(*t)?;
                let own = self.boundaries.has_own(face, name);
                let argument = face.argument();
                Some((if own { argument.key(name.clone()) } else { argument }, *t, x))
            });
            let elsewhere = || {
                let all = others.iter().map(|(argument, of)| (argument.clone(), *t, of.at(*t)));
                all.into_iter().find(|(_, _, x)| !x.is_finite())
            };
            at_boundaries.or_else(elsewhere)
        }))
    }

    /// For each species, whether nothing changes it, as coefficients that differ from cell to cell: its equation is 0, it neither
    /// diffuses nor is carried, and has no source.
    pub(crate) fn still(&self) -> Vec<bool> {
        let (rhs, _) = self.model.bound();
        let species = self.model.species().iter().zip(rhs.outputs()).zip(self.advected());
        let still = species.map(|((name, output), is_advected)| {
            let is_zero = rhs.node(*output).constant() == Some(0.0);
            let diffuses = self.diffusion.iter().any(|(other, _)| other == name);
            let is_fed = self.sources.iter().any(|source| source.species == *name);
            is_zero && !is_advected && !diffuses && !is_fed
        });
        still.collect()
    }

    /// For each species, whether a velocity carries it.
    pub(crate) fn advected(&self) -> Vec<bool> {
        let species = self.model.species().iter();
        let advected = species.map(|name| match (&self.velocity, &self.advected) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(_), Some(names)) => names.contains(name),
        });
        advected.collect()
    }
}

fn check_cells(
    field: &Argument,
    values: &[f64],
    cells: usize,
    finite: impl Fn(f64) -> bool,
    remedy: &str,
) -> Result<(), Error> {
    if values.len() != cells {
        let found = format!("{} values", values.len());
        return Err(Error::input(field, found, format!("give one for each of {cells} cells")));
    }
    match values.iter().position(|&x| !finite(x)) {
        Some(at) => Err(Error::input(field.clone().at(at), values[at], remedy)),
        None => Ok(()),
    }
}
