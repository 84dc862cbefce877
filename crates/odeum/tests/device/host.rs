//! Device code on this machine, as plain C++ by g++: shared by the crates with kernels.

use libloading::Library;
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

/// A text, with `name` defined as `value` for each of `defines`, as a shared library.
pub(crate) fn compile(text: &str, defines: &[(&str, &str)]) -> Library {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("kernel-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let (file, object) = (folder.join(format!("{name}.cpp")), folder.join(format!("{name}.so")));
    std::fs::write(&file, text).unwrap();
    let output = Command::new("g++")
        .args(["-std=c++17", "-O0", "-shared", "-fPIC", "-pthread", "-ffp-contract=off"])
        .args(["-Wall", "-Werror", "-Wno-unused", "-Wno-unknown-pragmas"])
        .arg("-Wno-maybe-uninitialized")
        .args(defines.iter().map(|(name, value)| format!("-D{name}={value}")))
        .arg(&file)
        .arg("-o")
        .arg(&object)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} does not compile:\n{log}", file.display());
    // SAFETY: the library has no initialisers but those of the C++ run time.
    let library = unsafe { Library::new(&object) }.unwrap();
    // A library that is loaded needs its file no more, and the text is of use in errors only.
    let _ = std::fs::remove_file(file);
    let _ = std::fs::remove_file(object);
    library
}
