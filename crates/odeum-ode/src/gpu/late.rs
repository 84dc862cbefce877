//! Results of systems that ended after those beside them were downloaded (device/late.cuh).

use super::arena::{Offsets, Shape};
use super::source;
use odeum_core::Error;
use odeum_cuda::{Device, Kernel, Memory, Stream, Text, argument};

const LATE: &str = include_str!("device/late.cuh");
/// Arrays of results, at most.
const ARRAYS: usize = 7;
/// Threads of a block, each with a system.
const BLOCK: usize = 128;

/// The kernel that gathers them.
pub(super) struct Late<D: Device>(D::Kernel);

/// As `OdRows`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Rows {
    from: u64,
    to: u64,
    rows: u32,
    bytes: u32,
}

/// As `OdLate`.
#[repr(C)]
struct Arguments {
    arrays: [Rows; ARRAYS],
    systems: u64,
    n_systems: u32,
    stride: u32,
}

impl<D: Device> Late<D> {
    pub(super) fn new(device: &D) -> Result<Self, Error> {
        let mut text = Text::default();
        text.define("OD_ARRAYS", ARRAYS);
        text.define("OD_LATE_BLOCK", BLOCK);
        let kernel = device.compile(&source::of_none(text, LATE), "od_gather_late")?;
        kernel.prepare(BLOCK, 0)?;
        Ok(Late(kernel))
    }

    /// Lets a stream gather the results of the systems at these places of an arena, which has as much room for each component, to an arena of
    /// theirs alone, which begins at a byte of the same memory.
    ///
    /// # Safety
    /// The memory must live until the stream has been waited for; nobody writes these results, or uses that room.
    pub(super) unsafe fn gather(
        &self,
        stream: &D::Stream,
        memory: &mut D::Memory,
        shape: &Shape,
        (offsets, stride): (&Offsets, usize),
        (places, room): (&[u32], usize),
    ) -> Result<(), Error> {
        stream.write(memory, room, places)?;
        let at = |place: usize| memory.address() + place as u64;
        let of_late = Offsets::new(shape, places.len());
        let mut arrays = [Rows::default(); ARRAYS];
        let both = offsets.outputs(shape).into_iter().zip(of_late.outputs(shape));
        debug_assert!(both.len() <= ARRAYS, "none is left out");
        for (array, ((from, rows, bytes), (to, _, _))) in arrays.iter_mut().zip(both) {
            let (from, to) = (at(from), at(room + to));
            *array = Rows { from, to, rows: rows as u32, bytes: bytes as u32 };
        }
        let (n_systems, stride) = (places.len() as u32, stride as u32);
        let task = Arguments { arrays, systems: at(room), n_systems, stride };
        let blocks = [places.len().div_ceil(BLOCK), 1, 1];
        // SAFETY: the kernel takes the structure that `Arguments` mirrors; of the memory the caller answers for.
        unsafe { stream.launch(&self.0, blocks, [BLOCK, 1], 0, &mut [argument(&task)]) }
    }
}
