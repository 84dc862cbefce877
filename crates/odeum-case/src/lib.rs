//! Case files of Odeum: TOML documents that say what to integrate.
//!
//! [`read`] reads one; everything that is wrong with it is gathered as [`Finding`](odeum_io::Finding)s,
//! each with its file, line and field and what helps, so that one run shows all of it. What comes out
//! is a [`Case`] of an ensemble or a [`FieldCase`] of fields on a grid. A [`Plan`] or [`FieldPlan`] of
//! it has checked all that can be checked without computing, and holds what the solvers take: the
//! system, its [`Members`] in any range, options and device; or the problem, its initial field and the
//! steps it can take.
//!
//! ```no_run
//! use odeum_case::{Described, Overrides, Plan, read};
//! use odeum_io::Findings;
//!
//! let findings = Findings::default();
//! let described = read("decay.toml".as_ref(), None, &findings);
//! if let Some(Described::Ensemble(case)) = &described
//!     && let Some(plan) = Plan::new(case, &Overrides::default(), &findings)
//! {
//!     let ensemble = plan.members.ensemble::<f64>(0..plan.members.len());
//! }
//! for finding in findings.take() {
//!     eprintln!("{}", finding.message);
//! }
//! ```

pub mod available;
mod case;
pub mod device;
mod field_plan;
pub mod gas;
pub mod mechanism;
mod members;
mod model;
mod plan;
pub mod random;
pub mod results;
mod starts;
mod steps;
mod stiffness;
pub mod suggest;

pub use case::{
    Axis, COPIES, Case, Colours, ColumnTarget, Described, EnsembleSpec, Every, FieldCase,
    FieldOutput, FieldTime, Initial, Isosurface, Level, Line, MethodSpec, OutputSpec, Perturbation,
    Precision, Range, RunSpec, Series, Slice, Spot, Spots, StepSpec, Structure, TableData,
    TimeSpec, Until, Values, read, too_large,
};
pub use field_plan::{FieldPlan, Prepared};
pub use members::Members;
pub use model::{Model, Start, Variable};
pub use plan::{Overrides, Plan, STARTS};
pub use stiffness::check as stiffness;
