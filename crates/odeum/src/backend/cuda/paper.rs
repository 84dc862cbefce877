//! Paper A's own GPU code, for the benchmark to measure against.

use super::gpu::Gpu;
use super::layout::{Layout, Storage};
use super::library::failed;
use super::plan::Kernel;
use crate::ensemble::Ensemble;
use crate::error::Error;
use cudarc::driver::result;
use std::ffi::c_void;
use std::sync::Arc;

const SOURCE: &str = include_str!("../../method/erk/paper.cuh");
/// Threads of a block, as in the chapter.
const BLOCK: usize = 64;

/// Integrates Pleiades systems by the code of Niemeyer & Sung 2014 (RKCK, their Pleiades
/// right-hand side, tolerance `eps`), from 0 to 1 with `restarts` launches; gives the end states
/// and the time of the kernels, in ms.
///
/// # Errors
/// An ensemble that is not of 28 equations, or a GPU that is not there.
#[doc(hidden)]
pub fn pleiades_as_published(
    ensemble: &Ensemble<f64>,
    restarts: u32,
    eps: f64,
    ordinal: usize,
) -> Result<(Vec<f64>, f64), Error> {
    if ensemble.dim() != 28 {
        return Err(Error::input("states", ensemble.dim(), "Pleiades has 28 equations"));
    }
    let gpu = Gpu::open(ordinal)?;
    gpu.bind()?;
    let layout = Layout { storage: Storage::Local, block: BLOCK, blocks_per_sm: 1, shared: 0 };
    let kernel = Arc::new(Kernel { name: "od_paper", source: SOURCE.to_owned(), layout });
    let loaded = gpu.load(&kernel)?;
    let values = ensemble.states().len();
    let bytes = size_of_val(ensemble.states());
    let mut lane = gpu.lane(bytes)?;
    let stream = lane.stream.clone();
    lane.arena.values(0, values).copy_from_slice(ensemble.states());
    lane.arena.upload(0..bytes, &stream)?;
    lane.mark(1)?;
    let (systems, states) = (ensemble.len() as i32, lane.arena.device);
    let blocks = ensemble.len().div_ceil(BLOCK) as u32;
    for piece in 0..restarts {
        let begin = f64::from(piece) / f64::from(restarts);
        let end = f64::from(piece + 1) / f64::from(restarts);
        let mut arguments = [
            (&raw const systems).cast_mut().cast::<c_void>(),
            (&raw const begin).cast_mut().cast(),
            (&raw const end).cast_mut().cast(),
            (&raw const eps).cast_mut().cast(),
            (&raw const states).cast_mut().cast(),
        ];
        // SAFETY: the arguments are those of `od_paper`; the states lie in the arena, which is
        // live until the stream has been waited for.
        unsafe {
            let function = loaded.function.cu_function();
            let (grid, block) = ((blocks, 1, 1), (BLOCK as u32, 1, 1));
            result::launch_kernel(function, grid, block, 0, stream.cu_stream(), &mut arguments)
        }
        .map_err(failed("starting the published kernel"))?;
    }
    lane.mark(2)?;
    lane.arena.download(0..bytes, &stream)?;
    stream.synchronize().map_err(failed("waiting for the published kernel"))?;
    let result = (lane.arena.values(0, values).to_vec(), lane.between(1, 2)?);
    gpu.keep(lane);
    Ok(result)
}
