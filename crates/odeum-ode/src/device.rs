//! Where ensembles are integrated.

use crate::cpu::Cpu;
use crate::gpu::Cuda;

use std::fmt;

/// The machine part that integrates an ensemble.
#[derive(Clone, Debug, PartialEq)]
pub enum Device {
    /// SIMD lanes and threads of this computer.
    Cpu(Cpu),
    /// One or more NVIDIA GPUs.
    Cuda(Cuda),
}

impl Device {
    /// All cores, the widest lanes.
    pub fn cpu() -> Self {
        Device::Cpu(Cpu::default())
    }

    /// The GPU of this number.
    pub fn cuda(ordinal: usize) -> Self {
        Device::Cuda(Cuda { ordinals: vec![ordinal] })
    }
}

impl From<Cpu> for Device {
    fn from(cpu: Cpu) -> Device {
        Device::Cpu(cpu)
    }
}

impl From<&Cpu> for Device {
    fn from(cpu: &Cpu) -> Device {
        Device::Cpu(cpu.clone())
    }
}

impl From<&Device> for Device {
    fn from(device: &Device) -> Device {
        device.clone()
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu(_) => f.write_str("cpu"),
            Device::Cuda(cuda) => {
                let list: Vec<_> = cuda.ordinals.iter().map(|o| format!("cuda:{o}")).collect();
                f.write_str(&list.join(","))
            }
        }
    }
}
