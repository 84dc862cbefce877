//! Device code executed on this machine: the kernel's text, made plain C++ by the host shim,
//! compiled by g++ and called over the arrays of an ensemble.

#[path = "../device/host.rs"]
mod host;

pub(crate) use host::is_available;

use libloading::{Library, Symbol};
use odeum_core::Graph;
use odeum_ode::backend::cuda::inspect::{self, KernelText};
use odeum_ode::{Ensemble, Method, Options, Scalar, Solution};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock};

/// Integrates by the kernel of this name, `od_erk`, `od_erk_lanes` or `od_rkc`; `None` when the
/// system has no such kernel.
pub(crate) fn solve<T: Scalar>(
    kernel: &str,
    graph: &Graph,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
) -> Option<Solution<T>> {
    method.check().unwrap();
    options.check(ensemble).unwrap();
    let kernel = inspect::kernels::<T>(graph, method, options, ensemble.shares_params())
        .into_iter()
        .find(|k| k.name == kernel)?;
    let library = library(&kernel);
    let blocks = if is_lanes(&kernel) { ensemble.len() as u32 } else { 1 };
    let mut run = |task: *const c_void| {
        // SAFETY: the library exports this function, and `task` is what it expects.
        unsafe {
            let entry: Symbol<unsafe extern "C" fn(*const c_void, u32, u64)> =
                library.get(b"od_host_run").unwrap();
            entry(task, blocks, kernel.shared as u64);
        }
    };
    Some(inspect::run_on_host(&mut run, ensemble, method, options))
}

/// True of the kernel that gives a system to several threads: there a block is one system.
fn is_lanes(kernel: &KernelText) -> bool {
    kernel.name.ends_with("_lanes")
}

/// The value that a kernel's text defines for a name.
fn defined(kernel: &KernelText, name: &str) -> usize {
    let line = kernel.source.lines().find_map(|l| l.strip_prefix(&format!("#define {name} ")));
    line.unwrap().parse().unwrap()
}

/// The kernel as a shared library, compiled once per text.
fn library(kernel: &KernelText) -> Arc<Library> {
    static LOADED: OnceLock<Mutex<HashMap<String, Arc<Library>>>> = OnceLock::new();
    let mut loaded = LOADED.get_or_init(Mutex::default).lock().unwrap();
    if let Some(library) = loaded.get(&kernel.source) {
        return library.clone();
    }
    let source = format!("{}\n{}\n{}", odeum_cuda::HOST_SHIM, kernel.source, inspect::HOST_MAIN);
    // A block is one system, of which shared memory is laid out for OD_BLOCK threads.
    let threads = if is_lanes(kernel) { defined(kernel, "OD_WIDTH") } else { 1 };
    let block = |threads: usize| format!("#define OD_BLOCK {threads}\n");
    let source = source.replace(&block(kernel.block), &block(threads));
    let threads = threads.to_string();
    let defines = [("OD_HOST_KERNEL", kernel.name), ("OD_HOST_THREADS", threads.as_str())];
    let library = Arc::new(host::compile(&source, &defines));
    loaded.insert(kernel.source.clone(), library.clone());
    library
}
