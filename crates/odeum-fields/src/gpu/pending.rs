//! Kernels that are compiled while something else is done, and waited for when they are needed.

use odeum_cuda::Device;
use odeum_ode::Error;
use std::cell::{Cell, OnceCell};

/// Kernels of a text, of which none needs more shared memory than all may have.
pub(super) struct PendingKernels<D: Device> {
    pending: Cell<Option<D::Pending>>,
    kernels: OnceCell<Vec<D::Kernel>>,
}

impl<D: Device> PendingKernels<D> {
    pub(super) fn new(device: &D, text: &str, names: &[&str]) -> PendingKernels<D> {
        let pending = Cell::new(Some(device.compile_async(text, names)));
        PendingKernels { pending, kernels: OnceCell::new() }
    }

    /// Kernel `n`, in the order of the names.
    pub(super) fn get(&self, device: &D, n: usize) -> Result<&D::Kernel, Error> {
        if let Some(pending) = self.pending.take() {
            let _ = self.kernels.set(device.wait(pending)?);
        }
        let kernel = self.kernels.get().and_then(|kernels| kernels.get(n));
        kernel.ok_or_else(|| {
            Error::input("kernels", format!("no kernel {n}"), "see what it was refused for")
        })
    }
}
