//! NVIDIA GPUs for Odeum: the only crate that knows CUDA.
//!
//! A text of CUDA C++ becomes machine code for the GPU at hand ([`Gpu::compile`]), once per machine: the
//! code is kept in the user's cache. Kernels, memory, streams and events are those of the driver. Nothing
//! CUDA is linked: without a driver programs work, and asking for a GPU is an error that says what is
//! missing.
//!
//! What device code needs everywhere stands here too: its scalar ([`REAL`]), the builder of texts
//! ([`Text`]), and the shim that makes a kernel plain C++ ([`HOST_SHIM`]), which tests run without a GPU.

mod cache;
mod compile;
mod cubin;
mod gpu;
mod kernel;
mod library;
mod lock;
mod memory;
mod pending;
mod staging;
mod stream;
mod tensor_map;
mod text;

pub use compile::{assembly, check};
pub use cubin::Resources;
pub use gpu::{DeviceInfo, Gpu, Limits, devices};
pub use kernel::Kernel;
pub use lock::lock;
pub use memory::{Memory, Pinned};
pub use pending::Pending;
pub use stream::{Event, Graph, Stream};
pub use tensor_map::{Boxes, TensorMap};
pub use text::{Text, literal};

/// The scalar of device code and its elementary functions, after `#define OD_FLOAT`.
pub const REAL: &str = include_str!("device/real.cuh");

/// What makes a kernel plain C++, to stand before its text.
pub const HOST_SHIM: &str = include_str!("device/host_shim.h");
