//! What is kept of a device between calls: kernels, and streams with their memory.

use super::late::Late;
use super::order::Order;
use super::plan::{self, Kernel};
use super::recent::Recent;
use super::staging::Staging;
use super::stream_workspace::StreamWorkspace;
use odeum_core::{Error, lock};
use odeum_cuda::{Device, Gpu, Kernel as _, Limits, Memory, Stream};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// Bytes of an arena that is kept in any case.
const ALWAYS_KEPT: usize = 1 << 30;
/// A larger one is kept if it has at most one part in so many of what else is free; others go back to those that use the device, too. Calls
/// that reserved 2 GB and gave it back took 1.5 to 7 ms longer (H200).
const PART_KEPT: usize = 16;
/// All that is kept is at most so many times either: the arenas of some runs at once.
const ARENAS_KEPT: usize = 4;
/// Bytes of page-locked memory that each worker keeps at most: some batches, unless their systems save very many states.
const STAGING_KEPT: usize = 64 << 20;

/// A device, and what is kept of it.
pub(super) struct Kept<D: Device> {
    pub(super) device: D,
    pub(super) limits: Limits,
    /// Systems up to which several lanes for each are the faster way.
    pub(super) lane_systems: usize,
    /// Threads of a system at least.
    pub(super) least_width: usize,
    /// Systems of a batch at most.
    pub(super) largest_batch: usize,
    loaded: Mutex<Recent<Arc<Kernel>, Place<D>>>,
    /// Streams and their memory that no run is using.
    lanes: Mutex<Vec<StreamWorkspace<D>>>,
    /// Page-locked memory that no run is using.
    staging: Mutex<Vec<Staging<D>>>,
    /// Streams without memory that no run is using.
    streams: Mutex<Vec<D::Stream>>,
    /// The kernels that sort, since the first sort.
    order: Mutex<Option<Arc<Order<D>>>>,
    late: Mutex<Option<Arc<Late<D>>>>,
}

/// Where a kernel is, or will be: who loads it keeps others from the same work, but not from other kernels.
type Place<D> = Arc<Mutex<Option<Loaded<D>>>>;

/// A kernel in the memory of a device, as long as someone has it.
pub(super) struct Loaded<D: Device> {
    pub(super) kernel: D::Kernel,
    /// Blocks that a multiprocessor holds at once.
    pub(super) resident: usize,
    /// What the kernel reads, on the device.
    tables: Option<Arc<D::Memory>>,
}

impl<D: Device> Clone for Loaded<D> {
    fn clone(&self) -> Self {
        let Loaded { kernel, resident, tables } = self;
        Loaded { kernel: kernel.clone(), resident: *resident, tables: tables.clone() }
    }
}

impl<D: Device> Loaded<D> {
    /// The address of what the kernel reads.
    pub(super) fn tables(&self) -> *const u8 {
        self.tables.as_ref().map_or(0, |tables| tables.address()) as *const u8
    }
}

impl Kept<Gpu> {
    /// The GPU of this number.
    pub(super) fn open(ordinal: usize) -> Result<Arc<Self>, Error> {
        Gpu::open(ordinal).map(Kept::of_process)
    }

    /// Frees the memory of this GPU that no run is using; false where there was none.
    pub(super) fn drop_idle_of(ordinal: usize) -> bool {
        let kept = lock(Kept::all()).get(&ordinal).cloned();
        kept.is_some_and(|kept| kept.drop_idle())
    }

    /// The GPUs of these numbers.
    pub(super) fn open_all(ordinals: &[usize]) -> Result<Vec<Arc<Self>>, Error> {
        ordinals.iter().map(|&ordinal| Kept::open(ordinal)).collect()
    }

    /// One for each number.
    fn of_process(gpu: Gpu) -> Arc<Self> {
        let mut kept = lock(Kept::all());
        kept.entry(gpu.ordinal()).or_insert_with(|| Arc::new(Kept::new(gpu))).clone()
    }

    fn all() -> &'static Mutex<HashMap<usize, Arc<Self>>> {
        static KEPT: OnceLock<Mutex<HashMap<usize, Arc<Kept<Gpu>>>>> = OnceLock::new();
        KEPT.get_or_init(Mutex::default)
    }
}

impl<D: Device> Kept<D> {
    /// A device of which nothing is kept yet.
    pub(super) fn new(device: D) -> Self {
        let limits = device.limits();
        let lane_systems = plan::lane_systems(&limits);
        let (loaded, lanes, staging, streams, order, late) = Default::default();
        let (least_width, largest_batch) = (1, usize::MAX);
        Kept {
            device,
            limits,
            lane_systems,
            least_width,
            largest_batch,
            loaded,
            lanes,
            staging,
            streams,
            order,
            late,
        }
    }

    /// A lane whose arena has at least this many bytes: an idle one, or a new one.
    pub(super) fn lane(&self, bytes: usize) -> Result<StreamWorkspace<D>, Error> {
        match idle(&self.lanes, |lane| lane.arena.bytes() >= bytes) {
            // One that is too small makes room for its successor.
            Some(lane) => {
                lane.with_room(self, bytes).or_else(|_| StreamWorkspace::new(self, bytes))
            }
            None => StreamWorkspace::new(self, bytes),
        }
    }

    /// Memory of this many bytes, of whatever content. What no run is using makes room for it.
    pub(super) fn reserve(&self, bytes: usize) -> Result<D::Memory, Error> {
        self.device.reserve(bytes).or_else(|error| match self.drop_idle() {
            true => self.device.reserve(bytes),
            false => Err(error),
        })
    }

    /// Frees the memory of lanes that no run is using; false where there was none.
    fn drop_idle(&self) -> bool {
        let idle = std::mem::take(&mut *lock(&self.lanes));
        !idle.is_empty()
    }

    /// Page-locked memory of at least this many bytes: idle, or new.
    pub(super) fn staging(&self, bytes: usize) -> Result<Staging<D>, Error> {
        match idle(&self.staging, |staging| staging.bytes() >= bytes) {
            Some(staging) if staging.bytes() >= bytes => Ok(staging),
            too_small => {
                drop(too_small);
                Staging::new(&self.device, bytes)
            }
        }
    }

    /// The kernels that sort.
    pub(super) fn order(&self) -> Result<Arc<Order<D>>, Error> {
        once(&self.order, || Order::new(&self.device))
    }

    /// The kernel that gathers late results.
    pub(super) fn late(&self) -> Result<Arc<Late<D>>, Error> {
        once(&self.late, || Late::new(&self.device))
    }

    /// A stream with nothing in it.
    pub(super) fn stream(&self) -> Result<D::Stream, Error> {
        let idle = lock(&self.streams).pop();
        idle.map_or_else(|| self.device.stream(), Ok)
    }

    /// Takes a lane back for later runs, when its stream is done; after an error it may never be.
    pub(super) fn keep(&self, lane: StreamWorkspace<D>) {
        if lane.stream.wait().is_ok() && self.keeps(lane.bytes(), self.idle_bytes()) {
            lock(&self.lanes).push(lane);
        }
    }

    /// Whether so many bytes are kept beside those that are idle.
    fn keeps(&self, bytes: usize, idle: usize) -> bool {
        let all = bytes + idle;
        if bytes <= ALWAYS_KEPT && all <= ARENAS_KEPT * ALWAYS_KEPT {
            return true;
        }
        let part = self.device.free_memory(idle).unwrap_or(0) / PART_KEPT;
        bytes <= ALWAYS_KEPT.max(part) && all <= ARENAS_KEPT * part
    }

    /// Takes back page-locked memory of which no stream makes use any more, unless others could miss it.
    pub(super) fn keep_staging(&self, staging: Staging<D>) {
        if staging.bytes() <= STAGING_KEPT {
            lock(&self.staging).push(staging);
        }
    }

    /// Takes back a stream, when it is done.
    pub(super) fn keep_stream(&self, stream: D::Stream) {
        if stream.wait().is_ok() {
            lock(&self.streams).push(stream);
        }
    }

    /// Lanes that no run is using.
    pub(super) fn idle_lanes(&self) -> usize {
        lock(&self.lanes).len()
    }

    /// Compiles and loads a kernel, unless that has been done.
    pub(super) fn load(&self, kernel: &Arc<Kernel>) -> Result<Loaded<D>, Error> {
        let place = {
            let mut loaded = lock(&self.loaded);
            loaded.get(kernel).unwrap_or_else(|| {
                let place = Place::default();
                loaded.put(Arc::clone(kernel), Arc::clone(&place));
                place
            })
        };
        let mut place = lock(&place);
        if let Some(loaded) = &*place {
            return Ok(loaded.clone());
        }
        let compiled = self.device.compile(&kernel.source, kernel.name)?;
        let layout = &kernel.layout;
        if layout.shared > 0 {
            // All there is while blocks are counted.
            compiled.prefer_shared(self.limits.shared_per_multiprocessor, &self.limits)?;
        }
        let resident = compiled.prepare(layout.block, layout.shared)?;
        if layout.shared > 0 {
            // The rest is the cache of what registers do not hold.
            compiled.prefer_shared(layout.shared_by(resident), &self.limits)?;
        }
        let tables = self.upload(&kernel.tables)?;
        Ok(place.insert(Loaded { kernel: compiled, resident, tables }).clone())
    }

    /// Tables in memory of the device, where there are any.
    fn upload(&self, tables: &[u8]) -> Result<Option<Arc<D::Memory>>, Error> {
        if tables.is_empty() {
            return Ok(None);
        }
        let mut memory = self.reserve(tables.len())?;
        self.device.stream()?.write(&mut memory, 0, tables)?;
        Ok(Some(Arc::new(memory)))
    }

    /// Bytes of device memory that may be used, those of idle lanes among them.
    pub(super) fn free_memory(&self) -> Result<usize, Error> {
        self.device.free_memory(self.idle_bytes())
    }

    fn idle_bytes(&self) -> usize {
        lock(&self.lanes).iter().map(StreamWorkspace::bytes).sum()
    }
}

/// What is at a place, or is made for it.
fn once<V>(
    place: &Mutex<Option<Arc<V>>>,
    make: impl FnOnce() -> Result<V, Error>,
) -> Result<Arc<V>, Error> {
    let mut place = lock(place);
    if let Some(made) = &*place {
        return Ok(Arc::clone(made));
    }
    Ok(Arc::clone(place.insert(Arc::new(make()?))))
}

/// One of what is idle, if possible one that fits.
fn idle<V>(idle: &Mutex<Vec<V>>, fits: impl Fn(&V) -> bool) -> Option<V> {
    let mut idle = lock(idle);
    let fitting = idle.iter().position(fits);
    fitting.or_else(|| idle.len().checked_sub(1)).map(|k| idle.swap_remove(k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_cuda::host::Setup;

    #[test]
    fn small_arenas_are_kept_and_large_ones_where_there_is_much_memory() {
        let with = |memory| Kept::new(Setup::new(std::env::temp_dir()).memory(memory).device());
        let large = ALWAYS_KEPT + 1;
        assert!(with(0).keeps(ALWAYS_KEPT, 0) && !with(0).keeps(large, 0));
        let little = PART_KEPT * large - 1;
        assert!(!with(little).keeps(large, 0) && with(little + 1).keeps(large, 0));
    }

    /// However many runs are over: their arenas were kept without bound.
    #[test]
    fn all_that_is_kept_is_bounded() {
        let memory = 80 * ALWAYS_KEPT;
        for (memory, most) in [(2 * ALWAYS_KEPT, 4 * ALWAYS_KEPT), (memory, memory / 4)] {
            // What is idle is not free.
            let keeps = |idle: usize| {
                let setup = Setup::new(std::env::temp_dir()).memory(memory.saturating_sub(idle));
                Kept::new(setup.device()).keeps(ALWAYS_KEPT, idle)
            };
            assert!(keeps(most - ALWAYS_KEPT) && !keeps(most - ALWAYS_KEPT + 1));
        }
    }

    #[test]
    fn what_is_kept_makes_room_for_what_is_wanted() {
        let kept = Kept::new(Setup::new(std::env::temp_dir()).memory(100_000).device());
        let lanes = [40_000; 2].map(|bytes| kept.lane(bytes).unwrap());
        lanes.into_iter().for_each(|lane| kept.keep(lane));
        assert_eq!(kept.idle_lanes(), 2);
        assert_eq!(kept.lane(90_000).unwrap().arena.bytes(), 90_000);
        assert_eq!(kept.idle_lanes(), 0);
        assert!(kept.lane(110_000).is_err());
    }

    /// Tables, matrices, orders and steps failed beside arenas that nobody used, although these counted as free.
    #[test]
    fn what_is_kept_makes_room_for_whatever_is_wanted() {
        let kept = Kept::new(Setup::new(std::env::temp_dir()).memory(100_000).device());
        let mut own = kept.lane(20_000).unwrap();
        for wanted in 0..4 {
            kept.keep(kept.lane(75_000).unwrap());
            match wanted {
                0 => drop(kept.upload(&[1; 10_000]).unwrap()),
                1 => assert!(own.matrices(&kept, 10_000).is_ok()),
                2 => assert!(own.ordered(&kept, 1_000, 1).is_ok()),
                _ => drop(kept.reserve(10_000).unwrap()),
            }
            assert_eq!(kept.idle_lanes(), 0, "{wanted}");
            own = kept.lane(20_000).unwrap();
        }
    }
}
