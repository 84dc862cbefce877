//! A stream with memory on its device: what the systems of one launch need, kept between runs because making it is slow.

use super::arena::Offsets;
use super::kept::Kept;
use super::order::Ordered;
use super::staging::Staging;
use super::task::Lists;
use crate::arrays::ArrayRef;
use crate::lent::Inputs;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Memory, Stream};
use std::ops::Range;

pub(super) struct StreamWorkspace<D: Device> {
    pub(super) stream: D::Stream,
    /// Arrays of inputs and results: see [`Offsets`].
    pub(super) arena: D::Memory,
    /// Matrices of a kernel that keeps them outside of shared memory.
    matrices: Option<D::Memory>,
    /// The order in which systems begin, where that is not as they lie.
    ordered: Option<Ordered<D>>,
}

impl<D: Device> StreamWorkspace<D> {
    /// One whose arena has this many bytes.
    pub(super) fn new(kept: &Kept<D>, bytes: usize) -> Result<Self, Error> {
        let (stream, arena) = (kept.device.stream()?, kept.reserve(bytes)?);
        Ok(StreamWorkspace { stream, arena, matrices: None, ordered: None })
    }

    /// The same with at least so many bytes.
    pub(super) fn with_room(self, kept: &Kept<D>, bytes: usize) -> Result<Self, Error> {
        if self.arena.bytes() >= bytes {
            return Ok(self);
        }
        let StreamWorkspace { arena, .. } = self;
        drop(arena);
        Ok(StreamWorkspace { arena: kept.reserve(bytes)?, ..self })
    }

    /// Bytes of its memory on the device.
    pub(super) fn bytes(&self) -> usize {
        let matrices = self.matrices.as_ref().map_or(0, Memory::bytes);
        let ordered = self.ordered.as_ref().map_or(0, Ordered::bytes);
        self.arena.bytes() + matrices + ordered
    }

    /// The address of at least so many bytes for matrices.
    pub(super) fn matrices(&mut self, kept: &Kept<D>, bytes: usize) -> Result<u64, Error> {
        if let Some(matrices) = self.matrices.as_ref().filter(|memory| memory.bytes() >= bytes) {
            return Ok(matrices.address());
        }
        self.matrices = None;
        let matrices = kept.reserve(bytes)?;
        Ok(self.matrices.insert(matrices).address())
    }

    /// The stream, and memory for the order of so many systems in so many parts.
    pub(super) fn ordered(
        &mut self,
        kept: &Kept<D>,
        systems: usize,
        parts: usize,
    ) -> Result<(&D::Stream, &mut Ordered<D>), Error> {
        let ordered = self.ordered.take().filter(|ordered| ordered.has_room(systems, parts));
        let ordered = ordered.map_or_else(|| Ordered::new(kept, systems, parts), Ok)?;
        Ok((&self.stream, self.ordered.insert(ordered)))
    }

    /// Starts the copy of a range of bytes to the arena.
    ///
    /// # Safety
    /// The memory here must live, and nobody write it, until the stream has been waited for.
    pub(super) unsafe fn upload(
        &mut self,
        from: &mut Staging<D>,
        bytes: Range<usize>,
    ) -> Result<(), Error> {
        // SAFETY: the caller's; who drops the arena waits for the stream.
        unsafe { self.stream.upload(&mut from.pinned, &mut self.arena, bytes) }
    }

    /// Starts the copy of a range of bytes of the arena.
    ///
    /// # Safety
    /// The memory here must live, and nobody use it, until the stream has been waited for.
    pub(super) unsafe fn download(
        &mut self,
        to: &mut Staging<D>,
        bytes: Range<usize>,
    ) -> Result<(), Error> {
        // SAFETY: as in `upload`.
        unsafe { self.stream.download(&self.arena, &mut to.pinned, bytes) }
    }

    /// Writes the inputs of a whole ensemble.
    pub(super) fn put<T: Scalar>(
        &mut self,
        offsets: &Offsets,
        inputs: &Inputs<'_, T>,
        lists: &Lists<T>,
    ) -> Result<(), Error> {
        self.write_array(offsets.states, inputs.states())?;
        if !inputs.shares_params() {
            self.write_array(offsets.params, inputs.params())?;
        }
        if let Some(place) = offsets.spans {
            let spans: Vec<[T; 2]> = (0..inputs.len())
                .map(|s| inputs.span(s))
                .map(|(t0, t1)| [T::from_f64(t0), T::from_f64(t1)])
                .collect();
            let spans = spans.as_flattened();
            self.write_array(place, &ArrayRef::strided(spans, [inputs.len(), 2], [2, 1])?)?;
        }
        if let (Some(place), Some(steps)) = (offsets.first_steps, inputs.first_steps()) {
            self.write(place, steps)?;
        }
        if let Some(place) = offsets.levels {
            self.write(place, &lists.levels)?;
        }
        self.put_shared(offsets, inputs, lists)
    }

    /// The same of what all systems share.
    pub(super) fn put_shared<T: Scalar>(
        &mut self,
        offsets: &Offsets,
        inputs: &Inputs<'_, T>,
        lists: &Lists<T>,
    ) -> Result<(), Error> {
        if inputs.shares_params() {
            self.write(offsets.params, &inputs.params_of(0))?;
        }
        self.write(offsets.saves, &lists.saves)?;
        self.write(offsets.atol, &lists.atol)
    }

    /// Overwrites the arena from a byte on, component-major, after all work that was given.
    fn write_array<T: Scalar>(
        &mut self,
        place: usize,
        array: &ArrayRef<'_, T>,
    ) -> Result<(), Error> {
        let count = array.systems() * array.components();
        self.stream.fill(&mut self.arena, place, count, &|first, part: &mut [T]| {
            array.copy_from(first, part);
        })
    }

    /// Overwrites the arena from a byte on, after all work that was given.
    pub(super) fn write<T: Scalar>(&mut self, place: usize, values: &[T]) -> Result<(), Error> {
        if values.is_empty() {
            return Ok(());
        }
        self.write_array(place, &ArrayRef::of_systems(values, values.len(), 1))
    }

    /// Values from a byte of the arena on, after all work that was given.
    pub(super) fn get<V: Copy + Default>(
        &self,
        place: usize,
        count: usize,
    ) -> Result<Vec<V>, Error> {
        let mut values = vec![V::default(); count];
        self.stream.read(&self.arena, place, &mut values)?;
        Ok(values)
    }
}
