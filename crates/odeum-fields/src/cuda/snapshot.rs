//! Copies of a field that leave a GPU while it goes on.

use super::machine::Machine;
use super::shape::Shape;
use crate::field::Field;
use crate::slab::Slab;
use odeum_ode::{Error, Scalar};
use std::sync::{Arc, Mutex, PoisonError};

/// Couriers that wait for a field to carry.
pub(super) struct Couriers<M: Machine>(Arc<Mutex<Vec<Load<M>>>>);

/// A copy of a field, and a queue of its own to bring it into memory by.
struct Load<M: Machine> {
    machine: M,
    memory: M::Memory,
}

/// One on its way; it returns to the others when dropped.
pub(super) struct Courier<M: Machine> {
    load: Option<Load<M>>,
    home: Arc<Mutex<Vec<Load<M>>>>,
}

impl<M: Machine> Default for Couriers<M> {
    fn default() -> Couriers<M> {
        Couriers(Arc::default())
    }
}

impl<M: Machine> Couriers<M> {
    /// Copies a field on the GPU; `None` where there is no memory for another one.
    pub(super) fn take(
        &self,
        machine: &M,
        field: &M::Memory,
        bytes: usize,
    ) -> Result<Option<Courier<M>>, Error> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut load = match idle {
            Some(load) => load,
            // Something is left for the driver.
            None if machine.free_memory()? / 8 * 7 < bytes => return Ok(None),
            None => Load { machine: machine.twin()?, memory: machine.memory(bytes)? },
        };
        machine.copy(field, &mut load.memory, bytes)?;
        machine.wait()?;
        Ok(Some(Courier { load: Some(load), home: self.0.clone() }))
    }
}

impl<M: Machine> Courier<M> {
    /// Brings the planes of a slab into the field of a box.
    pub(super) fn deliver<T: Scalar>(
        self,
        shape: &Shape,
        slab: &Slab,
        field: &mut Field<T>,
    ) -> Result<(), Error> {
        let Some(load) = &self.load else { return Ok(()) };
        shape.download(slab, &load.machine, &load.memory, field)
    }
}

impl<M: Machine> Drop for Courier<M> {
    fn drop(&mut self) {
        let load = self.load.take();
        self.home.lock().unwrap_or_else(PoisonError::into_inner).extend(load);
    }
}
