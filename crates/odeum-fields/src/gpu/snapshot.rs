//! Copies of a field that leave a GPU while it goes on.

use super::shape::Shape;
use crate::field::Field;
use crate::field::slab::Slab;
use odeum_cuda::{Device, Stream};
use odeum_ode::{Error, Scalar};
use std::sync::{Arc, Mutex, PoisonError};

/// Idle transfers, reused by the next snapshot.
pub(super) struct SnapshotTransfers<D: Device>(Arc<Mutex<Vec<TransferBuffer<D>>>>);

/// A copy of a field, and a stream of its own to bring it into memory by.
struct TransferBuffer<D: Device> {
    stream: D::Stream,
    memory: D::Memory,
}

/// One on its way; it returns to the others when dropped.
pub(super) struct SnapshotTransfer<D: Device> {
    load: Option<TransferBuffer<D>>,
    idle: Arc<Mutex<Vec<TransferBuffer<D>>>>,
}

impl<D: Device> Default for SnapshotTransfers<D> {
    fn default() -> SnapshotTransfers<D> {
        SnapshotTransfers(Arc::default())
    }
}

impl<D: Device> SnapshotTransfers<D> {
    /// Copies a field on the GPU; `None` where there is no memory for another one.
    pub(super) fn take(
        &self,
        stream: &D::Stream,
        field: &D::Memory,
        bytes: usize,
    ) -> Result<Option<SnapshotTransfer<D>>, Error> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut load = match idle {
            Some(load) => load,
            // Something is left for the driver.
            None if stream.device().free_memory(0)? / 8 * 7 < bytes => return Ok(None),
            None => {
                let device = stream.device();
                TransferBuffer { stream: device.stream()?, memory: device.memory(bytes)? }
            }
        };
        stream.copy(field, &mut load.memory, bytes)?;
        stream.wait()?;
        Ok(Some(SnapshotTransfer { load: Some(load), idle: self.0.clone() }))
    }
}

impl<D: Device> SnapshotTransfer<D> {
    /// Brings the planes of a slab into the field of a box.
    pub(super) fn deliver<T: Scalar>(
        self,
        shape: &Shape,
        slab: &Slab,
        field: &mut Field<T>,
    ) -> Result<(), Error> {
        let Some(load) = &self.load else { return Ok(()) };
        shape.download(slab, &load.stream, &load.memory, field)
    }
}

impl<D: Device> Drop for SnapshotTransfer<D> {
    fn drop(&mut self) {
        let load = self.load.take();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(load);
    }
}
