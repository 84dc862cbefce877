//! Device code executed on this machine: the kernel's text, made plain C++ by the host shim and
//! compiled by g++.

use libloading::{Library, Symbol};
use odeum::Scalar;
use odeum::backend::cuda::inspect::HOST_SHIM;
use odeum_fields::cuda::Tiling;
use odeum_fields::cuda::inspect::{self, Call, KernelText};
use odeum_fields::{Field, Problem};
use std::ffi::c_void;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// False where there is no g++ to compile device code with.
pub(crate) fn is_available() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let found = Command::new("g++").arg("--version").output().is_ok_and(|o| o.status.success());
        if !found {
            eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
        }
        found
    })
}

/// As many steps of forward Euler as the tiling is deep.
pub(crate) fn sweep<T: Scalar>(
    problem: &Problem,
    tiling: Tiling,
    field: &Field<T>,
    (t, h): (f64, f64),
) -> Field<T> {
    let library = library(&inspect::kernel::<T>(problem, tiling, t).unwrap());
    let mut run = |call: &Call| {
        let blocks = call.blocks.map(|n| n as u64);
        let block = call.block.map(|n| n as u64);
        // SAFETY: the library exports this function; the call has what it expects.
        unsafe {
            let entry: Symbol<Sweep> = library.get(b"od_host_sweep").unwrap();
            let Call { from, to, step, planes, .. } = *call;
            entry(from, to, step, planes, blocks.as_ptr(), block.as_ptr());
        }
    };
    inspect::sweep_on_host(&mut run, problem, tiling, field, (t, h)).unwrap()
}

type Sweep =
    unsafe extern "C" fn(*const c_void, *mut c_void, *const c_void, i32, *const u64, *const u64);

fn library(kernel: &KernelText) -> Library {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("field-{}-{number}", std::process::id());
    let (file, object) = (folder.join(format!("{name}.cpp")), folder.join(format!("{name}.so")));
    let main = inspect::HOST_MAIN;
    std::fs::write(&file, format!("{HOST_SHIM}\n{}\n{main}", kernel.source)).unwrap();
    let output = Command::new("g++")
        .args(["-std=c++17", "-O0", "-shared", "-fPIC", "-ffp-contract=off"])
        .args(["-Wall", "-Werror", "-Wno-unused", "-Wno-unknown-pragmas"])
        .arg("-Wno-maybe-uninitialized")
        .arg(format!("-DOD_HOST_KERNEL={}", kernel.name))
        .arg(&file)
        .arg("-o")
        .arg(&object)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile:\n{log}", file.display());
    // SAFETY: the library has no initialisers but those of the C++ run time.
    let library = unsafe { Library::new(&object) }.unwrap();
    let _ = std::fs::remove_file(file);
    let _ = std::fs::remove_file(object);
    library
}
