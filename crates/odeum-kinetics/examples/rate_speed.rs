//! Nanoseconds per system of the right-hand side and the Jacobian of a reactor:
//!
//! ```text
//! cargo run --release -p odeum-kinetics --example rate_speed -- mechanism.yaml ...
//! ```
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes, System};
use odeum_kinetics::{Kinetics, Reactor, read};

/// Right-hand sides, or Jacobians, of one pack of systems.
struct Work<'a> {
    reactor: &'a Reactor,
    y: &'a [f64],
    p: f64,
    jacobian: bool,
    passes: usize,
}

impl LaneWork<f64> for Work<'_> {
    /// Seconds per system.
    type Output = f64;
    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) -> f64 {
        let Work { reactor, y, p, jacobian, passes } = self;
        let n = reactor.dim();
        let mut y: Vec<L> = y.iter().map(|y| L::lit(*y)).collect();
        // Different temperatures on both sides of where the polynomials join.
        for lane in 0..L::WIDTH {
            y[0].set_lane(lane, 700.0 + 150.0 * lane as f64);
        }
        let p = [L::lit(p)];
        let zero = L::lit(0.0);
        let entries = reactor.jacobian_pattern().map_or(0, odeum_core::Pattern::nnz);
        let (mut f, mut values) = (vec![zero; n], vec![zero; entries]);
        let mut work = vec![zero; reactor.workspace()];
        let mut best = f64::INFINITY;
        for _ in 0..15 {
            let start = Instant::now();
            for _ in 0..passes {
                let y = black_box(&y[..]);
                if jacobian {
                    reactor.jacobian_in(zero, y, &p, &mut values, &mut f, &mut work);
                } else {
                    reactor.rhs_in(zero, y, &p, &mut f, &mut work);
                }
                black_box(&mut f);
                black_box(&mut values);
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        best / (passes * L::WIDTH) as f64
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let mechanism = read::yaml(&path, &std::fs::read_to_string(&path)?, None)?.mechanism;
        let kinetics = Arc::new(Kinetics::new(&mechanism)?);
        let n = kinetics.n_species();
        println!("{}: {n} species, {} reactions", mechanism.name, kinetics.n_reactions());
        for reactor in [
            Reactor::constant_pressure(Arc::clone(&kinetics)),
            Reactor::constant_volume(Arc::clone(&kinetics)),
        ] {
            let (y, p) = reactor.state(1000.0, 101_325.0, &vec![1.0 / n as f64; n])?;
            let passes = 20_000 / n;
            let work = |jacobian| Work { reactor: &reactor, y: &y, p: p[0], jacobian, passes };
            for isa in Isa::available() {
                let one = [false, true].map(|jacobian| isa.dispatch(work(jacobian)));
                let two = [false, true].map(|jacobian| isa.dispatch_pair(work(jacobian)));
                for (packs, [f, jacobian]) in [("one pack", one), ("pair", two)] {
                    let constraint = format!("{:?}", reactor.constraint());
                    let [f, jacobian] = [f * 1e9, jacobian * 1e9];
                    println!(
                        "{constraint:>18} {isa:>7}, {packs:>8}: f {f:7.0} ns, Jacobian {jacobian:7.0} ns"
                    );
                }
            }
        }
    }
    Ok(())
}
