//! NVIDIA GPUs: the only place that knows CUDA.

/// Which GPUs to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuda {
    /// Numbers of the GPUs, as the driver counts them; several split one ensemble.
    pub ordinals: Vec<usize>,
}
