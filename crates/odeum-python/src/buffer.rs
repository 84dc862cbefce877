//! Numbers of Python's arrays.

use odeum_case::CellArray;
use odeum_core::{Error, Scalar};
use odeum_io::cells::Numbers;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The numbers of a one-dimensional array of doubles, whatever its strides.
pub(crate) fn numbers(py: Python<'_>, array: &PyBuffer<f64>) -> PyResult<Vec<f64>> {
    array.to_vec(py)
}

/// Numbers of M systems with n components each, in the memory of an array of Python: [M, n], or \[M\] with
/// one component. Strides may be zero or negative.
///
/// Python goes on while threads of ours are at work here, and may hold other views of the same memory, or an
/// array whose numbers share places. So no slice is made of it: every number is loaded and stored as an atomic
/// one, in any order, which costs no more than a plain one. Who writes to the array meanwhile gets one of the
/// two numbers; it is never undefined what our own threads do.
pub(crate) struct View {
    /// Keeps the memory.
    _array: PyBuffer<f64>,
    first: *mut u64,
    systems: usize,
    components: usize,
    /// From a system, and from a component, to the next \[numbers\].
    strides: [isize; 2],
}

// SAFETY: the numbers are reached as atomic ones alone, and the buffer may be sent and shared.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

const SIZE: isize = size_of::<f64>() as isize;

impl View {
    /// The numbers of an array that is read.
    pub(crate) fn read(name: &'static str, array: PyBuffer<f64>) -> Result<View, Error> {
        let shape = array.shape();
        let (systems, components, axes) = match *shape {
            [] => (1, 1, [0, 0]),
            [systems] => (systems, 1, [array.strides()[0], 0]),
            [systems, components] => {
                (systems, components, [array.strides()[0], array.strides()[1]])
            }
            _ => {
                let found = format!("{} axes", shape.len());
                return Err(Error::input(name, found, "give one or two"));
            }
        };
        let first: *mut u64 = array.buf_ptr().cast();
        // Atomic numbers have their own alignment.
        let is_aligned = first.is_aligned() && axes.iter().all(|stride| stride % SIZE == 0);
        if !is_aligned {
            return Err(Error::input(name, "numbers that are not aligned", "give a copy of it"));
        }
        let strides = axes.map(|stride| stride / SIZE);
        Ok(View { _array: array, first, systems, components, strides })
    }

    /// The numbers of an array that is written to.
    pub(crate) fn write(name: &'static str, array: PyBuffer<f64>) -> Result<View, Error> {
        if array.readonly() {
            return Err(Error::input(name, "a read-only array", "give a copy of it"));
        }
        let view = View::read(name, array)?;
        if !is_apart([view.systems, view.components], view.strides) {
            return Err(Error::input(name, "numbers that share places", "give a copy of it"));
        }
        Ok(view)
    }

    /// Number of systems M.
    pub(crate) fn systems(&self) -> usize {
        self.systems
    }

    /// Number of components n.
    pub(crate) fn components(&self) -> usize {
        self.components
    }

    #[inline(always)]
    fn place(&self, system: usize, component: usize) -> &AtomicU64 {
        assert!(system < self.systems && component < self.components);
        let [by_system, by_component] = self.strides;
        let offset = system as isize * by_system + component as isize * by_component;
        // SAFETY: the place lies in the array, as its own shape and strides have it; it is aligned (`read`),
        // stays as long as `_array`, and this type reaches it as an atomic number alone.
        unsafe { AtomicU64::from_ptr(self.first.offset(offset)) }
    }

    /// A component of a system.
    #[inline(always)]
    pub(crate) fn get(&self, system: usize, component: usize) -> f64 {
        f64::from_bits(self.place(system, component).load(Ordering::Relaxed))
    }

    /// Copies a component of systems from one on, as many as there is room for; of a view of one system that one.
    pub(crate) fn copy<T: Scalar>(&self, component: usize, first: usize, to: &mut [T]) {
        if self.systems == 1 {
            return to.fill(T::from_f64(self.get(0, component)));
        }
        assert!(component < self.components && first + to.len() <= self.systems);
        let [by_system, by_component] = self.strides;
        let mut offset = first as isize * by_system + component as isize * by_component;
        for value in to {
            // SAFETY: as in `place`, by the bounds above.
            let number = unsafe { AtomicU64::from_ptr(self.first.offset(offset)) };
            *value = T::from_f64(f64::from_bits(number.load(Ordering::Relaxed)));
            offset += by_system;
        }
    }

    /// Puts a component of a system; of an array that may be written to.
    #[inline(always)]
    pub(crate) fn set(&self, system: usize, component: usize, value: f64) {
        self.place(system, component).store(value.to_bits(), Ordering::Relaxed);
    }
}

/// True where no two numbers of two axes share a place.
pub(crate) fn is_apart(counts: [usize; 2], strides: [isize; 2]) -> bool {
    let mut axes: Vec<(usize, usize)> = (0..2)
        .filter(|&axis| counts[axis] > 1)
        .map(|axis| (strides[axis].unsigned_abs(), counts[axis]))
        .collect();
    axes.sort_unstable();
    let mut reach = 0;
    axes.into_iter().all(|(stride, count)| {
        let apart = stride > reach;
        reach += stride * (count - 1);
        apart
    })
}

/// An array with a number for each cell, in C order, as wide as it is.
pub(crate) fn cells(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<CellArray> {
    let (shape, numbers) = match PyBuffer::<f32>::get(array) {
        Ok(single) => (single.shape().to_vec(), Numbers::Single(single.to_vec(py)?)),
        Err(_) => {
            let double = PyBuffer::<f64>::get(array)?;
            (double.shape().to_vec(), Numbers::Double(double.to_vec(py)?))
        }
    };
    Ok(CellArray { shape, numbers: Arc::new(numbers) })
}
