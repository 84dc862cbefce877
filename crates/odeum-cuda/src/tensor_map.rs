//! Tensor maps: how kernels copy boxes of a field by one instruction.

use super::gpu::Gpu;
use super::library::failed;
use cudarc::driver::sys;
use odeum_core::Error;
use std::ffi::c_void;

/// How kernels copy a field of single-precision numbers in boxes, planes of cells one after the
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boxes {
    /// Cells of a row, rows of a plane, planes.
    pub sizes: [usize; 3],
    /// From a row to the next and from a plane to the next, multiples of 16 \[bytes\].
    pub strides: [usize; 2],
    /// Cells and rows of a box.
    pub cells: [usize; 2],
}

/// A field that is copied in boxes, as an argument of kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct TensorMap(pub [u64; 16]);

impl Gpu {
    /// A field from this address on, as an argument of kernels that copy boxes of it.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn tensor_map(&self, field: u64, boxes: &Boxes) -> Result<TensorMap, Error> {
        self.bind()?;
        let mut map = TensorMap([0; 16]);
        let (sizes, strides) = (boxes.sizes.map(|n| n as u64), boxes.strides.map(|n| n as u64));
        let cells = [boxes.cells[0] as u32, boxes.cells[1] as u32, 1];
        // SAFETY: `map` has the size and the alignment of a tensor map; the lists have as many
        // entries as there are axes. The driver writes the map and keeps no pointer.
        unsafe {
            sys::cuTensorMapEncodeTiled(
                (&raw mut map).cast(),
                sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                3,
                field as *mut c_void,
                sizes.as_ptr(),
                strides.as_ptr(),
                cells.as_ptr(),
                [1; 3].as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        }
        .result()
        .map_err(failed("mapping a field"))?;
        Ok(map)
    }
}
