//! The places that equations see in kernels: those of the cells, to the bit.

use crate::common::{assert_placed, grids_to_place, placing, some};
use crate::host;
use odeum_fields::{Checkpoint, Clock, Field, Mask, Options, Precision, Problem, Simulation};

fn check<T: Precision>(problem: &Problem, parts: usize) {
    let start =
        Checkpoint { field: Field::<T>::zeros(&problem.grid, 4).unwrap(), clock: Clock::at(0.0) };
    let options = Options { force: true, ..Options::euler(1.0) };
    let devices = host::several(&vec![1 << 40; parts], 1);
    let mut simulation = Simulation::on_devices(problem, start, &options, devices).unwrap();
    simulation.advance_to(1.0).unwrap();
    let placed = simulation.field().unwrap();
    let of = if problem.mask.is_some() { "a part of " } else { "" };
    assert_placed(&placed, problem, &format!("{of}{:?} by {parts}", problem.grid.shape()));
}

#[test]
fn places_in_equations_are_those_of_cells() {
    if !host::is_available() {
        return;
    }
    for grid in some(grids_to_place(), &[0, 1, 3, 4, 7, 8, 11]) {
        let problem = placing(grid);
        let parts = 1 + usize::from(grid.shape()[2] > 4);
        check::<f64>(&problem, parts);
        check::<f32>(&problem, parts);
    }
    // Cells beside solid ones are computed anew.
    let grid = grids_to_place()[1];
    let [x, y, z] = [0, 1, 2].map(|axis| grid.centre(axis, 1));
    let open = Mask::from_fn(&grid, |at| at[0] > x || at[1] > y || at[2] > z).unwrap();
    let problem = placing(grid).mask(open);
    check::<f64>(&problem, 1);
    check::<f32>(&problem, 1);
}
