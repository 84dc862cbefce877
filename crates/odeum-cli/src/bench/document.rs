//! The JSON document of a benchmark.

use super::Machine;
use serde::Serialize;

/// One benchmark on one machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Document {
    /// Name of the benchmark.
    pub(crate) bench: &'static str,
    pub(crate) machine: Machine,
    pub(crate) rows: Vec<Row>,
}

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// `scalar`, `lanes`, `cuda`, …
    pub(crate) variant: String,
    /// As `cpu` or `cuda:0`.
    pub(crate) device: String,
    /// `f64` or `f32`.
    pub(crate) precision: &'static str,
    /// Threads of the CPU.
    pub(crate) threads: usize,
    /// Number of systems M.
    pub(crate) systems: usize,
    /// Time of one run [s].
    pub(crate) seconds: f64,
    pub(crate) systems_per_second: f64,
    pub(crate) rhs_per_second: f64,
    /// Largest error of a component against the reference, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_error: Option<f64>,
    /// Divergence measure D.
    pub(crate) divergence: f64,
    /// Share of the lane work that advanced a system, where it is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) busy_lanes: Option<f64>,
    /// What only some benchmarks measure, by name.
    #[serde(flatten)]
    pub(crate) more: serde_json::Map<String, serde_json::Value>,
}
