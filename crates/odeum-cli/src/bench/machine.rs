//! The machine a figure was measured on: what matters to speed, and nothing else.

use odeum_ode::Isa;
use odeum_ode::gpu::{self, DeviceInfo};
use serde::{Deserialize, Serialize};

/// A machine in words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Model of the CPU.
    pub(crate) cpu: String,
    /// Hardware threads this process may use.
    pub(crate) threads: usize,
    /// Widest lanes of the CPU.
    pub(crate) isa: String,
    /// Names of the GPUs.
    pub(crate) gpus: Vec<String>,
    /// What GPUs lack: all of them, or some.
    #[serde(skip)]
    pub(crate) lacks: Vec<String>,
}

impl Machine {
    /// This machine.
    pub(crate) fn here() -> Machine {
        let (gpus, lacks) = match gpu::devices() {
            Ok(gpus) => {
                let checks = gpus.iter().map(DeviceInfo::check).chain([gpu::check_compiler()]);
                let wrong = checks.filter_map(Result::err);
                let lacks = wrong.map(|error| format!("cannot be used: {error}")).collect();
                (gpus.iter().map(name).collect(), lacks)
            }
            Err(error) => (Vec::new(), vec![format!("no GPU: {error}")]),
        };
        Machine {
            cpu: cpu_model().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            isa: Isa::best().to_string(),
            gpus,
            lacks,
        }
    }
}

/// A GPU in words: `NVIDIA H200, 132 multiprocessors at 1980 MHz, 140 GiB, CUDA 13.0`.
fn name(gpu: &DeviceInfo) -> String {
    let gibibytes = gpu.memory.0 >> 30;
    let (major, minor) = gpu.driver;
    format!(
        "{}, {} multiprocessors at {:.0} MHz, {gibibytes} GiB, CUDA {major}.{minor}",
        gpu.name, gpu.multiprocessors, gpu.clock_mhz
    )
}

fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
