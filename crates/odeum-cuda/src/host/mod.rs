//! This computer in place of GPUs, for tests of whatever stands on a [`Device`].
//!
//! Kernels are the texts that a GPU gets, made plain C++ by a shim header and compiled by g++; shared
//! libraries are kept by content. Work is done late and in the least convenient order: nothing before
//! somebody waits for it, and of the streams that may go on chance decides which does. A driver that forgets to
//! wait, or an event, or that uses page-locked memory too early, gets wrong numbers here.
//!
//! What it is not: fast, parallel, or a judge of barriers that threads of a block need within one round.

mod compiler;
mod kernel;
mod memory;
mod schedule;
mod stream;
#[cfg(test)]
mod tests;

pub use compiler::is_available;
pub use kernel::{Kernel, Pending};
pub use memory::{Memory, Pinned};
pub use stream::{Event, Stream};

use super::device::{Device, Limits};
use super::memory::too_little_memory;
use super::tensor_map::{TensorMap, TensorMapLayout};
use odeum_core::{Error, lock};
use schedule::Schedule;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What host devices are like.
#[derive(Clone, Debug)]
pub struct Setup {
    folder: PathBuf,
    memory: usize,
    taken: usize,
    seed: u64,
    multiprocessors: usize,
    /// Of a block.
    shared_memory: usize,
    patience: usize,
    launches: usize,
    concurrent: bool,
    refused: Option<&'static str>,
}

/// This computer in place of a GPU.
#[derive(Clone)]
pub struct Host(Arc<Shared>);

struct Shared {
    setup: Setup,
    ordinal: usize,
    /// Shared by the devices that work together.
    schedule: Schedule,
    /// Bytes that are free.
    free: AtomicUsize,
    /// Launches before the driver fails.
    launches: AtomicUsize,
    compilations: AtomicUsize,
    launched: Mutex<Vec<String>>,
    /// Where page-locked memory begins, and its bytes.
    page_locked: Mutex<BTreeMap<usize, usize>>,
}

impl Setup {
    /// Devices that want for nothing. The folder, which must be there, keeps what g++ makes.
    pub fn new(folder: impl Into<PathBuf>) -> Setup {
        Setup {
            folder: folder.into(),
            memory: 1 << 40,
            taken: 0,
            seed: 0,
            multiprocessors: 2,
            shared_memory: Limits::HOPPER.shared_per_block,
            patience: 0,
            launches: usize::MAX,
            concurrent: false,
            refused: None,
        }
    }

    /// With so many bytes of memory.
    pub fn memory(self, bytes: usize) -> Setup {
        Setup { memory: bytes, ..self }
    }

    /// With so many bytes more that are told to be free, and that others take before anything is reserved.
    pub fn taken(self, bytes: usize) -> Setup {
        Setup { taken: bytes, ..self }
    }

    /// Where streams may go on, this decides which does.
    pub fn seed(self, seed: u64) -> Setup {
        Setup { seed, ..self }
    }

    /// With so many multiprocessors, at least one.
    pub fn multiprocessors(self, multiprocessors: usize) -> Setup {
        Setup { multiprocessors: multiprocessors.max(1), ..self }
    }

    /// With so many bytes of shared memory for a block, of which a multiprocessor holds one at least.
    pub fn shared_memory(self, bytes: usize) -> Setup {
        Setup { shared_memory: bytes, ..self }
    }

    /// With a compiler that takes its time: kernels are ready when that has been asked so often.
    pub fn patience(self, patience: usize) -> Setup {
        Setup { patience, ..self }
    }

    /// With a driver that refuses all launches after so many.
    pub fn launches(self, launches: usize) -> Setup {
        Setup { launches, ..self }
    }

    /// With kernels that run while other work is done, their blocks side by side: others see what they have written so far.
    pub fn concurrent(self) -> Setup {
        Setup { concurrent: true, ..self }
    }

    /// With a compiler that refuses texts with this kernel.
    pub fn refusing(self, kernel: &'static str) -> Setup {
        Setup { refused: Some(kernel), ..self }
    }

    /// One device.
    pub fn device(self) -> Host {
        let schedule = Schedule::new(self.seed);
        Host::new(self, 0, schedule)
    }

    /// Devices that work together, each with its own setup; the first decides on the seed.
    pub fn together(setups: Vec<Setup>) -> Vec<Host> {
        let schedule = Schedule::new(setups.first().map_or(0, |setup| setup.seed));
        let device = |(ordinal, setup)| Host::new(setup, ordinal, schedule.clone());
        setups.into_iter().enumerate().map(device).collect()
    }
}

impl Host {
    fn new(setup: Setup, ordinal: usize, schedule: Schedule) -> Host {
        Host(Arc::new(Shared {
            free: AtomicUsize::new(setup.memory),
            launches: AtomicUsize::new(setup.launches),
            setup,
            ordinal,
            schedule,
            compilations: AtomicUsize::new(0),
            launched: Mutex::default(),
            page_locked: Mutex::default(),
        }))
    }

    /// How many texts have been given to the compiler.
    pub fn compilations(&self) -> usize {
        self.0.compilations.load(Ordering::Relaxed)
    }

    /// The kernels that were launched, in order.
    pub fn launched(&self) -> Vec<String> {
        lock(&self.0.launched).clone()
    }

    /// From here on the driver refuses all launches after so many.
    pub fn set_launches(&self, launches: usize) {
        self.0.launches.store(launches, Ordering::Relaxed);
    }

    /// Counts a launch, which a driver that fails refuses.
    fn count_launch(&self, kernel: &str) -> Result<(), Error> {
        let less = |left: usize| left.checked_sub(1);
        if self.0.launches.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            let doing = format!("starting {kernel} on {}", self.name());
            return Err(Error::Cuda { doing, reason: "no more launches".to_owned() });
        }
        lock(&self.0.launched).push(kernel.to_owned());
        Ok(())
    }

    /// Takes so many bytes of the free memory.
    fn take(&self, bytes: usize) -> Result<(), Error> {
        let less = |free: usize| free.checked_sub(bytes);
        let taken = self.0.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.map(drop).map_err(|free| {
            too_little_memory(self.name(), &format!("{bytes} bytes are wanted"), Some(free))
        })
    }

    fn give_back(&self, bytes: usize) {
        self.0.free.fetch_add(bytes, Ordering::Relaxed);
    }

    fn lock_pages(&self, address: usize, bytes: usize) {
        lock(&self.0.page_locked).insert(address, bytes);
    }

    fn unlock_pages(&self, address: usize) {
        lock(&self.0.page_locked).remove(&address);
    }

    fn schedule(&self) -> &Schedule {
        &self.0.schedule
    }
}

impl Device for Host {
    type Memory = Memory;
    type Pinned = Pinned;
    type Kernel = Kernel;
    type Pending = Pending;
    type Stream = Stream;
    type Event = Event;
    /// There are none.
    type Graph = std::convert::Infallible;

    fn name(&self) -> String {
        format!("host:{}", self.0.ordinal)
    }

    fn limits(&self) -> Limits {
        let Setup { multiprocessors, shared_memory, .. } = self.0.setup;
        Limits { multiprocessors, shared_per_block: shared_memory, ..Limits::HOPPER }
    }

    fn has_warp_groups(&self) -> bool {
        true
    }

    fn free_memory(&self, idle: usize) -> Result<usize, Error> {
        Ok(self.0.free.load(Ordering::Relaxed) + self.0.setup.taken + idle)
    }

    fn reserve(&self, bytes: usize) -> Result<Memory, Error> {
        Memory::new(self, bytes)
    }

    fn memory(&self, bytes: usize) -> Result<Memory, Error> {
        Memory::new(self, bytes)
    }

    fn pinned(&self, bytes: usize) -> Result<Pinned, Error> {
        Ok(Pinned::new(self, bytes))
    }

    fn is_page_locked(&self, address: *const u8, bytes: usize) -> bool {
        let pieces = lock(&self.0.page_locked);
        let before = pieces.range(..=address.addr()).next_back();
        before.is_some_and(|(first, len)| address.addr() + bytes <= first + len)
    }

    fn stream(&self) -> Result<Stream, Error> {
        Ok(Stream::new(self))
    }

    fn event(&self) -> Result<Event, Error> {
        Ok(self.schedule().event())
    }

    /// As device code for the host reads it: the address, then all sizes.
    fn tensor_map(&self, field: u64, layout: &TensorMapLayout) -> Result<TensorMap, Error> {
        let TensorMapLayout { sizes: [nx, ny, planes], strides: [row, plane], .. } = *layout;
        let [x, y] = layout.box_sizes;
        let mut words = [0; 16];
        words[0] = field;
        for (word, n) in words[1..].iter_mut().zip([nx, ny, planes, row, plane, x, y]) {
            *word = n as u64;
        }
        Ok(TensorMap(words))
    }

    fn enable_peer_access(&self, _: &Host) -> Result<(), Error> {
        Ok(())
    }

    fn cached(&self, source: &str, kernels: &[&str]) -> Option<Pending> {
        (self.0.setup.patience == 0).then(|| self.compile_async(source, kernels))
    }

    fn compile_async(&self, source: &str, kernels: &[&str]) -> Pending {
        self.0.compilations.fetch_add(1, Ordering::Relaxed);
        let Setup { folder, patience, refused, .. } = &self.0.setup;
        match refused.filter(|refused| kernels.contains(refused)) {
            Some(kernel) => Pending::refused(kernel, source),
            None => Pending::new(folder, source, kernels, *patience),
        }
    }

    fn wait(&self, pending: Pending) -> Result<Vec<Kernel>, Error> {
        pending.kernels()
    }
}
