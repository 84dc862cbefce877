//! Niemeyer & Sung 2014's own GPU code, for the benchmark to measure against.

use super::kept::Kept;
use super::layout::Layout;
use super::plan::Kernel;
use crate::ensemble::Ensemble;
use crate::method::device::Storage;
use odeum_core::Error;
use odeum_cuda::{Memory, Stream, argument};
use std::sync::Arc;

const SOURCE: &str = include_str!("../method/erk/published.cuh");
/// Threads of a block, as in the chapter.
const BLOCK: usize = 64;

/// Integrates Pleiades systems by the code of Niemeyer & Sung 2014 (RKCK, their Pleiades
/// right-hand side, tolerance `eps`), from 0 to 1 with `segments` launches; gives the end states
/// and the time of the kernels, in ms.
///
/// # Errors
/// An ensemble that is not of 28 equations, or a GPU that is not there.
#[doc(hidden)]
pub fn pleiades_as_published(
    ensemble: &Ensemble<f64>,
    segments: u32,
    eps: f64,
    ordinal: usize,
) -> Result<(Vec<f64>, f64), Error> {
    if ensemble.dim() != 28 {
        return Err(Error::input("states", ensemble.dim(), "Pleiades has 28 equations"));
    }
    let gpu = Kept::open(ordinal)?;
    let layout = Layout::threads(Storage::Local, BLOCK, 1, 0);
    let kernel = Arc::new(Kernel {
        name: "od_published",
        source: SOURCE.to_owned(),
        tables: Vec::new(),
        layout,
    });
    let loaded = gpu.load(&kernel)?;
    let values = ensemble.states().len();
    let bytes = size_of_val(ensemble.states());
    let mut lane = gpu.lane(bytes)?;
    lane.write(0, ensemble.states())?;
    lane.stream.record_time(0)?;
    let (systems, states) = (ensemble.len() as i32, lane.arena.address());
    let blocks = ensemble.len().div_ceil(BLOCK);
    for piece in 0..segments {
        let begin = f64::from(piece) / f64::from(segments);
        let end = f64::from(piece + 1) / f64::from(segments);
        let mut arguments = [
            argument(&systems),
            argument(&begin),
            argument(&end),
            argument(&eps),
            argument(&states),
        ];
        // SAFETY: the arguments are those of `od_published`; the states lie in the arena, which is
        // live until the stream has been waited for.
        unsafe {
            lane.stream.launch(&loaded.kernel, [blocks, 1, 1], [BLOCK, 1], 0, &mut arguments)?;
        }
    }
    lane.stream.record_time(1)?;
    let result = (lane.get(0, values)?, lane.stream.elapsed_ms(0, 1)?);
    gpu.keep(lane);
    Ok(result)
}
