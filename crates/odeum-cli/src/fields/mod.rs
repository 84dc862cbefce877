//! Fields on grids: from a case to results.

mod axes;
mod axis;
mod beginning;
mod canvas;
mod colour;
mod conservation;
mod ending;
mod finished;
mod former;
mod frames;
mod movie;
mod observer;
mod plan;
mod profile;
mod progress;
mod queue;
mod run;
mod series;
mod slice;
mod structure;
mod surface;
mod target;
mod worth;
mod writer;

pub(crate) use former::with_former;
pub(crate) use run::{check, run};
