//! Memory of one batch: the same layout in pinned host memory and on the GPU, so that all inputs
//! travel in one copy and all results in another.

use super::library::failed;
use super::task::Arrays;
use super::task::Counts;
use crate::ensemble::Ensemble;
use crate::error::Error;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaContext, CudaStream, result};
use odeum_core::Scalar;
use std::ops::Range;
use std::sync::Arc;

/// Arrays begin at multiples of this, in bytes.
const ALIGNMENT: usize = 256;

/// Where the arrays of a batch lie, in bytes from the start of an arena.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Places {
    pub(super) states: usize,
    pub(super) params: usize,
    spans: Option<usize>,
    saves: usize,
    atol: usize,
    next: usize,
    /// End of what is uploaded, start of what is downloaded.
    pub(super) results: usize,
    pub(super) end_states: usize,
    pub(super) end_times: usize,
    pub(super) saved: usize,
    pub(super) stats: usize,
    pub(super) n_saved: usize,
    pub(super) status: usize,
    pub(super) end: usize,
}

/// Numbers of values that decide the places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) dim: usize,
    pub(super) n_params: usize,
    pub(super) shared_params: bool,
    pub(super) shared_span: bool,
    pub(super) n_saves: usize,
    pub(super) word: usize,
}

impl Shape {
    pub(super) fn of<T: Scalar>(ensemble: &Ensemble<T>, n_saves: usize) -> Self {
        Shape {
            dim: ensemble.dim(),
            n_params: ensemble.n_params(),
            shared_params: ensemble.shares_params(),
            shared_span: ensemble.shares_span(),
            n_saves,
            word: size_of::<T>(),
        }
    }

    /// Bytes of an arena for this many systems.
    pub(super) fn bytes(&self, systems: usize) -> usize {
        Places::new(self, systems).end
    }
}

impl Places {
    pub(super) fn new(shape: &Shape, systems: usize) -> Self {
        let mut end = 0;
        let mut place = |bytes: usize| {
            let start = end;
            end = (start + bytes).next_multiple_of(ALIGNMENT);
            start
        };
        let word = shape.word;
        let sets = if shape.shared_params { 1 } else { systems };
        let states = place(shape.dim * systems * word);
        let params = place(shape.n_params * sets * word);
        let spans = (!shape.shared_span).then(|| place(2 * systems * word));
        let saves = place(shape.n_saves * word);
        let atol = place(shape.dim * word);
        let next = place(size_of::<u32>());
        let results = place(0);
        Places {
            states,
            params,
            spans,
            saves,
            atol,
            next,
            results,
            end_states: place(shape.dim * systems * word),
            end_times: place(systems * word),
            saved: place(shape.n_saves * shape.dim * systems * word),
            stats: place(systems * size_of::<Counts>()),
            n_saved: place(systems * size_of::<u32>()),
            status: place(systems),
            end: place(0),
        }
    }

    /// The addresses of the arrays in an arena on the GPU.
    pub(super) fn arrays<T>(&self, base: CUdeviceptr) -> Arrays<T> {
        let at = |offset: usize| base + offset as u64;
        Arrays {
            states: at(self.states) as *const T,
            params: at(self.params) as *const T,
            spans: self.spans.map_or(std::ptr::null(), |offset| at(offset) as *const T),
            saves: at(self.saves) as *const T,
            atol: at(self.atol) as *const T,
            first_steps: std::ptr::null(),
            end_states: at(self.end_states) as *mut T,
            end_times: at(self.end_times) as *mut T,
            end_steps: std::ptr::null_mut(),
            saved: at(self.saved) as *mut T,
            n_saved: at(self.n_saved) as *mut u32,
            status: at(self.status) as *mut u8,
            stats: at(self.stats) as *mut Counts,
            next: at(self.next) as *mut u32,
        }
    }
}

/// Pinned host memory and device memory of the same size.
pub(super) struct Arena {
    host: *mut u8,
    pub(super) device: CUdeviceptr,
    bytes: usize,
    context: Arc<CudaContext>,
}

// SAFETY: the arena owns its memory; neither pointer is tied to a thread.
unsafe impl Send for Arena {}

impl Arena {
    /// A new arena.
    pub(super) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Arena, Error> {
        context.bind_to_thread().map_err(failed("binding a GPU"))?;
        let doing = |what: &str| failed(format!("reserving {bytes} bytes of {what}"));
        // SAFETY: the context is bound.
        let device = unsafe { result::malloc_sync(bytes) }.map_err(doing("GPU memory"))?;
        // Portable: every GPU may copy from it.
        let portable = cudarc::driver::sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: the context is bound.
        match unsafe { result::malloc_host(bytes, portable) } {
            Ok(host) => Ok(Arena { host: host.cast(), device, bytes, context: context.clone() }),
            Err(error) => {
                // SAFETY: allocated above, used by nobody.
                let _ = unsafe { result::free_sync(device) };
                Err(doing("pinned memory")(error))
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Values at a place in host memory.
    pub(super) fn values<V: Copy>(&mut self, place: usize, count: usize) -> &mut [V] {
        assert!(place + count * size_of::<V>() <= self.bytes, "an array outside of its arena");
        // SAFETY: inside the allocation, which nobody else holds; places are aligned to more than
        // any number is, and every bit pattern is a number.
        unsafe { std::slice::from_raw_parts_mut(self.host.add(place).cast(), count) }
    }

    /// Fills in the inputs of the systems of `range`.
    pub(super) fn fill<T: Scalar>(
        &mut self,
        places: &Places,
        ensemble: &Ensemble<T>,
        range: &Range<usize>,
        constants: &(Vec<T>, Vec<T>),
    ) {
        let (all, part) = (ensemble.len(), range.len());
        let rows = |from: &[T], to: &mut [T]| {
            for (from, to) in from.chunks_exact(all).zip(to.chunks_exact_mut(part)) {
                to.copy_from_slice(&from[range.clone()]);
            }
        };
        rows(ensemble.states(), self.values(places.states, ensemble.dim() * part));
        let params = ensemble.params();
        if ensemble.shares_params() {
            self.values(places.params, params.len()).copy_from_slice(params);
        } else {
            rows(params, self.values(places.params, ensemble.n_params() * part));
        }
        if let Some(place) = places.spans {
            let spans: &mut [T] = self.values(place, 2 * part);
            for (k, s) in range.clone().enumerate() {
                let (t0, t1) = ensemble.span(s);
                (spans[k], spans[part + k]) = (T::from_f64(t0), T::from_f64(t1));
            }
        }
        let (atol, saves) = constants;
        self.values(places.atol, atol.len()).copy_from_slice(atol);
        self.values(places.saves, saves.len()).copy_from_slice(saves);
        self.values::<u32>(places.next, 1)[0] = 0;
    }

    /// Starts the copy of a range of bytes to the GPU.
    pub(super) fn upload(&mut self, bytes: Range<usize>, stream: &CudaStream) -> Result<(), Error> {
        let to = self.device + bytes.start as u64;
        let from: &[u8] = self.values(bytes.start, bytes.len());
        // SAFETY: both ends lie in the arena, which outlives the copy: who launches waits for the
        // stream before the arena goes.
        unsafe { result::memcpy_htod_async(to, from, stream.cu_stream()) }
            .map_err(failed("copying to the GPU"))
    }

    /// Starts the copy of a range of bytes from the GPU.
    pub(super) fn download(
        &mut self,
        bytes: Range<usize>,
        stream: &CudaStream,
    ) -> Result<(), Error> {
        let from = self.device + bytes.start as u64;
        let to: &mut [u8] = self.values(bytes.start, bytes.len());
        // SAFETY: as for `upload`.
        unsafe { result::memcpy_dtoh_async(to, from, stream.cu_stream()) }
            .map_err(failed("copying from the GPU"))
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated by `new`, freed once; no copy is under way.
            unsafe {
                let _ = result::free_host(self.host.cast());
                let _ = result::free_sync(self.device);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_do_not_overlap() {
        for shared in [false, true] {
            let shape = Shape {
                dim: 3,
                n_params: 2,
                shared_params: shared,
                shared_span: shared,
                n_saves: 4,
                word: 8,
            };
            let (p, m) = (Places::new(&shape, 33), 33);
            let sets = if shared { 1 } else { m };
            let mut parts = vec![
                (p.states, 3 * m * 8),
                (p.params, 2 * sets * 8),
                (p.saves, 4 * 8),
                (p.atol, 3 * 8),
                (p.next, 4),
                (p.end_states, 3 * m * 8),
                (p.end_times, m * 8),
                (p.saved, 12 * m * 8),
                (p.stats, 16 * m),
                (p.n_saved, 4 * m),
                (p.status, m),
                (p.end, 0),
            ];
            parts.extend(p.spans.map(|place| (place, 2 * m * 8)));
            parts.sort_unstable();
            assert!(parts.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0), "{parts:?}");
            assert_eq!(shape.bytes(m), p.end);
        }
    }
}
