//! What an explicit Runge–Kutta pair is in device code.

use super::Tableau;
use odeum_cuda::{Text, literal};

/// What all kernels share.
pub(crate) const ERK: &str = include_str!("erk.cuh");
/// The kernel `od_erk`, of one thread for each system.
pub(crate) const SINGLE: &str = include_str!("erk_single.cuh");
/// The kernel `od_erk_lanes`, of several lanes for each system.
pub(crate) const LANES: &str = include_str!("erk_lanes.cuh");
/// The kernel `od_erk_groups`, of a group of threads for each system.
pub(crate) const GROUPS: &str = include_str!("erk_groups.cuh");

/// The coefficients of a pair, and those of its paired components: A², bA, eA. `rolled`: stages are in a loop, so that
/// their number is known only at run time.
pub(crate) fn write(text: &mut Text, tableau: &Tableau, rolled: bool) {
    text.define("OD_STAGES", tableau.stages());
    text.define("OD_FSAL", i32::from(tableau.is_fsal()));
    let s = tableau.stages();
    let a = |row: usize, m: usize| tableau.a[row].get(m).copied().unwrap_or(0.0);
    let through = |left: &dyn Fn(usize) -> f64, m: usize| (0..s).map(|l| left(l) * a(l, m)).sum();
    let square = |f: &dyn Fn(usize, usize) -> f64| -> Vec<String> {
        (0..s * s).map(|k| literal(f(k / s, k % s))).collect()
    };
    let row = |f: &dyn Fn(usize) -> f64| -> Vec<String> { (0..s).map(|m| literal(f(m))).collect() };
    let (b, e) = (|l: usize| tableau.b[l], |l: usize| tableau.e[l]);
    let of_loops = if rolled { Text::table_in_memory } else { Text::table };
    let index = "s * OD_STAGES + m";
    of_loops(text, "real", "od_c(int m)", "m", &row(&|m| tableau.c[m]));
    of_loops(text, "real", "od_a(int s, int m)", index, &square(&a));
    let a2 = square(&|row, m| through(&|l| a(row, l), m));
    of_loops(text, "real", "od_a2(int s, int m)", index, &a2);
    text.table("real", "od_b(int m)", "m", &row(&b));
    text.table("real", "od_e(int m)", "m", &row(&e));
    text.table("real", "od_b2(int m)", "m", &row(&|m| through(&b, m)));
    text.table("real", "od_e2(int m)", "m", &row(&|m| through(&e, m)));
}
