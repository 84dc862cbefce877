//! Kernels that are compiled while something else is done, and waited for when they are needed.

use super::machine::Machine;
use odeum_ode::Error;
use std::cell::{Cell, OnceCell};

/// Kernels of a text, of which none needs more shared memory than all may have.
pub(super) struct Late<M: Machine> {
    coming: Cell<Option<M::Coming>>,
    entries: OnceCell<Vec<M::Entry>>,
}

impl<M: Machine> Late<M> {
    pub(super) fn new(machine: &M, text: &str, names: &[&str]) -> Late<M> {
        let coming = Cell::new(Some(machine.begin(text, names)));
        Late { coming, entries: OnceCell::new() }
    }

    /// Kernel `n`, in the order of the names.
    pub(super) fn entry(&self, machine: &M, n: usize) -> Result<&M::Entry, Error> {
        if let Some(coming) = self.coming.take() {
            let _ = self.entries.set(machine.finish(coming)?);
        }
        let entry = self.entries.get().and_then(|entries| entries.get(n));
        entry.ok_or_else(|| {
            Error::input("kernels", format!("no kernel {n}"), "see what it was refused for")
        })
    }
}
