//! The [deceivers](crate::common::deceivers) by kernels that run on the host.

use crate::common::deceivers::{self, Machine};
use crate::host;
use odeum_fields::{Checkpoint, Options, Problem, Simulation};

fn begin(problem: &Problem, start: Checkpoint<f64>, options: &Options) -> Simulation<f64> {
    Simulation::on_device(problem, start, options, host::device()).unwrap()
}

const KERNELS: Machine = Machine { begin, compiles: true };

macro_rules! deceivers {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            if !host::is_available() {
                return;
            }
            deceivers::$name(KERNELS);
        })*
    };
}

deceivers! {
    closed_boxes_keep_their_mass,
    inflow_keeps_bounds,
    channels_fill_with_what_comes_in,
    sources_that_spoil_are_found,
    rates_that_jump_count,
    single_cells_between_boundaries_are_stable,
    shares_follow_the_field,
    fixed_steps_end_where_they_are_too_large,
    phases_part_within_their_limit,
    shares_go_on_with_the_same_bits,
    waves_that_never_fade_do_not_grow,
    limits_are_those_of_all_cells,
    limits_are_those_of_the_least_diffusion,
}
