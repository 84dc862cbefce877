//! Arrays on GPUs, as other libraries lend them, or borrow ours, by DLPack.

use crate::buffer::is_apart;
use crate::dlpack::{
    FLOAT, IS_COPIED, MAJOR, MANAGED, Managed, ON_GPUS, READ_ONLY, Tensor, VERSIONED, Versioned,
};
use crate::failure::exception;
use crate::loan;
use pyo3::exceptions::{PyBufferError, PyIndexError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::ptr::null;
use std::sync::Arc;

const SIZE: isize = size_of::<f64>() as isize;

/// What a producer lent; given back when dropped.
enum Lent {
    Managed(*mut Managed),
    Versioned(*mut Versioned),
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: the structure is ours since its capsule was renamed, and is given back once, here.
        unsafe {
            match *self {
                Lent::Managed(managed) => (*managed).deleter.map(|delete| delete(managed)),
                Lent::Versioned(managed) => (*managed).deleter.map(|delete| delete(managed)),
            }
        };
    }
}

// SAFETY: nobody changes the structure while it is lent, and DLPack lets any thread give it back.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

/// Why an array cannot be used: what was found, and what to do.
type Refusal = (String, String);

fn refuse<T>(found: impl Into<String>, remedy: impl Into<String>) -> Result<T, Refusal> {
    Err((found.into(), remedy.into()))
}

impl Lent {
    /// Takes what a capsule holds, and renames it so that nobody else does; `None` of what is no such capsule, or was taken.
    fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Option<Lent>> {
        let pointer = capsule.as_ptr();
        let take = |name: &CStr, used: &'static CStr| {
            // SAFETY: any object may be asked for its name. It is a capsule of that one then, which holds the structure that
            // DLPack says, and gets a name that is static.
            unsafe {
                if ffi::PyCapsule_IsValid(pointer, name.as_ptr()) != 1 {
                    return Ok(None);
                }
                let held = ffi::PyCapsule_GetPointer(pointer, name.as_ptr());
                match ffi::PyCapsule_SetName(pointer, used.as_ptr()) {
                    0 => Ok(Some(held)),
                    _ => Err(PyErr::fetch(capsule.py())),
                }
            }
        };
        if let Some(held) = take(VERSIONED, c"used_dltensor_versioned")? {
            return Ok(Some(Lent::Versioned(held.cast())));
        }
        let held = take(MANAGED, c"used_dltensor")?;
        Ok(held.map(|held| Lent::Managed(held.cast())))
    }

    /// The array and its flags.
    fn tensor(&self) -> Result<(&Tensor, u64), Refusal> {
        match *self {
            // SAFETY: the producer's structure, which lives as long as `self`.
            Lent::Managed(managed) => Ok((unsafe { &(*managed).tensor }, 0)),
            Lent::Versioned(managed) => {
                // SAFETY: as above; of another major version only what stands before the flags is where it was.
                let major = unsafe { (*managed).major };
                if major != MAJOR {
                    return refuse(
                        format!("DLPack {major}"),
                        format!("give an array of DLPack {MAJOR}"),
                    );
                }
                // SAFETY: as above.
                Ok(unsafe { (&(*managed).tensor, (*managed).flags) })
            }
        }
    }
}

/// Numbers in memory of a GPU.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct GpuArray {
    /// Keeps the memory.
    pub(crate) owner: Arc<dyn Any + Send + Sync>,
    /// Where its first number lies.
    pub(crate) address: u64,
    pub(crate) shape: Vec<usize>,
    /// From a number to the next along each axis \[numbers\].
    pub(crate) strides: Vec<isize>,
    /// Of a number.
    pub(crate) bits: u8,
    /// Number of the GPU.
    pub(crate) gpu: usize,
    /// It may be written to, and no two numbers share a place.
    pub(crate) is_written: bool,
}

#[pymethods]
impl GpuArray {
    /// Takes what a capsule of DLPack holds: doubles on a GPU, which are written to where `is_written`.
    #[new]
    fn new(
        py: Python<'_>,
        field: &str,
        capsule: &Bound<'_, PyAny>,
        gpu: usize,
        is_written: bool,
    ) -> PyResult<GpuArray> {
        let array = match Lent::take(capsule)? {
            Some(lent) => GpuArray::of(lent, gpu, is_written),
            None => refuse(
                "no capsule of DLPack, or one that was used",
                "give an array that DLPack lends",
            ),
        };
        array.map_err(|(found, remedy)| exception(py, "InputError", (field, found, remedy)))
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// The same numbers, the axes in reverse order.
    #[getter(T)]
    fn transposed(&self) -> GpuArray {
        let reversed = |axes: &[usize]| axes.iter().rev().copied().collect();
        self.view(0, reversed(&self.shape), self.strides.iter().rev().copied().collect())
    }

    /// The same numbers, with the last axis split into some of these lengths, before all others.
    fn split_last(&self, lengths: Vec<usize>) -> PyResult<GpuArray> {
        let product = lengths.iter().try_fold(1_usize, |all, len| all.checked_mul(*len));
        let (Some((last, first)), Some((by, strides))) =
            (self.shape.split_last(), self.strides.split_last())
        else {
            return Err(PyValueError::new_err("no axis to split"));
        };
        if product != Some(*last) {
            return Err(PyValueError::new_err("lengths that do not fit"));
        }
        let mut split = vec![*by; lengths.len()];
        for axis in (1..lengths.len()).rev() {
            split[axis - 1] = split[axis] * lengths[axis] as isize;
        }
        Ok(self.view(0, [&lengths, first].concat(), [&split, strides].concat()))
    }

    /// The numbers at a place along the first axis.
    fn __getitem__(&self, place: usize) -> PyResult<GpuArray> {
        let (Some((len, shape)), Some((by, strides))) =
            (self.shape.split_first(), self.strides.split_first())
        else {
            return Err(PyIndexError::new_err("an array without axes"));
        };
        if place >= *len {
            return Err(PyIndexError::new_err(format!("{place} of {len}")));
        }
        Ok(self.view(place as isize * by, shape.to_vec(), strides.to_vec()))
    }

    /// No copy to the CPU unless it is asked for.
    #[pyo3(signature = (*_arguments, **_options))]
    fn __array__(
        &self,
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let message = format!(
            "it lies on cuda:{}: borrow it there (torch.from_dlpack, cupy.from_dlpack, ...), or copy it by `to_host` of the \
             solution or `states` of the session",
            self.gpu
        );
        Err(PyTypeError::new_err(message))
    }

    fn __repr__(&self) -> String {
        let GpuArray { shape, bits, gpu, .. } = self;
        format!("<odeum GpuArray {shape:?} of float{bits} on cuda:{gpu}>")
    }

    /// Where it lies, as DLPack says it.
    fn __dlpack_device__(&self) -> (i32, usize) {
        (ON_GPUS[0], self.gpu)
    }

    /// Lends the memory, which lives as long as somebody has it. What was written there is there: no `stream` has to wait.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, usize)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = stream;
        if copy == Some(true) || dl_device.is_some_and(|device| device != self.__dlpack_device__())
        {
            let message =
                format!("it is lent on cuda:{}, and as it is: copy what you borrowed", self.gpu);
            return Err(PyBufferError::new_err(message));
        }
        let is_versioned = max_version.is_some_and(|(major, _)| major >= MAJOR);
        if !self.is_written && !is_versioned {
            let message =
                "it is read-only, which DLPack says from version 1 on: ask with max_version";
            return Err(PyBufferError::new_err(message));
        }
        let tensor = Tensor {
            data: self.address as *mut c_void,
            device_type: ON_GPUS[0],
            device_id: self.gpu as i32,
            ndim: self.shape.len() as i32,
            code: FLOAT,
            bits: self.bits,
            lanes: 1,
            shape: null(),
            strides: null(),
            byte_offset: 0,
        };
        let flags = if self.is_written { 0 } else { READ_ONLY };
        let (shape, strides) = (&self.shape[..], &self.strides[..]);
        match is_versioned {
            true => loan::capsule::<Versioned>(py, tensor, (shape, strides), flags, &self.owner),
            false => loan::capsule::<Managed>(py, tensor, (shape, strides), flags, &self.owner),
        }
    }

    /// The same for Numba and others that do not ask for DLPack.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bytes = isize::from(self.bits / 8);
        let strides: Vec<isize> = self.strides.iter().map(|stride| stride * bytes).collect();
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("strides", PyTuple::new(py, strides)?)?;
        interface.set_item("typestr", format!("<f{bytes}"))?;
        interface.set_item("data", (self.address, !self.is_written))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

impl GpuArray {
    /// Numbers of it, from one on.
    fn view(&self, first: isize, shape: Vec<usize>, strides: Vec<isize>) -> GpuArray {
        let GpuArray { bits, gpu, is_written, .. } = *self;
        let bytes = first * isize::from(bits / 8);
        let address = self.address.wrapping_add_signed(bytes as i64);
        GpuArray { owner: self.owner.clone(), address, shape, strides, bits, gpu, is_written }
    }

    fn of(lent: Lent, gpu: usize, is_written: bool) -> Result<GpuArray, Refusal> {
        let (tensor, flags) = lent.tensor()?;
        if !ON_GPUS.contains(&tensor.device_type) || usize::try_from(tensor.device_id) != Ok(gpu) {
            let found = format!("memory of device {}:{}", tensor.device_type, tensor.device_id);
            return refuse(found, format!("give an array on cuda:{gpu}"));
        }
        if (tensor.code, tensor.bits, tensor.lanes) != (FLOAT, 64, 1) {
            let kind = match tensor.code {
                0 => "int",
                1 => "uint",
                FLOAT => "float",
                5 => "complex",
                6 => "bool",
                _ => "other",
            };
            let found = format!("an array of {kind}{}", tensor.bits);
            return refuse(found, "give float64: kernels read it, and write to it, in place");
        }
        if is_written && flags & (READ_ONLY | IS_COPIED) != 0 {
            let found = if flags & READ_ONLY != 0 { "a read-only array" } else { "a copy" };
            return refuse(
                found,
                "give an array that can be written to in place, as one of CuPy or PyTorch",
            );
        }
        let (shape, strides) = axes(tensor)?;
        let is_empty = shape.contains(&0);
        if tensor.data.is_null() && !is_empty {
            return refuse("no memory", "give an array that has some");
        }
        let address = (tensor.data as u64).checked_add(tensor.byte_offset);
        let address = address.filter(|address| reaches(*address, &shape, &strides));
        let Some(address) = address else {
            return refuse("strides that leave memory", "give an array that lies in memory");
        };
        if !address.is_multiple_of(SIZE as u64) {
            return refuse("numbers that are not aligned", "give a copy of it");
        }
        let of = |axis: usize| {
            (shape.get(axis).copied().unwrap_or(1), strides.get(axis).copied().unwrap_or(0))
        };
        let ((n, by), (m, across)) = (of(0), of(1));
        if is_written && !is_apart([n, m], [by, across]) {
            return refuse("numbers that share places", "give a copy of it");
        }
        let owner = Arc::new(lent);
        Ok(GpuArray { owner, address, shape, strides, bits: 64, gpu, is_written })
    }
}

/// Lengths and strides of at most two axes.
fn axes(tensor: &Tensor) -> Result<(Vec<usize>, Vec<isize>), Refusal> {
    let ndim = match usize::try_from(tensor.ndim) {
        Ok(ndim @ 0..=2) => ndim,
        _ => return refuse(format!("{} axes", tensor.ndim), "give one or two"),
    };
    if ndim > 0 && tensor.shape.is_null() {
        return refuse("no shape", "give an array that has one");
    }
    let mut shape = Vec::with_capacity(ndim);
    for axis in 0..ndim {
        // SAFETY: the producer's shape has a length for each axis.
        let len = unsafe { *tensor.shape.add(axis) };
        match usize::try_from(len) {
            Ok(len) => shape.push(len),
            Err(_) => {
                return refuse(format!("an axis of length {len}"), "give lengths of zero or more");
            }
        }
    }
    let in_c_order = [shape.get(1).map_or(1, |&len| len as isize), 1];
    let stride = |axis: usize| match tensor.strides.is_null() {
        true => in_c_order[axis],
        // SAFETY: the producer's strides have a number for each axis.
        false => signed(unsafe { *tensor.strides.add(axis) }) as isize,
    };
    let strides = (0..ndim).map(stride).collect();
    Ok((shape, strides))
}

/// A stride as it was meant: CuPy 14 divides those in bytes without their sign, so that −1 comes as 2⁶¹ − 1.
fn signed(stride: i64) -> i64 {
    const TURN: i64 = 1 << 61;
    if (TURN / 2..TURN).contains(&stride) { stride - TURN } else { stride }
}

/// Whether all numbers have addresses.
fn reaches(address: u64, shape: &[usize], strides: &[isize]) -> bool {
    let (mut low, mut high) = (i128::from(address), i128::from(address));
    for (&len, &stride) in shape.iter().zip(strides) {
        // Of two words at most: what is beyond them is beyond memory.
        let steps = (len as i128 - 1).max(0);
        let far = steps.saturating_mul(stride as i128).saturating_mul(SIZE as i128);
        (low, high) = (low.saturating_add(far.min(0)), high.saturating_add(far.max(0)));
    }
    low >= 0 && high <= i128::from(i64::MAX)
}
