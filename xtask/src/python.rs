//! A Python environment under `target/`, with NumPy and NVIDIA's run-time compiler.
//!
//! The compiler, NVRTC, translates CUDA kernels to machine code on machines without a GPU. Its
//! wheel brings the library alone, no toolkit.

use crate::steps::{Outcome, call, root};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What is installed, pinned; `--no-deps` because the compiler's wheel needs nothing else.
const PACKAGES: [&str; 2] = ["nvidia-cuda-nvrtc==13.0.88", "numpy==2.2.6"];

fn folder() -> PathBuf {
    root().join("target/xtask-python")
}

/// The environment's interpreter.
pub(crate) fn interpreter() -> PathBuf {
    folder().join("bin/python")
}

/// Makes the environment unless it is there with just these packages.
pub(crate) fn prepare() -> Outcome {
    let stamp = folder().join("packages.txt");
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(format!("{}, as before", PACKAGES.join(", ")));
    }
    call(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder()))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
    call(Command::new(interpreter()).args(install).args(PACKAGES))?;
    fs::write(&stamp, wanted).map_err(|reason| format!("{}: {reason}", stamp.display()))?;
    Ok(PACKAGES.join(", "))
}

/// `LD_LIBRARY_PATH` with the folder of the compiler's library in front.
pub(crate) fn libraries() -> Result<String, String> {
    let lib = folder().join("lib");
    let versions = fs::read_dir(&lib).map_err(|reason| format!("{}: {reason}", lib.display()))?;
    let compiler = versions
        .filter_map(Result::ok)
        .map(|version| version.path().join("site-packages/nvidia/cu13/lib"))
        .find(|path| path.is_dir())
        .ok_or_else(|| format!("no nvidia/cu13/lib under {}", lib.display()))?;
    let before = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let separator = if before.is_empty() { "" } else { ":" };
    Ok(format!("{}{separator}{before}", compiler.display()))
}
