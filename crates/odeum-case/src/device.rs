//! Devices as users name them.

use odeum_core::cores;
use odeum_ode::{Cuda, Device};

/// What is accepted.
pub const FORMS: &str = "devices: cpu, cuda (the first GPU), cuda:N, cuda:N,M,…";

/// `cpu`, `cuda`, `cuda:1` or `cuda:0,1`; the error says what is accepted.
pub fn parse(text: &str) -> Result<Device, String> {
    let no = || FORMS.to_owned();
    match text.split_once(':') {
        None if text == "cpu" => Ok(Device::cpu()),
        None if text == "cuda" => Ok(Device::cuda(0)),
        Some(("cuda", list)) => {
            let ordinals: Result<Vec<usize>, _> = list.split(',').map(str::parse).collect();
            let ordinals = ordinals.map_err(|_| no())?;
            for (i, ordinal) in ordinals.iter().enumerate() {
                if ordinals[..i].contains(ordinal) {
                    return Err(format!("the GPU {ordinal} is named twice"));
                }
            }
            Ok(Device::Cuda(Cuda { ordinals }))
        }
        _ => Err(no()),
    }
}

/// The device in words: `cpu: 8 threads, avx512 lanes`.
pub fn describe(device: &Device) -> String {
    match device {
        Device::Cpu(cpu) => {
            let threads = cpu.thread_count();
            let plural = if threads == 1 { "" } else { "s" };
            format!("cpu, {threads} thread{plural}, {} lanes", cpu.isa)
        }
        other => other.to_string(),
    }
}

/// Threads for what is done beside the work of a device: those that the user allows.
pub fn threads_of(device: &Device) -> usize {
    match device {
        Device::Cpu(cpu) => cpu.thread_count(),
        Device::Cuda(_) => cores(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices() {
        assert_eq!(parse("cpu"), Ok(Device::cpu()));
        assert_eq!(parse("cuda"), Ok(Device::cuda(0)));
        assert_eq!(parse("cuda:1,0"), Ok(Device::Cuda(Cuda { ordinals: vec![1, 0] })));
        for wrong in ["gpu", "cuda:", "cuda:x", "cuda:0,0", "cpu:1", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
