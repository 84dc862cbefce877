//! Kernels in the memory of a GPU.

use crate::device::Limits;
use crate::library::failed;
use cudarc::driver::CudaFunction;
use cudarc::driver::sys::CUfunction_attribute_enum as Attribute;
use odeum_core::Error;

/// A kernel in the memory of a GPU.
#[derive(Clone)]
pub struct Kernel {
    pub(super) function: CudaFunction,
    pub(super) name: String,
}

impl crate::device::Kernel for Kernel {
    fn prepare(&self, threads: usize, shared: usize) -> Result<usize, Error> {
        let doing = || failed(format!("preparing {}", self.name));
        if shared > 0 {
            let most = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            self.function.set_attribute(most, shared as i32).map_err(doing())?;
        }
        let blocks = self.function.occupancy_max_active_blocks_per_multiprocessor(
            threads as u32,
            shared,
            None,
        );
        Ok((blocks.map_err(doing())? as usize).max(1))
    }

    fn prefer_shared(&self, bytes: usize, limits: &Limits) -> Result<(), Error> {
        // In percent; the driver takes the next larger of some sizes.
        let fraction = Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        let percent = (100 * bytes).div_ceil(limits.shared_per_multiprocessor).min(100);
        let set = self.function.set_attribute(fraction, percent as i32);
        set.map_err(failed(format!("preparing {}", self.name)))
    }
}
