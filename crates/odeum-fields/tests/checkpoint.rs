//! Damaged checkpoints: refused, whatever they ask for.

// Helpers outside of tests fail the test they are called from.
#![allow(clippy::unwrap_used)]

use odeum_fields::{Checkpoint, Clock, Field, Grid};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory of the system, and the largest piece of it that was asked for.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is done by the allocator of the system, with what it was called with.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps what `alloc` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps what `dealloc` asks for, and `System` gave the memory.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static WATCHED: Watched = Watched;

#[test]
fn no_byte_of_the_head_makes_it_ask_for_more_than_the_field() {
    let grid = Grid::new([16, 9, 8], 1.0).unwrap();
    let field = Field::<f64>::from_fn(&grid, 2, |s, [x, ..]| s as f64 + x).unwrap();
    let start = Checkpoint { field, clock: Clock::at(1.5) };
    let mut whole = Vec::new();
    start.write(&mut whole).unwrap();
    assert_eq!(Checkpoint::<f64>::bytes(&grid, 2), Some(whole.len() as u64));
    assert!(Checkpoint::<f64>::read(&grid, 2, &mut whole.as_slice()).unwrap() == start);

    let sizes = 8 + 5 * 8;
    let values = whole.len() - grid.cells() * 2 * 8;
    let most = Field::<f64>::bytes(&grid, 2).unwrap();
    for at in 0..values {
        for bit in 0..8 {
            whole[at] ^= 1 << bit;
            LARGEST.store(0, Ordering::Relaxed);
            let read = Checkpoint::<f64>::read(&grid, 2, &mut whole.as_slice());
            let largest = LARGEST.load(Ordering::Relaxed);
            assert!(largest <= most, "byte {at}, bit {bit}: {largest} bytes");
            // What the clock says is a matter of the checksum, which whoever keeps the bytes has.
            assert_eq!(read.is_err(), at < sizes, "byte {at}, bit {bit}");
            whole[at] ^= 1 << bit;
        }
    }
    // As many cells in another shape, and other species and numbers.
    let other = Grid::new([9, 16, 8], 1.0).unwrap();
    let message = |read: std::io::Result<Checkpoint<f64>>| read.unwrap_err().to_string();
    let cells = message(Checkpoint::read(&other, 2, &mut whole.as_slice()));
    assert!(cells.contains("[16, 9, 8] cells, not [9, 16, 8]"), "{cells}");
    let species = message(Checkpoint::read(&grid, 3, &mut whole.as_slice()));
    assert!(species.contains("2 species, not 3"), "{species}");
}
