//! A system with its Jacobian, as implicit methods see it: over one kind of lanes, without the
//! type of the system.

use crate::linalg::Symbolic;
use crate::method::rhs::Equations;
use crate::method::stepper::Point;
use crate::tolerance::largest;
use odeum_core::graph::Node;
use odeum_core::real::Outlined;
use odeum_core::{Error, Graph, Lanes, Pattern, Program, Scalar};

/// Where the Jacobian comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JacobianSource {
    /// The system's own ([`jacobian_in`](odeum_core::System::jacobian_in)), else derived from the recorded right-hand
    /// side: exact to rounding.
    #[default]
    Exact,
    /// Difference quotients, one evaluation of the right-hand side for each group of columns
    /// that share no row (Curtis, Powell & Reid, J. Inst. Math. Appl. 13 (1974) 117–119) and one
    /// for ∂f/∂t.
    FiniteDifferences,
}

/// What the threads of a run share about the Jacobian of a system, found once.
#[derive(Debug)]
pub(crate) struct JacobianPlan {
    evaluation: Evaluation,
    pattern: Pattern,
    symbolic: Symbolic,
    /// True when ∂f/∂t is zero everywhere.
    autonomous: bool,
}

#[derive(Debug)]
enum Evaluation {
    System,
    Programs {
        jacobian: Program,
        time: Program,
    },
    /// Groups of columns that share no row.
    Differences(Vec<Vec<usize>>),
}

impl JacobianPlan {
    /// Finds pattern, derivatives and the order of elimination, for a system of n equations: from
    /// the pattern of its own Jacobian, or else from its graph.
    ///
    /// # Errors
    /// A pattern that is not n × n, or a graph that cannot be had.
    pub(crate) fn new(
        n: usize,
        own: Option<&Pattern>,
        graph: impl FnOnce() -> Result<Graph, Error>,
        by: JacobianSource,
    ) -> Result<JacobianPlan, Error> {
        let mut autonomous = false;
        let (mut evaluation, pattern) = match own {
            Some(pattern) => (Evaluation::System, pattern.clone()),
            None => {
                let graph = graph()?;
                let (entries, pattern) = graph.jacobian_of_changing();
                autonomous = !graph.nodes().contains(&Node::Time);
                let jacobian = Program::new(&entries);
                let time = Program::new(&graph.time_derivative());
                (Evaluation::Programs { jacobian, time }, pattern)
            }
        };
        if (pattern.rows(), pattern.cols()) != (n, n) {
            let found = format!("{} × {}", pattern.rows(), pattern.cols());
            let remedy = format!("the Jacobian of {n} equations is {n} × {n}");
            return Err(Error::input("jacobian_pattern", found, remedy));
        }
        if by == JacobianSource::FiniteDifferences {
            evaluation = Evaluation::Differences(column_groups(&pattern));
        }
        let symbolic = Symbolic::new(&pattern);
        Ok(JacobianPlan { evaluation, pattern, symbolic, autonomous })
    }

    /// The plan of factorisation.
    pub(crate) fn symbolic(&self) -> &Symbolic {
        &self.symbolic
    }

    /// Entries of the Jacobian.
    pub(crate) fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// True when ∂f/∂t is zero everywhere.
    pub(crate) fn is_autonomous(&self) -> bool {
        self.autonomous
    }

    /// Evaluations of the right-hand side that one Jacobian takes.
    pub(crate) fn evaluations(&self) -> u32 {
        match &self.evaluation {
            Evaluation::Differences(groups) => groups.len() as u32 + u32::from(!self.autonomous),
            _ => 0,
        }
    }

    fn workspace(&self) -> usize {
        match &self.evaluation {
            Evaluation::System => 0,
            Evaluation::Programs { jacobian, time } => jacobian.workspace().max(time.workspace()),
            Evaluation::Differences(_) => 2 * self.symbolic.dim(),
        }
    }
}

/// Columns in groups that share no row, each in the first group that has room for it; those without entries are in none.
pub(crate) fn column_groups(pattern: &Pattern) -> Vec<Vec<usize>> {
    let mut rows_of = vec![Vec::new(); pattern.cols()];
    for (i, j) in pattern.iter() {
        rows_of[j].push(i);
    }
    let mut groups: Vec<(Vec<usize>, Vec<bool>)> = Vec::new();
    for (j, rows) in rows_of.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        let found = groups.iter().position(|(_, taken)| rows.iter().all(|&i| !taken[i]));
        let g = found.unwrap_or_else(|| {
            groups.push((Vec::new(), vec![false; pattern.rows()]));
            groups.len() - 1
        });
        groups[g].0.push(j);
        for &i in rows {
            groups[g].1[i] = true;
        }
    }
    groups.into_iter().map(|(columns, _)| columns).collect()
}

/// The derivatives of a right-hand side.
#[derive(Debug)]
pub(crate) struct Derivatives<L> {
    /// Entries of ∂f/∂y in the order of the pattern \[nnz\].
    pub(crate) jacobian: Vec<L>,
    /// ∂f/∂t \[n\].
    pub(crate) dfdt: Vec<L>,
}

impl<L: Lanes> Derivatives<L> {
    pub(crate) fn new(plan: &JacobianPlan) -> Self {
        let zero = L::lit(0.0);
        Derivatives { jacobian: vec![zero; plan.nnz()], dfdt: vec![zero; plan.symbolic().dim()] }
    }

    /// The lanes in which these, and f, which is `slope`, are numbers.
    #[inline(always)]
    pub(crate) fn are_finite(&self, slope: &[L]) -> L::Mask {
        let zero = L::lit(0.0);
        let mut non_finite = zero;
        for values in [slope, &self.jacobian, &self.dfdt] {
            for value in values {
                non_finite = value.mul_add(zero, non_finite);
            }
        }
        non_finite.eq(zero)
    }
}

/// The derivative of f along a direction, (∂f/∂y) v + τ ∂f/∂t: with f and 1 it is y″.
pub(crate) struct Along<'a, L> {
    pub(crate) plan: &'a JacobianPlan,
    /// v \[n\].
    pub(crate) direction: &'a [L],
    /// τ.
    pub(crate) time: L,
    pub(crate) derivatives: &'a Derivatives<L>,
    /// The derivative \[n\].
    pub(crate) out: &'a mut [L],
}

impl<L: Lanes> Outlined for Along<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Along { plan, direction, time, derivatives, out } = self;
        for i in 0..out.len() {
            let columns = plan.pattern.row(i);
            let first = plan.pattern.row_start(i);
            let entries = &derivatives.jacobian[first..first + columns.len()];
            let mut sum = derivatives.dfdt[i] * time;
            for e in 0..entries.len() {
                sum = entries[e].mul_add(direction[columns[e]], sum);
            }
            out[i] = sum;
        }
    }
}

/// A system with the plan of its Jacobian.
pub(crate) struct Linearised<'a, L: Lanes> {
    equations: &'a dyn Equations<L>,
    plan: &'a JacobianPlan,
}

impl<'a, L: Lanes> Linearised<'a, L> {
    pub(crate) fn new(equations: &'a dyn Equations<L>, plan: &'a JacobianPlan) -> Self {
        Linearised { equations, plan }
    }

    pub(crate) fn plan(&self) -> &'a JacobianPlan {
        self.plan
    }

    /// Values of workspace the functions below want.
    pub(crate) fn workspace(&self) -> usize {
        self.equations.workspace() + self.plan.workspace()
    }

    /// f at a point.
    pub(crate) fn slope(&self, at: &Point<L>, out: &mut [L], work: &mut [L]) {
        self.equations.slope(at, out, work);
    }

    /// f, ∂f/∂y and ∂f/∂t at a point.
    pub(crate) fn linearise(
        &self,
        at: &Point<L>,
        slope: &mut [L],
        out: &mut Derivatives<L>,
        work: &mut [L],
    ) {
        if let Evaluation::System = self.plan.evaluation {
            self.equations.slope_and_jacobian(at, slope, out, work);
            return;
        }
        self.slope(at, slope, work);
        self.derivatives(at, slope, out, work);
    }

    /// ∂f/∂y and ∂f/∂t at a point where f is `slope`.
    pub(crate) fn derivatives(
        &self,
        at: &Point<L>,
        slope: &[L],
        out: &mut Derivatives<L>,
        work: &mut [L],
    ) {
        match &self.plan.evaluation {
            Evaluation::System => self.equations.jacobian(at, out, work),
            Evaluation::Programs { jacobian, time } => {
                L::outline(Interpreted { program: jacobian, at, out: &mut out.jacobian, work });
                if !self.plan.autonomous {
                    L::outline(Interpreted { program: time, at, out: &mut out.dfdt, work });
                }
            }
            Evaluation::Differences(groups) => self.differences(groups, at, slope, out, work),
        }
    }

    /// Difference quotients, with increments √(ε max(10⁻⁵, |yⱼ|)) as RADAU5 has them, and of so many roundings of yⱼ
    /// at least.
    fn differences(
        &self,
        groups: &[Vec<usize>],
        at: &Point<L>,
        slope: &[L],
        out: &mut Derivatives<L>,
        work: &mut [L],
    ) {
        let Linearised { equations, plan } = *self;
        let n = at.y.len();
        let (work, own) = work.split_at_mut(equations.workspace());
        let (y, changed) = own.split_at_mut(n);
        y.copy_from_slice(at.y);
        for group in groups {
            L::outline(Quotients { equations, plan, group, at, slope, y, changed, out, work });
        }
        if !plan.autonomous {
            L::outline(TimeQuotient { equations, at, slope, out: &mut out.dfdt, work });
        }
    }
}

struct Interpreted<'a, L> {
    program: &'a Program,
    at: &'a Point<'a, L>,
    out: &'a mut [L],
    work: &'a mut [L],
}

impl<L: Lanes> Outlined for Interpreted<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Interpreted { program, at, out, work } = self;
        program.run(at.t, at.y, at.p, out, work);
    }
}

/// Where y is changed for a difference quotient: by the root of ε times |y|, or times this.
pub(crate) const LEAST_SIZE: f64 = 1e-5;

/// By how many ε of itself y is changed at least: the root of ε times |y| is below one where |y| is beyond 1/ε.
pub(crate) const LEAST_EPSILONS: f64 = 64.0;

#[inline(always)]
fn increment<L: Lanes>(x: L) -> L {
    let (size, epsilon) = (x.abs(), L::lit(L::Scalar::EPSILON));
    let root = (largest(size, L::lit(LEAST_SIZE)) * epsilon).sqrt();
    largest(root, size * epsilon * L::lit(LEAST_EPSILONS))
}

struct Quotients<'a, L: Lanes> {
    equations: &'a dyn Equations<L>,
    plan: &'a JacobianPlan,
    group: &'a [usize],
    at: &'a Point<'a, L>,
    slope: &'a [L],
    /// The state, which comes back unchanged.
    y: &'a mut [L],
    changed: &'a mut [L],
    out: &'a mut Derivatives<L>,
    work: &'a mut [L],
}

impl<L: Lanes> Outlined for Quotients<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Quotients { equations, plan, group, at, slope, y, changed, out, work } = self;
        let n = slope.len().min(y.len());
        for &j in group {
            y[j] = at.y[j] + increment(at.y[j]);
        }
        equations.slope(&Point { t: at.t, y: &y[..n], p: at.p }, &mut changed[..n], work);
        for i in 0..n {
            let first = plan.pattern.row_start(i);
            for (e, j) in plan.pattern.row(i).iter().enumerate() {
                if group.contains(j) {
                    // The increment as it was after rounding.
                    let by = y[*j] - at.y[*j];
                    out.jacobian[first + e] = (changed[i] - slope[i]) / by;
                }
            }
        }
        for &j in group {
            y[j] = at.y[j];
        }
    }
}

struct TimeQuotient<'a, L: Lanes> {
    equations: &'a dyn Equations<L>,
    at: &'a Point<'a, L>,
    slope: &'a [L],
    out: &'a mut [L],
    work: &'a mut [L],
}

impl<L: Lanes> Outlined for TimeQuotient<'_, L> {
    #[inline(always)]
    fn run(self) {
        let TimeQuotient { equations, at, slope, out, work } = self;
        let t = at.t + increment(at.t);
        equations.slope(&Point { t, y: at.y, p: at.p }, out, work);
        for i in 0..slope.len() {
            out[i] = (out[i] - slope[i]) / (t - at.t);
        }
    }
}
