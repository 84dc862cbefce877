//! The structures of DLPack (dlpack.h, versions 0.x and 1.x).

use std::ffi::{CStr, c_void};

/// `kDLCUDA` and `kDLCUDAManaged`.
pub(crate) const ON_GPUS: [i32; 2] = [2, 13];
/// `kDLFloat`.
pub(crate) const FLOAT: u8 = 2;
/// `DLPACK_FLAG_BITMASK_READ_ONLY` and `..._IS_COPIED`.
pub(crate) const READ_ONLY: u64 = 1;
pub(crate) const IS_COPIED: u64 = 2;
/// The version that is understood; later ones of the same major version have the same structures.
pub(crate) const MAJOR: u32 = 1;

/// Names of the capsules that hold a [`Managed`] and a [`Versioned`].
pub(crate) const MANAGED: &CStr = c"dltensor";
pub(crate) const VERSIONED: &CStr = c"dltensor_versioned";

/// `DLTensor`.
#[repr(C)]
pub(crate) struct Tensor {
    pub(crate) data: *mut c_void,
    pub(crate) device_type: i32,
    pub(crate) device_id: i32,
    pub(crate) ndim: i32,
    pub(crate) code: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
    pub(crate) shape: *const i64,
    pub(crate) strides: *const i64,
    pub(crate) byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
pub(crate) struct Managed {
    pub(crate) tensor: Tensor,
    pub(crate) context: *mut c_void,
    pub(crate) deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
pub(crate) struct Versioned {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) context: *mut c_void,
    pub(crate) deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    pub(crate) flags: u64,
    pub(crate) tensor: Tensor,
}
