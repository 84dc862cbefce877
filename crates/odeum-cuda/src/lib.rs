//! NVIDIA GPUs for Odeum: the only crate that knows CUDA.
//!
//! A [`Device`] compiles and runs kernels, and has memory and streams. There are two: [`Gpu`], by the
//! NVIDIA driver, and, behind the feature `host`, this computer in its place (`host::Host`), on which tests
//! execute the same kernels and the same drivers of them without a GPU.
//!
//! A text of CUDA C++ becomes machine code for the GPU at hand ([`Device::compile`]), once per machine: the
//! code is kept in the user's cache. Kernels, memory, streams and events are those of the driver. Nothing
//! CUDA is linked: without a driver programs work, and asking for a GPU is an error that says what is
//! missing.
//!
//! What device code needs everywhere stands here too: its scalar ([`REAL`]) and the builder of texts
//! ([`Text`]).

mod cache;
mod compile;
mod cubin;
mod device;
pub mod driver;
#[cfg(feature = "host")]
pub mod host;
mod library;
mod management;
mod memory;
mod stream;
mod tensor_map;
mod text;

pub use compile::check;
pub use cubin::Resources;
pub use device::{Device, Kernel, Limits, Pending, argument};
pub use driver::{DeviceInfo, Gpu, devices};
pub use management::least_free_memory;
pub use memory::{Memory, Pinned};
pub use stream::{Rows, Stream};
pub use tensor_map::{TensorMap, TensorMapLayout};
pub use text::{Text, literal};

/// The scalar of device code and its elementary functions, after `#define OD_FLOAT`.
pub const REAL: &str = include_str!("device/real.cuh");
