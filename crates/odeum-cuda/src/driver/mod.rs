//! Devices by the NVIDIA driver.

mod gpu;
mod kernel;
mod memory;
mod pending;
mod staging;
mod stream;

pub use gpu::{DeviceInfo, Gpu, check_gpus, devices};
pub use kernel::Kernel;
pub use memory::{Memory, Pinned};
pub use pending::Pending;
pub use stream::{Event, Graph, Stream};
