//! The [deceivers](crate::common::deceivers) on the CPU.

use crate::common::deceivers::{self, Machine, test_deceivers};
use crate::common::one_thread;
use odeum_fields::{Checkpoint, Options, Problem, Simulation};

fn begin(problem: &Problem, start: Checkpoint<f64>, options: &Options) -> Simulation<f64> {
    Simulation::resume(problem, start, options, one_thread()).unwrap()
}

const CPU: Machine = Machine { begin, compiles: false };

test_deceivers!(CPU, true);

#[test]
fn limits_do_not_depend_on_noise() {
    deceivers::limits_do_not_depend_on_noise();
}
