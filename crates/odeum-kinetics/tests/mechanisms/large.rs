//! Large mechanisms: memory grows with species and reactions, not with pairs of them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Arc;

use odeum_kinetics::{Kinetics, Reactor, read};

/// Counts the bytes that a thread holds, and the most that it ever held: other tests run beside.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: all work is the system's; counting has no effect on it, and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.get() + layout.size() as isize;
        HELD.set(held);
        MOST.set(MOST.get().max(held));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: `at` is of `alloc`, which is the system's.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// A mechanism of `n` isomers with three reactions for each, one of them with third bodies.
pub(crate) fn text(n: usize) -> String {
    let mut text = "phases: [{name: gas, thermo: ideal-gas, kinetics: gas}]\nspecies:\n".to_owned();
    for i in 0..n {
        let thermo = "thermo: {model: constant-cp}";
        writeln!(text, "- {{name: S{i}, composition: {{C: 2, H: 6}}, {thermo}}}").unwrap();
    }
    text += "reactions:\n";
    for i in 0..n {
        let other = |factor: usize, shift: usize| (i * factor + shift) % n;
        let (a, b) = (other(7, 1), other(13, 2));
        let k = "rate-constant: {A: 1e10, b: 0.5, Ea: 1e7}";
        let twice = "type: elementary, duplicate: true";
        writeln!(text, "- {{equation: S{i} + S{a} <=> S{b} + S{a}, {k}, {twice}}}").unwrap();
        writeln!(text, "- {{equation: S{i} + S{a} <=> S{b} + S{a}, {k}, {twice}}}").unwrap();
        let body = format!("efficiencies: {{S{a}: 2, S{b}: {}}}", 1 + i % 5);
        writeln!(text, "- {{equation: 2 S{i} + M => S{a} + S{b} + M, {k}, {body}}}").unwrap();
    }
    text
}

/// Most bytes held at a time beyond the text, to read it and to make a reactor of it.
fn most(n: usize) -> usize {
    let text = text(n);
    let before = HELD.get();
    MOST.set(before);
    let read = read::yaml("large.yaml", &text, None).unwrap_or_else(|e| panic!("{e}"));
    let kinetics = Arc::new(Kinetics::new(&read.mechanism).unwrap());
    let reactor = Reactor::constant_volume(Arc::clone(&kinetics));
    assert_eq!((kinetics.n_species(), kinetics.n_reactions()), (n, 3 * n));
    drop(reactor);
    (MOST.get() - before) as usize
}

#[test]
fn memory_grows_with_the_mechanism() {
    let (small, large) = (most(1000), most(7000));
    println!("{} and {} MB", small >> 20, large >> 20);
    assert!(large < 9 * small, "{small} bytes for 1000 species, {large} for 7000");
    assert!(large < 200 << 20, "{large} bytes for 7000 species");
}
