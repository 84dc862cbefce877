//! What an explicit Runge–Kutta pair is in device code.

use super::lanes;
use super::slots::Slots;
use super::tableau::FIRST_INNER;
use super::{Erk, Tableau};
use crate::method::device::{
    GroupKernel, LanesNeeds, OnDevice, Registers, Storage, Subject, ThreadKernels, ThreadNeeds,
    signature,
};
use odeum_core::{Graph, emit};
use odeum_cuda::{Text, literal};

/// What all kernels share.
pub(super) const ERK: &str = include_str!("erk.cuh");
/// The kernel `od_erk`, of one thread for each system.
const SINGLE: &str = include_str!("erk_single.cuh");
/// The kernel `od_erk_groups`, of a group of threads for each system.
const GROUPS: &str = include_str!("erk_groups.cuh");

/// Evaluations times operations up to which a step is unrolled.
const MOST_UNROLLED: usize = 1500;

impl OnDevice for Erk {
    fn group_kernel(&self, _: &Subject<'_>) -> GroupKernel {
        GroupKernel { name: "od_erk_groups", text: GROUPS, keeps_stages: true, implicit: None }
    }

    fn write_numbers(&self, text: &mut Text, _: &Subject<'_>) {
        write(text, self.tableau, true);
        // A stage reads all components.
        text.define("OD_FULL_STAGES", 1);
        text.line(ERK);
    }

    fn thread_kernels<'a>(
        &'a self,
        graph: &'a Graph,
        word: usize,
    ) -> Option<Box<dyn ThreadKernels + 'a>> {
        let (tableau, slots) = (self.tableau, Slots::find(graph, self.tableau.is_fsal()));
        Some(Box::new(Threads { tableau, graph, slots, word }))
    }
}

/// A pair for one recorded system.
struct Threads<'a> {
    tableau: &'static Tableau,
    graph: &'a Graph,
    slots: Slots,
    /// Size of a number \[bytes\].
    word: usize,
}

impl ThreadKernels for Threads<'_> {
    fn name(&self, storage: Storage) -> &'static str {
        if storage == Storage::Lanes { "od_erk_lanes" } else { "od_erk" }
    }

    fn thread(&self) -> ThreadNeeds {
        let (words, slots) = (self.word / 4, self.slots.len());
        let (dim, stages) = (self.graph.outputs().len(), self.tableau.stages());
        let least = (2 * dim + stages * slots) * words + 32;
        let is_short = self.graph.nodes().len() * stages <= MOST_UNROLLED;
        ThreadNeeds {
            registers: is_short.then_some(Registers {
                least,
                wanted: least + 8 * words,
                warps: 48,
            }),
            stages: ((stages - 1) * slots * self.word, (2 * dim + slots) * words + 40),
            prefers_groups: false,
        }
    }

    fn lanes(&self) -> Option<LanesNeeds> {
        lanes::needs(&self.slots, self.graph.outputs().len(), self.word)
    }

    fn write(&self, text: &mut Text, storage: Storage) {
        let plain = Slots::plain(self.graph.outputs().len());
        let slots = if storage == Storage::Local { &plain } else { &self.slots };
        text.define("OD_SLOTS", slots.len());
        text.define("OD_PAIRED", slots.has_paired());
        text.define("OD_FULL_STAGES", i32::from(slots.full_stages));
        write(text, self.tableau, matches!(storage, Storage::Shared | Storage::Local));
        if storage == Storage::Local {
            text.line("OD_FN int od_component(int q) { return q; }");
            text.line("OD_FN int od_paired(int) { return -1; }");
            text.line("OD_FN bool od_closes_group(int q) { return q == OD_SLOTS - 1; }");
        } else {
            let closes = (1..=slots.len()).map(|q| i32::from(slots.group_first.contains(&q)));
            let closes: Vec<_> = closes.map(|closes| closes.to_string()).collect();
            text.table("int", "od_component(int q)", "q", &slots.component_text());
            text.table("int", "od_paired(int q)", "q", &slots.paired_text());
            text.table("bool", "od_closes_group(int q)", "q", &closes);
        }
        if let (Storage::Lanes, Some(isomorphic)) = (storage, &slots.isomorphic) {
            lanes::write(text, slots, isomorphic, self.graph.outputs().len(), self.word);
        } else {
            text.line(emit::function(&self.graph.fused(), "od_rhs", &signature()));
            text.line(ERK);
            text.line(SINGLE);
        }
    }
}

/// The coefficients of a pair, and those of its paired components: A², bA, eA. `rolled`: stages are in a loop, so that
/// their number is known only at run time.
fn write(text: &mut Text, tableau: &Tableau, rolled: bool) {
    text.define("OD_STAGES", tableau.stages());
    text.define("OD_FIRST_INNER", FIRST_INNER);
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
