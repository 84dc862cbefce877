//! A problem made ready for sweeps in one precision.

pub(crate) mod domain;
pub(crate) mod flat;
pub(crate) mod linear;
pub(crate) mod solids;

use crate::field::slab::Slab;
use crate::field::{Field, Layout};
use crate::plan::domain::Domain;
use crate::plan::flat::Rules;
use crate::plan::linear::Linear;
use crate::problem::boundaries::{self, End, SpeciesBoundaries};
use crate::problem::grid::Grid;
use crate::problem::quantity::{Quantity, TimeDependent};
use crate::problem::stencil::{Reach, Weights};
use crate::problem::{Advection, PointSource, Problem, Velocity};
use crate::tiling::Cell;
use odeum_core::graph::Node;
use odeum_core::{Graph, Program};
use odeum_ode::{Error, Scalar};
use std::sync::Arc;

/// Steps beyond which what tiles compute twice grows too much.
const MOST_STEPS: usize = 8;

/// All that a sweep needs to know beside the field itself.
pub(crate) struct Plan<T> {
    /// The cells; of a slab those that it holds.
    pub(crate) grid: Grid,
    /// Which planes of the box these are.
    pub(crate) slab: Slab,
    pub(crate) layout: Layout,
    pub(crate) weights: Weights,
    pub(crate) kernel: Kernel,
    /// F and the potentials, where both are linear in Laplacians.
    pub(crate) linear: Option<[Linear; 2]>,
    /// Of each species.
    pub(crate) boundaries: Vec<SpeciesBoundaries>,
    /// In which order those are applied that meet at an edge.
    pub(crate) rules: Rules,
    pub(crate) velocity: Option<BoundVelocity<T>>,
    pub(crate) advected: Vec<bool>,
    /// Whether the velocity may meet a boundary of the box that is neither open nor periodic.
    pub(crate) meets_boundaries: bool,
    pub(crate) advection: Advection,
    /// D at cell centres, of those species that have it.
    pub(crate) diffusion: Vec<Option<Field<T>>>,
    pub(crate) sources: Vec<Source>,
    /// The cells that belong to the domain, where not all do.
    pub(crate) domain: Option<Arc<Domain>>,
}

/// How F is computed.
#[derive(Clone)]
pub(crate) enum Kernel {
    /// Fₛ = dₛ Lₛ with numbers d.
    Diffusion(Vec<f64>),
    Tape(Box<Tape>),
}

/// F and the potentials as programs, and which inputs they read.
#[derive(Clone)]
pub(crate) struct Tape {
    pub(crate) rhs: Program,
    pub(crate) rhs_inputs: Inputs,
    /// K
    pub(crate) n_potentials: usize,
    pub(crate) potentials: Program,
    pub(crate) potential_inputs: Inputs,
}

impl Tape {
    fn new(rhs: &Graph, potentials: &Graph, species: usize) -> Tape {
        Tape {
            rhs: Program::new(rhs),
            rhs_inputs: Inputs::of(rhs, species),
            n_potentials: potentials.outputs().len(),
            potentials: Program::new(potentials),
            potential_inputs: Inputs::of(potentials, species),
        }
    }
}

/// Which states a graph of S species reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) species: Vec<usize>,
    pub(crate) laplacians: Vec<usize>,
    pub(crate) coordinates: [bool; 3],
    /// Laplacians of potentials.
    pub(crate) beyond: Vec<usize>,
}

/// The velocity, ready for numbers.
// A problem has one, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub(crate) enum BoundVelocity<T> {
    Uniform([TimeDependent; 3]),
    /// w/h [1/time], three components.
    Cells(Field<T>),
}

/// A source in one cell of the box.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) species: usize,
    pub(crate) cell: [usize; 3],
    pub(crate) rate: TimeDependent,
}

impl Inputs {
    /// Whether species `s` or its Laplacian is read.
    pub(crate) fn depend_on(&self, s: usize) -> bool {
        self.species.contains(&s) || self.laplacians.contains(&s)
    }

    fn of(graph: &Graph, species: usize) -> Inputs {
        let mut inputs = Inputs::default();
        for node in graph.nodes() {
            let Node::State(i) = node else { continue };
            let i = *i as usize;
            match i {
                _ if i < species => inputs.species.push(i),
                _ if i < 2 * species => inputs.laplacians.push(i - species),
                _ if i < 2 * species + 3 => inputs.coordinates[i - 2 * species] = true,
                _ => inputs.beyond.push(i - 2 * species - 3),
            }
        }
        inputs
    }
}

/// The axes along which the box continues at its other end; one is so for all species.
fn periodic(boundaries: &[SpeciesBoundaries]) -> [bool; 3] {
    [0, 1, 2].map(|axis| boundaries[0].wraps(axis))
}

/// The domain of a problem with these boundaries, where it is a part of the box.
pub(crate) fn domain(problem: &Problem, boundaries: &[SpeciesBoundaries]) -> Option<Domain> {
    let limits = problem.advection == Advection::Koren && problem.advected().contains(&true);
    let reach = if limits { 2 } else { 1 };
    problem.mask.as_ref().map(|mask| Domain::new(mask, periodic(boundaries), reach))
}

impl<T: Scalar> Plan<T> {
    pub(crate) fn new(problem: &Problem) -> Result<Plan<T>, Error> {
        problem.check()?;
        problem.grid.check::<T>()?;
        let Problem { model, grid, .. } = problem;
        let species = model.species().len();
        let bytes = Field::<T>::bytes(grid, species)?;
        let layout = Layout::new::<T>(grid, species)
            .ok_or_else(|| Error::input("grid", format!("{bytes} bytes"), "does not fit"))?;
        let (rhs, potentials) = model.bound();
        let [of_rhs, of_potentials] = [&rhs, &potentials].map(|graph| Linear::new(graph, species));
        let kernel = match of_rhs.as_ref().and_then(Linear::diffusion_only) {
            Some(d) => Kernel::Diffusion(d),
            None => Kernel::Tape(Box::new(Tape::new(&rhs, &potentials, species))),
        };
        let linear = of_rhs.zip(of_potentials).map(<[Linear; 2]>::from);
        let velocity = match &problem.velocity {
            None => None,
            Some(Velocity::Uniform([x, y, z])) => {
                let bind = |part: &Quantity| part.bind(model.params(), "velocity");
                Some(BoundVelocity::Uniform([bind(x)?, bind(y)?, bind(z)?]))
            }
            Some(Velocity::Cells(parts)) => {
                let per_cell = |axis: usize, w: &f64| T::from_f64(w / grid.spacing()[axis]);
                let values: Vec<T> = (0..3)
                    .flat_map(|axis| parts[axis].iter().map(move |w| per_cell(axis, w)))
                    .collect();
                Some(BoundVelocity::Cells(Field::from_values(grid, 3, &values)?))
            }
        };
        let mut diffusion: Vec<Option<Field<T>>> = (0..species).map(|_| None).collect();
        for (name, coefficients) in &problem.diffusion {
            let values: Vec<T> = coefficients.iter().map(|d| T::from_f64(*d)).collect();
            diffusion[model.index(name)?] = Some(Field::from_values(grid, 1, &values)?);
        }
        let mut sources = Vec::new();
        for source in &problem.sources {
            let field = PointSource::argument(&source.species, "rate");
            sources.push(Source {
                species: model.index(&source.species)?,
                cell: source.cell,
                rate: source.rate.bind(model.params(), &field)?,
            });
        }
        let boundaries = problem.boundaries.bind(grid, model.species(), model.params())?;
        let weights = problem.stencil.weights(grid, boundaries::given(&boundaries));
        if !weights.axes.into_iter().all(|weight| T::from_f64(weight).is_finite()) {
            let remedy =
                format!("differ too much for {}: coarsen the finest, or refine along x", T::NAME);
            return Err(Error::input("spacing", format!("{:?}", grid.spacing()), remedy));
        }
        let mut plan = Plan {
            grid: *grid,
            slab: Slab::whole(grid.shape()[2], boundaries[0].wraps(2)),
            layout,
            weights,
            kernel,
            linear,
            boundaries,
            rules: Rules::PLAIN,
            velocity,
            advected: problem.advected(),
            meets_boundaries: false,
            advection: problem.advection,
            diffusion,
            sources,
            domain: None,
        };
        plan.domain = domain(problem, &plan.boundaries).map(Arc::new);
        plan.meets_boundaries = (0..3).any(|axis| {
            let advected =
                plan.boundaries.iter().zip(&plan.advected).filter(|(_, advected)| **advected);
            plan.has_velocity_along(axis)
                && advected
                    .map(|(boundaries, _)| boundaries.ends()[axis])
                    .any(|ends| ends != [End::Open; 2])
        });
        Ok(plan)
    }

    /// For the sweeps of a CPU, of a problem whose axes of one cell are the last, where rules of boundaries have this
    /// order. Programs are given sums over neighbours there: the scale of the weights is in their numbers.
    pub(crate) fn for_processor(problem: &Problem, rules: Rules) -> Result<Plan<T>, Error> {
        let plan = Plan::new(problem)?;
        let weights = plan.weights.within(flat::reach(&plan));
        let kernel = match plan.kernel {
            Kernel::Diffusion(d) => Kernel::Diffusion(d),
            Kernel::Tape(_) => {
                let species = plan.layout.species;
                let is_laplacian =
                    |i| !(0..species).contains(&i) && !(2 * species..2 * species + 3).contains(&i);
                let unit = |i: usize| if is_laplacian(i) { weights.scale } else { 1.0 };
                let (rhs, potentials) = problem.model.bound();
                let [rhs, potentials] = [rhs, potentials].map(|graph| graph.with_units(unit));
                Kernel::Tape(Box::new(Tape::new(&rhs, &potentials, species)))
            }
        };
        Ok(Plan { weights, kernel, rules, ..plan })
    }

    /// Whether there may be a velocity along an axis.
    fn has_velocity_along(&self, axis: usize) -> bool {
        match &self.velocity {
            None => false,
            Some(BoundVelocity::Uniform(time_dependent)) => {
                !matches!(time_dependent[axis], TimeDependent::Constant(0.0))
            }
            Some(BoundVelocity::Cells(_)) => true,
        }
    }

    /// The domain, where solid cells are near any of some rows from (y, z) on.
    pub(crate) fn domain_near(&self, (y, z): (isize, isize), rows: usize) -> Option<&Domain> {
        let near = |domain: &&Domain| (y..y + rows as isize).any(|y| domain.is_near(y, z));
        self.domain.as_deref().filter(near)
    }

    /// The same problem on a slab of the box. The values of its own planes are those of the whole;
    /// next to the ends of what it holds but the box does not end they have no meaning.
    pub(crate) fn cut(&self, slab: &Slab) -> Result<Plan<T>, Error> {
        let grid = self.grid.with_planes(slab.planes());
        let species = self.layout.species;
        let layout = Layout::new::<T>(&grid, species).ok_or_else(|| {
            Error::input("grid", format!("{:?} cells", grid.shape()), "does not fit")
        })?;
        let cut = |field: &Field<T>| field.cut(&grid, slab);
        let velocity = match &self.velocity {
            None => None,
            Some(BoundVelocity::Uniform(time_dependent)) => {
                Some(BoundVelocity::Uniform(time_dependent.clone()))
            }
            Some(BoundVelocity::Cells(field)) => Some(BoundVelocity::Cells(cut(field)?)),
        };
        let diffusion = self.diffusion.iter().map(|field| field.as_ref().map(cut).transpose());
        Ok(Plan {
            grid,
            slab: *slab,
            layout,
            weights: self.weights,
            kernel: self.kernel.clone(),
            linear: self.linear.clone(),
            boundaries: self.boundaries.iter().map(|w| w.cut(slab.beside.map(|n| n > 0))).collect(),
            rules: self.rules,
            velocity,
            advected: self.advected.clone(),
            // That of the box, so that all slabs have the same kernels.
            meets_boundaries: self.meets_boundaries,
            advection: self.advection,
            diffusion: diffusion.collect::<Result<_, _>>()?,
            sources: self.sources.clone(),
            // That of the box: whoever asks it has planes of the box.
            domain: self.domain.clone(),
        })
    }

    /// Whether sweeps by GPUs leave the velocity to a second one.
    pub(crate) fn leaves_velocity(&self) -> bool {
        match &self.velocity {
            None => false,
            Some(BoundVelocity::Cells(_)) => true,
            Some(BoundVelocity::Uniform(_)) => {
                self.advection == Advection::Koren || self.meets_boundaries
            }
        }
    }

    /// Whether sweeps by GPUs leave anything to a second one.
    pub(crate) fn is_left_over(&self) -> bool {
        self.leaves_velocity() || self.diffusion.iter().any(Option::is_some)
    }

    /// Whether a sweep asks where a plane lies in the box.
    pub(crate) fn asks_for_planes(&self) -> bool {
        self.coordinates()[2] || !self.sources.is_empty()
    }

    /// Which of x, y, z F or the potentials read.
    pub(crate) fn coordinates(&self) -> [bool; 3] {
        let Kernel::Tape(tape) = &self.kernel else { return [false; 3] };
        let (rhs, potentials) = (&tape.rhs_inputs.coordinates, &tape.potential_inputs.coordinates);
        [0, 1, 2].map(|axis| rhs[axis] || potentials[axis])
    }

    /// The axes along which the box continues at its other end; one is so for all species.
    pub(crate) fn periodic(&self) -> [bool; 3] {
        periodic(&self.boundaries)
    }

    /// What the potentials read, if there are any.
    pub(crate) fn potential_inputs(&self) -> Option<&Inputs> {
        match &self.kernel {
            Kernel::Diffusion(_) => None,
            Kernel::Tape(tape) => Some(&tape.potential_inputs),
        }
    }

    /// Whether boundaries, velocity, sources and equations are the same at all times.
    pub(crate) fn is_steady(&self) -> bool {
        let constant =
            |time_dependent: &TimeDependent| matches!(time_dependent, TimeDependent::Constant(_));
        let velocity = match &self.velocity {
            Some(BoundVelocity::Uniform(parts)) => parts.iter().all(constant),
            Some(BoundVelocity::Cells(_)) | None => true,
        };
        let equations = match &self.kernel {
            Kernel::Diffusion(_) => true,
            Kernel::Tape(tape) => !tape.rhs.uses_time() && !tape.potentials.uses_time(),
        };
        let sources = self.sources.iter().all(|source| constant(&source.rate));
        velocity && equations && sources && self.boundaries.iter().all(SpeciesBoundaries::is_steady)
    }

    /// Whether species do nothing but diffuse and react along a line, everywhere in the same way.
    pub(crate) fn is_rod(&self) -> bool {
        self.weights.reach == Reach::Line
            && self.coordinates() == [false; 3]
            && self.n_potentials() == 0
            && self.domain.is_none()
            && self.sources.is_empty()
            && !self.advected.contains(&true)
            && self.diffusion.iter().all(Option::is_none)
    }

    /// The most steps of forward Euler that one pass can take.
    pub(crate) fn most_steps(&self) -> usize {
        let uniform = match (&self.velocity, self.advection) {
            (Some(BoundVelocity::Uniform(_)), Advection::Upwind) | (None, _) => true,
            _ => !self.advected.contains(&true),
        };
        let plain = self.diffusion.iter().all(Option::is_none) && self.domain.is_none();
        if uniform && plain { MOST_STEPS } else { 1 }
    }

    /// What is kept of a cell.
    pub(crate) fn cell(&self) -> Cell {
        let species = self.layout.species;
        let feeding = self
            .potential_inputs()
            .map_or(0, |inputs| (0..species).filter(|s| inputs.depend_on(*s)).count());
        Cell { species, potentials: self.n_potentials(), feeding, word: size_of::<T>() }
    }

    /// K
    pub(crate) fn n_potentials(&self) -> usize {
        self.with_potentials().map_or(0, |tape| tape.n_potentials)
    }

    /// The programs, where there are potentials.
    pub(crate) fn with_potentials(&self) -> Option<&Tape> {
        match &self.kernel {
            Kernel::Tape(tape) if tape.n_potentials > 0 => Some(tape),
            _ => None,
        }
    }
}
