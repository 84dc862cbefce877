//! What a Rosenbrock method is in device code.

use super::{Rosenbrock, Tableau};
use crate::method::device::{GroupKernel, Implicit, KeptJacobian, OnDevice, Subject};
use odeum_cuda::{Text, literal};

impl OnDevice for Rosenbrock {
    fn group_kernel(&self, _: &Subject<'_>) -> GroupKernel {
        GroupKernel {
            name: "od_rosenbrock",
            text: include_str!("rosenbrock.cuh"),
            keeps_stages: true,
            implicit: Some(Implicit {
                jacobian: self.jacobian,
                kept: KeptJacobian::No,
                complex: false,
                vectors: 8,
                stages: self.tableau.stages(),
                scratch: 0,
            }),
        }
    }

    fn single_from(&self) -> f64 {
        if self.tableau.order > 4 { 1e-6 } else { 1e-7 }
    }

    fn write_numbers(&self, text: &mut Text, _: &Subject<'_>) {
        write(text, self.tableau);
    }
}

/// The coefficients.
fn write(text: &mut Text, tableau: &Tableau) {
    let stages = tableau.stages();
    text.define("OD_STAGES", stages);
    text.define("OD_GAMMA", literal(tableau.gamma));
    let square = |rows: &[&[f64]]| -> Vec<String> {
        let entry = |s: usize, m: usize| rows[s].get(m).copied().unwrap_or(0.0);
        (0..stages * stages).map(|k| literal(entry(k / stages, k % stages))).collect()
    };
    let row = |values: &[f64]| -> Vec<String> { values.iter().map(|&x| literal(x)).collect() };
    // The stages are in a loop, so the index is known only at run time.
    let index = "s * OD_STAGES + m";
    text.table_in_memory("real", "od_a(int s, int m)", index, &square(tableau.a));
    text.table_in_memory("real", "od_c(int s, int m)", index, &square(tableau.c));
    text.table_in_memory("real", "od_alpha(int s)", "s", &row(tableau.alpha));
    text.table_in_memory("real", "od_gamma(int s)", "s", &row(tableau.gamma_sums));
    let evaluates = |s: usize| i32::from(s > 0 && !tableau.repeats(s)).to_string();
    let evaluates: Vec<_> = (0..stages).map(evaluates).collect();
    text.table_in_memory("int", "od_evaluates(int s)", "s", &evaluates);
    text.table("real", "od_m(int m)", "m", &row(tableau.m));
    text.table("real", "od_e(int m)", "m", &row(tableau.e));
    let [start, end] = tableau.slopes;
    text.table("real", "od_start_slope(int m)", "m", &row(start));
    text.table("real", "od_end_slope(int m)", "m", &row(end));
}
