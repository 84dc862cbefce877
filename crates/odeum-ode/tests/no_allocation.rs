//! The step loop allocates nothing: a run of many systems allocates as often as a run of few.

// A test that cannot go on fails.
#![allow(clippy::unwrap_used)]

use odeum_core::Tape;
use odeum_ode::{
    Cpu, Device, DynSystem, Ensemble, Error, Isa, Method, Options, Real, Solution, Solver, System,
    Tolerance, solve,
};
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
            let fraction = y[i].exp() / sum;
            squares = fraction.mul_add(fraction, squares);
        }
        Some(R::lit(10.0) + squares)
    }
}

/// Systems of the runs that are compared, both of whole pairs of packs: of the few, too, each lane takes another one, and of the many none
/// is worth the time of looking whether the right-hand side was inlined.
const FEW: usize = 128;
const MANY: usize = 240;

/// One way to integrate.
type Run<'a> = &'a dyn Fn(&Ensemble<f64>, &Device, &Options) -> Result<Solution<f64>, Error>;

fn allocations(isa: Isa, systems: usize, run: Run) -> usize {
    let device = Device::Cpu(Cpu { threads: Some(1), isa });
    let ensemble = Ensemble::repeated(&[0.1_f64; N], systems, (0.0, 1.0)).unwrap();
    let options = Options::new(Tolerance::new(1e-5, 1e-6)).segments(3).save_at(vec![0.4, 1.0]);
    let before = ALLOCATIONS.get();
    let solution = run(&ensemble, &device, &options).unwrap();
    let after = ALLOCATIONS.get();
    assert!(solution.all_succeeded());
    after - before
}

#[test]
fn many_systems_allocate_as_often_as_few() {
    let erased = [
        ("compiled", DynSystem::new(Chain)),
        ("tape", Tape::trace(&Chain).into()),
        ("tape with a bound", Tape::trace(&Bounded).into()),
    ];
    for method in Method::all() {
        for isa in Isa::available() {
            let check = |what: &str, run: Run| {
                // The first call learns what others keep, as the size of the caches.
                allocations(isa, FEW, run);
                let (few, many) = (allocations(isa, FEW, run), allocations(isa, MANY, run));
                assert_eq!(few, many, "{} {isa} {what}", method.name());
            };
            check("inlined", &|ensemble, device, options| {
                solve(&Chain, ensemble, &method, device, options)
            });
            for (what, system) in &erased {
                check(what, &|ensemble, device, options| {
                    Solver::new(system, &method, device, options)?.solve(ensemble)
                });
            }
        }
    }
}
