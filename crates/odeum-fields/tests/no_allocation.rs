//! Sweeps allocate nothing: what they need beside their fields is there after the first.

// A test that cannot go on fails.
#![allow(clippy::unwrap_used)]

use odeum_fields::{
    Advection, Boundaries, Boundary, Combination, Engine, Field, Grid, Mask, ModelText,
    PointSource, Precision, Problem, Quantity, Velocity,
};
use odeum_ode::{Cpu, Isa};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

/// Allocations of all threads: this program has one test.
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Those of this thread: threads of engines that are gone may still be on their way out.
    static MINE: Cell<usize> = const { Cell::new(0) };
}

/// So far, by this thread or by all.
fn so_far(threads: usize) -> usize {
    if threads == 1 { MINE.get() } else { ALLOCATIONS.load(Ordering::Relaxed) }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        MINE.set(MINE.get() + 1);
        // SAFETY: the caller's word is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's word is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn problems(shape: [usize; 3]) -> Vec<(&'static str, Problem)> {
    let grid = Grid::new(shape, 1.0).unwrap();
    let of = |equations: &[(&'static str, &'static str)]| {
        let species = equations.iter().map(|(name, _)| *name).collect();
        let text = ModelText { species, equations: equations.to_vec(), ..ModelText::default() };
        Problem::new(text.read().unwrap().0, grid)
    };
    let diffusion = [("c", "0.1*lap(c)")];
    let turing = [("u", "0.1*lap(u) + u - u^3 - v"), ("v", "0.2*lap(v) + u - v")];
    let velocities = ["0.1", "0.1*sin(t)", "0.05"].map(Quantity::from);
    let cells = |w: f64| vec![w; grid.cells()];
    let source =
        PointSource { species: "c".into(), cell: [0, 0, 0], rate: Quantity::from("1 + sin(t)") };
    let warm = Boundary::Dirichlet(Quantity::from("0.3 + 0.1*t"));
    // More species than a short list on the stack would hold.
    let many: Vec<(&str, &str)> = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]
        .into_iter()
        .map(|name| (name, "0.1*lap(a) + sin(b) - c"))
        .collect();
    vec![
        ("diffusion", of(&diffusion)),
        ("turing", of(&turing)),
        ("potential", of(&[("c", "0.01*lap(c^3 - c - lap(c))")])),
        ("interpreted", of(&many)),
        (
            "boundary",
            of(&turing).boundaries(Boundaries::default().axis(0, warm.clone()).axis(1, warm)),
        ),
        ("upwind", of(&turing).velocity(Velocity::Uniform(velocities.clone()), Advection::Upwind)),
        ("koren", of(&diffusion).velocity(Velocity::Uniform(velocities), Advection::Koren)),
        (
            "cells",
            of(&diffusion).velocity(Velocity::Cells([0.1, 0.2, 0.0].map(cells)), Advection::Upwind),
        ),
        ("coefficients", of(&diffusion).diffusion("c", cells(0.1))),
        ("source", of(&diffusion).source(source)),
        ("solids", of(&turing).mask(Mask::from_fn(&grid, |[x, y, _]| x + y > 5.0).unwrap())),
    ]
}

/// What sweeps of all kinds and steps one by one, by twos and in batches allocate after the first.
fn allocated<T: Precision>(problem: &Problem, threads: usize, isa: Isa, rounds: usize) -> usize {
    let engine = Engine::<T>::new(problem, &Cpu { threads: Some(threads), isa }).unwrap();
    let species = problem.model.species().len();
    let mut u =
        Field::<T>::from_fn(&problem.grid, species, |s, at| 0.3 + 0.01 * (s as f64 + at[0]).sin())
            .unwrap();
    let (mut next, mut other) = (engine.zeros().unwrap(), u.clone());
    let h = 1e-3;
    let mut round = |t: f64| {
        let mut finite = engine.rhs(t, &u, &mut next);
        let rest = [(0.5, &u), (0.25, &next)];
        finite &=
            engine.sweep(t, &u, &Combination { rhs: 0.0, own: None, terms: &rest }, &mut other);
        finite &=
            engine.sweep(t, &u, &Combination { rhs: h, own: Some(0.1), terms: &rest }, &mut other);
        for steps in 1..=engine.most_steps().min(3) {
            finite &= engine.steps(&[t, t + h, t + 2.0 * h][..steps], h, &u, &mut other);
        }
        assert!(finite);
        assert_eq!(engine.advance((&|n| t + n as f64 * h, h), 5, &mut u, &mut next), 5);
    };
    round(0.0);
    round(0.1);
    let before = so_far(threads);
    (0..rounds).for_each(|n| round(0.2 + 0.01 * n as f64));
    so_far(threads) - before
}

#[test]
fn sweeps_and_steps_allocate_nothing() {
    for shape in [[33, 1, 1], [33, 20, 1], [1, 24, 18], [40, 24, 18]] {
        for (name, problem) in problems(shape) {
            for isa in Isa::available() {
                assert_eq!(allocated::<f64>(&problem, 1, isa, 3), 0, "{name} {isa} {shape:?} f64");
                assert_eq!(allocated::<f32>(&problem, 1, isa, 3), 0, "{name} {isa} {shape:?} f32");
            }
            // Threads are told of a batch by a list that grows by blocks, one in some dozen calls.
            let shared = allocated::<f64>(&problem, 2, Isa::best(), 60);
            assert!(shared <= 60, "{name} {shape:?} {shared}");
        }
    }
}
