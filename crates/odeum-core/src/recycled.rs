//! Memory of arrays, which goes from one call to the next.

use crate::lock;
use crate::memory::{self, Zeroable};
use std::any::Any;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard};

/// Smaller vectors cost too little to be kept, in bytes.
const LEAST: usize = 64 << 10;
/// What is kept of memory that nobody uses, in bytes.
const MOST: usize = 256 << 20;

/// Vectors that nobody uses, the latest last.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

struct Idle {
    /// A `Vec<T>`.
    vector: Box<dyn Any + Send>,
    bytes: usize,
}

fn idle() -> MutexGuard<'static, Vec<Idle>> {
    lock(&IDLE)
}

/// A vector whose memory serves later ones of its type: the first write to a new page costs more than many to one
/// that is there.
#[derive(Debug)]
pub struct Recycled<T: Send + 'static>(Vec<T>);

impl<T: Zeroable + Default + Send + 'static> Recycled<T> {
    /// So many values, of which each may be whatever there was before. `None` where there is not so much memory.
    pub fn new(len: usize) -> Option<Recycled<T>> {
        if let Some(mut vector) = take(len) {
            vector.resize(len, T::default());
            return Some(Recycled(vector));
        }
        memory::zeros(len).map(Recycled)
    }
}

/// An idle vector with room for so many values, and for not many more.
fn take<T: 'static>(len: usize) -> Option<Vec<T>> {
    let bytes = len.checked_mul(size_of::<T>())?;
    let mut idle = idle();
    let fits = |idle: &Idle| {
        (bytes..=bytes + bytes / 4).contains(&idle.bytes) && idle.vector.is::<Vec<T>>()
    };
    let place = idle.iter().rposition(fits)?;
    let taken = idle.remove(place).vector.downcast::<Vec<T>>().ok()?;
    Some(*taken)
}

impl<T: Send + 'static> From<Vec<T>> for Recycled<T> {
    fn from(vector: Vec<T>) -> Recycled<T> {
        Recycled(vector)
    }
}

impl<T: Send + 'static> Deref for Recycled<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Send + 'static> DerefMut for Recycled<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Send + 'static> Drop for Recycled<T> {
    fn drop(&mut self) {
        let vector = mem::take(&mut self.0);
        let bytes = vector.capacity() * size_of::<T>();
        if (LEAST..=MOST / 2).contains(&bytes) {
            put(Idle { vector: Box::new(vector), bytes });
        }
    }
}

/// Keeps a vector, and lets go of the oldest ones beyond what is kept.
fn put(new: Idle) {
    let mut all = idle();
    all.push(new);
    let mut bytes: usize = all.iter().map(|idle| idle.bytes).sum();
    let beyond = all.iter().take_while(|idle| {
        let is_beyond = bytes > MOST;
        bytes -= idle.bytes;
        is_beyond
    });
    let beyond = beyond.count();
    let let_go: Vec<Idle> = all.drain(..beyond).collect();
    // To give memory back takes its time, which others need not wait for.
    drop(all);
    drop(let_go);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a type of its own: memory of others does not fit.
    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    struct Mine(u64);

    // SAFETY: all bits zero are a number.
    unsafe impl Zeroable for Mine {}

    #[test]
    fn memory_comes_again_where_it_fits_and_is_bounded() {
        let of = |len: usize| Recycled::<Mine>::new(len).unwrap();
        let mut first = of(100_000);
        first.fill(Mine(3));
        let address = first.as_ptr();
        drop(first);
        assert_ne!(of(10_000).as_ptr(), address, "far too large");
        let smaller = of(90_000);
        assert_eq!((smaller.as_ptr(), smaller.len()), (address, 90_000));
        assert_ne!(of(90_000).as_ptr(), address, "in use");
        drop(smaller);
        let again = of(100_000);
        assert_eq!((again.as_ptr(), again.len()), (address, 100_000));
        // What was cut off is as new.
        assert_eq!((again[0], again[99_999]), (Mine(3), Mine(0)));

        let kept = || idle().iter().map(|idle| idle.bytes).sum::<usize>();
        let with_room = |bytes| Recycled(Vec::<Mine>::with_capacity(bytes / size_of::<Mine>()));
        drop(with_room(MOST));
        assert!(kept() < MOST, "more than is kept of all");
        drop([(); 5].map(|()| with_room(MOST / 2 - 64)));
        assert!((MOST - 128..=MOST).contains(&kept()), "the latest are kept");
    }
}
