//! The document a study of chemistry writes.

use crate::bench::Machine;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Everything a study measured.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) bench: String,
    pub(crate) machine: Machine,
    /// File of the mechanism.
    pub(crate) mechanism: String,
    pub(crate) rows: Vec<Row>,
}

/// One method with one set of options on one ensemble.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Part of the study.
    pub(crate) part: Cow<'static, str>,
    pub(crate) method: String,
    /// `scalar`, `lanes`, `cuda kernel` (over resident states; `again`: with the costs of the call before known) or `cuda` (from
    /// arrays to arrays of the host; `first call`: before which no kernel was there, `same arrays`: that were written before,
    /// `page-locked arrays`: that the GPU reads and writes); of a part of a step its name.
    pub(crate) variant: Cow<'static, str>,
    pub(crate) device: String,
    pub(crate) precision: Cow<'static, str>,
    pub(crate) threads: usize,
    pub(crate) systems: usize,
    /// Order of the reactors: `random` or `sorted` by temperature.
    pub(crate) order: Cow<'static, str>,
    /// Global step \[s\].
    pub(crate) dt: f64,
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
    /// Size of fixed steps \[s\], where steps are fixed.
    pub(crate) fixed_step: Option<f64>,
    /// `automatic`, or `whole`: the first step attempted is the global step.
    pub(crate) first_step: Cow<'static, str>,
    /// `exact`, `differences` or `approximate`.
    pub(crate) jacobian: Cow<'static, str>,
    /// Fastest of the runs \[s\].
    pub(crate) seconds: f64,
    pub(crate) runs: usize,
    pub(crate) systems_per_second: f64,
    pub(crate) rhs_per_second: f64,
    /// E of Curtis, Niemeyer & Sung 2017, eq. 1, over T and Y, with its atol 1e-10 and rtol 1e-6: median over the
    /// reactors. None where the order is not that of the reference.
    pub(crate) error_median: Option<f64>,
    /// 95 % of the reactors have a smaller E.
    pub(crate) error_p95: Option<f64>,
    /// The largest E.
    pub(crate) max_error: Option<f64>,
    /// Sums over all reactors.
    pub(crate) steps: u64,
    pub(crate) rejected: u64,
    pub(crate) nfev: u64,
    pub(crate) njev: u64,
    pub(crate) nlu: u64,
    /// Divergence measure D (Curtis, Niemeyer & Sung 2017, eq. 3).
    pub(crate) divergence: f64,
    /// Fractions of the warps whose D lies in each twentieth of 0 to 1 (fig. 5 of the same), where orders are compared.
    pub(crate) divergences: Option<Vec<f64>>,
    /// Of the lane work of a run the fraction that advanced a reactor; of a kernel, of the time of its groups.
    pub(crate) busy_lanes: Option<f64>,
    /// Times as fast for each reactor as one core without lanes by the same method, where the part measured that.
    pub(crate) times_one_core: Option<f64>,
    pub(crate) failed: usize,
}
