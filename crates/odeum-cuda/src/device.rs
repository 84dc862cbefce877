//! What kernels run on.

use super::memory::{Memory, Pinned};
use super::stream::Stream;
use super::tensor_map::{TensorMap, TensorMapLayout};
use odeum_core::Error;
use std::ffi::c_void;

/// A GPU, or in tests this computer in its place. Clones are the same device.
pub trait Device: Clone + Send + Sync + Sized + 'static {
    /// Memory of the device.
    type Memory: Memory;
    /// Page-locked memory of this computer.
    type Pinned: Pinned;
    /// A kernel, loaded.
    type Kernel: Kernel;
    /// Kernels under compilation; dropping them waits for the compiler.
    type Pending: Pending;
    /// A stream of work.
    type Stream: Stream<Device = Self>;
    /// An event of a stream, for which streams of any device can wait.
    type Event: Send + 'static;
    /// Work captured once and launched as one piece. The memory that it uses must outlive it.
    type Graph: 'static;

    /// The name that users know it by, as `cuda:0`.
    fn name(&self) -> String;

    /// What decides how kernels are laid out.
    fn limits(&self) -> Limits;

    /// Whether kernels may move registers between groups of warps and copy boxes by
    /// [tensor maps](TensorMap): GPUs of compute capability 9.0.
    fn has_warp_groups(&self) -> bool;

    /// Bytes of device memory for a caller that holds `idle` bytes which it can use again: these and what is
    /// free, up to the limit where one is set.
    ///
    /// # Errors
    /// When the driver fails.
    fn free_memory(&self, idle: usize) -> Result<usize, Error>;

    /// Memory of this many bytes, of whatever content.
    ///
    /// # Errors
    /// When there is not that much.
    fn reserve(&self, bytes: usize) -> Result<Self::Memory, Error>;

    /// Memory of this many bytes that no caller reads before it is written: all zero on a GPU, where that
    /// keeps the padding of rows finite; large numbers on the host device, where a read of them shows.
    ///
    /// # Errors
    /// When there is not that much.
    fn memory(&self, bytes: usize) -> Result<Self::Memory, Error>;

    /// Page-locked memory of this many bytes, of whatever content.
    ///
    /// # Errors
    /// When there is not that much.
    fn pinned(&self, bytes: usize) -> Result<Self::Pinned, Error>;

    /// Whether so many bytes from an address on lie in page-locked memory, whoever reserved it: copies to and from there need no
    /// other memory between.
    fn is_page_locked(&self, address: *const u8, bytes: usize) -> bool;

    /// A stream with nothing in it.
    ///
    /// # Errors
    /// When the driver fails.
    fn stream(&self) -> Result<Self::Stream, Error>;

    /// An event that has passed.
    ///
    /// # Errors
    /// When the driver fails.
    fn event(&self) -> Result<Self::Event, Error>;

    /// The field from an address of the device on, as an argument of kernels that copy boxes of it.
    ///
    /// # Errors
    /// When the driver refuses.
    fn tensor_map(&self, field: u64, layout: &TensorMapLayout) -> Result<TensorMap, Error>;

    /// Lets this device reach the memory of another one, where their connection allows it; else copies go
    /// through memory of the computer.
    ///
    /// # Errors
    /// When the driver fails.
    fn enable_peer_access(&self, other: &Self) -> Result<(), Error>;

    /// The kernels of these names in a text, if they were compiled before.
    fn cached(&self, source: &str, kernels: &[&str]) -> Option<Self::Pending>;

    /// Compiles them in a thread of their own, unless they were compiled before. The first kernel names the
    /// text in errors.
    fn compile_async(&self, source: &str, kernels: &[&str]) -> Self::Pending;

    /// Waits for kernels, and loads them, in the order of their names.
    ///
    /// # Errors
    /// No compiler, a text that it refuses, or a kernel that is not in it.
    fn wait(&self, pending: Self::Pending) -> Result<Vec<Self::Kernel>, Error>;

    /// The kernel of a text with one, compiled and loaded.
    ///
    /// # Errors
    /// As [`wait`](Device::wait).
    fn compile(&self, source: &str, kernel: &str) -> Result<Self::Kernel, Error> {
        let loaded = self.wait(self.compile_async(source, &[kernel]))?.pop();
        loaded.ok_or_else(|| Error::Cuda {
            doing: format!("loading {kernel}"),
            reason: "the text has no kernel".to_owned(),
        })
    }
}

/// A kernel, loaded on a device.
pub trait Kernel: Clone + Send + Sync + 'static {
    /// Allows this much dynamic shared memory, and gives the number of blocks of `threads` that a
    /// multiprocessor then holds at once.
    ///
    /// # Errors
    /// More than a block may have.
    fn prepare(&self, threads: usize, shared: usize) -> Result<usize, Error>;

    /// Asks for this much shared memory on a multiprocessor \[bytes\], as far as it has that and cache in one.
    ///
    /// # Errors
    /// When the driver fails.
    fn prefer_shared(&self, bytes: usize, limits: &Limits) -> Result<(), Error>;
}

/// Kernels under compilation.
pub trait Pending: Send + 'static {
    /// Whether nobody would have to wait for them.
    fn is_ready(&self) -> bool;
}

/// What of a device decides how kernels are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Shared memory of a multiprocessor \[bytes\].
    pub shared_per_multiprocessor: usize,
    /// Largest shared memory of a block \[bytes\].
    pub shared_per_block: usize,
}

impl Limits {
    /// An H100 or H200.
    pub const HOPPER: Limits = Limits {
        multiprocessors: 132,
        shared_per_multiprocessor: 228 * 1024,
        shared_per_block: 227 * 1024,
    };
}

/// A value as an argument of a kernel.
pub fn argument<V>(value: &V) -> *mut c_void {
    std::ptr::from_ref(value).cast_mut().cast()
}
