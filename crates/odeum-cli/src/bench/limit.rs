//! How many operations a machine can do at most, and how many a run did.
//!
//! One operation is one arithmetic instruction of one lane: a fused multiply-add, an addition, a
//! reciprocal root or an exponential each count once. Since the costly ones take more than one
//! issue slot, the fraction of the limit computed from this count is a lower bound.

use odeum_core::lanes::LaneWork;
use odeum_core::{Graph, Lanes, Tape};
use odeum_ode::gpu::devices;
use odeum_ode::{Cuda, Isa, Method, Rkc, Scalar, Solution};
use std::hint::black_box;
use std::time::Instant;

/// Independent chains of multiply-adds: more than latency × ports of any CPU so far.
const CHAINS: usize = 16;
/// Multiply-adds of a chain in one measurement.
const LENGTH: usize = 200_000;

/// Lane operations per second of `threads` threads, measured with chains of multiply-adds in
/// registers.
pub(crate) fn measured<T: Scalar>(isa: Isa, threads: usize) -> f64 {
    let run = move || isa.dispatch::<T, _>(Chains);
    let mut best = 0.0_f64;
    for _ in 0..5 {
        let start = Instant::now();
        let operations: f64 = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            workers.into_iter().map(|w| w.join().unwrap_or(0.0)).sum()
        });
        best = best.max(operations / start.elapsed().as_secs_f64());
    }
    best
}

struct Chains;

impl<T: Scalar> LaneWork<T> for Chains {
    /// Lane operations done.
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> f64 {
        let (shrink, add) = (black_box(L::lit(0.999)), black_box(L::lit(1e-3)));
        let mut chains = [L::lit(1.0); CHAINS];
        for _ in 0..LENGTH {
            for chain in &mut chains {
                *chain = chain.mul_add(shrink, add);
            }
        }
        black_box(&chains);
        (CHAINS * LENGTH * L::WIDTH) as f64
    }
}

/// Lane operations per second that GPUs can issue: multiprocessors × lanes × clock; `None` when
/// they do not answer.
pub(crate) fn of_gpus<T: Scalar>(cuda: &Cuda) -> Option<f64> {
    let gpus = devices().ok()?;
    let issued = cuda.ordinals.iter().map(|&ordinal| {
        let gpu = gpus.iter().find(|gpu| gpu.ordinal == ordinal)?;
        // CUDA C++ Programming Guide, table of arithmetic throughput, per clock and
        // multiprocessor: (double, single).
        let (double, single) = match gpu.compute_capability {
            (6..=8, 0) => (32, 64),
            (9 | 10, 0) => (64, 128),
            (7, _) => (2, 64),
            _ => (2, 128),
        };
        let lanes = if T::NAME == "f64" { double } else { single };
        Some(gpu.multiprocessors as f64 * f64::from(lanes) * gpu.clock_mhz * 1e6)
    });
    issued.sum()
}

/// Lane operations of all systems of a run together.
pub(crate) fn operations<T: Scalar>(graph: &Graph, method: &Method, run: &Solution<T>) -> f64 {
    let rhs = Tape::new(graph.clone()).map_or(0, |tape| tape.program().len());
    let (n, totals) = (graph.n_states() as f64, run.summary());
    let attempts: u64 = run.stats.iter().map(|s| u64::from(s.attempts())).sum();
    let evaluations = totals.nfev as f64;
    let around = match method {
        Method::Erk(erk) => {
            let nonzero = |row: &[f64]| row.iter().filter(|a| **a != 0.0).count();
            let tableau = erk.tableau;
            let sums: usize = tableau.a.iter().map(|row| nonzero(row)).sum();
            let last = if tableau.is_fsal() { 0 } else { nonzero(tableau.b) };
            // The error norm takes about six operations a component; fixed steps ask for no error.
            let fixed = erk.controller.fixed_step().is_some();
            let error = if fixed { 0 } else { nonzero(tableau.e) + 6 };
            attempts as f64 * n * (sums + last + error) as f64
        }
        // A stage of RKC joins five vectors; the error takes about ten operations a component.
        Method::Rkc(Rkc { .. }) => n * (5.0 * evaluations + 10.0 * attempts as f64),
        // Stages of implicit methods join some four vectors; Jacobians and linear algebra are not
        // counted, so the fraction of the limit comes out too small.
        _ => n * 8.0 * evaluations,
    };
    evaluations * rhs as f64 + around
}
