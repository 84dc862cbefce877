//! What Radau IIA is in device code.

use super::Radau;
use super::newton::{
    DIVERGES, MOST_EXCESS, MOST_LEFT, NEWTON_FLOOR_EPSILONS, SHRINK, SLOW_DELAY, SLOW_SHRINK,
};
use super::stepper::{FAST, LONGER, SAME_STEP, most_kept, same_factors};
use super::transform::{ALPHA, BETA, C, END_SLOPE, ERROR, GAMMA, T, T_INVERSE};
use crate::method::device::{GroupKernel, Implicit, KeptJacobian, OnDevice, Subject, epsilon};
use odeum_cuda::{Text, literal};

impl OnDevice for Radau {
    fn group_kernel(&self, _: &Subject<'_>) -> GroupKernel {
        GroupKernel {
            name: "od_radau",
            text: include_str!("radau.cuh"),
            keeps_stages: false,
            implicit: Some(Implicit {
                jacobian: self.jacobian,
                kept: KeptJacobian::Apart,
                complex: true,
                vectors: 14,
                stages: 0,
                scratch: 0,
            }),
        }
    }

    fn single_from(&self) -> f64 {
        // They slow the Newton iteration down, and do not change what it converges to.
        1e-8
    }

    fn write_numbers(&self, text: &mut Text, subject: &Subject<'_>) {
        text.define("OD_SAME_FACTORS", literal(same_factors(epsilon(subject.word))));
        write(text, self);
    }
}

/// The coefficients, and the numbers of the Newton iteration.
fn write(text: &mut Text, radau: &Radau) {
    text.define("OD_STAGES", C.len());
    text.define("OD_MAX_ITERATIONS", format_args!("{}u", radau.max_iterations));
    let most_kept = most_kept(radau.controller.fixed_step().is_none());
    text.define("OD_MOST_KEPT", format_args!("{most_kept}u"));
    text.define("OD_SLOW_DELAY", format_args!("{SLOW_DELAY}u"));
    for (name, number) in [
        ("OD_GAMMA", GAMMA),
        ("OD_ALPHA", ALPHA),
        ("OD_BETA", BETA),
        ("OD_C1", C[0]),
        ("OD_C2", C[1]),
        ("OD_FAST", FAST),
        ("OD_JACOBIAN_LONGER", LONGER),
        ("OD_SAME_STEP_LEAST", SAME_STEP[0]),
        ("OD_SAME_STEP_MOST", SAME_STEP[1]),
        ("OD_DIVERGES", DIVERGES),
        ("OD_SHRINK", SHRINK),
        ("OD_SLOW_SHRINK", SLOW_SHRINK),
        ("OD_MOST_EXCESS", MOST_EXCESS),
        ("OD_NEWTON_FLOOR_EPSILONS", NEWTON_FLOOR_EPSILONS),
        ("OD_MOST_LEFT", MOST_LEFT),
    ] {
        text.define(name, literal(number));
    }
    let row = |values: &[f64]| -> Vec<String> { values.iter().map(|&x| literal(x)).collect() };
    // The stages are in a loop, so the index is known only at run time.
    let index = "k * OD_STAGES + j";
    text.table_in_memory("real", "od_c(int k)", "k", &row(&C));
    text.table_in_memory("real", "od_t(int k, int j)", index, &row(T.as_flattened()));
    let inverse = row(T_INVERSE.as_flattened());
    text.table_in_memory("real", "od_t_inverse(int k, int j)", index, &inverse);
    text.table("real", "od_e(int k)", "k", &row(&ERROR));
    text.table("real", "od_end_slope(int k)", "k", &row(&END_SLOPE));
}
