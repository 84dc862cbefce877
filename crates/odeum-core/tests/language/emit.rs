//! Emitted text, compiled as plain C++ and run, gives the values of the graph.
//!
//! Skipped where there is no `g++`.

use crate::systems::{Everything, Pleiades, same};
use odeum_core::emit::{self, Signature};
use odeum_core::{Graph, Real};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// The functions of `real` that emitted text calls, on a host.
const HELPERS: &str = r"
#include <cmath>
#include <cstdio>
#include <limits>
#define __device__
#define __forceinline__ inline
#define Y(i) y[i]
#define P(j) p[j]
#define DYDT(i) dydt[i]
static inline real od_abs(real x) { return std::fabs(x); }
static inline real od_recip(real x) { return R(1.0) / x; }
static inline real od_rsqrt(real x) { return R(1.0) / std::sqrt(x); }
static inline real od_ln(real x) { return std::log(x); }
static inline real od_pow(real x, real y) { return std::pow(x, y); }
static inline real od_pow_call(real x, real y) { return std::pow(x, y); }
static inline real od_fma(real x, real y, real z) { return x * y + z; }
static inline real od_min(real x, real y) { return (x < y || x != x) ? x : y; }
static inline real od_max(real x, real y) { return (y < x || x != x) ? x : y; }
static inline real od_nan() { return std::numeric_limits<real>::quiet_NaN(); }
static inline real od_inf() { return std::numeric_limits<real>::infinity(); }
#define STD(name) static inline real od_##name(real x) { return std::name(x); } \
                  static inline real od_##name##_call(real x) { return std::name(x); }
STD(floor) STD(sqrt) STD(cbrt) STD(exp) STD(sin) STD(cos) STD(tan) STD(asin) STD(acos) STD(atan)
STD(sinh) STD(cosh) STD(tanh)
";

const DOUBLE: &str = "typedef double real;\n#define R(x) x\n#define OD_PAST(single, x) x\n";
const FLOAT: &str = "typedef float real;\n#define R(x) x##f\n#define OD_PAST(single, x) single\n";

/// Compiles and runs a C++ program; its output, or `None` where there is no compiler.
fn run_cpp(name: &str, source: &str) -> Option<String> {
    if Command::new("g++").arg("--version").output().is_err() {
        eprintln!("skipped: no g++ here, so the emitted text is not compiled");
        return None;
    }
    let folder: PathBuf =
        std::env::temp_dir().join(format!("odeum-emit-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let (file, program) = (folder.join("text.cpp"), folder.join("text"));
    std::fs::write(&file, source).expect("the temporary folder can be written");
    let compiled = Command::new("g++")
        .args([
            "-std=c++14",
            "-O1",
            "-ffp-contract=off",
            "-Wdouble-promotion",
            "-Wfloat-conversion",
        ])
        .args(["-Werror", "-Wno-unused", "-o"])
        .args([&program, &file])
        .output()
        .expect("g++ starts");
    let log = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "g++ refused the emitted text:\n{log}\n{source}");
    let ran = Command::new(&program).output().expect("the compiled text starts");
    assert!(ran.status.success(), "the compiled text failed");
    std::fs::remove_dir_all(&folder).expect("the temporary folder can be removed");
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// A program that calls `rhs` at every point and prints the outputs.
fn driver(n: usize, points: &[(f64, Vec<f64>, Vec<f64>)], call: &str) -> String {
    let number = |x: &f64| if x.is_nan() { "od_nan()".to_owned() } else { format!("R({x:?})") };
    let list = |x: &[f64]| x.iter().map(number).collect::<Vec<_>>().join(", ");
    let mut text = String::from("int main() {\n");
    for (t, y, p) in points {
        let _ = writeln!(
            text,
            "{{ const real t = {}, y[] = {{{}}}, p[] = {{{}}}; real dydt[{n}]; {call}\n\
             for (int i = 0; i < {n}; ++i) std::printf(\"%.17g\\n\", (double)dydt[i]); }}",
            number(t),
            list(y),
            list(if p.is_empty() { &[0.0] } else { p })
        );
    }
    text + "}\n"
}

/// Checks that the text `rhs`, called as said, computes the graph's outputs to `tolerance`.
fn check(
    name: &str,
    graph: &Graph,
    (precision, text, call): (&str, &str, &str),
    points: &[(f64, Vec<f64>, Vec<f64>)],
    tolerance: f64,
) {
    let n = graph.outputs().len();
    let source = [precision, HELPERS, text, &driver(n, points, call)].concat();
    let Some(printed) = run_cpp(name, &source) else { return };
    let parse = |line: &str| line.parse().expect("the program prints numbers");
    let values: Vec<f64> = printed.lines().map(parse).collect();
    assert_eq!(values.len(), n * points.len());
    for ((t, y, p), found) in points.iter().zip(values.chunks(n)) {
        for (i, (expected, found)) in graph.eval(*t, y, p).iter().zip(found).enumerate() {
            let close = (expected - found).abs() <= tolerance * expected.abs();
            let close = close || same(*expected, *found);
            assert!(close, "{name}, output {i} at {t} {y:?} {p:?}: {expected} {found}");
        }
    }
}

fn everywhere() -> Vec<(f64, Vec<f64>, Vec<f64>)> {
    Everything::points().into_iter().map(|(t, y, p)| (t, y.to_vec(), p.to_vec())).collect()
}

const CALL: &str = "rhs(t, y, p, dydt);";

#[test]
fn every_operation_compiles_and_agrees() {
    let graph = Graph::trace(&Everything);
    let text = emit::function(&graph, "rhs", &Signature::default());
    check("everything", &graph, (DOUBLE, &text, CALL), &everywhere(), 1e-14);
}

#[test]
fn jacobians_compile_and_agree() {
    let (entries, _) = Graph::trace(&Everything).jacobian();
    let text = emit::function(&entries, "rhs", &Signature::arrays());
    check("jacobian", &entries, (DOUBLE, &text, CALL), &everywhere(), 1e-13);
}

#[test]
fn a_subset_computes_its_outputs_to_the_bit() {
    let graph = Graph::trace(&Pleiades).fused();
    let point = [(0.0, Pleiades::START.to_vec(), vec![])];
    for outputs in [vec![14, 21], vec![20, 3, 27]] {
        let part = graph.subset(&outputs);
        let text = emit::function(&part, "rhs", &Signature::default());
        check("subset", &part, (DOUBLE, &text, CALL), &point, 0.0);
    }
}

#[test]
fn single_precision_has_no_double_arithmetic() {
    let graph = Graph::trace(&Everything);
    let text = emit::function(&graph, "rhs", &Signature::default());
    check("float", &graph, (FLOAT, &text, CALL), &everywhere()[..1], 1e-4);
}

#[test]
fn out_of_line_calls_compile() {
    let graph = Graph::record(1, 0, |_, y, _| {
        vec![(0..60).fold(y[0], |x, k| if k % 2 == 0 { x.sin() } else { x.cos().powf(x) })]
    });
    let text = emit::function(&graph, "rhs", &Signature::default());
    assert!(text.contains("od_pow_call("));
    check("calls", &graph, (DOUBLE, &text, CALL), &[(0.0, vec![0.5], vec![])], 1e-12);
}
