//! Case files of Odeum: TOML documents that say what to integrate.
//!
//! [`read`] reads one and returns a [`Case`] of an ensemble or a [`FieldCase`] of fields on a grid.
//! All errors are collected as [`Finding`](odeum_io::Finding)s, each with its file, line and field and
//! what helps, so that one run shows all of them. A [`Plan`] or [`FieldPlan`] has checked everything
//! that can be checked without computing, and holds the arguments of the solvers: the
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
//!     let all: Vec<usize> = (0..plan.members.len()).collect();
//!     let ensemble = plan.members.ensemble::<f64>(&all, plan.threads());
//! }
//! for finding in findings.take() {
//!     eprintln!("{}", finding.message);
//! }
//! ```

pub mod available;
mod case;
pub mod device;
pub mod field_ending;
pub mod field_npz;
mod field_plan;
pub mod gas;
mod levels;
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
mod switches;

pub use case::{
    Axis, COPIES, Case, CellArray, Colours, ColumnTarget, Columns, Described, EnsembleSpec, Every,
    FieldCase, FieldOutput, FieldTime, Given, Initial, Isosurface, LARGEST_CASE, Level, Line,
    MOST_THREADS, MethodSpec, OutputSpec, Perturbation, Precision, Range, RunSpec, Series, Slice,
    SourceSpan, SourceSpans, Structure, TableData, TimeSpec, Until, Values, read, read_field_text,
    read_source, read_text, source, too_large,
};
pub use field_plan::{FieldPlan, Prepared};
pub use members::Members;
pub use model::{Model, Start, Variable};
pub use plan::{Overrides, Plan, STARTS};
pub use stiffness::check as stiffness;

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_io::Findings;
    use std::path::PathBuf;

    fn written(name: &str, text: &str) -> PathBuf {
        let name = format!("odeum-case-{name}-{}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn read_once(name: &str, text: &str) -> (Option<Described>, Findings) {
        let (path, findings) = (written(name, text), Findings::default());
        let described = read(&path, None, &findings);
        std::fs::remove_file(path).unwrap();
        (described, findings)
    }

    const SWEEP: &str = "[system]\nstates = { x = 1.0 }\nparameters = { k = 2.0 }\n\
        equations = { x = \"-k*x\" }\n[ensemble.sweep]\nk = [1.0, 2.0, 4.0]\n\
        [time]\nspan = [0.0, 1.0]\n[method]\nname = \"dopri5\"\n\
        [tolerance]\nrtol = 1e-6\natol = 1e-9\n";

    #[test]
    fn a_case_file_becomes_an_ensemble() {
        let (described, findings) = read_once("sweep", SWEEP);
        let Some(Described::Ensemble(case)) = described else { panic!("{:?}", findings.take()) };
        let plan = Plan::new(&case, &Overrides::default(), &findings).unwrap();
        assert_eq!((plan.members.len(), plan.members.span(2)), (3, (0.0, 1.0)));
        assert_eq!(plan.members.start(2).unwrap(), [1.0, 4.0]);
        assert_eq!(plan.members.ensemble::<f64>(&[1, 2], 1).unwrap().len(), 2);
    }

    #[test]
    fn what_is_wrong_has_its_place_and_a_remedy() {
        let (described, findings) = read_once("slip", &SWEEP.replace("rtol", "rtoll"));
        assert!(described.is_none());
        let all = findings.take();
        let slip = all.iter().find(|f| f.field.as_deref() == Some("tolerance.rtoll")).unwrap();
        let (source, span) = slip.span.as_ref().unwrap();
        assert_eq!(source.slice(span), "rtoll");
        assert!(slip.help.as_ref().is_some_and(|help| help.contains("rtol")), "{slip:?}");
    }

    /// Cantera takes the first species there; here the density was dropped.
    #[test]
    fn a_density_without_a_composition_is_not_dropped() {
        let mechanism = "phases:\n- {name: gas, thermo: ideal-gas, state: {T: 900, D: 0.5 kg/m^3}}\n\
            species:\n- {name: N2, composition: {N: 2}, \
            thermo: {model: constant-cp, cp0: 29 J/mol/K}}\n";
        let beside =
            std::env::temp_dir().join(format!("odeum-density-{}.yaml", std::process::id()));
        std::fs::write(&beside, mechanism).unwrap();
        let text = |pressure: &str| {
            format!(
                "[system]\nmechanism = \"{}\"\nmoles = {{ N2 = 1 }}\n{pressure}\
                 [time]\nspan = [0.0, 1.0]\n[method]\nname = \"rodas5p\"\n\
                 [tolerance]\nrtol = 1e-6\natol = 1e-9\n",
                beside.display()
            )
        };
        let (described, findings) = read_once("density", &text(""));
        let all = findings.take();
        assert!(described.is_none() && all.len() == 1, "{all:?}");
        assert!(all[0].message.contains("density, 0.5 kg/m³"), "{all:?}");
        let (described, findings) = read_once("density-and-p", &text("pressure = 1e5\n"));
        assert!(described.is_some(), "{:?}", findings.take());
        std::fs::remove_file(beside).unwrap();
    }

    #[test]
    fn a_case_file_becomes_a_field() {
        let text = "[system]\nproblem = \"turing\"\n[grid]\nshape = [8, 8, 1]\n\
            [time]\nuntil = 0.1\n";
        let (described, findings) = read_once("field", text);
        let Some(Described::Field(case)) = described else { panic!("{:?}", findings.take()) };
        let plan = FieldPlan::new(&case, &Overrides::default(), &findings).unwrap();
        let prepared = plan.prepare::<f64>().unwrap();
        assert_eq!(prepared.field.shape(), [8, 8, 1]);
        assert!(prepared.limits.largest_step(case.time.method) > 0.0);
    }
}
