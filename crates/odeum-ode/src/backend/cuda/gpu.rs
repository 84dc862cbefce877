//! What is kept of a GPU between calls: kernels, and streams with their memory.

use super::lane::Lane;
use super::plan::Kernel;
use super::recent::Recent;
use odeum_core::Error;
use odeum_cuda::{Limits, lock};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// A GPU, and what is kept of it.
pub(super) struct Gpu {
    pub(super) card: odeum_cuda::Gpu,
    pub(super) limits: Limits,
    pub(super) ordinal: usize,
    loaded: Mutex<Recent<Arc<Kernel>, Loaded>>,
    /// Streams and their memory that no run is using.
    idle: Mutex<Vec<Lane>>,
}

/// A kernel in the memory of a GPU, as long as someone has it.
#[derive(Clone)]
pub(super) struct Loaded {
    pub(super) kernel: odeum_cuda::Kernel,
    /// Blocks that a multiprocessor holds at once.
    pub(super) resident: usize,
}

impl Gpu {
    /// The GPU of this number.
    pub(super) fn open(ordinal: usize) -> Result<Arc<Gpu>, Error> {
        odeum_cuda::Gpu::open(ordinal).map(Gpu::kept)
    }

    /// The GPUs of these numbers, opened side by side.
    pub(super) fn open_all(ordinals: &[usize]) -> Result<Vec<Arc<Gpu>>, Error> {
        Ok(odeum_cuda::Gpu::open_all(ordinals)?.into_iter().map(Gpu::kept).collect())
    }

    /// One for each number.
    fn kept(card: odeum_cuda::Gpu) -> Arc<Gpu> {
        static KEPT: OnceLock<Mutex<HashMap<usize, Arc<Gpu>>>> = OnceLock::new();
        let (limits, ordinal) = (card.limits(), card.ordinal());
        let mut kept = lock(KEPT.get_or_init(Mutex::default));
        let gpu = kept.entry(ordinal).or_insert_with(|| {
            let (loaded, idle) = (Mutex::default(), Mutex::default());
            Arc::new(Gpu { card, limits, ordinal, loaded, idle })
        });
        gpu.clone()
    }

    /// A lane whose arena has at least this many bytes: an idle one, or a new one.
    pub(super) fn lane(&self, bytes: usize) -> Result<Lane, Error> {
        let idle = {
            let mut idle = lock(&self.idle);
            let fits = idle.iter().position(|lane| lane.arena.bytes() >= bytes);
            // One that is too small makes room for its successor.
            fits.or_else(|| idle.len().checked_sub(1)).map(|k| idle.swap_remove(k))
        };
        match idle {
            Some(lane) => lane.with_room(&self.card, bytes),
            None => Lane::new(&self.card, bytes),
        }
    }

    /// Takes a lane back for later runs, when its stream is done; after an error it may never be.
    pub(super) fn keep(&self, lane: Lane) {
        if lane.stream.wait().is_ok() {
            lock(&self.idle).push(lane);
        }
    }

    /// Compiles and loads a kernel, unless that has been done.
    pub(super) fn load(&self, kernel: &Arc<Kernel>) -> Result<Loaded, Error> {
        let mut loaded = lock(&self.loaded);
        if let Some(kernel) = loaded.get(kernel) {
            return Ok(kernel);
        }
        let compiled = self.card.compile(kernel.name, &kernel.source)?;
        let layout = &kernel.layout;
        if layout.shared > 0 {
            compiled.prefer_shared()?;
        }
        let resident = compiled.prepare(layout.block, layout.shared)?;
        let compiled = Loaded { kernel: compiled, resident };
        loaded.put(Arc::clone(kernel), compiled.clone());
        Ok(compiled)
    }

    /// Bytes of device memory that may be used, those of idle lanes among them.
    pub(super) fn free_memory(&self) -> Result<usize, Error> {
        let (free, limit) = self.card.free_memory()?;
        let kept: usize = lock(&self.idle).iter().map(|lane| lane.arena.bytes()).sum();
        Ok((free + kept).min(limit.unwrap_or(usize::MAX)))
    }
}
