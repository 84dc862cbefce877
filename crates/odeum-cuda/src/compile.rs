//! CUDA C++ text to machine code, by NVRTC. Needs no GPU.

use super::cache::Cache;
use super::cubin::{Cubin, Resources};
use super::library::need_compiler;
use cudarc::nvrtc::{result as nvrtc, sys};
use odeum_core::{Error, lock};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock};

/// What the compiler is told besides the architecture. Contraction is off because the sources
/// say themselves what is to be fused: see real.cuh.
const OPTIONS: [&str; 4] =
    ["--std=c++17", "--fmad=false", "--extra-device-vectorization", "--ptxas-options=-v"];

/// How architectures begin that no GPU has.
pub(crate) const VIRTUAL: &str = "compute_";

/// What machine code follows from: a text, the kernel that names it in errors, and an architecture
/// such as `sm_90a`; of one such as `compute_90` it is text (PTX) that the driver translates.
#[derive(Clone, Debug, Hash)]
pub(crate) struct Source {
    pub(crate) kernel: String,
    pub(crate) source: String,
    pub(crate) arch: String,
}

impl Source {
    /// Its machine code, from the cache when it is there.
    pub(crate) fn compile(&self) -> Result<Cubin, Error> {
        let turn = self.turn();
        let _mine = lock(&turn);
        if let Some(cubin) = self.cached() {
            return Ok(cubin);
        }
        need_compiler("cuda")?;
        let cubin = translate(&self.kernel, &self.source, &self.arch)?.1;
        if let Some(key) = self.key() {
            Cache::of_user().put(&key, &cubin);
        }
        Ok(cubin)
    }

    /// Its machine code, when that is in the cache.
    pub(crate) fn cached(&self) -> Option<Cubin> {
        Cache::of_user().get(&self.key()?)
    }

    /// What the cache knows it by; `None` without a compiler, whose version is a part of it.
    fn key(&self) -> Option<Vec<String>> {
        let mut key = vec![self.source.clone(), self.kernel.clone(), self.arch.clone()];
        key.extend(OPTIONS.map(str::to_owned));
        let (major, minor) = need_compiler("cuda").ok()?;
        key.push(format!("nvrtc {major}.{minor}"));
        Some(key)
    }

    /// Held by the thread that compiles it: others find it in the cache then.
    fn turn(&self) -> Arc<Mutex<()>> {
        static TURNS: OnceLock<Mutex<HashMap<u64, Arc<Mutex<()>>>>> = OnceLock::new();
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        lock(TURNS.get_or_init(Mutex::default)).entry(hasher.finish()).or_default().clone()
    }
}

/// The generations of GPUs that the compiler knows, as 90, ascending; none where there is no compiler.
pub(crate) fn known_architectures() -> Vec<usize> {
    let mut count = 0;
    if need_compiler("cuda").is_err() {
        return Vec::new();
    }
    // SAFETY: the library is present; the pointer is to a live integer.
    if unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) }.result().is_err() {
        return Vec::new();
    }
    let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: there is room for as many as the compiler has just said.
    if unsafe { sys::nvrtcGetSupportedArchs(known.as_mut_ptr()) }.result().is_err() {
        return Vec::new();
    }
    known.into_iter().filter_map(|arch| usize::try_from(arch).ok()).collect()
}

/// A program in the compiler; freed on every way out.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the handle comes from nvrtcCreateProgram and is freed once.
        let _ = unsafe { nvrtc::destroy_program(self.0) };
    }
}

fn refused(kernel: &str, source: &str, log: String) -> Error {
    Error::Compile { kernel: kernel.to_owned(), log, source_text: source.to_owned() }
}

/// A compiled program and the compiler's log.
fn compiled(kernel: &str, source: &str, arch: &str) -> Result<(Program, String), Error> {
    let failed = |log: String| refused(kernel, source, log);
    let text = CString::new(source).map_err(|e| failed(e.to_string()))?;
    let name = CString::new(format!("{kernel}.cu")).map_err(|e| failed(e.to_string()))?;
    let program = nvrtc::create_program(&text, Some(&name)).map_err(|e| failed(e.to_string()))?;
    let program = Program(program);
    let mut options: Vec<String> = OPTIONS.map(str::to_owned).to_vec();
    options.push(format!("--gpu-architecture={arch}"));
    // SAFETY: the program is live.
    let result = unsafe { nvrtc::compile_program(program.0, &options) };
    // SAFETY: the program is live.
    let log = unsafe { nvrtc::get_program_log(program.0) }.map_or_else(|e| e.to_string(), text_of);
    match result {
        Ok(()) => Ok((program, log)),
        Err(error) => Err(failed(format!("{error}\n{log}"))),
    }
}

fn translate(kernel: &str, source: &str, arch: &str) -> Result<(Program, Cubin), Error> {
    let (program, log) = compiled(kernel, source, arch)?;
    let failed = |e: nvrtc::NvrtcError| refused(kernel, source, e.to_string());
    if arch.starts_with(VIRTUAL) {
        // SAFETY: the program is compiled.
        let text = unsafe { nvrtc::get_ptx(program.0) }.map_err(failed)?;
        let code = text.into_iter().map(|b| b as u8).collect();
        return Ok((program, Cubin { code, log }));
    }
    let mut size = 0;
    // SAFETY: the program is compiled; the pointer is to a live integer.
    unsafe { sys::nvrtcGetCUBINSize(program.0, &mut size) }.result().map_err(failed)?;
    let mut code = vec![0_u8; size];
    // SAFETY: the buffer has the size that the compiler asked for.
    unsafe { sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast::<c_char>()) }
        .result()
        .map_err(failed)?;
    Ok((program, Cubin { code, log }))
}

fn text_of(bytes: Vec<c_char>) -> String {
    let bytes: Vec<u8> = bytes.into_iter().map(|b| b as u8).collect();
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// Whether the compiler is there, of a version that does.
///
/// # Errors
/// No compiler, or one that is too old, or newer than the driver.
pub fn check_compiler() -> Result<(), Error> {
    need_compiler("cuda").map(drop)
}

/// Compiles without the cache, for checks: resources, and the text before machine code (PTX), in which the types
/// of all operations can be read.
///
/// # Errors
/// No compiler, or a text that it refuses.
pub fn check(kernel: &str, source: &str, arch: &str) -> Result<(Resources, String), Error> {
    need_compiler("cuda")?;
    let (program, cubin) = translate(kernel, source, arch)?;
    // SAFETY: the program is compiled.
    let assembly = unsafe { nvrtc::get_ptx(program.0) };
    let assembly = assembly.map_err(|e| refused(kernel, source, e.to_string()))?;
    Ok((cubin.resources(kernel), text_of(assembly)))
}
