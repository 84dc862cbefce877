//! What ends in a thread of ours.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::thread::Builder;

/// What holds memory of a GPU. Threads of ours alone make, use and end it: the driver's calls change which GPU is the present one of
/// a thread, and Python's other libraries go by that.
pub(crate) struct Ours<V: Send + 'static>(ManuallyDrop<V>);

impl<V: Send + 'static> Ours<V> {
    pub(crate) fn new(value: V) -> Ours<V> {
        Ours(ManuallyDrop::new(value))
    }
}

impl<V: Send + 'static> Deref for Ours<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.0
    }
}

impl<V: Send + 'static> DerefMut for Ours<V> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.0
    }
}

impl<V: Send + 'static> Drop for Ours<V> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it after this.
        let value = unsafe { ManuallyDrop::take(&mut self.0) };
        // Where there is no thread its memory goes with this one.
        let _ = Builder::new().spawn(move || drop(value)).map(|thread| thread.join());
    }
}
