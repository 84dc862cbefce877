//! A machine that runs device code on this one: the kernels' text, made plain C++ by the host
//! shim and compiled by g++.

#[path = "../../../odeum-ode/tests/device/host.rs"]
mod gpp;
#[path = "queues.rs"]
mod queues;

pub(crate) use gpp::is_available;

use libloading::Library;
use odeum_cuda::HOST_SHIM;
use odeum_fields::cuda::inspect::{self, Boxes, Machine, TensorMap};
use odeum_ode::{Error, Scalar};
use queues::{Point, Work, World};
use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::ffi::c_void;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// This computer in place of a GPU, with a queue.
pub(crate) struct Host {
    /// Bytes that are still free.
    free: Arc<AtomicUsize>,
    world: World,
    queue: usize,
    /// How often a kernel is not there when it is asked for.
    patience: usize,
    /// Texts whose compilation has begun.
    begun: Arc<AtomicUsize>,
}

impl Host {
    /// How many texts have been given to the compiler, from now on too.
    #[allow(dead_code)]
    pub(crate) fn begun(&self) -> Arc<AtomicUsize> {
        self.begun.clone()
    }

    /// Whose compiler takes its time: kernels are there when they have been asked for so often.
    #[allow(dead_code)]
    pub(crate) fn slow(patience: usize) -> Host {
        Host { patience, ..Host::default() }
    }

    /// With so many bytes of memory.
    pub(crate) fn with_memory(bytes: usize) -> Host {
        Host::new(bytes, World::new(0))
    }

    /// Machines that work together; chance decides which goes ahead.
    #[allow(dead_code)]
    pub(crate) fn several(memory: &[usize], seed: u64) -> Vec<Host> {
        let world = World::new(seed);
        memory.iter().map(|bytes| Host::new(*bytes, world.clone())).collect()
    }

    fn new(bytes: usize, world: World) -> Host {
        let (free, begun) = (Arc::new(AtomicUsize::new(bytes)), Arc::default());
        Host { free, queue: world.queue(), world, patience: 0, begun }
    }

    fn move_bytes(
        &self,
        (from, first): (&Memory, usize),
        (to, place): (&mut Memory, usize),
        bytes: usize,
    ) {
        assert!(first + bytes <= from.bytes && place + bytes <= to.bytes);
        let from = from.words.as_ptr().expose_provenance() + first;
        let to = to.words.as_mut_ptr().expose_provenance() + place;
        self.world.give(self.queue, Work::Move { from, to, bytes });
    }
}

impl Default for Host {
    fn default() -> Host {
        Host::with_memory(1 << 40)
    }
}

pub(crate) struct Memory {
    /// Words, so that every type is aligned.
    words: Vec<u128>,
    bytes: usize,
    free: Arc<AtomicUsize>,
    world: World,
}

impl Drop for Memory {
    /// As a driver does after all work that may use it.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.world.finish();
        }
        self.free.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[derive(Clone)]
pub(crate) struct Kernel {
    text: Arc<Compiled>,
    name: String,
}

/// Kernels that seem to be compiled for a while.
pub(crate) struct Coming {
    kernels: Vec<Kernel>,
    /// How often they are not there when asked for.
    patience: AtomicUsize,
}

struct Compiled {
    library: Library,
    /// It has one state for all threads of a test.
    one: Mutex<()>,
}

/// Texts that were compiled last, by what they hash to: tests ask for the same again soon or never.
static COMPILED: Mutex<VecDeque<(u64, Arc<Compiled>)>> = Mutex::new(VecDeque::new());
const KEPT: usize = 48;

fn compiled(text: &str, names: &[&str]) -> Arc<Compiled> {
    let mut hash = DefaultHasher::new();
    (text, names).hash(&mut hash);
    let key = hash.finish();
    if let Some((_, library)) = COMPILED.lock().unwrap().iter().find(|(known, _)| *known == key) {
        return library.clone();
    }
    let (head, main) = (inspect::HOST_THREADS, inspect::HOST_MAIN);
    let entries: String = names.iter().map(|name| format!("OD_HOST_KERNEL({name})\n")).collect();
    let library = gpp::compile(&format!("{HOST_SHIM}\n{head}\n{text}\n{main}\n{entries}"), &[]);
    let library = Arc::new(Compiled { library, one: Mutex::new(()) });
    let mut compiled = COMPILED.lock().unwrap();
    compiled.push_back((key, library.clone()));
    if compiled.len() > KEPT {
        compiled.pop_front();
    }
    library
}

impl Machine for Host {
    type Memory = Memory;
    type Entry = Kernel;
    type Coming = Coming;
    type Recording = ();
    type Point = Point;

    fn name(&self) -> String {
        "host".to_owned()
    }

    fn twin(&self) -> Result<Host, Error> {
        let (free, world) = (self.free.clone(), self.world.clone());
        let begun = self.begun.clone();
        Ok(Host { free, queue: world.queue(), world, patience: 0, begun })
    }

    fn free_memory(&self) -> Result<usize, Error> {
        Ok(self.free.load(Ordering::Relaxed))
    }

    fn multiprocessors(&self) -> usize {
        2
    }

    fn shared(&self) -> usize {
        227 << 10
    }

    fn has_warp_groups(&self) -> bool {
        true
    }

    /// Large numbers, to be found where they are read without having been written: after what is no
    /// number marches go back and take single steps.
    fn memory(&self, bytes: usize) -> Result<Memory, Error> {
        self.free.fetch_sub(bytes, Ordering::Relaxed);
        let words = vec![u128::from_ne_bytes([0x41; 16]); bytes.div_ceil(16)];
        Ok(Memory { words, bytes, free: self.free.clone(), world: self.world.clone() })
    }

    fn address(memory: &Memory) -> u64 {
        memory.words.as_ptr().addr() as u64
    }

    /// As `OdMap` in device/relay/barrier.cuh has it on the host.
    fn boxes(&self, field: u64, boxes: &Boxes) -> Result<TensorMap, Error> {
        let Boxes { sizes: [nx, ny, planes], strides: [row, plane], cells: [x, y] } = *boxes;
        let mut words = [0; 16];
        words[0] = field;
        for (word, n) in words[1..].iter_mut().zip([nx, ny, planes, row, plane, x, y]) {
            *word = n as u64;
        }
        Ok(TensorMap(words))
    }

    fn kept(&self, text: &str, names: &[&str]) -> Option<Coming> {
        (self.patience == 0).then(|| self.begin(text, names))
    }

    fn begin(&self, text: &str, names: &[&str]) -> Coming {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let text = compiled(text, names);
        let kernel = |name: &&str| Kernel { text: text.clone(), name: (*name).to_owned() };
        let patience = AtomicUsize::new(self.patience);
        Coming { kernels: names.iter().map(kernel).collect(), patience }
    }

    fn is_ready(coming: &Coming) -> bool {
        let less = |n: usize| n.checked_sub(1);
        coming.patience.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
    }

    fn finish(&self, coming: Coming) -> Result<Vec<Kernel>, Error> {
        Ok(coming.kernels)
    }

    fn prepare(&self, _: &Kernel, _: usize, _: usize) -> Result<usize, Error> {
        Ok(4)
    }

    unsafe fn launch(
        &self,
        kernel: &Kernel,
        blocks: [usize; 3],
        threads: [usize; 2],
        _: usize,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let (blocks, threads) = (blocks.map(|n| n as u64), threads.map(|n| n as u64));
        let arguments = kernel.arguments(arguments);
        let kernel = kernel.clone();
        self.world.give(self.queue, Work::Launch { kernel, blocks, threads, arguments });
        Ok(())
    }

    fn copy(&self, from: &Memory, to: &mut Memory, bytes: usize) -> Result<(), Error> {
        self.move_bytes((from, 0), (to, 0), bytes);
        Ok(())
    }

    fn write<V: Copy>(&self, to: &mut Memory, at: usize, values: &[V]) -> Result<(), Error> {
        assert!(at + size_of_val(values) <= to.bytes);
        self.wait()?;
        let place = to.words.as_mut_ptr().cast::<u8>().wrapping_add(at).cast::<V>();
        // SAFETY: the range lies within the memory, as just compared.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), place, values.len()) };
        Ok(())
    }

    fn fill<V: Scalar>(
        &self,
        to: &mut Memory,
        at: usize,
        count: usize,
        fill: &(dyn Fn(usize, &mut [V]) + Sync),
    ) -> Result<(), Error> {
        // Pieces that are no rows, in any order.
        let mut values = vec![V::from_f64(0.0); count];
        for (n, piece) in values.chunks_mut(101).enumerate().rev() {
            fill(n * 101, piece);
        }
        self.write(to, at, &values)
    }

    fn read<V: Copy>(&self, from: &Memory, at: usize, values: &mut [V]) -> Result<(), Error> {
        assert!(at + size_of_val(values) <= from.bytes);
        self.wait()?;
        let place = from.words.as_ptr().cast::<u8>().wrapping_add(at).cast::<V>();
        // SAFETY: the range lies within the memory, as just compared.
        unsafe { std::ptr::copy_nonoverlapping(place, values.as_mut_ptr(), values.len()) };
        Ok(())
    }

    fn pour<V: Copy>(
        &self,
        from: &Memory,
        at: usize,
        count: usize,
        take: &mut dyn FnMut(usize, &[V]),
    ) -> Result<(), Error> {
        assert!(at + count * size_of::<V>() <= from.bytes);
        self.wait()?;
        let place = from.words.as_ptr().cast::<u8>().wrapping_add(at).cast::<V>();
        // SAFETY: the range lies within the memory, as just compared.
        let values = unsafe { std::slice::from_raw_parts(place, count) };
        // As many as begin and end within rows.
        for (piece, values) in values.chunks(77).enumerate() {
            take(77 * piece, values);
        }
        Ok(())
    }

    fn befriend(&self, _: &Host) -> Result<(), Error> {
        Ok(())
    }

    fn send(
        &self,
        from: (&Memory, usize),
        to: (&mut Memory, usize),
        bytes: usize,
    ) -> Result<(), Error> {
        self.move_bytes(from, to, bytes);
        Ok(())
    }

    fn point(&self) -> Result<Point, Error> {
        Ok(self.world.point())
    }

    fn set(&self, point: &mut Point) -> Result<(), Error> {
        self.world.set(self.queue, point);
        Ok(())
    }

    fn after(&self, point: &Point) -> Result<(), Error> {
        self.world.after(self.queue, point);
        Ok(())
    }

    fn record(&self, _: &mut dyn FnMut() -> Result<(), Error>) -> Result<Option<()>, Error> {
        Ok(None)
    }

    fn replay(&self, (): &()) -> Result<(), Error> {
        Ok(())
    }

    fn mark(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn wait(&self) -> Result<(), Error> {
        self.world.wait(self.queue);
        Ok(())
    }

    fn elapsed(&self) -> Result<f64, Error> {
        Ok(0.0)
    }
}
