//! Work of streams: nothing is done before somebody waits for it, and of what may be done then chance
//! decides what is. What is not waited for is not there.

use super::kernel::Kernel;
use super::stream::Event;
use odeum_core::random::{GAMMA, mix};
use odeum_core::{Error, lock};
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Pieces of work after which chance decides anew which streams go first, so that others fall behind.
const STREAK: usize = 16;
/// How long nothing is done where all wait for kernels that run.
const PAUSE: Duration = Duration::from_micros(50);

/// The streams of devices that work together.
#[derive(Clone)]
pub(super) struct Schedule(Arc<Mutex<Streams>>);

struct Streams {
    given: Vec<VecDeque<Work>>,
    /// How often each event has passed.
    passed: Vec<u64>,
    seed: u64,
    done: usize,
}

pub(super) enum Work {
    Launch {
        kernel: Kernel,
        blocks: [u64; 3],
        /// Threads in two directions, and shared memory \[bytes\].
        block: [u64; 3],
        arguments: Vec<Vec<u128>>,
        concurrent: bool,
    },
    /// A concurrent kernel that has been started.
    Running(JoinHandle<Result<(), Error>>),
    Copy {
        from: usize,
        to: usize,
        bytes: usize,
    },
    Set {
        to: usize,
        bytes: usize,
        value: u8,
    },
    Record(usize, u64),
    Wait(usize, u64),
}

impl Schedule {
    pub(super) fn new(seed: u64) -> Schedule {
        let streams = Streams { given: Vec::new(), passed: Vec::new(), seed, done: 0 };
        Schedule(Arc::new(Mutex::new(streams)))
    }

    /// The number of a new stream.
    pub(super) fn stream(&self) -> usize {
        let given = &mut lock(&self.0).given;
        given.push(VecDeque::new());
        given.len() - 1
    }

    /// An event that has passed.
    pub(super) fn event(&self) -> Event {
        let passed = &mut lock(&self.0).passed;
        passed.push(0);
        Event { number: passed.len() - 1, recorded: 0 }
    }

    /// Gives work to a stream. What it points at must be alive until the stream, or all, are waited for.
    pub(super) fn give(&self, stream: usize, work: Work) {
        lock(&self.0).given[stream].push_back(work);
    }

    /// Whether a stream has nothing left; else some work is done, of whichever stream.
    pub(super) fn is_done(&self, stream: usize) -> Result<bool, Error> {
        let streams = &mut lock(&self.0);
        let done = streams.given[stream].is_empty();
        if !done {
            streams.work()?;
        }
        Ok(done)
    }

    /// Works until a stream has nothing left.
    pub(super) fn wait(&self, stream: usize) -> Result<(), Error> {
        loop {
            // Others get on in between.
            let streams = &mut lock(&self.0);
            if streams.given[stream].is_empty() {
                return Ok(());
            }
            streams.work()?;
        }
    }

    /// Works until no stream has anything left. Work that fails, or waits for ever, is given up.
    pub(super) fn finish(&self) {
        let streams = &mut lock(&self.0);
        while streams.given.iter().any(|given| !given.is_empty()) {
            if streams.work().is_err() {
                streams.given.iter_mut().for_each(VecDeque::clear);
            }
        }
    }
}

impl Streams {
    /// Does one piece of work that need not wait.
    fn work(&mut self) -> Result<(), Error> {
        let may = |given: &VecDeque<Work>| match given.front() {
            None => false,
            Some(Work::Wait(event, times)) => self.passed[*event] >= *times,
            Some(Work::Running(kernel)) => kernel.is_finished(),
            Some(_) => true,
        };
        let ready = (0..self.given.len()).filter(|&n| may(&self.given[n]));
        let rank = |n: &usize| shuffle_key(self.seed, self.done / STREAK, *n);
        let next = ready.max_by_key(rank);
        let work = next.and_then(|n| self.given[n].pop_front());
        let (Some(stream), Some(work)) = (next, work) else {
            let is_running =
                |given: &VecDeque<Work>| matches!(given.front(), Some(Work::Running(_)));
            if self.given.iter().any(is_running) {
                std::thread::sleep(PAUSE);
                return Ok(());
            }
            let reason = "every stream waits for another one".to_owned();
            return Err(Error::Cuda { doing: "waiting for the host device".to_owned(), reason });
        };
        self.done += 1;
        match work {
            Work::Record(event, times) => self.passed[event] = times,
            Work::Wait(..) => {}
            Work::Copy { from, to, bytes } => {
                let from = std::ptr::with_exposed_provenance::<u8>(from);
                let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
                // SAFETY: both ranges lay within memories when the work was given, which end all
                // work before they go.
                unsafe { std::ptr::copy(from, to, bytes) };
            }
            Work::Set { to, bytes, value } => {
                let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
                // SAFETY: as above.
                unsafe { std::ptr::write_bytes(to, value, bytes) };
            }
            Work::Launch { kernel, blocks, block, arguments, concurrent } => {
                // SAFETY: whoever launched it promised the types, and that the memory lives.
                let run = move || unsafe { kernel.run(&arguments, blocks, block, concurrent) };
                if !concurrent {
                    return run();
                }
                let running = Work::Running(std::thread::spawn(run));
                self.given[stream].push_front(running);
            }
            Work::Running(kernel) => kernel.join().unwrap_or_else(|panic| resume_unwind(panic))?,
        }
        Ok(())
    }
}

/// A pseudo-random number for each stream and streak.
fn shuffle_key(seed: u64, streak: usize, stream: usize) -> u64 {
    let mut x = seed;
    for part in [streak as u64, stream as u64] {
        x = mix((x ^ part).wrapping_add(GAMMA));
    }
    x
}
