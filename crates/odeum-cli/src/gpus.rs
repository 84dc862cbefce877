//! GPUs before a run: what the driver is told, and when it starts.
//!
//! The driver prepares every GPU that it sees (0.1 s each), and ways into each for many streams. It reads
//! how much of that is wanted from the environment, when it starts.

use crate::report::{Style, note};
use odeum_ode::{Cuda, Device, gpu};

/// The GPUs that the driver sees.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// Ways by which streams reach a GPU. The driver makes 8, 6 ms each when it starts and when it ends; kernels
/// and copies of all streams of a run go through two as fast.
const CONNECTIONS: (&str, &str) = ("CUDA_DEVICE_MAX_CONNECTIONS", "2");

/// Starts the driver, beside other work, for a run on a device: on the first of its GPUs alone where that will do, which is
/// told unless `quiet`. What goes wrong is told when the device is used.
///
/// Called before the command has started a thread that reads the environment.
pub(crate) fn start(device: &mut Device, first_will_do: bool, quiet: bool) {
    let Device::Cuda(cuda) = device else { return };
    let seen = std::env::var(VISIBLE).ok();
    // Of GPUs that are not there the driver tells, if they are opened.
    let may_be_alone = first_will_do && cuda.ordinals.len() > 1;
    if may_be_alone && may_be_here(cuda, seen.as_deref(), gpu::gpus_here()) {
        cuda.ordinals.truncate(1);
        if !quiet {
            let head = Style::stderr().bold("note:");
            let alone = format!("cuda:{} alone is used", cuda.ordinals[0]);
            note(&format!("{head} {alone}: it takes less time than to open another GPU"));
        }
    }
    let visible = visible(cuda, seen.as_deref());
    let connections = std::env::var_os(CONNECTIONS.0).is_none().then_some(CONNECTIONS);
    for (name, value) in visible.iter().map(|list| (VISIBLE, &list[..])).chain(connections) {
        // SAFETY: no other thread of the command reads or writes the environment now.
        unsafe { std::env::set_var(name, value) };
    }
    let cuda = cuda.clone();
    let _ = std::thread::Builder::new().spawn(move || cuda.open());
}

/// Whether all GPUs may be there, of so many that the computer has.
fn may_be_here(cuda: &Cuda, seen: Option<&str>, here: Option<usize>) -> bool {
    let listed = seen.map(|list| list.split(',').count());
    let most = listed.into_iter().chain(here).min();
    most.is_none_or(|most| cuda.ordinals.iter().all(|&ordinal| ordinal < most))
}

/// The GPUs up to the last that is used: those that keep their numbers.
fn visible(cuda: &Cuda, seen: Option<&str>) -> Option<String> {
    let count = cuda.ordinals.iter().max()? + 1;
    match seen {
        None => Some((0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",")),
        Some(list) => {
            let first: Vec<&str> = list.split(',').take(count).collect();
            Some(first.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_that_are_not_here_are_left_to_the_driver() {
        let may_be_here = |ordinals: &[usize], seen, here| {
            may_be_here(&Cuda { ordinals: ordinals.to_vec() }, seen, here)
        };
        assert!(may_be_here(&[0, 1], None, Some(2)));
        assert!(!may_be_here(&[0, 5], None, Some(2)));
        assert!(may_be_here(&[1, 0], Some("3,5"), Some(8)));
        assert!(!may_be_here(&[0, 1], Some("3"), Some(8)));
        // Nobody tells.
        assert!(may_be_here(&[0, 5], None, None));
    }

    #[test]
    fn gpus_beyond_the_last_that_is_used_are_hidden_and_none_gets_another_number() {
        let of = |ordinals: &[usize], seen| {
            visible(&Cuda { ordinals: ordinals.to_vec() }, seen).unwrap_or_default()
        };
        assert_eq!(of(&[0], None), "0");
        assert_eq!(of(&[2, 0], None), "0,1,2");
        assert_eq!(of(&[1], Some("3,5,7")), "3,5");
        assert_eq!(of(&[0], Some("GPU-1f,GPU-2e")), "GPU-1f");
        // What is not there is told by its number.
        assert_eq!(of(&[4], Some("1")), "1");
        assert_eq!(of(&[0], Some("")), "");
    }
}
