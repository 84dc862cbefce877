//! The two libraries that a GPU needs, loaded when the program runs, and what calls of them fail with.
//!
//! cudarc panics when it calls into a library that is not there, so every path into CUDA begins
//! with [`need_driver`] or [`need_compiler`].

use cudarc::driver::DriverError;
use odeum_core::Error;
use std::sync::OnceLock;

/// `Ok` when the NVIDIA driver's library can be loaded.
pub(crate) fn need_driver(device: &str) -> Result<(), Error> {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: loads the library and lets it go; its initialisers are the driver's own.
    if *PRESENT.get_or_init(|| unsafe { cudarc::driver::sys::is_culib_present() }) {
        return Ok(());
    }
    Err(Error::Device {
        device: device.to_owned(),
        reason: format!("no NVIDIA driver: {}", sought("libcuda.so.1 (libcuda.so)")),
        remedy: "install the NVIDIA driver, version 580 or newer, and see that `nvidia-smi` \
                 lists the GPU; in a container, start it with access to the GPU"
            .to_owned(),
    })
}

/// `Ok` when the run-time compiler's library can be loaded.
pub(crate) fn need_compiler(device: &str) -> Result<(), Error> {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    // SAFETY: loads the library and lets it go; its initialisers are the compiler's own.
    if *PRESENT.get_or_init(|| unsafe { cudarc::nvrtc::sys::is_culib_present() }) {
        return Ok(());
    }
    Err(Error::Device {
        device: device.to_owned(),
        reason: format!("no CUDA run-time compiler: {}", sought("libnvrtc.so.13 (libnvrtc.so)")),
        remedy: "`pip install nvidia-cuda-nvrtc==13.0.88` and put its folder, \
                 …/site-packages/nvidia/cu13/lib, on LD_LIBRARY_PATH before the program starts; \
                 or install the CUDA toolkit 13"
            .to_owned(),
    })
}

/// A driver error with what was being done.
pub(crate) fn failed(doing: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
    let doing = doing.into();
    move |error| Error::Cuda { doing, reason: error.to_string() }
}

/// Which library was looked for, and where the loader looks.
fn sought(library: &str) -> String {
    let path = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let path = if path.is_empty() { "is not set".to_owned() } else { format!("is {path}") };
    format!(
        "{library} was found neither on LD_LIBRARY_PATH (which {path}) nor in the system's \
         library folders (/etc/ld.so.cache, /lib, /usr/lib)"
    )
}
