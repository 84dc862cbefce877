//! What is lent of a GPU to other libraries, by DLPack.

use crate::dlpack::{MAJOR, MANAGED, Managed, Tensor, VERSIONED, Versioned};
use pyo3::ffi;
use pyo3::prelude::*;
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

/// A structure of DLPack with what it points to, and with what keeps the memory.
struct Loan<M> {
    managed: M,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _owner: Arc<dyn Any + Send + Sync>,
}

/// What a capsule holds: a structure that says how it is given back.
pub(crate) trait Structure: Sized {
    /// Of its capsule.
    const NAME: &'static CStr;
    fn made(tensor: Tensor, flags: u64) -> Self;
    fn tensor(&mut self) -> &mut Tensor;
    fn context(&mut self) -> &mut *mut c_void;
}

impl Structure for Managed {
    const NAME: &'static CStr = MANAGED;

    fn made(tensor: Tensor, _flags: u64) -> Managed {
        Managed { tensor, context: null_mut(), deleter: Some(give_back::<Managed>) }
    }

    fn tensor(&mut self) -> &mut Tensor {
        &mut self.tensor
    }

    fn context(&mut self) -> &mut *mut c_void {
        &mut self.context
    }
}

impl Structure for Versioned {
    const NAME: &'static CStr = VERSIONED;

    fn made(tensor: Tensor, flags: u64) -> Versioned {
        let deleter = Some(give_back::<Versioned> as _);
        Versioned { major: MAJOR, minor: 0, context: null_mut(), deleter, flags, tensor }
    }

    fn tensor(&mut self) -> &mut Tensor {
        &mut self.tensor
    }

    fn context(&mut self) -> &mut *mut c_void {
        &mut self.context
    }
}

/// A capsule that lends the memory of an array, and keeps its owner; shape and strides are given beside the tensor.
pub(crate) fn capsule<'py, M: Structure>(
    py: Python<'py>,
    tensor: Tensor,
    (shape, strides): (&[usize], &[isize]),
    flags: u64,
    owner: &Arc<dyn Any + Send + Sync>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut loan = Box::new(Loan {
        managed: M::made(tensor, flags),
        shape: shape.iter().map(|&len| len as i64).collect(),
        strides: strides.iter().map(|&stride| stride as i64).collect(),
        _owner: owner.clone(),
    });
    let (shape, strides) = (loan.shape.as_ptr(), loan.strides.as_ptr());
    (loan.managed.tensor().shape, loan.managed.tensor().strides) = (shape, strides);
    let loan = Box::into_raw(loan);
    // SAFETY: nobody else has the loan yet. A capsule of this name holds a structure of this kind, which whoever takes it
    // gives back by its deleter; `forget` does where nobody took it.
    unsafe {
        *(*loan).managed.context() = loan.cast();
        let capsule = ffi::PyCapsule_New(
            (&raw mut (*loan).managed).cast(),
            M::NAME.as_ptr(),
            Some(forget::<M>),
        );
        if capsule.is_null() {
            drop(Box::from_raw(loan));
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Ends a loan.
///
/// # Safety
/// `managed` is that of a loan that goes on, and nobody uses it any more.
unsafe extern "C" fn give_back<M: Structure>(managed: *mut M) {
    // SAFETY: the caller's promise; the context of a loan is itself.
    unsafe { drop(Box::from_raw((*(*managed).context()).cast::<Loan<M>>())) };
}

/// Ends the loan of a capsule that nobody took.
///
/// # Safety
/// The interpreter's: `capsule` is one of [`capsule`], at its end.
unsafe extern "C" fn forget<M: Structure>(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule of this name holds a structure of its kind; one that was taken has another name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) == 1 {
            give_back::<M>(ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast());
        }
    }
}
