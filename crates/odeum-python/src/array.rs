//! Arrays that Python reads where they lie.

use odeum_core::recycled::Recycled;
use odeum_ode::Stats;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::any::Any;
use std::ffi::{CStr, c_int, c_void};

/// A number as the buffer protocol names it.
pub(crate) trait Element: Send + Sync + 'static {
    /// Its format, as the module `struct` of Python has it.
    const FORMAT: &'static CStr;
    /// Bytes of one number.
    const SIZE: usize;
}

impl Element for f64 {
    const FORMAT: &'static CStr = c"d";
    const SIZE: usize = 8;
}

impl Element for f32 {
    const FORMAT: &'static CStr = c"f";
    const SIZE: usize = 4;
}

impl Element for u8 {
    const FORMAT: &'static CStr = c"B";
    const SIZE: usize = 1;
}

impl Element for u32 {
    const FORMAT: &'static CStr = c"I";
    const SIZE: usize = 4;
}

impl Element for Stats {
    const FORMAT: &'static CStr = u32::FORMAT;
    const SIZE: usize = u32::SIZE;
}

/// Several numbers in a row are numbers of one more dimension.
impl<T: Element, const N: usize> Element for [T; N] {
    const FORMAT: &'static CStr = T::FORMAT;
    const SIZE: usize = T::SIZE;
}

/// Numbers in memory of the extension, in C order. `numpy.asarray` shares that memory, which lives as long as
/// somebody looks at it.
#[pyclass(frozen, module = "odeum._odeum")]
pub(crate) struct Array {
    /// Frees the numbers; nobody reads them through it.
    _owner: Box<dyn Any + Send + Sync>,
    first: *mut c_void,
    len: isize,
    format: &'static CStr,
    size: isize,
    shape: Vec<isize>,
    strides: Vec<isize>,
}

// SAFETY: the numbers are reached by Python alone, through views that say themselves how they are shared, as
// those of any array of Python; this type reads and writes none.
unsafe impl Send for Array {}
// SAFETY: as above.
unsafe impl Sync for Array {}

impl Array {
    /// The numbers of a vector, whose count is the product of `shape`.
    pub(crate) fn new<T: Element>(values: impl Into<Recycled<T>>, shape: &[usize]) -> Array {
        let mut values = values.into();
        let len = size_of_val(&*values);
        debug_assert_eq!(len, shape.iter().product::<usize>() * T::SIZE);
        let first = values.as_mut_ptr().cast();
        let mut strides = vec![T::SIZE as isize; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis] as isize;
        }
        Array {
            _owner: Box::new(values),
            first,
            len: len as isize,
            format: T::FORMAT,
            size: T::SIZE as isize,
            shape: shape.iter().map(|&len| len as isize).collect(),
            strides,
        }
    }
}

#[pymethods]
impl Array {
    /// # Safety
    /// The interpreter's: `view` points to a view that is to be filled.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill"));
        }
        let array = slf.get();
        let asked = |flag: c_int| flags & flag == flag;
        let shape = array.shape.as_ptr().cast_mut();
        let strides = array.strides.as_ptr().cast_mut();
        // SAFETY: the view is the interpreter's to fill (above). Shape and strides live in the object, which
        // is frozen and which the view keeps alive; nobody writes to them.
        unsafe {
            (*view).buf = array.first;
            (*view).len = array.len;
            (*view).itemsize = array.size;
            (*view).readonly = 0;
            (*view).ndim = array.shape.len() as c_int;
            (*view).format = match asked(ffi::PyBUF_FORMAT) {
                true => array.format.as_ptr().cast_mut(),
                false => std::ptr::null_mut(),
            };
            (*view).shape = if asked(ffi::PyBUF_ND) { shape } else { std::ptr::null_mut() };
            (*view).strides =
                if asked(ffi::PyBUF_STRIDES) { strides } else { std::ptr::null_mut() };
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }
}
