//! What is measured: a problem, how its systems differ, how they are integrated.

use odeum_case::{Precision, random};
use odeum_ode::problems::{self, Problem};
use odeum_ode::{Controller, Ensemble, Error, FirstStep, Method, Options, Scalar, Tolerance};

/// The seed of every random ensemble here.
const SEED: u64 = 42;

/// One ensemble and how it is integrated.
pub(crate) struct Workload {
    /// Name in tables and JSON.
    pub(crate) name: &'static str,
    /// One line on what it is.
    pub(crate) about: &'static str,
    pub(crate) problem: Problem,
    pub(crate) method: Method,
    pub(crate) options: Options,
    pub(crate) precision: Precision,
    span: (f64, f64),
    members: Members,
}

/// How the systems of an ensemble differ.
#[derive(Clone, Copy)]
enum Members {
    /// The first components of the state, changed relatively by up to this much.
    Perturbed { components: usize, size: f64 },
    /// One parameter in equal steps over a range.
    Sweep { param: usize, from: f64, to: f64 },
    /// A square grid over the first state and the first parameter.
    Grid { state: (f64, f64), param: (f64, f64) },
    /// The decaying Lorenz system with spread-out costs: workload W2.
    Decaying,
}

impl Workload {
    /// The ensemble with this many systems.
    pub(crate) fn ensemble<T: Scalar>(&self, systems: usize) -> Result<Ensemble<T>, Error> {
        let (dim, n_params) = (self.problem.dim(), self.problem.params.len());
        let fill = |count: usize, value: &dyn Fn(usize, usize) -> f64| -> Vec<T> {
            let indices = (0..count).flat_map(|i| (0..systems).map(move |s| (i, s)));
            indices.map(|(i, s)| T::from_f64(value(i, s))).collect()
        };
        let fraction = |s: usize, of: usize| if of > 1 { s as f64 / (of - 1) as f64 } else { 0.0 };
        let side = (systems as f64).sqrt().ceil() as usize;
        let y0 = |i: usize, s: usize| {
            let y = self.problem.y0[i];
            let uniform = |component| random::uniform(SEED, s as u64, component);
            match self.members {
                Members::Perturbed { components, size } if i < components => {
                    y * (1.0 + size * uniform(i as u64))
                }
                Members::Grid { state, .. } if i == 0 => {
                    state.0 + (state.1 - state.0) * fraction(s / side, side)
                }
                Members::Decaying => [1000.0, -500.0, 500.0][i] * (0.5 - 0.5 * uniform(0)),
                _ => y,
            }
        };
        let p = |j: usize, s: usize| {
            let p = self.problem.params[j];
            match self.members {
                Members::Sweep { param, from, to } if j == param => {
                    from + (to - from) * fraction(s, systems)
                }
                Members::Grid { param, .. } if j == 0 => {
                    param.0 + (param.1 - param.0) * fraction(s % side, side)
                }
                Members::Decaying if j == RHO => {
                    0.5 * (1.0 + 0.05 * random::uniform(SEED, s as u64, 1))
                }
                _ => p,
            }
        };
        let ensemble = Ensemble::new(dim, fill(dim, &y0), self.span)?;
        if n_params == 0 { Ok(ensemble) } else { ensemble.with_params(fill(n_params, &p)) }
    }
}

/// Place of ρ among the parameters of the Lorenz problem (σ, ρ, β).
const RHO: usize = 1;

/// The workloads of a study; `None` when there is no study of this name.
pub(crate) fn study(name: &str) -> Option<Vec<Workload>> {
    match name {
        "pleiades" => Some(vec![pleiades()?]),
        "brusselator" => Some(vec![brusselator()?]),
        "lorenz" => lorenz(),
        "van_der_pol" => Some(vec![van_der_pol()?]),
        "stiff" => stiff(),
        _ => None,
    }
}

/// Names of the studies, with a line on each.
pub(crate) const STUDIES: [(&str, &str); 5] = [
    ("pleiades", "Niemeyer & Sung 2014, fig. 1: RKCK on perturbed Pleiades problems"),
    ("brusselator", "RKC on perturbed Brusselators with diffusion"),
    ("lorenz", "sweeps of the Lorenz system: adaptive, fixed step, spread-out costs"),
    ("van_der_pol", "a grid of Van der Pol oscillators in single precision"),
    ("stiff", "stiff problems by Rodas4: Robertson, Van der Pol, HIRES, POLLU, Oregonator"),
];

fn pleiades() -> Option<Workload> {
    Some(Workload {
        name: "rkck_1e-10",
        about: "positions perturbed by 1e-3, t = 0 to 1 in ten segments, RKCK, eps = 1e-10",
        problem: problems::find("pleiades")?,
        method: Method::rkck(),
        options: Options::new(Tolerance::state_and_rate(1e-10))
            .segments(10)
            .first_step(FirstStep::Fraction(0.5)),
        precision: Precision::F64,
        span: (0.0, 1.0),
        members: Members::Perturbed { components: 14, size: 1e-3 },
    })
}

fn brusselator() -> Option<Workload> {
    Some(Workload {
        name: "rkc_1e-6",
        about: "states perturbed by 1e-2, t = 0 to 1 in ten segments, RKC, rtol = 1e-6, atol = 1e-8",
        problem: problems::find("brusselator_1d")?,
        method: Method::rkc(),
        options: Options::new(Tolerance::new(1e-6, 1e-8)).segments(10),
        precision: Precision::F64,
        span: (0.0, 1.0),
        members: Members::Perturbed { components: usize::MAX, size: 1e-2 },
    })
}

fn lorenz() -> Option<Vec<Workload>> {
    let sweep = Members::Sweep { param: RHO, from: 0.0, to: 21.0 };
    let workload = |name, about, method, options, precision, end, members| {
        let mut problem = problems::find("lorenz")?;
        problem.y0 = vec![1.0, 0.0, 0.0];
        let span = (0.0, end);
        Some(Workload { name, about, problem, method, options, precision, span, members })
    };
    let tolerance = |tol| Options::new(Tolerance::new(tol, tol)).first_step(FirstStep::Size(1e-3));
    Some(vec![
        workload(
            "adaptive_f64_1e-8",
            "rho = 0 to 21, t = 0 to 1, Tsitouras 5(4), rtol = atol = 1e-8",
            Method::tsit5(),
            tolerance(1e-8),
            Precision::F64,
            1.0,
            sweep,
        )?,
        workload(
            "adaptive_f32_1e-6",
            "rho = 0 to 21, t = 0 to 1, Tsitouras 5(4), rtol = atol = 1e-6",
            Method::tsit5(),
            tolerance(1e-6),
            Precision::F32,
            1.0,
            sweep,
        )?,
        workload(
            "w1_fixed_f32",
            "W1: rho = 0 to 21, t = 0 to 1 in 1000 fixed steps, Tsitouras 5",
            Method::tsit5().with_controller(Controller::fixed(1e-3)),
            tolerance(1e-6),
            Precision::F32,
            1.0,
            sweep,
        )?,
        workload(
            "w2_divergent_f64",
            "W2: decaying, costs spread out, t = 0 to 5, Tsitouras 5(4), rtol = 1e-6, atol = 1e-8",
            Method::tsit5(),
            Options::new(Tolerance::new(1e-6, 1e-8)).first_step(FirstStep::Size(1e-4)),
            Precision::F64,
            5.0,
            Members::Decaying,
        )?,
    ])
}

/// Each with a range of its most telling parameter.
fn stiff() -> Option<Vec<Workload>> {
    let workload = |name, about, atol, end, (param, from, to)| {
        let problem = problems::find(name)?;
        Some(Workload {
            name,
            about,
            problem,
            method: Method::rodas4(),
            options: Options::new(Tolerance::new(1e-6, atol)),
            precision: Precision::F64,
            span: (0.0, end),
            members: Members::Sweep { param, from, to },
        })
    };
    Some(vec![
        workload(
            "robertson",
            "k1 = 0.02 to 0.06, t = 0 to 1e5, Rodas4, rtol = 1e-6, atol = 1e-10",
            1e-10,
            1e5,
            (0, 0.02, 0.06),
        )?,
        workload(
            "van_der_pol",
            "mu = 900 to 1100, t = 0 to 2000, Rodas4, rtol = 1e-6, atol = 1e-8",
            1e-8,
            2000.0,
            (0, 900.0, 1100.0),
        )?,
        workload(
            "hires",
            "k1 = 1.6 to 1.8, t = 0 to 300, Rodas4, rtol = 1e-6, atol = 1e-10",
            1e-10,
            300.0,
            (0, 1.6, 1.8),
        )?,
        workload(
            "pollu",
            "k1 = 0.3 to 0.4, t = 0 to 60, Rodas4, rtol = 1e-6, atol = 1e-12",
            1e-12,
            60.0,
            (0, 0.3, 0.4),
        )?,
        workload(
            "oregonator",
            "s = 70 to 85, t = 0 to 360, Rodas4, rtol = 1e-6, atol = 1e-8",
            1e-8,
            360.0,
            (0, 70.0, 85.0),
        )?,
    ])
}

fn van_der_pol() -> Option<Workload> {
    Some(Workload {
        name: "grid_f32_1e-3",
        about: "x0 = 1 to 2 by mu = 1 to 3, t = 0 to 20, Dormand-Prince, rtol = 1e-3, atol = 1e-6",
        problem: problems::find("van_der_pol")?,
        method: Method::dopri5(),
        options: Options::new(Tolerance::new(1e-3, 1e-6)),
        precision: Precision::F32,
        span: (0.0, 20.0),
        members: Members::Grid { state: (1.0, 2.0), param: (1.0, 3.0) },
    })
}
