//! The order of an ensemble by the costs of the call before (device/order.cuh).

use super::source;
use odeum_core::Error;
use odeum_cuda::{Device, Kernel, Memory, REAL, Stream, Text, argument};

const ORDER: &str = include_str!("device/order.cuh");
/// Costs from 1 to 2³² by eighths of their powers of two; as many threads has a block.
const CLASSES: usize = 256;
/// Systems of each thread.
const TURNS: usize = 8;
const KERNELS: [&str; 3] = ["od_count_costs", "od_begin_classes", "od_place_systems"];
const WORD: usize = size_of::<u32>();
/// Shared memory of a block \[bytes\].
const SHARED: usize = 2 * CLASSES * WORD;

/// The kernels that sort, and what they write.
pub(super) struct Order<D: Device> {
    kernels: Vec<D::Kernel>,
    /// \[M\]
    systems: D::Memory,
    /// How many of each class there are, and where its next one goes.
    classes: D::Memory,
    len: usize,
}

/// As `OdOrder`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Arguments {
    stats: u64,
    order: u64,
    of_class: u64,
    places: u64,
    n_systems: u32,
}

impl<D: Device> Order<D> {
    /// Of `len` systems, of which so many numbers are counted.
    pub(super) fn new(device: &D, len: usize, n_counts: usize) -> Result<Self, Error> {
        let mut text = Text::default();
        text.define("OD_FLOAT", 0);
        text.define("OD_CLASSES", CLASSES);
        text.define("OD_TURNS", TURNS);
        source::counts(&mut text, n_counts);
        source::compiler(&mut text);
        text.line(REAL);
        text.line(ORDER);
        let kernels = device.wait(device.compile_async(&text.finish(), &KERNELS))?;
        for kernel in &kernels {
            kernel.prepare(CLASSES, SHARED)?;
        }
        let systems = device.reserve(len * WORD)?;
        let classes = device.reserve(2 * CLASSES * WORD)?;
        Ok(Order { kernels, systems, classes, len })
    }

    /// Where the systems lie once the stream has sorted them.
    pub(super) fn address(&self) -> u64 {
        self.systems.address()
    }

    /// Gives the sort to a stream, by the counts that lie at `stats`.
    ///
    /// # Safety
    /// The counts of all systems must lie there, and this value live, until the stream has been waited for.
    pub(super) unsafe fn sort(&mut self, stream: &D::Stream, stats: u64) -> Result<(), Error> {
        let bytes = CLASSES * WORD;
        // SAFETY: the caller's.
        unsafe { stream.set_bytes(&mut self.classes, 0..bytes, 0)? };
        let of_class = self.classes.address();
        let task = Arguments {
            stats,
            order: self.systems.address(),
            of_class,
            places: of_class + bytes as u64,
            n_systems: self.len as u32,
        };
        let all = self.len.div_ceil(CLASSES * TURNS);
        for (kernel, blocks) in self.kernels.iter().zip([all, 1, all]) {
            // SAFETY: each takes the structure that `Arguments` mirrors, whose arrays the caller answers for.
            unsafe {
                let mut arguments = [argument(&task)];
                stream.launch(kernel, [blocks, 1, 1], [CLASSES, 1], SHARED, &mut arguments)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_cuda::host::{self, Setup};

    #[test]
    fn costly_systems_come_first() {
        if !host::is_available() {
            return eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
        }
        let device = Setup::new(std::env::temp_dir().join("odeum-device-order")).device();
        let len = 5_000;
        // Of four counts the first two are attempts.
        let attempts = |s: usize| [1, 2, 7, 8, 9, 40, 1000, 0, 5_000_000][s * 7 % 9] as u32;
        let counts: Vec<u32> =
            (0..len).flat_map(|s| [attempts(s) / 3, attempts(s) - attempts(s) / 3, 9, 9]).collect();
        let stream = device.stream().unwrap();
        let mut stats = device.reserve(counts.len() * WORD).unwrap();
        stream.write(&mut stats, 0, &counts).unwrap();
        let mut order = Order::new(&device, len, 4).unwrap();
        // SAFETY: both live until the stream has been waited for, which reading does.
        unsafe { order.sort(&stream, stats.address()).unwrap() };
        let mut systems = vec![0_u32; len];
        stream.read(&order.systems, 0, &mut systems).unwrap();
        // What never began costs as little as one attempt.
        let costs: Vec<u32> = systems.iter().map(|&s| attempts(s as usize).max(1)).collect();
        assert!(costs.is_sorted_by(|a, b| a >= b), "costly ones first");
        systems.sort_unstable();
        assert!(systems.into_iter().eq(0..len as u32), "each system once");
    }
}
