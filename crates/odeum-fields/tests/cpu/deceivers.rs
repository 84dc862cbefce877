//! The [deceivers](crate::common::deceivers) on the CPU.

use crate::common::deceivers::{self, Machine};
use crate::common::one_thread;
use odeum_fields::{Checkpoint, Options, Problem, Simulation};

fn begin(problem: &Problem, start: Checkpoint<f64>, options: &Options) -> Simulation<f64> {
    Simulation::resume(problem, start, options, one_thread()).unwrap()
}

const CPU: Machine = Machine { begin, compiles: false };

macro_rules! deceivers {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            deceivers::$name(CPU);
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

#[test]
fn limits_do_not_depend_on_noise() {
    deceivers::limits_do_not_depend_on_noise();
}
