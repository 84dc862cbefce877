//! What an exponential method is in device code.

use super::expansion::{ENOUGH, Expansion, INVERSE_GAMMA, SHIFT, TERMS};
use super::{Action, Exponential};
use odeum_cuda::{Text, literal};

const RESOLVENT: &str = concat!(
    include_str!("sums.cuh"),
    include_str!("resolvent.cuh"),
    include_str!("exponential.cuh")
);

/// The kernel `od_exponential`; `None` where functions of hJ act in a way that no kernel knows.
pub(crate) fn kernel(exponential: &Exponential) -> Option<&'static str> {
    match exponential.action {
        Action::Resolvent => Some(RESOLVENT),
        Action::Krylov { .. } => None,
    }
}

/// The coefficients and the series.
pub(crate) fn write(text: &mut Text, exponential: &Exponential) {
    let tableau = exponential.tableau;
    let stages = tableau.stages();
    text.define("OD_STAGES", stages);
    for (name, number) in
        [("OD_SHIFT", SHIFT), ("OD_RESOLVENT", 2.0 * INVERSE_GAMMA), ("OD_ENOUGH", ENOUGH)]
    {
        text.define(name, literal(number));
    }
    let row = |values: &[f64]| -> Vec<String> { values.iter().map(|&x| literal(x)).collect() };
    // The vectors and the terms are in loops, so the indices are known only at run time.
    text.table_in_memory("real", "od_c(int j)", "j", &row(tableau.c));

    text.define("OD_TERMS", TERMS);
    let expansions: Vec<Expansion> =
        (0..stages).map(|j| Expansion::new(&tableau.functions_of(j), j == 0)).collect();
    // Before D_j comes, j sums are complete.
    let mut series = vec![0.0; stages * TERMS * (stages + 1)];
    for (j, expansion) in expansions.iter().enumerate() {
        for (sum, coefficients) in &expansion.series {
            for (k, &a) in coefficients.iter().enumerate() {
                series[(j * TERMS + k) * (stages + 1) + sum - j] = a;
            }
        }
    }
    let index = "(j * OD_TERMS + k) * (OD_STAGES + 1) + m";
    text.table_in_memory("real", "od_series(int j, int k, int m)", index, &row(&series));
    let majorants: Vec<f64> = expansions.iter().flat_map(|of| of.majorant.clone()).collect();
    text.table_in_memory("real", "od_majorant(int j, int k)", "j * OD_TERMS + k", &row(&majorants));
    let least: Vec<String> = expansions.iter().map(|of| of.least.to_string()).collect();
    text.table_in_memory("int", "od_least(int j)", "j", &least);
}
