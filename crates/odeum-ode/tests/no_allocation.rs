//! The step loop allocates nothing: a run of many systems allocates as often as a run of few.

// A test that cannot go on fails.
#![allow(clippy::unwrap_used)]

use odeum_core::{Graph, Tape};
use odeum_ode::{Cpu, Device, Ensemble, Isa, Method, Options, Real, System, Tolerance, solve};
use std::alloc::{GlobalAlloc, Layout, System as SystemAllocator};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Allocations of this thread: the test harness has threads of its own.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's word is passed on.
        unsafe { SystemAllocator.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's word is passed on.
        unsafe { SystemAllocator.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A chain of diffusing, decaying values.
struct Chain;

const N: usize = 40;

impl System for Chain {
    fn dim(&self) -> usize {
        N
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], _p: &[R], dydt: &mut [R]) {
        for i in 0..N {
            let (left, right) = (y[(i + N - 1) % N], y[(i + 1) % N]);
            dydt[i] = left + right - R::lit(2.1) * y[i] + t.sin() * y[i].exp();
        }
    }
}

/// The chain, with a bound of its spectral radius whose tape holds all exponentials at once.
struct Bounded;

impl System for Bounded {
    fn dim(&self) -> usize {
        N
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        Chain.rhs(t, y, p, dydt);
    }
    #[inline(always)]
    fn spectral_radius<R: Real>(&self, _t: R, y: &[R], _p: &[R]) -> Option<R> {
        let zero = R::lit(0.0);
        let (mut sum, mut squares) = (zero, zero);
        for i in 0..N {
            sum = sum + y[i].exp();
        }
        for i in 0..N {
            let share = y[i].exp() / sum;
            squares = share.mul_add(share, squares);
        }
        Some(R::lit(10.0) + squares)
    }
}

fn allocations<S: System>(system: &S, method: &Method, isa: Isa, systems: usize) -> usize {
    let device = Device::Cpu(Cpu { threads: Some(1), isa });
    let ensemble = Ensemble::repeated(&[0.1_f64; N], systems, (0.0, 1.0)).unwrap();
    let options = Options::new(Tolerance::new(1e-5, 1e-6)).restarts(3).save_at(vec![0.4, 1.0]);
    let before = ALLOCATIONS.get();
    let solution = solve(system, &ensemble, method, &device, &options).unwrap();
    let after = ALLOCATIONS.get();
    assert!(solution.all_succeeded());
    after - before
}

#[test]
fn many_systems_allocate_as_often_as_few() {
    let tape = Tape::new(Graph::trace(&Chain)).unwrap();
    let bounded = Tape::new(Graph::trace(&Bounded)).unwrap();
    for method in Method::all() {
        for isa in Isa::available() {
            let few = allocations(&Chain, &method, isa, 300);
            let many = allocations(&Chain, &method, isa, 900);
            assert_eq!(few, many, "{} {isa} compiled", method.name());
            let few = allocations(&tape, &method, isa, 300);
            let many = allocations(&tape, &method, isa, 900);
            assert_eq!(few, many, "{} {isa} tape", method.name());
            let few = allocations(&bounded, &method, isa, 300);
            let many = allocations(&bounded, &method, isa, 900);
            assert_eq!(few, many, "{} {isa} tape with a bound", method.name());
        }
    }
}
