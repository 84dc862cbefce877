//! Models of very many species: a judgement takes S³ operations for each wave and cell.

use crate::common::one_thread;
use odeum_fields::{
    Advection, Field, Grid, ModelText, Options, Outcome, Problem, Quantity, Simulation, Velocity,
    stability,
};

/// Species that diffuse and decay by themselves, and of all but the first of them that are made from the one before as
/// fast as `made` says.
fn chain(species: usize, grid: Grid, made: f64) -> Problem {
    let names: Vec<String> = (0..species).map(|n| format!("s{n}")).collect();
    let equation = |n: usize| {
        let before =
            n.checked_sub(1).map_or(String::new(), |n| format!("+ {made} * s{n} * s{}", n + 1));
        format!("0.1 * lap(s{n}) - s{n}^2 {before}")
    };
    let equations: Vec<String> = (0..species).map(equation).collect();
    let pairs = names.iter().map(String::as_str).zip(equations.iter().map(String::as_str));
    let species = names.iter().map(String::as_str).collect();
    let text = ModelText { species, equations: pairs.collect(), ..ModelText::default() };
    Problem::new(text.read().unwrap().0, grid)
}

/// Of the cells of many species the one that limits steps is among those that are looked at.
#[test]
fn many_species_have_the_limits_of_each() {
    let grid = Grid::new([6, 5, 4], 1.0).unwrap();
    let advected = |species: usize| {
        let velocity = Velocity::Uniform([0.1; 3].map(Quantity::from));
        chain(species, grid, 0.0).velocity(velocity, Advection::Upwind)
    };
    let mut cell = 0;
    let mut value = |peak: bool| {
        cell += 1;
        if peak { 3.0 } else { 0.5 + 0.1 * f64::sin(f64::from(cell)) }
    };
    let many = Field::<f64>::from_fn(&grid, 100, |s, at| value(s == 73 && at == [2.5, 1.5, 3.5]));
    let one = Field::<f64>::from_fn(&grid, 1, |_, at| value(at == [2.5, 1.5, 3.5]));
    let found = stability(&advected(100), &many.unwrap(), (0.0, 1.0)).unwrap();
    let wanted = stability(&advected(1), &one.unwrap(), (0.0, 1.0)).unwrap();
    assert!((found.radius / wanted.radius - 1.0).abs() < 1e-9, "{found:?} {wanted:?}");
    assert!((found.euler / wanted.euler - 1.0).abs() < 1e-9, "{found:?} {wanted:?}");
}

/// Where a judgement takes as long as thousands of steps, the first comes after so many.
#[test]
fn judgements_come_the_more_seldom_the_more_they_cost() {
    for (species, is_costly) in [(2, false), (40, true)] {
        let grid = Grid::new([64, 64, 1], 1.0).unwrap();
        let start =
            Field::<f64>::from_fn(&grid, species, |s, at| 0.5 + 0.1 * (s as f64 + at[0]).sin());
        let options = Options::euler(0.01);
        let problem = chain(species, grid, 0.9);
        let mut simulation =
            Simulation::new(&problem, start.unwrap(), 0.0, &options, one_thread()).unwrap();
        assert_eq!(simulation.advance_to(0.01).unwrap(), Outcome::Reached);
        let every = simulation.clock().judged_every;
        assert_eq!(every > 1000, is_costly, "{species} {every}");
    }
}
