//! How large a step may be, from the symbol of the stencil and the Jacobian of the reaction.
//!
//! On a wave that changes by the angles θ from cell to cell, the equations linearised about the
//! values of one cell are a small matrix: ∂F/∂u + s ∂F/∂L + s ∂F/∂M (∂μ/∂u + s ∂μ/∂L) + a, with
//! s(θ) the symbol of the Laplacian and a(θ) that of the upwind difference. Its eigenvalues λ, over
//! waves, over a sample of cells and over the time of a run, limit the steps. Across a single cell s and a are what
//! it exchanges with its boundaries.
//!
//! Where the domain is a part of the box the limits are the box's: what solid cells leave out of
//! the Laplacian cannot raise its largest eigenvalue (docs/src/theory/fields.md, solid cells).

use crate::analysis::reduce::check_start;
use crate::analysis::sample::{InMemory, State, Values};
use crate::field::Field;
use crate::problem::boundaries::{self, SpeciesBoundaries};
use crate::problem::quantity::{Quantity, TimeDependent};
use crate::problem::stencil::Stencil;
use crate::problem::{Advection, Problem, Velocity};
use crate::time::coefficients::Amplification;
use crate::time::coupling::Coupling;
use crate::time::effort::{Effort, Waves, most_important};
use crate::time::eigen::Complex;
use crate::time::limits::Limits;
use crate::time::linearised::{Linear, Wave};
use crate::time::method::Method;
use crate::time::sampling::{SampleCells, Sampling};
use crate::time::spectrum::{AllowedGrowth, RESOLVED};
use crate::time::wave_series::{WaveSeries, points};
use odeum_ode::{Error, Scalar};
use std::collections::HashSet;
use std::f64::consts::PI;

/// Limits of explicit steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// The largest stable step of forward Euler \[time\]: for every damped eigenvalue
    /// −2 Re λ/|λ|²; infinite when nothing limits it. Waves that are weakly damped, or not at
    /// all, forward Euler makes grow: by a step that resolves them (|hλ| ≤ ½) no faster than
    /// oscillations of coupled species grow by themselves that are about as fast, or by a tenth in the whole span. Where something
    /// grows by itself no larger than 2/[`growth`](Stability::growth): of that a step sees nothing. With a velocity also no
    /// larger than keeps new extrema away where the scheme is Koren's.
    pub euler: f64,
    /// The largest |λ| [1/time].
    pub radius: f64,
    /// The largest Re λ [1/time]: how fast something grows by itself; zero where nothing does.
    pub growth: f64,
    /// The largest |λ| of what grows so [1/time].
    pub(crate) growing_radius: f64,
    /// How fast reactions change what is the same everywhere: the largest |λ| of their Jacobian [1/time].
    pub reaction: f64,
    /// The largest step of forward Euler that keeps positive values positive, of problems where
    /// there is a velocity and every cell gains from its neighbours only \[time\].
    pub positive: Option<f64>,
    /// What limits forward Euler but for weakly damped waves.
    decaying: f64,
    /// How fast weakly damped waves may be made to grow whatever grows by itself [1/time].
    pub(crate) allowed_growth: f64,
    /// Of each group of coupled species.
    pub(super) groups: Vec<Limits>,
}

impl Stability {
    /// The largest stable step of a method \[time\]; of the stabilised ones with the stages asked
    /// for, or with as many as there may be. A velocity, or a reaction that oscillates, limits these
    /// beside the radius: their stages widen the stable range along the real axis alone. Zero where
    /// no step is stable, as of waves that never decay by any method but SSPRK3 over an endless span.
    pub fn largest_step(&self, method: Method) -> f64 {
        self.largest(method, AllowedGrowth { rate: self.allowed_growth, up_to_neighbours: true })
    }

    /// The same of a moment, where a wave that decays slowly now is not taken to do so for long: steps
    /// that resolve it are stable.
    pub(crate) fn largest_of_moment(&self, method: Method) -> f64 {
        self.largest(method, AllowedGrowth { rate: f64::INFINITY, up_to_neighbours: false })
    }

    /// What a [fraction](crate::Steps::Fraction) is one of \[time\]: the largest stable step, but no longer than 1/[`growth`](Stability::growth)
    /// where something grows, and than what follows [reactions](Stability::followed_step).
    pub fn usual_step(&self, method: Method) -> f64 {
        self.largest_step(method).min(1.0 / self.growth).min(self.followed_step(method))
    }

    /// The largest step that follows reactions \[time\], however long steps are stable: by each factor e of a change the error is up to 11 %
    /// with forward Euler, 0.8 % with SSPRK3, and 6 % with the stabilised methods.
    pub fn followed_step(&self, method: Method) -> f64 {
        let resolved = if method == Method::Euler { RESOLVED_BY_EULER } else { RESOLVED };
        resolved / self.reaction
    }

    /// ln of what a step of a method with so many stages makes of the fastest wave, where that decays by itself.
    pub(crate) fn growth_by(&self, method: Method, h: f64) -> f64 {
        let stages = method.stages(h, self.radius);
        let fastest = Complex::new(-h * self.radius, 0.0);
        let growth = Amplification::new(method, stages).of(fastest).ln();
        if growth.is_nan() { f64::INFINITY } else { growth }
    }

    /// Whether weakly damped waves limit a method: by the more, the longer the span is.
    pub(crate) fn depends_on_span(&self, method: Method) -> bool {
        let endless = AllowedGrowth { rate: 0.0, up_to_neighbours: true };
        self.largest(method, endless) < self.largest_of_moment(method)
    }

    /// What to do where weakly damped waves limit a method.
    pub fn remedy(&self, method: Method) -> Option<String> {
        let (own, of_moment) = (self.largest_step(method), self.largest_of_moment(method));
        let better = own < of_moment && self.largest_step(Method::Ssprk3) > 3.0 * own;
        better.then(|| self.other_method(method)).flatten()
    }

    /// A warning where steps of size `h` by a method make oscillations that no velocity brings grow by more than a tenth in the whole
    /// span, if only as fast as others grow by themselves. What oscillates by a velocity alone is a matter of its scheme.
    pub fn oscillation_warning(&self, method: Method, h: f64) -> Option<String> {
        let allowed = AllowedGrowth { rate: self.allowed_growth, up_to_neighbours: false };
        let most = method.reach_of(self.radius).min(UNSEEN / self.growth);
        let of_group = |Limits { spectrum_without_velocity: spectrum, .. }: &Limits| match method {
            Method::Euler => spectrum.euler(allowed),
            _ => spectrum.largest_step(method, self.radius, most, allowed),
        };
        let own = self.groups.iter().map(of_group).fold(f64::INFINITY, f64::min);
        let other = self.other_method(method).filter(|_| h > own * (1.0 + 1e-9))?;
        Some(if own > 0.0 {
            format!("{other}, {} steps to {own:.6e}", method.name())
        } else {
            other
        })
    }

    fn other_method(&self, method: Method) -> Option<String> {
        let (name, largest) = (method.name(), self.largest_step(Method::Ssprk3));
        let text = || {
            format!("{name} makes weakly damped waves grow: ssprk3 takes steps to {largest:.6e}")
        };
        (method != Method::Ssprk3).then(text)
    }

    fn largest(&self, method: Method, allowed: AllowedGrowth) -> f64 {
        let unseen = UNSEEN / self.growth;
        let weakly_damped = self.groups.iter().map(|group| group.weakly_damped.euler(allowed));
        let euler = weakly_damped.fold(self.decaying.min(unseen), f64::min);
        let by_stages = || {
            let most = method.reach_of(self.radius).min(unseen);
            self.groups.iter().fold(most, |most, group| {
                group.spectrum.largest_step(method, self.radius, most, allowed)
            })
        };
        match method {
            Method::Euler => euler,
            Method::Ssprk3 => by_stages().max(euler),
            Method::Rkc { .. } | Method::Rkl2 { .. } => by_stages(),
        }
    }
}

/// How much faster than waves of third order what the limiter of Koren's scheme makes of them is
/// taken to be: without it steps by tenths larger than stable were found in the plane.
const LIMITED: f64 = 1.3;
/// Times of a span.
const TIMES: usize = 33;
/// The same on the way, where one sample of a field follows the other.
const RUNNING_TIMES: usize = 2;
/// Times of a span among which those are found at which rates, or a velocity, are extreme.
const MOMENTS: usize = 1024;
/// The same on the way, at least; else two for each step ahead, so that none is left out in which a coefficient is large.
const RUNNING_MOMENTS: usize = 64;
/// Steps ahead of which that is so.
pub(crate) const STEPS_AHEAD: f64 = 4096.0;
/// The extreme values of all species, and derivatives in all cells, in sweeps.
const EXTREMES: f64 = 0.5;
const BY_PLACE: f64 = 3.0;
/// The eigenvalues of a matrix, over S³, in updates of a species in a cell.
const EIGENVALUES: f64 = 25.0;
/// |hλ| up to which forward Euler follows a reaction: it makes 1 − z + z²/2 of what is 1 − z.
const RESOLVED_BY_EULER: f64 = 0.2;
/// Steps times a growth that are too large to see it.
const UNSEEN: f64 = 2.0;
/// By how much a wave that does not decay may grow over the span of a run: ln of the factor.
const BUDGET: f64 = 0.1;

impl Speeds {
    /// Whether it is not the same everywhere and always.
    pub(super) fn varies(&self) -> bool {
        match self {
            Speeds::Uniform(parts) => {
                parts.iter().any(|part| !matches!(part, TimeDependent::Constant(_)))
            }
            Speeds::Cells(_) => true,
        }
    }
}

impl Sampling {
    /// Times of a span at which derivatives are looked for where they are extreme.
    fn scanned(self, (from, to): (f64, f64)) -> Vec<f64> {
        match self {
            _ if !(to.is_finite() && to > from) => vec![from],
            Sampling::Initial => vec![from, 0.5 * (from + to), to],
            Sampling::Running => vec![from, to],
        }
    }

    /// Times of a span.
    fn times(self, span: (f64, f64)) -> Vec<f64> {
        within(span, if self == Sampling::Initial { TIMES } else { RUNNING_TIMES })
    }

    /// More of them, for what is quickly computed: of a span of so many steps.
    fn moments(self, span: (f64, f64), steps: f64) -> Vec<f64> {
        let of_steps = 2 * steps.clamp(0.0, STEPS_AHEAD).ceil() as usize + 1;
        within(
            span,
            if self == Sampling::Initial { MOMENTS } else { of_steps.max(RUNNING_MOMENTS) },
        )
    }
}

/// So many times of a span, both ends among them; one where it has no length that is known.
pub(super) fn within((from, to): (f64, f64), count: usize) -> Vec<f64> {
    if !(to.is_finite() && to > from) {
        return vec![from];
    }
    (0..count).map(|k| from + (to - from) * k as f64 / (count - 1) as f64).collect()
}

/// Limits of the steps of a problem about the values of a field, over times from `span.0` to
/// `span.1`, over which velocity and rates may change.
///
/// # Errors
/// As [`Problem::check`], edges of cells of which powers are beyond the numbers of the precision, a field of another shape or with
/// values that are not finite, and a span that does not begin or end.
pub fn stability<T: Scalar>(
    problem: &Problem,
    field: &Field<T>,
    span: (f64, f64),
) -> Result<Stability, Error> {
    problem.grid.check::<T>()?;
    let judge = Judge::new(problem)?;
    field.check(problem.grid.shape(), problem.model.species().len())?;
    check_start(problem, field)?;
    if !span.0.is_finite() || span.1.is_nan() {
        let found = format!("{} to {}", span.0, span.1);
        return Err(Error::input("span", found, "the start must be finite, the end a number"));
    }
    let length = span.1 - span.0;
    let allowed_growth = if length > 0.0 { allowed_growth_over(length) } else { 0.0 };
    judge.limits(problem, &InMemory(field, problem.mask.as_ref()), span, allowed_growth)
}

/// How fast waves that do not decay may be made to grow over a time of this length [1/time].
pub(crate) fn allowed_growth_over(length: f64) -> f64 {
    BUDGET / length
}

/// A problem made ready to be judged.
pub(crate) struct Judge {
    pub(super) linear: Linear,
    pub(super) coupling: Coupling,
    pub(super) sample_cells: SampleCells,
    pub(super) boundaries: Vec<SpeciesBoundaries>,
    /// Of each species, and of potentials.
    cosines: Vec<Cosines>,
    pub(super) velocity: Option<Speeds>,
    /// Of the longest wave along each axis, the change from cell to cell; none along a single cell.
    longest: [Option<f64>; 3],
}

/// What lies between the least and the largest mean over both neighbours of a cell along each axis, in units of its value.
type Cosines = [[f64; 2]; 3];

/// |w|/h along each axis, of a velocity as it changes or the largest of all cells.
pub(super) enum Speeds {
    Uniform(Box<[TimeDependent; 3]>),
    Cells([f64; 3]),
}

impl Judge {
    pub(crate) fn new(problem: &Problem) -> Result<Judge, Error> {
        problem.check()?;
        let Problem { model, grid, .. } = problem;
        let velocity = match &problem.velocity {
            None => None,
            Some(Velocity::Uniform([x, y, z])) => {
                let bind = |part: &Quantity| part.bind(model.params(), "velocity");
                Some(Speeds::Uniform(Box::new([bind(x)?, bind(y)?, bind(z)?])))
            }
            Some(Velocity::Cells(parts)) => Some(Speeds::Cells(
                [0, 1, 2]
                    .map(|axis| problem.largest_of_domain(&parts[axis]) / grid.spacing()[axis]),
            )),
        };
        let boundaries = problem.boundaries.bind(grid, model.species(), model.params())?;
        let of_axes = |of: &dyn Fn(usize, usize) -> [f64; 2]| {
            [0, 1, 2].map(|axis| of(axis, grid.shape()[axis]))
        };
        let mut cosines: Vec<Cosines> =
            boundaries.iter().map(|b| of_axes(&|axis, n| b.cosines(axis, n))).collect();
        // Nothing passes the boundaries of potentials.
        cosines.push(of_axes(&|_, n| [if n == 1 { 1.0 } else { -1.0 }, 1.0]));
        let linear = Linear::new(problem);
        let symbols =
            cosines.iter().map(|c| extremes(|c| problem.stencil.symbol_of(grid, c), c)[0]);
        let fastest = symbols.fold(0.0, f64::min);
        let sample_cells = SampleCells::new(&linear, model.species().len(), fastest);
        let (given, drained) = (boundaries::given(&boundaries), boundaries::drained(&boundaries));
        let longest = [0, 1, 2].map(|axis| {
            let halves = match axis {
                _ if boundaries[0].wraps(axis) => 2.0,
                _ if given[axis] || drained[axis] => 0.5,
                _ => 1.0,
            };
            let n = grid.shape()[axis];
            (n > 1).then(|| (halves * PI / n as f64).min(PI))
        });
        let coupling = Coupling::new(problem);
        Ok(Judge { linear, coupling, sample_cells, boundaries, cosines, velocity, longest })
    }

    /// Whether limits depend on the values of the field, or on the time.
    pub(crate) fn changes(&self, problem: &Problem) -> bool {
        self.linear.reads.values || problem.changes_with_time()
    }

    /// What a running sample costs, in sweeps.
    pub(crate) fn sampling_cost(&self, problem: &Problem) -> f64 {
        let reads = &self.linear.reads;
        // Cells whose values a sample of one takes: itself, its neighbours and theirs.
        let taken = match (reads.laplacians, reads.beyond) {
            (_, true) => 49.0,
            (true, false) => 7.0,
            (false, false) => 1.0,
        };
        let extremes =
            if reads.values { EXTREMES + taken * Sampling::Running.part(problem) } else { 0.0 };
        // At both ends of the times ahead.
        let by_place = reads.time && reads.coordinates.contains(&true);
        extremes + if by_place { 2.0 * BY_PLACE } else { 0.0 }
    }

    /// What the eigenvalues of a running sample cost, in updates of a species in a cell.
    pub(crate) fn eigenvalue_cost(&self, problem: &Problem) -> f64 {
        let species = problem.model.species().len();
        let effort = Effort::new(species, Sampling::Running);
        let matrices = self.sample_cells.most_matrices(problem, &self.linear);
        let waves = self.count(problem, &effort.waves(matrices, |set| self.count(problem, set)));
        let matrices = matrices.min(effort.matrices(waves));
        let schemes = match (&self.velocity, problem.advection) {
            (Some(_), Advection::Koren) => 2.0,
            _ => 1.0,
        };
        EIGENVALUES * schemes * (waves * matrices) as f64 * (species as f64).powi(3)
    }

    /// Limits of the steps about the values of a field, over a span of time, with what weakly damped waves may be made to grow by.
    pub(crate) fn limits(
        &self,
        problem: &Problem,
        values: &dyn Values,
        span: (f64, f64),
        allowed_growth: f64,
    ) -> Result<Stability, Error> {
        let (limits, _) =
            self.within(problem, values, (span, allowed_growth, 0.0), Sampling::Initial)?;
        Ok(limits)
    }

    /// The same on the way, over a span of so many steps, with the states that they are those of.
    pub(crate) fn running_limits(
        &self,
        problem: &Problem,
        values: &dyn Values,
        (span, steps): ((f64, f64), f64),
        allowed_growth: f64,
    ) -> Result<(Stability, Vec<State>), Error> {
        self.within(problem, values, (span, allowed_growth, steps), Sampling::Running)
    }

    fn within(
        &self,
        problem: &Problem,
        values: &dyn Values,
        (span, allowed_growth, steps): ((f64, f64), f64, f64),
        sampling: Sampling,
    ) -> Result<(Stability, Vec<State>), Error> {
        let linear = &self.linear;
        let moments = sampling.moments(span, steps);
        let velocity = self.speeds(problem, &moments);
        let scanned = if linear.reads.time { sampling.scanned(span) } else { vec![span.0] };
        let of = (problem, &self.boundaries[..], linear);
        let states: Vec<State> = self.sample_cells.sample(of, values, &scanned, sampling)?;
        let mut times = vec![span.0];
        if linear.reads.time {
            times = sampling.times(span);
            // Where derivatives depend on nothing else, one cell stands for all.
            let distinct =
                if linear.by_cell() { &states[..] } else { states.get(..1).unwrap_or(&states) };
            times.extend(self.sample_cells.extreme_times(problem, distinct, &moments));
        }
        let mut is_beyond_numbers = false;
        // Of linear equations the matrices are the same in many cells.
        let mut seen = HashSet::new();
        let mut matrices = Vec::new();
        for t in times {
            for state in &states {
                for parts in linear.at(problem, state, t) {
                    if !parts.is_finite() && linear.overflows(problem, state, t) {
                        is_beyond_numbers = true;
                    }
                    if seen.insert(parts.bits()) {
                        matrices.push(parts);
                    }
                }
            }
        }
        drop(seen);
        let mut spread = linear.largest_diffusion();
        for parts in &matrices {
            let own = (0..parts.species).map(|s| parts.laplacian[s * parts.species + s]);
            spread = own.fold(spread, f64::max);
        }
        let effort = Effort::new(problem.model.species().len(), sampling);
        let set = effort.waves(matrices.len(), |set| self.count(problem, set));
        let waves = self.waves(problem, velocity, &set);
        let series = self.wave_series(problem, velocity, &set);
        let count = waves.len() + series.iter().map(|one| one.waves.len()).sum::<usize>();
        let matrices = most_important(matrices, effort.matrices(count), &waves);
        let of_group = |species: &Vec<usize>| {
            let mut limits = Limits::default();
            if is_beyond_numbers {
                limits.allow_nothing();
            }
            limits.add_all((&matrices, species), &waves, &series);
            limits
        };
        let groups: Vec<Limits> = self.coupling.groups.iter().map(of_group).collect();
        let least = |of: fn(&Limits) -> f64| groups.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&Limits) -> f64| groups.iter().map(of).fold(0.0, f64::max);
        let mut decaying = least(|group| group.decaying);
        let mut positive = None;
        if let Some(speed) = velocity {
            let rate = self.rate(problem, speed, spread);
            if rate > 0.0 && problem.model.potentials().outputs().is_empty() {
                positive = Some(1.0 / rate);
            }
            if problem.advection == Advection::Koren {
                decaying = decaying.min(1.0 / rate);
            }
        }
        let mut limits = Stability {
            euler: 0.0,
            radius: most(|group| group.radius),
            growth: most(|group| group.growth),
            growing_radius: most(|group| group.growing_radius),
            reaction: most(|group| group.reaction),
            positive,
            decaying,
            allowed_growth,
            groups,
        };
        limits.euler = limits.largest_step(Method::Euler);
        Ok((limits, states))
    }

    /// |w|/h along each axis, the largest of some times; `None` without a velocity.
    pub(super) fn speeds(&self, problem: &Problem, times: &[f64]) -> Option<[f64; 3]> {
        let spacing = problem.grid.spacing();
        Some(match self.velocity.as_ref()? {
            Speeds::Cells(speeds) => *speeds,
            Speeds::Uniform(parts) => [0, 1, 2].map(|axis| match &parts[axis] {
                TimeDependent::Constant(w) => w.abs() / spacing[axis],
                part => {
                    let speeds = times.iter().map(|t| part.at(*t).abs());
                    speeds.fold(0.0, f64::max) / spacing[axis]
                }
            }),
        })
    }

    /// How fast a cell may lose what it has to its neighbours and through boundaries [1/time], in a velocity of
    /// these speeds and with diffusion up to `spread`.
    fn rate(&self, problem: &Problem, speed: [f64; 3], spread: f64) -> f64 {
        let Problem { grid, .. } = problem;
        let given = boundaries::given(&self.boundaries);
        let weights = problem.stencil.weights(grid, given);
        let sum = if weights.edges { 24.0 } else { 2.0 * weights.axes.iter().sum::<f64>() };
        let factor = |axis: usize| match problem.advection {
            Advection::Upwind => 1.0,
            // The right-hand side at the first face within such a boundary is twice that to its value.
            Advection::Koren if given[axis] => 3.0,
            Advection::Koren => 2.0,
        };
        // Beyond a boundary with a value lies what a cell has less than that.
        let beyond = |axis: usize| {
            let weight = if weights.edges { 2.0 } else { weights.axes[axis] };
            let scales = self.boundaries.iter().flat_map(|boundaries| boundaries.scales(axis));
            let least = scales.fold(0.0, f64::min);
            let sides = if grid.shape()[axis] == 1 { 2.0 } else { 1.0 };
            -least * weight * sides
        };
        let sum = sum + (0..3).map(beyond).sum::<f64>();
        // Nothing passes along an axis of one closed cell.
        let drained = boundaries::drained(&self.boundaries);
        let passes = |axis: &usize| grid.shape()[*axis] > 1 || given[*axis] || drained[*axis];
        let velocity: f64 = (0..3).filter(passes).map(|axis| factor(axis) * speed[axis]).sum();
        velocity + spread * sum * weights.scale
    }

    /// The waves of all sizes that matrices are judged by; the first is the same everywhere.
    fn waves(&self, problem: &Problem, velocity: Option<[f64; 3]>, set: &Waves) -> Vec<Wave> {
        let mut waves = self.waves_of(problem, velocity, set);
        if velocity.is_some() && self.velocity.as_ref().is_some_and(Speeds::varies) {
            // Upwinding damps waves: where, or when, there is no velocity they decay more slowly.
            waves.extend(self.waves_of(problem, None, set));
        }
        waves
    }

    pub(super) fn waves_of(
        &self,
        problem: &Problem,
        velocity: Option<[f64; 3]>,
        set: &Waves,
    ) -> Vec<Wave> {
        let Some(speed) = velocity else {
            let count = set.without_velocity;
            let parts = (0..count).map(|k| k as f64 / (count - 1) as f64);
            return self.waves_without_velocity(problem, parts);
        };
        let shape = problem.grid.shape();
        let wide = shape.iter().filter(|n| **n > 1).count();
        let [x, y, z] =
            [0, 1, 2].map(|axis| self.phases(axis, shape[axis], set.per_axis[wide.max(1) - 1]));
        let mut waves = Vec::with_capacity(x.len() * y.len() * z.len());
        for z in &z {
            for y in &y {
                waves.extend(x.iter().map(|x| self.wave_of(problem, speed, [x, y, z])));
            }
        }
        waves
    }

    /// The wave with these phases along the axes, in a velocity of these speeds.
    fn wave_of(&self, problem: &Problem, speed: [f64; 3], phases: [&Phase; 3]) -> Wave {
        let Problem { grid, stencil, .. } = problem;
        let [mut velocity, mut third] = [Complex::default(); 2];
        // A velocity the other way turns waves the other way.
        let of =
            |symbol: Complex, speed: f64| Complex::new(symbol.re * speed.abs(), symbol.im * speed);
        for (phase, speed) in phases.into_iter().zip(speed) {
            velocity = velocity.add(of(phase.velocity, speed));
            third = third.add(of(phase.third, LIMITED * speed));
        }
        let symbols = |stencil: Stencil| {
            let of = |s: usize| stencil.symbol_of(grid, phases.map(|phase| phase.cosines[s]));
            (0..self.cosines.len()).map(of).collect()
        };
        Wave {
            laplacian: symbols(*stencil),
            star: symbols(Stencil::Star),
            velocity,
            third: Some(third).filter(|_| problem.advection == Advection::Koren),
        }
    }

    /// Waves from the longest of the box on, which may be far longer than all others that are looked at: without a velocity by their
    /// symbols; with one along each axis, and in each plane across it.
    fn wave_series<'a>(
        &'a self,
        problem: &'a Problem,
        velocity: Option<[f64; 3]>,
        set: &Waves,
    ) -> Vec<WaveSeries<'a>> {
        let mut all = Vec::new();
        if let Some(speed) = velocity {
            let mut directions = Vec::new();
            for a in 0..3 {
                directions.push([0, 1, 2].map(|axis| if axis == a { 1.0 } else { 0.0 }));
                for b in (a + 1..3).filter(|b| speed[a] > 0.0 && speed[*b] > 0.0) {
                    let most = speed[a].max(speed[b]);
                    directions.push([0, 1, 2].map(|axis| match axis {
                        _ if axis == a => speed[b] / most,
                        _ if axis == b => -speed[a] / most,
                        _ => 0.0,
                    }));
                }
            }
            for direction in directions {
                let along = (0..3).filter(|axis| direction[*axis] != 0.0);
                let longest = along.map(|axis| self.longest[axis]);
                // Along a single cell nothing varies.
                let Some(longest) = longest.reduce(|a, b| Some(a?.min(b?))).flatten() else {
                    continue;
                };
                let wave = move |angle: f64| {
                    let phases = direction.map(|part| self.phase(part * angle));
                    self.wave_of(problem, speed, phases.each_ref())
                };
                all.push(WaveSeries::new((longest, PI), set.ratio, Box::new(wave)));
            }
        }
        if velocity.is_none() || self.velocity.as_ref().is_some_and(Speeds::varies) {
            let wave = |part: f64| {
                self.waves_without_velocity(problem, std::iter::once(part)).swap_remove(0)
            };
            let longest = self.longest_without_velocity(problem);
            all.push(WaveSeries::new((longest, 1.0), set.ratio.powi(2), Box::new(wave)));
        }
        all
    }

    /// Which part of the way from the largest symbol to the least that of the longest wave is.
    fn longest_without_velocity(&self, problem: &Problem) -> f64 {
        let Problem { grid, stencil, .. } = problem;
        let symbol = |(axis, angle): (usize, f64)| {
            let mut cosines = [1.0; 3];
            cosines[axis] = angle.cos();
            -stencil.symbol_of(grid, cosines)
        };
        let waves = (0..3).filter_map(|axis| Some((axis, self.longest[axis]?)));
        let longest = waves.map(symbol).fold(f64::INFINITY, f64::min);
        longest / stencil.largest_eigenvalue(grid)
    }

    /// How many waves a set has.
    fn count(&self, problem: &Problem, set: &Waves) -> usize {
        let axes = problem.grid.dimensions();
        let of_series = match problem.velocity {
            None => points((self.longest_without_velocity(problem), 1.0), set.ratio.powi(2)),
            Some(_) => {
                let longest = self.longest.into_iter().flatten().fold(PI, f64::min);
                axes * (axes + 1) / 2 * points((longest, PI), set.ratio)
            }
        };
        count_of(problem, set) + of_series
    }

    /// Waves without a velocity, where only the size of the symbol counts: at these parts of the way from the largest, which is 0 or
    /// more, to the least.
    pub(super) fn waves_without_velocity(
        &self,
        problem: &Problem,
        parts: impl Iterator<Item = f64>,
    ) -> Vec<Wave> {
        let Problem { grid, stencil, .. } = problem;
        let between = |stencil: Stencil| -> Vec<[f64; 2]> {
            let of =
                |cosines: &Cosines| extremes(|cosines| stencil.symbol_of(grid, cosines), cosines);
            self.cosines.iter().map(of).collect()
        };
        let (laplacian, star) = (between(*stencil), between(Stencil::Star));
        let wave = |at: &dyn Fn(&[f64; 2]) -> f64| Wave {
            laplacian: laplacian.iter().map(at).collect(),
            star: star.iter().map(at).collect(),
            velocity: Complex::default(),
            third: None,
        };
        let of_part = |part: f64| wave(&|[least, most]| most + (least - most) * part);
        let grows = laplacian.iter().any(|[_, most]| *most > 0.0);
        // What is the same everywhere is among the waves.
        parts.map(of_part).chain(grows.then(|| wave(&|_| 0.0))).collect()
    }

    /// What waves are along one axis of `n` cells, if they are looked at for so many angles.
    fn phases(&self, axis: usize, n: usize, angles: usize) -> Vec<Phase> {
        let wave = |k: usize| self.phase(k as f64 * PI / (angles - 1) as f64);
        let mut phases: Vec<Phase> = (0..if n > 1 { angles } else { 1 }).map(wave).collect();
        let [least, most] =
            [0, 1].map(|end| self.cosines.iter().map(|c| c[axis][end]).collect::<Vec<f64>>());
        let grows = most.iter().any(|c| *c > 1.0);
        let given = boundaries::given(&self.boundaries)[axis];
        if n == 1 && (given || boundaries::drained(&self.boundaries)[axis]) {
            // What a velocity carries out is lost, and what it brings in is given; by Koren's scheme the slope to
            // what is given counts twice.
            let cosines =
                least.iter().zip(&most).map(|(a, b)| if *b > 1.0 { *b } else { *a }).collect();
            let steepest = if given { 2.0 } else { 1.0 };
            let [velocity, third] = [-1.0, -steepest].map(|re| Complex::new(re, 0.0));
            phases.push(Phase { cosines, velocity, third });
        } else if grows {
            phases.push(Phase {
                cosines: most,
                velocity: Complex::default(),
                third: Complex::default(),
            });
        }
        phases
    }

    /// What a wave is along an axis along which it changes by an angle from cell to cell.
    fn phase(&self, angle: f64) -> Phase {
        let (sin, cos) = angle.sin_cos();
        Phase {
            cosines: vec![cos; self.cosines.len()],
            velocity: Complex::new(cos - 1.0, -sin),
            // −(2 e^{iθ} + 3 − 6 e^{−iθ} + e^{−2iθ})/6
            third: Complex::new((1.0 - cos) * (cos - 1.0) / 3.0, (sin * cos - 4.0 * sin) / 3.0),
        }
    }
}

/// The least and the largest of what is linear in each of three numbers, of which each lies between two.
fn extremes(f: impl Fn([f64; 3]) -> f64, between: &Cosines) -> [f64; 2] {
    let corner = |bits: usize| f([0, 1, 2].map(|axis| between[axis][bits >> axis & 1]));
    let corners = (0..8).map(corner);
    corners.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
}

/// What a wave is along one axis, where w/h is 1.
struct Phase {
    /// Of each species, and of potentials: the mean over both neighbours of a cell in units of its value.
    cosines: Vec<f64>,
    velocity: Complex,
    third: Complex,
}

/// How many waves of all sizes a set has.
pub(super) fn count_of(problem: &Problem, set: &Waves) -> usize {
    let axes = problem.grid.dimensions().max(1);
    match problem.velocity {
        None => set.without_velocity,
        Some(_) => set.per_axis[axes - 1].pow(axes as u32),
    }
}
