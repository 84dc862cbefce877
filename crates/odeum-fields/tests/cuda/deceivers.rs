//! The [deceivers](crate::common::deceivers) by kernels that run on the host.

use crate::common::deceivers::{Machine, test_deceivers};
use crate::host;
use odeum_fields::{Checkpoint, Options, Problem, Simulation};

fn begin(problem: &Problem, start: Checkpoint<f64>, options: &Options) -> Simulation<f64> {
    Simulation::on_device(problem, start, options, host::device()).unwrap()
}

const KERNELS: Machine = Machine { begin, compiles: true };

test_deceivers!(KERNELS, host::is_available());
