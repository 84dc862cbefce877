//! Tensor maps: how kernels copy boxes of a field by one instruction.

/// How kernels copy a field of single-precision numbers in boxes, planes of cells one after the
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMapLayout {
    /// Cells of a row, rows of a plane, planes.
    pub sizes: [usize; 3],
    /// From a row to the next and from a plane to the next, multiples of 16 \[bytes\].
    pub strides: [usize; 2],
    /// Cells and rows of a box.
    pub box_sizes: [usize; 2],
}

/// A field that is copied in boxes, as an argument of kernels.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct TensorMap(pub [u64; 16]);
