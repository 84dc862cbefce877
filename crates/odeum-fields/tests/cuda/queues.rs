//! Queues of work in place of those of GPUs: nothing is done before somebody waits for it, and of
//! what may be done then chance decides what is. What is not waited for is not there.

use super::Kernel;
use libloading::Symbol;
use odeum_fields::noise;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

/// The queues of machines that wait for each other.
#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<Queues>>);

struct Queues {
    waiting: Vec<VecDeque<Work>>,
    /// How often each point has been passed.
    passed: Vec<u64>,
    seed: u64,
    done: usize,
}

/// A point of a queue, and how often it was set.
pub(crate) struct Point {
    number: usize,
    set: u64,
}

pub(crate) enum Work {
    Launch { kernel: Kernel, blocks: [u64; 3], threads: [u64; 2], arguments: Vec<Vec<u128>> },
    Move { from: usize, to: usize, bytes: usize },
    Pass(usize, u64),
    Await(usize, u64),
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let queues = Queues { waiting: Vec::new(), passed: Vec::new(), seed, done: 0 };
        World(Arc::new(Mutex::new(queues)))
    }

    /// The number of a new queue.
    pub(crate) fn queue(&self) -> usize {
        let waiting = &mut self.0.lock().unwrap().waiting;
        waiting.push(VecDeque::new());
        waiting.len() - 1
    }

    pub(crate) fn give(&self, queue: usize, work: Work) {
        self.0.lock().unwrap().waiting[queue].push_back(work);
    }

    pub(crate) fn point(&self) -> Point {
        let passed = &mut self.0.lock().unwrap().passed;
        passed.push(0);
        Point { number: passed.len() - 1, set: 0 }
    }

    pub(crate) fn set(&self, queue: usize, point: &mut Point) {
        point.set += 1;
        self.give(queue, Work::Pass(point.number, point.set));
    }

    pub(crate) fn after(&self, queue: usize, point: &Point) {
        self.give(queue, Work::Await(point.number, point.set));
    }

    /// Works until a queue is empty.
    pub(crate) fn wait(&self, queue: usize) {
        let queues = &mut self.0.lock().unwrap();
        while !queues.waiting[queue].is_empty() {
            queues.work();
        }
    }

    /// Works until all are.
    pub(crate) fn finish(&self) {
        let queues = &mut self.0.lock().unwrap();
        while queues.waiting.iter().any(|queue| !queue.is_empty()) {
            queues.work();
        }
    }
}

impl Queues {
    /// Does one piece of work that need not wait. For some time the same queues go first, so that
    /// others fall behind.
    fn work(&mut self) {
        let may = |queue: &VecDeque<Work>| match queue.front() {
            None => false,
            Some(Work::Await(point, times)) => self.passed[*point] >= *times,
            Some(_) => true,
        };
        let ready = (0..self.waiting.len()).filter(|&n| may(&self.waiting[n]));
        let rank = |n: &usize| noise(self.seed, self.done / 16, *n).to_bits();
        let next = ready.max_by_key(rank).expect("queues wait for each other for ever");
        let work = self.waiting[next].pop_front().unwrap();
        self.done += 1;
        match work {
            Work::Pass(point, times) => self.passed[point] = times,
            Work::Await(..) => {}
            Work::Move { from, to, bytes } => {
                let from = std::ptr::with_exposed_provenance::<u8>(from);
                let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
                // SAFETY: both ranges lay within memories when the work was given, which end all
                // work before they go.
                unsafe { std::ptr::copy(from, to, bytes) };
            }
            Work::Launch { kernel, blocks, threads, mut arguments } => {
                let mut arguments: Vec<*mut c_void> =
                    arguments.iter_mut().map(|a| a.as_mut_ptr().cast()).collect();
                kernel.run(&mut arguments, blocks, threads);
            }
        }
    }
}

type Run = unsafe extern "C" fn(*mut *mut c_void, *const u64, *const u64);
type Sizes = unsafe extern "C" fn(*mut u64) -> u64;

impl Kernel {
    /// Copies of the arguments, as a driver makes them.
    pub(crate) fn arguments(&self, arguments: &[*mut c_void]) -> Vec<Vec<u128>> {
        let mut sizes = [0_u64; 16];
        // SAFETY: the library exports this function, and no kernel has as many arguments.
        let count = unsafe {
            let name = format!("od_host_sizes_{}", self.name);
            let sizes_of: Symbol<Sizes> = self.text.library.get(name.as_bytes()).unwrap();
            sizes_of(sizes.as_mut_ptr())
        };
        assert_eq!(count as usize, arguments.len(), "arguments of {}", self.name);
        let copy = |(from, bytes): (&*mut c_void, &u64)| {
            let mut value = vec![0_u128; (*bytes as usize).div_ceil(16)];
            // SAFETY: who launches promises values of the types that the kernel takes.
            unsafe {
                let to = value.as_mut_ptr().cast::<u8>();
                std::ptr::copy_nonoverlapping(from.cast::<u8>(), to, *bytes as usize);
            }
            value
        };
        arguments.iter().zip(&sizes).map(copy).collect()
    }

    fn run(&self, arguments: &mut [*mut c_void], blocks: [u64; 3], threads: [u64; 2]) {
        let _one = self.text.one.lock().unwrap();
        // SAFETY: the library exports this function; the arguments were those of the launch.
        unsafe {
            let name = format!("od_host_run_{}", self.name);
            let entry: Symbol<Run> = self.text.library.get(name.as_bytes()).unwrap();
            entry(arguments.as_mut_ptr(), blocks.as_ptr(), threads.as_ptr());
        }
    }
}
