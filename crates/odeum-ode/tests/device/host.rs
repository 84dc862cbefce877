//! Ensembles by the driver of GPUs on the host device, which executes kernels without a GPU.

use odeum_cuda::host::{self, Setup};
use odeum_ode::gpu::inspect::Devices;
use odeum_ode::{Ensemble, Method, Monitor, Options, Scalar, Solution, System};
use std::sync::OnceLock;

/// False where there is no g++ to compile device code with.
pub(crate) fn is_available() -> bool {
    static SAID: OnceLock<()> = OnceLock::new();
    if !host::is_available() {
        SAID.get_or_init(|| {
            eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
        });
    }
    host::is_available()
}

/// What g++ makes stays for later runs.
pub(crate) fn setup() -> Setup {
    Setup::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Integrates by the kernel of this name, `od_erk`, `od_erk_lanes` or `od_rkc`; `None` when the
/// system has no such kernel.
pub(crate) fn solve<T: Scalar, S: System>(
    kernel: &str,
    system: &S,
    ensemble: &Ensemble<T>,
    method: &Method,
    options: &Options,
) -> Option<Solution<T>> {
    let device = setup().device();
    let most = if kernel.ends_with("_lanes") { usize::MAX } else { 0 };
    let devices = Devices::new(vec![device.clone()]).lanes_up_to(most);
    let solution = devices.solve(system, ensemble, method, options, &Monitor::new()).unwrap();
    device.launched().iter().all(|launched| launched == kernel).then_some(solution)
}
