//! NVIDIA GPUs for Odeum: the only crate that uses CUDA.
//!
//! A [`Device`] compiles and runs kernels, and has memory and streams. There are two: [`Gpu`], through the
//! NVIDIA driver, and, behind the feature `host`, an emulation on the CPU (`host::Host`), on which tests
//! execute the same kernels and the same host code without a GPU.
//!
//! CUDA C++ source is compiled to machine code for the GPU at hand ([`Device::compile`]), once per machine: the
//! code is kept in the user's cache. Kernels, memory, streams and events are those of the driver. No CUDA
//! library is linked: without a driver programs work, and asking for a GPU is an error that says what is
//! missing.
//!
//! This crate also has what all device code needs: its scalar ([`REAL`]) and the builder of source text
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

pub use compile::{check, check_compiler};
pub use cubin::Resources;
pub use device::{Device, Kernel, Limits, Pending, argument};
pub use driver::{DeviceInfo, Gpu, check_gpus, devices};
pub use management::{gpus_here, least_free_memory};
pub use memory::{Memory, Pinned, too_little_memory};
pub use odeum_core::emit::literal;
pub use stream::{Rows, Stream};
pub use tensor_map::{TensorMap, TensorMapLayout};
pub use text::Text;

/// The scalar of device code and its elementary functions, after `#define OD_FLOAT`.
pub const REAL: &str = include_str!("device/real.cuh");
