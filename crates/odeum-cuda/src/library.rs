//! The two libraries that a GPU needs, loaded when the program runs, and what calls of them fail with.
//!
//! cudarc panics when it calls into a library that is not there, so every path into CUDA begins
//! with [`need_driver`] or [`need_compiler`].

use cudarc::driver::DriverError;
use odeum_core::Error;
use std::sync::OnceLock;

/// A version of CUDA, of its driver or its compiler: major and minor number.
pub(crate) type Version = (i32, i32);

/// The least major version of both. Older drivers have not all functions that are called here, and do not load what the compiler makes.
const NEEDED: i32 = 13;

/// Why a library cannot be used.
#[derive(Debug)]
enum Lack {
    /// It is found nowhere.
    Missing,
    /// It is there, and the first call of it fails with this.
    Broken(String),
}

/// How to come by the compiler.
const COMPILER: &str = "`pip install nvidia-cuda-nvrtc==13.0.88` and put its folder, …/site-packages/nvidia/cu13/lib, \
                        on LD_LIBRARY_PATH before the program starts; or install the CUDA toolkit 13";

/// The newest version of CUDA that the NVIDIA driver supports.
///
/// # Errors
/// No driver, or one that is too old.
pub(crate) fn need_driver(device: &str) -> Result<Version, Error> {
    let version = driver().map_err(|lack| no_driver(device, lack))?;
    match too_old("the NVIDIA driver is", version) {
        None => Ok(version),
        Some(reason) => {
            let remedy = "install driver 580 or newer".to_owned();
            Err(Error::Device { device: device.to_owned(), reason, remedy })
        }
    }
}

/// The version of the run-time compiler.
///
/// # Errors
/// None, or one that is too old, or newer than the driver, where there is one.
pub(crate) fn need_compiler(device: &str) -> Result<Version, Error> {
    let missing = |reason: String| Error::Device {
        device: device.to_owned(),
        reason,
        remedy: COMPILER.to_owned(),
    };
    let version = compiler().map_err(|lack| {
        missing(match lack {
            Lack::Missing => {
                format!("no CUDA run-time compiler: {}", sought("libnvrtc.so.13 (libnvrtc.so)"))
            }
            Lack::Broken(why) => broken("the CUDA run-time compiler, libnvrtc.so,", why),
        })
    })?;
    let newer = || too_new(version, driver().ok()?);
    match too_old("the CUDA run-time compiler is", version).or_else(newer) {
        None => Ok(version),
        Some(reason) => Err(missing(reason)),
    }
}

/// Whether there is a driver, of whatever version, and whether it works or not.
pub(crate) fn has_driver() -> bool {
    !matches!(driver(), Err(Lack::Missing))
}

/// An error for a driver that cannot be used.
fn no_driver(device: &str, lack: &Lack) -> Error {
    let (reason, remedy) = match lack {
        Lack::Missing => (
            format!("no NVIDIA driver: {}", sought("libcuda.so.1 (libcuda.so)")),
            "install the NVIDIA driver, version 580 or newer, and see that `nvidia-smi` \
             lists the GPU; in a container, start it with access to the GPU",
        ),
        Lack::Broken(why) => (
            broken("the library of the NVIDIA driver, libcuda.so,", why),
            "take folders of stubs, as lib64/stubs of the CUDA toolkit, off LD_LIBRARY_PATH, and \
             see that `nvidia-smi` lists the GPU",
        ),
    };
    Error::Device { device: device.to_owned(), reason, remedy: remedy.to_owned() }
}

/// What is wrong with a library that is there.
fn broken(library: &str, why: &str) -> String {
    format!("{library} was found, but does not work: {why} (LD_LIBRARY_PATH {})", library_path())
}

/// What is wrong with a version that is too old.
fn too_old(what: &str, (major, minor): Version) -> Option<String> {
    (major < NEEDED).then(|| format!("{what} of CUDA {major}.{minor}, and {NEEDED}.0 is needed"))
}

/// What is wrong with a compiler that is newer than the driver.
fn too_new((major, minor): Version, driver: Version) -> Option<String> {
    (major > driver.0).then(|| {
        let of_driver = format!("{}.{}", driver.0, driver.1);
        format!("the CUDA run-time compiler is of CUDA {major}.{minor}, which the driver, of CUDA {of_driver}, does not load")
    })
}

/// The version of the driver's library, where it can be loaded and works.
fn driver() -> Result<Version, &'static Lack> {
    static VERSION: OnceLock<Result<Version, Lack>> = OnceLock::new();
    let version = VERSION.get_or_init(|| {
        // SAFETY: loads the library and lets it go; its initialisers are the driver's own.
        if !unsafe { cudarc::driver::sys::is_culib_present() } {
            return Err(Lack::Missing);
        }
        let mut version = 0;
        // SAFETY: the library is present; the pointer is to a live integer.
        let asked = unsafe { cudarc::driver::sys::cuDriverGetVersion(&mut version) }.result();
        asked.map_err(|error| Lack::Broken(error.to_string()))?;
        Ok((version / 1000, version % 1000 / 10))
    });
    version.as_ref().copied()
}

/// The version of the compiler's library, where it can be loaded and works. The first to ask waits some milliseconds for it.
fn compiler() -> Result<Version, &'static Lack> {
    static VERSION: OnceLock<Result<Version, Lack>> = OnceLock::new();
    let version = VERSION.get_or_init(|| {
        // SAFETY: loads the library and lets it go; its initialisers are the compiler's own.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return Err(Lack::Missing);
        }
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the library is present; both pointers are to live integers.
        let asked = unsafe { cudarc::nvrtc::sys::nvrtcVersion(&mut major, &mut minor) }.result();
        asked.map_err(|error| Lack::Broken(error.to_string()))?;
        Ok((major, minor))
    });
    version.as_ref().copied()
}

/// A driver error with what was being done.
pub(crate) fn failed(doing: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
    let doing = doing.into();
    move |error| Error::Cuda { doing, reason: error.to_string() }
}

/// Which library was looked for, and where the loader looks.
fn sought(library: &str) -> String {
    format!(
        "{library} was found neither on LD_LIBRARY_PATH (which {}) nor in the system's \
         library folders (/etc/ld.so.cache, /lib, /usr/lib)",
        library_path()
    )
}

/// What `LD_LIBRARY_PATH` is, in words.
fn library_path() -> String {
    let path = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    if path.is_empty() { "is not set".to_owned() } else { format!("is {path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was told as missing.
    #[test]
    fn a_library_that_does_not_work_is_told_with_its_words() {
        let lack = Lack::Broken("CUDA_ERROR_STUB_LIBRARY".to_owned());
        let error = no_driver("cuda:0", &lack).to_string();
        for part in
            ["cuda:0", "libcuda.so", "does not work: CUDA_ERROR_STUB", "off LD_LIBRARY_PATH"]
        {
            assert!(error.contains(part), "{error}");
        }
        assert!(no_driver("cuda", &Lack::Missing).to_string().contains("no NVIDIA driver"));
    }

    #[test]
    fn versions_that_do_not_do_are_named_with_what_is_needed() {
        let wrong = too_old("the NVIDIA driver is", (12, 4)).unwrap();
        assert_eq!(wrong, "the NVIDIA driver is of CUDA 12.4, and 13.0 is needed");
        assert_eq!(too_old("it is", (13, 0)), None);
        let wrong = too_new((14, 1), (13, 0)).unwrap();
        assert!(wrong.contains("of CUDA 14.1") && wrong.contains("of CUDA 13.0"), "{wrong}");
        assert_eq!(too_new((13, 2), (13, 0)), None);
        assert_eq!(too_new((13, 0), (14, 0)), None);
    }
}
