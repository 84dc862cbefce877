//! Kernels as functions of shared libraries.

use super::compiler::{self, Loaded, Source};
use crate::device::Limits;
use libloading::Symbol;
use odeum_core::Error;
use std::ffi::c_void;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SHIM: &str = include_str!("../device/host_shim.h");
const MAIN: &str = include_str!("../device/host_main.h");
const THREADS: &str = include_str!("../device/host_threads.cpp");

/// Of kernels, which need nothing of the C++ run time.
const OPTIONS: [&str; 12] = [
    "-O0",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-asynchronous-unwind-tables",
    "-nostdinc++",
    "-nostdlib",
    "-lm",
    "-lgcc",
    "-lc",
    "-Wl,-z,defs",
    "-pipe",
];

/// Of what runs their threads.
const THREADS_OPTIONS: [&str; 1] = ["-O2"];

/// Blocks that a multiprocessor holds at once, of whichever kernel.
const RESIDENT: usize = 4;

/// The most arguments that a kernel has.
const MOST_ARGUMENTS: usize = 16;

type Run = unsafe extern "C" fn(*mut *mut c_void, *const u64, *const u64, *const u64) -> bool;
type Sizes = unsafe extern "C" fn(*mut u64) -> u64;

/// A kernel of a text, as plain C++.
#[derive(Clone)]
pub struct Kernel {
    library: Arc<Loaded>,
    name: String,
}

/// Kernels that seem to be compiled for a while.
pub struct Pending {
    kernels: Result<Vec<Kernel>, Error>,
    /// How often they are not ready when that is asked.
    patience: AtomicUsize,
}

impl Pending {
    pub(super) fn new(folder: &Path, source: &str, kernels: &[&str], patience: usize) -> Pending {
        let exports: String = kernels.iter().map(|k| format!("OD_HOST_KERNEL({k})\n")).collect();
        let text = format!("{SHIM}\n{source}\n{MAIN}\n{exports}");
        let name = kernels.first().copied().unwrap_or_default();
        let library = threads(folder, name).and_then(|threads| {
            let uses = Some(threads.path.as_path());
            compiler::library(folder, &Source { name, text: &text, options: &OPTIONS, uses })
        });
        let kernels = library.map(|library| {
            let kernel = |&name: &&str| Kernel { library: library.clone(), name: name.to_owned() };
            kernels.iter().map(kernel).collect()
        });
        Pending { kernels, patience: AtomicUsize::new(patience) }
    }

    /// Of a compiler that does not take a kernel.
    pub(super) fn refused(kernel: &str, source: &str) -> Pending {
        let (kernel, log) = (kernel.to_owned(), "refused".to_owned());
        let error = Error::Compile { kernel, log, source_text: source.to_owned() };
        Pending { kernels: Err(error), patience: AtomicUsize::new(0) }
    }

    pub(super) fn kernels(self) -> Result<Vec<Kernel>, Error> {
        self.kernels
    }
}

/// What runs the threads of all kernels; the name is that of the one it is wanted for.
fn threads(folder: &Path, name: &str) -> Result<Arc<Loaded>, Error> {
    let text = format!("{SHIM}\n{THREADS}");
    let options = &THREADS_OPTIONS;
    compiler::library(folder, &Source { name, text: &text, options, uses: None })
}

impl crate::device::Pending for Pending {
    fn is_ready(&self) -> bool {
        let less = |n: usize| n.checked_sub(1);
        self.patience.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
    }
}

impl crate::device::Kernel for Kernel {
    fn prepare(&self, _: usize, _: usize) -> Result<usize, Error> {
        Ok(RESIDENT)
    }

    fn prefer_shared(&self, _: usize, _: &Limits) -> Result<(), Error> {
        Ok(())
    }
}

impl Kernel {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Copies of the arguments, as a driver makes them.
    ///
    /// # Safety
    /// They must point at values of the types that the kernel takes.
    pub(super) unsafe fn arguments(
        &self,
        arguments: &[*mut c_void],
    ) -> Result<Vec<Vec<u128>>, Error> {
        let mut sizes = [0_u64; MOST_ARGUMENTS];
        // SAFETY: the library exports this function for each of its kernels, and no kernel has more arguments.
        let count = unsafe {
            let sizes_of: Symbol<Sizes> = self.function("od_host_sizes")?;
            sizes_of(sizes.as_mut_ptr())
        };
        if count as usize != arguments.len() {
            let found = format!("{} for {}", arguments.len(), self.name);
            return Err(Error::input("arguments", found, format!("the kernel takes {count}")));
        }
        let copy = |(from, bytes): (&*mut c_void, &u64)| {
            let mut value = vec![0_u128; (*bytes as usize).div_ceil(16)];
            // SAFETY: the caller's promise; there is room for as many bytes.
            unsafe {
                let to = value.as_mut_ptr().cast::<u8>();
                std::ptr::copy_nonoverlapping(from.cast::<u8>(), to, *bytes as usize);
            }
            value
        };
        Ok(arguments.iter().zip(&sizes).map(copy).collect())
    }

    /// Runs all threads of a launch; `block`: its threads, in two directions, and its shared memory \[bytes\]; `at_once`, blocks side
    /// by side.
    ///
    /// # Errors
    /// [`Error::Cuda`] where a block wrote beyond its shared memory.
    ///
    /// # Safety
    /// The arguments are values of the types that the kernel takes, and what they point at is alive.
    pub(super) unsafe fn run(
        &self,
        arguments: &[Vec<u128>],
        blocks: [u64; 3],
        block: [u64; 3],
        at_once: bool,
    ) -> Result<(), Error> {
        // SAFETY: the library exports this function for each of its kernels.
        let run: Symbol<Run> = unsafe { self.function("od_host_run")? };
        let of_range = |range: [u64; 2]| {
            // They are copied before the kernel uses them.
            let mut arguments: Vec<*mut c_void> =
                arguments.iter().map(|argument| argument.as_ptr().cast_mut().cast()).collect();
            // SAFETY: the caller's promise.
            unsafe { run(arguments.as_mut_ptr(), blocks.as_ptr(), block.as_ptr(), range.as_ptr()) }
        };
        let all = blocks.iter().product();
        let is_kept = if at_once {
            std::thread::scope(|scope| {
                let run = |first: u64| scope.spawn(move || of_range([first, first + 1]));
                let running: Vec<_> = (0..all).map(run).collect();
                let joined = running.into_iter().map(|block| block.join());
                joined.fold(true, |kept, block| kept & block.unwrap_or_else(|e| resume_unwind(e)))
            })
        } else {
            of_range([0, all])
        };
        if is_kept {
            return Ok(());
        }
        let reason = format!("it wrote beyond the {} bytes of shared memory of a block", block[2]);
        Err(Error::Cuda { doing: format!("running {}", self.name), reason })
    }

    /// A function that the library exports for the kernel.
    ///
    /// # Safety
    /// It must be of this type.
    unsafe fn function<F>(&self, what: &str) -> Result<Symbol<'_, F>, Error> {
        let name = format!("{what}_{}", self.name);
        // SAFETY: the caller's promise.
        unsafe { self.library.library.get(name.as_bytes()) }
            .map_err(|e| Error::Cuda { doing: format!("finding {name}"), reason: e.to_string() })
    }
}
