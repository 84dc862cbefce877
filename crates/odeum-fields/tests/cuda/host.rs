//! Device code executed on this machine: the kernel's text, made plain C++ by the host shim and
//! compiled by g++.

#[path = "../../../odeum/tests/device/host.rs"]
mod gpp;

pub(crate) use gpp::is_available;

use libloading::{Library, Symbol};
use odeum::Scalar;
use odeum::backend::cuda::inspect::HOST_SHIM;
use odeum_fields::cuda::Tiling;
use odeum_fields::cuda::inspect::{self, Call, KernelText};
use odeum_fields::{Field, Problem};
use std::ffi::c_void;

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
    let (head, main) = (inspect::HOST_LANES, inspect::HOST_MAIN);
    let text = format!("{HOST_SHIM}\n{head}\n{}\n{main}", kernel.source);
    let defines = [("OD_HOST_KERNEL", kernel.name), ("OD_HOST_STEP", kernel.step)];
    gpp::compile(&text, &defines)
}
