//! Nanoseconds per number of each operation, for every instruction set of this CPU:
//!
//! ```text
//! cargo run --release -p odeum-core --example lane_throughput
//! ```
//!
//! Independent packs in sequence, so this is throughput, not latency.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes, Scalar};

/// Numbers in the working set: they fit the first cache.
const NUMBERS: usize = 1024;

/// Applies a function to all numbers, `passes` times.
struct Sweep<'a, T> {
    function: usize,
    passes: usize,
    x: &'a [T],
    out: &'a mut [T],
}

macro_rules! functions {
    ($($name:literal $low:literal .. $high:literal: |$x:ident| $call:expr;)*) => {
        /// Name and range of arguments.
        const FUNCTIONS: &[(&str, f64, f64)] = &[$(($name, $low, $high)),*];

        impl<T: Scalar> LaneWork<T> for Sweep<'_, T> {
            type Output = ();
            #[inline(always)]
            fn run<L: Lanes<Scalar = T>>(self) {
                let mut index = 0;
                $(
                    if self.function == index {
                        for _ in 0..self.passes {
                            let (from, to) = (black_box(self.x), black_box(&mut *self.out));
                            for start in (0..NUMBERS).step_by(L::WIDTH) {
                                let $x = L::load(&from[start..]);
                                $call.store(&mut to[start..]);
                            }
                        }
                    }
                    index += 1;
                )*
                let _ = index;
            }
        }
    };
}

functions! {
    "add" 0.5..2.0: |x| x + x;
    "div" 0.5..2.0: |x| L::lit(1.5) / x;
    "sqrt" 0.5..2.0: |x| x.sqrt();
    "rsqrt" 0.5..2.0: |x| x.rsqrt();
    "exp" -20.0..20.0: |x| x.exp();
    "ln" 0.01..100.0: |x| x.ln();
    "powf" 0.01..100.0: |x| x.powf(L::lit(1.7));
    "sin" -10.0..10.0: |x| x.sin();
    "cos" -10.0..10.0: |x| x.cos();
    "tan" -10.0..10.0: |x| x.tan();
    "asin" -1.0..1.0: |x| x.asin();
    "acos" -1.0..1.0: |x| x.acos();
    "atan" -5.0..5.0: |x| x.atan();
    "sinh" -5.0..5.0: |x| x.sinh();
    "cosh" -5.0..5.0: |x| x.cosh();
    "tanh" -5.0..5.0: |x| x.tanh();
    "cbrt" 0.01..100.0: |x| x.cbrt();
}

/// The best time of several [ns per number].
fn time<T: Scalar>(isa: Isa, wide: bool, function: usize, x: &[T]) -> f64 {
    let passes = 200;
    let mut out = vec![T::default(); NUMBERS];
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let sweep = Sweep { function, passes, x, out: &mut out };
        let start = Instant::now();
        if wide {
            isa.dispatch_wide(sweep)
        } else {
            isa.dispatch(sweep)
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / (passes * NUMBERS) as f64
}

/// One table: a row for each function, a column for each set and for its blocks.
fn table<T: Scalar>() {
    print!("{:6}", T::NAME);
    for isa in Isa::available() {
        print!("{:>10}{:>10}", isa.name(), "wide");
    }
    println!();
    for (function, (name, low, high)) in FUNCTIONS.iter().enumerate() {
        let at = |i| low + (high - low) * (i as f64 + 0.5) / NUMBERS as f64;
        // A stride coprime to the number of them, so that neighbours differ.
        let x: Vec<T> = (0..NUMBERS).map(|i| T::from_f64(at(i * 389 % NUMBERS))).collect();
        print!("{name:6}");
        for isa in Isa::available() {
            print!("{:10.3}", time(isa, false, function, &x));
            print!("{:10.3}", time(isa, true, function, &x));
        }
        println!();
    }
}

fn main() {
    table::<f64>();
    table::<f32>();
}
