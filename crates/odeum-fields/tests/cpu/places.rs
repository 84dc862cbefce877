//! The places that equations see: those of the cells, to the bit.

use crate::common::{advanced, assert_placed, grids_to_place, placing};
use odeum_fields::{Combination, Engine, Field, Options, Precision, Problem};
use odeum_ode::{Cpu, Isa};

fn check<T: Precision>(problem: &Problem, isa: Isa) {
    let engine = Engine::<T>::new(problem, &Cpu { threads: Some(2), isa }).unwrap();
    let (zero, mut placed) = (engine.zeros().unwrap(), engine.zeros().unwrap());
    let rates = Combination { rhs: 1.0, own: None, terms: &[] };
    assert!(engine.sweep(0.0, &zero, &rates, &mut placed));
    assert_placed(&placed, problem, &format!("{isa} {:?}", problem.grid.shape()));
}

#[test]
fn places_in_equations_are_those_of_cells() {
    for problem in grids_to_place().into_iter().map(placing) {
        for isa in Isa::available() {
            check::<f64>(&problem, isa);
            check::<f32>(&problem, isa);
        }
        let start = Field::<f64>::zeros(&problem.grid, 4).unwrap();
        let placed = advanced(&problem, start, &Options::euler(1.0), 1.0);
        assert_placed(&placed, &problem, &format!("a step of {:?}", problem.grid.shape()));
    }
}
