//! An ensemble in the memory of a device: one launch integrates all its systems, and the results stay where they are.

use super::arena::{Offsets, Shape, Work};
use super::kept::Kept;
use super::launch::{blocks, launch, matrices};
use super::order::{Costs, Counts, Ordered};
use super::run::Ready;
use super::source::Traits;
use super::stop::{check_queue, no_more, watched};
use super::stream_workspace::StreamWorkspace;
use super::system::DeviceSystem;
use super::task::{self, Lists, Resident, Task};
use crate::lent::Inputs;
use crate::method::Method;
use crate::method::device::Storage;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Memory, Stream, too_little_memory};
use std::marker::PhantomData;
use std::sync::Arc;

/// The arrays of an ensemble, and the kernel that integrates it. End states take the place of initial ones.
pub(super) struct InMemory<T, D: Device> {
    kept: Arc<Kept<D>>,
    ready: Ready<D>,
    /// There until the end.
    lane: Option<StreamWorkspace<D>>,
    offsets: Offsets,
    /// What systems cost is known: they were integrated before.
    is_counted: bool,
    pub(super) dim: usize,
    pub(super) systems: usize,
    n_saves: usize,
    /// Counts of a system.
    pub(super) n_counts: usize,
    pub(super) method: Method,
    pub(super) options: Options,
    precision: PhantomData<T>,
}

impl<T: Scalar, D: Device> InMemory<T, D> {
    /// Uploads an ensemble, whose arrays are those of `shape` of what the ensemble and the options have; the caller reserves `others`
    /// bytes beside.
    pub(super) fn new(
        kept: Arc<Kept<D>>,
        system: &DeviceSystem,
        inputs: &Inputs<'_, T>,
        (method, options): (&Method, &Options),
        (shape, others): (impl FnOnce(Shape) -> Shape, usize),
    ) -> Result<Self, Error> {
        let (dim, systems) = (inputs.dim(), inputs.len());
        check_queue(systems)?;
        let shared = inputs.shares_params();
        let traits = Traits::new(T::NAME == "f32", shared, method, options, &system.ranges);
        let ready = Ready::new(&kept, system, method, &traits, systems)?;
        let n_counts = traits.n_counts;
        let shape = shape(Shape { in_place: true, ..Shape::of(inputs, options, n_counts) });
        let offsets = Offsets::new(&shape, systems);
        let layout = &ready.kernel.layout;
        let blocks = blocks(&kept, &ready.loaded, layout, 1, systems);
        let order =
            if waits(&ready, &kept, systems) { Ordered::<D>::bytes_of(systems, 1) } else { 0 };
        let (need, free) =
            (offsets.end + blocks * layout.global + order + others, kept.free_memory()?);
        if need > free {
            let wanted = format!("{systems} systems need {need} bytes");
            return Err(too_little_memory(kept.device.name(), &wanted, Some(free)));
        }
        let mut lane = kept.lane(offsets.end)?;
        // No call wants for it later.
        matrices(&kept, layout, blocks, &mut lane)?;
        lane.put(&offsets, inputs, &Lists::new(&traits, options, dim))?;
        clear(&mut lane, &offsets, systems)?;
        lane.stream.wait()?;
        Ok(InMemory {
            kept,
            ready,
            lane: Some(lane),
            offsets,
            is_counted: false,
            dim,
            systems,
            n_saves: shape.n_saves,
            n_counts,
            method: method.clone(),
            options: options.clone(),
            precision: PhantomData,
        })
    }

    pub(super) fn device(&self) -> &D {
        &self.kept.device
    }

    /// Memory of the device twice, of this many bytes each.
    pub(super) fn two_of(&self, bytes: usize) -> Result<[D::Memory; 2], Error> {
        Ok([self.kept.reserve(bytes)?, self.kept.reserve(bytes)?])
    }

    /// Its stream and memory, until the end.
    pub(super) fn lane(&mut self) -> Option<&mut StreamWorkspace<D>> {
        self.lane.as_mut()
    }

    /// Integrates all systems, over `span` unless they have spans of their own; the first steps and those of the next call lie at the
    /// addresses of `steps`, where there are any but those of the ensemble. Gives whether it was not stopped: systems that had not begun
    /// then keep their states, with the status [`Status::NotRun`].
    ///
    /// # Safety
    /// The memory of the steps lives until the end.
    pub(super) unsafe fn integrate(
        &mut self,
        span: (f64, f64),
        steps: Option<(u64, u64)>,
        monitor: Option<&Monitor>,
    ) -> Result<bool, Error> {
        let Some(lane) = &mut self.lane else { return Ok(false) };
        let (offsets, systems) = (&self.offsets, self.systems);
        let mut arrays = offsets.arrays::<T>(lane.arena.address());
        if let Some((first, end)) = steps {
            arrays.first_steps = first as *const T;
            arrays.end_steps = end as *mut T;
        }
        if monitor.is_some_and(Monitor::is_stopped) {
            clear(lane, offsets, systems)?;
            lane.stream.wait()?;
            self.is_counted = false;
            return Ok(false);
        }
        let mut task = Task::new(arrays, span, systems, systems, &self.method, &self.options);
        // SAFETY: the arena lives as long as this.
        unsafe { lane.stream.set_bytes(&mut lane.arena, offsets.counters(), 0)? };
        let expected = self.ready.expected.as_ref().filter(|_| !self.is_counted);
        let at_once = self.ready.at_once(&self.kept.limits);
        let waits = waits(&self.ready, &self.kept, systems);
        let order = (waits && (self.is_counted || expected.is_some())).then(|| self.kept.order());
        let order = order.transpose()?;
        if order.is_some() {
            // Not in the time of the kernel.
            lane.ordered(&self.kept, systems, 1)?;
        }
        lane.stream.record_time(0)?;
        if let Some(order) = order {
            let (stream, ordered) = lane.ordered(&self.kept, systems, 1)?;
            let (address, part) = (ordered.address(0), (0, 0..systems));
            let counts = Counts::of(&self.method, arrays.stats as u64, self.n_counts);
            // SAFETY: all arrays lie in the arena, which lives as long as this, and so does the order.
            unsafe {
                match expected {
                    Some(expected) => {
                        expected.order(&self.kept, stream, ordered, part, (&task, at_once))?;
                    }
                    None => order.sort(stream, ordered, part, Costs::Counted(counts))?,
                }
            }
            task.arrays.order = address as *const u32;
        }
        if monitor.is_some() {
            // Of systems that a stop leaves out; after the sort, which reads the counts of the call before.
            clear(lane, offsets, systems)?;
        }
        let Ready { kernel, loaded, .. } = &self.ready;
        // SAFETY: the arena and the step sizes live until the stream is waited for, here.
        unsafe { launch(&self.kept, loaded, &kernel.layout, 1, &task, lane)? };
        lane.stream.record_time(1)?;
        match monitor {
            None => lane.stream.wait()?,
            Some(monitor) => {
                let StreamWorkspace { stream, arena, .. } = lane;
                let stop = || no_more(&self.kept.device, arena, offsets.next, 1);
                watched(|| stream.wait(), || monitor.is_stopped(), stop)?;
            }
        }
        self.is_counted = true;
        Ok(!monitor.is_some_and(Monitor::is_stopped))
    }

    /// What other kernels see of it, with no steps, and the stream that they belong on.
    pub(super) fn resident(&self) -> Option<(Resident, &D::Stream)> {
        let lane = self.lane.as_ref()?;
        let arrays = self.offsets.arrays::<T>(lane.arena.address());
        let resident = Resident {
            states: arrays.states as u64,
            params: arrays.params as u64,
            steps: 0,
            status: arrays.status as u64,
            stats: arrays.stats as u64,
            least: 0,
            n_systems: self.systems as u32,
        };
        Some((resident, &lane.stream))
    }

    /// Other states for all systems, as many as there are.
    pub(super) fn set_states(&mut self, states: &[T]) -> Result<(), Error> {
        let Some(lane) = &mut self.lane else { return Ok(()) };
        lane.write(self.offsets.states, states)
    }

    /// Of systems that were not to run: their states are those they began with, none is saved.
    pub(super) fn refuse(
        &mut self,
        refused: &[usize],
        inputs: &Inputs<'_, T>,
    ) -> Result<(), Error> {
        let (mut states, mut saved) = (self.states()?, self.saved()?);
        for &s in refused {
            for (i, row) in states.chunks_exact_mut(self.systems).enumerate() {
                row[s] = inputs.state(s, i);
            }
            for row in saved.chunks_exact_mut(self.systems) {
                row[s] = T::from_f64(f64::NAN);
            }
        }
        let Some(lane) = &mut self.lane else { return Ok(()) };
        lane.write(self.offsets.states, &states)?;
        lane.write(self.offsets.saved, &saved)
    }

    /// Downloads part of the arena.
    fn get<V: Copy + Default>(&self, place: usize, count: usize) -> Result<Vec<V>, Error> {
        self.lane.as_ref().map_or_else(|| Ok(Vec::new()), |lane| lane.get(place, count))
    }

    /// Addresses of the states [n × M] and the saved states [K × n × M].
    pub(super) fn addresses(&self) -> Option<[u64; 2]> {
        let first = self.lane.as_ref()?.arena.address();
        Some([self.offsets.states, self.offsets.saved].map(|place| first + place as u64))
    }

    /// The states [n × M].
    pub(super) fn states(&self) -> Result<Vec<T>, Error> {
        self.get(self.offsets.states, self.dim * self.systems)
    }

    /// One component of the states \[M\].
    pub(super) fn component(&self, i: usize) -> Result<Vec<T>, Error> {
        self.get(self.offsets.states + i * self.systems * size_of::<T>(), self.systems)
    }

    /// The saved states [K × n × M].
    pub(super) fn saved(&self) -> Result<Vec<T>, Error> {
        self.get(self.offsets.saved, self.n_saves * self.dim * self.systems)
    }

    /// How many of the save times each system reached \[M\]; empty without any.
    pub(super) fn n_saved(&self) -> Result<Vec<u32>, Error> {
        self.get(self.offsets.n_saved, self.n_saves.min(1) * self.systems)
    }

    /// Times reached \[M\].
    pub(super) fn times(&self) -> Result<Vec<f64>, Error> {
        let times: Vec<T> = self.get(self.offsets.end_times, self.systems)?;
        Ok(times.into_iter().map(Scalar::to_f64).collect())
    }

    /// The next steps of the systems \[M\]; empty unless the ensemble has first ones.
    pub(super) fn next_steps(&self) -> Result<Vec<T>, Error> {
        self.offsets.end_steps.map_or_else(|| Ok(Vec::new()), |place| self.get(place, self.systems))
    }

    /// How each system ended \[M\].
    pub(super) fn statuses(&self) -> Result<Vec<Status>, Error> {
        let numbers: Vec<u8> = self.get(self.offsets.status, self.systems)?;
        Ok(numbers.into_iter().map(|n| Status::from_number(n).unwrap_or_default()).collect())
    }

    /// What each system cost \[M\].
    pub(super) fn stats(&self) -> Result<Vec<Stats>, Error> {
        let counts: Vec<u32> = self.get(self.offsets.stats, self.n_counts * self.systems)?;
        Ok(counts.chunks_exact(self.n_counts).map(task::stats).collect())
    }

    /// How busy the lanes of the kernel were, where it counts that.
    pub(super) fn busy_lanes(&self) -> Result<Option<f64>, Error> {
        let work: Vec<Work> = self.get(self.offsets.work, 1)?;
        Ok(work.first().and_then(Work::busy_fraction))
    }
}

/// Whether some systems begin only when others have ended, in an order that may be chosen.
fn waits<D: Device>(ready: &Ready<D>, kept: &Kept<D>, systems: usize) -> bool {
    ready.kernel.layout.storage != Storage::Lanes && systems > ready.at_once(&kept.limits)
}

/// Results of systems that have not run: times, steps and counts are zero, saved states NaN.
fn clear<D: Device>(
    lane: &mut StreamWorkspace<D>,
    offsets: &Offsets,
    systems: usize,
) -> Result<(), Error> {
    let Offsets { results, saved, stats, status, end, .. } = *offsets;
    let of_status = (status..status + systems, Status::NotRun as u8);
    for (bytes, value) in [(results..saved, 0), (saved..stats, 0xff), (stats..end, 0), of_status] {
        if !bytes.is_empty() {
            // SAFETY: who drops the arena waits for the stream.
            unsafe { lane.stream.set_bytes(&mut lane.arena, bytes, value)? };
        }
    }
    Ok(())
}

impl<T, D: Device> Drop for InMemory<T, D> {
    fn drop(&mut self) {
        if let Some(lane) = self.lane.take() {
            self.kept.keep(lane);
        }
    }
}
