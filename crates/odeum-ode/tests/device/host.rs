//! Device code on this machine, as plain C++ by g++: shared by the crates with kernels.

use libloading::Library;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

const OPTIONS: [&str; 10] = [
    "-std=c++17",
    "-O0",
    "-fPIC",
    "-pthread",
    "-ffp-contract=off",
    "-Wall",
    "-Werror",
    "-Wno-unused",
    "-Wno-unknown-pragmas",
    "-Wno-maybe-uninitialized",
];

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

/// A header with all that a text includes, compiled once for all texts that include the same: it
/// would be a third of the work for each. It stays for later runs.
fn included(text: &str, folder: &Path) -> PathBuf {
    static ONE: Mutex<()> = Mutex::new(());
    let lines = text.lines().filter(|line| line.starts_with("#include <"));
    let includes: String = lines.map(|line| format!("{line}\n")).collect();
    let mut hash = DefaultHasher::new();
    (&includes, OPTIONS).hash(&mut hash);
    let name = format!("included-{:016x}.h", hash.finish());
    let (header, compiled) = (folder.join(&name), folder.join(format!("{name}.gch")));
    let _one = ONE.lock().unwrap();
    if !compiled.exists() {
        // Of another program's work nothing is seen before it is whole.
        let own = folder.join(format!("{name}.{}.gch", std::process::id()));
        std::fs::write(&header, &includes).unwrap();
        let mut command = Command::new("g++");
        command.args(OPTIONS).args(["-x", "c++-header"]).arg(&header).arg("-o").arg(&own);
        // Without a compiled form the header itself is read.
        if command.output().is_ok_and(|output| output.status.success()) {
            let _ = std::fs::rename(own, compiled);
        }
    }
    header
}

/// A text, with `name` defined as `value` for each of `defines`, as a shared library.
pub(crate) fn compile(text: &str, defines: &[(&str, &str)]) -> Library {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("kernel-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let (file, object) = (folder.join(format!("{name}.cpp")), folder.join(format!("{name}.so")));
    std::fs::write(&file, text).unwrap();
    let output = Command::new("g++")
        .args(OPTIONS)
        .args(["-shared", "-include"])
        .arg(included(text, &folder))
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
