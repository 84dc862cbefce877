//! What an exponential method is in device code.

use super::expansion::{self, Expansion, INVERSE_GAMMA, SHIFT, TERMS};
use super::hessenberg::{HALF, POLES, RESIDUES, Terms};
use super::krylov;
use super::stepper::LEFT_OUT;
use super::{Action, EXP4, Exponential, Tableau};
use crate::method::device::{GroupKernel, Implicit, KeptJacobian, OnDevice, Subject};
use odeum_cuda::{Text, literal};

const RESOLVENT: &str = concat!(
    include_str!("sums.cuh"),
    include_str!("resolvent.cuh"),
    include_str!("exponential.cuh")
);
const KRYLOV: &str = concat!(
    include_str!("sums.cuh"),
    include_str!("hessenberg.cuh"),
    include_str!("krylov.cuh"),
    include_str!("exponential.cuh")
);

/// Rows of the values beside those of the sums: for the estimate of the error of poles.
const POLE_ERROR_ROWS: usize = 2;

impl OnDevice for Exponential {
    fn group_kernel(&self, subject: &Subject<'_>) -> GroupKernel {
        GroupKernel {
            name: "od_exponential",
            text: match self.action {
                Action::Resolvent => RESOLVENT,
                Action::Krylov { .. } => KRYLOV,
            },
            keeps_stages: false,
            implicit: Some(Implicit {
                jacobian: self.jacobian,
                kept: KeptJacobian::Beside,
                complex: false,
                vectors: 12,
                stages: 0,
                scratch: scratch(self, subject.dim, subject.word),
            }),
        }
    }

    fn single_from(&self) -> f64 {
        // At the same tolerance errors of exp4 itself are larger.
        if *self.tableau == EXP4 { 1e-6 } else { 1e-5 }
    }

    fn write_numbers(&self, text: &mut Text, subject: &Subject<'_>) {
        let tableau = self.tableau;
        text.define("OD_STAGES", tableau.stages());
        text.define("OD_SHIFT", literal(SHIFT));
        text.define("OD_LEFT_OUT", literal(LEFT_OUT));
        // The vectors are in a loop, so the index is known only at run time.
        text.table_in_memory("real", "od_c(int j)", "j", &row(tableau.c));
        match self.action {
            Action::Resolvent => write_series(text, tableau),
            Action::Krylov { max_dimension } => {
                text.define("OD_DIMENSION", krylov::dimension(subject.dim, max_dimension));
                write_subspaces(text, tableau);
            }
        }
    }
}

/// Memory of a system beside its matrices, for n equations in numbers of `word` bytes \[bytes\].
fn scratch(exponential: &Exponential, n: usize, word: usize) -> usize {
    match exponential.action {
        Action::Resolvent => 0,
        Action::Krylov { max_dimension } => {
            let (most, tableau) = (krylov::dimension(n, max_dimension), exponential.tableau);
            let tasks = POLES.len() * scales(tableau).len();
            let values = tableau.stages() + 1 + POLE_ERROR_ROWS;
            let numbers = most * (2 * tasks + most + 1 + values);
            let hessenberg = (word * numbers + most * tasks).next_multiple_of(2 * word);
            (hessenberg + word * most * (n + 1)).next_multiple_of(64)
        }
    }
}

fn row(values: &[f64]) -> Vec<String> {
    values.iter().map(|&x| literal(x)).collect()
}

/// For each D_j and each term the coefficients of the sums that are not complete: before D_j comes, j are.
fn write_series(text: &mut Text, tableau: &Tableau) {
    let stages = tableau.stages();
    text.define("OD_RESOLVENT", literal(2.0 * INVERSE_GAMMA));
    text.define("OD_ENOUGH", literal(expansion::ENOUGH));
    text.define("OD_TERMS", TERMS);
    let expansions: Vec<Expansion> =
        (0..stages).map(|j| Expansion::new(&tableau.functions_of(j), j == 0)).collect();
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

/// The scales of the arguments of all functions, and those of the estimate of the error of poles.
fn scales(tableau: &Tableau) -> Vec<f64> {
    let functions = (0..tableau.stages()).flat_map(|j| tableau.functions_of(j));
    let mut scales = vec![1.0, HALF];
    for term in functions.flatten() {
        if !scales.contains(&term.scale) {
            scales.push(term.scale);
        }
    }
    scales
}

/// Real and imaginary parts of a table of complex numbers.
fn write_complex(text: &mut Text, name: &str, arguments: &str, index: &str, values: &[[f64; 2]]) {
    for (part, which) in ["re", "im"].into_iter().enumerate() {
        let numbers: Vec<f64> = values.iter().map(|x| x[part]).collect();
        let head = format!("{name}_{which}({arguments})");
        text.table_in_memory("real", &head, index, &row(&numbers));
    }
}

/// For each D_j and each solution its coefficients in the values and in the first terms of the error, of the sums that are
/// not complete.
fn write_subspaces(text: &mut Text, tableau: &Tableau) {
    let (stages, scales) = (tableau.stages(), scales(tableau));
    let tasks = POLES.len() * scales.len();
    text.define("OD_ENOUGH", literal(krylov::ENOUGH));
    text.define("OD_FIRST_LOOK", krylov::FIRST_LOOK);
    text.define("OD_BREAKDOWN_EPSILONS", literal(krylov::BREAKDOWN_EPSILONS));
    text.define("OD_POLES", POLES.len());
    text.define("OD_TASKS", tasks);
    text.define("OD_HALF", literal(HALF));
    text.table_in_memory("real", "od_scale(int s)", "s", &row(&scales));
    write_complex(text, "od_pole", "int p", "p", &POLES);

    let times = |a: f64, [re, im]: [f64; 2]| [a * re, a * im];
    // Conjugates of the poles are not solved for: each solution counts twice.
    let pole_error: Vec<[f64; 2]> = RESIDUES[0].iter().map(|&of| times(-2.0 * HALF, of)).collect();
    write_complex(text, "od_exp", "int p", "p", &pole_error);

    let (value_rows, end_rows) = (stages + 1 + POLE_ERROR_ROWS, stages + 1);
    text.define("OD_VALUE_ROWS", value_rows);
    let mut values = vec![[0.0; 2]; stages * value_rows * tasks];
    let mut ends = vec![[0.0; 2]; stages * end_rows * tasks];
    let add = |to: &mut [[f64; 2]], row: usize, scale: f64, a: f64, k: usize| {
        let of_scale = scales.iter().position(|s| *s == scale).unwrap_or(0) * POLES.len();
        for (p, &residue) in RESIDUES[k].iter().enumerate() {
            let [re, im] = times(2.0 * a, residue);
            let to = &mut to[row * tasks + of_scale + p];
            *to = [to[0] + re, to[1] + im];
        }
    };
    for j in 0..stages {
        for (scale, shares) in &Terms::new(&tableau.functions_of(j)).by_scale {
            for share in shares {
                let row = share.sum - j;
                add(&mut values, j * value_rows + row, *scale, share.weight, share.k);
                add(&mut ends, j * end_rows + row, *scale, share.weight * scale, share.k + 1);
            }
        }
        // φ₁(H)e₁ less half of φ₁(H/2)e₁, and φ₁(H/2)e₁.
        let whole = j * value_rows + stages + 1;
        add(&mut values, whole, 1.0, 1.0, 1);
        add(&mut values, whole, HALF, -HALF, 1);
        add(&mut values, whole + 1, HALF, 1.0, 1);
    }
    let arguments = "int j, int r, int q";
    let index = |rows: &str| format!("(j * ({rows}) + r) * OD_TASKS + q");
    write_complex(text, "od_value", arguments, &index("OD_VALUE_ROWS"), &values);
    write_complex(text, "od_end", arguments, &index("OD_STAGES + 1"), &ends);
}
