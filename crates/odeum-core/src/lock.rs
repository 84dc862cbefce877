//! Locks of what threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock that a panic elsewhere does not close: what it guards is a cache.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
